"""One bottleneck in the place of two: before the last search, with its long runs.

Where two times end a rate at nearly the same place, the rate is met by neither alone: the one that
is a little too short is covered by the other, and every step that lengthens the other falls off a
cliff, so that no descent leaves the place. A search then stays where the first one ended, a percent
beside a plateau that one time alone would meet exactly. So each time that may end the rates of a
direction is tried as the only one once more: the others of that direction go back to where they
began, if that is looser, the one is moved to where it shows, and they descend from there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from raidlab.calibration.fitting.search.loss import robust
from raidlab.calibration.fitting.search.minimise import (
    Array,
    Search,
    descend,
    first_visible_place,
    single_bottleneck,
)

_GRID_STEPS: Final = 4
_LEAST_DISTANCE: Final = 1e-3
"""Of the range, from which on a time stands in another's way."""


def only_bottlenecks(search: Search, place: Array) -> Array:
    """The place, or a better one at which one time alone ends the rates of a direction.

    Raises:
        OutOfBudgetError: The budget is spent.
    """
    limits = [at for at, parameter in enumerate(search.parameters) if parameter.limits]
    for side in dict.fromkeys(search.parameters[at].side for at in limits):
        of = [at for at in limits if search.parameters[at].side == side]
        points = tuple(
            point
            for point in search.points
            if any(search.depends(search.parameters[at], point) for at in of)
        )
        if len(of) > 1 and points:
            place = _of_direction(search, place, of, points)
    return place


def _of_direction(
    search: Search, place: Array, of: Sequence[int], points: tuple[int, ...]
) -> Array:
    varied = list(of)

    def residuals(part: Array) -> Array:
        at = place.copy()
        at[varied] = part
        return search.residuals(at, points)

    parameters = [search.parameters[at] for at in varied]
    start, here = search.start[varied], place[varied]
    best = (robust(residuals(here)), here)
    for number in range(len(varied)):
        alone = single_bottleneck(parameters, here, start, range(len(varied)), number)
        if np.max(np.abs(alone - here)) < _LEAST_DISTANCE:
            continue
        shown = first_visible_place(residuals, alone, number, parameters[number].tight)
        part = np.clip(descend(residuals, shown, parameters, _GRID_STEPS), 0.0, 1.0)
        best = min(best, (robust(residuals(part)), part), key=lambda one: one[0])
    found = place.copy()
    found[varied] = best[1]
    return found
