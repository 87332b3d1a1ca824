"""The search for a place: everywhere first, then descend, with the same random numbers throughout.

A simulation of some thousand I/Os scatters by a few percent as soon as the order of I/Os changes.
Slopes are therefore taken over steps that are wide against that scatter, and in the unit cube, so
that a parameter near its bound is moved as far as any other.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
import numpy.typing as npt
import scipy

from raidlab.calibration.fitting.parameters.parameter import Parameter
from raidlab.calibration.fitting.search.loss import robust

Array = npt.NDArray[np.float64]

Evaluate = Callable[[Array, Sequence[int], bool], Array]
"""Residuals of some points at a place of the unit cube; True for a rough look."""

_STEP: Final = 0.06
PULL: Final = 2.0
"""Residual of a parameter that lies a whole range away from where it started: far less than any
measurement says, but enough to leave alone what no measurement speaks to."""
_LOOKS: Final = 8
_HALVINGS: Final = 3
_GAIN: Final = 1e-2
"""Share of the cost below which a step is the last."""
ENDLESS: Final = 10**9
"""Evaluations that no search comes to."""


class OutOfBudgetError(Exception):
    """Nothing is left to spend: `by` is `evaluations` or `time`."""

    def __init__(self, by: str) -> None:
        super().__init__(by)
        self.by = by


@dataclass(frozen=True)
class Budget:
    """What a search may spend.

    Evaluations decide, so that a fit is the same on a machine that has other work too.
    """

    evaluations: int
    """Places that are simulated at most."""
    deadline: float = float("inf")
    """When to stop all the same, by the monotonic clock."""


@dataclass(frozen=True)
class Stage:
    """A part of the search: some parameters, on some points, the rest as it is."""

    parameters: tuple[int, ...]
    points: tuple[int, ...]


@dataclass
class Search:
    """Evaluations of a model, with the pull towards the start, until the budget is spent."""

    evaluate: Evaluate
    start: Array
    points: tuple[int, ...]
    budget: Budget
    parameters: Sequence[Parameter]
    groups: Sequence[int] = ()
    """For each residual of all points, the point that it belongs to."""
    depends: Callable[[Parameter, int], bool] = field(default=lambda parameter, point: True)
    """Whether a point depends on a parameter at all."""
    together: int = 1
    """Points that are simulated at a time where a look may end early: the workers."""
    evaluations: int = 0
    cut: set[str] = field(default_factory=set)
    """What has ended a part of it early: `evaluations`, `time`."""
    best: tuple[float, Array] | None = None
    _pulls: Array = field(init=False)

    def __post_init__(self) -> None:
        """The pulls of the parameters, by place."""
        self._pulls = np.array([parameter.pull for parameter in self.parameters])

    def residuals(self, at: Array, points: Sequence[int], *, rough: bool = False) -> Array:
        """The residuals of the points, and after them the pull towards the start.

        Raises:
            OutOfBudgetError: The budget is spent.
        """
        self._spend()
        at = np.clip(at, 0.0, 1.0)
        found = self.evaluate(at, points, rough)
        return np.concatenate([found, (at - self.start) * PULL * self._pulls])

    def within(self, at: Array, points: Sequence[int], most: float) -> Array | None:
        """A rough look at a place: its residuals, or None once their loss is beyond `most`.

        The loss is a sum of what is never negative, so the points after that need no simulation.

        Raises:
            OutOfBudgetError: The budget is spent.
        """
        if not math.isfinite(most):
            return self.residuals(at, points, rough=True)
        self._spend()
        at = np.clip(at, 0.0, 1.0)
        pull = (at - self.start) * PULL * self._pulls
        found: list[Array] = []
        for first in range(0, len(points), self.together):
            found.append(self.evaluate(at, points[first : first + self.together], True))
            if robust(np.concatenate([*found, pull])) > most:
                return None
        return np.concatenate([*found, pull])

    def _spend(self) -> None:
        if self.evaluations >= self.budget.evaluations:
            raise OutOfBudgetError("evaluations")
        if time.monotonic() > self.budget.deadline:
            raise OutOfBudgetError("time")
        self.evaluations += 1

    def stepped(self, at: Array, index: int, here: Array) -> Array:
        """The residuals of all points at a place that is off another in one parameter alone.

        Args:
            at: The place.
            index: The parameter.
            here: The residuals at the other place; points that do not feel it keep theirs.
        """
        of = self.parameters[index]
        felt = tuple(point for point in self.points if self.depends(of, point))
        if len(felt) == len(self.points):
            return self.residuals(at, self.points)
        found, changed = self.residuals(at, felt), here.copy()
        pulls = len(self.parameters)
        changed[:-pulls][np.isin(self.groups, felt)] = found[:-pulls]
        changed[-pulls:] = found[-pulls:]
        return changed

    def full(self, at: Array, index: int | None = None, here: Array | None = None) -> Array:
        """The residuals of all points; the best place is remembered.

        Args:
            at: The place.
            index: The one parameter by which it is off another place, if it is.
            here: The residuals there.
        """
        if index is None or here is None:
            found = self.residuals(at, self.points)
        else:
            found = self.stepped(at, index, here)
        cost = robust(found)
        if self.best is None or cost < self.best[0]:
            self.best = (cost, np.clip(at, 0.0, 1.0))
        return found


def global_search(
    search: Search,
    place: Array,
    stage: Stage,
    samples: int,
    seed: int,
    most: int,
    descents: int = 3,
) -> Array:
    """The best of a Latin hypercube and of descents from its best; the rest of `place` stays.

    Args:
        search: What evaluates.
        place: Where the parameters stand that the stage does not change.
        stage: What is varied, on which points.
        samples: Size of the hypercube; 10 times the parameters if 0.
        seed: Of the hypercube.
        most: Evaluations that it takes at most, of those that the search has left.
        descents: How many of the best places a descent starts from.
    """
    varied = list(stage.parameters)
    if not varied:
        return place
    best: list[tuple[float, Array]] = []

    def residuals(part: Array) -> Array:
        at = place.copy()
        at[varied] = part
        found = search.residuals(at, stage.points, rough=True)
        best.append((robust(found), part.copy()))
        return found

    def glance(part: Array) -> None:
        """Looks at a place that matters only if it is among the best."""
        costs = sorted(cost for cost, _ in best)
        most = costs[descents - 1] if len(costs) >= descents else math.inf
        at = place.copy()
        at[varied] = part
        found = search.within(at, stage.points, most)
        if found is not None:
            best.append((robust(found), part.copy()))

    count = len(varied)
    cube = scipy.stats.qmc.LatinHypercube(count, rng=np.random.default_rng(seed)).random(
        samples or 10 * count
    )
    of = [search.parameters[index] for index in varied]
    # Half of the places are those of devices without what only some have.
    for at, parameter in enumerate(of):
        if parameter.may_be_none:
            cube[::2, at] = search.start[varied[at]]
    whole = search.budget
    end = min(whole.evaluations, search.evaluations + most)
    search.budget = replace(whole, evaluations=end)
    try:
        for part in (place[varied], *cube):
            glance(part)
        for _, part in sorted(best, key=lambda found: found[0])[:descents]:
            descend(residuals, part, of, 8)
        limits = [at for at, parameter in enumerate(of) if parameter.limits]
        for index in limits:
            part = min(best, key=lambda found: found[0])[1]
            alone = single_bottleneck(of, part, search.start[varied], limits, index)
            shown = first_visible_place(residuals, alone, index, of[index].tight)
            descend(residuals, shown, of, 8)
    except OutOfBudgetError as over:
        search.cut.add(over.by)
    finally:
        search.budget = whole
    found = place.copy()
    if best:
        found[varied] = min(best, key=lambda one: one[0])[1]
    return found


def single_bottleneck(
    parameters: Sequence[Parameter],
    part: Array,
    start: Array,
    limits: Sequence[int],
    index: int,
) -> Array:
    """The place with one bottleneck alone: the others go back to where they began, if looser."""
    alone = part.copy()
    for at in limits:
        if at != index:
            alone[at] = looser(parameters[at], float(part[at]), float(start[at]))
    return alone


def looser(parameter: Parameter, at: float, other: float) -> float:
    """The one of two places of a bottleneck at which it limits less."""
    return min(at, other) if parameter.tight else max(at, other)


def first_visible_place(
    residuals: Callable[[Array], Array], part: Array, index: int, tight: float
) -> Array:
    """The place with one time as long as it may be if it is the bottleneck.

    Below that nothing changes with it, so no slope leads there: it is looked for on the line
    towards the end at which it is `tight`.
    """

    def loss(at: float) -> float:
        moved = part.copy()
        moved[index] = min(1.0, max(0.0, at))
        return robust(residuals(moved))

    places, step = np.linspace(part[index], tight, _LOOKS, retstep=True)
    best = min((loss(float(at)), float(at)) for at in places)
    for _ in range(_HALVINGS):
        step = 0.5 * float(step)
        best = min(best, *((loss(best[1] + move), best[1] + move) for move in (-step, step)))
    shown = part.copy()
    shown[index] = min(1.0, max(0.0, best[1]))
    return shown


def descend(
    residuals: Callable[[Array], Array],
    at: Array,
    parameters: Sequence[Parameter],
    steps: int,
    stepped: Callable[[Array, int, Array], Array] | None = None,
) -> Array:
    """Least squares (trust region, soft absolute loss) with slopes over wide steps.

    Args:
        residuals: By place.
        stepped: The same of a place off another in one parameter, by that and its residuals.
        at: Where to begin, in the unit cube.
        parameters: What the places stand for.
        steps: The most steps that are taken.
    """
    last: list[tuple[bytes, Array]] = []

    def remembered(place: Array) -> Array:
        if not last or last[0][0] != place.tobytes():
            last[:] = [(place.tobytes(), residuals(place))]
        return last[0][1]

    def slopes(place: Array) -> Array:
        here = remembered(place)
        columns = []
        for index, parameter in enumerate(parameters):
            step = unit_step(parameter, float(place[index]), _STEP)
            step = step if place[index] < 0.5 else -step
            moved = place.copy()
            moved[index] = np.clip(place[index] + step, 0.0, 1.0)
            there = residuals(moved) if stepped is None else stepped(moved, index, here)
            columns.append((there - here) / (moved[index] - place[index]))
        return np.array(columns).T

    found = scipy.optimize.least_squares(
        remembered,
        np.clip(at, 0.003, 0.997),
        jac=slopes,
        bounds=(0.0, 1.0),
        loss="soft_l1",
        x_scale=0.1,
        xtol=2e-3,
        ftol=_GAIN,
        max_nfev=steps,
    )
    return np.asarray(found.x)


def unit_step(parameter: Parameter, at: float, step: float) -> float:
    """A step from a place: at least to the next whole number of what comes in those."""
    return max(step, 1.2 / abs(parameter.slope(at))) if parameter.whole else step
