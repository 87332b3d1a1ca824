"""Plans against queues of closed form, and everything that a question can have wrong."""

import copy
import json
import math
import re

import pytest

from raidlab.devices.catalogue import find
from raidlab.devices.draws import drawn
from raidlab.devices.faults import About, Fault, SpecError
from raidlab.scenarios.capacity import plan as module
from raidlab.scenarios.capacity.bounds import small_write
from raidlab.scenarios.capacity.candidates import expand
from raidlab.scenarios.capacity.plan import plan
from raidlab.scenarios.capacity.question import load_question, question_of
from raidlab.scenarios.capacity.ranking import misses
from raidlab.scenarios.report.planner.report import answer, others, report, table, why
from raidlab.scenarios.results.goals import Measured
from raidlab.scenarios.running.store import Store
from raidlab.scenarios.studies import size
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


@pytest.fixture
def question(tmp_path):
    """Two kinds of drives of exponential service: 1 ms for 100, 0.5 ms for 250."""
    for name, service in (("slow", "1 ms"), ("fast", "0.5 ms")):
        (tmp_path / f"{name}.toml").write_text(STATION.format(name=name, service=service))
    slow, fast = (str(tmp_path / f"{name}.toml") for name in ("slow", "fast"))
    return {
        "goals": ["p99 < 20 ms", "usable >= 200 GB"],
        "horizon": "2 years",
        "currency": "EUR",
        "load": [{"rw": "randread", "block_size": "4 KiB", "align": "4 KiB", "rate": "3300 IO/s"}],
        "run": {"warm_up": "2 s", "duration": "16 s", "precondition": "fresh"},
        "candidates": [{"drives": [slow, fast], "counts": "1:12", "levels": ["raid0"]}],
        "price": [{"device": slow, "cost": 100}, {"device": fast, "cost": 250, "power": "5 W"}],
    }


SHARED = {"store": None}
"""How runs of a question are made, unless it says otherwise."""


@pytest.fixture(scope="module", autouse=True)
def shared(tmp_path_factory):
    """Runs that several questions ask for are made once."""
    path = tmp_path_factory.mktemp("plans") / "runs.sqlite"
    with Store(path) as store, pytest.MonkeyPatch.context() as patch:
        patch.setitem(SHARED, "store", store)
        yield


def answered(tree, **more):
    return plan(question_of(tree), running=Running(**(SHARED | more)))


def test_the_cheapest_of_queues_by_hand(question):
    """n M/M/1 queues: p99 = ln 100 / (mu - lambda / n) < 20 ms wants lambda / n < mu - 230.3.

    So 3300 a second want 5 slow ones (769.7 each, for 500) or 2 fast ones (1769.7, for 500); 4 slow
    ones would be the cheaper, but for 825 a second each. 550 for 2 fast ones makes 5 slow ones win.
    """
    question["price"][1]["cost"] = 275
    steps = []
    found = answered(
        question, step=lambda name: steps.append((name, [])),
        progress=lambda done, of: steps[-1][1].append((done, of)),
    )  # fmt: skip
    assert found.recommended.count == 5 and found.recommended.cost == 500
    # Each step counts on, and says how many runs it takes or that nobody knows.
    known = [(name, runs) for name, runs in steps if runs]
    assert [name for name, _ in known][:2] == ["drives alone", "candidates, an eighth of the run"]
    assert [name for name, _ in known][-2:] == ["headroom", "what would help"]
    assert all(runs == sorted(runs) for _, runs in known)
    for name, runs in known:
        is_open = name in ("drives alone", "headroom", "what would help")
        assert (runs[-1][1] == 0) == is_open and (is_open or runs[-1][0] == runs[-1][1])
    assert sum(runs[-1][0] for name, runs in known) > found.simulated + 5
    assert "slow" in found.recommended.name
    names = {each.count for each in found.front if "fast" in each.name}
    assert 2 in names
    each = {(c.drive.endswith("slow.toml"), c.count): c for c in found.candidates}
    assert each[True, 4].out and "p99" in why(each[True, 4])
    # Never simulated: beyond twice the time of one drive, or too small.
    assert each[True, 1].rung == -1 and each[True, 1].out
    document = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert document["recommended"] == found.recommended.name
    rows = {row["name"]: row for row in document["candidates"]}
    assert rows[found.recommended.name]["fits"] and rows[found.recommended.name]["cost"] == 500
    lacks = rows[each[True, 4].name]["fails"]
    assert lacks[0]["goal"] == "p99 < 20 ms" and lacks[0]["by"] > 0
    assert answer(found).startswith(found.recommended.name)
    # How far it goes: 5 * 769.7 of 3300 a second, in steps of 5 %.
    assert found.headroom.factor == pytest.approx(5 * 769.7 / 3300, rel=0.06)
    # The page of it: the load's point on its curve, where the time goes, risks.
    near = [each for each in found.headroom.curve if each.factor < 1.1]
    assert near and not found.headroom.curve[-1].served
    for each in near:
        by_hand = 1e6 * math.log(100) / (1000 - each.iops / 5)
        assert each.p99_us == pytest.approx(by_hand, rel=0.2)
    page = report(found).html()
    assert "3,300 IO/s come; goals hold up to 3," in page
    assert "Most of the time is" in page and "Any failed drive loses data." in page
    assert "The goal with the least room is p99 &lt; 20 ms" in page


def test_the_change_that_helps_most_by_hand(question):
    """Of 5 slow drives: 5 fast ones bear 5 * 1769.7 / 3300 = 2.68 times, 9 slow ones 2.10."""
    question["price"][1]["cost"] = 275
    question["candidates"][0]["counts"] = [5, 7, 9]
    found = answered(question)
    assert found.recommended.choices["drives"] == "5"
    changes = {each.change.split("/")[-1]: each for each in found.upgrades}
    assert set(changes) == {
        "slow.toml", "7 drives instead of 5", "9 drives instead of 5"
    }  # fmt: skip
    best = found.upgrades[0]
    assert best.change.startswith("drive ") and best.cost == 5 * 275 - 500
    bears = found.headroom.factor
    # 1.17 times 1.25, 1.5, 2, 3: the last that is below 1.63, 2.10 and 2.68 times.
    assert best.factor == pytest.approx(2 * bears) and best.factor < 2.68
    assert changes["7 drives instead of 5"].factor == pytest.approx(1.25 * bears)
    assert "What would help most: drive " in answer(found)


def test_draws_fit_where_the_closed_form_says_so(question, tmp_path):
    """p99 < 20 ms of 5 queues wants a service below 1 / (3300 / 5 + 230.3) = 1.123 ms."""
    slow = tmp_path / "slow.toml"
    bounds = 'service = { source = "assumed", note = "test", range = ["0.8 ms", "1.5 ms"] }'
    slow.write_text(slow.read_text().replace('all = "assumed"', f'all = "assumed"\n{bounds}'))
    question["candidates"][0] |= {"drives": ["slow.toml"], "counts": [5, 6]}
    question["price"] = [{"device": "slow.toml", "cost": 100}]
    found = plan(question_of(question, tmp_path / "question.toml"), draws=12)
    device = find(str(slow))
    services = [drawn(device, at).spec.service / 1e6 for at in range(12)]
    first, second = found.drawn
    assert first.candidate is found.recommended and first.candidate.count == 5
    clear = [at for at in range(12) if abs(services[at] / 1.123 - 1) > 0.03]
    assert len(clear) > 8
    assert [first.fits[at] for at in clear] == [services[at] < 1.123 for at in clear]
    assert 0 < first.share < second.share
    (pair,) = found.to_dict()["beats"]
    assert pair == {"other": second.candidate.name, "probability": first.share}
    assert f"fits in {100 * first.share:.0f} % of draws" in answer(found)
    assert any("Open by the data sheet" in line for line in found.to_dict()["assumptions"])
    question["candidates"][0]["drives"] = ["fast.toml"]
    question["price"] = []
    with pytest.raises(SpecError, match="--draws"):
        plan(question_of(question, tmp_path / "question.toml"), draws=2)


def test_the_same_answer_with_any_number_of_workers(question):
    question["candidates"][0]["counts"] = "3:6"
    question["run"]["duration"] = "4 s"
    one = answered(question, workers=1, store=None).to_dict()
    assert answered(question, workers=3, store=None).to_dict() == one


def test_halving_finds_the_winner_of_simulating_everything(question):
    found = answered(question)
    everything = copy.deepcopy(question)
    fits = {}
    for candidate in expand(question_of(everything)):
        rate = 3300 / candidate.count
        own = 1000 if candidate.drive.endswith("slow.toml") else 2000
        holds = rate < own - math.log(100) / 20e-3 and candidate.count >= 2
        fits[candidate.name] = holds, candidate.cost
    best = min(cost for holds, cost in fits.values() if holds)
    assert found.recommended.cost <= best + 100 and fits[found.recommended.name][0]
    assert found.simulated < 3 * len(fits)


def test_of_very_many_candidates_the_numbers_of_drives_that_matter_are_simulated(
    question, monkeypatch
):
    question["load"][0]["rate"] = "7000 IO/s"
    question["run"]["duration"] = "4 s"
    question["candidates"][0]["counts"] = "3:12"
    wanted = answered(question)
    # 7000 / 769.7 = 9.1, so 10 slow ones for 1000; 7000 / 1769.7 = 3.96, so 4 fast ones for 1000.
    assert wanted.recommended.cost == 1000
    monkeypatch.setattr(module, "MANY_CANDIDATES", 8)
    found = answered(question)
    assert found.recommended.cost == wanted.recommended.cost
    assert found.simulated < wanted.simulated


def test_growth_ends_the_recommended_one_in_a_month_by_hand(question):
    question["growth"] = {"rate": "20 %", "capacity": 0.1}
    question["load"][0]["rate"] = "2000 IO/s"
    question["candidates"][0]["counts"] = "2:5"
    found = answered(question)
    # 2000 * 1.2^2 = 2880 a second at the end: 3.74 slow ones, so 4, which bear 3079.
    assert found.recommended.count == 4 and found.recommended.cost == 400
    months = 12 * math.log(4 * 769.7 / 2000) / math.log(1.2)
    assert found.months == pytest.approx(months, abs=4) and found.months >= 24
    assert found.to_dict()["months"] == found.months
    # 200 GB grow to 242 GB, so three drives, not two, are enough for them.
    assert all(each.count > 2 for each in found.front)


def test_energy_is_part_of_the_cost(question):
    question |= {"energy_price": 0.3, "base": {"cost": 1000, "power": "100 W", "rack_units": 2}}
    question["price"][0]["power"] = "10 W"
    each = {(c.drive.endswith("slow.toml"), c.count): c for c in expand(question_of(question))}
    candidate = each[True, 4]
    bill = candidate.bill
    assert (bill.capital, bill.watts, bill.rack_units) == (1400, 140, 2)
    assert candidate.cost == pytest.approx(1400 + 0.14 * 2 * 8766 * 0.3)


def test_no_candidate_fits_and_the_nearest_is_named(question):
    question["goals"][0] = "p99 < 2 ms"
    question["candidates"][0]["counts"] = "2:6"
    found = answered(question)
    assert found.recommended is None and found.front == ()
    # Six fast ones: ln 100 / (2000 - 550) = 3.2 ms.
    assert found.nearest.count == 6 and "fast" in found.nearest.name
    assert "None of 10 candidates fits. The nearest is 6 x" in answer(found)
    assert re.search(r"\b[56]\d % beyond", answer(found))
    assert len(others(found).rows) == 10


def test_drives_that_may_fail_are_whole(question):
    question["goals"].append("survives >= 2")
    found = {each.count: each for each in expand(question_of(question))}
    assert "survives 0 drives, 100 % short of survives >= 2" in why(found[3])


def test_a_life_that_nothing_is_known_of_says_why(question):
    question["goals"].append("life > 5 years")
    (one, *_) = expand(question_of(question))
    one.judge(question_of(question).goals[-1], Measured(None))
    assert "; life is not known: writes still wait in the controller's cache" in why(one)


def test_a_load_beyond_every_candidate(question):
    question["load"][0]["rate"] = "90000 IO/s"
    found = answered(question)
    assert found.recommended is None
    assert "cannot serve the load" in answer(found)
    assert not any(each.rung >= 0 for each in found.candidates)


def test_what_cannot_be_built_says_why(question):
    question["candidates"][0]["levels"] = ["raid0", "raid6"]
    found = {each.name: each for each in expand(question_of(question))}
    few = next(each for name, each in found.items() if name.startswith("2 x") and "raid6" in name)
    assert "of 4 drives or more" in few.why_not


def test_a_candidate_that_is_too_small_for_the_load_says_by_how_much(question):
    """RAID 0 of 100 GB each: three hold 300 GB, a seventh less than the load's 350 GB."""
    question["load"][0]["area"] = "350 GB"
    question["candidates"][0]["counts"] = [3, 4]
    found = {(each.drive, each.count): each for each in expand(question_of(question))}
    slow = question["candidates"][0]["drives"][0]
    assert found[slow, 4].why_not == ""
    text = "usable 300 GB, 14 % short of the 350 GB that the load covers"
    assert found[slow, 3].why_not == text
    # A seventh short: nearer than one with no room for the goal's 200 GB would be.
    assert misses(found[slow, 3]) == (False, False, pytest.approx(1 / 7, rel=1e-4))
    assert why(found[slow, 3]) == f"too small: {text}"
    # Data that double leave half of it for today's, in the words of the goal.
    question["growth"] = {"capacity": 0.4142135}
    grown = {(each.drive, each.count): each for each in expand(question_of(question))}
    assert why(grown[slow, 3]).startswith(
        "usable 150 GB for today's data (300 GB in all), 25 % short of usable >= 200 GB"
    )
    del question["growth"]
    question["load"][0]["area_start"] = "200 GB"
    with pytest.raises(SpecError, match="what the array holds"):
        expand(question_of(question))


def test_a_load_whose_backlog_memory_does_not_hold_is_not_served(question, monkeypatch):
    """The engine ends such a run; the headroom is found all the same."""
    allowed = "a rate that the system serves, or a shorter run: at 1 s 9 I/Os wait"
    simulated = size.results_of

    def short_of_memory(scenarios, seed, *, refused, **more):
        over = [sum(load.arrives_per_s for load in each.workloads) > 9000 for each in scenarios]
        backlog = Fault("workload", "0", allowed, about=About.BACKLOG)
        refused |= {at: [backlog] for at, out in enumerate(over) if out}
        kept = [each for each, out in zip(scenarios, over, strict=True) if not out]
        return simulated(kept, seed, refused=refused, **more)

    monkeypatch.setattr(size, "results_of", short_of_memory)
    question["price"][1]["cost"] = 275
    question["candidates"][0]["counts"] = [5]
    found = answered(question)
    assert found.headroom.factor == pytest.approx(5 * 769.7 / 3300, rel=0.06)
    assert not found.headroom.curve[-1].served and found.headroom.curve[-1].p99_us is None


LARGE = {"drives": ["cm6-r-30720"], "counts": 1000, "levels": ["raid0"]}
"""The map of its drives takes a terabyte of memory."""


def test_what_memory_does_not_hold_is_set_aside_and_says_so(question):
    question["price"].append({"device": "cm6-r-30720", "cost": 1})
    question["candidates"][0]["counts"] = [5]
    question["candidates"].append(LARGE)
    found = answered(question)
    assert found.recommended.cost == 500 and found.simulated > 0
    large = found.candidates[-1]
    assert not large.p99_us and large not in found.front
    assert re.search(r"cannot be simulated: memory = [\d.]+ GB: at most", why(large))
    (row,) = (each for each in found.to_dict()["candidates"] if each["name"] == large.name)
    assert row["fails"][0]["goal"] == "can be simulated" and not row["fits"]


def test_where_memory_holds_no_candidate_it_is_an_error(question):
    question["price"] = []
    question["candidates"] = [LARGE | {"counts": [998, 1000]}]
    with pytest.raises(SpecError, match=r"memory = .* at most .* \(and 1 more candidate\)"):
        answered(question)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"goals": ["p99 < 20 ms", "p99 > 30 ms"]}, "nothing can be both"),
        ({"goals": ["speed > 3"]}, "one of mean"),
        ({"goals": []}, "at least 1 entries"),
        ({"price": [{"device": "generic-15000rmp", "cost": 1}]}, 'did you mean "generic-15000rpm"'),
        ({"price": [{"device": "generic-15000rpm", "cost": 1}]}, r"a price: \[\[price\]\]"),
        ({"price": [], "goals": ["cost < 100"]}, "as a goal or `prefer` is about cost"),
        ({"goals": ["power < 100 W"]}, "the power of"),
        ({"goals": ["rack units < 4"]}, "rack units here or in prices"),
        ({"goals": ["cost < 900 USD"]}, "currency, which is \"EUR\""),
        ({"goals": ["rate >= 5000 IO/s"]}, "the load asks for 3,300 IO/s"),
        ({"horizon": "5"}, 'a time such as "5 years"'),
        ({"growth": {"rate": -1}}, "growth in a year"),
        ({"load": [{"profile": "database", "rate": "9 IO/s", "growth": "x %"}]},
         r"load\.0\.growth = \"x %\": growth in a year"),
        ({"candidtes": []}, "unknown key"),
        ({"load": [{"rw": "randread"}]}, "block_size"),
        ({"load": [{"rw": "read", "block_size": "4 KiB"}], "growth": {"rate": 1}}, "`rate`"),
        ({"load": [{"profile": "database", "rate": ["1 IO/s", "2 IO/s"]}]}, "one rate, such as"),
        ({"candidates": [{"drives": ["sas-6g-hd"], "counts": 4, "levels": ["raid5"]}]},
         "sas-6g-hdd"),
        ({"candidates": [{"drives": ["null"], "counts": "x", "levels": ["raid5"]}]}, "4:24"),
        ({"candidates": [{"drives": ["null"], "counts": 4, "levels": ["raid55"]}], "price": []},
         'did you mean "raid5"'),
    ],
)  # fmt: skip
def test_what_a_question_can_have_wrong(question, change, said):
    with pytest.raises(SpecError, match=said):
        answered(question | change)


def test_questions_of_the_library_are_in_order():
    from tests.project.sources import ROOT

    files = sorted((ROOT / "scenarios/library/plans").glob("*.toml"))
    assert files
    for file in files:
        assert "?" in "".join(file.read_text().splitlines()[:2]), file
        if "candidates" in file.read_text():
            assert any(not each.out for each in expand(load_question(file)))


def test_small_writes_of_levels():
    costs = {"raid0": (0, 1), "raid10": (0, 2), "raid5": (2, 2), "raid60": (3, 3), "jbod": (0, 1)}
    assert {level: small_write(level) for level in costs} == costs


TICK_US = 400


@pytest.fixture
def traced(tmp_path):
    """A trace of 2,500 requests a second, one drive after the other, for drives of 1 ms each."""
    station = STATION.format(name="even", service="1 ms").replace("exponential", "fixed")
    (tmp_path / "even.toml").write_text(station)
    lines = (f"0,{128 * at},4096,R,{TICK_US * at / 1e6:.6f}" for at in range(4000))
    (tmp_path / "mine.spc").write_text("\n".join(lines) + "\n")
    return {
        "goals": ["p99 < 2 ms"],
        "horizon": "2 years",
        "growth": {"rate": "20 %"},
        "load": [{"trace": "mine.spc", "trace_format": "spc"}],
        "candidates": [{"drives": ["even.toml"], "counts": "2:6", "levels": ["raid0"]}],
    }


def test_a_trace_grows_and_needs_the_drives_by_hand(traced, tmp_path):
    """After two years it is 1.44 times as fast: 3,600 a second want four drives of 1,000 each.

    They bear 4,000 / 2,500 = 1.6 times today's; of steps of 5 % from 1.44 on that is 1.588.
    """
    found = plan(question_of(traced, tmp_path / "question.toml"))
    assert found.recommended.count == 4
    assert found.recommended.p99_us < 1_100
    assert found.recommended.iops == pytest.approx(3600, rel=0.01)
    each = {candidate.count: candidate for candidate in found.candidates}
    assert each[3].falls_behind and each[3].overload == pytest.approx(0.2, abs=0.01)
    # A part of a trace says nothing certain of the rest: every candidate has the whole of it.
    assert found.headroom.factor == pytest.approx(1.44 * 1.05**2)
    assert found.headroom.iops == pytest.approx(0.5876 * 2500, rel=0.01)
    assert found.months == pytest.approx(12 * math.log(1.5876) / math.log(1.2))


def test_a_loop_of_a_trace_does_not_grow(traced):
    traced["load"][0] |= {"trace_timing": "full-speed", "outstanding": 4}
    with pytest.raises(SpecError, match=r"growth\.rate = .*`rate` or a `trace`"):
        question_of(traced)


def test_drives_without_stated_power_draw_by_activity(tmp_path):
    """Four disks whose arms never rest draw their watts at work, and 100 W of the server."""
    found = plan(
        question_of({
            "goals": ["p99 < 10 s", "power < 500 W"],
            "horizon": "1 year",
            "energy_price": 0.3,
            "load": [{"rw": "randread", "block_size": "4 KiB", "outstanding": 64}],
            "run": {"warm_up": "1 s", "duration": "4 s"},
            "candidates": [{"drives": ["exos-10e2400"], "counts": 4, "levels": ["raid10"]}],
            "price": [{"device": "exos-10e2400", "cost": 300}],
            "base": {"power": "100 W"},
        })
    )  # fmt: skip
    best, power = found.recommended, find("exos-10e2400").spec.power
    assert best.bill.watts == pytest.approx(100 + 4 * power.active, rel=0.02)
    assert best.bill.energy == pytest.approx(best.bill.watts / 1e3 * 8766 * 0.3)
    assert best.cost == pytest.approx(1200 + best.bill.energy)
    (row,) = found.to_dict()["candidates"]
    assert row["iops_per_watt"] == pytest.approx(best.iops / best.bill.watts)
    assert row["energy_cost"] == best.bill.energy
    assert any("by activity" in line for line in found.to_dict()["assumptions"])
    # Idle it would be less: what is known before a run is a bound from below.
    (idle,) = expand(found.question)
    assert idle.bill.watts == pytest.approx(100 + 4 * power.idle)
    assert idle.bill.watts < best.bill.watts


def test_far_from_a_goal_is_said_in_multiples(question):
    question["candidates"][0]["counts"] = 8
    question["run"]["duration"] = "2 s"
    question["load"][0]["rate"] = "2000 IO/s"
    question["goals"] = ["p99 < 100 us"]
    assert "times the bound of p99 < 100 us" in why(answered(question).nearest)
    question["goals"] = ["usable >= 5 TB"]
    assert "84 % short of usable >= 5 TB" in why(answered(question).nearest)


def test_the_nearest_serves_its_load(question):
    """Three slow drives lack a tenth of the rate; twelve serve it, at 45 times the p99 wanted."""
    question |= {"goals": ["p99 < 100 us"]}
    drives = question["candidates"][0]["drives"]
    question["candidates"][0] |= {"counts": [3, 12], "drives": drives[:1]}
    found = answered(question)
    assert found.recommended is None
    assert found.nearest.count == 12 and not found.nearest.falls_behind


def test_what_prices_do_not_state_is_unknown_and_not_nothing(question):
    question["candidates"][0]["counts"] = [2, 5]
    question["run"]["duration"] = "8 s"
    found = answered(question)
    assert {each.bill.rack_units for each in found.candidates} == {None}
    assert {row[-2] for row in table(found).rows} == {None}
    text = " ".join(found.assumptions)
    assert "without energy" in text and "Hosts cost nothing: generic has no price" in text
    assert "Watts are not known: of" in text and "shorter runs" in text
    question["price"][1]["rack_units"] = 1
    with_racks = answered(question)
    assert with_racks.recommended.bill.rack_units in (0, 2)
    assert any("are not stated and count as none" in each for each in with_racks.assumptions)


def test_the_rate_of_a_load_that_is_served_is_what_it_asks_for(question):
    """3300 a second come on average: a run of some seconds has fewer or more of them."""
    question["goals"] = ["p99 < 20 ms", "rate >= 3300 IO/s"]
    question["candidates"][0]["counts"] = [2, 5]
    assert answered(question).recommended.count in (2, 5)


def test_changes_that_lose_data_do_not_help(question):
    """Four drives of RAID 0 write at a quarter of the cost, but 8 % lose data in two years."""
    question |= {"goals": ["p99 < 20 ms", "loss < 4 %"]}
    question["load"][0] |= {"rw": "randrw", "read_share": 0.5, "rate": "400 IO/s"}
    question["run"]["duration"] = "4 s"
    question["candidates"] = [
        question["candidates"][0] | {"counts": [4], "levels": ["raid5", "raid0"]}
    ]
    found = answered(question)
    assert found.recommended.level == "raid5"
    changes = [each.change for each in found.upgrades]
    assert any("drive" in each for each in changes)
    assert not any("raid0" in each for each in changes)


def test_a_higher_rate_that_misses_a_goal_does_not_help(question, tmp_path):
    """One at a time: 1 ms each against 0.8 ms on average, of which 1 % take 3.7 ms and more."""
    fixed, varied = (tmp_path / f"{name}.toml" for name in ("fixed", "varied"))
    text = STATION.replace('distribution = "exponential"\n', "")
    fixed.write_text(text.format(name="fixed", service="1 ms"))
    varied.write_text(STATION.format(name="varied", service="0.8 ms"))
    question["goals"] = ["p99 < 2 ms"]
    del question["load"][0]["rate"]
    question["load"][0]["outstanding"] = 1
    question["candidates"][0] |= {"drives": [str(fixed), str(varied)], "counts": [1]}
    question["candidates"][0]["levels"] = ["jbod"]
    question["price"] = []
    question["run"]["duration"] = "4 s"
    found = answered(question)
    assert found.recommended.drive == str(fixed) and found.upgrades == ()


def test_short_runs_are_not_cut_into_parts(question):
    """3,300 a second for 4 s are 13,200 I/Os; for 8 s 26,400, of which a part is tried first."""
    question["candidates"][0]["counts"] = [2, 5]
    for seconds, cut in ((4, False), (8, True)):
        question["run"]["duration"] = f"{seconds} s"
        found = answered(question)
        simulated = [each for each in found.candidates if each.rung >= 0]
        assert simulated and all(each.rung == 2 for each in simulated) is not cut
        assert ("shorter runs" in " ".join(found.assumptions)) is cut


def test_a_misspelt_drive_has_one_fault_and_prices_without_currency_a_warning(question):
    asked = {**question["candidates"][0], "drives": ["dc60m-960"]}
    with pytest.raises(SpecError) as found:
        question_of({**question, "candidates": [asked]})
    question["run"]["duration"] = "2 s"
    keys = [fault.key for fault in found.value.faults]
    assert keys.count("candidates.0.drives") == 1 and "dc600m-960" in str(found.value)
    for currency, count in (("EUR", 0), ("", 1)):
        one = [{**question["candidates"][0], "counts": [4]}]
        warned = answered(question | {"currency": currency, "candidates": one}).warnings
        assert sum("no currency" in text for text in warned) == count
