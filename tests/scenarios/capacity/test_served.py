"""How much of a load candidates serve, and how much more than today's the recommended one."""

import re
from dataclasses import replace

import pytest

from raidlab.devices.faults import About, Fault, SpecError
from raidlab.scenarios.capacity import plan as module
from raidlab.scenarios.capacity.candidates import expand
from raidlab.scenarios.capacity.plan import plan
from raidlab.scenarios.capacity.question import question_of
from raidlab.scenarios.report.planner.report import answer, prospects
from raidlab.scenarios.studies.running import Running


@pytest.fixture
def question(tmp_path):
    """Drives of exponential service, 1 ms, and 3,300 reads a second."""
    slow = tmp_path / "slow.toml"
    slow.write_text(
        'kind = "station"\nname = "slow"\ncapacity = "100 GB"\nservice = "1 ms"\n'
        'distribution = "exponential"\n[sources]\nall = "assumed"\n'
    )
    return {
        "goals": ["p99 < 20 ms", "usable >= 200 GB"],
        "currency": "EUR",
        "load": [{"rw": "randread", "block_size": "4 KiB", "align": "4 KiB", "rate": "3300 IO/s"}],
        "run": {"warm_up": "2 s", "duration": "16 s", "precondition": "fresh"},
        "candidates": [{"drives": [str(slow)], "counts": [5], "levels": ["raid0"]}],
        "price": [{"device": str(slow), "cost": 100}],
    }


def answered(tree):
    return plan(question_of(tree), running=Running())


def test_what_a_backlog_beyond_memory_is_served_of_is_found_at_lower_rates(question, monkeypatch):
    """Five drives of 1,000 a second serve 5,000 of 9,000, whose backlog no memory holds here."""
    simulated = module.results_of

    def short_of_memory(scenarios, seed, *, refused, **more):
        over = [sum(load.arrives_per_s for load in each.workloads) > 8000 for each in scenarios]
        backlog = Fault("workload", "0", "a rate that it serves", about=About.BACKLOG)
        refused |= {at: [backlog] for at, out in enumerate(over) if out}
        kept = [each for each, out in zip(scenarios, over, strict=True) if not out]
        return simulated(kept, seed, refused=refused, **more)

    monkeypatch.setattr(module, "results_of", short_of_memory)
    question["load"][0]["rate"] = "9000 IO/s"
    question["run"]["duration"] = "4 s"
    question["candidates"][0]["counts"] = [5, 6]
    found = answered(question)
    rows = {row["name"].split()[0]: row["fails"][0] for row in found.to_dict()["candidates"]}
    for count in (5, 6):
        # Halves: 4,500 of 9,000 a second are all served, which is the most that is known.
        fails = rows[str(count)]
        assert fails["goal"] == "the load's rate" and fails["by"] == pytest.approx(1, abs=0.05)
        assert fails["value"] == pytest.approx(4500, rel=0.02)
    assert found.nearest.limit.startswith("drives")
    assert "cannot serve the load: at least 4," in answer(
        found
    ) and "of 9,000 IO/s (drives" in answer(found)


def test_each_candidate_says_how_much_of_the_load_it_serves(question):
    """Three slow drives serve 3,000 of 3,300; one of 8,000 at most 1,000, by its bound."""
    question["candidates"][0]["counts"] = [3]
    (three,) = answered(question).to_dict()["candidates"]
    fails = next(each for each in three["fails"] if each["goal"] == "the load's rate")
    assert fails["value"] == pytest.approx(3000, rel=0.02)
    assert fails["by"] == pytest.approx(0.1, abs=0.02)
    question["load"][0]["rate"] = "8000 IO/s"
    found = answered(question)
    (three,) = found.to_dict()["candidates"]
    assert three["fails"][0]["value"] == pytest.approx(3000, rel=0.05)
    assert re.search(r"cannot serve the load: at most [23],\d+ IO/s of 8,000 IO/s", answer(found))


def test_no_goal_is_beyond_what_the_load_asks_for(question):
    """3300 a second of 4 KiB are 13.5 MB/s; half of the second load's are reads, 4.1 MB/s."""
    question["goals"] = ["p99 < 20 ms", "throughput >= 20 MB/s"]
    with pytest.raises(SpecError, match=r"a throughput that can be: the load asks for 13\.52 MB/s"):
        expand(question_of(question))
    question["goals"][1] = "throughput >= 13 MB/s"
    assert expand(question_of(question))
    mixed = {"rw": "randrw", "read_share": 0.5, "block_size": "8 KiB", "rate": "1000 IO/s"}
    question["load"] = [question["load"][0] | {"name": "a"}, mixed | {"name": "b"}]
    question["goals"][1] = "b: read throughput > 5 MB/s"
    with pytest.raises(SpecError, match=r"the load asks for 4\.096 MB/s"):
        expand(question_of(question))
    question["goals"][1] = "total: throughput > 22 MB/s"
    with pytest.raises(SpecError, match=r"the load asks for 21\.71 MB/s"):
        expand(question_of(question))
    # What a closed load makes nobody knows before.
    question["load"] = [{"rw": "randread", "block_size": "4 KiB", "outstanding": 4}]
    question["goals"][1] = "throughput > 1 GB/s"
    assert expand(question_of(question))


def test_little_headroom_is_said_in_percent(question):
    found = answered(question)
    said = {
        factor: prospects(replace(found, headroom=replace(found.headroom, factor=factor)))[0]
        for factor in (1.0, 1.05, 1.157)
    }
    assert said[1.0].startswith("It sustains today's rates, but not 5 % more; beyond, ")
    assert said[1.05].startswith("It sustains today's rates and 5 % more; beyond, ")
    assert said[1.157].startswith("It sustains up to 1.1 times today's rates; beyond, ")
