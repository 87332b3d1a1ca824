"""How sure a fit is: slopes at the place found, errors, correlations, intervals, doubts.

The Jacobian gives standard errors and correlations; a bootstrap over points, on the linear model
that the Jacobian is, says how far the points agree with each other; where one run differs from
another (`runs`), so do the places found. The largest of them counts. All think that residuals
change in straight lines. So each interval is confirmed by its profile: the parameter is moved to
the interval's end, the others along with it as the correlations say, and simulated. Where the
residuals do not rise as they should, the end moves out until they do. A whole number is compared
with the next ones: less than that changes nothing and says nothing. One whose next ones are
excluded is known, and leaves no doubt to the others.

Source: profile likelihood as in Venzon and Moolgavkar 1988, with the others moved linearly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from raidlab.calibration.fitting.certainty.replicates import (
    deviation_between_replicates,
    residuals_of,
    slope_inflation,
)
from raidlab.calibration.fitting.parameters.parameter import DETERMINED_WITHIN, Parameter
from raidlab.calibration.fitting.search.loss import robust
from raidlab.calibration.fitting.search.minimise import Array, Evaluate, Search, looser, unit_step
from raidlab.scenarios.spec.findings import Code, Coded

_STEP: Final = 0.05
"""Wide, so that the scatter of two simulations is not taken for a slope."""
_ONE_SIDED: Final = 3.0
_AT_BOUND: Final = 0.01
"""Of the range: as near as that a place is as good as the bound."""
_WIDE_SHARE: Final = 0.25
_ALIKE_CORRELATION: Final = 0.98
_DRAWS: Final = 200
_95 = 1.96
_JOINT_COMPARISONS: Final = 2.0
"""Comparisons of a point that say as much as one, for the percentiles of a run move together: those
of a sample, p below q, are correlated by sqrt(p (1 - q) / (q (1 - p))), its deciles by 0.48 in the
mean."""
_RIDGE: Final = 1e-4
"""Far below any real sensitivity: keeps what nothing speaks to finite, and huge."""
_KNOWN: Final = 1e8
"""As if a place had been measured within a ten thousandth of the range."""
_AS_WELL: Final = 4.0
"""Loss by which two bottlenecks differ, if they do."""
_LOOKS: Final = 4
_OUTWARD: Final = 3
"""Times that an interval's end moves out."""
_FLAT: Final = 0.1
"""Share of the rise below which an interval has no end on that side."""
_FARTHER: Final = 2.5
"""By which it moves at most each time."""


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
    """Another parameter that the data cannot distinguish it from."""


@dataclass(frozen=True)
class Certainty:
    """What the surroundings of a place say."""

    place: Array
    """With whole numbers where their values are."""
    estimates: tuple[Estimate, ...]
    errors: Array
    """Standard errors of the places, in units of the range."""
    correlations: Array
    jacobian: Array
    residuals: Array


def certainty(
    search: Search,
    place: Array,
    groups: Sequence[int],
    seed: int,
    few: Sequence[int] = (),
    runs: Sequence[Evaluate] = (),
) -> Certainty:
    """Slopes, errors and intervals around a place.

    Args:
        search: What evaluates; its points and parameters are those of the fit.
        place: In the unit cube.
        groups: For each residual, the point that it belongs to.
        seed: Of the bootstrap's draws.
        few: Points on which bottlenecks are compared; all if none are given.
        runs: The same simulations with other random numbers, where one run of them may differ from
            another by more than what counts as agreement.
    """
    parameters, count = search.parameters, len(place)
    pairs = zip(parameters, place, strict=True)
    place = np.array([parameter.settled(float(at)) for parameter, at in pairs])
    jacobian, at_best, spans = _jacobian(search, place, parameters)
    weights = (1.0 + at_best**2) ** -0.25
    weighted = jacobian * weights[:, None]
    spare = max(1, len(at_best) - count)
    scale = _JOINT_COMPARISONS * max(1.0, float(np.sum((at_best * weights) ** 2)) / spare)
    known = np.full(count, _RIDGE)
    covariance = _covariance(weighted, known, scale)
    if not runs:
        known[_exact(search, place, at_best, covariance, scale)] = _KNOWN
        covariance = _covariance(weighted, known, scale)
    deviations = np.sqrt(np.diag(covariance))
    errors = np.maximum(deviations, _bootstrap(weighted, at_best * weights, groups, seed, known))
    if runs:
        drawn = residuals_of(runs, place, search.points)
        errors = np.maximum(errors, deviation_between_replicates(weighted, weights * drawn))
        errors = np.maximum(errors, deviations * slope_inflation(jacobian, spans, drawn))
    correlations = covariance / np.outer(deviations, deviations)
    estimates, confirmed = [], np.zeros(count)
    for index, parameter in enumerate(parameters):
        along = covariance[:, index] / covariance[index, index]
        rise = _95**2 * scale * (errors[index] / deviations[index]) ** 2
        low, high = (
            _end(search, place, at_best, sign * _95 * errors[index], along, index, rise)
            for sign in (-1.0, 1.0)
        )
        confirmed[index] = max(errors[index], (high - low) / (2 * _95))
        others = np.abs(np.delete(correlations[index], index))
        names = [other.key for other in parameters if other is not parameter]
        like = (
            names[int(np.argmax(others))]
            if len(others) and others.max() > _ALIKE_CORRELATION
            else ""
        )
        estimate = _estimate(
            parameter, float(place[index]), float(confirmed[index]), low, high, like
        )
        if parameter.limits and estimate.identifiable:
            other = _other_bottleneck(search, place, index, tuple(few) or search.points)
            estimate = replace(estimate, like=other, identifiable=not other)
        estimates.append(estimate)
    return Certainty(place, tuple(estimates), confirmed, correlations, jacobian, at_best)


def _covariance(weighted: Array, known: Array, scale: float) -> Array:
    """Of the places, by the slopes of the residuals and what is known of each place besides."""
    return np.asarray(np.linalg.inv(weighted.T @ weighted + np.diag(known)) * scale)


def _estimate(
    parameter: Parameter, at: float, error: float, low: float, high: float, like: str
) -> Estimate:
    is_least = parameter.is_least(at)
    at_bound = (at < _AT_BOUND and not is_least) or at > 1 - _AT_BOUND
    one_sided = (low <= 0.0 and not is_least) or high >= 1.0
    return Estimate(
        parameter,
        parameter.value(at),
        abs(parameter.slope(at)) * error,
        parameter.value(low),
        parameter.value(high),
        at_bound,
        _is_determined(parameter, error) and not like and not at_bound and not one_sided,
        like,
    )


def _is_determined(parameter: Parameter, error: float) -> bool:
    """True if an error of the place leaves little of the range, and of a value little of it."""
    share = error * math.log(parameter.high / parameter.low) if parameter.scale == "log" else 0.0
    return error < _WIDE_SHARE and share <= DETERMINED_WITHIN


def _other_bottleneck(search: Search, place: Array, index: int, points: tuple[int, ...]) -> str:
    """A time that would end the rates as well if it were the bottleneck in the place of another.

    No slope shows it: where one time is the bottleneck, the others hide behind it.
    """
    count = len(place)

    def loss(at: Array) -> float:
        return robust(search.residuals(at, points)[: -count or None])

    least = loss(place)
    margin = _AS_WELL * max(1.0, 0.2 * least)
    side = search.parameters[index].side
    for other, parameter in enumerate(search.parameters):
        if other == index or not parameter.limits or parameter.side != side:
            continue
        moved = place.copy()
        here = search.parameters[index]
        moved[index] = looser(here, float(place[index]), float(search.start[index]))
        low, high = sorted((float(place[other]), parameter.tight))
        for _ in range(_LOOKS):
            found = []
            for at in np.linspace(low, high, _LOOKS + 2)[1:-1]:
                moved[other] = at
                found.append((loss(moved), float(at)))
            if min(found)[0] < least + margin:
                return parameter.key
            step = (high - low) / (_LOOKS + 1)
            low, high = min(found)[1] - step, min(found)[1] + step
    return ""


def _end(
    search: Search,
    place: Array,
    at_best: Array,
    distance: float,
    along: Array,
    index: int,
    rise: float,
) -> float:
    """The end of an interval: at least `distance` away, where the residuals have risen enough."""
    found = 0.0
    for _ in range(_OUTWARD):
        if not 0.0 < place[index] + distance < 1.0:
            break
        sign = math.copysign(1.0, distance)
        looked = sign * max(abs(distance), _to_next(search.parameters[index], place[index], sign))
        found = _rise(search, place + looked * along, at_best)
        if found >= 0.5 * rise:
            break
        distance = looked * min(_FARTHER, max(1.3, float(np.sqrt(rise / max(found, 1e-9)))))
    else:
        if found < _FLAT * rise:
            # Nothing rises on this side however far it goes.
            return 0.0 if distance < 0.0 else 1.0
    return min(1.0, max(0.0, float(place[index] + distance)))


def _rise(search: Search, moved: Array, at_best: Array) -> float:
    """By how much the loss is higher at another place."""
    moved = np.clip(moved, 0.0, 1.0)
    there = search.residuals(moved, search.points)[: -len(moved) or None]
    return robust(there) - robust(at_best)


def _to_next(parameter: Parameter, at: float, sign: float) -> float:
    """How far it is to the next whole number, up or down; 0 if there is none."""
    return abs(parameter.place(parameter.value(at) + sign) - at) if parameter.whole else 0.0


def _exact(
    search: Search, place: Array, at_best: Array, covariance: Array, scale: float
) -> list[int]:
    """The whole numbers whose next ones are excluded, by their errors and by simulation."""
    enough, found = 0.5 * _95**2 * scale, []
    for index, parameter in enumerate(search.parameters):
        if not parameter.whole:
            continue
        along = covariance[:, index] / covariance[index, index]
        steps = [sign * _to_next(parameter, place[index], sign) for sign in (-1.0, 1.0)]
        steps = [step for step in steps if step]
        error = _95 * float(np.sqrt(covariance[index, index]))
        if all(
            abs(step) > error and _rise(search, place + step * along, at_best) >= enough
            for step in steps
        ):
            found.append(index)
    return found


def _jacobian(
    search: Search, place: Array, parameters: Sequence[Parameter]
) -> tuple[Array, Array, Array]:
    """Change of the residuals by place, from steps to both sides where the bounds allow.

    Beside it the residuals here, and how far apart the places are between which each slope lies.
    """
    count = len(place)
    here = search.residuals(place, search.points)
    at_best = here[: -count or None]
    columns, spans = [], []
    for index, parameter in enumerate(parameters):
        step = np.zeros(count)
        step[index] = unit_step(parameter, float(place[index]), _STEP)
        high, low = np.clip(place + step, 0, 1), np.clip(place - step, 0, 1)
        for moved in (high, low):
            moved[index] = parameter.settled(float(moved[index]))
        up = search.stepped(high, index, here)[: -count or None] - at_best
        down = at_best - search.stepped(low, index, here)[: -count or None]
        spans.append(high[index] - low[index])
        columns.append(_slope(up, high[index] - place[index], down, place[index] - low[index]))
    return np.array(columns).T.reshape(len(at_best), count), at_best, np.array(spans)


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


def _bootstrap(
    weighted: Array, residuals: Array, groups: Sequence[int], seed: int, known: Array
) -> Array:
    """Deviation of the places when points are drawn with replacement, on the linear model."""
    draws = np.random.default_rng(seed)
    members = [np.flatnonzero(np.array(groups) == group) for group in sorted(set(groups))]
    count = weighted.shape[1]
    if len(members) < 3:
        return np.zeros(count)
    moves = []
    for _ in range(_DRAWS):
        chosen = draws.integers(len(members), size=len(members))
        rows = np.concatenate([members[index] for index in chosen])
        part = weighted[rows]
        normal = part.T @ part + np.diag(np.maximum(1.0, known))
        moves.append(-np.linalg.solve(normal, part.T @ residuals[rows]))
    return np.asarray(np.std(np.array(moves), axis=0))


def doubts(estimates: Sequence[Estimate], residuals: int) -> list[str]:
    """What the points do not determine, in words."""
    found: list[str] = []
    if residuals < len(estimates):
        found.append(
            f"{residuals} measured values for {len(estimates)} parameters: measure more depths,"
            " jobs and both directions (raidlab-collect --plan quick)"
        )
    for estimate in estimates:
        text, key = _doubt(estimate), estimate.parameter.key
        if text:
            found.append(Coded(text, Code.UNDETERMINED, key))
    return found


def _doubt(estimate: Estimate) -> str:
    """Why the points do not determine a parameter; empty if they do."""
    parameter, key = estimate.parameter, estimate.parameter.key
    if estimate.at_bound:
        known = key.startswith("state.") or _is_absent(estimate)
        return "" if known else _of_bound(parameter, estimate.value)
    if estimate.like:
        return f"{key} cannot be distinguished from {estimate.like} by these points"
    if not estimate.identifiable:
        return f"{key} is hardly determined by these points; {parameter.speaks} determine it"
    return ""


def _is_absent(estimate: Estimate) -> bool:
    """True for nothing of what only some devices have."""
    parameter = estimate.parameter
    return parameter.may_be_none and parameter.place(estimate.value) < 0.5


def _of_bound(parameter: Parameter, value: float) -> str:
    """That a value is the least or the most that was looked at, or lies next to it."""
    texts = (parameter.text(number) for number in (value, parameter.low, parameter.high))
    here, low, high = (f"{text:g}" if isinstance(text, float) else text for text in texts)
    end = "least" if parameter.place(value) < 0.5 else "most"
    where = "at" if here in (low, high) else "next to"
    return f"{parameter.key} = {here} lies {where} the {end} of what was looked at, {low} to {high}"
