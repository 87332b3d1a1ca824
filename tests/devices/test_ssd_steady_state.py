"""Random writes in steady state: closed forms, data sheets, no drift from the first second on."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from raidlab.devices.faults import SpecError
from raidlab.scenarios import _engine
from raidlab.scenarios.planning.scenario import build_scenario
from tests.figures import result_of

EIGHT_DIES = """
kind = "ssd"
name = "eight-dies"
title = "Eight dies of 512 blocks of 32 pages"
capacity = "456339456 B"

[nand]
cell = "slc"
channels = 4
dies_per_channel = 2
planes = 1
blocks_per_plane = 512
pages_per_block = 32
page = "4 KiB"
read = ["50 us"]
program = ["500 us"]
erase = "2 ms"
channel_rate = "400 MB/s"
command = "0 ns"
rated_cycles = 3000

[collection]
policy = "greedy"

[buffer]
size = "BUFFER"
protected = true

[firmware]
cores = 64
read = "0 ns"
write = "0 ns"

[sources]
all = { source = "assumed", note = "made up" }
"""
UNITS = 456339456 // 4096


def row(model: str, outstanding: int, seconds: float, **run: Any) -> Any:
    tree = {
        "array": [{"drives": [{"model": model}]}],
        "workload": [{"rw": "randwrite", "block_size": "4 KiB", "outstanding": outstanding}],
        "run": {"warm_up": "1 s", "duration": f"{seconds} s", "precondition": "steady-state"} | run,
    }
    return result_of(tree).results[0]


@pytest.mark.parametrize("buffer_kib", [64, 1024, 4096, 16384])
def test_buffers_of_any_size_keep_all_dies_at_work_and_do_not_drift(
    tmp_path: Path, buffer_kib: int
) -> None:
    """A program takes 510 us on a die, a move 570 us, an erase 62.5 us a page. The buffer absorbs
    writes to what it holds. The run writes the drive 11 times over."""
    file = tmp_path / "drive.toml"
    file.write_text(EIGHT_DIES.replace("BUFFER", f"{buffer_kib} KiB"))
    found = row(str(file), 32, 300, timeline_step="30 s")
    waf = found["write_amplification"]
    programmed = 1 - buffer_kib / 4 / UNITS
    die_time = programmed * 510.24e-6 + (waf - programmed) * 570.48e-6 + waf * 62.5e-6
    assert found["iops"] == pytest.approx(8 / die_time, rel=0.02)
    parts = found["timeline"]["iops"][1:-1]
    assert max(parts) < 1.015 * min(parts)
    # The first drive write against the rest.
    assert parts[0] == pytest.approx(sum(parts[1:]) / len(parts[1:]), rel=0.01)


@pytest.mark.parametrize(("model", "stated"), [("p3700-800", 90e3), ("p3700-1600", 150e3)])
def test_members_of_a_family_write_what_their_data_sheets_say(model: str, stated: float) -> None:
    assert row(model, 128, 1)["iops"] == pytest.approx(stated, rel=0.03)


def test_channels_bound_what_the_largest_of_a_family_writes() -> None:
    """A write brings its amplification of units over one of 18 channels, and fetches one less.

    The sheet states 175,000 a second; nothing but the number of dies is the drive's own.
    """
    found = row("p3700-2000", 128, 4)
    waf = found["write_amplification"]
    channel_time = 4096 * (waf / 400e6 + (waf - 1) / 185.1e6)
    assert found["iops"] == pytest.approx(18 / channel_time, rel=0.03)
    assert found["iops"] == pytest.approx(175e3, rel=0.1)
    # "Up to 25 W at high write load": this is the load that costs most.
    (drive,) = (each for each in found["components"] if each["kind"] == "drive")
    assert 23 < drive["power"]["watts"] < 25
    assert drive["figures"]["throttled_s"] == 0


def changed(folder: Path, *changes: tuple[str, str]) -> str:
    """The path of a drive with other figures."""
    text = EIGHT_DIES.replace("BUFFER", "64 MiB")
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    path = folder / "changed.toml"
    path.write_text(text)
    return str(path)


def test_flash_far_beyond_the_capacity_has_a_past_within_seconds(tmp_path: Path) -> None:
    much = ("blocks_per_plane = 512", "blocks_per_plane = 262144"), ("456339456 B", "25165824 B")
    model = changed(tmp_path, *much, ("64 MiB", "64 KiB"))
    found = row(model, 16, 0.2)
    # All of what lies on it is old by the time that its block is collected: nothing is moved.
    assert found["write_amplification"] == pytest.approx(1.0, abs=0.02)


def test_huge_blocks_are_refused_where_a_past_is_asked_for(tmp_path: Path) -> None:
    huge = ("pages_per_block = 32", "pages_per_block = 16384"), ('"4 KiB"', '"1 MiB"')
    model = changed(tmp_path, *huge, ("channels = 4", "channels = 1"))
    with pytest.raises(SpecError, match=r"nand\.pages_per_block = 16384: smaller blocks"):
        row(model, 16, 0.2)
    assert row(model, 16, 0.01, precondition="fresh")["iops"] > 0


def test_a_past_that_is_simulated_hears_a_stop(tmp_path: Path) -> None:
    # A tile of 33 million units, written five times: ten seconds if nobody stopped it.
    huge = ("pages_per_block = 32", "pages_per_block = 16384"), ('"4 KiB"', '"64 KiB"')
    model = changed(tmp_path, *huge, ("channels = 4", "channels = 1"))
    tree = {
        "array": [{"drives": [{"model": model}]}],
        "workload": [{"rw": "randwrite", "block_size": "4 KiB"}],
        "run": {"precondition": "steady-state", "duration": "100000 s"},
    }
    plan = json.dumps(build_scenario(tree).plan(0, 0))
    begun = time.process_time()
    with pytest.raises(KeyboardInterrupt):
        _engine.run(plan, lambda *_so_far: True)
    assert time.process_time() - begun < 2.0
