"""The times that end rates once more, each along its own line."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from raidlab.calibration.fitting.parameters.parameter import Parameter
from raidlab.calibration.fitting.search.coordinates import parabola_minimum, refined_along_limits
from raidlab.calibration.fitting.search.loss import robust
from raidlab.calibration.fitting.search.minimise import ENDLESS, Array, Budget, Search, descend


def test_a_parabola_by_hand() -> None:
    """3.25, 3.00 and 3.15: (3.25 - 3.15) / (2 (3.25 - 2 * 3.00 + 3.15)) = 0.1 / 0.8."""
    assert parabola_minimum(3.25, 3.00, 3.15) == pytest.approx(0.125)
    assert parabola_minimum(2.0, 1.0, 2.0) == 0.0
    # Nearly straight: no farther than three steps, towards less.
    assert parabola_minimum(3.0, 2.0, 1.01) == 3.0
    # Bent the other way: one step towards less, none from a hollow's bottom.
    assert (parabola_minimum(1.0, 3.0, 2.0), parabola_minimum(2.0, 2.0, 2.0)) == (-1.0, 0.0)


def port(begin_us: float, *, limits: bool = True) -> tuple[Search, Array, Parameter]:
    """A rate of 1 / (10 us + t) is to be 1 / 12.5 us, within 0.5 %; percentiles are four off."""
    time = Parameter("t", "us", 0.1, 30.0, "log", "", side="read", limits=limits)

    def evaluate(at: Array, points: Sequence[int], rough: bool) -> Array:
        off = np.log(12.5 / (10.0 + time.value(float(at[0])))) / 0.005
        return np.array([off, *[4.0] * 11])

    begin = np.array([time.place(begin_us)])
    return Search(evaluate, begin, (0,), Budget(ENDLESS), [time], (0,) * 12), begin, time


def test_a_limit_is_met_where_a_descent_is_content() -> None:
    """A step that gains less than a hundredth of a loss of 69 is the last: 0.07 % is left."""
    search, begin, time = port(2.9)
    descended = descend(search.full, begin, search.parameters, 6)
    total = 10.0 + time.value(float(descended[0]))
    assert abs(total / 12.5 - 1.0) > 0.0005
    found = refined_along_limits(search, descended)
    assert 10.0 + time.value(float(found[0])) == pytest.approx(12.5, rel=1e-4)
    assert robust(search.full(found)) < robust(search.full(descended))


def test_what_ends_no_rate_stays() -> None:
    search, begin, _ = port(2.9, limits=False)
    assert refined_along_limits(search, begin) == pytest.approx(begin, abs=0.0)
    assert search.evaluations == 0
