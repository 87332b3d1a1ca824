"""Closed forms of disks, against examples worked by hand."""

from pathlib import Path

import pytest

from raidlab.devices.catalogue import load_device
from raidlab.devices.datasheet.disk import device, first, sectors
from raidlab.devices.datasheet.sheet import read_sheet
from raidlab.devices.faults import SpecError
from tests.devices.datasheet.test_sheet import DISK, written


def test_sectors_of_a_track_follow_from_the_sustained_rate() -> None:
    """7200 rpm: 8.333 ms and a skew of 0.7 ms; 285 MB/s in 9.033 ms are 2,574,500 B."""
    assert sectors(285e6, 7200, 0.7) == round(2_574_500 / 512)


def test_heads_are_stated_or_two_a_platter(tmp_path: Path) -> None:
    assert first(read_sheet(written(tmp_path, DISK)).sheet).heads == 20
    nine = DISK | {"heads": "18"}
    assert first(read_sheet(written(tmp_path, nine)).sheet).heads == 18
    without = {key: value for key, value in DISK.items() if key != "platters"}
    # 2.1 * sqrt(20) = 9.4.
    assert first(read_sheet(written(tmp_path, without)).sheet).heads == 18


def test_a_device_holds_the_capacity_and_says_what_is_assumed(tmp_path: Path) -> None:
    read = read_sheet(written(tmp_path, DISK))
    file = tmp_path / "device.toml"
    file.write_text(device(first(read.sheet), read).to_toml())
    made = load_device(file)
    assert made.spec.model_dump()["capacity"] == 20 * 10**12
    assert made.sources["geometry.outer_sectors"].source == "derived"
    assert made.sources["seek.write.average"].source == "assumed"
    assert made.sources["seek.read.average"].source == "derived"


def test_a_rate_that_is_not_stated_follows_from_the_density(tmp_path: Path) -> None:
    """2 TB a platter: 200 MB/s * 2^0.42 = 268 MB/s."""
    sheet = {key: value for key, value in DISK.items() if key != "sustained_rate"}
    read = read_sheet(written(tmp_path, sheet))
    disk = first(read.sheet)
    assert disk.outer_sectors == pytest.approx(sectors(267.6e6, 7200, 0.7), rel=1e-3)
    origin = device(disk, read).origins["geometry.outer_sectors"]
    ends = [round(share * disk.outer_sectors) for share in (0.85, 1.15)]
    assert [int(origin.low), int(origin.high)] == ends


def test_a_shingled_disk_has_bands_and_a_log_by_its_sheet(tmp_path: Path) -> None:
    read = read_sheet(written(tmp_path, DISK | {"shingled": "true", "media_cache": '"20 GB"'}))
    draft = device(first(read.sheet), read)
    assert draft.values["shingled"]["media_cache"] == "20000000000 B"
    assert draft.origins["shingled.media_cache"].word == "data-sheet"
    assert (draft.origins["shingled.band"].low, draft.origins["shingled.band"].high) == (
        "15 MiB",
        "40 MiB",
    )
    file = tmp_path / "device.toml"
    file.write_text(draft.to_toml())
    assert load_device(file).spec.model_dump()["shingled"]["band"] == 28 << 20


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"media_cache": '"20 GB"'}, "media_cache"),
        ({"shingled": "true", "media_cache": '"20 TB"'}, "media_cache"),
        ({"shingled": "true", "actuators": "2"}, "actuators"),
    ],
)
def test_a_log_without_bands_and_two_arms_over_them_are_faults(
    tmp_path: Path, keys: dict[str, str], said: str
) -> None:
    with pytest.raises(SpecError, match=said):
        read_sheet(written(tmp_path, DISK | keys))


def test_writes_that_beat_reads_are_cached(tmp_path: Path) -> None:
    sas = DISK | {"interface": '"sas-12g"', "random_read": '"152 IO/s"'}
    for rate, cached in (("140 IO/s", False), ("192 IO/s", True)):
        sheet = read_sheet(written(tmp_path, sas | {"random_write": f'"{rate}"'})).sheet
        assert first(sheet).caches_writes is cached
