"""The host's CPU: what an I/O costs the thread that issues it."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field

from raidlab.devices.links import InterfaceName
from raidlab.devices.schema import DeviceSpec, Table
from raidlab.devices.units import Duration, Frequency


class Port(Table):
    """What a command holds the port of a drive for, besides its data: frames, handshakes."""

    read: Duration = 0
    """Each read."""
    write: Duration = 0
    """Each write."""
    latency: Duration = 0
    """What the adapter takes to pass a command on, without the port being held."""


class BlockLayer(Table):
    """The operating system's queue before a drive."""

    scheduler: Literal["none", "deadline", "fair"] = "none"
    """Order of what waits while the drive is full. `none`: as it came; `deadline`: by position,
    reads first; `fair`: by thread in turns, as Linux's cfq."""
    requests: int = Field(default=0, ge=0, le=1 << 20)
    """Requests that the scheduler sees, waiting and at the drive; 0 for no limit."""

    def to_plan(self) -> dict[str, Any]:
        """`BlockLayerParams` of the native engine."""
        return {"scheduler": self.scheduler, "requests": self.requests}


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
    wake: Duration = 0
    """CPU time of a completion besides if its thread was asleep: interrupt, change of context."""
    fill: Duration = 0
    """CPU time to issue a write besides: its data are made or copied."""
    sata: InterfaceName = "sata-6g"
    """Port of a SATA drive that hangs on the host directly."""
    sas: InterfaceName = "sas-12g"
    """Port of a SAS drive on a plain adapter that takes no time of its own."""
    slot: InterfaceName = "pcie-3.0-x16"
    """Widest PCIe slot, for controllers and drives on PCIe."""
    port: Port = Port()
    """Of drives that hang on the host directly."""
    block_layer: BlockLayer = BlockLayer()
    """Before drives that hang on the host directly."""

    def to_plan(self, clock: float | None = None) -> dict[str, Any]:
        """`HostParams` of the native models, at `clock` hertz if that differs from the file's."""
        scale = 1.0 if clock is None else self.clock / clock
        return {
            "submit_ns": round(self.submit * scale),
            "complete_ns": round(self.complete * scale),
            "raid_command_ns": round(self.raid_command * scale),
            "wake_ns": round(self.wake * scale),
            "fill_ns": round(self.fill * scale),
            "cores": self.threads,
        }
