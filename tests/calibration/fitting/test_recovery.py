"""Parameters given back: what a fit calls identifiable holds the true value, by device."""

from __future__ import annotations

from dataclasses import replace

import pytest

from raidlab.calibration.fitting.parameters.kinds import KINDS
from raidlab.calibration.fitting.recovery import (
    CASES,
    Case,
    Recovered,
    recover,
    table,
    through_fio,
)


def recovered(case: Case, trials: tuple[int, ...], budget: int) -> list[Recovered]:
    return [one for trial in trials for one in recover(case, trial, workers=2, budget=budget)]


def share_held(found: list[Recovered]) -> float:
    reported = [one for one in found if one.is_identifiable]
    return sum(one.is_covered for one in reported) / len(reported)


def test_stations_are_given_back() -> None:
    # Fewer loads determine less: what is called identifiable is harder to come by.
    case = replace(CASES["station"], depths=(1, 4, 16, 32), jobs=(1,))
    found = recovered(case, (0, 1, 2), budget=80)
    assert sum(one.is_identifiable for one in found) >= 4
    assert share_held(found) >= 0.9


def test_disks_are_given_back_and_what_is_hardly_reported_is_said_to_be_so() -> None:
    found = recovered(replace(CASES["hdd"], depths=(1, 2, 8, 32)), (5, 7), budget=800)
    assert sum(one.is_identifiable for one in found) >= 7
    assert share_held(found) >= 0.9
    ways = {(one.trial, one.key): one for one in found}
    # Depth curves tell the order, the spread of writes tells their cache.
    assert ways[7, "scheduler.policy"].fitted == "c-look"
    assert ways[7, "write_cache.enabled"].is_covered and ways[5, "write_cache.enabled"].is_covered
    # A slow arm before a fast platter looks like a fast arm before a slow one.
    assert not ways[5, "speed"].is_identifiable


def test_stations_are_given_back_through_fio() -> None:
    found = recover(through_fio(CASES["station"]), 0, workers=2, by_fio=True)
    assert sum(one.is_identifiable for one in found) >= 1
    assert all(one.is_covered for one in found if one.is_identifiable)
    assert max(one.rates_pct for one in found) < 2


def test_the_table_counts_what_is_called_identifiable_alone() -> None:
    rows = [
        Recovered("hdd", 0, "a", "1", "1", True, True),
        Recovered("hdd", 0, "b", "1", "2", True, False, 1.25),
        Recovered("hdd", 1, "c", "1", "2", False, False),
    ]
    assert table(rows).splitlines()[-1] == "| hdd | 2 | 3 | 2 | 1 | 50 % | 1.2 % |"


@pytest.mark.parametrize("name", list(CASES))
def test_every_case_names_a_kind_that_can_be_fitted(name: str) -> None:
    assert CASES[name].kind in KINDS


@pytest.mark.parametrize("kind", list(KINDS))
def test_what_a_way_of_working_decides_is_a_parameter_of_its_kind(kind: str) -> None:
    keys = {parameter.key for parameter in (*KINDS[kind].declared, *KINDS[kind].extra)}
    for way in KINDS[kind].modes:
        assert set(way.decides) <= keys
