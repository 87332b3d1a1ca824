"""The device that is only a service time: `null`, and stations for teaching and closed forms."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from raidlab.devices.plan_types import StationDeviceParams
from raidlab.devices.schema import DriveOptions, DriveSpec
from raidlab.devices.units import Duration, Size


class StationSpec(DriveSpec):
    """`kind = "station"`: equal servers, first come first served, one service time.

    With a service time of zero it is the null device, which takes no time at all.
    """

    kind: Literal["station"]
    capacity: Size = Field(gt=0)
    service: Duration
    """Mean service time of a command, whatever its size."""
    distribution: Literal["fixed", "exponential"] = "fixed"
    servers: int = Field(default=1, ge=1, le=1_000_000)
    """Commands served at once."""
    settle: Duration = 0
    """How long after its end a write is still in memory only that forgets it when the power fails;
    0 for never."""

    def capacity_bytes(self, options: DriveOptions) -> int:
        """Bytes that a host can address."""
        return self.capacity

    def volatile(self, options: DriveOptions) -> bool:
        """True if it acknowledges a write while only memory has it that forgets."""
        return self.settle > 0

    def to_plan(self, options: DriveOptions) -> StationDeviceParams:
        """`StationParams` of the native models."""
        return {
            "kind": "station",
            "capacity_bytes": self.capacity,
            "service_ns": self.service,
            "distribution": self.distribution,
            "servers": self.servers,
            "settle_ns": self.settle,
        }
