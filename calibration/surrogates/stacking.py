"""Weights of forms by how they predict points left out (Wolpert 1992; Breiman 1996).

The average of several forms is often nearer than each, and seldom far worse than the best. Weights
are not negative, their sum is 1, and they make the loss of the averaged errors e of points left out
least:

    mean of sqrt(e^2 + d^2)        e: logarithm of predicted over measured rate, d = 0.05

Steps are multiplicative (exponentiated gradient: Kivinen and Warmuth 1997), from equal weights on,
so that forms that predict alike share a weight. Weights are the means over bootstrap samples of the
points, so that no single point decides.

**Example.** Errors of two forms are +0.2, +0.2 and -0.2, -0.2: equal weights leave nothing.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from raidlab.calibration.surrogates.loads import Array

_SMALL: Final = 0.05
"""Errors below count by their square."""
# Steps and samples were set on simulated systems, where no choice of them made a difference.
_ROUNDS_OF_STACKING: Final = 200
_LENGTH: Final = 3.0
_DRAWS: Final = 16
"""Bootstrap samples."""


def weights_of(errors: Array) -> Array:
    """The weight of each form; shape (forms,).

    Args:
        errors: Of points left out, shape (forms, points), at least one of each.
    """
    found: Array = _over_samples(errors, np.ones((1, errors.shape[1])))[0]
    return found


def left_out_of(errors: Array) -> Array:
    """The average's error of each point by weights that did not see the point; shape (points,)."""
    count = errors.shape[1]
    if count < 2:
        alone: Array = errors.mean(axis=0)
        return alone
    weights = _over_samples(errors, 1.0 - np.eye(count))
    found: Array = np.einsum("ik,ki->i", weights, errors)
    return found


def _over_samples(errors: Array, seen: Array) -> Array:
    """Weights for each row of what is seen: shapes (rows, points) to (rows, forms)."""
    rows, count = seen.shape
    random = np.random.default_rng(1)
    draws = random.multinomial(count, np.full(count, 1.0 / count), _DRAWS)
    counted = (seen[:, None] * draws[None]).reshape(-1, count)
    # A sample of nothing but what is not seen counts all.
    counted = np.where(counted.sum(axis=1, keepdims=True) > 0.0, counted, 1.0)
    counted = counted / counted.sum(axis=1, keepdims=True)
    found = np.full((len(counted), len(errors)), 1.0 / len(errors))
    for _ in range(_ROUNDS_OF_STACKING):
        left = found @ errors
        slope = (counted * left / np.sqrt(left**2 + _SMALL**2)) @ errors.T
        found = found * np.exp(-_LENGTH * slope)
        found /= found.sum(axis=1, keepdims=True)
    averaged: Array = found.reshape(rows, _DRAWS, len(errors)).mean(axis=1)
    return averaged
