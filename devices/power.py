"""Power by activity: what a drive draws idle, and what its operations cost beside that.

docs/explanation/power.md has the equations.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic import Field

from raidlab.devices.faults import Fault
from raidlab.devices.schema import Table
from raidlab.devices.units import Energy, Power


class DiskPower(Table):
    """`[power]` of a disk."""

    idle: Power
    """While it turns and nothing else."""
    active: Power
    """While its arm seeks, reads or writes."""

    def faults(self) -> Iterator[Fault]:
        """Less at work than idle."""
        if self.active < self.idle:
            yield Fault("active", f"{self.active:g} W", f"at least the {self.idle:g} W of idle")

    def to_plan(self) -> dict[str, Any]:
        """`ArmPowerParams` of the native models."""
        return {"idle_w": self.idle, "active_w": self.active}


class FlashPower(Table):
    """`[power]` of an SSD."""

    idle: Power
    read: Energy = Field(le=1)
    """Of an array read: one page of every plane, or of one that reads by itself."""
    program: Energy = Field(le=1)
    """Of a program of one page of every plane."""
    erase: Energy = Field(le=1)
    """Of a block's erase."""
    byte: float = Field(ge=0, le=1e6)
    """Nanojoules a byte on a channel, through the controller and over the link."""
    limit: Power | None = None
    """Most that it may draw, as of a power state of NVMe: operations of the dies then wait for
    their energy; no limit if left out."""

    def faults(self) -> Iterator[Fault]:
        """A limit that idling exceeds."""
        if self.limit is not None and self.limit <= self.idle:
            allowed = f"above the {self.idle:g} W of idle: nothing is left for operations"
            yield Fault("limit", f"{self.limit:g} W", allowed)

    def energies(self) -> dict[str, float]:
        """Power without activity and energies, as the native models name them."""
        return {
            "idle_w": self.idle,
            "read_nj": self.read * 1e9,
            "program_nj": self.program * 1e9,
            "erase_nj": self.erase * 1e9,
            "byte_nj": self.byte,
        }

    def to_plan(self) -> dict[str, Any]:
        """`FlashPowerParams` of the native models."""
        return self.energies() | {"limit_w": self.limit}


class BytePower(Table):
    """`[power]` of a drive whose operations cost as their bytes do."""

    idle: Power
    read: float = Field(ge=0, le=1e6)
    """Nanojoules of a byte that is read."""
    write: float = Field(ge=0, le=1e6)
    """The same of one that is written."""

    def to_plan(self) -> dict[str, Any]:
        """`BytePowerParams` of the native models."""
        return {"idle_w": self.idle, "byte_nj": [self.read, self.write]}
