"""Drives of 3D XPoint: a medium that is written in place, about as fast as it is read.

docs/explanation/xpoint.md has the equations.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from raidlab.devices.plan_types import XpointDeviceParams
from raidlab.devices.power import BytePower
from raidlab.devices.schema import DriveOptions, DriveSpec, Table
from raidlab.devices.units import Duration, Rate, Size


class Command(Table):
    """`[read]` or `[write]`: what a command takes."""

    command: Duration
    """Time of a core."""
    rate: Rate = Field(ge=10**6)
    """Of all channels of the medium, which share each command's bytes among them."""
    latency: Duration = 0
    """What it waits for besides."""


class XpointSpec(DriveSpec):
    """`kind = "xpoint"`: no collection, no erase, no buffer: a write is complete on the medium."""

    options: ClassVar[frozenset[str]] = frozenset({"history"})

    kind: Literal["xpoint"]
    capacity: Size = Field(gt=0)
    drive_writes_per_day: float | None = Field(default=None, gt=0)
    """Rated endurance over five years."""
    cores: int = Field(default=1, ge=1, le=1024)
    """Cores that work on commands in parallel."""
    read: Command
    write: Command
    power: BytePower | None = None

    def capacity_bytes(self, options: DriveOptions) -> int:
        """Bytes that a host can address."""
        return self.capacity

    def to_plan(self, options: DriveOptions) -> XpointDeviceParams:
        """`XpointParams` of the native models; what was written before changes nothing."""
        ways = (self.read, self.write)
        plan: XpointDeviceParams = {
            "kind": "xpoint",
            "capacity_bytes": self.capacity,
            "cores": self.cores,
            "command_ns": [way.command for way in ways],
            "bytes_per_s": [way.rate for way in ways],
            "latency_ns": [way.latency for way in ways],
        }
        if self.power is not None:
            plan["power"] = self.power.to_plan()
        return plan
