"""Job files on drives that take a fixed time: everything follows from it by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from raidlab.calibration.fio.native import run_line
from raidlab.devices.faults import SpecError
from raidlab.scenarios import _engine
from raidlab.scenarios.fio import jobfile
from raidlab.scenarios.fio.report import About, FioJob, fio_json
from raidlab.scenarios.planning.scenario import Scenario, build_scenario
from raidlab.scenarios.running.simulate import simulate

MS = 1_000_000
ABOUT: About = {"name": "card", "seed": 1, "notes": [], "version": "", "slowest": []}


def scenario(drives: Path, job: str, named: str = "", **run: Any) -> Scenario:
    """One drive of 1 ms a command behind a host that takes no time, or one of the catalogue."""
    host = drives / "free-host.toml"
    host.write_text(
        'kind = "host"\nname = "free-host"\nlike = "generic"\nsubmit = "0 ns"\ncomplete = "0 ns"\n'
        '[sources]\nsubmit = "assumed"\ncomplete = "assumed"\n'
    )
    tree = {
        "host": {"model": named or "free-host.toml"},
        "array": [{"name": "d", "drives": [{"model": "card.toml", "count": 1}]}],
        "workload": [{"fio": "x.fio"}],
        "run": run,
    }
    sections = jobfile.parse(job, "x.fio")
    return build_scenario(tree, drives / "s.toml", sections=sections)


def entries(drives: Path, job: str, named: str = "") -> list[FioJob]:
    checked = scenario(drives, job, named)
    found = json.loads(_engine.run(json.dumps(checked.plan(0, 0))))
    return fio_json(checked.jobs[0], found["threads"], ABOUT, bins=True)["jobs"]


def test_a_synchronous_job_makes_an_io_after_the_other(drives: Path) -> None:
    (job,) = entries(drives, "[a]\nrw=randread\nsize=400k\n")
    # 100 blocks, 1 ms each, and the link.
    assert job["read"]["total_ios"] == 100
    assert job["read"]["runtime"] == pytest.approx(100, abs=1)
    assert job["read"]["slat_ns"]["N"] == 0
    assert job["read"]["clat_ns"]["percentile"]["50.000000"] == pytest.approx(MS, rel=0.02)


@pytest.mark.parametrize("host", ["ahci", "sata-3g", "sas2008"])
def test_deep_jobs_share_the_places_of_a_hosts_scheduler(drives: Path, host: str) -> None:
    """Four jobs of 100 blocks, 64 outstanding: more than the places, each with a queue of its own.

    The drive takes 1 ms for each of the 400, and the job that ends last has waited for all.
    """
    text = "[global]\nrw=randread\nsize=400k\nioengine=libaio\niodepth=16\n"
    jobs = entries(drives, text + "".join(f"[j{number}]\n" for number in range(4)), host)
    assert [job["read"]["total_ios"] for job in jobs] == [100] * 4
    assert max(job["read"]["runtime"] for job in jobs) == pytest.approx(400, rel=0.02)


def test_stonewall_waits_and_groups(drives: Path) -> None:
    jobs = entries(
        drives,
        "[global]\nioengine=libaio\nsize=40k\ngroup_reporting\n"
        "[a]\nrw=read\nnumjobs=2\n[b]\nrw=write\nstonewall\n",
    )
    assert [(job["jobname"], job["groupid"]) for job in jobs] == [("a", 0), ("b", 1)]
    assert jobs[0]["read"]["total_ios"] == 20 and jobs[1]["write"]["total_ios"] == 10


def test_a_pause_comes_after_so_many_ios(drives: Path) -> None:
    job = "[a]\nrw=read\nsize=40k\nthinktime=5ms\nthinktime_blocks=5\n"
    (found,) = entries(drives, job)
    # 10 I/Os of 1 ms and two pauses of 5 ms, the last behind the last I/O.
    assert found["read"]["runtime"] == pytest.approx(20, abs=1)


def test_a_batch_waits_for_itself(drives: Path) -> None:
    options = "iodepth_batch=4\niodepth_batch_complete_min=4\niodepth=4"
    (job,) = entries(drives, f"[a]\nioengine=libaio\nrw=randread\nsize=160k\n{options}\n")
    # A drive of one server: four I/Os take 4 ms, and all count when the last one is there.
    assert job["read"]["clat_ns"]["min"] == pytest.approx(4 * MS, rel=0.02)
    assert job["iodepth_submit"]["4"] == 100.0


def test_runtime_and_ramp_and_loops(drives: Path) -> None:
    (job,) = entries(drives, "[a]\nrw=randread\nsize=40k\ntime_based\nruntime=1\nramp_time=500ms\n")
    assert job["read"]["total_ios"] == pytest.approx(1000, rel=0.02)
    assert job["job_runtime"] == pytest.approx(1000, abs=2)
    (job,) = entries(drives, "[a]\nrw=randread\nsize=40k\nloops=3\n")
    assert job["read"]["total_ios"] == 30
    (job,) = entries(drives, "[a]\nrw=randread\nsize=40k\nio_size=100k\n")
    assert job["read"]["total_ios"] == 25
    (job,) = entries(drives, "[a]\nrw=randread\nsize=1m\nnumber_ios=7\n")
    assert job["read"]["total_ios"] == 7


def test_a_fraction_of_a_time_is_cut_with_a_note_or_refused(drives: Path) -> None:
    job = "[a]\ndirect=1\nrw=randread\nsize=40k\ntime_based\nruntime={}\n"
    (run,) = entries(drives, job.format("1.5m"))
    assert run["job_runtime"] == pytest.approx(1000, abs=2)
    (said,) = scenario(drives, job.format("1.5m")).warnings
    assert "[a]: runtime: 1.5m is 1s" in said and "90s" in said
    with pytest.raises(SpecError, match=r"runtime.* = \"?0\.5.*500ms"):
        scenario(drives, job.format("0.5"))


def test_a_rate_is_kept_and_caught_up(drives: Path) -> None:
    (job,) = entries(drives, "[a]\nrw=randread\nsize=400k\nrate_iops=200\n")
    # 100 I/Os, 5 ms apart: the last begins at 495 ms.
    assert job["read"]["runtime"] == pytest.approx(496, abs=3)
    (job,) = entries(drives, "[a]\nrw=rw\nsize=800k\nrate=400k,200k\n")
    # 100 reads and 50 writes a second; fio draws directions evenly, and who may goes.
    assert job["read"]["iops"] == pytest.approx(100, rel=0.05)
    assert job["write"]["iops"] == pytest.approx(50, rel=0.05)


def test_a_pause_does_not_put_off_the_end_of_the_ramp(drives: Path) -> None:
    # An I/O every 4 s; the ramp ends after 2 s, and with it the debt of the I/O at 0 s.
    text = "[a]\nrw=randread\nsize=1m\ntime_based\nrate=1k\nramp_time=2\nruntime=3\n"
    (thread,) = json.loads(_engine.run(json.dumps(scenario(drives, text).plan(0, 0))))["threads"]
    assert thread["ended_ns"] == pytest.approx(5000 * MS, abs=2 * MS)
    (job,) = entries(drives, text)
    assert (job["read"]["total_ios"], job["job_runtime"]) == (1, 3000)


def test_a_job_waits_for_another(drives: Path) -> None:
    text = "[a]\nrw=read\nsize=40k\n[b]\nrw=read\nsize=40k\nwait_for=a\n"
    (a, b) = json.loads(_engine.run(json.dumps(scenario(drives, text).plan(0, 0))))["threads"]
    assert b["began_ns"] == a["ended_ns"]


def test_a_latency_target_finds_its_depth(drives: Path) -> None:
    options = "latency_target=5ms\nlatency_window=200ms\nlatency_percentile=95\niodepth=64"
    job = f"[a]\nioengine=libaio\nrw=randread\nsize=1g\ntime_based\nruntime=20\n{options}\n"
    (found,) = entries(drives, job)
    # One server of 1 ms: at depth n an I/O takes n ms.
    assert 3 <= found["latency_depth"] <= 5


def test_syncs_are_counted_apart(drives: Path) -> None:
    (job,) = entries(drives, "[a]\nrw=write\nsize=40k\nfsync=5\n")
    assert job["write"]["total_ios"] == 10
    assert job["sync"]["total_ios"] == 1


def test_a_workload_is_a_row(drives: Path) -> None:
    checked = scenario(drives, "[a]\nrw=randread\nsize=400k\n")
    result = simulate(checked)
    (row,) = result.results
    assert row["workload"] == "workload-0"
    assert row["ios"] == 100
    assert row["iops"] == pytest.approx(1000, rel=0.02)
    again = simulate(scenario(drives, "[a]\nrw=randread\nsize=400k\n"), workers=2)
    assert json.dumps(again.results) == json.dumps(result.results)


def test_faults_name_line_option_and_the_nearest(drives: Path) -> None:
    with pytest.raises(SpecError) as raised:
        scenario(drives, "[a]\nrw=randred\niodpeth=4\nsize=10%\nverify_only=1\nioengine=rbd\n")
    text = str(raised.value)
    assert 'x.fio:2: [a] rw = "randred"' in text and 'did you mean "randread"' in text
    assert "verify_only" in text and "rbd reaches its store over a network" in text


def test_an_unknown_option_is_an_error(drives: Path) -> None:
    with pytest.raises(SpecError) as raised:
        scenario(drives, "[a]\nrw=read\nsize=1m\n\niodpeth=4\n")
    expected = 'x.fio:5: [a] = "iodpeth": an option of fio; did you mean "iodepth"?'
    assert expected in str(raised.value)


def test_blocks_are_whole_sectors(drives: Path) -> None:
    with pytest.raises(SpecError, match="multiples of 512 B: I/O is direct"):
        scenario(drives, "[a]\nrw=read\nsize=1m\nbs=4160\n")


def test_jobs_run_beside_other_loads_and_end_with_the_run(drives: Path) -> None:
    tree = {
        "array": [{"name": "d", "drives": [{"model": "card.toml", "count": 1}]}],
        "workload": [
            {"name": "own", "rw": "randread", "block_size": "4 KiB"},
            {"name": "jobs", "fio": "x.fio"},
        ],
        "run": {"warm_up": "100 ms", "duration": "900 ms", "replications": 2},
    }
    job = "[a]\nrw=randread\nsize=1m\ntime_based\nruntime=60\n[b]\nrw=read\nsize=40k\n"
    sections = jobfile.parse(job, "x.fio")
    rows = simulate(build_scenario(tree, drives / "s.toml", sections=sections)).results
    names = [(row["workload"], row["replication"]) for row in rows]
    assert names == [(name, at) for at in (0, 1) for name in ("own", "jobs.a", "jobs.b")]
    # One server of 1 ms, two that always want it; the third has ten I/Os and is done.
    assert rows[0]["iops"] == pytest.approx(500, rel=0.05)
    assert rows[1]["iops"] == pytest.approx(500, rel=0.05)
    assert rows[2]["ios"] == 10


def test_keys_of_the_run_that_jobs_do_not_heed_are_faults(drives: Path) -> None:
    with pytest.raises(SpecError, match="a run with jobs of fio ends with them"):
        scenario(drives, "[a]\nrw=read\nsize=1m\n", max_ios=100)


def test_options_without_effect_are_listed(drives: Path) -> None:
    checked = scenario(drives, "[a]\nrw=read\nsize=1m\nprio=3\nrate_min=1m\n")
    assert any("prio has no effect" in warning for warning in checked.warnings)
    assert any("rate_min has no effect" in warning for warning in checked.warnings)


@pytest.mark.parametrize(
    ("option", "allowed"),
    [
        ("prio=9", "0 to 7"),
        ("prioclass=4", "0 to 3"),
        ("nice=-21", "-20 to 19"),
        ("direct=2", "0 or 1"),
        ("overwrite=yes", "0 or 1"),
        ("dedupe_percentage=150", "0 to 100"),
    ],
)
def test_values_of_options_without_effect_are_checked_as_fio_does(
    drives: Path, option: str, allowed: str
) -> None:
    key, _, value = option.partition("=")
    with pytest.raises(SpecError) as refused:
        scenario(drives, f"[a]\nrw=read\nsize=1m\n{option}\n")
    (fault,) = refused.value.faults
    assert str(fault) == f'x.fio:4: [a] {key} = "{value}": {allowed}'


@pytest.mark.parametrize(
    ("size", "allowed"), [("200%", "at most 100%"), ("20%", "bytes, for a file that is no device")]
)
def test_nothing_follows_from_a_size_that_cannot_be(drives: Path, size: str, allowed: str) -> None:
    with pytest.raises(SpecError) as refused:
        scenario(drives, f"[a]\nrw=read\nsize={size}\n")
    (fault,) = refused.value.faults
    assert fault.allowed.startswith(allowed)


def test_formats_that_fio_itself_writes_are_pointed_to() -> None:
    with pytest.raises(SpecError, match="json, json\\+; without --native `raidlab fio` runs fio"):
        run_line(["--output-format=terse", "job.fio"])


def test_what_fio_would_do_otherwise_is_said(drives: Path) -> None:
    names = "filename=/dev/sda:/dev/sdb\nruntime=1\ntime_based\n"
    said = scenario(drives, f"[a]\n{names}").warnings
    assert any("I/O is direct: fio itself uses the page cache" in each for each in said)
    assert any("[a]: /dev/sda, /dev/sdb are one array" in each for each in said)
    one = names.replace(":/dev/sdb", "")
    for job in (f"[a]\ndirect=1\n{one}", f"[a]\nioengine=io_uring_cmd\n{one}"):
        said = scenario(drives, job).warnings
        assert not any("direct" in each or "one array" in each for each in said)


def test_a_rate_says_the_time_that_it_is_over(drives: Path) -> None:
    """A job of 0.1 s in a run of 1 s: ios / span_s is its rate; one that runs on has no span."""
    short = "[short]\nrw=randread\nbs=4k\nsize=1m\nruntime=100ms\ntime_based\n"
    long = "[long]\nrw=randread\nbs=4k\nsize=1m\ntime_based\nruntime=100\n"
    (drives / "two.fio").write_text(short + long)
    tree = {
        "array": [{"drives": [{"model": "generic-15000rpm"}]}],
        "workload": [{"fio": str(drives / "two.fio")}],
        "run": {"warm_up": "0 s", "duration": "1 s"},
    }
    first, second = simulate(build_scenario(tree)).results
    assert first["span_s"] < 0.3
    assert first["ios"] / first["span_s"] == pytest.approx(first["iops"], rel=1e-6)
    assert second["ios"] / second.get("span_s", second["duration_s"]) == pytest.approx(
        second["iops"], rel=1e-6
    )
