"""Stated figures come out, contradictions are named with both numbers."""

import json
from pathlib import Path

import pytest

from raidlab.calibration.datasheets import adjust, build
from raidlab.calibration.datasheets.build import Imported, import_datasheet
from raidlab.calibration.datasheets.points import Bench
from raidlab.cli import app
from raidlab.devices.catalogue import load_device
from raidlab.devices.datasheet.flash import first
from raidlab.devices.datasheet.sheet import read_sheet
from tests.devices.datasheet.test_sheet import DISK, SSD, written


def made(folder: Path, keys: dict[str, str]) -> Imported:
    imported = import_datasheet(written(folder, keys))
    file = folder / "device.toml"
    file.write_text(imported.draft.to_toml())
    load_device(file)
    return imported


@pytest.mark.parametrize("sheet", [SSD, DISK], ids=["ssd", "disk"])
def test_stated_figures_come_out_within_two_percent(tmp_path: Path, sheet: dict[str, str]) -> None:
    imported = made(tmp_path, sheet)
    assert len(imported.points) == (6 if sheet is SSD else 2)
    assert imported.warnings == ()
    for point in imported.points:
        assert point.error_pct is not None
        assert abs(point.error_pct) < 2, point


@pytest.mark.parametrize("rate", [180, 280])
def test_random_writes_of_a_disk_decide_among_how_many_its_cache_chooses(
    tmp_path: Path, rate: int
) -> None:
    disk = DISK | {"random_read": '"152 IO/s"', "random_write": f'"{rate} IO/s"'}
    found = {point.quantity: point for point in made(tmp_path, disk).points}
    assert found["random_write"].error_pct == pytest.approx(0, abs=5)


def test_the_same_sheet_gives_the_same_device(tmp_path: Path) -> None:
    first, second = (made(tmp_path, DISK).draft.to_toml() for _ in range(2))
    assert first == second


def test_random_writes_that_no_spare_space_gives_are_a_burst_s(tmp_path: Path) -> None:
    imported = made(tmp_path, SSD | {"random_write": '"1000000 IO/s"'})
    assert any(
        "random_write: 1,000,000 IO/s program 4,096 MB/s" in warning
        and "sequential_write of 1,500 MB/s" in warning
        for warning in imported.warnings
    )
    found = {point.quantity: point for point in imported.points}
    assert found["random_write"].error_pct is None
    assert "burst" in found["random_write"].why_not
    assert found["random_read"].error_pct == pytest.approx(0, abs=2)


def test_a_burst_that_is_stated_is_no_contradiction(tmp_path: Path) -> None:
    client = SSD | {"burst": "true", "sustained_write": '"1200 MB/s"'}
    imported = made(tmp_path, client | {"random_write": '"1000000 IO/s"'})
    assert [warning.split(":")[0] for warning in imported.warnings] == ["not modelled"]
    found = {point.quantity: point for point in imported.points}
    assert found["sustained_write"].error_pct == pytest.approx(0, abs=2)


def test_bursts_of_a_client_drive_come_out_and_so_does_what_follows(tmp_path: Path) -> None:
    client = SSD | {"burst": "true", "sequential_write": '"5000 MB/s"'}
    rates = {"random_write": '"1000000 IO/s"', "sustained_write": '"1200 MB/s"'}
    imported = made(tmp_path, client | rates)
    assert not imported.warnings
    for point in imported.points:
        assert point.error_pct == pytest.approx(0, abs=2), point


@pytest.mark.parametrize("figure", [("random_write", '"900 IO/s"'), ("random_read", '"900 IO/s"')])
def test_a_device_that_is_off_by_more_than_twice_is_not_written(
    tmp_path: Path, figure: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    """900 a second at depth 16 are five times what 7200 rpm and 8.5 ms of seek give."""
    key, value = figure
    sheet = written(tmp_path, DISK | {"interface": '"sas-12g"', key: value})
    out = tmp_path / "device.toml"
    with pytest.raises(SystemExit) as ended:
        app(["import", "datasheet", str(sheet), "--out", str(out), "--json"])
    said = capsys.readouterr()
    assert ended.value.code == 1
    assert not out.exists()
    document = json.loads(said.out)
    assert document["device"] is None
    (point,) = (point for point in document["points"] if point["quantity"] == key)
    assert point["stated"] == 900
    assert point["error_pct"] < -50
    assert f"error: {sheet}: {key}: 900 IO/s stated, {point['simulated']:,.6g} IO/s" in said.err
    assert "device.toml was not written" in said.err
    assert "figures: 0 of" in said.err
    assert max(map(len, said.err.splitlines())) < 200 + len(str(sheet))


@pytest.mark.parametrize(("steady", "worthless"), [(2400.0, []), (40_000.0, ["random_write"])])
def test_a_burst_is_not_slower_than_the_steady_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, steady: float, worthless: list[str]
) -> None:
    figures = {"random_write": steady}
    monkeypatch.setattr(build, "adjust", lambda read, drive, tell: (drive, figures))
    sheet = SSD | {"burst": "true", "cell": '"mlc"', "random_write": '"2500 IO/s"'}
    imported = import_datasheet(written(tmp_path, sheet))
    assert [point.quantity for point in imported.useless] == worthless
    assert bool(imported.points[0].why_not) is not bool(worthless)


def test_contradictory_endurance_is_named_with_both_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing else is: figures come out as they do without it."""
    monkeypatch.setattr(build, "adjust", lambda read, drive, tell: (drive, {}))
    imported = made(tmp_path, SSD | {"rated_writes": '"9 TB"'})
    assert imported.warnings == (
        "rated_writes: 9 TB, but dwpd = 1 gives 1,051 TB in 3 years, 1,752 TB in 5",
    )


def test_what_the_rest_of_a_sheet_does_not_allow_is_named(tmp_path: Path) -> None:
    """A read of 40 us leaves no time for a page of TLC beside host, core, bus and link."""
    reads = {key: value for key, value in SSD.items() if key != "random_write"}
    imported = made(tmp_path, reads | {"read_latency": '"37 us"'})
    (warning,) = imported.warnings
    assert "read_latency: 37 us stated" in warning
    assert "simulated" in warning


@pytest.mark.parametrize(("steady", "outruns"), [(2400.0, True), (40_000.0, False)])
def test_a_stated_burst_bounds_the_steady_state_from_above(
    tmp_path: Path, steady: float, outruns: bool
) -> None:
    """A steady state above it is adjusted to it; one below says nothing of the burst."""
    sheet = SSD | {"burst": "true", "cell": '"mlc"', "random_write": '"2500 IO/s"'}
    read = read_sheet(written(tmp_path, sheet))
    bench = Bench(read.sheet)
    bench.measure = lambda draft, quantity: steady  # type: ignore[method-assign]
    assert adjust._outruns(bench, read, first(read.sheet), "random_write") is outruns
