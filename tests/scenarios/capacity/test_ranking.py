"""Near which bounds another history of the SSDs counts."""

from types import SimpleNamespace

import pytest

from raidlab.scenarios.capacity.ranking import is_near
from raidlab.scenarios.results.goals import Measured, goals_of, judged

FLASH = {"devices": [{"kind": "hdd"}, {"kind": "ssd", "history": [{"access": "random"}]}]}
FRESH = {"devices": [{"kind": "hdd"}, {"kind": "ssd", "history": []}]}


def candidate(value, base, goal="p99 < 2 ms", *, certain=False, falls_behind=False):
    (asked,) = goals_of([goal])
    found = judged(asked, Measured(value, certain=certain))
    return SimpleNamespace(
        scenario=SimpleNamespace(base=base), falls_behind=falls_behind, judged={goal: found}
    )


@pytest.mark.parametrize(
    ("latency_ms", "near"), [(0.9, False), (1.1, True), (1.9, True), (3.9, True), (4.1, False)]
)
def test_a_factor_of_two_from_the_bound_is_near(latency_ms, near):
    unit = goals_of(["p99 < 2 ms"])[0].bound / 2
    assert is_near(candidate(latency_ms * unit, FLASH)) is near


def test_a_certain_value_an_overload_a_fresh_drive_and_a_size_are_not_near():
    bound = goals_of(["p99 < 2 ms"])[0].bound
    assert is_near(candidate(bound, FLASH))
    assert not is_near(candidate(bound, FRESH))
    assert not is_near(candidate(bound, FLASH, certain=True))
    assert not is_near(candidate(bound, FLASH, falls_behind=True))
    assert not is_near(candidate(None, FLASH))
    assert not is_near(candidate(bound, FLASH, goal="usable >= 2 TB"))
