"""Two results beside each other."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from raidlab.devices.faults import SpecError
from raidlab.scenarios.report.studies.diff import answer, report
from raidlab.scenarios.running.simulate import simulate
from raidlab.scenarios.studies.diff import Figure, diff, side_of
from raidlab.scenarios.studies.running import Running

SCENARIO = """
title = "{title}"
[[array]]
level = "raid0"
software_raid = "os"
drives = [{{ model = "generic-15000rpm", count = {count} }}]
[[workload]]
name = "w"
rw = "randread"
block_size = "8 KiB"
outstanding = {depth}
[run]
warm_up = "1 s"
duration = "4 s"
"""
ONE = Running(1, None, None)


def scenario(folder: Path, name: str, count: int, depth: str = "8") -> Path:
    file = folder / f"{name}.toml"
    file.write_text(SCENARIO.format(title=name, count=count, depth=depth))
    return file


def test_intervals_that_do_not_meet_are_clear() -> None:
    apart = Figure("rate", "IO/s", 100.0, 110.0, (98.0, 102.0), (108.0, 112.0))
    assert apart.clear is True and apart.change_pct == pytest.approx(10)
    assert Figure("rate", "IO/s", 100.0, 103.0, (98.0, 102.0), (101.0, 105.0)).clear is False
    assert Figure("rate", "IO/s", 100.0, 103.0, (None, None), (101.0, 105.0)).clear is None


def test_twice_the_disks_are_a_clear_difference_with_its_cause(tmp_path: Path) -> None:
    a, b = scenario(tmp_path, "four", 4, "32"), scenario(tmp_path, "eight", 8, "32")
    found = diff(side_of(a, ONE, None), side_of(b, ONE, None))
    assert [(each.key, each.a, each.b) for each in found.changes] == [
        ("array.0.drives.0.count", 4, 8)
    ]
    (pair,) = found.pairs
    rate = pair.figures[0]
    assert rate.clear is True and rate.change_pct is not None and rate.change_pct > 50
    # The parts of both add up to their mean latencies.
    for at, mean in enumerate((pair.figures[1].a, pair.figures[1].b)):
        assert sum(ends[at] for ends in pair.breakdown_us.values()) == pytest.approx(mean, rel=1e-6)
    assert "rate" in answer(found) and "most of the difference" in answer(found)
    page = report(found).html()
    assert "array.0.drives.0.count" in page and "four (A) and eight (B)" in page
    json.dumps(found.to_dict(), allow_nan=False)


def test_a_result_and_its_scenario_do_not_differ(tmp_path: Path) -> None:
    file = scenario(tmp_path, "s", 2, "[1, 4]")
    (tmp_path / "r.json").write_text(simulate(str(file), workers=1).to_json())
    found = diff(side_of(tmp_path / "r.json", ONE, None), side_of(file, ONE, None))
    assert [pair.point for pair in found.pairs] == ["1 outstanding", "4 outstanding"]
    assert all(each.a == each.b for pair in found.pairs for each in pair.figures)
    assert not found.only_a and not found.only_b


def test_points_without_a_counterpart_are_named(tmp_path: Path) -> None:
    a, b = scenario(tmp_path, "a", 2, "[1, 4, 8]"), scenario(tmp_path, "b", 2, "[4]")
    found = diff(side_of(a, ONE, None), side_of(b, ONE, None))
    assert [pair.point for pair in found.pairs] == ["4 outstanding"]
    assert found.only_a == ("w, 1 outstanding", "w, 8 outstanding")


@pytest.mark.parametrize("text", ["{}", "[1]", '{"results": [{"iops": 1}]}'])
def test_a_file_that_is_no_result_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(SpecError, match="a result as `raidlab run --json` prints it"):
        side_of(tmp_path / "x.json", ONE, None)
