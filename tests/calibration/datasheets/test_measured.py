"""Measured figures beside those of drives from sheets."""

from dataclasses import replace
from pathlib import Path

import pytest

from raidlab.calibration.datasheets import measured
from raidlab.calibration.datasheets.catalogue import SPECS
from raidlab.calibration.datasheets.measured import (
    Compared,
    Load,
    by_sheet,
    compare,
    listing,
    table,
)
from raidlab.devices.datasheet.sheet import read_sheet
from tests.devices.datasheet.test_sheet import SSD, written

READS = Load("x", "randread", 4096, 2048, 32, 0, 0)


def test_a_figure_is_within_draws_between_the_ends_of_the_draws() -> None:
    known = Compared(READS, "iops", 100.0, 90.0, (80.0, 100.0), "by hand", 150.0)
    assert known.is_within_draws
    assert not replace(known, measured=100.1).is_within_draws
    assert not replace(known, measured=79.9).is_within_draws
    assert not replace(known, drawn=None).is_within_draws
    lines = table([known, replace(known, measured=200.0)])
    assert "| all | 2 | 32 % | 55 % | 1 | 38 % |" in lines
    assert listing([replace(known, measured=200.0)]).endswith(",200,90,-55,80,100\n")


def test_a_sheet_alone_gives_the_least_of_what_it_states(tmp_path: Path) -> None:
    """580,000 reads of 4 KiB; 6.5 GB/s of 64 KiB are 99,182; 80 us at depth 4 are 50,000."""
    sheet = read_sheet(written(tmp_path, SSD)).sheet
    assert by_sheet(sheet, READS, "iops") == 580_000
    assert by_sheet(sheet, replace(READS, block_bytes=65536), "iops") == pytest.approx(99_182, 1e-5)
    assert by_sheet(sheet, replace(READS, depth=4), "iops") == pytest.approx(50_000)
    writes = replace(READS, rw="randwrite")
    assert by_sheet(sheet, writes, "write_iops") == 70_000
    assert by_sheet(sheet, writes, "read_p99_us") == 80


def test_draws_of_a_drive_lie_around_its_stated_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The P4610 states 643,000 reads: cores of 0.7 to 1.25 times that speed."""
    head, *rows = measured._DATA.read_text().splitlines()
    own = next(row for row in rows if row.startswith("p4610-1600,"))
    one = tmp_path / "one.csv"
    one.write_text(f"{head}\n{own}\n")
    monkeypatch.setattr(measured, "_DATA", one)
    (first,) = compare({"p4610-1600": SPECS / "ssd" / "p4610-1600.toml"}, count=8)
    assert first.load.block_bytes == 4096
    assert first.drawn is not None
    low, high = first.drawn
    assert 0.69 * 643_000 < low < 0.95 * 643_000
    assert 1.03 * 643_000 < high < 1.26 * 643_000
