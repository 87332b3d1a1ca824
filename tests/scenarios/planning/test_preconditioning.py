"""What drives have been through: an array's history is shared out to its drives."""

import json
from functools import cache

import pytest

from raidlab.devices.faults import SpecError
from raidlab.devices.schema import PreconditioningLoad
from raidlab.scenarios.fio import jobfile
from raidlab.scenarios.planning.preconditioning import drive_histories, writes_of
from raidlab.scenarios.planning.scenario import build_scenario
from raidlab.scenarios.spec.schema import ScenarioTable
from tests.figures import result_of

GB = 10**9


def histories(level, drives, usable, precondition="steady-state", **array):
    table = ScenarioTable.model_validate(
        {
            "array": [{"level": level, "drives": [{"model": "x", "count": drives}]} | array],
            "workload": [{"profile": "file-copy", "area": "32 GB"}, {"profile": "streaming"}],
            "run": {"precondition": precondition},
        },
        strict=False,
    )
    capacities = [100 * GB] * drives
    loads = [writes_of(load, usable) for load in table.workload]
    return drive_histories(table, table.array[0], loads, usable, capacities)


def test_a_single_drive_is_filled_and_then_loaded_where_it_is_measured():
    (history,) = histories("jbod", 1, 100 * GB)
    assert history == (
        PreconditioningLoad("sequential", 0, 100 * GB, 128 * 1024, 100 * GB),
        # Reads leave nothing behind; the writes of the profile settle in their area.
        PreconditioningLoad("random", 0, 32 * GB, 64 * 1024, 0, ongoing=True, weight=1_000_000),
    )


@pytest.mark.parametrize(
    ("level", "drives", "usable", "share"),
    [("raid0", 4, 400, 8), ("raid1", 2, 100, 32), ("raid10", 4, 200, 16), ("raid5", 5, 400, 8)],
)
def test_every_drive_of_a_striped_array_sees_its_share(level, drives, usable, share):
    found = histories(level, drives, usable * GB)
    assert len(set(found)) == 1
    fill, settled = found[0]
    assert fill.written_bytes == 100 * GB
    assert settled.area_bytes == pytest.approx(share * GB, abs=4096)
    assert settled.area_bytes % 4096 == 0


def test_what_the_array_has_held_is_shared_by_its_drives():
    table = {"level": "raid0", "drives": [{"model": "x", "count": 2}]}
    scenario = ScenarioTable.model_validate(
        {"array": [table], "run": {"precondition": "filled", "filled": "60 GB"}}, strict=False
    )
    found = drive_histories(scenario, scenario.array[0], (), 200 * GB, [100 * GB] * 2)
    assert [load.written_bytes for (load,) in found] == [30 * GB, 30 * GB]


def test_drives_one_after_the_other_see_what_falls_on_them():
    first, second = histories("jbod", 2, 200 * GB)
    assert [load.area_bytes for load in first] == [100 * GB, 32 * GB]
    assert [(load.start_bytes, load.area_bytes) for load in second] == [(0, 100 * GB)]


def test_fresh_drives_have_no_history_and_a_stated_one_comes_last():
    assert histories("jbod", 1, 100 * GB, "fresh") == [()]
    history = [{"rw": "randwrite", "block_size": "4 KiB", "area": "10 GB", "written": "50 GB"}]
    (history,) = histories("jbod", 1, 100 * GB, "filled", history=history)
    assert history[1] == PreconditioningLoad("random", 0, 10 * GB, 4096, 50 * GB)


@pytest.mark.parametrize("level", ["jbod", "independent", "raid0", "raid10", "raid5"])
def test_what_an_array_does_not_use_of_its_drives_has_never_been_written(level):
    """Over-provisioning by `used`: half of each drive stays spare."""
    tree = {
        "controller": {"model": "lsi2208-1g-3.0"},
        "array": [
            {"level": level, "used": "100 GB", "drives": [{"model": "sas-6g-ssd", "count": 4}]}
        ],
        "workload": [{"rw": "randwrite", "block_size": "4 KiB"}],
        "run": {"precondition": "steady-state"},
    }
    plan = build_scenario(tree).plan(0, 0)
    used = 100 * GB // (64 * 1024) * 64 * 1024
    for array in plan["arrays"]:
        assert array["used_bytes"] == used
        for drive in array["drives"]:
            history = plan["devices"][plan["drives"][drive]["device"]]["history"]
            written = [load["area_bytes"] for load in history]
            assert written == pytest.approx([used, used], abs=4096)


def test_of_drives_of_two_sizes_the_larger_has_held_what_the_smaller_has():
    table = {"level": "raid0", "drives": [{"model": "x", "count": 2}]}
    scenario = ScenarioTable.model_validate(
        {"array": [table], "run": {"precondition": "filled"}}, strict=False
    )
    found = drive_histories(scenario, scenario.array[0], (), 200 * GB, [100 * GB, 400 * GB])
    assert [load.written_bytes for (load,) in found] == [100 * GB, 100 * GB]


@pytest.mark.parametrize(
    ("history", "key", "allowed"),
    [
        ({"area": "0 B"}, "area", 'above 0 B, or "whole"'),
        ({"written": "0 B"}, "written", "above 0 B"),
        ({"area_start": "900 GB"}, "area_start", "below 200000000000 B"),
        ({"area_start": "150 GB", "area": "60 GB"}, "area", "at most 50000000000 B"),
        ({"block_size": "2 MB", "area": "1 MB"}, "block_size", "at most the area of 1000000 B"),
        ({"block_size": "300 GB"}, "block_size", "at most the area of 200000000000 B"),
        ({"written": "1000 PB"}, "written", "at most 1000 times what the array holds, 200 GB"),
    ],
)
def test_a_history_that_cannot_have_been_is_reported_by_its_own_key(history, key, allowed):
    drive = {"model": "sas-6g-ssd"}
    load = {"rw": "randread", "block_size": "4 KiB"}
    with pytest.raises(SpecError) as refused:
        build_scenario({"array": [{"drives": [drive], "history": [history]}], "workload": [load]})
    (fault,) = refused.value.faults
    assert (fault.key, fault.value) == (f"array.0.history.0.{key}", history[key])
    assert fault.allowed.startswith(allowed)


STEADY = {"rw": "randwrite", "block_size": "4 KiB", "align": "4 KiB"}


def amplification(*loads):
    return _amplification(json.dumps(loads))


@cache
def _amplification(loads):
    tree = {
        "array": [{"drives": [{"model": "sas2-ssd-400gb"}]}],
        "workload": json.loads(loads),
        "run": {"precondition": "steady-state", "warm_up": "500 ms", "duration": "6 s"},
    }
    return result_of(tree).results[0]["write_amplification"]


def test_loads_settle_side_by_side_and_not_the_last_of_them():
    """Each half of a drive written at random is the drive written at random."""
    whole = amplification(STEADY | {"outstanding": 32})
    half = STEADY | {"outstanding": 16, "area": "200 GB"}
    halves = amplification(half, half | {"area_start": "200 GB"})
    assert halves == pytest.approx(whole, rel=0.03)
    # A stream beside it writes over one block after the other, and not all of the drive.
    stream = {"rw": "write", "block_size": "128 KiB", "outstanding": 1}
    assert 1.3 < amplification(STEADY | {"outstanding": 32}, stream) < whole


def test_a_hot_spot_counts_in_the_steady_state():
    """The emptiest block is often one whose cold units are moved again and again."""
    spot = {"outstanding": 32, "hot_spot": "20 GB", "hot_share": 0.9}
    assert amplification(STEADY | spot) > 1.08 * amplification(STEADY | {"outstanding": 32})


def test_loads_weigh_as_much_as_they_write():
    table = ScenarioTable.model_validate(
        {
            "array": [{"level": "jbod", "drives": [{"model": "x"}]}],
            "workload": [
                {"profile": "database", "rate": "3000 IO/s", "hot_spot": "10 GB"},
                {"rw": "write", "block_size": "64 KiB", "rate": "500 IO/s", "area": "50 GB"},
            ],
            "run": {"precondition": "steady-state"},
        },
        strict=False,
    )
    loads = [writes_of(load, 100 * GB) for load in table.workload]
    ((_, *settled),) = drive_histories(table, table.array[0], loads, 100 * GB, [100 * GB])
    database, stream = 0.33 * 8 * 3000, 64 * 500
    expected = [0.85 * database, 0.15 * database, stream]
    weights = [each / sum(expected) * 1e6 for each in expected]
    assert [load.weight for load in settled] == pytest.approx(weights, abs=1)
    assert [load.area_bytes for load in settled] == [10 * GB, 100 * GB, 50 * GB]


@pytest.mark.parametrize(
    ("model", "load", "area", "seconds"),
    [
        # A buffer that fills slowly: NAND takes in nearly what firmware lets through.
        ("sata-ssd-64gb", {"rw": "write", "block_size": "64 KiB"}, "32 GB", 1.5),
        # Collection works hard, and its own block must not start half empty in every tile.
        ("p3700-800", {"rw": "randwrite", "block_size": "64 KiB"}, "800 GB", 3),
        ("p3700-2000", {"rw": "randwrite", "block_size": "4 KiB"}, "2000 GB", 1.5),
        # Collection must not be ahead of the host: it would rest after seven seconds.
        ("p3700-2000", {"rw": "randwrite", "block_size": "4 KiB"}, "2000 GB", 10),
        ("sas2-ssd-400gb", {"profile": "file-copy"}, "32 GB", 3),
    ],
)
def test_what_is_recorded_after_a_short_warm_up_is_the_steady_state(model, load, area, seconds):
    workload = {"align": "4 KiB", "area": area, "outstanding": 64} | load
    first, last = thirds_of_a_run(model, workload, seconds, "steady-state")
    assert first == pytest.approx(last, rel=0.03)


def test_dies_that_so_much_was_written_to_at_random_are_not_in_step():
    """Neither does every tile end with a block that is half empty, nor is collection ahead."""
    load = {"rw": "randwrite", "block_size": "4 KiB"}
    history = [load | {"area": "2000 GB", "written": "5000 GB"}]
    workload = load | {"align": "4 KiB", "outstanding": 64}
    first, last = thirds_of_a_run("p3700-2000", workload, 12, "filled", history)
    assert first == pytest.approx(last, rel=0.03)


def thirds_of_a_run(model, workload, seconds, precondition, history=()):
    """Mean rates of the first and the last third of what is recorded."""
    tree = {
        "host": {"model": "generic"},
        "array": [
            {
                "name": "data",
                "level": "jbod",
                "drives": [{"model": model, "count": 1}],
                "history": list(history),
            }
        ],
        "workload": [workload],
        "run": {
            "warm_up": "300 ms",
            "duration": f"{seconds} s",
            "timeline_step": "100 ms",
            "precondition": precondition,
        },
    }
    (row,) = result_of(tree).results
    recorded = row["timeline"]["iops"][3:-1]
    third = len(recorded) // 3
    return [sum(part) / third for part in (recorded[:third], recorded[-third:])]


def test_jobs_of_fio_settle_as_the_same_load_of_a_scenario_does(tmp_path):
    """Two jobs beside each other: random writes of 8 KiB, and a log of twice its bytes an I/O."""
    (tmp_path / "two.fio").write_text(
        "[global]\nioengine=libaio\ndirect=1\nsize=1g\n[data]\nrw=randrw\nrwmixread=50\nbs=8k\niodepth=16\n"
        "[log]\nrw=write\nbs=16k\n[reader]\nrw=randread\nbs=4k\n"
    )
    same = [
        {"rw": "randrw", "read_share": 0.5, "block_size": "8 KiB", "outstanding": 16},
        {"rw": "write", "block_size": "16 KiB", "outstanding": 1, "area_start": "1 GiB"},
        {"rw": "randread", "block_size": "4 KiB", "outstanding": 1},
    ]
    found = []
    for loads in ([{"fio": "two.fio"}], [load | {"area": "1 GiB"} for load in same]):
        tree = {
            "array": [{"drives": [{"model": "p3700-800"}]}],
            "workload": loads,
            "run": {"precondition": "steady-state"},
        }
        scenario = build_scenario(tree, tmp_path / "scenario.toml")
        found.append(scenario.base["devices"][0]["history"])
    assert found[0] == found[1]
    assert [each["weight"] for each in found[0][1:]] == [800_000, 200_000]


def plan_of(tmp_path, **scenario):
    """The history of one SSD in steady state."""
    tree = {
        "array": [{"drives": [{"model": "sata-ssd-64gb"}]}],
        "run": {"precondition": "steady-state"},
    }
    sections = scenario.pop("sections", None)
    found = build_scenario(tree | scenario, tmp_path / "s.toml", sections=sections)
    return found.plan(0, 0)["devices"][0]["history"]


def test_loads_that_come_later_are_taken_as_random_in_steady_state(tmp_path):
    """fio's jobs and SimPy's processes are not known when the drives are prepared."""
    fill, settled = plan_of(tmp_path)
    assert (fill["access"], fill["written_bytes"]) == ("sequential", 64 * GB)
    assert settled["access"] == "random" and settled["ongoing"]
    assert (settled["area_bytes"], settled["written_bytes"]) == (64 * GB, 0)
    reads = {"rw": "randread", "block_size": "4 KiB"}
    assert plan_of(tmp_path, workload=[reads]) == [fill]


def test_jobs_that_were_read_elsewhere_settle_with_their_own_writes(tmp_path):
    text = "[a]\nrw=randwrite\nbs=16k\nsize=1g\n"
    sections = jobfile.parse(text, "x.fio")
    _, settled = plan_of(tmp_path, workload=[{"fio": "x.fio"}], sections=sections)
    assert (settled["area_bytes"], settled["block_bytes"]) == (1 << 30, 16384)
