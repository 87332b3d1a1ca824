"""Arrays behind a cache, as a family: what tells them apart from one drive, and which one it is.

- A random read alone takes as long as a disk's: a seek and half a revolution. With a full queue
  more reads are served than one disk reaches, because n disks serve them.
- A write alone is answered by the controller's cache, far faster than a revolution. Once the cache
  is full, writes are as fast as the disks take them in: each is one access with RAID 0, 2 with
  RAID 10, 4 with RAID 5, 6 with RAID 6 (Patterson, Gibson and Katz, SIGMOD 1988).

So reads say how fast the disks turn and how many there are, writes say the level. Speed and count
are those whose simulated reads are nearest; no further number is fitted. The level is the one that
is nearest at the points that are not left out.

**Example.** Reads alone take 12 ms, 64 outstanding reach 900 a second: 7,200 rpm, six disks at
about 150 each. Writes reach 200 a second: 900 / 200 is about 4, a RAID 5.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from raidlab.calibration.fitting.bench.bench import Bench, Effort, Simulated
from raidlab.calibration.fitting.bench.scenario_bench import bench_of
from raidlab.calibration.measurements.measurement import Point
from raidlab.devices.faults import SpecError
from raidlab.devices.trees import Document
from raidlab.scenarios.planning.scenario import build_scenario

Array = npt.NDArray[np.float64]

SPEEDS: Final = {7200: "generic-7200rpm", 10_000: "generic-sas-10k", 15_000: "generic-15000rpm"}
"""Catalogue drives by revolutions a minute."""
LEVELS: Final = {"raid0": 1, "raid10": 4, "raid5": 3, "raid6": 4}
"""Fewest disks of each level."""
_CONTROLLER: Final = "megaraid-9460-16i"
_MOST_DISKS: Final = 16
_HOST: Final = "generic"
_EFFORT: Final = Effort(ios=800, ios_of_slow=400, rounds=3.0)


@dataclass(frozen=True)
class Candidate:
    """An array of equal disks behind a controller with a cache."""

    level: str
    disks: int
    rpm: int

    @property
    def name(self) -> str:
        """In messages."""
        level = self.level.upper().replace("RAID", "RAID ")
        return f"{level} of {self.disks} disks of {self.rpm} rpm behind a cache"

    def to_dict(self) -> Document:
        """Plain data."""
        return dict(vars(self))

    @cached_property
    def bench(self) -> Bench:
        """Of the scenario.

        Raises:
            SpecError: No array can be like this.
        """
        return bench_of(
            build_scenario(
                {
                    "host": {"model": _HOST},
                    "controller": {"model": _CONTROLLER, "backup": "fbu"},
                    "array": [
                        {
                            "level": self.level,
                            "drives": [{"model": SPEEDS[self.rpm], "count": self.disks}],
                        }
                    ],
                    "workload": [{"rw": "randread", "block_size": "4 KiB", "outstanding": 1}],
                    "run": {"duration": "10 s"},
                }
            )
        )

    def run(self, points: Sequence[Point], workers: int) -> list[Simulated]:
        """The points on it."""
        return self.bench.run_all(points, _EFFORT, workers)


def candidates(points: Sequence[Point], workers: int = 1) -> Iterator[Candidate]:
    """An array for each level, with disks by what reads say.

    Args:
        points: What was measured, among it random reads alone and with a full queue.
        workers: Simulations at a time.
    """
    reads = [point for point in points if point.rw == "randread"]
    if not reads:
        return
    alone = min(reads, key=lambda point: (point.outstanding, point.bs))
    deep = max(reads, key=lambda point: (point.outstanding, -point.bs))
    rpm = min(SPEEDS, key=lambda speed: _off(Candidate("raid0", 4, speed), alone, workers))
    for level, fewest in LEVELS.items():
        step = 2 if level == "raid10" else 1
        of = range(fewest, _MOST_DISKS + 1, step)
        yield Candidate(level, _nearest(level, rpm, deep, of, workers), rpm)


def _nearest(level: str, rpm: int, deep: Point, of: range, workers: int) -> int:
    """The count with which a full queue of reads is nearest, by bisection: more disks, more reads.

    The one before it is looked at too.
    """
    low, high = 0, len(of) - 1
    while low < high:
        middle = (low + high) // 2
        rate = Candidate(level, of[middle], rpm).run([deep], workers)[0].iops
        low, high = (middle + 1, high) if rate < deep.iops else (low, middle)
    near = of[max(0, low - 1) : low + 1]
    return min(near, key=lambda count: _off(Candidate(level, count, rpm), deep, workers))


def _off(candidate: Candidate, point: Point, workers: int) -> float:
    """The absolute logarithm of a simulated rate over the measured one."""
    try:
        rate = candidate.run([point], workers)[0].iops
    except SpecError:
        return float("inf")
    return float(abs(np.log(max(rate, 1e-9) / point.iops)))
