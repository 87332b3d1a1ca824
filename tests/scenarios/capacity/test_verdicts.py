"""Which verdicts another past of the flash drives may turn."""

from types import SimpleNamespace

import pytest

from raidlab.scenarios.capacity.verdicts import may_turn
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
    ("latency_ms", "turns"), [(0.9, False), (1.1, True), (1.9, True), (3.9, True), (4.1, False)]
)
def test_a_verdict_within_twice_the_bound_may_turn(latency_ms, turns):
    unit = goals_of(["p99 < 2 ms"])[0].bound / 2
    assert may_turn(candidate(latency_ms * unit, FLASH)) is turns


def test_no_other_past_turns_a_certain_value_an_overload_a_fresh_drive_or_a_disk():
    bound = goals_of(["p99 < 2 ms"])[0].bound
    assert may_turn(candidate(bound, FLASH))
    assert not may_turn(candidate(bound, FRESH))
    assert not may_turn(candidate(bound, FLASH, certain=True))
    assert not may_turn(candidate(bound, FLASH, falls_behind=True))
    assert not may_turn(candidate(None, FLASH))
    assert not may_turn(candidate(bound, FLASH, goal="usable >= 2 TB"))
