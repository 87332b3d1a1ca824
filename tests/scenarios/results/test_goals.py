"""Goals that contradict each other are refused, those that others imply are named."""

import pytest

from raidlab.devices.faults import SpecError
from raidlab.scenarios.results.goals import goals_of, without_effect


@pytest.mark.parametrize(
    ("goals", "left"),
    [
        (["p50 < 30 ms", "p99 < 20 ms"], "p50 < 30 ms"),
        (["p50 < 20 ms", "p99 < 20 ms"], "p50 < 20 ms"),
        (["mean < 30 ms", "max < 20 ms"], "mean < 30 ms"),
        (["p50 > 5 ms", "p99 > 2 ms"], "p99 > 2 ms"),
        (["p99 < 20 ms", "mail: p99 < 30 ms"], "mail: p99 < 30 ms"),
        (["rate >= 500 IO/s", "mail: rate >= 300 IO/s"], "mail: rate >= 300 IO/s"),
        (["p50 < 10 ms", "p99 < 20 ms"], None),
        (["mean < 30 ms", "p99 < 20 ms"], None),
        (["read p50 < 30 ms", "write p99 < 20 ms"], None),
        (["web: p50 < 30 ms", "mail: p99 < 20 ms"], None),
        (["p50 > 5 ms", "p99 < 20 ms"], None),
    ],
)
def test_a_goal_that_another_implies_has_no_effect(goals: list[str], left: str | None) -> None:
    notes = without_effect(goals_of(goals))
    assert [note.split('"')[1] for note in notes] == ([] if left is None else [left])


def test_percentiles_that_cannot_be_are_a_contradiction() -> None:
    with pytest.raises(SpecError, match='"p99 < 20 ms": p50 is never above p99'):
        goals_of(["p50 > 30 ms", "p99 < 20 ms"])
    assert goals_of(["web: p50 > 30 ms", "mail: p99 < 20 ms"])
