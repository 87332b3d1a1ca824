"""Measurements that are one run of many: what changes over time differs each time.

Lines of a tier are promoted when chance has touched them often enough, and each promotion changes
what comes after it: two hours of one machine differ by far more than what counts as agreement, and
so do two simulations with other random numbers. A few runs at the start of a fit say how far each
comparison may be off (`scaled_by_replicates`). Runs at its end say how far apart the results of
replicates lie (`deviation_between_replicates`) and which part of a slope is only the difference of
two runs (`slope_inflation`).

Source: propagation of errors; the variance of a difference of two independent runs is twice that
of one. **Example.** Rates of runs differ by 10 %, and 3 % counts as agreement: a deviation of 3.3
units. The unit becomes sqrt(1 + 2 x 3.3^2) = 4.8 times as large, 14.5 %.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from raidlab.calibration.fitting.search.minimise import Array, Evaluate

_LEAST_SLOPE_SHARE: Final = 1e-6


def residuals_of(runs: Sequence[Evaluate], at: Array, points: Sequence[int]) -> Array:
    """The residuals of each run at a place; shape (runs, residuals)."""
    return np.array([run(at, points, False) for run in runs])


def scaled_by_replicates(
    runs: Sequence[Evaluate], at: Array, groups: Sequence[int]
) -> Callable[[Evaluate], Evaluate]:
    """Residuals in units of what is tolerated and of what two runs differ by, together.

    Args:
        runs: The simulations, each with random numbers of its own; none if all runs are alike.
        at: The place at which they are compared.
        groups: For each residual of all points, the point that it belongs to.
    """
    if not runs:
        return lambda evaluate: evaluate
    drawn = residuals_of(runs, at, sorted(set(groups)))
    units = np.sqrt(1.0 + 2.0 * np.var(drawn, axis=0, ddof=1))

    def of(evaluate: Evaluate) -> Evaluate:
        return lambda at, points, rough: (
            evaluate(at, points, rough) / units[np.isin(groups, points)]
        )

    return of


def deviation_between_replicates(jacobian: Array, drawn: Array) -> Array:
    """Deviation of the places from run to run, on the linear model; shape (parameters,).

    Args:
        jacobian: Weighted slopes, shape (residuals, parameters).
        drawn: Residuals of runs, weighted alike, shape (runs, residuals).
    """
    normal = jacobian.T @ jacobian + np.eye(jacobian.shape[1])
    moves = np.linalg.solve(normal, jacobian.T @ drawn.T)
    return np.asarray(np.sqrt(2.0) * np.std(moves, axis=1, ddof=1))


def slope_inflation(jacobian: Array, spans: Array, drawn: Array) -> Array:
    """What errors are taken times since slopes are differences of runs that differ anyway.

    Of the square of a slope, `2 variance / span^2` comes without any effect of the parameter. A
    slope that is no more than that says nothing: its error is as good as infinite.

    Args:
        jacobian: Slopes, shape (residuals, parameters).
        spans: Between which places each slope was taken, shape (parameters,).
        drawn: Residuals of runs, shape (runs, residuals).
    """
    noise = 2.0 * float(np.sum(np.var(drawn, axis=0, ddof=1))) / spans**2
    square = np.sum(jacobian**2, axis=0)
    share = 1.0 - noise / np.maximum(square, 1e-12)
    return np.asarray(1.0 / np.sqrt(np.clip(share, _LEAST_SLOPE_SHARE, 1.0)))
