"""Usual watts of a drive whose file and data sheet state none: those of its class.

docs/explanation/power.md has the table.
"""

from __future__ import annotations

from raidlab.devices.datasheet.priors import (
    CLIENT_WATTS,
    DISK_WATTS,
    FLASH_WATTS,
    Watts,
    speed_class,
)
from raidlab.devices.hdd import HddSpec
from raidlab.devices.links import Interface
from raidlab.devices.ssd import SsdSpec


def usual_of_disk(rpm: float) -> Watts:
    """Of a disk of this speed."""
    return DISK_WATTS[speed_class(rpm)]


def usual_of_flash(interface: str, *, client: bool) -> Watts:
    """Of an SSD: of a client, else of a server by its link."""
    return CLIENT_WATTS if client else FLASH_WATTS[Interface.parse(interface).family]


def usual_watts(spec: object) -> Watts | None:
    """Of a device of the catalogue; None for what has no such class, such as a controller."""
    if isinstance(spec, HddSpec):
        return usual_of_disk(spec.speed)
    if isinstance(spec, SsdSpec) and spec.interface != "none":
        return usual_of_flash(spec.interface, client=spec.data_sheet.get("burst") is True)
    return None
