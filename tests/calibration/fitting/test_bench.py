"""The bench under loads that last longer than a write buffer: NAND's rate, not the buffer's."""

import copy
import json
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from raidlab.calibration.fitting.bench import ssd_state
from raidlab.calibration.fitting.bench.bench import FINAL, Bench, Effort
from raidlab.calibration.fitting.bench.scenario_bench import bench_of
from raidlab.calibration.fitting.comparison.compare import Compared, out_of_balance
from raidlab.calibration.fitting.parameters.kinds import TEMPLATES
from raidlab.calibration.fitting.recovery import load
from raidlab.calibration.measurements.measurement import Measurement
from raidlab.cli import app
from raidlab.devices.catalogue import find_for, load_device
from raidlab.devices.faults import SpecError
from raidlab.devices.schema import DriveOptions
from raidlab.devices.spec_writer import device_toml
from raidlab.scenarios import _engine
from raidlab.scenarios.planning.scenario import build_scenario
from raidlab.scenarios.running.simulate import simulate

EFFORT = Effort(ios=8000, rounds=20.0, programs=100.0)


@pytest.fixture
def slowed(tmp_path):
    """An SSD whose programs take this many times as long as the template's."""

    def made(times, template="ssd.toml"):
        device = load_device(TEMPLATES / template)
        tree = copy.deepcopy(dict(device.written))
        programs = [text.split() for text in tree["nand"]["program"]]
        tree["nand"]["program"] = [f"{float(time) * times:g} {unit}" for time, unit in programs]
        path = tmp_path / "slowed.toml"
        path.write_text(device_toml(tree, {"all": {"source": "assumed", "note": "test"}}, []))
        return path

    return made


def on_bench(path, host="ahci"):
    return Bench.of(find_for("--device", str(path)).spec, find_for("--host", host).spec)


def scenario(path, host="ahci", rw="randwrite", **run):
    tree = {
        "title": "one drive",
        "host": {"model": host, "threads": 1},
        "array": [{"drives": [{"model": str(path)}]}],
        "workload": [{"rw": rw, "block_size": "4 KiB", "align": "4 KiB", "outstanding": 8}],
        "run": run,
    }
    return build_scenario(tree)


def writes(depth, iops=45_000.0):
    point = load("randwrite", depth)
    return point.model_copy(update={"write": point.write.model_copy(update={"iops": iops})})


def ceiling(path):
    """4 KiB writes a second that the dies program, by hand."""
    nand = find_for("--device", str(path)).spec.nand
    dies = nand.channels * nand.dies_per_channel
    program_s = sum(nand.program) / len(nand.program) / 1e9
    return dies * nand.planes * nand.page / program_s / 4096


@pytest.mark.parametrize("depth", [8, 64])
def test_a_host_hardly_faster_than_nand_does_not_write_into_an_empty_buffer(slowed, depth):
    # The host makes 333,000 writes a second, NAND 318,000: a buffer takes long to fill.
    path = slowed(1.34, "nvme.toml")
    found = on_bench(path, "nvme").run(writes(depth, ceiling(path)), EFFORT)
    assert found.iops == pytest.approx(ceiling(path), rel=0.01)


def test_a_drive_agrees_with_a_long_run_of_itself(slowed):
    path = slowed(1.5, "nvme.toml")
    run = {"precondition": "filled", "warm_up": "2 s", "duration": "1 s"}
    rate = simulate(scenario(path, "nvme", **run)).results[0]["iops"]
    found = on_bench(path, "nvme").run(writes(8, rate), EFFORT)
    assert found.iops == pytest.approx(rate, rel=0.01)


@pytest.mark.parametrize("state", ["fresh", "filled"])
@pytest.mark.parametrize("depth", [1, 8])
def test_a_scenario_of_the_drive_is_the_same_bench(slowed, state, depth):
    path = slowed(10.0)
    around = bench_of(scenario(path, precondition=state))
    alone = on_bench(path).run(writes(depth, 10_000.0), EFFORT)
    found = around.run(writes(depth, 10_000.0), EFFORT)
    assert found.iops == pytest.approx(alone.iops, rel=0.01)
    assert found.iops == pytest.approx(ceiling(path), rel=0.01)


def test_a_scenario_says_how_long_the_warm_up_is(slowed):
    path = slowed(2.0)
    named = bench_of(scenario(path, warm_up="7 s")).plan(writes(8), EFFORT)
    assert named["warm_up_ns"] == 7_000_000_000
    assert bench_of(scenario(path)).plan(writes(8), EFFORT)["warm_up_ns"] < 1_000_000_000


def test_a_buffer_in_steady_state_is_full_too(slowed):
    device = on_bench(slowed(2.0)).device
    point = writes(8).model_copy(update={"state": "steady-state"})
    drive, share = ssd_state.prepared(device, point, 1.0, 8000)
    assert share == 1.0 and drive["history"][-1]["ongoing"]


def test_the_points_writes_settle_where_the_scenarios_own_load_only_reads(slowed):
    path = slowed(2.0)
    own = bench_of(scenario(path, precondition="steady-state")).plan(writes(8), EFFORT)
    reads = scenario(path, rw="randread", precondition="steady-state")
    put_in = bench_of(reads).plan(writes(8), EFFORT)
    expected, settled = (plan["devices"][0]["history"][-1] for plan in (own, put_in))
    assert settled["written_bytes"] == 0 and settled["ongoing"]
    assert settled == {key: expected[key] for key in settled}


def test_a_measurement_of_another_state_is_named():
    measured = writes(8).model_copy(update={"state": "steady-state"})
    bench = bench_of(scenario("sata-ssd-64gb"))
    (doubt,) = bench.doubts([measured])
    assert "drives were steady-state, the scenario's are fresh (run.precondition)" in doubt
    same = bench_of(scenario("sata-ssd-64gb", precondition="steady-state"))
    assert same.doubts([measured]) == []
    disks = bench_of(scenario("sas-6g-hdd", "generic"))
    assert disks.doubts([measured]) == []


def test_reads_of_what_was_never_written_are_named(slowed, tmp_path):
    measured = tmp_path / "m.json"
    measured.write_text(Measurement(name="m", points=(load("randread", 1),)).to_json())
    path = slowed(2.0)
    text = f'title = "s"\nhost = {{ model = "ahci" }}\narray = [{{ drives = ["{path}"] }}]\n'
    text += 'workload = [{ rw = "randread", block_size = "4 KiB", align = "4 KiB" }]\n'
    given = tmp_path / "s.toml"

    def warnings(more=""):
        given.write_text(text.replace(f'["{path}"]', f'[{{ model = "{path}" }}]') + more)
        words = ["compare", str(measured), "--scenario", str(given), "--json"]
        done = CliRunner().invoke(app, words)
        assert done.exit_code == 0, done.output
        return " ".join(json.loads(done.stdout)["warnings"])

    assert "reads what was never written" in warnings().replace("points read", "reads")
    assert "never written" not in warnings('[run]\nprecondition = "filled"\n')


def test_a_point_of_inner_tracks_is_simulated_there(slowed):
    """Its area was taken for the first bytes of the drive, where a disk is fastest."""
    disk = on_bench("generic-7200rpm", "generic")
    stream = load("read", 4, 1, 128 * 1024)
    outer = stream.model_copy(update={"area_bytes": 1 << 30})
    last = (disk.capacity - (1 << 30)) >> 20 << 20
    inner = outer.model_copy(update={"area_start_bytes": last})
    rates = [disk.run(point, Effort(ios=2000)).iops for point in (outer, inner)]
    assert disk.plan(inner, EFFORT)["workloads"][0]["area_start_bytes"] == last
    assert 0.4 < rates[1] / rates[0] < 0.7
    with pytest.raises(SpecError, match="area_bytes"):
        disk.plan(inner.model_copy(update={"area_start_bytes": disk.capacity}), EFFORT)
    # Blocks of an SSD lie anywhere.
    ssd = on_bench(slowed(1.0))
    assert ssd.plan(inner, EFFORT)["workloads"][0]["area_start_bytes"] == 0


def deep(iops):
    """128 reads in flight of 4 jobs, at a rate."""
    point = load("randread", 32, jobs=4)
    return point.model_copy(update={"read": point.read.model_copy(update={"iops": iops})})


def test_ios_in_flight_of_starving_jobs_are_rate_times_mean_latency():
    # The host gives one job after the other the whole drive: the others wait for seconds.
    bench, point = on_bench(TEMPLATES / "ssd.toml", "sas2008"), deep(60_000.0)
    short = bench.run(point, EFFORT)
    assert abs(short.imbalance(point.outstanding)) > 0.1
    for effort in (FINAL, replace(EFFORT, balance=0.03, ios=60_000)):
        found = bench.run(point, effort)
        assert found.iops * found.latency_mean_us / 1e6 == pytest.approx(128, rel=0.03)
    assert found.latency_mean_us > 1.1 * short.latency_mean_us


def recorded(bench, point, effort):
    workload = json.loads(_engine.run(json.dumps(bench.plan(point, effort))))["workloads"][0]
    return workload["read"]["ios"] + workload["write"]["ios"]


def test_only_a_run_in_which_jobs_starve_goes_on():
    bench = on_bench(TEMPLATES / "ssd.toml", "sas2008")
    # One job waits for nobody: those of a slow drive are enough.
    assert recorded(bench, load("randread", 8), FINAL) == 4000
    starving = recorded(bench, deep(60_000.0), FINAL)
    # Four jobs have slices of 75 ms, 4,500 reads each: a run takes some rounds of these.
    assert 4 * 4500 < starving < 250_000
    plan = bench.plan(deep(60_000.0), replace(FINAL, balance=1e-9))
    plan["balance"]["most_ios"] = 20_000
    workload = json.loads(_engine.run(json.dumps(plan)))["workloads"][0]
    assert 20_000 <= workload["read"]["ios"] < 25_000


def test_balance_is_of_closed_loads_alone():
    plan = on_bench(TEMPLATES / "ssd.toml").plan(load("randread", 8), FINAL)
    plan["workloads"][0]["arrival"]["think_ns"] = 1000
    plan["balance"]["share"] = 0.0
    with pytest.raises(_engine.PlanError) as refused:
        _engine.run(json.dumps(plan))
    assert "closed without think time" in str(refused.value)
    assert "balance.share" in str(refused.value)


def test_a_long_run_of_writes_sets_off_no_collection():
    # A part had as many blocks of 64 pages as the drive has of 2,304: 17 of 610 GB. A million
    # writes of 4 KiB wrote more than a tenth of that, and rates fell by a third.
    device = find_for("--device", "s4610-480").spec
    plan = device.to_plan(DriveOptions())
    cut, share = ssd_state.prepared(plan, writes(32), 1.0, 1_000_000)
    pages = cut["nand"]["blocks_per_plane"] * cut["nand"]["pages_per_block"]
    programs = ssd_state.ios_of_programs(plan, writes(32))
    assert pages * programs >= 10 * 1_000_000
    assert share == pytest.approx(cut["capacity_bytes"] / plan["capacity_bytes"])


def test_a_run_that_stays_out_of_balance_is_named():
    bench, point = on_bench(TEMPLATES / "ssd.toml", "sas2008"), deep(60_000.0)
    short = bench.run(point, EFFORT)
    # 62,000 reads a second of 0.92 ms are 57.04 in flight, 55 % below 128.
    off = replace(short, iops=62_000.0, latency_mean_us=920.0)
    even = replace(short, iops=64_000.0, latency_mean_us=2_000.0)
    assert out_of_balance([Compared(point, even)]) == []
    (said,) = out_of_balance([Compared(point, off), Compared(point, even)])
    assert "1 of 2 points" in said
    assert "55% below the I/Os in flight at randread 4k, depth 32, 4 jobs" in said
