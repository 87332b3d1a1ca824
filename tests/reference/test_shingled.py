"""Sustained random writes of a shingled disk: the engine, SimPy and a closed form."""

from __future__ import annotations

import json
import random
from math import sqrt
from pathlib import Path
from statistics import mean

import pytest
import simpy

from raidlab.devices.catalogue import load_device
from raidlab.devices.hdd import HddSpec
from raidlab.devices.schema import DriveOptions
from raidlab.scenarios import _engine
from tests.devices.test_ssd import plan
from tests.reference.shingled import ShingledDisk

BAND, LOG, BANDS, RECORDS = 2400, 48_000, 100, 300
"""Sectors of a band and of the log; bands that are written; records of the log's map."""
_FILE = f"""
kind = "hdd"
name = "shingled"
queue_depth = 32
capacity = "{2 * BANDS * BAND * 512} B"
speed = "6000 rpm"
speed_tolerance = 0
initial_angle = 0
[geometry]
heads = 2
outer_sectors = 1200
inner_sectors = 1200
zone_count = 1
track_skew = "1 ms"
cylinder_skew = "1 ms"
[seek]
head_switch = "0.9 ms"
read = {{ distances = [1, 1000], times = ["0.901 ms", "1.9 ms"] }}
[buffer]
segments = 4
segment = "512 KiB"
read_ahead = "none"
[scheduler]
policy = "first-come"
[overhead]
read = "100 us"
write = "100 us"
[shingled]
band = "{BAND * 512} B"
media_cache = "{LOG * 512} B"
records = {RECORDS}
merge_after_idle = "1 min"
[sources]
all = "assumed"
"""


@pytest.fixture
def drive(tmp_path: Path) -> HddSpec:
    path = tmp_path / "shingled.toml"
    path.write_text(_FILE)
    spec = load_device(path).spec
    assert isinstance(spec, HddSpec)
    return spec


def _simpy() -> tuple[float, float]:
    """Mean time of a write in ms, and merges for each, in the steady state."""
    draws = random.Random(5)
    env = simpy.Environment()
    disk = ShingledDisk(env, 1200, 121, 10_000_000, LOG, BAND, RECORDS, 100_000)
    took: list[int] = []

    def blocks(count: int) -> list[range]:
        starts = (8 * draws.randrange(BANDS * BAND // 8) for _ in range(count))
        return [range(start, start + 8) for start in starts]

    env.run(env.process(disk.writes(blocks(1500), took)))
    before, took[:] = disk.merges, []
    env.run(env.process(disk.writes(blocks(4000), took)))
    return mean(took) / 1e6, (disk.merges - before) / len(took)


def test_the_capacity_is_what_is_offered_beside_the_log(drive: HddSpec) -> None:
    assert drive.capacity_bytes(DriveOptions()) == 2 * BANDS * BAND * 512
    zones = drive.to_plan(DriveOptions())["geometry"]["zones"]
    tracks = 2 * sum(zone["last_cylinder"] - zone["first_cylinder"] + 1 for zone in zones)
    assert tracks * 1200 >= 2 * BANDS * BAND + LOG


def _engine_run(drive: HddSpec, ios: int, warm_up_s: int) -> tuple[float, dict[str, float]]:
    """Mean time of a write in ms, one at a time, and the drive's figures."""
    load = {
        "area_bytes": BANDS * BAND * 512,
        "arrival": {"kind": "closed", "outstanding": 1, "think_ns": 0},
    }
    whole = plan(drive.to_plan(DriveOptions()), **load)
    whole |= {"max_ios": ios, "warm_up_ns": warm_up_s * 10**9}
    result = json.loads(_engine.run(json.dumps(whole)))
    assert result["breaches"] == []
    figures = next(c["figures"] for c in result["components"] if c["kind"] == "drive")
    return 1e3 / result["workloads"][0]["iops"], figures


def test_sustained_random_writes_are_those_of_simpy_and_of_the_closed_form(drive: HddSpec) -> None:
    # The first writes fill the log: each a revolution and 8 sectors of 1200.
    fresh, _ = _engine_run(drive, 250, 0)
    assert fresh == pytest.approx(10 + 10 * 8 / 1200, rel=0.02)
    took, merges = _simpy()
    steady, figures = _engine_run(drive, 4000, 30)
    assert steady == pytest.approx(took, rel=0.03)
    share = RECORDS / BANDS
    n = share + sqrt(share**2 + 1)
    assert 1 / merges == pytest.approx(n, rel=0.03)
    assert figures["merged_records"] / figures["merged_bands"] == pytest.approx(n, rel=0.03)
    # A merge reads and writes two tracks, each after a seek of 0.96 ms and half a revolution.
    assert took > 2 * (21 + 5.96) / n + 10
