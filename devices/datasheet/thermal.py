"""Temperature of M.2 drives: no sheet states more than a range of operation.

An M.2 card of some 8 g is warm within a minute. Its watts are those of [power]; where it sits
decides the rest. docs/explanation/client-drives.md has the reports.
"""

from __future__ import annotations

from raidlab.devices.datasheet.draft import Draft, Origin
from raidlab.devices.datasheet.flash import Flash

_REVIEWS = "thermal pages of TechPowerUp's reviews"
_CAPACITY = "8 J/K"
_THROTTLE_STEPS = (("75 degC", 0.5), ("80 degC", 0.2), ("85 degC", 0.05))
"""Temperatures, with the share of its speed at which NAND then works."""
_HYSTERESIS = "5 K"
_AMBIENT = "35 degC"
_COOLING = {
    "heatsink": ("5 K/W", f"{_REVIEWS}: heatsink or a fan keeps nearly all below throttling"),
    "bare": ("12 K/W", f"{_REVIEWS}: 78 to 102 degC without, at 5 to 6 W"),
}
"""The first is the usual one."""


def put_thermal(draft: Draft, flash: Flash) -> None:
    """`[thermal]` of client drives over PCIe; drives for servers have the air that they ask for."""
    if flash.family != "pcie" or not flash.sheet.burst:
        return
    draft.put("thermal.capacity", _CAPACITY, Origin("assumed", "8 g of board, chips and sink"))
    draft.put("thermal.hysteresis", _HYSTERESIS, Origin("assumed", "no sheet says it"))
    draft.put(
        "thermal.step", [{"above": above, "speed": speed} for above, speed in _THROTTLE_STEPS]
    )
    note = (
        f"{_REVIEWS}: throttling from 60 to 85 degC by the drive's own sensor, to 50 MB/s at worst"
    )
    draft.origins["thermal.step"] = Origin("assumed", note)
    for name, (resistance, why) in _COOLING.items():
        ambient = Origin("assumed", "air in a case")
        draft.put(f"thermal.cooling.{name}.ambient", _AMBIENT, ambient)
        draft.put(f"thermal.cooling.{name}.resistance", resistance, Origin("assumed", why))
