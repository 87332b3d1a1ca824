"""Whether a machine drifts away from its twin: a trend of measured over simulated waits.

    y = ln(monitored wait / simulated wait)        of each window

The slope is the median of the slopes of all pairs of windows, and its interval holds the middle of
those slopes that Kendall's statistic leaves at 95 %. Neither asks for normal errors, and a few odd
windows move neither. Sources: Theil 1950; Sen, Estimates of the Regression Coefficient Based on
Kendall's Tau, JASA 63 (1968).

**Example.** y = 0, 0.1, 0.2, 0.3 at 0, 1, 2, 3 h: every slope is 0.1 an hour, 10.5 % an hour.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.stats import theilslopes

_FEWEST: Final = 5
"""Windows below which no trend can be said."""
_LEAST_CHANGE: Final = 0.05
"""Change over the whole time below which a trend does not matter."""


@dataclass(frozen=True)
class Drift:
    """The trend of measured over simulated waits."""

    windows: int
    hours: float
    """From the first to the last window."""
    change: float
    """Over all that time, as a share: 0.2 where waits have grown by 20 % beside the twin's."""
    low: float
    high: float
    """Its 95 % interval."""

    @property
    def sure(self) -> bool:
        """True if waits change and chance does not explain it."""
        return self.low * self.high > 0.0 and abs(self.change) > _LEAST_CHANGE

    def said(self) -> str:
        """In a sentence."""
        words = "longer" if self.change > 0 else "shorter"
        over = f"{self.hours:.1f} h" if self.hours >= 1.0 else f"{60 * self.hours:.0f} min"
        if not self.sure:
            return (
                f"no drift: waits beside the twin's change by {100 * self.change:+.0f} %"
                f" ({100 * self.low:+.0f} to {100 * self.high:+.0f}) over {over}"
            )
        return (
            f"it drifts: beside the twin's, waits became {100 * abs(self.change):.0f} % {words}"
            f" ({100 * self.low:+.0f} to {100 * self.high:+.0f}) over {over}"
        )


def drift_of(
    hours: Sequence[float], monitored: Sequence[float], simulated: Sequence[float]
) -> Drift | None:
    """The trend; None of too few windows.

    Args:
        hours: When each window was.
        monitored: Mean waits, greater than zero.
        simulated: The twin's under each window's load, greater than zero.
    """
    if len(hours) < _FEWEST:
        return None
    at = np.asarray(hours, dtype=float)
    y = np.log(np.asarray(monitored) / np.asarray(simulated))
    slope, _, low, high = theilslopes(y, at, 0.95)
    length = float(at.max() - at.min())
    change, least, most = (math.expm1(float(each) * length) for each in (slope, low, high))
    return Drift(len(at), length, change, least, most)
