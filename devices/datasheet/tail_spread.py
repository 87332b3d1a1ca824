"""How far tails of drives of one class lie apart, beyond what is modelled: learned over all sets.

A model of a class explains a part of what p99 and p99.9 of a drive are. What it leaves differs from
drive to drive: firmware that nobody states. As a factor on the tail it is taken to be log-normal
(Kennedy and O'Hagan 2001, model discrepancy), with the mean of squares over the drives' own:

    s^2 = mean over drives of (mean over the drive's tails of ln(predicted / measured)^2)

docs/explanation/pauses.md
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import log, sqrt
from statistics import fmean
from typing import Final


@dataclass(frozen=True)
class TailSpread:
    """Standard deviations of the logarithm of p99 and beyond between drives of a class."""

    read: float
    write: float

    def of(self, *, reads: bool, writes: bool) -> float:
        """That of a load: of both kinds the wider one."""
        return max(self.read if reads else 0.0, self.write if writes else 0.0)


SHEETS: Final = TailSpread(read=0.41, write=1.13)
"""Over 60 percentiles of three SATA drives behind four hosts: docs/evidence/tails.md. Drives of
other interfaces are taken to lie as far apart; no set says otherwise."""


def learned(ratios: Mapping[str, Iterable[float]]) -> float:
    """The standard deviation of the logarithm between drives.

    Args:
        ratios: By drive: predicted over measured tails.
    """
    own = [fmean(log(ratio) ** 2 for ratio in each) for each in ratios.values()]
    return sqrt(fmean(own)) if own else 0.0
