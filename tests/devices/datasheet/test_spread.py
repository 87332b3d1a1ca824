"""Bounds around what one maker states."""

from pathlib import Path

import pytest

from raidlab.devices.datasheet.flash import first
from raidlab.devices.datasheet.flash_device import device
from raidlab.devices.datasheet.sheet import read_sheet
from raidlab.devices.datasheet.spread import widen
from tests.devices.datasheet.test_sheet import SSD, written


def bounds_of(folder: Path, more: dict[str, str]) -> dict[str, tuple[str, str]]:
    read = read_sheet(written(folder, SSD | more))
    flash = first(read.sheet)
    draft = device(flash, read)
    widen(draft, flash)
    return {key: (origin.low, origin.high) for key, origin in draft.origins.items()}


def test_a_stated_rate_has_bounds_as_others_measure_it(tmp_path: Path) -> None:
    """Four cores at 800,000 reads a second take 5 us for one: 5 / 1.25 to 5 / 0.7."""
    bounds = bounds_of(tmp_path, {"random_read": '"800000 IO/s"'})
    times = [float(end.removesuffix(" us")) for end in bounds["firmware.read"]]
    assert times == pytest.approx([4, 7.143], rel=1e-3)


def test_no_stream_is_faster_than_its_link(tmp_path: Path) -> None:
    low, high = map(float, bounds_of(tmp_path, {})["link_payload"])
    assert 0 < low < high <= 1


def test_a_stream_into_an_slc_cache_bounds_its_programs(tmp_path: Path) -> None:
    """Random writes of a burst bound nothing: cores, link and buffer share in them."""
    client = bounds_of(tmp_path, {"burst": "true"})
    low, high = (float(end.removesuffix(" us")) for end in client["nand.slc_cache.program"])
    assert high / low == pytest.approx(1.25 / 0.7, rel=1e-3)
    assert client["nand.blocks_per_plane"] == ("", "")
    assert bounds_of(tmp_path, {})["nand.blocks_per_plane"] != ("", "")
