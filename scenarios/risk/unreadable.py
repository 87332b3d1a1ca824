"""How often a drive cannot read a sector: what makers state, by class of drive.

A figure is the limit that a data sheet or a standard states, not a mean (docs/explanation/risk.md).
"""

from __future__ import annotations

from typing import Final

from raidlab.devices.catalogue import Device
from raidlab.devices.classes import class_of
from raidlab.devices.hdd import HddSpec
from raidlab.devices.ssd import SsdSpec
from raidlab.devices.xpoint import XpointSpec
from raidlab.scenarios.risk.lifetime import Published

_SERVER_SSD: Final = Published(
    1e-17, "data sheets of SSDs for servers: one sector in 10^17 bits read (JESD218 asks for 10^16)"
)
_CLIENT_SSD: Final = Published(1e-15, "JEDEC JESD218: the limit of the client class")
_FAST_DISK: Final = Published(
    1e-16, "data sheets of disks of 10,000 and 15,000 rpm: one sector in 10^16 bits read"
)
_DISK: Final = Published(1e-15, "data sheets of 7,200 rpm disks: one sector in 10^15 bits read")
_SLOW_DISK: Final = Published(
    1e-14, "data sheets of disks below 7,200 rpm: one sector in 10^14 bits read"
)
_OTHER_KIND: Final = Published(1e-15, "no published figure of this kind: assumed")
_SLOWEST_7200: Final = 7_000
"""rpm: drives of this speed keep within a few percent of it."""


def unreadable_rate(device: Device) -> Published:
    """Unreadable sectors for each bit that is read of this drive."""
    kind = class_of(device)
    if isinstance(device.spec, HddSpec):
        if kind.endswith(("-10k", "-15k")):
            return _FAST_DISK
        return _DISK if device.spec.speed >= _SLOWEST_7200 else _SLOW_DISK
    if not isinstance(device.spec, SsdSpec | XpointSpec):
        return _OTHER_KIND
    return _CLIENT_SSD if kind.endswith("-client") else _SERVER_SSD
