"""Profiles of applications: each resolves, and asks for what its comment says."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from raidlab.devices.faults import SpecError
from raidlab.devices.plan_types import JobPlan
from raidlab.scenarios.planning.scenario import build_scenario
from raidlab.scenarios.running.simulate import simulate
from raidlab.scenarios.spec.loads import PROFILE_FILES, JobProfile, profile_file
from raidlab.scenarios.spec.trees import ScenarioTree

NAMES = get_args(JobProfile)


def tree(profile: str, **keys: Any) -> ScenarioTree:
    capped = "${RATE}" in (PROFILE_FILES / f"{profile}.fio").read_text()
    rate = {"rate": "1000 IO/s"} if capped else {}
    return {
        "array": [{"name": "a", "drives": [{"model": "p3700-800", "count": 1}]}],
        "workload": [{"name": "w", "profile": profile, **rate, **keys}],
        "run": {"warm_up": "100 ms", "duration": "1 s", "precondition": "filled"},
    }


def threads(profile: str) -> list[JobPlan]:
    return list(build_scenario(tree(profile)).jobs[0].threads)


def test_every_profile_has_a_file_and_every_file_a_profile() -> None:
    assert sorted(NAMES) == sorted(path.stem for path in PROFILE_FILES.glob("*.fio"))
    assert profile_file("database") is None


@pytest.mark.parametrize("profile", NAMES)
def test_a_profile_names_its_source_and_has_no_option_without_effect(profile: str) -> None:
    text = (PROFILE_FILES / f"{profile}.fio").read_text()
    assert "Source:" in text
    assert build_scenario(tree(profile)).jobs[0].notes == ()


@pytest.mark.parametrize("profile", NAMES)
def test_the_rate_is_that_of_all_streams_together(profile: str) -> None:
    if "rate" not in tree(profile)["workload"][0]:
        return
    # So low that the rate of a stream of several is no whole number.
    total = 0.0
    for thread in build_scenario(tree(profile, rate="20 IO/s")).jobs[0].threads:
        sides = {"read": (0,), "write": (1,), "read_write": (0, 1)}[thread["direction"]]
        own = [thread["caps"][side]["bytes_per_s"] / thread["sizes"][side]["min"] for side in sides]
        assert min(own) > 0, "0 would be no cap at all"
        total += sum(own)
    assert total == pytest.approx(20, rel=1e-3)


def test_the_streams_of_spc_1_like_add_up() -> None:
    reads = writes = sequential = 0.0
    for thread in threads("spc-1-like"):
        rates = [
            cap["bytes_per_s"] / size["min"] / 1000
            for cap, size in zip(thread["caps"], thread["sizes"], strict=True)
        ]
        own = (
            rates[0] * (thread["direction"] != "write"),
            rates[1] * (thread["direction"] != "read"),
        )
        reads, writes = reads + own[0], writes + own[1]
        sequential += 0 if thread["random"] else sum(own)
    # Gill and Modha: 40 % reads, 40 % sequential.
    assert reads + writes == pytest.approx(1.0, abs=0.02)
    assert reads == pytest.approx(0.39, abs=0.02)
    assert sequential == pytest.approx(0.386, abs=0.02)


@pytest.mark.parametrize(
    ("profile", "reads", "sizes_kib"),
    [("vdi-boot", 0.86, (36, 10)), ("vdi-steady", 0.25, (18, 10))],
)
def test_desktops_have_the_shares_and_mean_sizes_of_their_sources(
    profile: str, reads: float, sizes_kib: tuple[int, int]
) -> None:
    (thread,) = threads(profile)
    for size, mean in zip(thread["sizes"], sizes_kib, strict=False):
        assert sum(each * share for each, share in size["split"]) / 100 == mean << 10
    (row,) = simulate(build_scenario(tree(profile, area="20 GB"))).results
    assert row["read"]["ios"] / row["ios"] == pytest.approx(reads, abs=0.04)
    assert row["iops"] == pytest.approx(1000, rel=0.15)


@pytest.mark.parametrize("profile", ["oltp", "mail", "ai-training"])
def test_a_profile_runs_at_its_rate(profile: str) -> None:
    rows = simulate(build_scenario(tree(profile, area="20 GB"))).results
    assert all(row["ios"] > 0 for row in rows)
    if profile != "ai-training":
        rate = sum(row["iops"] for row in rows)
        assert rate == pytest.approx(1000, rel=0.15)


@pytest.mark.parametrize("profile", ["mail", "vdi-steady", "oltp"])
def test_a_low_rate_is_kept(profile: str) -> None:
    """A sixteenth of half of 20 IO/s is less than one a second."""
    run = {"run": {"duration": "100 s", "precondition": "filled"}}
    rows = simulate(build_scenario(tree(profile, rate="20 IO/s", area="20 GB") | run)).results
    # 2,000 I/Os: certain to 2 %.
    assert sum(row["iops"] for row in rows) == pytest.approx(20, rel=0.1)


def test_a_profile_wants_a_rate_or_none() -> None:
    without = tree("oltp")
    del without["workload"][0]["rate"]
    with pytest.raises(SpecError, match='of the whole profile, such as "5000 IO/s"'):
        build_scenario(without)
    with pytest.raises(SpecError, match="goes as fast as it can"):
        build_scenario(tree("backup", rate="10 IO/s"))
    with pytest.raises(SpecError, match="is settled by the job file"):
        build_scenario(tree("oltp", outstanding=4))


def test_a_name_is_no_name_of_a_job_of_another_workload() -> None:
    """A limit of `mail` would count for the row `mail.x`."""
    one = tree("mail")
    one["workload"][0]["name"] = "mail"
    other = {"name": "mail.x", "rw": "randread", "block_size": "4 KiB", "outstanding": 1}
    one["workload"].append({**other, "target": one["workload"][0].get("target", "")})
    with pytest.raises(SpecError, match="does not begin with mail"):
        build_scenario(one)
    one["workload"][1]["name"] = "mailx"
    build_scenario(one)
