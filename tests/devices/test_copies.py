"""md's layouts of RAID 10: their words, and what they leave for data."""

from __future__ import annotations

import pytest

from raidlab.devices.copies import CopyLayout
from raidlab.devices.levels import facts


@pytest.mark.parametrize(
    ("text", "layout"),
    [
        ("n2", CopyLayout("near", 2)),
        ("far", CopyLayout("far", 2)),
        ("far=2", CopyLayout("far", 2)),
        ("f3", CopyLayout("far", 3)),
        ("Offset2", CopyLayout("offset", 2)),
    ],
)
def test_words_of_mdadm_are_layouts(text: str, layout: CopyLayout) -> None:
    assert CopyLayout.parse(text) == layout
    assert CopyLayout.parse(str(layout)) == layout


@pytest.mark.parametrize("text", ["", "x2", "n1", "far17", "left-symmetric", "n2f2"])
def test_other_words_are_none(text: str) -> None:
    assert CopyLayout.parse(text) is None


def test_a_drive_in_two_holds_data_with_two_copies() -> None:
    """Three drives of 9 rows: 27 places. Near and offset use whole stripes, 8 rows of them."""
    for text, units in [("n2", 12), ("f2", 12), ("o2", 12), ("n3", 9), ("f3", 9)]:
        assert facts("raid10", CopyLayout.parse(text)).units_of_data(3, 9, 4096) == units
    assert CopyLayout().units_of_data(4, 9) == 18


def test_two_near_copies_on_an_even_number_of_drives_are_striped_pairs() -> None:
    assert [n for n in range(2, 9) if CopyLayout().is_of_pairs(n)] == [4, 6, 8]
    assert not CopyLayout("offset", 2).is_of_pairs(4)
