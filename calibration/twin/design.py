"""Which loads to measure next: those whose rate says most about the rates of all others.

What is not known of a rate is the sum of three: the variance of the kriged field (`kriging`), what
the points leave open in the law's own numbers (`rivals`), and where forms that predict about as
well disagree. Each is a covariance over loads. Measuring a load c with noise n lowers the variance
at every load r by

    cov(r, c)^2 / (cov(c, c) + n^2)

and the load with the largest sum over all loads is taken (integrated variance: Sacks et al., Design
and Analysis of Computer Experiments, 1989). Its measurement is then taken as done, and the next one
is chosen by what is left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from raidlab.calibration.surrogates.kriging import Field, correlations
from raidlab.calibration.surrogates.loads import Array, Measured
from raidlab.calibration.surrogates.rivals import left_open
from raidlab.calibration.surrogates.selection import Selection
from raidlab.calibration.twin.asks import Ask, loads_of_asks

_RIVALS: Final = 5
"""Forms whose disagreement counts, the best ones."""
_LARGEST_ERROR: Final = 0.7
"""A point left out that is further off, as the logarithm of a rate, counts as that: a corner."""
_NOISE: Final = 0.03
"""Deviation of the logarithm of a measured rate."""


@dataclass(frozen=True)
class Choice:
    """The loads to measure next, and how unsure the rates of all loads are before that."""

    asks: tuple[Ask, ...]
    deviation: float
    """Mean standard deviation of the logarithms of the rates: about their error as a share."""


def choose(selection: Selection, seen: Measured, candidates: Sequence[Ask], count: int) -> Choice:
    """The loads that lower the variance of all rates most.

    Args:
        selection: What laws make of what was measured.
        seen: What was measured.
        candidates: What may be measured, and what is asked for.
        count: How many loads are wanted.
    """
    covariance = _covariance(selection, seen, candidates)
    deviation = float(np.sqrt(np.maximum(np.diag(covariance), 0.0)).mean())
    taken: list[Ask] = []
    for _ in range(min(count, len(candidates))):
        gain = (covariance**2).sum(axis=0) / (np.diag(covariance) + _NOISE**2)
        at = int(np.argmax(gain))
        taken.append(candidates[at])
        column = covariance[:, at]
        covariance = covariance - np.outer(column, column) / (column[at] + _NOISE**2)
    return Choice(tuple(taken), deviation)


def _covariance(selection: Selection, seen: Measured, candidates: Sequence[Ask]) -> Array:
    """Of the logarithms of the rates at all candidates; shape (candidates, candidates)."""
    loads = loads_of_asks(candidates)
    field = selection.best_table.predictor.residual
    if not isinstance(field, Field):
        raise AssertionError("a table has a field")
    near = field.deviation**2 * correlations(loads, field.loads, field.reach)
    prior = field.deviation**2 * correlations(loads, loads, field.reach)
    found: Array = prior - near @ field.inverse @ near.T
    # What the field says of itself is too good where the law has nearly as many numbers as points:
    # it is widened to what points left out were off.
    missed = selection.best_table.left_out
    if len(missed):
        rms = float(np.sqrt(np.mean(np.minimum(np.abs(missed), _LARGEST_ERROR) ** 2)))
        found = found * max(1.0, rms / field.deviation) ** 2
    if selection.chosen is None:
        # The field takes from near points what another law would say there.
        changes, at_seen = left_open(field.law, seen, loads)
        changes = changes - at_seen @ field.inverse @ near.T
    else:
        changes, _ = left_open(selection.chosen.predictor.fitted, seen, loads)
    found = found + changes.T @ changes
    best = [each for each in selection.scored if len(each.left_out)][:_RIVALS]
    if len(best) > 1:
        logs = np.array([np.log(each.predictor.rates(loads)) for each in best])
        weights = np.array([1.0 / max(each.error, 1e-3) ** 2 for each in best])
        weights /= weights.sum()
        apart = logs - weights @ logs
        found = found + (apart.T * weights) @ apart
    return found
