"""Groups of candidates that are no answer, and the order of a plan's page, by hand."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from raidlab.scenarios.capacity.load import asked_of
from raidlab.scenarios.capacity.plan import plan
from raidlab.scenarios.capacity.question import question_of
from raidlab.scenarios.report.planner.alternatives import (
    fitting,
    fitting_table,
    groups,
    reasons_table,
)
from raidlab.scenarios.report.planner.report import plan_page, table
from raidlab.scenarios.studies.running import Running

STATION = """
kind = "station"
name = "{name}"
capacity = "100 GB"
service = "{service}"
distribution = "exponential"
[sources]
all = "assumed"
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """Queues of 1 ms for 100 and of 0.5 ms for 250.

    1,500 I/Os a second with p99 below 20 ms want lambda / n < mu - ln 100 / 20 ms = mu - 230.3: of
    the slow ones 2 (769.7 each), of the fast ones 1 (1,769.7), which has half of the 200 GB.
    """
    folder = tmp_path_factory.mktemp("plan")
    for name, service in (("slow", "1 ms"), ("fast", "0.5 ms")):
        (folder / f"{name}.toml").write_text(STATION.format(name=name, service=service))
    slow, fast = (str(folder / f"{name}.toml") for name in ("slow", "fast"))
    tree = {
        "goals": ["p99 < 20 ms", "usable >= 200 GB", "cost < 700 EUR"],
        "currency": "EUR",
        "load": [{"rw": "randread", "block_size": "4 KiB", "align": "4 KiB", "rate": "1500 IO/s"}],
        "growth": {"capacity": "0 %"},
        "run": {"warm_up": "1 s", "duration": "8 s", "precondition": "fresh"},
        "candidates": [{"drives": [slow, fast], "counts": "1:3", "levels": ["raid0"]}],
        "price": [{"device": slow, "cost": 100}, {"device": fast, "cost": 250}],
    }
    return plan(question_of(tree), running=Running())


def test_what_else_fits_is_the_cheapest_of_each_kind(found):
    assert found.recommended.count == 2 and "slow" in found.recommended.name
    (other,) = fitting(found)
    assert other.count == 2 and "fast" in other.name
    made = fitting_table(found)
    assert [row[1] for row in made.rows] == [200, 500] and list(made.marked) == [0]
    # The level is that of all: it stands below the table, not in each row.
    assert "raid0" in made.note and not any("raid0" in row[0] for row in made.rows)


def test_a_long_life_is_no_unknown_one(found):
    """Beyond 100 years the number means nothing; an unknown life is a gap."""
    shown = []
    for years in (None, 12.0, 128.7):
        best = replace(found.front[0], life_years=years)
        made = table(replace(found, front=(best,)))
        (life,) = (at for at, column in enumerate(made.columns) if column.name == "life")
        shown.append(made.rows[0][life])
    assert shown == [None, 12.0, "> 100"]


def test_the_rest_stands_in_groups_by_what_it_misses(found):
    members = {group.reason: [each.count for each in group.members] for group in groups(found)}
    assert members == {
        "misses usable >= 200 GB": [1, 1],
        "misses cost < 700 EUR": [3],
    }
    rows = {row[0]: row[1:] for row in reasons_table(found).rows}
    assert rows["misses cost < 700 EUR"][0] == 1
    assert rows["misses cost < 700 EUR"][1].endswith("cost 750 EUR")
    assert rows["misses usable >= 200 GB"][1].endswith("usable 100 GB")


def test_the_question_is_said_whole(found):
    lines = asked_of(found.question)
    assert lines[0] == "load-0: random, reads, 4 KiB, 1500 IO/s."
    assert lines[1] == "Goals: p99 < 20 ms, usable >= 200 GB, cost < 700 EUR."
    assert lines[2].startswith("Candidates: 1 to 3 x ") and lines[2].endswith("; raid0.")
    assert "100 EUR" in lines[3] and "250 EUR" in lines[3]


def test_the_page_of_the_one_who_decides_comes_before_the_appendix(found):
    page = plan_page(found, "raidlab plan q.toml").html()
    places = [
        page.index(text)
        for text in (
            'id="answer"', "What was asked", "What fits", "What does not fit, and why",
            "What it costs", "Risks", 'id="appendix"', "The bill", "Assumptions",
        )
    ]  # fmt: skip
    assert places == sorted(places)
    assert page.count("<b>assumed</b>") == len(found.assumptions)
    # A file of each table with a title, and of each picture.
    tables = len(re.findall(r"<table>", page.partition("<script")[0]))
    assert len(re.findall(r'download="[^"]+\.csv"', page)) == tables
    assert page.count('data-png="picture-') == page.count('class="plot"')


def test_a_fragment_has_the_same_content_without_the_frame(found):
    page, fragment = plan_page(found), plan_page(found).fragment()
    assert "<html" not in fragment.html and "<h1" not in fragment.html
    assert fragment.plots in page.html()
    for text in ("What was asked", "Appendix"):
        assert text in fragment.html
