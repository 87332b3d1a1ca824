"""Settings of a controller become cache policies; what has no effect is reported."""

import json

import pytest

from raidlab.devices.faults import SpecError
from raidlab.scenarios import _engine
from raidlab.scenarios.planning.scenario import build_scenario
from raidlab.scenarios.running.simulate import simulate


def scenario(
    drive, model="lsi2208-1g-3.0", level="raid5", count=8, load=None, run=None, **settings
):
    return build_scenario(
        {
            "controller": {"model": model} | settings,
            "array": [{"level": level, "drives": [{"model": str(drive), "count": count}]}],
            "workload": [load or {"profile": "database", "area": "4 GB"}],
            "run": run or {"warm_up": "1 s", "duration": "2 s"},
        }
    )


def array(drive, **settings):
    return scenario(drive, **settings).plan(0, 0)["arrays"][0]


def test_left_alone_it_protects_data(drives):
    sas = drives / "sas.toml"
    policy = {"write": "write_back", "read_ahead": "adaptive", "keep_reads": False}
    assert array(sas)["cache"] == policy
    assert array(sas, backup="none")["cache"]["write"] == "write_through"
    assert array(sas, model="lsi1068", level="raid0", count=4)["cache"] is None


def test_write_back_without_backup_is_write_through_and_reported(drives):
    found = scenario(drives / "sas.toml", write="write-back", backup="none")
    assert found.plan(0, 0)["arrays"][0]["cache"]["write"] == "write_through"
    assert any("falls to write-through" in warning for warning in found.warnings)
    found = scenario(drives / "sas.toml", write="always-write-back", backup="none")
    assert found.plan(0, 0)["arrays"][0]["cache"]["write"] == "always_write_back"


def test_fast_path_wants_its_settings(drives):
    sas = drives / "sas.toml"
    assert array(sas, level="raid0", fast_path=True)["fast_path"]
    found = scenario(sas, level="raid0", fast_path=True, write="always-write-back")
    assert not found.plan(0, 0)["arrays"][0]["fast_path"]
    assert any("fast_path" in warning for warning in found.warnings)
    with pytest.raises(SpecError, match="has no FastPath"):
        scenario(sas, model="lsi2108", level="raid0", fast_path=True)


IN_HOST = {"software_raid": "os", "bitmap": "none"}


def test_an_array_in_the_host_is_bypasses_the_cache_and_says_so(drives):
    tree = scenario(drives / "sas.toml", write="write-back", read_ahead="none").written
    found = build_scenario(
        tree | {"array": [tree["array"][0] | {"software_raid": "os", "bitmap": "none"}]}
    )
    assert found.plan(0, 0)["arrays"][0]["cache"] is None
    reported = [text.split(",")[0] for text in found.warnings if "no effect on array-0" in text]
    assert reported == ["controller.write: has no effect on array-0"]


def test_fast_path_leaves_other_arrays_their_defaults(drives):
    """Disks and parity have no use of the short path, and keep their policy."""
    sas = drives / "sas.toml"
    for drive, level in ((sas, "raid5"), ("sas-6g-hdd", "raid0")):
        plain, asked = (array(drive, level=level, fast_path=fast) for fast in (False, True))
        assert plain["cache"] is not None
        assert (asked["cache"], asked["fast_path"]) == (plain["cache"], False)
    assert array(sas, level="raid0", fast_path=True)["cache"] is None
    # To the controller the drives of an array in the host are single ones.
    tree = scenario(sas, fast_path=True).written
    found = build_scenario(tree | {"array": [tree["array"][0] | IN_HOST]})
    assert found.plan(0, 0)["arrays"][0]["fast_path"]
    assert found.warnings == ()


def test_a_level_that_a_controller_lacks_is_refused_with_those_it_has(drives):
    with pytest.raises(SpecError, match="a level that lsi2008 has: jbod, raid0, raid1"):
        scenario(drives / "sas.toml", model="lsi2008", level="raid5", count=4)


def rate(found):
    result = json.loads(_engine.run(json.dumps(found.plan(0, 0))))
    assert result["breaches"] == []
    return result["workloads"][0]["iops"]


def test_the_cache_slices_sequential_writes_into_full_stripes(drives):
    load = {"profile": "restore", "area": "4 GB", "outstanding": 8}
    through = rate(scenario(drives / "sas.toml", load=load, write="write-through"))
    back = rate(scenario(drives / "sas.toml", load=load, write="write-back"))
    # Each drive takes 1000 commands a second: 8000 for 7 units and a parity.
    assert back == pytest.approx(7000, rel=0.03)
    assert through < 0.5 * back


def test_striped_disks_stream_without_caches_of_their_own():
    """Each destage is a stripe unit on one disk: none may fall idle while others have several.

    The stream does not come back to its begin (32 GB take 18 s): there a choice by access time cuts
    it in two parts, which then overtake each other at three quarters of the rate.
    """
    load = {"rw": "write", "block_size": "64 KiB", "area": "32 GB", "outstanding": 16}
    run = {"warm_up": "5 s", "duration": "12 s"}
    with_caches, without = (
        rate(scenario("sas-6g-hdd", level="raid0", load=load, run=run, disk_cache=on))
        for on in (True, False)
    )
    assert without == pytest.approx(with_caches, rel=0.05)


def test_a_run_that_ends_before_the_cache_is_full_says_so(drives):
    """A cache of 1 GiB takes a second's writes in; once it is full, what comes in goes out."""

    def reported(warm_up, **settings):
        load = {"rw": "randwrite", "block_size": "64 KiB", "area": "32 GB", "outstanding": 64}
        run = {"warm_up": warm_up, "duration": "1 s"}
        found = scenario(drives / "sas.toml", load=load, run=run, **settings)
        return [w for w in simulate(found).warnings if "was not full yet" in w]

    (warning,) = reported("0 s", write="always-write-back")
    assert "lsi2208-1g-3.0" in warning
    assert "64 outstanding" in warning
    assert reported("8 s", write="always-write-back") == []
    assert reported("0 s", write="write-through") == []


def test_a_battery_that_learns_does_not_stop_the_host():
    """Writes over older data in the cache have those sent next, not after all of the cache."""
    found = build_scenario(
        {
            "controller": {"model": "lsi2108", "backup": "bbu", "disk_cache": False},
            "array": [{"level": "raid5", "drives": [{"model": "generic-15000rpm", "count": 4}]}],
            "workload": [
                {"rw": "randwrite", "block_size": "4 KiB", "outstanding": 32, "area": "4 GB"}
            ],
            "run": {"warm_up": "1 s", "duration": "20 s"},
            "event": [{"at": "4 s", "action": "battery-learn", "lasts": "15 s"}],
        }
    )
    (row,) = simulate(found).results
    assert min(row["timeline"]["iops"]) > 50


def test_a_reader_beside_a_full_cache_goes_before_destages():
    """Reads go before destages that wait for a drive: first come first served the reader has 34
    IO/s beside this writer, whose destages fill the queues of the drives and more."""
    reader = {"rw": "read", "block_size": "1 MiB", "outstanding": 2, "area_start": "100 TB"}
    writer = {"rw": "write", "block_size": "1 MiB", "outstanding": 24, "threads": 12}
    found = scenario(
        "exos-x20-sata", level="raid0", count=16, load=reader, write="always-write-back",
        read_ahead="none", run={"warm_up": "4 s", "duration": "4 s"},
    ).written  # fmt: skip
    found["array"][0]["stripe_unit"] = "256 KiB"
    found["controller"]["model"] = "lsi2208-1g"
    found["workload"].append(writer)
    results = simulate(build_scenario(found), workers=1).results
    assert results[0]["iops"] > 40
    assert results[1]["iops"] > 2300
