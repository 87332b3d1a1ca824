"""What a small write costs on each level: I/Os to drives, found by rates.

The same random writes of 8 KiB on the same disks, level by level. A level that takes four I/Os to
drives for each write reaches a quarter of RAID 0's rate; a cache that gathers writes makes it less.
The disks' own caches are off: what they hold they sort, the more the deeper they queue, which would
come on top.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from raidlab.devices.controller import ControllerSpec
from raidlab.devices.levels import Level
from raidlab.scenarios.planning.scenario import Scenario, build_scenario
from raidlab.scenarios.results.result import Result
from raidlab.scenarios.spec.trees import ScenarioTree

IOS_PER_WRITE: Final[Mapping[Level, float]] = {"raid0": 1, "raid10": 2, "raid5": 4, "raid6": 6}
"""I/Os to drives that a small write takes where no cache helps."""

_MODEL = "sas-6g-hdd"
_AREA = "32 GB"
_DEPTH = 256


@dataclass(frozen=True)
class SmallWrites:
    """Random writes of 8 KiB to disks on one level of a controller."""

    controller: str
    level: str
    cached: bool
    """True if the controller's cache holds writes back."""
    iops: float
    ios_per_write: float
    """How many times fewer than on RAID 0 bypassing the cache."""


@dataclass(frozen=True)
class LevelCase:
    """A level of a controller, with its cache or without."""

    controller: ControllerSpec
    level: Level
    cached: bool
    drives: int

    def scenario(self) -> Scenario:
        """One run."""
        tree: ScenarioTree = {
            "host": {"model": "rx300-s7"},
            "controller": {
                "model": self.controller.name,
                "read_ahead": "none",
                "write": "always-write-back" if self.cached else "write-through",
                "disk_cache": False,
            },
            "array": [
                {"level": self.level, "drives": [{"model": _MODEL, "count": self.drives}]},
            ],
            "workload": [
                {"rw": "randwrite", "block_size": "8 KiB", "area": _AREA, "outstanding": _DEPTH}
            ],
            # A cache of 1 GiB must be full before what comes in has to go out.
            "run": {"warm_up": "60 s" if self.cached else "5 s", "duration": "20 s"},
        }
        return build_scenario(tree)


def small_write_cases(controllers: Sequence[ControllerSpec], drives: int) -> Iterator[LevelCase]:
    """Every level of `IOS_PER_WRITE`, without and with the cache, of controllers that have both."""
    for spec in controllers:
        if spec.cache is None or not set(IOS_PER_WRITE) <= set(spec.levels):
            continue
        for cached in (False, True):
            for level in IOS_PER_WRITE:
                yield LevelCase(spec, level, cached, min(drives, spec.drives_max))


def per_write(cases: Sequence[LevelCase], results: Sequence[Result]) -> Iterator[SmallWrites]:
    """What each case's write costs, compared with its controller's RAID 0 bypassing the cache."""
    rates = {
        (case.controller.name, case.level, case.cached): float(result.results[0]["iops"])
        for case, result in zip(cases, results, strict=True)
    }
    for (name, level, cached), rate in rates.items():
        whole = rates[name, "raid0", False]
        yield SmallWrites(name, level, cached, rate, whole / rate)
