"""The host's CPU: what an I/O costs the thread that issues it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, ClassVar, Final, Literal

from pydantic import Field

from raidlab.devices import plan_bounds
from raidlab.devices.bounds import within
from raidlab.devices.c_states import CState
from raidlab.devices.faults import Fault
from raidlab.devices.links import InterfaceName
from raidlab.devices.plan_types import (
    BlockLayerParams,
    CoalescingParams,
    HostParams,
    LinkParams,
    PageCacheParams,
)
from raidlab.devices.schema import DeviceSpec, Table
from raidlab.devices.units import Duration, Frequency, Rate, Share, Size

_LONGEST_NS = plan_bounds.HostParams.submit_ns.most
CpuTime = Annotated[Duration, Field(le=_LONGEST_NS)]
"""Of a piece of work for an I/O or a command."""


class Port(Table):
    """What a command of a SATA drive holds its port for besides its data: frames, handshakes.

    By default as on a chipset's ports, of which four SSDs on SATA 3G get 52,800 reads and 50,500
    writes of 4 KiB a second. At 6G that is 98,000 and 91,000, where sheets of SATA SSDs end.
    """

    read: Duration = 2_880
    """Each read."""
    write: Duration = 3_730
    """Each write."""
    latency: Duration = 0
    """What the adapter takes to pass a command on, without the port being occupied."""


ADAPTER_PORTS: Final = {
    "sas": Port.model_validate({"read": "5.46 us", "write": "7.7 us"}),
    "sata": Port(),
}
"""Of an adapter that is a `[[link]]`, by the family of its ports. SAS as behind a SAS2008, which
gives one SSD 74,100 reads and 64,300 writes of 4 KiB a second; SATA as a chipset's."""


class Coalescing(Table):
    """`[coalescing]`: an adapter that interrupts the host once for several completions."""

    delay: Annotated[Duration, within(plan_bounds.CoalescingParams.delay_ns)]
    """From the first completion until the interrupt."""
    above: Annotated[int, within(plan_bounds.CoalescingParams.above)]
    """Commands outstanding at a drive above which its completions are gathered."""

    def to_plan(self) -> CoalescingParams:
        """`CoalescingParams` of the native models."""
        return {"delay_ns": self.delay, "above": self.above}


class BlockLayer(Table):
    """The operating system's queue before a drive."""

    scheduler: Literal["none", "deadline", "fair"] = "none"
    """Order of what waits while the drive is full. `none`: as it came; `deadline`: by position,
    reads first; `fair`: by thread in time slices, as Linux's cfq."""
    requests: Annotated[int, within(plan_bounds.BlockLayerParams.requests)] = 0
    """Requests that the scheduler sees, waiting and at the drive; 0 for no limit."""

    def to_plan(self) -> BlockLayerParams:
        """`BlockLayerParams` of the native engine."""
        return {"scheduler": self.scheduler, "requests": self.requests}


class PageCache(Table):
    """`[page_cache]`: memory that the operating system keeps a file's pages in."""

    memory: Annotated[Size, within(plan_bounds.PageCacheParams.memory_bytes)]
    """For pages: what other uses leave."""
    dirty_background: Share = Field(default=0.1, gt=0)
    """Share of it that may be dirty before writing back begins."""
    dirty: Share = Field(default=0.2, gt=0)
    """Share of it that may be dirty or being written before writers sleep."""
    expire: Duration = Field(default=30_000_000_000, ge=plan_bounds.PageCacheParams.expire_ns.least)
    """Age at which what is dirty is written back in any case."""
    read_ahead: Size = 128 * 1024
    """Read ahead of a stream at most."""
    request: Size = Field(default=512 * 1024, ge=plan_bounds.PageCacheParams.request_bytes.least)
    """Neighbouring pages that become one request at most."""
    requests: Annotated[int, within(plan_bounds.PageCacheParams.requests)] = 128
    """Requests of writing back that are under way at most."""
    read_call: Duration
    """CPU time of a read call."""
    write_call: Duration
    """CPU time of a write call."""
    read_page: Duration
    """CPU time to look up a page and copy it to the reader."""
    write_page: Duration
    """CPU time to find or make a page and copy a writer's data into it."""

    def faults(self) -> Iterator[Fault]:
        """Limits in the wrong order."""
        if self.dirty_background > self.dirty:
            allowed = f"at most `dirty`, {100 * self.dirty:g} %"
            yield Fault("dirty_background", f"{100 * self.dirty_background:g} %", allowed)

    def to_plan(self, scale: float, *, holds_end: bool) -> PageCacheParams:
        """`PageCacheParams` of the native engine, CPU times multiplied by `scale`.

        Args:
            scale: The data sheet's clock over the CPU's.
            holds_end: True if memory holds the end of the file at the start.
        """
        return {
            "memory_bytes": self.memory,
            "background_share": self.dirty_background,
            "dirty_share": self.dirty,
            "expire_ns": self.expire,
            "read_ahead_bytes": self.read_ahead,
            "request_bytes": self.request,
            "requests": self.requests,
            "read_call_ns": round(self.read_call * scale),
            "write_call_ns": round(self.write_call * scale),
            "read_page_ns": round(self.read_page * scale),
            "write_page_ns": round(self.write_page * scale),
            "holds_end": holds_end,
        }


class Network(Table):
    """`[network]`: NVMe/TCP or iSCSI to a target that has the drives and controllers."""

    protocol: Literal["nvme-tcp", "iscsi"]
    rate: Rate = Field(ge=10**6)
    """Of the link, after its line code: 3125 MB/s of 25-gigabit Ethernet."""
    mtu: Size = Field(default=1500, ge=576, le=65_536)
    latency: Duration = 0
    """Of each I/O, both ways through stacks, adapters and switches and in the target's software, on
    no CPU of the host's."""
    submit: Duration = 0
    """CPU time to issue an I/O besides: its command and its segments."""
    complete: Duration = 0
    """CPU time to complete one besides: its segments and its response."""
    page: Duration = 0
    """CPU time of each 4 KiB besides: copies and checksums."""

    @property
    def payload(self) -> float:
        """Share of the link's bytes that data get: Ethernet, IP and TCP take the rest."""
        return (self.mtu - _IP_AND_TCP) / (self.mtu + _ETHERNET)

    def to_link(self, name: str) -> LinkParams:
        """`LinkParams` of the native models."""
        rate = int(self.rate * self.payload)
        read, write = _HEADERS[self.protocol]
        return {
            "name": f"{name} network, {self.protocol}",
            "bytes_per_s": rate,
            "full_duplex": True,
            "frame_bytes": int(self.mtu - _IP_AND_TCP),
            "latency_ns": self.latency,
            "read_command_ns": read * 10**9 // rate,
            "write_command_ns": write * 10**9 // rate,
        }


_IP_AND_TCP = 52
"""Headers of a segment: 20 bytes of IPv4, 20 of TCP, 12 of its time stamps."""
_ETHERNET = 38
"""Of a frame beside its payload: preamble 8, header 14, checksum 4, gap 12."""
_HEADERS = {"nvme-tcp": (24 + 24, 72 + 24), "iscsi": (48 + 48, 48 + 48 + 48)}
"""Bytes of a command's own units on the way of its data. NVMe/TCP: of a read its data's header and
the response; of a write the command and its data's header. iSCSI: segments of 48 bytes."""


def clock_faults(clock: float) -> Iterator[Fault]:
    """A clock, in hertz, that no CPU has."""
    if not 1e8 <= clock <= 1e10:
        yield Fault("clock", f"{clock / 1e9:g} GHz", "0.1 GHz to 10 GHz")


class HostSpec(DeviceSpec):
    """`kind = "host"`: times of one load thread at the host's own clock."""

    role: ClassVar[str] = "host"

    kind: Literal["host"]
    clock: Frequency = Field(gt=0)
    """Clock at which the times below hold; they scale with its inverse."""
    threads: int = Field(default=1, ge=1, le=1024)
    """Hardware threads."""
    submit: CpuTime
    """CPU time of the submitting thread to issue an I/O."""
    complete: CpuTime
    """CPU time of the same thread to complete it."""
    raid_command: CpuTime
    """CPU time for each command that RAID in the host issues to a drive."""
    parity: Rate = 0
    """Bytes a second that a core reads and makes for one parity, for RAID 5 in the host; 0 for
    no time."""
    two_parities: Rate = 0
    """Bytes a second that a core reads and makes for both parities of RAID 6: at most `parity`,
    since the first one is made beside the second."""
    stripe_page: CpuTime = 0
    """CPU time of an array's thread for each 4 KiB that a member reads or writes for a stripe with
    parity."""
    stripe_reread: Duration | None = Field(default=None, le=_LONGEST_NS)
    """As `stripe_page`, if the stripe is read before it is written; if left out `stripe_page`."""
    wake: CpuTime = 0
    """CPU time of a completion besides if its thread was asleep: interrupt, change of context."""
    fill: CpuTime = 0
    """CPU time to issue a write besides: its data are made or copied."""
    scheduler_latency: CpuTime = 0
    """Time in which every load thread that waits for a hardware thread is to run once; 0 where
    each I/O takes the first that is free."""
    interrupt: CpuTime = 0
    """CPU time of each completion's interrupt on the first hardware thread, where load threads
    share them; where some are free, threads keep away from that one."""
    spread: Share = 0.0
    """Share of each piece of CPU time that varies exponentially: caches, other interrupts."""
    page: CpuTime = 0
    """CPU time to issue each 4 KiB of an I/O besides: its pages are locked and listed."""
    write_page: CpuTime = 0
    """CPU time to issue each 4 KiB of a write besides: its pages are copied or compressed."""
    sata: InterfaceName = "sata-6g"
    """Port of a SATA drive that hangs on the host directly."""
    sas: InterfaceName = "sas-12g"
    """Port of a SAS drive on a plain adapter that takes no time of its own."""
    slot: InterfaceName = "pcie-3.0-x16"
    """Widest PCIe slot, for controllers and drives on PCIe."""
    slots: int | None = Field(default=None, ge=0, le=256)
    """PCIe slots that controllers can have; no limit is known if left out."""
    port: Port = Port.left_out()
    """Of SATA drives that hang on the host directly; a chipset's if left out."""
    block_layer: BlockLayer = BlockLayer.left_out()
    """Before drives that hang on the host directly."""
    coalescing: Coalescing | None = None
    """Of the adapter of those drives; it interrupts for each completion if left out."""
    page_cache: PageCache | None = None
    """For loads that go through it."""
    network: Network | None = None
    """Between the host and the drives and controllers of a remote target."""

    def faults(self) -> Iterator[Fault]:
        """Two parities that cost less than one, a clock that no CPU has."""
        yield from clock_faults(self.clock)
        if self.parity and self.two_parities > self.parity:
            allowed = f"at most `parity`, {self.parity / 1e9:g} GB/s: both take longer than one"
            yield Fault("two_parities", f"{self.two_parities / 1e9:g} GB/s", allowed)

    def to_plan(self, clock: float | None = None, sleeps: Sequence[CState] = ()) -> HostParams:
        """`HostParams` of the native models.

        Args:
            clock: Hertz, if the CPU's clock differs from the file's.
            sleeps: States that idle cores take.
        """
        scale = 1.0 if clock is None else self.clock / clock
        net = self.network
        submit, complete, page = (net.submit, net.complete, net.page) if net else (0, 0, 0)
        plan: HostParams = {
            "submit_ns": round((self.submit + submit) * scale),
            "complete_ns": round((self.complete + complete) * scale),
            "raid_command_ns": round(self.raid_command * scale),
            "parity_bytes_per_s": round(self.parity / scale),
            "two_parities_bytes_per_s": round(self.two_parities / scale),
            "stripe_page_ns": round(self.stripe_page * scale),
            "wake_ns": round(self.wake * scale),
            "fill_ns": round(self.fill * scale),
            "page_ns": round((self.page + page) * scale),
            "cores": self.threads,
            "scheduler_latency_ns": self.scheduler_latency,
            "spread": self.spread,
            "interrupt_ns": round(self.interrupt * scale),
            "coalescing": self.coalescing.to_plan() if self.coalescing else None,
        }
        # What is new in plans is left out where it has no effect.
        if self.stripe_reread is not None:
            plan["stripe_reread_ns"] = round(self.stripe_reread * scale)
        if of_write := round(self.write_page * scale):
            plan["write_page_ns"] = of_write
        if sleeps:
            plan["c_states"] = [state.to_plan() for state in sleeps]
        return plan
