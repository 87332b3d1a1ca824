"""How long drives live: cumulative hazards, and the published figures that stand for a kind.

A drive of age `a` has failed by then with probability `1 - exp(-C(a))`. The cumulative hazard is a
sum of Weibull parts, which fail independently of each other (competing risks):

    C(a) = sum over parts of (a / scale)^shape

One part of shape 1 is the exponential law. Shapes below 1 are infant mortality, above 1 wear-out;
one of each is a bathtub.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypedDict

import numpy as np
import numpy.typing as npt

HOURS_OF_YEAR = 8766.0

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Part:
    """A Weibull law: `scale` in hours, and its shape."""

    scale: float
    shape: float


@dataclass(frozen=True)
class Lifetime:
    """The law of a drive's life."""

    parts: tuple[Part, ...]

    def cumulative(self, age: Array) -> Array:
        """Cumulative hazard at ages in hours."""
        total = np.zeros_like(age)
        for part in self.parts:
            total += age / part.scale if part.shape == 1 else (age / part.scale) ** part.shape
        return total

    def hazard(self, age: Array) -> Array:
        """Failures an hour of a drive of this age."""
        total = np.zeros_like(age)
        for part in self.parts:
            if part.shape == 1:
                total += 1 / part.scale
            else:
                # A new drive with infant mortality: its first second stands for its instant zero.
                ages = np.maximum(age, 1 / 3600)
                total += part.shape / part.scale * (ages / part.scale) ** (part.shape - 1)
        return total

    @property
    def constant(self) -> float | None:
        """Failures an hour where they do not depend on the age."""
        if all(part.shape == 1 for part in self.parts):
            return sum(1 / part.scale for part in self.parts)
        return None


def of_rate(afr: float, shape: float = 1.0) -> Lifetime:
    """The law of which a share `afr` (0 to 1) of new drives fails within their first year.

    With shape 1 that is the share of any drives that fails in a year.
    """
    return Lifetime((Part(HOURS_OF_YEAR / (-math.log1p(-afr)) ** (1 / shape), shape),))


def bathtub(infant: float, afr: float, wear_out_years: float, shape: float = 4.0) -> Lifetime:
    """Infant mortality, a constant rate and wear-out.

    Args:
        infant: Share that fails in the first year beyond the constant rate (shape 0.5).
        afr: Share that fails each year at the constant rate.
        wear_out_years: Age by which 63 % would be worn out.
        shape: Of the wear-out: the larger, the more sudden.
    """
    parts = [*of_rate(afr).parts, Part(wear_out_years * HOURS_OF_YEAR, shape)]
    if infant > 0:
        parts += of_rate(infant, 0.5).parts
    return Lifetime(tuple(parts))


@dataclass(frozen=True)
class Published:
    """A figure with its source."""

    value: float
    source: str


AFR: Mapping[str, Published] = {
    "hdd": Published(0.0157, "Backblaze, Drive Stats for 2024: 1.57 % of 301,120 disks in a year"),
    "ssd": Published(0.0090, "Backblaze, SSD edition of mid-2023: 0.90 % a year of boot drives"),
}
"""Share of drives that fail in a year, by kind."""
_OTHER_KINDS = Published(0.01, "no published figure of this kind: assumed")


def failure_rate(kind: str) -> Published:
    """Share of drives of a kind that fail in a year."""
    return AFR.get(kind, _OTHER_KINDS)


class Assumption(TypedDict):
    """A number that an answer rests on, as results show it."""

    name: str
    value: float | None
    unit: str
    source: str


def assumption(name: str, value: float | None, unit: str, source: str) -> Assumption:
    """A number that an answer rests on, as results show it."""
    return {"name": name, "value": value, "unit": unit, "source": source}
