"""The benchmark's table: readable in 80 columns, with how fast the machine itself is."""

import importlib.util
import io
import sys
from pathlib import Path

import pytest
from rich.console import Console

FOLDER = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def speed(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    spec = importlib.util.spec_from_file_location("speed", FOLDER / "speed.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "speed", module)
    spec.loader.exec_module(module)
    return module


def rows(speed, simpy_per_s):
    figures = {"per_s": 7.04e6, "prepare_s": 0.2, "peak_mib": 260.4}
    return [
        {"work": line.work, "goal": line.goal, "simpy_per_s": simpy_per_s(line)} | figures
        for line in speed.LINES
    ]


def test_numbers_have_three_figures(speed):
    numbers = {7.04e6: "7.04 M", 42_600: "42.6 k", 500e3: "500 k", 165.2: "165", 999_700: "1 M"}
    assert {number: speed.short(number) for number in numbers} == numbers


def test_the_table_breaks_no_word_in_80_columns(speed):
    shown = io.StringIO()
    Console(file=shown, width=80).print(speed.table_of(rows(speed, lambda line: 42_600.0)))
    assert max(map(len, shown.getvalue().splitlines())) <= 80
    words = set(shown.getvalue().split())
    assert {"SimPy", "7.04", "42.6", "165", "260"} <= words
    for line in speed.LINES:
        assert set(line.work.split()) <= words


def test_the_machine_is_known_by_queues_of_three_stages(speed):
    """Of a command an I/O on few drives: 1, 1, 8 and 4 of them."""
    found = rows(speed, lambda line: 100.0 if "commands" in line.peer else line.peer["drives"])
    assert speed.reference(found) == 2.5
    assert speed.reference([{"work": line.work, "why_not": "x"} for line in speed.LINES]) is None
