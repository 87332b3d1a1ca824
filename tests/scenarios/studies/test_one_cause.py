"""One cause of monitored waits, followed by itself."""

from __future__ import annotations

import math

import pytest

from raidlab.scenarios.studies.one_cause import ANYWHERE, Cause, Point, causes


def test_the_next_choice_lies_where_a_straight_line_meets_the_monitored_wait() -> None:
    # -0.223 at 0.7 and 0.095 at 0.85: 0.7 + 0.15 x 0.223 / 0.318 = 0.805.
    cause = Cause((3,), (0.0, 0.0, 1.0, 0.5, 0.0))
    off = {cause.at(0.7): math.log(0.8), cause.at(0.85): math.log(1.1)}
    value = cause.next_value(off.get)
    assert value == pytest.approx(0.805, abs=5e-4)
    assert cause.at(value or 0.0) == (0.0, 0.0, 1.0, value, 0.0)


def test_a_cause_that_gives_too_long_waits_everywhere_is_not_followed() -> None:
    cause = Cause((4,), ANYWHERE)
    off = {cause.at(0.0): 0.1, cause.at(0.5): 0.4}
    assert cause.next_value(off.get) is None
    assert cause.next_value(lambda _: None) is None


def test_a_hidden_value_is_met_within_a_hundredth() -> None:
    _, part, *_ = causes()

    def off(point: Point) -> float:
        # A disk's waits by size: steep near the whole, as seeks are long there.
        size = 1.0 if point == ANYWHERE else point[5]
        return size**6 - 0.79**6

    values = []
    for _ in range(4):
        value = part.next_value(off)
        if value is not None:
            values.append(value)
            part.at(value)
    assert values[-1] == pytest.approx(0.79, abs=0.01)
