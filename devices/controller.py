"""RAID controllers and plain adapters: ports, link, cores, firmware time, what they can do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from raidlab.devices import plan_bounds
from raidlab.devices.bounds import within
from raidlab.devices.faults import Fault
from raidlab.devices.levels import Level
from raidlab.devices.links import Interface, InterfaceName
from raidlab.devices.plan_types import CachePlan, ControllerPlan
from raidlab.devices.schema import DeviceSpec, Table
from raidlab.devices.units import Duration, Rate, Share, Size, format_duration, format_size


class Firmware(Table):
    """Time on a core of the controller (or of the host, for RAID without a controller's chip)."""

    request: Duration
    """For each request of the host that goes straight to the drives."""
    command: Duration
    """For each command to a drive."""
    page: Duration = 0
    """For each page of 4 KiB of data that moves between host and controller, and of what leaves the
    cache in parts of a stripe unit; not on the short path."""
    cached: Duration | None = None
    """For each request that the cache serves; `request` if left out."""
    parity: Duration | None = None
    """For each request to an array with parity, bypassing the cache; `request` if left out."""
    fast_path: Duration | None = None
    """For each request on the short path (FastPath), with its command; `request` if left out."""
    latency: Duration = 0
    """Time of each request in messages, set-up and interrupts, on no core."""


class Cache(Table):
    """The controller's memory."""

    size: Size = Field(gt=0)
    bandwidth: Rate | None = None
    """Of the memory itself."""
    efficiency: float = Field(default=1.0, gt=0, le=1)
    """Share of the bandwidth that is left for data when directions and banks alternate."""
    dirty: Share = Field(default=0.75, gt=0)
    """Share that may hold data not yet on the drives; further writes wait."""
    low: Share = 0.5
    """Share of `dirty` below which data wait for neighbours instead of going out."""
    flush: Duration = 4_000_000_000
    """What is dirty when such an interval begins goes out to the drives in the course of it."""
    destages: int = Field(default=4, ge=1, le=1024)
    """Stripes that are written at once, for each drive; parts of units without parity."""
    backup: tuple[Literal["none", "bbu", "fbu"], ...] = ("none",)
    """What can hold or save its content through an outage."""

    def faults(self) -> Iterator[Fault]:
        """A flush that never rests."""
        if self.flush < 1_000_000:
            yield Fault("flush", format_duration(self.flush), 'at least "1 ms"')

    @property
    def usable(self) -> int:
        """Bytes a second that the memory moves for data; 0 for no limit."""
        return 0 if self.bandwidth is None else round(self.bandwidth * self.efficiency)

    def to_plan(self) -> CachePlan:
        """The cache of the controller's entry in the plan."""
        return {
            "bytes": self.size,
            "dirty_share": self.dirty,
            "low_share": self.low,
            "flush_interval_ns": self.flush,
            "destages_per_drive": self.destages,
        }


class CacheTier(Table):
    """How SSDs serve as a cache of the controller's arrays, if it can do that."""

    size_max: Size = 512 * 10**9
    """Largest cache."""
    lookup: Duration = 10_000
    """Time on a core for looking a request up."""
    promote_after: int = Field(default=3, ge=1, le=255)
    """Accesses that make a line (a stripe unit) hot: it is copied to the SSDs."""
    half_life: Duration = Field(default=3600 * 10**9, gt=0)
    """The access count of lines that are not on the SSDs is halved this often."""
    dirty: Share = 0.5
    """Share of the lines above which dirty ones are written back to the disks."""
    copies: int = Field(default=256, ge=1, le=65536)
    """Lines copied to the SSDs at once."""


class StreamCopies(Table):
    """Levels on which one stream of reads is served by both copies, by the drives' interface."""

    sas: tuple[Level, ...] | None = None
    """All levels with copies if left out."""
    sata: tuple[Level, ...] | None = None
    """As `sas`, for SATA drives."""

    def serves(self, level: str, family: str) -> bool:
        """True if both copies serve a stream on `level` of drives of an interface's family."""
        stated = {"sas": self.sas, "sata": self.sata}.get(family)
        return stated is None or level in stated


class ControllerSpec(DeviceSpec):
    """`kind = "controller"`."""

    role: ClassVar[str] = "controller"

    kind: Literal["controller"]
    link: InterfaceName
    """To the host."""
    ports: int = Field(ge=1, le=256)
    """Drive ports, of one lane each."""
    port: InterfaceName
    """Interface of each port."""
    nvme: InterfaceName | None = None
    """Widest link of an NVMe drive on it, of a controller whose ports carry PCIe, too (tri-mode): a
    port is a lane. No NVMe drives if left out."""
    drives_max: int = Field(ge=1, le=2**16)
    """Drives at most, behind expanders where that is more than `ports`."""
    levels: tuple[Level, ...] = Field(min_length=1)
    """Levels that it offers; a drive on its own (`jbod`) need not be among them."""
    raid10_drives_max: int | None = Field(default=None, ge=4, le=4096)
    """Drives of a RAID 10 at most, where its firmware has a limit."""
    cores: Annotated[int, within(plan_bounds.ControllerPlan.cores)] = 1
    """Cores that work on requests in parallel."""
    cache_cores: int = Field(default=0, ge=0, le=16)
    """Of these the cores that work on the write cache and on stripes; all if 0 or left out."""
    queue_depth: int = Field(default=0, ge=0, le=2**24)
    """Commands in work at once; further ones wait in the driver. 0 for no limit."""
    firmware: Firmware
    parity: Rate | None = None
    """What the parity engine takes in; no limit if left out."""
    raid_in_host: bool = False
    """True if the host's CPU does the RAID work, as with chipset controllers."""
    read_ahead: Size | None = Field(default=None, gt=0)
    """Of chipset controllers: memory of the host into which their driver can read streams ahead."""
    cache: Cache | None = None
    features: tuple[Literal["fast_path", "cache_tier"], ...] = ()
    stream_copies: StreamCopies = StreamCopies.left_out()
    """Where a stream of reads is served by one copy of a mirror alone, or by both."""
    tier: CacheTier = CacheTier.left_out()
    """Of controllers that have `cache_tier`."""

    def faults(self) -> Iterator[Fault]:
        """Ports and drives that do not fit together."""
        if Interface.parse(self.link).family != "pcie":
            yield Fault("link", self.link, "a PCIe interface, such as pcie-2.0-x8")
        port = Interface.parse(self.port)
        if port.family == "pcie" or port.lanes != 1:
            yield Fault("port", self.port, "SAS or SATA of one lane; `ports` counts them")
        if self.nvme is not None and Interface.parse(self.nvme).family != "pcie":
            yield Fault("nvme", self.nvme, "a PCIe interface, such as pcie-4.0-x4")
        if self.drives_max > self.ports and port.family == "sata":
            allowed = f"at most {self.ports}: SATA ports know no expanders"
            yield Fault("drives_max", self.drives_max, allowed)
        if self.read_ahead is not None and self.cache is not None:
            yield Fault("read_ahead", format_size(self.read_ahead), "left out: it has a cache")
        if self.cache_cores > self.cores:
            yield Fault("cache_cores", self.cache_cores, f"at most `cores` = {self.cores}")
        if self.drives_max < self.ports:
            yield Fault("drives_max", self.drives_max, f"at least `ports` = {self.ports}")

    @property
    def has_ide_mode(self) -> bool:
        """Whether its ports can give drives one command at a time: those of a chipset for SATA."""
        return self.raid_in_host and Interface.parse(self.port).family == "sata"

    def to_plan(self) -> ControllerPlan:
        """The controller's entry in the plan."""
        return {
            "name": self.name,
            "queue_depth": self.queue_depth,
            "cores": self.cores,
            "request_ns": self.firmware.request,
            "command_ns": self.firmware.command,
            "page_ns": self.firmware.page,
            "cache_cores": self.cache_cores,
            "cached_request_ns": self.firmware.cached,
            "parity_request_ns": self.firmware.parity,
            "fast_path_request_ns": self.firmware.fast_path,
            "latency_ns": self.firmware.latency,
            "tier_ns": self.tier.lookup,
            "parity_bytes_per_s": 0 if self.parity is None else round(self.parity),
            "memory_bytes_per_s": 0 if self.cache is None else self.cache.usable,
            "cache": None if self.cache is None else self.cache.to_plan(),
        }
