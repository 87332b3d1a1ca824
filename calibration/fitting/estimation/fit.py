"""The fit of all parameters to all points, and how sure each of them is then.

1. Stages, each with the parameters that one direction determines (host and links first where they
   are free), look at the whole space (`search`).
2. Jointly: least squares on all points, with the same random numbers in every simulation, so that
   a difference of two is due to the parameters. Then once more with runs that are long enough for
   short steps: near the best place those of the first round differ by their scatter alone.
3. The surroundings of what was found say how sure it is (`certainty`).

Simulations run on threads; the engine releases the interpreter while it works. What is
computed is stored until the fit is done, so that an interrupted one goes on (`calibrate`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from raidlab.calibration.fitting.certainty.uncertainty import Estimate, certainty, doubts
from raidlab.calibration.fitting.parameters.parameter import Parameter
from raidlab.calibration.fitting.search.bottlenecks import only_bottlenecks
from raidlab.calibration.fitting.search.coordinates import refined_along_limits
from raidlab.calibration.fitting.search.minimise import (
    ENDLESS,
    Array,
    Budget,
    Evaluate,
    OutOfBudgetError,
    Search,
    Stage,
    descend,
    global_search,
)

_MOST_STEPS: Final = 10
_LAST_STEPS: Final = 6
_SEARCHING: Final = 0.75
"""Share of the time until a deadline; the rest is for the errors."""


@dataclass(frozen=True)
class Fit:
    """The result of a search."""

    estimates: tuple[Estimate, ...]
    place: Array
    errors: Array
    """Standard errors of the places, in units of the range."""
    correlations: Array
    jacobian: Array
    residuals: Array
    evaluations: int
    wall_s: float
    cut: frozenset[str]
    """What ended the search early: `evaluations`, `time`."""
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class Residuals:
    """How far places in the unit cube are from the measurement, and of what that is made."""

    evaluate: Evaluate
    """Gives the residuals of a place."""
    groups: Sequence[int]
    """For each residual of all points, the point that it belongs to."""
    careful: Callable[[Array], Evaluate] | None = None
    """Gives what evaluates in the last steps and for the errors, where the residuals of the search
    scatter; by the place where those steps begin."""
    runs: Sequence[Evaluate] = ()
    """As `careful`, each with other random numbers, where runs differ."""
    few: Sequence[int] = ()
    """Points on which bottlenecks are compared; all if none are given."""
    depends: Callable[[Parameter, int], bool] = lambda parameter, point: True
    """Whether a point depends on a parameter at all."""


@dataclass(frozen=True)
class Schedule:
    """What a search does, for how long, and from where."""

    stages: Sequence[Stage] = ()
    """Searches of parts before the joint one."""
    budget: Budget = field(default_factory=lambda: Budget(ENDLESS))
    """What the search may spend; it ends with what it has. Errors are computed in any case."""
    samples: int = 0
    """Size of the first look of a stage; 10 times its parameters if 0."""
    seed: int = 1
    """Of the search's own random numbers."""
    begin: Array | None = None
    """Where to begin; the start if None."""
    evaluated: int = 0
    """Evaluations that were made before."""


def fit(
    parameters: Sequence[Parameter],
    start: Array,
    residuals: Residuals,
    schedule: Schedule,
) -> Fit:
    """Finds the parameters under which the residuals are least.

    Args:
        parameters: What may be changed; their places between the bounds span the unit cube.
        start: What is expected, in the unit cube: what no measurement speaks to stays there.
        residuals: The distance from the measurement.
        schedule: The searches, and how long they may take.
    """
    begun = time.monotonic()
    groups, careful = residuals.groups, None
    points = tuple(sorted(set(groups)))
    # The errors take time too.
    left = schedule.budget.deadline - begun
    budget = replace(schedule.budget, deadline=begun + _SEARCHING * left)
    search = Search(
        residuals.evaluate, start.copy(), points, budget, parameters, groups, residuals.depends
    )
    place = (start if schedule.begin is None else schedule.begin).copy()
    try:
        for number, stage in enumerate(schedule.stages):
            rest = budget.evaluations - search.evaluations
            most = rest // (len(schedule.stages) - number + 1)
            place = global_search(search, place, stage, schedule.samples, schedule.seed, most)
        search.full(place)
        if len(place):
            descend(search.full, place, parameters, _MOST_STEPS, search.full)
        if len(place) and residuals.careful is not None and search.best is not None:
            place, search.best = search.best[1], None
            search.evaluate = careful = residuals.careful(place)
            place = only_bottlenecks(search, place)
            descend(search.full, place, parameters, _LAST_STEPS, search.full)
            search.full(
                refined_along_limits(search, place if search.best is None else search.best[1])
            )
    except OutOfBudgetError as over:
        search.cut.add(over.by)
    search.budget = Budget(ENDLESS)
    if search.best is None:
        search.full(place)
    place = place if search.best is None else search.best[1]
    if careful is None and residuals.careful is not None:
        careful = residuals.careful(place)
    search.evaluate = careful or residuals.evaluate
    sure = certainty(search, place, groups, schedule.seed, residuals.few, residuals.runs)
    return Fit(
        sure.estimates,
        sure.place,
        sure.errors,
        sure.correlations,
        sure.jacobian,
        sure.residuals,
        search.evaluations + schedule.evaluated,
        time.monotonic() - begun,
        frozenset(search.cut),
        tuple(doubts(sure.estimates, len(sure.residuals))),
    )
