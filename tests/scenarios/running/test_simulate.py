"""Simulations end to end: figures worked out by hand, the same bytes on any number of workers."""

import json
import math
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import raidlab
from raidlab.devices.faults import SpecError
from raidlab.scenarios import _engine
from raidlab.scenarios.planning.scenario import build_scenario
from raidlab.scenarios.results.intervals import PERCENTILES, uncertain
from raidlab.scenarios.results.result import merge_loads
from raidlab.scenarios.running.simulate import HEEDS_PAST, Interrupted, run_plans, simulate
from raidlab.scenarios.running.store import Store, run_key


def scenario(drives, level="jbod", count=1, host="generic", **changes):
    workload = {"rw": "randread", "block_size": "4 KiB", "area": "32 GB"}
    workload |= {} if "rate" in changes else {"outstanding": [1, 2]}
    return build_scenario(
        {
            "title": "fixed time",
            "host": {"model": host},
            "array": [
                {"level": level, "drives": [{"model": str(drives / "sas.toml"), "count": count}]}
            ],
            "workload": [workload | changes],
            "run": {"warm_up": "100 ms", "duration": "2 s", "replications": 2},
        }
    )


def test_one_outstanding_costs_what_its_stages_cost(drives):
    """Host 2.5 + 2 us, drive 1 ms, 4096 bytes over SAS 6G at 510 MB/s: 8.03 us."""
    result = simulate(scenario(drives))
    row = result.results[0]
    expected_us = 2.5 + 1000 + 4096 / 510e6 * 1e6 + 2
    assert row["latency_us"]["mean"] == pytest.approx(expected_us, abs=0.01)
    assert row["iops"] == pytest.approx(1e6 / expected_us, rel=1e-3)
    assert row["mib_per_s"] == pytest.approx(row["iops"] / 256)
    assert row["mb_per_s"] == pytest.approx(row["iops"] * 4096 / 1e6)
    assert row["bottleneck"].endswith("sas.0 at 99 %")


def test_the_parts_add_up_to_the_latency(drives):
    for row in simulate(scenario(drives)).results:
        assert sum(row["breakdown_us"].values()) == pytest.approx(row["latency_us"]["mean"])


def test_a_stream_from_a_disk_has_the_mediums_rate_in_blocks_of_every_size():
    """The disk reads 1 MiB ahead."""

    def rate(block):
        tree = {
            "array": [{"drives": [{"model": "generic-7200rpm"}]}],
            "workload": [{"rw": "read", "block_size": block, "area": "8 GiB", "outstanding": 1}],
            "run": {"warm_up": "1 s", "duration": "4 s"},
        }
        return simulate(build_scenario(tree)).results[0]["mb_per_s"]

    medium = rate("64 KiB")
    for block in ("2 MiB", "4 MiB", "8 MiB"):
        assert rate(block) == pytest.approx(medium, rel=0.02)


TIMELESS = """
kind = "host"
name = "timeless"
clock = "2 GHz"
threads = 2
submit = "0 us"
complete = "0 us"
raid_command = "0 us"
sata = "sata-6g"
sas = "sas-6g"
slot = "pcie-3.0-x16"
[sources]
all = "assumed"
"""


def test_a_load_on_whose_way_nothing_takes_time_is_reported(tmp_path):
    (tmp_path / "host.toml").write_text(TIMELESS)
    tree = {
        "host": {"model": str(tmp_path / "host.toml")},
        "array": [{"drives": [{"model": "null"}]}],
        "workload": [{"name": "reader", "rw": "randread", "block_size": "4 KiB", "area": "1 GB"}],
    }
    with pytest.raises(SpecError) as reported:
        simulate(build_scenario(tree))
    (fault,) = reported.value.faults
    assert (fault.key, fault.value) == ("workload", "reader")
    assert "takes time" in fault.allowed


def test_write_amplification_is_that_of_the_recorded_time():
    """A small area of a drive that all of it was written at random before."""

    def run(warm_up, duration):
        load = {"rw": "randwrite", "block_size": "4 KiB", "align": "4 KiB", "area": "40 GB"}
        times = {"warm_up": warm_up, "duration": duration}
        tree = {
            "array": [{"drives": [{"model": "sas2-ssd-400gb"}]}],
            "workload": [load | {"outstanding": 32}],
            "run": {"precondition": "steady-state"} | times,
        }
        row = simulate(build_scenario(tree)).results[0]
        (drive,) = (part for part in row["components"] if part["kind"] == "drive")
        return row["write_amplification"], drive

    warm, both = run("0 s", "1 s")[1]["figures"], run("0 s", "2 s")[1]["figures"]
    recorded, drive = run("1 s", "1 s")
    assert drive["figures"] == both
    host, nand = (both[key] - warm[key] for key in ("host_bytes_written", "nand_bytes_written"))
    assert (drive["written"]["host_bytes"], drive["written"]["nand_bytes"]) == (host, nand)
    assert recorded == nand / host


def test_independent_drives_add_up(drives):
    one = simulate(scenario(drives)).results[0]
    four = simulate(scenario(drives, "independent", 4)).results[0]
    assert four["iops"] == pytest.approx(4 * one["iops"], rel=1e-3)
    assert four["ios"] == four["read"]["ios"] == sum(count for _, count in four["read"]["bins"])
    # Fixed time: every I/O takes the same, alone or beside others.
    assert four["latency_us"]["p99"] == pytest.approx(one["latency_us"]["p99"], rel=0.01)


def test_bytes_do_not_depend_on_the_number_of_workers(drives):
    built = scenario(drives, outstanding=[1, 3, 8], rw="randrw")
    one = simulate(built, workers=1).to_json()
    assert one == simulate(built, workers=2).to_json() == simulate(built, workers=7).to_json()
    assert one != simulate(built, workers=1, seed=2).to_json()


def test_the_document_has_the_promised_shape(drives):
    document = json.loads(simulate(scenario(drives)).to_json())
    assert {"title", "seed", "version", "results", "events", "data", "warnings"} <= set(document)
    assert set(document["data"]) == {
        "acknowledged_writes", "lost_writes", "stale_reads", "corrupt_stripes",
    }  # fmt: skip
    for row in document["results"]:
        assert {
            "workload", "target", "outstanding", "replication", "replications", "iops",
            "iops_ci95", "mib_per_s", "mb_per_s", "latency_us", "read", "write",
            "breakdown_us", "write_amplification", "cache", "components", "bottleneck", "timeline",
        } <= set(row)  # fmt: skip
        assert {
            "min", "mean", "p50", "p90", "p95", "p99", "p99_9", "p99_99", "max",
        } <= set(row["latency_us"])  # fmt: skip
        assert set(row["breakdown_us"]) >= {
            "host", "link", "controller", "cache", "raid", "seek", "rotation", "transfer",
            "nand_read", "nand_program", "garbage_collection", "queue",
        }  # fmt: skip
        assert row["cache"] == {"read_hit_ratio": None, "write_hit_ratio": None}
        low, high = row["iops_ci95"]
        assert low <= row["iops"] <= high
        assert len(row["timeline"]["t_s"]) == len(row["timeline"]["iops"])
        assert {"name", "kind", "utilization", "queue_mean"} <= set(row["components"][0])
    assert document["breaches"] == []


def test_a_few_ios_have_no_interval_of_their_rate(drives):
    """In two seconds: of some four nothing is said, of some hundred within 40 %."""
    few, many = (simulate(scenario(drives, rate=rate)) for rate in ("2 IO/s", "50 IO/s"))
    assert 0 < few.results[0]["ios"] < 10
    assert few.results[0]["iops_ci95"] == [None, None]
    assert few.table()["iops_low"].to_list() == [None, None]
    (low, high), iops = many.results[0]["iops_ci95"], many.results[0]["iops"]
    assert 0.6 < low / iops < 1 < high / iops < 1.4


def test_a_drive_reports_that_its_queue_is_full():
    """32 of 64 I/Os wait before the drive; at 16 none does."""
    tree = {
        "array": [{"drives": [{"model": "s4610-480"}]}],
        "workload": [{"rw": "randread", "block_size": "4 KiB", "outstanding": [16, 64]}],
        "run": {"warm_up": "10 ms", "duration": "50 ms"},
    }
    few, many = (
        next(part for part in row["components"] if part["kind"] == "drive")
        for row in simulate(build_scenario(tree)).results
    )
    assert few["queue_depth"] == many["queue_depth"] == 32
    assert few["queue_mean"] <= 16 and many["queue_mean"] == pytest.approx(64, rel=0.05)


def test_tables_of_several_runs_fit_together(drives):
    """An interval that a short run does not have is a number that is not known."""
    tables = []
    for duration in ("10 ms", "2 s"):
        system = scenario(drives)
        tree = {**system.written, "run": {"warm_up": "1 ms", "duration": duration}}
        tables.append(simulate(build_scenario(tree)).table())
    assert tables[0].schema == tables[1].schema


def test_tables_and_pictures(drives):
    result = simulate(scenario(drives))
    table = result.table()
    assert table["outstanding"].to_list() == [1, 1, 2, 2]
    assert [line["replications"] for line in result.summary()] == [2, 2]
    figure = result.plot()
    assert "IO/s" in str(figure.layout) and "outstanding" in str(figure.layout)


def test_a_load_of_which_nothing_is_recorded_is_reported(drives):
    passes = scenario(drives, area="4 KiB", outstanding=1, passes=1)
    assert "ended within its warm-up (run.warm_up)" in simulate(passes).warnings[0]
    rare = scenario(drives, rate="0.01 IO/s")
    assert simulate(rare).warnings == (
        "workload-0: nothing was recorded, no I/O ended within 2 s (run.duration)",
    )


def test_an_open_load_beyond_what_is_served_is_reported(drives):
    """One drive of 1 ms serves 1000 I/Os a second."""
    too_much = simulate(scenario(drives, rate="1200 IO/s")).warnings
    assert too_much == (
        "workload-0: arrives at 1200 IO/s, more than is served: the queue grows, and the latencies"
        " grow with run.duration",
    )
    assert simulate(scenario(drives, rate="900 IO/s")).warnings == ()
    four = scenario(drives, "independent", 4, rate="900 IO/s")
    assert simulate(four).warnings == ()


@pytest.mark.parametrize(
    "given",
    [
        {"workers": 0},
        {"workers": 1.5},
        {"seed": -1},
        {"seed": "a"},
        {"seed": 1 << 63},
        {"seed": True},
    ],
)
def test_numbers_that_are_none_are_reported(drives, given):
    (name,) = given
    with pytest.raises(raidlab.SpecError, match=f"^{name} = .*: a whole number from"):
        simulate(scenario(drives), **given)


def test_what_a_file_holds_is_simulated_as_the_file_is(drives):
    built = scenario(drives)
    assert simulate(dict(built.written)).results == simulate(built).results
    with pytest.raises(raidlab.SpecError, match=r"scenario = .*: a scenario, the path"):
        simulate(5)
    with pytest.raises(raidlab.SpecError, match="array: is required and missing"):
        simulate({})


def test_public_names():
    for name in raidlab.__all__:
        assert getattr(raidlab, name) is not None
    with pytest.raises(AttributeError, match="nothing"):
        raidlab.nothing  # noqa: B018


def test_a_path_will_do(drives, tmp_path):
    file = tmp_path / "one.toml"
    file.write_text(
        f'[[array]]\ndrives = [{{ model = "{drives / "sas.toml"}" }}]\n'
        '[[workload]]\nprofile = "database"\narea = "1 GB"\n[run]\nduration = "100 ms"\n'
    )
    assert raidlab.simulate(file).title == "one"
    assert raidlab.load_scenario(str(file)).points == 1


def test_without_a_load_there_is_nothing_to_simulate(drives):
    tree = {"array": [{"drives": [{"model": str(drives / "sas.toml")}]}]}
    with pytest.raises(raidlab.SpecError, match="at least one"):
        simulate(build_scenario(tree))


def test_an_interrupted_simulation_keeps_what_is_done_and_goes_on(drives, tmp_path):
    built = scenario(drives, outstanding=[1, 2, 3, 4])
    done = 0

    def stop_after_three(finished, total):
        nonlocal done
        done = finished
        if finished == 3:
            raise KeyboardInterrupt

    with Store(tmp_path / "store.sqlite") as store:
        with pytest.raises(Interrupted) as caught:
            simulate(built, workers=1, progress=stop_after_three, store=store)
        assert caught.value.result.interrupted
        assert len(caught.value.result.results) == 3
        progress = []
        result = simulate(built, progress=lambda *at: progress.append(at), store=store)
        # The first three come from the store.
        assert progress[0] == (3, 8)
        assert result.to_json() == simulate(built).to_json()
        # What is complete stays: the third time nothing is run.
        simulate(built, progress=lambda *at: progress.append(at), store=store)
        assert progress[-1] == (8, 8) and progress[-2] == (8, 8)
        assert store.get(run_key(json.dumps(built.plan(0, 0) | HEEDS_PAST))) is not None


def test_a_run_stops_when_it_is_asked_to(drives):
    plan = scenario(drives).plan(0, 0)
    plan |= {"duration_ns": 10**15}
    asked = threading.Event()
    asked.set()
    with pytest.raises(KeyboardInterrupt):
        _engine.run(json.dumps(plan), lambda *_: asked.is_set())


def test_percentiles_with_fewer_than_100_ios_beyond_are_uncertain():
    assert uncertain(1_000_000) == []
    assert uncertain(999_999) == ["p99_99"]
    assert uncertain(10_000) == ["p99_9", "p99_99"]
    assert uncertain(9_999) == ["p99", "p99_9", "p99_99"]
    assert uncertain(0) == list(PERCENTILES)


def test_a_run_of_no_ios_shows_no_mean(drives):
    found = simulate(scenario(drives, rate="0.01 IO/s"))
    row = found.to_dict()["results"][0]
    assert row["ios"] == 0 and row["latency_us"] is None
    assert set(row["breakdown_us"].values()) == {None}
    assert row["latency_ci95_us"]["mean"] == [None, None]
    assert "null" in found.to_json()


def test_no_component_is_busier_than_there_is_time():
    """Transfers that are booked ahead at the edge of a short window used to count too much."""
    found = simulate(
        {
            "title": "t",
            "array": [
                {
                    "drives": [{"model": "sata-ssd-64gb", "count": 2}],
                    "level": "raid0",
                    "software_raid": "os",
                }
            ],
            "workload": [{"rw": "read", "block_size": "1 MiB", "outstanding": 1}],
            "run": {"warm_up": "20 ms", "duration": "3 ms", "precondition": "filled"},
        }
    )
    busy = [component["utilization"] for component in found.results[0]["components"]]
    assert max(busy) <= 1.0
    assert found.results[0]["uncertain"] == list(PERCENTILES)


def test_loads_put_together_are_one_distribution():
    def load(ios, bins, mean):
        known = {
            "latency_ci95_us": {"mean": [mean - 0.1, mean + 0.1]},
            "rank_half_widths": dict.fromkeys(PERCENTILES, 0.03),
        }
        side = {"ios": ios, "bytes": ios, "iops": ios, "mib_per_s": 1.0, "bins": bins} | known
        latency = {"min": bins[0][0] / 1e3, "mean": mean, "stddev": 0.0, "max": bins[-1][0] / 1e3}
        empty = side | {"ios": 0, "bytes": 0, "iops": 0.0, "mib_per_s": 0.0, "bins": []}
        return known | {
            "name": "db", "target": "data", "periods": [],
            "independent_batches": float(ios), "steady": True,
            "ios": ios, "errors": 1, "iops": ios, "iops_ci95": [ios - 3.0, ios + 3.0],
            "mib_per_s": 1.0, "mb_per_s": 1.0, "latency_us": latency,
            "read": side | {"latency_us": latency},
            "write": empty | {"latency_us": None}, "breakdown_us": {"seek": mean},
            "timeline": {"t_s": [1.0], "iops": [float(ios)], "latency_us": [mean]},
        }  # fmt: skip

    merged = merge_loads([load(90, [[1000, 90]], 1.0), load(10, [[9000, 10]], 9.0)])
    assert merged["ios"] == 100
    assert merged["latency_us"]["mean"] == pytest.approx(1.8)
    assert merged["latency_us"]["p90"] == 1.0
    assert merged["latency_us"]["p95"] == 9.0
    # 90 % at 1 and 10 % at 9: variance 0.9 x 0.64 + 0.1 x 51.84.
    assert merged["latency_us"]["stddev"] == pytest.approx(math.sqrt(0.9 * 0.64 + 0.1 * 51.84))
    assert merged["breakdown_us"] == {"seek": pytest.approx(1.8)}
    # Half widths 3 and 3 of independent loads: sqrt(18).
    assert merged["iops_ci95"][1] == pytest.approx(100 + math.sqrt(18))
    # Shares 0.9 and 0.1 of half widths of 0.1, and of ranks of 0.03.
    half = 0.1 * math.sqrt(0.82)
    assert merged["latency_ci95_us"]["mean"] == pytest.approx([1.8 - half, 1.8 + half])
    assert merged["latency_ci95_us"]["p90"] == [1.0, 9.0]
    assert merged["latency_ci95_us"]["p95"] == [9.0, 9.0]
    assert merged["latency_ci95_us"]["p99"] == [9.0, None]
    assert merged["independent_batches"] == 10.0
    assert merged["write"]["latency_ci95_us"]["mean"] == [None, None]
    rare = load(1, [[1000, 1]], 1.0) | {"iops_ci95": [None, None]}
    assert merge_loads([rare, load(90, [[1000, 90]], 1.0)])["iops_ci95"] == [None, None]
    assert merged["timeline"]["latency_us"] == [pytest.approx(1.8)]


def test_a_load_that_does_not_change_is_drawn_beside_one_that_does(drives):
    tree = {
        "array": [{"drives": [{"model": str(drives / "sas.toml")}]}],
        "workload": [
            {"name": "fixed", "profile": "streaming", "outstanding": 4, "area": "1 GB"},
            {"name": "varied", "profile": "database", "outstanding": [1, 2, 8], "area": "1 GB"},
        ],
        "run": {"warm_up": "0 s", "duration": "100 ms"},
    }
    figure = simulate(build_scenario(tree)).plot()
    rates = {trace.name: list(trace.x) for trace in figure.data if trace.showlegend}
    assert rates == {"fixed": [1, 2, 8], "varied": [1, 2, 8]}
    assert "outstanding I/Os of varied" in str(figure.layout)


def built(drive="p320h-700", **load):
    """Warnings and alignment of random writes of 4 KiB to a drive."""
    tree = {
        "array": [{"name": "data", "level": "jbod", "drives": [{"model": drive}]}],
        "workload": [{"rw": "randwrite", "block_size": "4 KiB", "area": "1 GB"} | load],
    }
    scenario = build_scenario(tree)
    return scenario.warnings, scenario.plan(0, 0)["workloads"][0]["align_bytes"]


def test_offsets_are_multiples_of_the_block_on_flash_and_of_a_sector_on_disks():
    assert built() == built("iodrive-320") == ((), 4096)
    assert built(block_size="1 KiB") == ((), 1024)
    assert built("sata-6g-hdd") == ((), 512)
    assert built(align="512 B") == ((), 512)
    assert built(align="8 KiB") == ((), 8192)
    assert built(area_start="8 KiB", hot_spot="1 MB", hot_start="4 KiB") == ((), 4096)


def test_random_ios_that_straddle_mapping_units_because_of_their_area_are_reported():
    (reported,), align = built(area_start="2 KiB")
    assert align == 2048
    assert reported.startswith("workload.0.area_start: is no multiple of the block")
    assert "touches 2 of the drives' mapping units of 4 KiB for 1" in reported
    (reported,), align = built(hot_spot="1 MB", hot_start="1 KiB")
    assert (reported.split(":")[0], align) == ("workload.0.hot_start", 1024)
    assert built(rw="write", area_start="2 KiB")[0] == built("iodrive-320")[0] == ()


def test_reads_of_what_was_never_written_are_reported():
    def warnings(*loads, **run):
        tree = {
            "array": [{"name": "data", "level": "independent", "drives": [{"model": "p320h-700"}]}],
            "workload": [
                {"block_size": "4 KiB", "align": "4 KiB", "area": "1 GB"} | load for load in loads
            ],
            "run": {"duration": "1 ms"} | run,
        }
        return simulate(build_scenario(tree)).warnings

    reads, writes = {"name": "reads", "rw": "randread"}, {"name": "writes", "rw": "randwrite"}
    never = "array data: 100 % of what its SSDs read was never written"
    (said,) = warnings(reads)
    assert never in said and 'run.precondition = "filled" writes it first' in said
    assert warnings(reads, precondition="filled") == ()
    # A load that writes there as well writes too little of it.
    assert any(
        "of what its SSDs read was never written" in each for each in warnings(reads, writes)
    )
    assert warnings(writes) == ()
    # What is filled is less than what is read: a quarter of it.
    (said,) = warnings(reads, precondition="filled", filled="250 MB", duration="20 ms")
    assert "array data: 7" in said and 'run.filled = "250 MB" leaves it out' in said


def test_ctrl_c_between_two_submissions_stops_what_runs(drives, monkeypatch):
    """It waited for the first run, which could take hours."""
    submit, calls = ThreadPoolExecutor.submit, []

    def interrupted(self, *arguments):
        if calls:
            raise KeyboardInterrupt
        calls.append(arguments)
        return submit(self, *arguments)

    monkeypatch.setattr(ThreadPoolExecutor, "submit", interrupted)
    plans = [
        json.dumps(scenario(drives).plan(0, 0, seed) | {"duration_ns": 10**15}) for seed in (1, 2)
    ]
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        run_plans(plans, {})
    assert time.monotonic() - begun < 10
