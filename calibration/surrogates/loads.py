"""Loads as arrays: what a law needs to know of measured points, and what was measured of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from raidlab.calibration.measurements.measurement import Point

Array = npt.NDArray[np.float64]

_TOLERANCE: Final = 0.05
"""Deviation of a rate, as a share of it, that counts as agreement with a law."""
_ALIKE_S: Final = 5.0
"""Samples of a rate that are less apart count as one."""
NOISY: Final = 3.0
"""How much wider the tolerance of a point is that its collector marked as noisy."""


@dataclass(frozen=True)
class Loads:
    """Loads, one an entry of each array of shape (loads,)."""

    read_share: Array
    """Of I/Os, 0 to 1."""
    block: Array
    """Bytes of an I/O."""
    depth: Array
    """I/Os that each job keeps outstanding."""
    jobs: Array
    sequential: Array
    """1 where I/Os continue each other, else 0."""

    @property
    def outstanding(self) -> Array:
        """I/Os of all jobs in flight."""
        return self.depth * self.jobs

    def __len__(self) -> int:
        """How many loads there are."""
        return len(self.block)

    def take(self, indices: Sequence[int]) -> Loads:
        """Some of the loads."""
        at = np.asarray(indices, dtype=int)
        return Loads(*(getattr(self, name)[at] for name in _FIELDS))

    def pure(self, *, reads: bool) -> Loads:
        """These loads with reads alone, or writes alone."""
        return replace(self, read_share=np.full(len(self), 1.0 if reads else 0.0))


_FIELDS = ("read_share", "block", "depth", "jobs", "sequential")


def loads_of(points: Sequence[Point]) -> Loads:
    """The loads of measured points."""
    columns = [
        (p.read_share, p.bs, p.iodepth, p.numjobs, not p.rw.startswith("rand")) for p in points
    ]
    return Loads(*np.array(columns, dtype=float).reshape(-1, len(_FIELDS)).T)


@dataclass(frozen=True)
class Measured:
    """Loads with their rates."""

    loads: Loads
    rate: Array
    """I/Os a second, shape (loads,)."""
    tolerance: Array
    """Of the logarithm of each rate, shape (loads,)."""

    def __len__(self) -> int:
        """How many points there are."""
        return len(self.rate)

    @property
    def key(self) -> tuple[bytes, ...]:
        """What makes two measurements the same."""
        columns = (getattr(self.loads, name) for name in _FIELDS)
        return tuple(each.tobytes() for each in (*columns, self.rate, self.tolerance))

    def take(self, indices: Sequence[int]) -> Measured:
        """Some of the points."""
        at = np.asarray(indices, dtype=int)
        return Measured(self.loads.take(indices), self.rate[at], self.tolerance[at])


def measured(points: Sequence[Point]) -> Measured:
    """Points with their rates and how far each rate is to be trusted."""
    rates = np.array([point.iops for point in points])
    return Measured(loads_of(points), rates, np.array([tolerance_of(p) for p in points]))


def tolerance_of(point: Point) -> float:
    """The deviation of a rate that counts as agreement: wider where it varied or was noisy."""
    spread = max((side.spread for _, side in point.sides()), default=0.0)
    independent = max(1.0, point.runtime_s / _ALIKE_S)
    known = math.hypot(_TOLERANCE, spread / math.sqrt(independent))
    return known * (NOISY if point.noisy else 1.0)
