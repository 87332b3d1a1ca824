"""The present system beside what was monitored, and what is fitted to it."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from raidlab.devices.faults import SpecError
from raidlab.scenarios.capacity.plan import plan
from raidlab.scenarios.capacity.question import question_of
from raidlab.scenarios.planning.monitored import playing
from raidlab.scenarios.planning.scenario import build_scenario
from raidlab.scenarios.report.studies.present import answer, clock_of
from raidlab.scenarios.spec.monitored import Fit, MonitoredLoad, Openness
from raidlab.scenarios.spec.trees import ScenarioTree
from raidlab.scenarios.studies.openness import OPEN, another_system, doubt, fit_open
from raidlab.scenarios.studies.present import (
    Beside,
    Present,
    System,
    Waits,
    Windows,
    as_monitored,
    beside,
)
from raidlab.scenarios.studies.running import Running

RATES = (20.0, 30.0, 40.0, 50.0, 60.0, 30.0)
ONE = Running(1, None, None)


def system(model: str = "generic-7200rpm", **load: Any) -> ScenarioTree:
    return {
        "title": f"one {model}",
        "array": [{"name": "a", "drives": [{"model": model}]}],
        "workload": [load] if load else [],
        "run": {"precondition": "fresh"},
    }


def monitored(waits: tuple[float, ...], **changes: Any) -> MonitoredLoad:
    zeros = (0.0,) * len(RATES)
    return MonitoredLoad(
        source="x", devices=("sda",), step_s=15, read_iops=RATES, write_iops=zeros,
        read_bytes_per_s=tuple(8192 * each for each in RATES), write_bytes_per_s=zeros,
        read_await_ms=waits,
    ).model_copy(update=changes)  # fmt: skip


def true_waits(openness: Openness) -> tuple[float, ...]:
    """What the disk does with a hidden choice, as its monitoring would show it."""
    load = monitored((1.0,) * len(RATES))
    windows = Windows(load)
    scenario = windows.scenario(System(system()), openness)
    from raidlab.scenarios.running.simulate import results_of

    (result,) = results_of([scenario], 7, workers=1)
    found = windows.beside(System(system()), scenario, result)
    return tuple(each.simulated.read_ms or 0.0 for each in found.hours)


def test_errors_are_logarithms_of_waits_and_half_of_them_is_the_whole() -> None:
    # 2 ms for 1 ms in one window, 1 ms for 1 ms in the other: ln 2 and 0. With equal rates the
    # whole is 1.5 for 1: the mean square is (ln(2)^2 / 2 + ln(1.5)^2) / 2 = 0.2023.
    from raidlab.scenarios.studies.present import Present

    hours = tuple(
        Beside(0, 60, Waits(10, 1.0, None, 1.0), Waits(10, ms, None, ms)) for ms in (2.0, 1.0)
    )
    error = Present("s", "x", hours, None).error
    assert error == pytest.approx(math.expm1(math.sqrt(0.2023)), rel=1e-3)
    assert hours[0].simulated.queue == pytest.approx(0.02)


def test_a_window_of_each_step_with_the_step_before_it() -> None:
    windows = Windows(monitored((5.0,) * 6))
    assert [each.count for each in windows.windows] == [1] * 6
    played = windows._played.read_iops
    assert played[:6] == (0.0, 20.0, 20.0, 30.0, 30.0, 40.0)
    assert [round(each.iops) for each in windows.monitored] == [20, 30, 40, 50, 60, 30]


def test_loads_are_played_in_order_and_bursts() -> None:
    openness = Openness(
        sequential_read=0.25, hot_share=0.5, hot_bytes=1 << 30, bursts=2.0
    )  # fmt: skip
    random, sequential = playing(monitored(()), openness, 6.0, {})
    assert (random["rw"], sequential["rw"]) == ("randread", "read")
    mean = sum(RATES) / 6
    assert random["rate"] == f"{0.75 * mean:.9g} IO/s"
    assert sequential["rate"] == f"{0.25 * mean:.9g} IO/s"
    assert random["arrivals"]["shares"][:4] == [30.0, 0.0, 45.0, 0.0]
    assert random["hot_spot"] == f"{1 << 30} B" and "hot_spot" not in sequential


def test_a_hot_spot_beyond_a_smaller_system_is_cut() -> None:
    load = {"rw": "randread", "block_size": "8 KiB", "rate": "10 IO/s", "hot_spot": "100 TB"}
    with pytest.raises(SpecError, match="at most what the area"):
        build_scenario(system(**load))
    cut = build_scenario(system(**load, hot_beyond="cut"))
    assert cut.base["workloads"][0]["hot_spot"]["bytes"] <= cut.usable_bytes


def test_a_fitted_load_goes_no_further_than_the_system_that_it_was_fitted_on(
    tmp_path: Path,
) -> None:
    # 300 GB of data do not spread over 8 TB, nor does a disk of 8 TB refuse 9 TB.
    for held, area in ((300 * 10**9, 300 * 10**9 // 2**20 * 2**20), (9 * 10**12, None)):
        fit = Fit(
            system="x", system_bytes=held, seed=1, tolerance_pct=15, holds=True,
            members=(Openness(),),
        )  # fmt: skip
        (tmp_path / "load.json").write_text(monitored((5.0,) * 6, fit=fit).to_json())
        scenario = build_scenario(system(monitoring="load.json"), tmp_path / "s.toml")
        (plan,) = scenario.base["workloads"]
        assert plan["area_bytes"] == (area or scenario.usable_bytes)
    own = build_scenario(system(monitoring="load.json", area="1 TB"), tmp_path / "s.toml")
    assert own.base["workloads"][0]["area_bytes"] == 10**12


def test_the_right_choice_is_near_and_the_mildest_is_not() -> None:
    hidden = Openness(sequential_read=0.6)
    load = monitored(true_waits(hidden))
    right = beside(System(system()), load, ONE, 1, hidden)
    mild = beside(System(system()), load, ONE, 1)
    assert right.error < 0.1 < mild.error
    assert not doubt(right) and "not what its file says" in doubt(mild)


def test_what_is_open_is_fitted_to_the_waits() -> None:
    load = monitored(true_waits(Openness(sequential_read=0.6)))
    found = fit_open(System(system()), load, ONE, 1)
    assert found.fit.holds and found.present.error < 0.15
    assert min(each.sequential_read for each in found.fit.members) <= 0.6
    again = MonitoredLoad.model_validate_json(found.load.to_json())
    assert again.fit == found.fit
    # Hour by hour: some choice gives each wait, and intervals hold what was hidden.
    assert len(found.hours) == len(found.present.hours) and all(h.choices for h in found.hours)
    within = [low <= 0.65 for h in found.hours if (low := (h.span("sequential_read") or (1, 1))[0])]
    assert all(within)
    assert all(h.low_ms <= h.high_ms for h in found.hours)
    assert set(found.to_dict()["hours"][0]) >= {"simulated_ms", "choices", *OPEN}


def test_waits_that_nothing_gives_are_said() -> None:
    # Ten microseconds are no disk's.
    found = fit_open(System(system()), monitored((0.01,) * 6, step_s=4.0), ONE, 1)
    assert not found.fit.holds and len(found.fit.members) == 1
    assert "not what its file says" in answer(found)


def test_without_waits_nothing_is_compared() -> None:
    with pytest.raises(SpecError, match="nothing can be compared"):
        Windows(monitored(()))


def test_a_plan_shows_the_present_system_first(tmp_path: Path) -> None:
    hidden = Openness(sequential_read=0.6)
    fit = Fit(
        system="one", seed=1, tolerance_pct=15, holds=True,
        members=(hidden, Openness(sequential_read=0.5)),
    )  # fmt: skip
    load = monitored(true_waits(hidden), fit=fit)
    (tmp_path / "load.json").write_text(load.to_json())
    (tmp_path / "now.toml").write_text(
        'title = "today"\n[[array]]\ndrives = [{ model = "generic-7200rpm" }]\n'
    )
    question = question_of(
        {
            "goals": ["p99 < 500 ms"],
            "present": {"scenario": "now.toml"},
            "load": [{"monitoring": "load.json"}],
            "run": {"duration": "20 s", "warm_up": "1 s"},
            "candidates": [
                {"drives": ["generic-15000rpm"], "counts": 2, "levels": ["raid1"]},
            ],
        },
        tmp_path / "question.toml",
    )
    found = plan(question, running=ONE)
    assert found.present is not None and found.present.error < 0.15
    assert found.open_parts is not None and found.open_parts.choices == 2
    low, high = found.open_parts.p99_us
    assert low < high
    assert not any("monitored" in each for each in found.warnings)
    document = json.loads(json.dumps(found.to_dict()))
    assert document["present"]["error_pct"] < 15 and document["open"]["choices"] == 2


def test_a_scenario_of_a_monitored_load_is_compared_with_it(tmp_path: Path) -> None:
    (tmp_path / "load.json").write_text(monitored(true_waits(Openness())).to_json())
    tree = system(monitoring="load.json")
    found = as_monitored(tree, tmp_path / "s.toml", ONE, 1)
    assert found is not None and found.error < 0.1
    assert as_monitored(system(rw="randread", block_size="4 KiB"), tmp_path, ONE, 1) is None


def test_a_system_that_fits_badly_is_doubted_with_the_waits_that_are_off() -> None:
    """Busy reads wait twice as long in the simulation: ln 2 is the largest of four means."""

    def waits(iops: float, read: float) -> Waits:
        return Waits(iops, read, 5.0, read)

    hours = tuple(
        Beside(0.0, 60.0, waits(rate, 10.0), waits(rate, 20.0 if rate > 50 else 10.0))
        for rate in (10.0, 20.0, 60.0, 70.0)
    )
    present = Present("disk", "x", hours, None)
    fit = Fit(
        system="disk", seed=1, tolerance_pct=16, holds=True, members=(Openness(error_pct=12.0),)
    )
    (said,) = another_system(present, fit, 0.06)
    assert "12 % off, where models and chance explain 10 %" in said
    assert "simulated reads wait 100 % longer than monitored in the 2 busiest windows" in said
    near = fit.model_copy(update={"members": (Openness(error_pct=9.9),)})
    assert not list(another_system(present, near, 0.06))


def test_short_recordings_are_counted_in_minutes_and_seconds() -> None:
    """23 of 24 windows of 1 h are at 57.5 min; of a day at 23 h."""
    assert clock_of([0.0, 3450.0])[::2] == ("min", 60.0)
    assert clock_of([0.0, 82_800.0])[::2] == ("h", 3600.0)
    assert clock_of([43.1])[0] == "s" and clock_of([])[0] == "s"


def test_a_monitored_load_works_where_its_table_says() -> None:
    own = system()
    own["workload"] = [{"monitoring": "load.json", "area": "1 GB"}]
    for place, area in ((None, "1 GB"), ({"area": "2 GB"}, "2 GB")):
        played = playing(monitored(()), Openness(), 6.0, System(own, place=place).load_place)
        assert {each["area"] for each in played} == {area}
    two = system()
    two["workload"] = [{"area": "1 GB"}, {"area": "2 GB"}]
    assert System(two).load_place == {}
