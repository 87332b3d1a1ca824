"""The catalogue's drives that come from data sheets are what their sheets give, byte for byte."""

import pytest

from raidlab.calibration.datasheets.build import import_datasheet
from raidlab.calibration.datasheets.catalogue import SHEETS, page, target
from raidlab.devices.catalogue import find, names
from raidlab.devices.datasheet.sheet import read_sheet
from raidlab.devices.spec_writer import DEVICE_SCHEMA, with_schema

PATHS = sorted(SHEETS.glob("*.toml"))


def test_every_sheet_is_a_drive_of_the_catalogue_and_says_where_it_was_read() -> None:
    assert len(PATHS) >= 60
    for path in PATHS:
        sheet = read_sheet(path).sheet
        assert sheet.name == path.stem
        assert sheet.source
        assert sheet.name in names()
        assert find(sheet.name).sources["capacity"].source == "data-sheet"


@pytest.mark.parametrize("name", ["pe8110-960", "micron-7450-max-800", "980-250", "exos-x20-sas"])
def test_a_sheet_gives_the_bytes_of_the_catalogue(name: str) -> None:
    imported = import_datasheet(SHEETS / f"{name}.toml")
    file = target(imported)
    assert with_schema(imported.draft.to_toml(), file, DEVICE_SCHEMA) == file.read_text()


def test_the_page_names_what_does_not_come_out() -> None:
    imported = import_datasheet(SHEETS / "p4800x-375.toml")
    text = page([imported], [])
    assert "| random_write | 1 |" in text
    assert "`p4800x-375`: mixed_random: 500,000 IO/s stated" in text
