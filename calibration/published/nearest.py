"""The naive prediction of a published figure: the figure of the nearest configuration given."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import Final, NamedTuple

from raidlab.calibration.published.figures import Figure
from raidlab.calibration.published.validate import judge

_COLUMNS: Final = ("load", "outstanding", "level", "controller", "drive", "format", "settings")


def by_nearest(figure: Figure, others: Sequence[Figure]) -> float:
    """Error of a figure if it were that of the nearest configuration given, as ln(other / own).

    Nearest is the one with the fewest columns that differ; of those the one with the nearest number
    of drives, then the first. A figure of another quantity, or a bound, gives none: NaN.
    """
    given = [
        other for other in others if other.quantity == figure.quantity and other.relation in "=~"
    ]
    if not given:
        return math.nan

    def distance(other: Figure) -> tuple[int, float]:
        one, two = figure.configuration, other.configuration
        differ = sum(getattr(one, column) != getattr(two, column) for column in _COLUMNS)
        return differ, abs(math.log(one.count / two.count))

    return math.log1p(judge(figure, min(given, key=distance).value)[0] / 100)


def nearest_errors(out: Sequence[Figure], figures: Sequence[Figure]) -> list[float]:
    """Errors in percent of figures left out, were each that of the nearest of the others.

    Args:
        out: Figures that are left out.
        figures: All of them.

    Returns:
        One for each figure of whose quantity there is another.
    """
    others = [figure for figure in figures if figure not in out]
    errors = [by_nearest(figure, others) for figure in out]
    return [100 * abs(math.expm1(error)) for error in errors if not math.isnan(error)]


class Beside(NamedTuple):
    """A group of figures left out: medians of errors in percent, as the listing has them."""

    label: str
    predicted: float
    nearest: float | None
    """None where no figure of their quantities was given."""


def beside_nearest(groups: Sequence[Beside]) -> list[str]:
    """Of a device's groups with a nearest figure: both medians, and where the model loses."""
    known = [(each.predicted, each.nearest) for each in groups if each.nearest is not None]
    if not known:
        return ["-", "-", "-"]
    medians = [f"{statistics.median(side):.1f}" for side in zip(*known, strict=True)]
    lost = _lost(groups)
    named = f": {', '.join(lost)}" if lost else ""
    return [*medians, f"{len(lost)} of {len(known)}{named}"]


def said_of(groups: Sequence[Beside]) -> str:
    """In how many groups of all devices the model loses, as a sentence."""
    known = sum(each.nearest is not None for each in groups)
    return f"The model loses to the nearest given in {len(_lost(groups))} of {known} groups."


def _lost(groups: Sequence[Beside]) -> list[str]:
    return [
        each.label for each in groups if each.nearest is not None and each.predicted > each.nearest
    ]
