"""SSDs to which nothing was written before the run: they answer reads without NAND."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def has_fresh_ssds(plan: Mapping[str, Any], array: int) -> bool:
    """True if an array of a plan has SSDs to which nothing was written before the run."""
    devices = (
        plan["devices"][plan["drives"][drive]["device"]]
        for drive in plan["arrays"][array]["drives"]
    )
    return any(
        device["kind"] == "ssd" and not (device.get("history") or device.get("snapshot"))
        for device in devices
    )
