"""Generic drives: medians of their class, and draws as wide as the class."""

from pathlib import Path

import pytest

from raidlab.calibration.datasheets.catalogue import SHEETS
from raidlab.calibration.datasheets.generic import Generic, generic_sheets, sheet_of
from raidlab.devices.catalogue import find
from raidlab.devices.datasheet.flash import Flash, first
from raidlab.devices.datasheet.flash_device import device
from raidlab.devices.datasheet.sheet import Sheet, read_sheet
from raidlab.devices.datasheet.spread import widen
from raidlab.devices.draws import drawn
from raidlab.devices.ssd import SsdSpec
from tests.devices.datasheet.test_sheet import SSD, written


def member(folder: Path, name: str, keys: dict[str, str]) -> Sheet:
    return read_sheet(written(folder, SSD | {"name": f'"{name}"'} | keys)).sheet


def test_the_catalogue_s_generic_sheets_are_made_of_the_others() -> None:
    for path, text in generic_sheets(SHEETS).items():
        assert path.read_text() == text, f"{path.name}: make datasheets"


def test_figures_are_medians_and_bounds_those_of_the_members(tmp_path: Path) -> None:
    rates = {"a": 400_000, "b": 500_000, "c": 800_000}
    sheets = [
        member(tmp_path, name, {"random_read": f'"{rate} IO/s"'}) for name, rate in rates.items()
    ]
    other = member(tmp_path, "old", {"interface": '"pcie-3.0-x4"', "sequential_read": '"3 GB/s"'})
    text = sheet_of(Generic("x", "Generic", "nvme-gen4-tlc"), [*sheets, other])
    assert 'random_read = "500000 IO/s"' in text
    assert 'random_read = ["400000 IO/s", "800000 IO/s"]' in text
    assert 'source = "medians of the data sheets of a, b, c"' in text
    # What all state alike has no bounds.
    assert "write_latency = [" not in text


def test_a_class_bursts_no_faster_at_random_than_in_a_stream(tmp_path: Path) -> None:
    """By hand: of three, two state random writes, 0.8192 and 0.9216 of their streams. The median
    stream is 4 GB/s: 0.8704 of it are 850,000 writes of 4096 B. The median of two is 962,500."""
    client = {"burst": "true", "cell": '"tlc"'}
    rest = {"dwpd": "0.3", "rated_writes": '"600 TB"'}
    rates = {"a": (4e9, None), "b": (4e9, 4e9 * 0.8192), "c": (5e9, 5e9 * 0.9216)}
    sheets = []
    for name, (stream, random) in rates.items():
        keys = client | rest | {"sequential_write": f'"{stream / 1e6:.0f} MB/s"'}
        found = member(
            tmp_path, name, keys | {"random_write": f'"{(random or stream) / 4096:.0f} IO/s"'}
        )
        sheets.append(found if random else found.model_copy(update={"random_write": None}))
    text = sheet_of(Generic("x", "Generic", "nvme-gen4-tlc-client"), sheets)
    assert 'sequential_write = "4000 MB/s"' in text
    assert 'random_write = "850000 IO/s"' in text


def flash(tmp_path: Path, spread: str) -> tuple[Flash, dict[str, tuple[str, str]]]:
    path = written(tmp_path, SSD)
    path.write_text(path.read_text() + f"[spread]\n{spread}\n")
    read = read_sheet(path)
    found = first(read.sheet)
    draft = device(found, read)
    widen(draft, found)
    return found, {key: (origin.low, origin.high) for key, origin in draft.origins.items()}


def test_bounds_of_a_stream_are_bounds_of_the_time_of_a_program(tmp_path: Path) -> None:
    """A page set of 699.1 us, 5.95 of them an erase: 559.2 at 1,875 MB/s, 932.1 at 1,125."""
    found, bounds = flash(tmp_path, 'sequential_write = ["1125 MB/s", "1875 MB/s"]')
    assert found.program_us == pytest.approx(693, abs=1)
    assert bounds["nand.program"] == ("553.3 us", "926.1 us")


def test_bounds_of_random_writes_are_bounds_of_spare_space(tmp_path: Path) -> None:
    """WA 5.23 at 70,000; 2.61 at 140,000 needs 26 % and 6.97 at 52,500 needs 7.8 %."""
    found, bounds = flash(tmp_path, 'random_write = ["52500 IO/s", "140000 IO/s"]')
    low, high = map(float, bounds["nand.blocks_per_plane"])
    assert low < found.blocks < high
    # Blocks for data in proportion to the capacity and its spare space.
    assert (high - 15) / (low - 15) == pytest.approx(1.26 / 1.078, rel=0.02)


def test_bounds_without_a_figure_or_around_another_are_faults(tmp_path: Path) -> None:
    from raidlab.devices.faults import SpecError

    path = written(tmp_path, SSD)
    path.write_text(
        path.read_text()
        + '[spread]\nrandom_read = ["1 IO/s", "2 IO/s"]\nsequentialread = ["1 MB/s", "2 MB/s"]\n'
    )
    with pytest.raises(SpecError) as raised:
        read_sheet(path)
    random, unknown = map(str, raised.value.faults)
    assert "spread.random_read" in random
    assert "around the random_read that the sheet states" in random
    assert 'did you mean "sequential_read"?' in unknown


def test_draws_of_a_generic_drive_are_as_wide_as_its_class() -> None:
    generic = find("generic-nvme-gen4-tlc")
    rates = []
    for seed in range(100):
        spec = drawn(generic, str(seed)).spec
        assert isinstance(spec, SsdSpec)
        rates.append(1e9 * spec.firmware.cores / spec.firmware.read)
    # Members state 530,000 to 1,500,000 reads a second.
    assert 525_000 < min(rates) < 650_000
    assert 1_250_000 < max(rates) < 1_510_000
