"""The times that end rates once more, each by itself, when all else has been found.

A descent ends where a step gains less than a hundredth of the loss, most of which are percentiles
that no place meets. A rate at its limit may then still be a quarter of its tolerance off: nothing
to gain there, but all that is deeper continues that rate, its error included. Rates at a port are
measured to 0.1 % and less, and the loss along the one time that ends them is smooth. So each such
time is moved to the least of the parabola through three places along its line, first a percent of
it apart, then a third of that.

**Example.** Losses of 3.25, 3.00 and 3.15 at -1, 0 and +1 % are least at +0.125 %:

    (3.25 - 3.15) / (2 (3.25 - 2 * 3.00 + 3.15)) = 0.125
"""

from __future__ import annotations

from typing import Final

from raidlab.calibration.fitting.search.loss import robust
from raidlab.calibration.fitting.search.minimise import Array, Search

_DISTANCES = (0.01, 0.003)
"""Of the value, between the places of a parabola."""
_LONGEST_STEP: Final = 3.0
"""Distances that a step may go."""


def refined_along_limits(search: Search, place: Array) -> Array:
    """The place, with the times that end rates where the loss along each of them is least.

    Raises:
        OutOfBudgetError: The budget is spent.
    """
    for at, parameter in enumerate(search.parameters):
        points = tuple(point for point in search.points if search.depends(parameter, point))
        if not parameter.limits or parameter.whole or not points:
            continue
        for share in _DISTANCES:
            here = float(place[at])
            apart = share * parameter.value(here) / abs(parameter.slope(here))
            place = _along(search, place, at, apart, points)
    return place


def _along(search: Search, place: Array, at: int, apart: float, points: tuple[int, ...]) -> Array:
    def moved(by: float) -> Array:
        there = place.copy()
        there[at] = min(1.0, max(0.0, place[at] + by))
        return there

    def loss(by: float) -> float:
        return robust(search.residuals(moved(by), points))

    here = loss(0.0)
    step = apart * parabola_minimum(loss(-apart), here, loss(apart))
    return moved(step) if step and loss(step) < here else place


def parabola_minimum(before: float, here: float, after: float) -> float:
    """Where the parabola through losses at -1, 0 and 1 is least, no farther than a few steps."""
    bent = before - 2.0 * here + after
    if bent <= 0.0:
        return 0.0 if here <= min(before, after) else (1.0 if after < before else -1.0)
    return min(_LONGEST_STEP, max(-_LONGEST_STEP, (before - after) / (2.0 * bent)))
