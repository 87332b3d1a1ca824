"""The host's CPU: what an I/O costs the thread that issues it."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field

from raidlab.devices.links import InterfaceName
from raidlab.devices.schema import DeviceSpec
from raidlab.devices.units import Duration, Frequency


class HostSpec(DeviceSpec):
    """`kind = "host"`: times of one load thread at the host's own clock."""

    role: ClassVar[str] = "host"

    kind: Literal["host"]
    clock: Frequency = Field(gt=0)
    """Clock at which the times below hold; they scale with its inverse."""
    threads: int = Field(default=1, ge=1, le=1024)
    """Hardware threads."""
    submit: Duration
    """CPU time of the submitting thread to issue an I/O."""
    complete: Duration
    """CPU time of the same thread to complete it."""
    raid_command: Duration
    """CPU time for each command that RAID in the host issues to a drive."""
    sata: InterfaceName = "sata-6g"
    """Port of a SATA drive that hangs on the host directly."""
    sas: InterfaceName = "sas-12g"
    """Port of a SAS drive on a plain adapter that takes no time of its own."""
    slot: InterfaceName = "pcie-3.0-x16"
    """Widest PCIe slot, for controllers and drives on PCIe."""

    def to_plan(self, clock: float | None = None) -> dict[str, Any]:
        """`HostParams` of the native models, at `clock` hertz if that differs from the file's."""
        scale = 1.0 if clock is None else self.clock / clock
        return {
            "submit_ns": round(self.submit * scale),
            "complete_ns": round(self.complete * scale),
            "raid_command_ns": round(self.raid_command * scale),
        }
