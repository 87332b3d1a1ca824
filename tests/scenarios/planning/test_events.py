"""Events of a scenario: what happens, what becomes of the data, what cannot happen."""

import pytest

from raidlab.devices.faults import SpecError
from raidlab.scenarios.planning.scenario import build_scenario
from raidlab.scenarios.running.simulate import simulate


def tree(drive, *events, level="raid5", spares=0, **settings):
    return {
        "controller": {"model": "lsi2208-1g-3.0"} | settings,
        "array": [
            {
                "name": "data",
                "level": level,
                "drives": [{"model": str(drive), "count": 4}],
                "hot_spares": spares,
            }
        ],
        "workload": [{"profile": "database", "area": "64 MiB", "outstanding": 8}],
        "run": {"warm_up": "0 s", "duration": "2 s"},
        "event": list(events),
    }


def data(result):
    return {key: result.data[key] for key in ("lost_writes", "stale_reads", "corrupt_stripes")}


NOTHING = {"lost_writes": 0, "stale_reads": 0, "corrupt_stripes": 0}
POWER = {"at": "1 s", "action": "power-fail", "lasts": "0.1 s"}


def test_a_lost_drive_loses_nothing_and_its_spare_is_rebuilt(drives):
    fail = {"at": "1 s", "action": "fail-drive", "drive": 1}
    result = simulate(build_scenario(tree(drives / "sas.toml", fail, spares=1)))
    assert result.breaches == ()
    assert data(result) == NOTHING
    reported = [event["what"] for event in result.events]
    assert reported[0].endswith("failed")
    assert reported[1].startswith("rebuild on data/spare.0 begins")


def test_flash_backup_keeps_every_acknowledged_write_and_none_loses_the_dirty_ones(drives):
    sas = drives / "sas.toml"
    assert data(simulate(build_scenario(tree(sas, POWER, write="write-back")))) == NOTHING
    result = simulate(build_scenario(tree(sas, POWER, write="always-write-back", backup="none")))
    assert result.data["lost_writes"] > 0
    assert result.data["stale_reads"] == 0


@pytest.mark.parametrize("level", ["raid0", "raid10"])
@pytest.mark.parametrize("controller", [{"model": "lsi2008"}, None])
def test_an_event_after_the_end_changes_nothing(drives, level, controller):
    def rows(*events):
        asked = tree(drives / "sas.toml", *events, level=level)
        asked["controller"] = controller
        asked["workload"] = [
            {"rw": "randread", "block_size": "1 MiB", "outstanding": 4, "area": "1 GiB"}
        ]
        if controller is None:
            del asked["controller"]
            asked["array"][0]["software_raid"] = "os"
        (row,) = simulate(build_scenario(asked)).results
        return {key: row[key] for key in ("iops", "mib_per_s", "latency_us", "breakdown_us")}

    slow = {"at": "1 h", "action": "slow-drive", "drive": 1, "extra": "1 ms"}
    assert rows(slow) == rows()


@pytest.mark.parametrize(
    ("event", "message"),
    [
        ({"at": "1 s", "action": "fail-drive", "drive": 9}, "a drive of data: 0 to 3"),
        ({"at": "1 s", "action": "fail-drive", "array": "dat"}, "the name of an array: data"),
        ({"at": "1 s", "action": "explode"}, "fail-drive"),
        ({"at": "1 s", "action": "unreadable-sectors", "offset": "5 PB"}, "below"),
        (
            {"at": "1 s", "action": "unreadable-sectors", "size": "1000 B"},
            'event.0.size = "1000 B": a multiple of 512 B',
        ),
        ({"at": "1 s", "action": "unreadable-sectors", "offset": "4 kB"}, "event.0.offset = .4 kB"),
        ({"at": "1 s", "action": "fail-drive", "extra": "1 ms"}, "has at, action, array, drive"),
        ({"at": "1 s", "action": "power-fail", "array": "data"}, "has at, action, lasts"),
    ],
)
def test_what_cannot_happen_is_reported(drives, event, message):
    with pytest.raises(SpecError, match=message):
        build_scenario(tree(drives / "sas.toml", event))


def test_an_event_of_an_array_with_a_fault_of_its_own_is_no_fault(drives):
    fail = {"at": "1 s", "action": "fail-drive", "array": "data"}
    with pytest.raises(SpecError) as caught:
        build_scenario(tree(drives / "sas.toml", fail, level="independent", spares=1))
    assert [fault.key for fault in caught.value.faults] == ["array.0.hot_spares"]


def test_drives_that_are_loaded_each_on_its_own_fail_alone(drives):
    fail = {"at": "1 s", "action": "fail-drive", "array": "data", "drive": 3}
    built = build_scenario(tree(drives / "sas.toml", fail, level="independent"))
    assert built.warnings == (
        "array data: a failed drive takes its data with it, independent keeps no copy",
    )
    result = simulate(built)
    assert result.breaches == ()
    assert result.events[0]["what"] == "drive data/sas.3 failed"
    assert result.events[1]["what"].startswith("array data.3 offline")
    with pytest.raises(SpecError, match="a drive of data: 0 to 3, spares behind the others"):
        build_scenario(tree(drives / "sas.toml", fail | {"drive": 4}, level="independent"))


def test_what_happens_after_the_run_brings_no_other_warning(drives):
    late = {"at": "3 s", "action": "fail-drive", "drive": 1}
    (warning,) = build_scenario(tree(drives / "sas.toml", late)).warnings
    assert "does not happen" in warning


def test_a_drive_that_is_not_there_is_reported_beside_a_spare(drives):
    gone = {"at": "1 s", "action": "fail-drive", "drive": 9}
    with pytest.raises(SpecError, match="a drive of data: 0 to 4"):
        build_scenario(tree(drives / "sas.toml", gone, spares=1))


def test_the_power_cannot_fail_while_it_is_off(drives):
    sas = drives / "sas.toml"
    with pytest.raises(SpecError, match="until then the power is off"):
        build_scenario(tree(sas, POWER | {"at": "1.05 s"}, POWER))
    build_scenario(tree(sas, POWER, POWER | {"at": "1.1 s"}))


def test_an_event_behind_the_end_of_the_run_is_warned_of(drives):
    late = {"at": "2 s", "action": "patrol-read"}
    warnings = build_scenario(tree(drives / "sas.toml", late, late | {"at": "1.9 s"})).warnings
    assert [text.split(":")[0] for text in warnings if "does not happen" in text] == ["event.0"]


def test_a_drive_that_fails_twice_is_warned_of_once(drives):
    fail = {"at": "1 s", "action": "fail-drive"}
    warnings = simulate(build_scenario(tree(drives / "sas.toml", fail, fail))).warnings
    assert sum("no rebuild" in text for text in warnings) == 1


def test_what_only_the_engine_finds_is_reported_by_the_event_s_own_key(drives):
    """A battery that learns is two events of the plan; the hot spot's end is beyond the area."""
    learns = {"at": "1 s", "action": "battery-learn", "lasts": "0.1 s"}
    moves = {"at": "1 s", "action": "move-hot-spot", "start": "60 MiB"}
    scenario = tree(drives / "sas.toml", learns, moves)
    scenario["workload"][0] |= {"hot_spot": "8 MiB", "area_start": "1 MiB"}
    with pytest.raises(SpecError) as caught:
        simulate(build_scenario(scenario))
    assert [(fault.key, fault.value) for fault in caught.value.faults] == [
        ("event.1.start", "60 MiB")
    ]


def test_a_spare_without_redundancy_is_refused(drives):
    with pytest.raises(SpecError, match="nothing to rebuild from"):
        build_scenario(tree(drives / "sas.toml", level="raid0", spares=1))


def on_the_host(model, **drive):
    return {
        "array": [{"name": "data", "drives": [{"model": model} | drive]}],
        "workload": [
            {"rw": "randwrite", "block_size": "4 KiB", "area": "1 GiB", "rate": "80 IO/s"}
        ],
        "run": {"warm_up": "0 s", "duration": "2 s"},
        "event": [POWER],
    }


@pytest.mark.parametrize(
    ("model", "options", "forgets"),
    [
        ("generic-7200rpm", {}, True),
        ("generic-7200rpm", {"write_cache": False}, False),
        ("sandforce-1222-64gb", {}, True),
        ("p3700-800", {}, False),
    ],
)
def test_a_drive_forgets_what_its_own_cache_held(model, options, forgets):
    result = simulate(build_scenario(on_the_host(model, **options)), seed=2)
    assert result.breaches == ()
    assert result.data["acknowledged_writes"] > 50
    assert (result.data["lost_in_drive_caches"] > 0) is forgets
    assert result.data["stale_reads"] == 0
    reported = " ".join(result.warnings)
    assert ("its drives' own caches lose" in reported) is forgets
    assert ("were lost in the drives' own caches" in reported) is forgets


def test_disk_cache_behind_flash_backup_loses_writes_and_says_so():
    def with_cache(on):
        late = POWER | {"at": "9 s"}
        scenario = tree("sata-6g-hdd", late, write="write-back", disk_cache=on)
        scenario["run"]["duration"] = "10 s"
        return simulate(build_scenario(scenario))

    assert data(with_cache(on=False)) == NOTHING
    result = with_cache(on=True)
    assert result.data["lost_writes"] == result.data["lost_in_drive_caches"] > 0
    assert "were lost in the drives' own caches" in result.warnings[-1]


def test_a_battery_holds_the_cache_for_three_days_and_no_longer(drives):
    def after(lasts):
        outage = POWER | {"lasts": lasts}
        scenario = tree(drives / "sas.toml", outage, backup="bbu", write="write-back")
        scenario["controller"]["model"] = "lsi2108"
        return simulate(build_scenario(scenario)).data["lost_writes"]

    assert after("71 h") == 0
    assert after("73 h") > 0


def test_while_the_battery_learns_the_power_may_fail(drives):
    learns = {"at": "1 ms", "action": "battery-learn", "lasts": "1.5 s"}
    for write, loses in (("write-back", False), ("always-write-back", True)):
        scenario = tree(drives / "sas.toml", learns, POWER, write=write)
        assert (simulate(build_scenario(scenario)).data["lost_writes"] > 0) is loses


def test_a_failed_drive_that_nobody_replaces_is_warned_of(drives):
    fail = {"at": "1 s", "action": "fail-drive", "drive": 1}
    replace = {"at": "2 s", "action": "replace-drive", "drive": 1}

    def warned(*events, **changes):
        scenario = build_scenario(tree(drives / "sas.toml", *events, **changes))
        return " ".join([*scenario.warnings, *scenario.unrebuilt.get("data", ())])

    assert "no rebuild after drive 1 has failed" in warned(fail)
    assert "no rebuild" not in warned(fail, replace)
    assert "no rebuild" not in warned(fail, replace | {"array": "data"})
    assert "no rebuild" not in warned(fail, spares=1)
    spare_fails = fail | {"at": "0.5 s", "drive": 4}
    assert "no rebuild after drive 1 has failed" in warned(fail, spare_fails, spares=1)
    assert "no rebuild" not in warned(fail, spare_fails, replace | {"drive": 4}, spares=1)
    assert "no rebuild" not in warned(fail, spare_fails, replace, spares=1)
    # One spare for two drives; copied back it is free for the other.
    other = fail | {"drive": 2}
    assert "no rebuild after drive 2 has failed" in warned(fail, other, level="raid6", spares=1)
    assert "no rebuild" not in warned(fail, other, replace, level="raid6", spares=1)
    assert "raid0 keeps no copy" in warned(fail, level="raid0")
    check = {"at": "1 s", "action": "consistency-check"}
    assert "has no effect on data" in warned(check, level="raid0")


def test_no_spare_is_asked_for_when_the_data_are_lost(drives):
    first = {"at": "10 ms", "action": "fail-drive", "drive": 0}
    second = {"at": "20 ms", "action": "fail-drive", "drive": 1}

    def warned(*events, **changes):
        return " ".join(
            simulate(build_scenario(tree(drives / "sas.toml", *events, **changes))).warnings
        )

    assert "no rebuild after drive 0 has failed" in warned(first)
    # RAID 5 bears one; the spare is not rebuilt within 10 ms. RAID 6 bears both.
    for changes in ({}, {"spares": 1}):
        reported = warned(first, second, **changes)
        assert (
            "array data: its data are lost, more drives failed at a time than it survives"
            in reported
        )
        assert "hot_spares" not in reported
    reported = warned(first, second, level="raid6")
    assert "no rebuild after drive 1 has failed" in reported
    assert "lost" not in reported


def test_a_check_of_an_array_without_redundancy_is_reported_not_to_happen(drives):
    for what in ("patrol-read", "consistency-check"):
        event = {"at": "10 ms", "action": what}
        result = simulate(build_scenario(tree(drives / "sas.toml", event, level="raid0")))
        (reported,) = [entry["what"] for entry in result.events]
        words = what.replace("-", " ")
        assert reported.startswith(f"no {words} of data: without redundancy")


@pytest.mark.parametrize(
    ("changes", "key", "said"),
    [
        ({"hot_spares": 1, "hot_spare_model": "small"}, "hot_spare_model", "a drive of at least"),
        ({"hot_spares": 1, "hot_spare_model": "sata"}, "hot_spare_model", "SAS"),
        ({"hot_spare_model": "sas"}, "hot_spare_model", "no hot_spares"),
        ({"hot_spares": 29}, "", "at most 32"),
        ({"rebuild_rate": 0.0}, "rebuild_rate", "above 0"),
        (
            {"drives": [{"model": "sas", "count": 2}, {"model": "sata", "count": 2}]},
            "drives",
            "one interface",
        ),
        ({"level": "raid1e"}, "level", "a level that lsi2108 has"),
    ],
)
def test_arrays_that_cannot_be_are_refused(drives, changes, key, said):
    def path(name):
        return str(drives / f"{name}.toml")

    scenario = tree(drives / "sas.toml")
    scenario["controller"]["model"] = "lsi2108"
    array = scenario["array"][0]
    array |= changes
    if "hot_spare_model" in changes:
        array["hot_spare_model"] = path(changes["hot_spare_model"])
    array["drives"] = [
        {**drive, "model": path(drive["model"])} if "/" not in drive["model"] else drive
        for drive in array["drives"]
    ]
    with pytest.raises(SpecError) as caught:
        build_scenario(scenario)
    fault = next(f for f in caught.value.faults if key in f.key and said in f.allowed)
    assert fault.key.startswith("array")


def test_the_power_cannot_fail_beside_a_page_cache(drives):
    scenario = tree(drives / "sas.toml", POWER)
    del scenario["controller"]
    scenario["array"][0]["level"] = "jbod"
    scenario["host"] = {"model": "generic"}
    scenario["workload"][0]["buffered"] = True
    with pytest.raises(SpecError):
        simulate(build_scenario(scenario))


def test_sectors_of_writes_that_were_refused_are_not_lost():
    fail = {"at": "0.5 s", "action": "fail-drive", "drive": 1}
    lost = simulate(build_scenario(tree("sas-6g-hdd", fail, level="raid0"))).data
    # The database profile writes 8 KiB; some sectors are written twice.
    assert 0 < lost["lost_sectors"] <= 16 * lost["lost_writes"]


def test_time_without_power_is_no_sign_of_a_queue_that_grows():
    fail = {"at": "0.5 s", "action": "power-fail", "lasts": "1 s"}
    scenario = tree("sas-6g-hdd", fail)
    scenario["workload"] = [{"profile": "database", "area": "64 MiB", "rate": "500 IO/s"}]
    warnings = simulate(build_scenario(scenario)).warnings
    assert not any("the queue grows" in warning for warning in warnings)
