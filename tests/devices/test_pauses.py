"""`[[pause]]`: times in which a drive takes up no command, beside closed forms."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from raidlab.devices.faults import SpecError
from raidlab.scenarios.planning.scenario import build_scenario
from raidlab.scenarios.results.row import Row
from raidlab.scenarios.running.simulate import simulate

_DRIVE = """kind = "station"
name = "paused"
capacity = "100 GB"
service = "10 us"
servers = 64
{pauses}
[sources]
all = "assumed"
"""
_PAUSE = '[[pause]]\nevery = "{every}"\nlength = "{length}"\n'


def row(folder: Path, pauses: str, seconds: str = "10 s", **load: Any) -> Row:
    """What a load of reads finds at a drive of 10 us."""
    model = folder / "paused.toml"
    model.write_text(_DRIVE.format(pauses=pauses))
    tree = {
        "host": {"model": "nvme-gen5"},
        "array": [{"drives": [{"model": str(model)}]}],
        "workload": [{"rw": "randread", "block_size": "4 KiB", **load}],
        "run": {"warm_up": "100 ms", "duration": seconds, "seed": 1},
    }
    found: Row = simulate(build_scenario(tree), workers=1).results[0]
    return found


def test_arrivals_wait_for_what_is_left_of_a_pause(tmp_path: Path) -> None:
    """1 ms every 9 ms: arrivals wait 100 us on average. One in ten meets a pause, so p99 is where
    exp(-t / 1 ms) is a tenth of them: 2.3 ms."""
    load = {"arrivals": "poisson", "rate": ["5000 IO/s"], "seconds": "200 s"}
    still = row(tmp_path, "", **load)["latency_us"]
    paused = row(tmp_path, _PAUSE.format(every="9 ms", length="1 ms"), **load)["latency_us"]
    assert paused["mean"] - still["mean"] == pytest.approx(100, rel=0.08)
    assert paused["p99"] - still["p99"] == pytest.approx(2302, rel=0.06)
    assert paused["p50"] == pytest.approx(still["p50"], rel=0.01)


def test_one_io_in_flight_meets_each_pause_once(tmp_path: Path) -> None:
    """An I/O takes 14 us; 2 ms every 18 ms are 50 pauses a second. Of the other 0.9 s an I/O takes
    its 14 us, so 50 of 64,000 wait."""
    load = {"outstanding": [1]}
    still = row(tmp_path, "", **load)
    paused = row(tmp_path, _PAUSE.format(every="18 ms", length="2 ms"), **load)
    assert paused["iops"] / still["iops"] == pytest.approx(0.9, rel=0.02)
    assert paused["latency_us"]["p99"] == pytest.approx(still["latency_us"]["p99"], rel=0.01)


def test_a_pause_is_checked(tmp_path: Path) -> None:
    for pauses, found in (
        (_PAUSE.format(every="10 ns", length="1 ms"), "pause.0.every"),
        ('[[pause]]\nevery = "1 ms"\n', "pause.0.length"),
        (_PAUSE.format(every="1 s", length="1 ms") * 9, "pause"),
    ):
        with pytest.raises(SpecError, match=found):
            row(tmp_path, pauses, outstanding=[1])
