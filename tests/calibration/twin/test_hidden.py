"""Known systems whose twins are judged: all can be, the plans beside them are the collector's."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from raidlab.calibration.fitting.bench.scenario_bench import bench_of_scenario
from raidlab.calibration.twin.asks import KIB
from raidlab.calibration.twin.hidden import PTS, QUICK, SYSTEMS, Hidden

PLANS = Path(__file__).parents[3] / "calibration" / "collector" / "src" / "plans"


@pytest.mark.parametrize("of", SYSTEMS, ids=lambda of: of.name)
def test_every_system_can_be(of: Hidden, tmp_path: Path) -> None:
    (tmp_path / "system.toml").write_text(of.scenario)
    if of.device:
        (tmp_path / "device.toml").write_text(of.device)
    assert bench_of_scenario(str(tmp_path / "system.toml")).capacity > 0


def test_the_quick_plan_is_the_collectors() -> None:
    plan = tomllib.loads((PLANS / "quick.toml").read_text())
    wanted = [
        (step["options"]["rw"], int(step["options"]["bs"][:-1]) * KIB, depth)
        for step in plan["stage"][0]["step"]
        for depth in step["sweep"][0]["values"]
    ]
    order = lambda of: (str(of[0]), of[1], of[2])  # noqa: E731
    assert sorted(((a.rw, a.block, a.depth) for a in QUICK), key=order) == sorted(wanted, key=order)


def test_the_sweep_of_pts_is_the_collectors() -> None:
    plan = tomllib.loads((PLANS / "pts-iops.toml").read_text())
    (step,) = (each for stage in plan["stage"] for each in stage["step"] if each["name"] == "mix")
    shares, sizes = (each["values"] for each in step["sweep"])
    assert [a.read_share for a in PTS] == [s / 100 for s in shares for _ in sizes]
    assert [a.block for a in PTS[:2]] == [1024 * KIB, 128 * KIB] and PTS[-1].block == 512
    options = step["options"]
    assert {(a.depth, a.jobs) for a in PTS} == {(options["iodepth"], options["numjobs"])}
