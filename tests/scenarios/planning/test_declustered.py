"""Declustered RAID: where it can be, what it offers, and what becomes of a drive's data."""

import pytest

from raidlab.devices.declustered import Declustered
from raidlab.devices.faults import SpecError
from raidlab.devices.levels import facts
from raidlab.scenarios.planning.arrays import usable_bytes
from raidlab.scenarios.planning.scenario import build_scenario
from raidlab.scenarios.running.simulate import results_of, simulate

KIB = 1024


def scenario(drive, declustered, level="raid6", count=11, **more):
    array = {
        "level": level,
        "declustered": declustered,
        "drives": [{"model": str(drive), "count": count}],
    }
    return {
        "controller": {"model": "lsi2208-1g"},
        "array": [array | more.pop("array", {})],
        "workload": [{"rw": "randrw", "block_size": "16 KiB", "outstanding": 4}],
        "run": {"warm_up": "0 s", "duration": "50 ms"},
    } | more


def test_usable_bytes_by_hand():
    # Eleven drives, one spare, stripes of six: three rows of ten chunks hold five groups. 100 rows
    # of units are 25 rows of chunks of 4 units: 8 slices, 40 groups, 160 stripes of 4 data units.
    shape = facts("raid6", declustered=Declustered(6, 1, 256 * KIB))
    assert usable_bytes(shape, 64 * KIB, [6400 * KIB] * 11) == 160 * 4 * 64 * KIB
    assert shape.data_columns(11) == 4
    assert not shape.fits(6)


def test_the_engine_offers_the_same(tiny_drives):
    table = {"stripe_width": 4, "spares": 1, "chunk": "16 KiB"}
    for count in (6, 7, 9):
        unit = {"stripe_unit": "8 KiB"}
        tree = scenario(tiny_drives / "tiny.toml", table, count=count, array=unit)
        found = build_scenario(tree)
        size = found.usable_bytes
        assert size % (16 * KIB) == 0
        tree["workload"][0] |= {"area": f"{size} B"}
        simulate(build_scenario(tree), workers=1)
        tree["workload"][0] |= {"area": f"{size + 8 * KIB} B"}
        with pytest.raises(SpecError, match="area"):
            build_scenario(tree)


@pytest.mark.parametrize(
    ("table", "more", "key", "allowed"),
    [
        ({"stripe_width": 11}, {}, "declustered.stripe_width", "at most 10"),
        ({"stripe_width": 3}, {}, "declustered.stripe_width", "4 or more"),
        ({"stripe_width": 6, "spares": 0}, {}, "declustered.spares", "1 or more"),
        ({"stripe_width": 6, "chunk": "100 KiB"}, {}, "declustered.chunk", "a multiple"),
        ({"stripe_width": 6, "chunk": "1 GiB"}, {"array": {"used": "2 GiB"}}, "chunk", "less: "),
        ({"stripe_width": 6}, {"level": "raid10"}, "array.0.level", "raid5 or raid6"),
        ({"stripe_width": 6}, {"array": {"hot_spares": 1}}, "hot_spares", "0 beside"),
        ({"stripe_width": 6}, {"array": {"software_raid": "os"}}, "declustered", "left out"),
    ],
)
def test_what_cannot_be(drives, table, more, key, allowed):
    with pytest.raises(SpecError) as error:
        build_scenario(scenario(drives / "sas.toml", table, **more))
    assert key in str(error.value)
    assert allowed in str(error.value)


def test_a_second_failure_is_refused_and_says_why(tiny_drives):
    table = {"stripe_width": 4, "chunk": "16 KiB"}
    unit = {"stripe_unit": "8 KiB"}
    tree = scenario(tiny_drives / "tiny.toml", table, count=9, array=unit)
    tree["event"] = [{"at": f"{at} ms", "action": "fail-drive", "drive": at} for at in (1, 2)]
    with pytest.raises(SpecError, match="not modelled of a declustered"):
        simulate(build_scenario(tree), workers=1)


@pytest.mark.parametrize("level", ["raid5", "raid6"])
@pytest.mark.parametrize("write", ["write-through", "always-write-back"])
@pytest.mark.parametrize("replaced", ["5 ms", "60 ms"])
def test_no_write_is_lost_on_the_way_to_spare_space_and_back(tiny_drives, level, write, replaced):
    table = {"stripe_width": 4, "spares": 2, "chunk": "16 KiB"}
    tree = scenario(
        tiny_drives / "tiny.toml", table, level, 9, array={"stripe_unit": "8 KiB"},
        run={"warm_up": "0 s", "duration": "150 ms"},
    )  # fmt: skip
    tree["controller"] |= {"write": write, "backup": "fbu"}
    tree["event"] = [
        {"at": "2 ms", "action": "fail-drive", "drive": 3},
        {"at": replaced, "action": "replace-drive", "drive": 3},
        {"at": "120 ms", "action": "consistency-check"},
    ]
    result = simulate(build_scenario(tree), workers=1)
    assert result.breaches == ()
    said = [event["what"] for event in result.events]
    assert any("distributed spare space begins" in what for what in said)
    assert any("copyback done" in what for what in said)
    lost = {key: count for key, count in result.data.items() if key != "acknowledged_writes"}
    assert result.data["acknowledged_writes"] > 100
    assert not any(lost.values()), lost


STATION = """
kind = "station"
name = "even"
interface = "sas-6g"
capacity = "1 GB"
service = "2 ms"
distribution = "fixed"
[sources]
all = "assumed"
"""


def rebuilt_s(drive, array):
    """Seconds of a rebuild of 1024 rows of 64 KiB, without a load."""
    tree = scenario(drive, None, "raid5", 12, array={"used": "64 MiB"} | array)
    del tree["workload"], tree["array"][0]["declustered"]
    tree["array"][0] |= array
    tree["run"] = {"warm_up": "0 s", "duration": "10 s"}
    tree["event"] = [{"at": "1 ms", "action": "fail-drive", "drive": 5}]
    (result,) = results_of([build_scenario(tree)], 1, workers=1)
    events = result.events
    at = {event["kind"]: event["t_s"] for event in events}
    return at["rebuild-done"] - at["rebuild-begun"]


def test_a_rebuild_takes_as_long_as_all_drives_need_for_it(tmp_path):
    """The closed form: of each of the `(n - s) / n` units of a row that are no spare space `w - p`
    others are read and one is written, by `n - 1` drives of 2 ms each."""
    drive = tmp_path / "even.toml"
    drive.write_text(STATION)
    spread = {"stripe_width": 4, "spares": 1, "chunk": "256 KiB"}
    alone = rebuilt_s(drive, {"hot_spares": 1})
    assert alone == pytest.approx(1024 * 0.002, rel=0.02)
    closed = 1024 * (11 / 12) * (3 + 1) * 0.002 / 11
    assert closed == pytest.approx(0.683, abs=0.001)
    assert 1.0 <= rebuilt_s(drive, {"declustered": spread}) / closed < 1.2
