"""The search for parameters: everywhere first, then downhill, with the errors of what it finds.

1. Stages, each with the parameters that one direction tells (host and links first where they
   are free): a Latin hypercube looks at the whole space, the start among its points, on points
   that span the depths; Nelder and Mead's simplex goes on from the best.
2. Jointly: least squares (trust region, soft absolute loss) on all points, with the same random
   numbers in
   every simulation, so that a difference of two is due to the parameters.
3. The Jacobian at the end gives standard errors and correlations; a bootstrap over points, on the
   linear model that the Jacobian is, confirms them. A parameter is called identifiable if its
   error is small against its bounds and nothing else could take its place.

Simulations run on threads; the engine releases the interpreter while it works. What is
computed is kept until the fit is done, so that an interrupted one goes on (`calibrate`).
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy

from raidlab.calibration.loss import robust
from raidlab.calibration.parameters import Parameter

Array = npt.NDArray[np.float64]

Evaluate = Callable[[Array, Sequence[int], bool], Array]
"""Residuals of some points at a place of the unit cube; True for a rough look."""

_STEP = 0.02
_JACOBIAN_STEP = 0.05
"""Wider than a step of the search: the scatter of two simulations is not taken for a slope."""
_ONE_SIDED = 3.0
_AT_BOUND = 0.01
_WIDE = 0.25
_ALIKE = 0.98
_PULL = 2.0
"""Residual of a parameter that lies a whole range away from where it started: far less than any
measurement says, but enough to leave alone what no measurement speaks to."""


class OutOfTimeError(Exception):
    """The time budget is spent."""


@dataclass(frozen=True)
class Estimate:
    """A fitted parameter."""

    parameter: Parameter
    value: float
    stderr: float
    low: float
    high: float
    at_bound: bool
    identifiable: bool
    like: str = ""
    """Another parameter that the data cannot tell it from."""


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
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class Stage:
    """A part of the search: some parameters, on some points, the rest as it is."""

    parameters: tuple[int, ...]
    points: tuple[int, ...]


@dataclass
class Search:
    """Evaluations of a model, with the pull towards the start, until the time is up."""

    evaluate: Evaluate
    start: Array
    points: tuple[int, ...]
    deadline: float
    pulls: Array | float = 1.0
    evaluations: int = 0
    best: tuple[float, Array] | None = None

    def residuals(self, at: Array, points: Sequence[int], rough: bool) -> Array:
        """The residuals of the points, and after them the pull towards the start."""
        if time.monotonic() > self.deadline:
            raise OutOfTimeError
        at = np.clip(at, 0.0, 1.0)
        self.evaluations += 1
        found = self.evaluate(at, points, rough)
        return np.concatenate([found, (at - self.start) * _PULL * self.pulls])

    def full(self, at: Array) -> Array:
        """The residuals of all points; the best place is remembered."""
        found = self.residuals(at, self.points, False)
        cost = robust(found)
        if self.best is None or cost < self.best[0]:
            self.best = (cost, np.clip(at, 0.0, 1.0))
        return found


def fit(
    parameters: Sequence[Parameter],
    start: Array,
    evaluate: Evaluate,
    groups: Sequence[int],
    stages: Sequence[Stage],
    *,
    budget_s: float = 90.0,
    samples: int = 0,
    seed: int = 1,
    begin: Array | None = None,
    evaluated: int = 0,
    careful: Evaluate | None = None,
) -> Fit:
    """Finds the parameters under which the residuals are least.

    Args:
        parameters: What may be turned; their places between the bounds span the unit cube.
        start: What is expected, in the unit cube: what no measurement speaks to stays there.
        evaluate: Gives the residuals.
        groups: For each residual of all points, the point that it belongs to.
        stages: Searches of parts before the joint one.
        budget_s: Seconds after which the search ends with what it has.
        samples: Size of the first look of a stage; 25 times its parameters if 0.
        seed: Of the search's own random numbers.
        begin: Where to begin; the start if None.
        evaluated: Evaluations that were made before.
        careful: Gives the residuals for the errors, where those of the search scatter too much.
    """
    begun = time.monotonic()
    points = tuple(sorted(set(groups)))
    pulls = np.array([parameter.pull for parameter in parameters])
    search = Search(evaluate, start.copy(), points, begun + 0.75 * budget_s, pulls)
    warnings: list[str] = []
    place = (start if begin is None else begin).copy()
    try:
        for number, stage in enumerate(stages):
            left = search.deadline - time.monotonic()
            until = time.monotonic() + left / (len(stages) - number + 1)
            place = look_everywhere(search, place, stage, samples, seed, until)
        _go_downhill(search, place)
    except OutOfTimeError:
        warnings.append(f"the time budget of {budget_s:g} s ended the search early")
    search.deadline = float("inf")
    if search.best is None:
        search.full(place)
    place = place if search.best is None else search.best[1]
    search.evaluate = careful or evaluate
    jacobian, at_best = _jacobian(search, place, parameters)
    estimates, errors, correlations = _estimates(parameters, place, jacobian, at_best, groups, seed)
    warnings += _doubts(estimates, len(at_best))
    return Fit(
        tuple(estimates),
        place,
        errors,
        correlations,
        jacobian,
        at_best,
        search.evaluations + evaluated,
        time.monotonic() - begun,
        tuple(warnings),
    )


def look_everywhere(
    search: Search,
    place: Array,
    stage: Stage,
    samples: int,
    seed: int,
    until: float,
    simplexes: int = 3,
    steps: int = 30,
) -> Array:
    """The best of a Latin hypercube and of simplexes from its best; the rest of `place` stays.

    Args:
        search: What evaluates.
        place: Where the parameters stand that the stage does not turn.
        stage: What is turned, on which points.
        samples: Size of the hypercube; 25 times the parameters if 0.
        seed: Of the hypercube.
        until: When to end, by the monotonic clock.
        simplexes: How many of the best places a simplex starts from.
        steps: Evaluations of each simplex, times the parameters.
    """
    turned = list(stage.parameters)
    if not turned:
        return place
    best: list[tuple[float, Array]] = []

    def cost(part: Array) -> float:
        if time.monotonic() > until:
            raise _StageOverError
        at = place.copy()
        at[turned] = np.clip(part, 0.0, 1.0)
        outside = float(np.sum(np.maximum(0.0, np.abs(part - 0.5) - 0.5)))
        found = robust(search.residuals(at, stage.points, True)) * (1.0 + 10.0 * outside)
        best.append((found, np.clip(part, 0.0, 1.0)))
        return found

    count = len(turned)
    cube = scipy.stats.qmc.LatinHypercube(count, rng=np.random.default_rng(seed)).random(
        samples or 25 * count
    )
    with contextlib.suppress(_StageOverError):
        for part in (place[turned], *cube):
            cost(part)
        for _, part in sorted(best, key=lambda found: found[0])[:simplexes]:
            simplex = np.vstack(
                [part, *(np.where(row, _away(part), part) for row in np.eye(count))]
            )
            scipy.optimize.minimize(
                cost,
                part,
                method="Nelder-Mead",
                options={
                    "initial_simplex": simplex,
                    "maxfev": steps * count,
                    "xatol": 0.004,
                    "fatol": 0.05,
                    "adaptive": True,
                },
            )
    found = place.copy()
    if best:
        found[turned] = min(best, key=lambda one: one[0])[1]
    return found


class _StageOverError(Exception):
    """The time of a stage is spent."""


def _away(at: Array) -> Array:
    return np.where(at < 0.5, at + 0.15, at - 0.15)


def _go_downhill(search: Search, at: Array) -> None:
    search.full(at)
    scipy.optimize.least_squares(
        search.full,
        np.clip(at, 0.003, 0.997),
        bounds=(0.0, 1.0),
        loss="soft_l1",
        diff_step=_STEP,
        x_scale=0.1,
        xtol=2e-3,
        ftol=2e-3,
        max_nfev=12,
    )


def _jacobian(search: Search, place: Array, parameters: Sequence[Parameter]) -> tuple[Array, Array]:
    """Change of the residuals by place, from steps to both sides where there is room."""
    count = len(place)
    at_best = search.residuals(place, search.points, False)[: -count or None]
    columns = []
    for index, parameter in enumerate(parameters):
        step = np.zeros(count)
        step[index] = _JACOBIAN_STEP
        if parameter.whole:
            # At least to the next whole number.
            step[index] = max(_JACOBIAN_STEP, 1.2 / abs(parameter.slope(float(place[index]))))
        high, low = np.clip(place + step, 0, 1), np.clip(place - step, 0, 1)
        up = search.residuals(high, search.points, False)[: -count or None] - at_best
        down = at_best - search.residuals(low, search.points, False)[: -count or None]
        columns.append(_slope(up, high[index] - place[index], down, place[index] - low[index]))
    return np.array(columns).T.reshape(len(at_best), count), at_best


def _slope(up: Array, above: float, down: Array, below: float) -> Array:
    """Change of the residuals by place from steps to both sides.

    Where one side hardly changes anything, a bottleneck ends at this place: the parameter may lie
    anywhere on that side, so that side is what the data say of it.
    """
    if above > 0.0 and below > 0.0:
        sides = sorted((up / above, down / below), key=lambda side: float(side @ side))
        if float(sides[1] @ sides[1]) > _ONE_SIDED**2 * float(sides[0] @ sides[0]):
            return sides[0]
    return np.asarray((up + down) / (above + below))


def _weights(residuals: Array) -> Array:
    """What the soft absolute loss makes of each residual's weight."""
    return np.asarray((1.0 + residuals**2) ** -0.25)


def _estimates(
    parameters: Sequence[Parameter],
    place: Array,
    jacobian: Array,
    residuals: Array,
    groups: Sequence[int],
    seed: int,
) -> tuple[list[Estimate], Array, Array]:
    weights = _weights(residuals)
    weighted, count = jacobian * weights[:, None], len(place)
    spare = max(1, len(residuals) - count)
    scale = max(1.0, float(np.sum((residuals * weights) ** 2)) / spare)
    # A ridge far below any real sensitivity keeps what nothing speaks to finite, and huge.
    normal = weighted.T @ weighted + 1e-4 * np.eye(count)
    covariance = np.linalg.inv(normal) * scale
    errors = np.maximum(
        np.sqrt(np.diag(covariance)), _bootstrap(weighted, residuals * weights, groups, seed)
    )
    deviations = np.sqrt(np.diag(covariance))
    correlations = covariance / np.outer(deviations, deviations)
    found = []
    for index, parameter in enumerate(parameters):
        at, error = float(place[index]), float(errors[index])
        others = np.abs(np.delete(correlations[index], index))
        names = [other.key for other in parameters if other is not parameter]
        like = names[int(np.argmax(others))] if len(others) and others.max() > _ALIKE else ""
        at_bound = at < _AT_BOUND or at > 1 - _AT_BOUND
        found.append(
            Estimate(
                parameter,
                parameter.value(at),
                abs(parameter.slope(at)) * error,
                parameter.value(at - 1.96 * error),
                parameter.value(at + 1.96 * error),
                at_bound,
                error < _WIDE and not like and not at_bound,
                like,
            )
        )
    return found, errors, correlations


def _bootstrap(weighted: Array, residuals: Array, groups: Sequence[int], seed: int) -> Array:
    """Deviation of the places when points are drawn with replacement, on the linear model."""
    draws = np.random.default_rng(seed)
    members = [np.flatnonzero(np.array(groups) == group) for group in sorted(set(groups))]
    count = weighted.shape[1]
    if len(members) < 3:
        return np.zeros(count)
    moves = []
    for _ in range(200):
        chosen = draws.integers(len(members), size=len(members))
        rows = np.concatenate([members[index] for index in chosen])
        part = weighted[rows]
        normal = part.T @ part + 1.0 * np.eye(count)
        moves.append(-np.linalg.solve(normal, part.T @ residuals[rows]))
    return np.asarray(np.std(np.array(moves), axis=0))


def _doubts(estimates: Sequence[Estimate], residuals: int) -> list[str]:
    doubts = []
    if residuals < len(estimates):
        doubts.append(
            f"{residuals} measured values for {len(estimates)} parameters: measure more depths,"
            " jobs and both directions (raidlab-collect --plan quick)"
        )
    for estimate in estimates:
        key = estimate.parameter.key
        if key.startswith("state.") and estimate.at_bound:
            continue
        if estimate.at_bound:
            doubts.append(
                f"{key} lies at its bound, {estimate.value:.4g} {estimate.parameter.unit}"
            )
        elif estimate.like:
            doubts.append(f"{key} cannot be told from {estimate.like} by these points")
        elif not estimate.identifiable:
            doubts.append(
                f"{key} is hardly determined by these points; {estimate.parameter.speaks} tell it"
            )
    return doubts


def sensitivity(jacobian: Array) -> list[float]:
    """How much each parameter moves the residuals, for reports."""
    return [float(np.sqrt(np.mean(column**2))) for column in jacobian.T]


__all__ = [
    "Estimate",
    "Fit",
    "OutOfTimeError",
    "Search",
    "Stage",
    "fit",
    "look_everywhere",
    "sensitivity",
]
