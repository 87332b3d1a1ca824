"""How good a fit is by itself: chi-square and what is made of it, as lmfit reports them.

With n residuals r (in tolerances) and k fitted parameters

    chi-square = sum r^2          reduced chi-square = chi-square / (n - k)
    AIC = n ln(chi-square / n) + 2 k          BIC = n ln(chi-square / n) + k ln n

A reduced chi-square near 1 says that residuals are as large as the tolerances; far above it the
model lacks something, far below it the tolerances are wide or the residuals not independent (the
percentiles of a point move together). AIC and BIC compare fits to the same points: less is better.
Source: lmfit's documentation of its statistics; Akaike 1974, Schwarz 1978.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, TypedDict

_LEAST_VARIANCE: Final = 1e-12


class Goodness(TypedDict):
    """Statistics of a fit, as lmfit has them."""

    residuals: int
    parameters: int
    chi_square: float
    reduced_chi_square: float
    aic: float
    bic: float


def goodness(residuals: Sequence[float], parameters: int) -> Goodness:
    """The statistics of a fit by name.

    Args:
        residuals: In tolerances, without the pulls towards the start; at least one.
        parameters: How many were fitted.
    """
    count = len(residuals)
    chi_square = math.fsum(value * value for value in residuals)
    free = max(1, count - parameters)
    entropy = count * math.log(max(chi_square, _LEAST_VARIANCE) / count)
    return {
        "residuals": count,
        "parameters": parameters,
        "chi_square": chi_square,
        "reduced_chi_square": chi_square / free,
        "aic": entropy + 2 * parameters,
        "bic": entropy + parameters * math.log(count),
    }
