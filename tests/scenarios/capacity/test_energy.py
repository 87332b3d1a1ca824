"""Costs with energy: all that is known counts in every candidate, and the rest is named."""

from __future__ import annotations

import json
from typing import Any

import pytest

from raidlab.devices.trees import Tree
from raidlab.scenarios.capacity.assumptions import assumptions
from raidlab.scenarios.capacity.candidates import expand
from raidlab.scenarios.capacity.plan import plan
from raidlab.scenarios.capacity.question import question_of
from raidlab.scenarios.capacity.until import until
from raidlab.scenarios.report.planner.report import answer, report

OF_WATT = 5 * 8.766 * 0.3
"""EUR that a watt costs in five years."""


@pytest.fixture
def question() -> Tree:
    """Two mirrored SSDs for servers, of which one states no watts, beside a server of 300 W."""
    return {
        "goals": ["p99 < 10 ms"],
        "currency": "EUR",
        "energy_price": 0.3,
        "load": [{
            "rw": "randrw", "read_share": 0.7, "block_size": "8 KiB", "rate": "2000 IO/s",
            "area": "100 GB",
        }],
        "run": {"warm_up": "1 s", "duration": "1 s"},
        "candidates": [
            {"drives": ["dc600m-960", "s4610-480"], "counts": 2, "levels": ["raid1"]}
        ],
        "price": [
            {"device": "dc600m-960", "cost": 195},
            {"device": "s4610-480", "cost": 200},
        ],
        "base": {"cost": 1000, "power": "300 W"},
    }  # fmt: skip


def answered(tree: Tree, **more: Any) -> Any:
    return plan(question_of(tree | more))


def test_candidates_are_compared_with_energy_alike(question: Tree) -> None:
    """The server alone draws 300 W x 43,830 h x 0.30 = 3,945 EUR in both; 10 EUR then decide."""
    found = answered(question)
    assert found.recommended.drive == "dc600m-960"
    document = json.loads(json.dumps(found.to_dict()))
    rows = {row["name"].split()[2].strip(","): row for row in document["candidates"]}
    for row, capital in ((rows["dc600m-960"], 1390), (rows["s4610-480"], 1400)):
        assert row["capital"] == capital
        assert row["cost"] == pytest.approx(capital + row["watts"] * OF_WATT)
        assert 300 * OF_WATT + 2 * 1.0 * OF_WATT <= row["energy_cost"] < 306 * OF_WATT
    # Two usual SSDs on SATA: 1.2 W idle, 4.3 W at work, and they are hardly at work.
    assert 302.4 < rows["s4610-480"]["watts"] < 303
    assert rows["s4610-480"]["watts_assumed"] == ["s4610-480"]
    assert rows["dc600m-960"]["watts_assumed"] == [] == rows["s4610-480"]["watts_unknown"]
    assert document["energy_not_counted"] is None
    assert "with energy (usual watts of s4610-480)" in answer(found)
    said = "Watts of s4610-480 are assumed, as usual of the class: 1.2 W idle, 4.3 W at work"
    assert any(said in line for line in document["assumptions"])
    page = report(found).html()
    assert "Watts of s4610-480 are assumed: usual of the class." in page


def test_usual_watts_by_hand_are_those_of_busy_drives(question: Tree) -> None:
    """Two disks of 7,200 rpm that never rest: 9.3 W each; a spare idles at 6 W."""
    disks = {"drives": ["generic-7200rpm"], "counts": 2, "levels": ["raid1"], "spares": [1]}
    load = {"rw": "randread", "block_size": "4 KiB", "outstanding": 64}
    found = answered(
        question, candidates=[disks], load=[load], goals=["p99 < 10 s"],
        price=[{"device": "generic-7200rpm", "cost": 100}],
    )  # fmt: skip
    assert found.recommended.bill.watts == pytest.approx(300 + 2 * 9.3 + 6, rel=0.005)
    # Before a run shows more, they idle.
    (idle,) = expand(found.question)
    (said,) = [each for each in assumptions(found.question, [idle], [idle]) if "are idle" in each]
    assert said == "In costs of candidates that were not simulated their drives are idle."
    assert idle.bill.watts == pytest.approx(300 + 3 * 6)


def test_what_has_no_watts_is_named_in_the_answer(question: Tree) -> None:
    """A controller without watts: 10 W of it are 131 EUR, which other drives save."""
    question["candidates"] = [
        {"drives": ["dc600m-960"], "counts": 2, "levels": ["raid1"],
         "controllers": ["lsi2208-1g-3.0"]},
        {"drives": ["s4610-480"], "counts": 2, "levels": ["raid1"]},
    ]  # fmt: skip
    question["price"][1] |= {"cost": 280, "power": "1 W"}
    question["price"][0]["power"] = "1 W"
    question["price"].append({"device": "lsi2208-1g-3.0", "cost": 30})
    found = answered(question)
    # 1,000 + 390 + 30 against 1,000 + 560: 140 EUR are 10.6 W.
    assert found.recommended.drive == "dc600m-960"
    assert found.recommended.cost == pytest.approx(1420 + 302 * OF_WATT)
    missing = found.to_dict()["energy_not_counted"]
    assert missing["devices"] == missing["more"] == ("lsi2208-1g-3.0",)
    assert missing["above_watts"] == pytest.approx(140 / OF_WATT)
    text = answer(found)
    assert "The cost has no energy of lsi2208-1g-3.0: no watts are stated. Above 10.6 W" in text
    assert "of lsi2208-1g-3.0, 2 x s4610-480, raid1 is cheaper." in text
    # Alike in all candidates it changes no order.
    question["candidates"][1]["controllers"] = ["lsi2208-1g-3.0"]
    assert "no watts are stated, but none would change the order." in answer(answered(question))


def test_assumptions_name_what_is_not_known_of_all_candidates(question: Tree) -> None:
    """Of the host too, where [base] states no power; base without power is no power of 0 W."""
    del question["base"]["power"]
    asked = question_of(question)
    every = expand(asked)
    assert every[0].bill.unknown == {"generic": 1}
    (said,) = [each for each in assumptions(asked, every, every) if "are not known" in each]
    assert "of generic none are stated" in said and "all other energy" in said


def test_until_has_the_costs_of_plan(question: Tree) -> None:
    """Over the horizon, with energy and what runs by the month: 1,000 + 60 x 10 + 2 x 195 + ..."""
    question["growth"] = {"rate": "10 %"}
    question["base"]["per_month"] = 10
    planned = {each.name: each.cost for each in answered(question).candidates}
    lasting = until(question_of(question)).candidates
    assert {each.name: each.cost for each in lasting} == pytest.approx(planned, rel=1e-6)
    assert planned["2 x dc600m-960, raid1"] == pytest.approx(1990 + 302.1 * OF_WATT, rel=1e-3)


def test_until_judges_a_budget_by_the_cost_of_plan(question: Tree) -> None:
    """1,390 without energy are below 5,000; with it 5,364 are not."""
    question["goals"].append("cost < 5000")
    question["growth"] = {"rate": "10 %"}
    lasting = until(question_of(question)).candidates
    assert {each.why_not for each in lasting} == {"cost < 5000 is missed today"}
