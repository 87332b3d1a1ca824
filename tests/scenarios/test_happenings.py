"""Events of a scenario: what happens, what becomes of the data, what cannot happen."""

import pytest

from raidlab.devices.faults import SpecError
from raidlab.scenarios.simulate import simulate
from raidlab.scenarios.system import build_scenario


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
    told = [event["what"] for event in result.events]
    assert told[0].endswith("failed")
    assert told[1].startswith("rebuild on data/spare.0 begins")


def test_flash_backup_keeps_every_acknowledged_write_and_none_loses_the_dirty_ones(drives):
    sas = drives / "sas.toml"
    assert data(simulate(build_scenario(tree(sas, POWER, write="write-back")))) == NOTHING
    result = simulate(build_scenario(tree(sas, POWER, write="always-write-back", backup="none")))
    assert result.data["lost_writes"] > 0
    assert result.data["stale_reads"] == 0


@pytest.mark.parametrize(
    ("event", "message"),
    [
        ({"at": "1 s", "action": "fail-drive", "drive": 9}, "a drive of data: 0 to 3"),
        ({"at": "1 s", "action": "fail-drive", "array": "dat"}, "the name of an array: data"),
        ({"at": "1 s", "action": "explode"}, "fail-drive"),
    ],
)
def test_what_cannot_happen_is_told(drives, event, message):
    with pytest.raises(SpecError, match=message):
        build_scenario(tree(drives / "sas.toml", event))


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
    told = " ".join(result.warnings)
    assert ("its drives' own caches lose" in told) is forgets
    assert ("were lost in the drives' own caches" in told) is forgets


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
