"""A recorded trace as a load of a scenario: by itself, beside others, of several volumes."""

import gzip
import json

import pytest

from raidlab.calibration.traces.replay import Target, replay
from raidlab.devices.faults import SpecError
from raidlab.scenarios.planning.scenario import build_scenario, load_scenario
from raidlab.scenarios.planning.trace_files import Timing, TraceFile
from raidlab.scenarios.running.simulate import simulate
from raidlab.scenarios.running.store import run_key


def lines(count, volumes=1, gap_s=0.004):
    """Requests of 4 and 8 KiB at places that jump about, in the format spc; two of three read."""
    for number in range(count):
        sector = (number * 7919) % 50_000 * 16
        bytes_ = 4096 * (1 + number % 2)
        kind = "W" if number % 3 == 0 else "R"
        yield f"{number % volumes},{sector},{bytes_},{kind},{number * gap_s:.6f}"


@pytest.fixture
def trace(tmp_path):
    path = tmp_path / "load.spc"
    path.write_text("\n".join(lines(500)) + "\n")
    return path


def scenario(drives, *loads, model="sas.toml", **run):
    model = str(drives / model) if model.endswith(".toml") else model
    return {"array": [{"name": "data", "drives": [{"model": model}]}], "workload": list(loads)} | (
        {"run": run} if run else {}
    )


def test_a_trace_alone_is_what_it_says(drives, trace):
    """The drive takes 1 ms, requests come every 4 ms: nobody waits; the last comes at 1.996 s."""
    result = simulate(build_scenario(scenario(drives, {"trace": str(trace)})))
    (row,) = result.results
    assert (row["ios"], row["errors"], row["outstanding"]) == (500, 0, 0)
    assert row["read"]["ios"] == 333
    assert row["mb_per_s"] * row["duration_s"] == pytest.approx(500 * 6144 / 1e6)
    assert row["warm_up_s"] == 0
    assert row["duration_s"] == pytest.approx(1.996 + 1e-3, abs=1e-4)
    assert row["latency_us"]["max"] < 1100
    assert result.warnings == ()


@pytest.mark.parametrize(
    ("load", "timing"),
    [
        ({}, Timing()),
        ({"trace_timing": "full-speed", "outstanding": 8}, Timing(8, pauses=False)),
        ({"trace_timing": "pauses"}, Timing(1)),
    ],
)
def test_a_replay_is_the_run_of_a_traced_workload(trace, load, timing):
    disk = scenario(None, {"trace": str(trace)} | load, model="generic-7200rpm")
    disk["host"] = {"model": "generic", "threads": 1}
    own = simulate(build_scenario(disk), slowest=3, latency_map=True).results[0]
    target = Target.of_scenario(build_scenario(disk | {"workload": []}))
    found = replay(TraceFile(trace, "spc"), target, timing, slowest=3, latency_map=True)
    (other,) = found.result.results
    assert own["ios"] == 500 and own["outstanding"] == timing.outstanding
    named = {"workload": None}
    assert own | named == other | named
    assert len(other["slowest"]) == 3
    assert sum(count for column in other["read"]["latency_map"]["columns"] for _, count in column)


def test_a_closed_loop_has_its_number_in_flight(drives, trace):
    """The drive takes 1 ms: with 4 in flight each takes 4 ms by Little's law, all of them 0.5 s."""
    load = {"trace": str(trace), "trace_timing": "full-speed", "outstanding": 4}
    (row,) = simulate(build_scenario(scenario(drives, load))).results
    assert row["duration_s"] == pytest.approx(0.5, rel=0.01)
    assert row["latency_us"]["p50"] == pytest.approx(4000, rel=0.02)


def test_more_arrives_than_is_served_in_a_run_too(drives, tmp_path):
    """The drive takes 1 ms a command: 2000 requests take 2 s, and all of them are recorded."""
    path = tmp_path / "fast.spc"
    path.write_text("\n".join(lines(2000, gap_s=0.0005)) + "\n")
    result = simulate(build_scenario(scenario(drives, {"trace": str(path)})))
    assert any("more than is served" in each for each in result.warnings)
    (row,) = result.results
    assert row["ios"] == 2000 and row["duration_s"] == pytest.approx(2.0, rel=0.01)


def test_progress_counts_the_requests_of_a_trace(drives, trace):
    reported = []
    simulate(
        build_scenario(scenario(drives, {"trace": str(trace)})),
        progress=lambda *at: reported.append(at),
    )
    assert all(done <= total == 500 for done, total in reported)


def test_beside_another_load_each_has_its_row(drives, trace):
    other = {"name": "scan", "rw": "randread", "block_size": "64 KiB", "area": "32 GB"}
    alone = simulate(build_scenario(scenario(drives, {"trace": str(trace)}))).results[0]
    both = simulate(
        build_scenario(scenario(drives, {"name": "app", "trace": str(trace)}, other))
    ).results
    assert [row["workload"] for row in both] == ["app", "scan"]
    assert both[0]["ios"] == 500
    assert both[0]["latency_us"]["mean"] > 1.3 * alone["latency_us"]["mean"]
    assert both[1]["ios"] > 500


def test_volumes_lie_one_after_the_other_or_alone(drives, tmp_path):
    path = tmp_path / "two.spc.gz"
    path.write_bytes(gzip.compress("\n".join(lines(400, volumes=2)).encode()))
    both = build_scenario(scenario(drives, {"trace": str(path)}))
    assert any(
        "requests of 2 disks (ASU 0, ASU 1)" in each and "trace_volume chooses one" in each
        for each in both.warnings
    )
    assert simulate(both).results[0]["ios"] == 400
    one = {"trace": str(path), "trace_volume": "ASU 1"}
    assert simulate(build_scenario(scenario(drives, one))).results[0]["ios"] == 200


def test_a_limit_and_a_slower_clock_hold_for_traces(drives, trace):
    limited = {"trace": str(trace), "limit": "100 IO/s", "burst": "0 s"}
    row = simulate(build_scenario(scenario(drives, limited))).results[0]
    assert row["ios"] == 500
    assert row["duration_s"] == pytest.approx(4.99, abs=0.01)
    slow = {"trace": str(trace), "trace_slower": 2.0}
    row = simulate(build_scenario(scenario(drives, slow))).results[0]
    assert row["duration_s"] == pytest.approx(2 * 1.996, abs=0.01)


def test_a_given_duration_cuts_a_trace(drives, trace):
    tree = scenario(drives, {"trace": str(trace)}, warm_up="500 ms", duration="1 s")
    row = simulate(build_scenario(tree)).results[0]
    assert row["ios"] == pytest.approx(250, abs=1)
    assert row["duration_s"] == 1


def test_a_path_is_relative_to_the_file_and_its_content_counts(drives, trace, tmp_path):
    file = tmp_path / "scenario.toml"
    file.write_text(
        f'array = [{{ drives = [{{ model = "{drives / "sas.toml"}" }}] }}]\n'
        '[[workload]]\ntrace = "load.spc"\n'
    )
    plan = json.dumps(load_scenario(file).plan(0, 0))
    key = run_key(plan)
    trace.write_text(trace.read_text().replace("R", "W"))
    assert run_key(plan) != key


@pytest.mark.parametrize(
    ("load", "key", "said"),
    [
        ({"trace": "none.spc"}, "workload.0.trace", "No such file"),
        ({"trace_format": "spc"}, "workload.0.trace_format", "without `trace`"),
        ({"trace": "T", "trace_format": "spcc"}, "workload.0.trace_format", "one of"),
        ({"trace": "T", "trace_format": "msr"}, "line 1", ""),
        ({"trace": "T", "trace_volume": "7"}, "workload.0.trace_volume", "one of ASU 0"),
        (
            {"trace": "T", "trace_columns": "op=x offset=y size=z"},
            "workload.0.trace_columns",
            "columns for time",
        ),
        ({"trace": "T", "trace_slower": 0}, "workload.0.trace_slower", "greater than 0"),
        ({"trace": "T", "rate": "5 IO/s"}, "workload.0.rate", "the trace says"),
        ({"trace": "T", "outstanding": 5}, "workload.0.outstanding", "the trace says"),
        (
            {"trace": "T", "trace_timing": "pauses", "outstanding": [1, 2]},
            "workload.0.outstanding",
            "one number",
        ),
        ({"trace": "T", "trace_timing": "pause"}, "workload.0.trace_timing", "full-speed"),
        ({"trace": "T", "profile": "database"}, "workload.0.profile", "the trace says"),
        ({"trace": "T", "area": "1 GB"}, "workload.0.area", "the trace says"),
    ],
)
def test_mistakes_are_named(drives, trace, load, key, said):
    named = {name: str(trace) if value == "T" else value for name, value in load.items()}
    with pytest.raises(SpecError) as caught:
        build_scenario(scenario(drives, named))
    found = {fault.key: fault.allowed for fault in caught.value.faults}
    assert said in found[key]


def test_requests_beyond_the_array_are_refused_or_brought_in(drives, trace):
    small = scenario(drives, {"trace": str(trace)}, model="small.toml")
    with pytest.raises(SpecError, match="within the 2097152 bytes"):
        build_scenario(small)
    small["workload"][0]["trace_beyond"] = "wrap"
    brought = build_scenario(small)
    assert any("taken modulo its size" in each for each in brought.warnings)
    assert simulate(brought).results[0]["ios"] == 500


def test_a_steady_state_has_been_written_by_more_than_one_pass(trace):
    disk = scenario(None, {"trace": str(trace)}, model="p3700-800")
    histories = [
        build_scenario(disk | {"run": {"precondition": state}})
        .base["devices"][0]
        .get("history", ())
        for state in ("fresh", "filled", "steady-state")
    ]
    assert [len(history) for history in histories] == [0, 1, 2]
    assert histories[2][1]["ongoing"] and histories[2][1]["block_bytes"] == 4096
