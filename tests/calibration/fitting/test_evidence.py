"""The table of measured sets: a row by hand, and its place in the page."""

from __future__ import annotations

from pathlib import Path

from raidlab.calibration.fitting.bench.bench import Bench, Effort
from raidlab.calibration.fitting.comparison.compare import Compared
from raidlab.calibration.fitting.evidence import (
    HEADING,
    SETS,
    Set,
    at_depths,
    beyond,
    line,
    with_table,
)
from raidlab.calibration.fitting.recovery import load, measure
from raidlab.calibration.published.catalogue import measured_sets
from raidlab.devices.catalogue import find
from raidlab.devices.host import HostSpec
from raidlab.devices.schema import DriveSpec


def test_a_row_has_the_errors_of_unseen_points_beside_those_of_lines() -> None:
    drive, host = find("null").spec, find("generic").spec
    assert isinstance(drive, DriveSpec) and isinstance(host, HostSpec)
    bench, effort = Bench.of(drive, host), Effort(ios=2000)
    points = measure(bench, [load("randread", d) for d in (1, 4, 16)], "null", effort).points
    parts = ("train", "test", "train")
    rows = [
        Compared(point, bench.run(point, effort), part)
        for point, part in zip(points, parts, strict=True)
    ]
    null = Set("null", (1e-9, 2.0))
    cells = [cell.strip() for cell in line(null, rows).split("|")[1:-1]]
    assert cells[:3] == ["null", "1, 16", "1"] and len(cells) == 8
    # One unseen point: its error is median and nine in ten.
    assert len(set(cells[3].split(", "))) == 1 and float(cells[3].split(",")[0]) < 2
    alone = [Compared(row.point, row.simulated, "test") for row in rows]
    assert "none: from one" in line(Set("md", (1.0, 1.0), of="one"), alone)
    # Two runs of one load are near each other, and never the same.
    (said,) = beyond(null, rows)
    assert said.startswith("beyond its bounds: null is 0.") and said.endswith("median, not 1e-09")


def test_the_table_is_the_last_part_of_the_page_and_stays_when_the_rest_is_made_anew(
    tmp_path: Path,
) -> None:
    once = with_table("# Fits\n\nText.\n", ["| a |"])
    assert once.startswith("# Fits\n\nText.\n\n" + HEADING)
    again = with_table(once, ["| b |"])
    assert again.count(HEADING) == 1 and "| a |" not in again and again.endswith("| b |\n")
    path = tmp_path / "fits.md"
    path.write_text(again)
    assert measured_sets(path) == "\n" + again[again.index(HEADING) :]
    assert measured_sets(tmp_path / "none.md") == ""


def test_arrays_are_predicted_from_a_set_that_there_is() -> None:
    names = [each.folder for each in SETS]
    assert all(each.of in names for each in SETS if each.of)


def test_the_usual_depths_or_others_for_every_set() -> None:
    assert at_depths("") == SETS
    assert {each.train for each in at_depths("1,4,32")} == {"iodepth=1,4,32 numjobs=1"}
    assert [each.folder for each in at_depths("1,4,32")] == [each.folder for each in SETS]
