"""Hard disk data sheets: what they become, and what is wrong in them."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest

from raidlab.devices.catalogue import catalogue, find, load_device
from raidlab.devices.faults import SpecError
from raidlab.devices.hdd import HddSpec
from raidlab.devices.plan_types import HddDeviceParams
from raidlab.devices.schema import DriveOptions
from raidlab.scenarios import _engine
from raidlab.scenarios.planning.scenario import build_scenario
from raidlab.scenarios.running.simulate import simulate

SHEET = """
kind = "hdd"
name = "small"
interface = "sata-6g"
queue_depth = 32
capacity = "1 GB"
speed = "6000 rpm"
[geometry]
heads = 2
outer_sectors = 1000
inner_sectors = 500
zone_count = 5
track_skew = "1 ms"
cylinder_skew = "1.05 ms"
[seek]
head_switch = "0.8 ms"
read = { single = "1 ms", average = "8 ms", full = "16 ms" }
[buffer]
segments = 4
segment = "512 KiB"
read_ahead = "fixed"
read_ahead_limit = "256 KiB"
[write_cache]
size = "4 MiB"
extents = 16
extent = "256 KiB"
flush_above = "50 %"
flush_after_idle = "10 ms"
[scheduler]
policy = "shortest-access"
ageing = 0.02
[overhead]
read = "50 us"
write = "60 us"
[sources]
all = "assumed"
"""


def _spec(folder: Path, *changes: tuple[str, str]) -> HddSpec:
    text = SHEET
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path = folder / "small.toml"
    path.write_text(text)
    spec = load_device(path).spec
    assert isinstance(spec, HddSpec)
    return spec


def _capacity(model: HddDeviceParams) -> int:
    """What the engine says that a drive of this model holds."""
    plan = {
        "seed": 1,
        "warm_up_ns": 0,
        "duration_ns": 0,
        "host": {"submit_ns": 0, "complete_ns": 0, "raid_command_ns": 0},
        "links": [],
        "controllers": [],
        "devices": [model],
        "drives": [{"name": "d", "device": 0, "queue_depth": 1, "path": []}],
        "arrays": [],
        "workloads": [],
    }
    capacities: list[int] = json.loads(_engine.capacities(json.dumps(plan)))
    return capacities[0]


def test_zones_fall_evenly_from_the_outer_to_the_inner_track(tmp_path: Path) -> None:
    zones = _spec(tmp_path).to_plan(DriveOptions())["geometry"]["zones"]
    assert [zone["sectors_per_track"] for zone in zones] == [1000, 850, 750, 650, 500]
    assert zones[0]["first_cylinder"] == 0
    assert all(a["last_cylinder"] + 1 == b["first_cylinder"] for a, b in pairwise(zones))
    # 1 ms of a revolution of 10 ms is a tenth of the track; a skew leaves a sector more, at the
    # fastest speed of the tolerance: a head that has just arrived would miss its sector.
    assert (zones[0]["track_skew_sectors"], zones[0]["cylinder_skew_sectors"]) == (101, 106)
    assert (zones[4]["track_skew_sectors"], zones[4]["cylinder_skew_sectors"]) == (51, 53)
    held = sum(
        (zone["last_cylinder"] - zone["first_cylinder"] + 1) * 2 * zone["sectors_per_track"]
        for zone in zones
    )
    assert 10**9 <= held * 512 < 1.01 * 10**9


def test_the_scenario_can_switch_the_write_cache(tmp_path: Path) -> None:
    spec = _spec(tmp_path)
    assert spec.to_plan(DriveOptions())["write_cache"]["sectors"] == 8192
    assert spec.to_plan(DriveOptions(write_cache=False))["write_cache"] is None


@pytest.mark.parametrize(
    ("change", "reported"),
    [
        (('speed = "6000 rpm"', "speed = 6000"), "speed"),
        (("[geometry]", 'physical_sector = "2 KiB"\n[geometry]'), "physical_sector"),
        (("segments = 4", "segmnets = 4"), "buffer.segmnets"),
        (("heads = 2", "heads = 0"), "geometry.heads"),
        (('average = "8 ms"', 'average = "0.8 ms"'), "seek.read.average"),
        (('average = "8 ms"', 'mean = "8 ms"'), "seek.read.mean"),
        (('average = "8 ms", ', ""), "seek.read"),
        (("zone_count = 5", "zone_count = 5\ncylinders = 100"), "capacity"),
        (("inner_sectors = 500", "inner_sectors = 1500"), "geometry.inner_sectors"),
        (('read_ahead = "fixed"', 'read_ahead = "none"'), "buffer.read_ahead_limit"),
        (("ageing = 0.02", "ageing = 2"), "scheduler.ageing"),
        (
            (
                'policy = "shortest-access"\nageing = 0.02',
                'policy = "first-come"\nplans_ahead = true',
            ),
            "scheduler.plans_ahead",
        ),
        (("shortest-access", "first-come"), "scheduler.ageing"),
        (("outer_sectors = 1000", ""), "geometry.zones"),
        (('interface = "sata-6g"', 'interface = "scsi"'), "interface"),
    ],
)
def test_faults_name_the_key(tmp_path: Path, change: tuple[str, str], reported: str) -> None:
    with pytest.raises(SpecError) as error:
        _spec(tmp_path, change)
    assert reported in [fault.key for fault in error.value.faults], str(error.value)


def test_several_faults_are_reported_at_once(tmp_path: Path) -> None:
    with pytest.raises(SpecError) as error:
        _spec(
            tmp_path,
            ("heads = 2", "heads = 0"),
            ('segment = "512 KiB"', 'segment = "512"'),
            ("ageing = 0.02", "ageing = 7"),
        )
    keys = {fault.key for fault in error.value.faults}
    assert {"geometry.heads", "buffer.segment", "scheduler.ageing"} <= keys


def test_a_drive_with_more_bytes_than_its_geometry_holds_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"at most the [0-9]+ B that the geometry holds"):
        _spec(tmp_path, ("zone_count = 5", "zone_count = 5\ncylinders = 100"))


@pytest.mark.parametrize(
    "name", [device.spec.name for device in catalogue() if device.spec.kind == "hdd"]
)
def test_the_engine_takes_every_disk_of_the_catalogue(name: str) -> None:
    spec = find(name).spec
    assert isinstance(spec, HddSpec)
    assert _capacity(spec.to_plan(DriveOptions())) == spec.capacity_bytes(DriveOptions())


SHINGLED = """[shingled]
band = "16 MiB"
media_cache = "128 MB"
records = 1000
merge_after_idle = "1 s"
[scheduler]"""


def test_a_shingled_disk_offers_its_capacity_beside_its_log(tmp_path: Path) -> None:
    spec = _spec(tmp_path, ("[scheduler]", SHINGLED))
    plan = spec.to_plan(DriveOptions())
    assert _capacity(plan) == spec.capacity_bytes(DriveOptions()) == 10**9
    assert plan["shingled"]["media_cache_bytes"] == 128 * 10**6


@pytest.mark.parametrize(
    ("changes", "reported"),
    [
        ([('media_cache = "128 MB"', 'media_cache = "1 MB"')], "shingled.media_cache"),
        ([('band = "16 MiB"', 'band = "1000001 B"')], "shingled.band"),
        ([('"fixed"', '"next-track"'), ('read_ahead_limit = "256 KiB"', "")], "read_ahead"),
        ([("records = 1000", "records = 0")], "shingled.records"),
    ],
)
def test_a_shingled_disk_that_cannot_be(
    tmp_path: Path, changes: list[tuple[str, str]], reported: str
) -> None:
    with pytest.raises(SpecError, match=reported):
        _spec(tmp_path, ("[scheduler]", SHINGLED), *changes)


def test_physical_sectors_of_4_kib_are_refused_on_a_shingled_disk(tmp_path: Path) -> None:
    large = ("[geometry]", 'physical_sector = "4 KiB"\n[geometry]')
    plan = _spec(tmp_path, large).to_plan(DriveOptions())
    assert plan["physical_sectors"] == 8
    assert "physical_sectors" not in _spec(tmp_path).to_plan(DriveOptions())
    with pytest.raises(SpecError, match="physical_sector"):
        _spec(tmp_path, large, ("[scheduler]", SHINGLED))


def test_a_random_write_of_512_bytes_costs_a_revolution_more(tmp_path: Path) -> None:
    """6000 rpm: 10 ms. One sector covers an eighth of a physical one, eight cover it all."""
    file = tmp_path / "large.toml"
    file.write_text(SHEET.replace("[geometry]", 'physical_sector = "4 KiB"\n[geometry]'))
    means = []
    for size in ("512 B", "4 KiB"):
        drive = {"model": str(file), "write_cache": False}
        tree = {
            "array": [{"drives": [drive]}],
            "workload": [{"rw": "randwrite", "block_size": size, "outstanding": [1]}],
            "run": {"warm_up": "1 s", "duration": "40 s", "seed": 1},
        }
        (row,) = simulate(build_scenario(tree), workers=1).results
        means.append(row["latency_us"]["mean"])
    assert means[0] - means[1] == pytest.approx(10_000, rel=0.05)


@pytest.mark.parametrize(
    ("table", "key", "value"),
    [("scheduler", "plans_ahead", "true"), ("write_cache", "order", '"first-come"')],
)
def test_what_a_media_cache_leaves_without_effect_is_refused_on_a_shingled_disk(
    tmp_path: Path, table: str, key: str, value: str
) -> None:
    """Planning ahead had no effect there, without a word; the media cache takes the writes."""
    path = tmp_path / "x.toml"
    path.write_text(
        f'kind = "hdd"\nname = "x"\ntitle = "x"\nlike = "archive-8t"\n[{table}]\n{key} = {value}\n'
    )
    with pytest.raises(SpecError) as error:
        find(str(path))
    assert f"{table}.{key}" in [fault.key for fault in error.value.faults]


def test_a_key_that_has_another_name_now_is_reported_with_it(tmp_path):
    with pytest.raises(SpecError) as caught:
        _spec(tmp_path, ("queue_depth = 32", "queue_depth = 32\ninitial_turn = 0.5"))
    (fault,) = caught.value.faults
    assert (fault.key, fault.allowed) == ("initial_turn", "is named initial_angle now")
