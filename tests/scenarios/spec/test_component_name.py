"""Names of components: what belongs to which drive."""

from __future__ import annotations

import pytest

from raidlab.scenarios.spec.component_name import DriveName, drive_name


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("data/s4610-480.3", DriveName("data", "s4610-480", 3)),
        ("data/s4610-480.12 SATA 6G", DriveName("data", "s4610-480", 12, "SATA 6G")),
        ("a.b/samsung-7.1.0 PCIe 3.0 x4", DriveName("a.b", "samsung-7.1", 0, "PCIe 3.0 x4")),
        ("data-tier/dc600m.1 power limit", DriveName("data-tier", "dc600m", 1, "power limit")),
    ],
)
def test_the_name_of_what_a_drive_has_is_read_and_written_alike(text: str, name: DriveName) -> None:
    assert drive_name(text) == name
    assert str(name) == text


@pytest.mark.parametrize("text", ["lsi2208 expander, 8 ports SAS 6G", "host thread 0", "data"])
def test_what_drives_share_is_of_none(text: str) -> None:
    assert drive_name(text) is None
