"""What a law leaves over, taken from near loads: kriging of its residuals.

The logarithm of measured over a law's rate is a stationary random field over direction, order and
the binary logarithms of block size, depth and jobs. Its covariance falls exponentially with the
distance, and each point has its own variance by its tolerance. The prediction at a load is the best
linear one (Krige 1951; Matheron 1963; Rasmussen and Williams, Gaussian Processes, 2.2 and 5.4):

    mean = k' (K + N)^-1 r          variance = s^2 - k' (K + N)^-1 k

Far from all points it is the law alone, with the variance of the field. Its deviation, its reach
and the noise are those of a small set under which leaving each point out costs least; leaving one
out has a closed form, r_i - mean_i = (K^-1 r)_i / (K^-1)_ii.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product
from typing import Final

import numpy as np

from raidlab.calibration.surrogates.laws import FittedLaw
from raidlab.calibration.surrogates.loads import Array, Loads, Measured

_REACH: Final = np.array([3.0, 2.5, 2.0, 0.7, 1.0])
"""Distances that count alike: octaves of block size, of outstanding, of jobs; share of reads; and
of order."""
_REACHES: Final = (0.5, 1.0, 2.0, 4.0)
_NOISES: Final = (0.25, 1.0, 2.0, 4.0)
"""Times the points' tolerances."""
_LEAST_DEVIATION: Final = 0.02


@dataclass(frozen=True)
class Field:
    """A law and what is left of measured rates above it, known at points."""

    law: FittedLaw
    loads: Loads
    deviation: float
    """Of the field, as the logarithm of a rate."""
    reach: float
    weights: Array
    """(K + N)^-1 r, shape (points,)."""
    inverse: Array
    """(K + N)^-1, shape (points, points)."""

    def rates(self, loads: Loads) -> Array:
        """I/Os a second, shape (loads,)."""
        left = self._near(loads) @ self.weights
        found: Array = self.law.rates(loads) * np.exp(left)
        return found

    def deviations(self, loads: Loads) -> Array:
        """Standard deviation of the logarithm of each rate, shape (loads,)."""
        near = self._near(loads)
        known = np.einsum("ij,jk,ik->i", near, self.inverse, near)
        found: Array = np.sqrt(np.maximum(self.deviation**2 - known, 0.0))
        return found

    def _near(self, loads: Loads) -> Array:
        return self.deviation**2 * correlations(loads, self.loads, self.reach)


def correlations(one: Loads, other: Loads, reach: float) -> Array:
    """Of the residuals at pairs of loads; shape (loads of one, loads of the other)."""
    apart = (_places(one)[:, None] - _places(other)[None]) / (reach * _REACH)
    found: Array = np.exp(-np.sqrt((apart**2).sum(axis=-1)))
    return found


def _places(loads: Loads) -> Array:
    return np.stack(
        [
            np.log2(loads.block),
            np.log2(loads.outstanding),
            np.log2(loads.jobs),
            loads.read_share,
            loads.sequential,
        ],
        axis=1,
    )


def krige(law: FittedLaw, seen: Measured) -> Field:
    """The field of what a fitted law leaves of measured rates."""
    left = np.log(seen.rate) - np.log(law.rates(seen.loads))
    spread = max(_LEAST_DEVIATION, float(np.sqrt(np.mean(left**2))))
    best: tuple[float, Field] | None = None
    alike = {reach: correlations(seen.loads, seen.loads, reach) for reach in _REACHES}
    for reach, noise, times in product(_REACHES, _NOISES, (0.7, 1.0, 1.5)):
        deviation = times * spread
        covariance = deviation**2 * alike[reach]
        covariance += np.diag((noise * seen.tolerance) ** 2)
        inverse: Array = np.linalg.inv(covariance).astype(np.float64)
        weights = inverse @ left
        variance = 1.0 / np.diag(inverse)
        missed = weights * variance
        # The log likelihood of each point by the others.
        cost = float(np.mean(np.abs(missed)) + 0.05 * np.mean(np.log(variance)))
        if best is None or cost < best[0] - 1e-9:
            best = (cost, Field(law, seen.loads, deviation, reach, weights, inverse))
    if best is None or not math.isfinite(best[0]):
        raise AssertionError("a field has points")
    return best[1]
