"""What points leave open in a law's numbers, as what it could say of other loads instead.

Along each principal axis of the numbers' covariance a standard deviation is gone up and down. Where
a law bends (a cap, a cache), the slopes at the best place promise too much: a server's time below
a cap has no slope and still cannot be ten times as long. So a step is halved until it moves the
rates of the points that were seen by no more than a deviation does where a law is straight:

    sum over points of (change of the logarithm / tolerance)^2 <= 1

Numbers have a prior besides: as wide as an even distribution between their bounds. What such steps
change elsewhere adds up to a covariance (sigma points: Julier and Uhlmann 1997).

**Example.** A law a + b x of logarithms, seen at x = -1 and 1 with a tolerance of 0.1: the axes are
a and b, each with a deviation of 0.1 / sqrt(2), and at x = 3 they come to 0.1 sqrt((1 + 9) / 2) =
0.22.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from raidlab.calibration.surrogates.laws import FittedLaw
from raidlab.calibration.surrogates.left_out import LARGEST_ERROR
from raidlab.calibration.surrogates.loads import Array, Loads, Measured

_HALVINGS: Final = 10
_LEAST_BOUND: Final = 1.001
"""Times a standard deviation's change of the seen points: rounding."""


def left_open(fitted: FittedLaw, seen: Measured, loads: Loads) -> tuple[Array, Array]:
    """Changes of the logarithms of rates whose products add up to a covariance.

    Args:
        fitted: The law with its numbers.
        seen: What it was fitted to.
        loads: Those asked about.

    Returns:
        At the loads and at the seen ones; shapes (changes, loads), (changes, points).
    """
    law, best = fitted.law, fitted.numbers
    low, high = law.bounds()
    prior = np.diag(12.0 / (high - low) ** 2)
    values, axes = np.linalg.eigh(np.linalg.inv(np.linalg.pinv(fitted.covariance) + prior))
    steps = np.sqrt(np.maximum(values, 0.0))[:, None] * axes.T
    shares = np.append(0.5 ** np.arange(_HALVINGS), 0.0)
    # Shape (axes and signs, shares, numbers).
    tried = best + np.concatenate([steps, -steps])[:, None] * shares[None, :, None]
    tried = np.clip(tried, low, high)
    moved = np.log(law.rates(tried.reshape(-1, len(best)), seen.loads))
    moved = moved.reshape(*tried.shape[:2], -1) - np.log(law.rates(best, seen.loads))
    fits = ((moved / seen.tolerance) ** 2).sum(axis=-1) <= _LEAST_BOUND
    every, at = np.arange(len(tried)), fits.argmax(axis=1)
    logs = np.log(law.rates(tried[every, at], loads)) - np.log(law.rates(best, loads))
    # Half of what a step up and one down come to.
    found = np.clip(logs, -LARGEST_ERROR, LARGEST_ERROR) / np.sqrt(2.0)
    at_seen: Array = moved[every, at] / np.sqrt(2.0)
    return found, at_seen
