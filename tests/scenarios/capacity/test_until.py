"""When growth ends a candidate, against queues of closed form."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from raidlab.devices.faults import SpecError
from raidlab.devices.trees import Tree
from raidlab.scenarios.capacity.load import bill_of, unit_costs
from raidlab.scenarios.capacity.plan import plan
from raidlab.scenarios.capacity.question import question_of
from raidlab.scenarios.capacity.until import MODEL_ERROR, months_of, until
from raidlab.scenarios.report.planner.until import answer, report
from raidlab.scenarios.studies.running import Running

STATION = """
kind = "station"
name = "slow"
capacity = "100 GB"
service = "1 ms"
distribution = "exponential"
[sources]
all = "assumed"
"""
BORNE = 1000 - math.log(100) / 0.02
"""I/Os a second of an M/M/1 queue of 1 ms whose p99 is 20 ms: ln 100 / (mu - lambda)."""


@pytest.fixture
def question(tmp_path: Path) -> Tree:
    slow = tmp_path / "slow.toml"
    slow.write_text(STATION)
    return {
        "title": "queues",
        "goals": ["p99 < 20 ms"],
        "horizon": "2 years",
        "currency": "EUR",
        "load": [{"rw": "randread", "block_size": "4 KiB", "align": "4 KiB", "rate": "1000 IO/s"}],
        "growth": {"rate": "30 %"},
        "run": {"warm_up": "2 s", "duration": "5 s", "precondition": "fresh"},
        "candidates": [{"drives": [str(slow)], "counts": [2, 3], "levels": ["raid0"]}],
        "price": [{"device": str(slow), "cost": 100}],
    }


def asked(tree: Tree, **more: Any) -> Any:
    return until(question_of(tree | more), running=Running(1, None, None))


def test_the_month_is_that_of_the_queue(question: Tree) -> None:
    # 1,539 and 2,309 I/Os a second are borne: 12 ln(1.539) / ln(1.3) = 19.7 and 38.3 months.
    found = asked(question)
    for lasting, count in zip(found.candidates, (3, 2), strict=True):
        exact = months_of(count * BORNE / 1000, 0.3)
        assert exact is not None and lasting.first is not None
        assert lasting.first.month == pytest.approx(exact, abs=3)
        assert lasting.first.goal == "p99 < 20 ms"
        assert lasting.first.high is not None
        assert lasting.first.low < exact < lasting.first.high
        # The error of the models alone: 12 ln(1.1) / ln(1.3) = 4.4 months.
        assert lasting.first.high - exact > 0.8 * 12 * math.log1p(MODEL_ERROR) / math.log(1.3)
    assert "3 x" in answer(found) and "month 3" in answer(found)
    assert "months from now" in report(found).html()


def test_capacity_ends_what_its_load_does_not(question: Tree) -> None:
    # 200 GB for 100 GB at 40 % a year: 12 ln 2 / ln 1.4 = 24.7 months; at 30 to 50 %: 20.5 to 31.7.
    growth = {"capacity": "40 %", "capacity_from": "30 %", "capacity_to": "50 %"}
    found = asked(question, goals=["usable >= 100 GB"], growth=growth)
    first = next(each for each in found.candidates if each.name.startswith("2")).first
    assert first is not None and first.high is not None
    assert (first.month, first.low, first.high) == pytest.approx((24.7, 20.5, 31.7), abs=0.1)


def test_loads_grow_apart(question: Tree) -> None:
    # 500 a second stay, 500 double each year: after two years 500 + 2,000.
    half = question["load"][0] | {"rate": "500 IO/s"}
    loads = [half | {"name": "still", "growth": "0 %"}, half | {"name": "grows", "growth": 1.0}]
    tree = question | {"load": loads, "growth": {}, "goals": ["p99 < 1 s"]}
    made = question_of(tree)
    assert made.growths == (0.0, 1.0) and made.mean_growth == 0.5
    from raidlab.scenarios.capacity.candidates import expand

    built = expand(made)[0].scenario
    assert built is not None
    assert [load.arrives_per_s for load in built.workloads] == pytest.approx([500, 2000])


def test_costs_by_the_month_and_for_what_shares_them(question: Tree) -> None:
    # Two volumes at 10 a month for 24 months and 100 once: 2 x 340 = 680, 28.3 a month, of which
    # each of 4 VMs has 7.08; 200 GB: 3,400 a TB.
    price = question["price"][0] | {"per_month": 10}
    tree = question | {
        "price": [price], "shared_by": {"VM": 4}, "growth": {},
        "candidates": [question["candidates"][0] | {"counts": 2}],
    }  # fmt: skip
    found = plan(question_of(tree), running=Running(1, None, None))
    best = found.recommended
    assert best is not None and best.cost == pytest.approx(680)
    costs = unit_costs(found.question, best)
    assert costs["month"] == pytest.approx(28.33, abs=0.01)
    assert costs["VM a month"] == pytest.approx(7.083, abs=0.01)
    assert costs["usable TB"] == pytest.approx(3400, rel=1e-3)
    assert any("10 EUR each a month" in line for line in bill_of(found.question, best))


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"growth": {}}, "growth"),
        ({"growth": {"rate": "20 %", "rate_from": "30 %"}}, "growth.rate_from"),
        ({"price": [{"device": "s4610-480"}]}, "price.0.cost"),
        ({"shared_by": {"VM": 0}}, "shared_by.VM"),
    ],
)
def test_faults_name_their_key(question: Tree, change: dict[str, object], named: str) -> None:
    with pytest.raises(SpecError) as caught:
        asked(question, **change)
    assert named in [fault.key for fault in caught.value.faults]


def test_a_growth_of_a_load_that_waits_is_refused(question: Tree) -> None:
    load = {"rw": "randread", "block_size": "4 KiB", "outstanding": 4, "growth": "10 %"}
    with pytest.raises(SpecError, match=r"load.0.growth"):
        asked(question, load=[load])


def test_each_goal_of_the_load_has_its_month(question: Tree) -> None:
    # M/M/1 of 1 ms: a mean below 3 ms bears 1000 - 1000 / 3 a second of a drive, a p99 below 20 ms
    # 770. Three drives: 12 ln(2.0) / ln(1.3) = 31.7 and 38.3 months.
    found = asked(question, goals=["p99 < 20 ms", "mean < 3 ms"])
    three = found.candidates[0]
    months = {miss.goal: miss for miss in three.misses}
    assert list(months) == ["mean < 3 ms", "p99 < 20 ms"]
    for goal, borne in (("mean < 3 ms", 1000 - 1000 / 3), ("p99 < 20 ms", BORNE)):
        exact = months_of(3 * borne / 1000, 0.3)
        assert exact is not None and months[goal].month == pytest.approx(exact, abs=5)


def test_what_is_missed_today_has_its_figure(question: Tree) -> None:
    one = [{**question["candidates"][0], "counts": [1]}]
    found = asked(question, candidates=one, goals=["mean < 0.5 ms"], load=[
        {**question["load"][0], "rate": "100 IO/s"}
    ])  # fmt: skip
    assert "misses mean < 0.5 ms, its p99 is" in answer(found)
