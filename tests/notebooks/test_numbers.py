"""Every number that a room shows has an independent one; all settings: `make lab-numbers`."""

from __future__ import annotations

import pytest

pytest.importorskip("marimo")
pytest.importorskip("anywidget")

from raidlab.notebooks.frame import Answer, Box, catalogue
from tests.notebooks.numbers.rooms import ROOMS, compared, settings
from tests.notebooks.numbers.shown import Known, compare, numbers_of

SAMPLE = 3
"""Settings of each room that are compared here."""
SAMPLES = [(name, values) for name in ROOMS for values in settings(catalogue.room(name), SAMPLE)]


@pytest.mark.parametrize(("name", "values"), SAMPLES, ids=str)
def test_what_a_room_says_agrees_with_an_independent_number(name, values):
    found = compared(name, values)
    assert found.numbers >= 3
    assert found.faults == []


def test_every_room_is_compared():
    assert {*ROOMS} == {*catalogue.names()}


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("RAID 5: 1,890 IO/s", 1890, "IO/s"),
        ("p99 68.5 µs", 68.5e-6, "s"),
        ("2.10 GB/s", 2.1e9, "B/s"),
        ("1.24 M IO/s", 1.24e6, "IO/s"),
        ("88 % of M/M/1", 88, "%"),
        ("1.12 ×", 1.12, ""),
        ("9.2e-05 %", 9.2e-5, "%"),
    ],
)
def test_a_number_is_read_with_its_unit(text, value, unit):
    (found,) = numbers_of(text)
    assert (found.value, found.unit) == (pytest.approx(value), unit)


def test_a_number_without_an_independent_one_is_a_fault():
    answer = Answer("It takes 5.06 ms.", [], {}, [Box("197 IO/s", "rate")])
    rate, mean = Known(197.4, "IO/s", "rate"), Known(5.058e-3, "s", "mean")
    assert compare(answer, [rate, mean], []).faults == []
    assert "5.06 ms" in compare(answer, [rate], []).faults[0]
    assert "rate: 250" in compare(answer, [rate, mean, Known(250, "IO/s", "rate")], []).faults[0]
    # A closed form may be off as far as it says, and no further.
    assert compare(answer, [rate, Known(5.0e-3, "s", "form", 0.02)], []).faults == []
    assert compare(answer, [rate, Known(4.9e-3, "s", "form", 0.02)], []).faults
