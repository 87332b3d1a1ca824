"""Loads that may be measured, and the first look: what tells most about any device."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from raidlab.calibration.measurements.measurement import Latency, Point, Rw, Side
from raidlab.calibration.surrogates.loads import Loads

KIB: Final = 1024
BLOCKS: Final = (4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB, 1024 * KIB)
DEPTHS: Final = (1, 2, 4, 8, 16, 32, 64)
JOBS: Final = 4
SHARES: Final = (1.0, 0.0, 0.7)
READS_ALONE: Final = (1.0,)


@dataclass(frozen=True)
class Ask:
    """A load to measure: I/Os of one size at a full queue; sequential ones read or write alone."""

    read_share: float
    block: int
    """Bytes."""
    depth: int
    """Of each job."""
    jobs: int = 1
    sequential: bool = False

    @property
    def rw(self) -> Rw:
        """As fio calls it."""
        if self.sequential:
            return "read" if self.read_share == 1.0 else "write"
        if 0.0 < self.read_share < 1.0:
            return "randrw"
        return "randread" if self.read_share == 1.0 else "randwrite"

    @property
    def name(self) -> str:
        """Of the point: `randrw70-16k-d8-j1`."""
        mix = f"{100 * self.read_share:.0f}" if self.rw == "randrw" else ""
        return f"{self.rw}{mix}-{self.block // KIB}k-d{self.depth}-j{self.jobs}"

    def point(self, iops: float = 1000.0) -> Point:
        """A point of this load with placeholders for what is measured."""
        of = Latency(mean_us=1.0)
        read, write = (
            Side(iops=share * iops, ios=1, latency_mean_us=1.0, completion=of) if share else None
            for share in (self.read_share, 1.0 - self.read_share)
        )
        return Point(
            name=self.name, rw=self.rw, read_share=self.read_share, bs=self.block,
            iodepth=self.depth, numjobs=self.jobs, read=read, write=write,
        )  # fmt: skip


def loads_of_asks(asks: Sequence[Ask]) -> Loads:
    """The loads as arrays."""
    rows = [(ask.read_share, ask.block, ask.depth, ask.jobs, 0.0) for ask in asks]
    return Loads(*np.array(rows, dtype=float).reshape(-1, 5).T)


def candidates(*, writes: bool) -> list[Ask]:
    """Every load that may be measured: one job at all depths, four jobs at some."""
    shares = SHARES if writes else READS_ALONE
    alone = [Ask(s, b, d) for s in shares for b in BLOCKS for d in DEPTHS]
    several = [Ask(s, b, d, JOBS) for s in shares for b in BLOCKS for d in (1, 8, 32)]
    return [*alone, *several]


def first_look(*, writes: bool) -> list[Ask]:
    """Corners of size and depth for each direction, several jobs; the first point again at the end.

    The repeated point shows noise and drift.
    """
    sides = (1.0, 0.0) if writes else (1.0,)
    small, middle, large = BLOCKS[0], BLOCKS[2], BLOCKS[-1]
    corners = [
        Ask(side, *at)
        for side in sides
        for at in ((small, 1), (small, 32), (large, 1), (large, 32), (middle, 8))
    ]
    return [*corners, *(Ask(side, small, 8, JOBS) for side in sides), corners[0]]


def kept_back(count: int, seed: int, *, writes: bool) -> list[Ask]:
    """Loads drawn over the whole space, which no fit sees: what the twin is judged by."""
    draws = np.random.default_rng([seed, 0x7477])
    shares = (1.0, 0.0, 0.7, 0.3) if writes else READS_ALONE
    found = []
    for number in range(count):
        block = int(4 * KIB * 2 ** draws.integers(0, 9))
        depth = round(float(2 ** draws.uniform(0.0, 6.0)))
        jobs = JOBS if draws.random() < 0.25 else 1
        found.append(Ask(shares[number % len(shares)], block, depth, jobs))
    return found
