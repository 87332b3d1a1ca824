"""The search for parameters: everywhere first, then downhill, with the errors of what it finds.

1. A Latin hypercube looks at the whole space, the start among its points, on a part of the
   measurement that spans its depths; Nelder and Mead's simplex goes on from the best.
2. Least squares (trust region, soft absolute loss) on all points, with the same random numbers in
   every simulation, so that a difference of two is due to the parameters.
3. The Jacobian at the end gives standard errors and correlations; a bootstrap over points, on the
   linear model that the Jacobian is, confirms them. A parameter is called identifiable if its
   error is small against its bounds and nothing else could take its place.

Simulations run on threads; the engine releases the interpreter while it works. Every simulation
is looked up in a store first, so that an interrupted fit goes on where it stopped.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from scipy.optimize import least_squares, minimize
from scipy.stats import qmc

from raidlab.calibration.loss import robust
from raidlab.calibration.parameters import Parameter

Array = npt.NDArray[np.float64]

Evaluate = Callable[[Array, bool], Array]
"""Residuals at a place of the unit cube; True for the rough look at a part of the points."""

_STEP = 0.02
_AT_BOUND = 0.01
_WIDE = 0.25
_ALIKE = 0.98


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
    correlations: Array
    jacobian: Array
    residuals: Array
    evaluations: int
    wall_s: float
    warnings: tuple[str, ...]


@dataclass
class _Search:
    evaluate: Evaluate
    deadline: float
    evaluations: int = 0
    best: dict[bool, tuple[float, Array]] = field(default_factory=dict)

    def residuals(self, at: Array, rough: bool) -> Array:
        if time.monotonic() > self.deadline:
            raise OutOfTimeError
        at = np.clip(at, 0.0, 1.0)
        self.evaluations += 1
        found = self.evaluate(at, rough)
        cost = robust(found)
        if rough not in self.best or cost < self.best[rough][0]:
            self.best[rough] = (cost, at.copy())
        return found

    def cost(self, at: Array) -> float:
        outside = float(np.sum(np.maximum(0.0, np.abs(at - 0.5) - 0.5)))
        return robust(self.residuals(at, True)) * (1.0 + 10.0 * outside)


def fit(
    parameters: Sequence[Parameter],
    start: Array,
    evaluate: Evaluate,
    groups: Sequence[int],
    *,
    budget_s: float = 90.0,
    samples: int = 0,
    seed: int = 1,
) -> Fit:
    """Finds the parameters under which the residuals are least.

    Args:
        parameters: What may be turned; their places between the bounds span the unit cube.
        start: Where to begin, in the unit cube.
        evaluate: Gives the residuals.
        groups: For each residual of a full evaluation, the point that it belongs to.
        budget_s: Seconds after which the search ends with what it has.
        samples: Size of the first look; eight times the parameters if 0.
        seed: Of the search's own random numbers.
    """
    begun = time.monotonic()
    search = _Search(evaluate, begun + budget_s)
    warnings: list[str] = []
    try:
        _look_everywhere(search, start, samples or 8 * len(parameters), seed)
        _go_downhill(search, search.best[True][1])
    except OutOfTimeError:
        warnings.append(f"the time budget of {budget_s:g} s ended the search early")
    _, place = search.best.get(False) or search.best.get(True) or (0.0, start)
    search.deadline = float("inf")
    jacobian, at_best = _jacobian(search, place)
    estimates, correlations = _estimates(parameters, place, jacobian, at_best, groups, seed)
    warnings += _doubts(estimates, len(at_best))
    return Fit(
        tuple(estimates),
        place,
        correlations,
        jacobian,
        at_best,
        search.evaluations,
        time.monotonic() - begun,
        tuple(warnings),
    )


def _look_everywhere(search: _Search, start: Array, samples: int, seed: int) -> None:
    cube = qmc.LatinHypercube(len(start), rng=np.random.default_rng(seed)).random(samples)
    looked = [(search.cost(at), at) for at in (start, *cube)]
    looked.sort(key=lambda found: found[0])
    half = search.deadline - time.monotonic()
    until = time.monotonic() + half / 2
    for _, at in looked[:2]:
        if time.monotonic() < until:
            simplex = np.vstack([at, *(np.where(row, _away(at), at) for row in np.eye(len(at)))])
            minimize(
                search.cost,
                at,
                method="Nelder-Mead",
                options={
                    "initial_simplex": simplex,
                    "maxfev": 25 * len(at),
                    "xatol": 0.004,
                    "fatol": 0.05,
                    "adaptive": True,
                },
            )


def _away(at: Array) -> Array:
    return np.where(at < 0.5, at + 0.15, at - 0.15)


def _go_downhill(search: _Search, at: Array) -> None:
    least_squares(
        lambda x: search.residuals(x, False),
        np.clip(at, 0.005, 0.995),
        bounds=(0.0, 1.0),
        loss="soft_l1",
        diff_step=_STEP,
        x_scale=0.1,
        xtol=1e-3,
        ftol=1e-3,
        max_nfev=12,
    )


def _jacobian(search: _Search, place: Array) -> tuple[Array, Array]:
    """Change of the residuals by place, from steps to both sides where there is room."""
    at_best = search.residuals(place, False)
    columns = []
    for index in range(len(place)):
        step = np.zeros(len(place))
        step[index] = _STEP
        high, low = np.clip(place + step, 0, 1), np.clip(place - step, 0, 1)
        change = search.residuals(high, False) - search.residuals(low, False)
        columns.append(change / (high[index] - low[index]))
    return np.array(columns).T.reshape(len(at_best), len(place)), at_best


def _weights(residuals: Array) -> Array:
    """What the soft absolute loss makes of each residual's weight."""
    return (1.0 + residuals**2) ** -0.25


def _estimates(
    parameters: Sequence[Parameter],
    place: Array,
    jacobian: Array,
    residuals: Array,
    groups: Sequence[int],
    seed: int,
) -> tuple[list[Estimate], Array]:
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
    return found, correlations


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
    return np.std(np.array(moves), axis=0)


def _doubts(estimates: Sequence[Estimate], residuals: int) -> list[str]:
    doubts = []
    if residuals < len(estimates):
        doubts.append(
            f"{residuals} measured values for {len(estimates)} parameters: measure more depths,"
            " jobs and both directions (raidlab-collect --plan quick)"
        )
    for estimate in estimates:
        key = estimate.parameter.key
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


__all__ = ["Estimate", "Fit", "OutOfTimeError", "fit", "sensitivity"]
