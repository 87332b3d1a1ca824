"""Job files as tenants: limits, shares and goals beside `fio`, on a drive of 1 ms a command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from raidlab.devices.faults import SpecError
from raidlab.scenarios.planning.scenario import Scenario, build_scenario
from raidlab.scenarios.results.result import Result
from raidlab.scenarios.running.simulate import simulate
from raidlab.scenarios.spec.trees import WorkloadTree

JOB = "[global]\nioengine=libaio\nrw=randread\nbs=4k\ntime_based\nruntime=60\n"


def scenario(folder: Path, *loads: WorkloadTree, **array: Any) -> Scenario:
    for at, load in enumerate(loads):
        if "fio" in load:
            (folder / f"{at}.fio").write_text(JOB + load["fio"])
    own = [load | ({"fio": f"{at}.fio"} if "fio" in load else {}) for at, load in enumerate(loads)]
    tree = {
        "array": [{"name": "d", "drives": [{"model": "sas.toml"}]} | array],
        "workload": own,
        "run": {"duration": "10 s"},
    }
    return build_scenario(tree, folder / "s.toml")


def rates(result: Result) -> dict[str, float]:
    return {row["workload"]: row["iops"] for row in result.results}


def test_all_jobs_of_a_file_share_its_limit(drives: Path) -> None:
    """The drive serves 1000 a second: 100 are the tenant's, half of them each job's."""
    jobs = "[a]\niodepth=4\n[b]\niodepth=4\n"
    other = {"name": "other", "rw": "randread", "block_size": "4 KiB", "outstanding": 8}
    capped = {"name": "file", "fio": jobs, "limit": "100 IO/s", "burst": "0 s"}
    result = simulate(scenario(drives, capped, other))
    found = rates(result)
    assert found["file.a"] == pytest.approx(50, rel=0.02)
    assert found["file.b"] == pytest.approx(50, rel=0.02)
    assert found["other"] == pytest.approx(900, rel=0.02)
    rows = {row["workload"]: row for row in result.results}
    assert rows["file.a"]["bottleneck"] == "file IOPS limit at 100 %"
    assert rows["file.a"]["breakdown_us"]["limit_wait"] > 50_000
    assert "limit" not in f"{rows['other']['bottleneck']}{rows['other']['runner_up']}"


def test_flushes_take_no_tokens(drives: Path) -> None:
    job = "[a]\nioengine=psync\nrw=randwrite\nfsync=1\n"
    result = simulate(scenario(drives, {"fio": job, "limit": "100 IO/s", "burst": "0 s"}))
    assert rates(result)["workload-0"] == pytest.approx(100, rel=0.02)


def test_weights_divide_a_drive_among_job_files_and_other_loads(drives: Path) -> None:
    loads = (
        {"name": "gold", "fio": "[a]\niodepth=64\n", "weight": 3},
        {"name": "iron", "fio": "[a]\niodepth=32\n[b]\niodepth=32\n"},
        {"name": "own", "rw": "randread", "block_size": "4 KiB", "outstanding": 64, "weight": 1},
    )
    found = rates(simulate(scenario(drives, *loads)))
    assert found["gold"] == pytest.approx(600, rel=0.03)
    assert found["iron.a"] + found["iron.b"] == pytest.approx(200, rel=0.03)
    assert found["own"] == pytest.approx(200, rel=0.03)


def test_a_job_file_of_high_priority_goes_first(drives: Path) -> None:
    loads = (
        {"name": "first", "fio": "[a]\niodepth=1\nthinktime=50ms\n", "priority": "high"},
        {"name": "rest", "rw": "randread", "block_size": "4 KiB", "outstanding": 64},
    )
    result = simulate(scenario(drives, *loads, shared_depth=1))
    first = next(row for row in result.results if row["workload"] == "first")
    assert first["latency_us"]["mean"] == pytest.approx(1500, rel=0.2)


def test_a_limit_that_no_job_reaches_is_said_and_goals_hold_for_each_job(drives: Path) -> None:
    load = {"name": "f", "fio": "[a]\n[b]\n", "limit": "5000 IO/s", "goal": "p99 < 1.5 ms"}
    result = simulate(scenario(drives, load))
    assert "f: its limit is never reached, no I/O waited for it" in result.warnings
    goals = result.goals
    assert goals is not None
    assert [goal["workload"] for goal in goals] == ["f.a", "f.b"]


def test_a_profile_is_a_tenant(drives: Path) -> None:
    load = {
        "profile": "web",
        "rate": "100 IO/s",
        "area": "8 GB",
        "limit": "50 IO/s",
        "burst": "0 s",
    }
    found = rates(simulate(scenario(drives, load)))
    assert sum(found.values()) == pytest.approx(50, rel=0.05)


def test_what_has_no_effect_is_said(drives: Path) -> None:
    with pytest.raises(SpecError, match="without `limit`"):
        scenario(drives, {"fio": "[a]\n", "burst": "1 s"})
    with pytest.raises(SpecError, match="settled by the job file"):
        scenario(drives, {"fio": "[a]\n", "outstanding": 4})


@pytest.mark.parametrize(
    ("jobs", "compressible"),
    [
        ("[a]\nbuffer_compress_percentage=50\n[b]\nbuffer_compress_percentage=50\n", 0.5),
        ("[a]\nbuffer_compress_percentage=50\n[b]\n", None),
        ("[a]\n[b]\n", None),
    ],
)
def test_how_far_data_can_be_compressed_is_the_jobs(
    drives: Path, jobs: str, compressible: float | None
) -> None:
    def planned(**more: Any) -> Scenario:
        drive = {"drives": [{"model": "teaching-compressing"}]}
        return scenario(drives, {"fio": jobs} | more, **drive)

    stated = {} if compressible is None else {"compressible": compressible}
    own, expected = planned(), planned(**stated)
    assert own.base["devices"] == expected.base["devices"]
    assert own.base["devices"] != planned(compressible=0.1).base["devices"]
    said = any("not all jobs say the same" in each for each in own.warnings)
    assert said == (compressible is None and "50" in jobs)
    plain = scenario(drives, {"fio": jobs})
    assert any("no drive of d compresses" in each for each in plain.warnings) == ("50" in jobs)


@pytest.mark.parametrize(("limit", "served"), [("200 IO/s", 200), ("900 IO/s", 667)])
def test_a_limit_holds_before_the_share(drives: Path, limit: str, served: float) -> None:
    """Of 1000 a second two thirds are the tenant's, unless its limit lets fewer through."""
    loads = (
        {"name": "held", "fio": "[a]\niodepth=64\n", "weight": 2, "limit": limit, "burst": "0 s"},
        {"name": "rest", "rw": "randread", "block_size": "4 KiB", "outstanding": 64, "weight": 1},
    )
    found = rates(simulate(scenario(drives, *loads)))
    assert found["held"] == pytest.approx(served, rel=0.03)
    assert found["rest"] == pytest.approx(1000 - served, rel=0.03)
