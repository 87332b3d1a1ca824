"""Volumes: storage behind a network or a hypervisor, with limits of I/Os and bytes a second.

docs/explanation/cloud-volumes.md and docs/explanation/virtual-disks.md have the equations.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Final, Literal

from pydantic import Field

from raidlab.devices.faults import Fault
from raidlab.devices.plan_types import Counted, LimitParams, ServerParams, VolumeDeviceParams
from raidlab.devices.schema import Bought, DriveOptions, DriveSpec, Table
from raidlab.devices.units import (
    Duration,
    IoRate,
    Rate,
    Share,
    Size,
    format_rate,
    format_size,
)

_COUNTED: Final[tuple[Counted, ...]] = ("ios", "bytes")
_GIB: Final = 1 << 30
_PEAK_NS = 10_000_000
"""What flows into the bucket of a rate without credit within this time passes at once."""


class Rates(Table):
    """I/Os and bytes a second."""

    rate: IoRate | None = Field(default=None, ge=1)
    throughput: Rate | None = Field(default=None, ge=1)

    def of(self, what: str) -> float | None:
        """The rate of I/Os (`ios`) or of bytes (`bytes`)."""
        return self.rate if what == "ios" else self.throughput


class Burst(Rates):
    """`[burst]`: what credit is spent at, and how much there can be."""

    credit: Duration = Field(gt=0)
    """How long a full credit lasts at the rates of a burst."""


class Latency(Table):
    """`[latency]`: mean times of a command below the limits, network included."""

    read: Duration
    write: Duration
    floor: Share = 0.7
    """Share of the mean that is the same for all; the rest is exponential."""
    slow_share: Share = 0.0
    """Share of the commands that meet a slow part of the storage."""
    slow: Duration = 0
    """What those take on top on average, exponential."""

    def faults(self) -> Iterator[Fault]:
        """Slow commands without a time, or a time of none."""
        if bool(self.slow_share) != bool(self.slow):
            allowed = "both of slow_share and slow, or neither"
            yield Fault("slow_share", f"{100 * self.slow_share:g} %", allowed)


class Server(Table):
    """`[server]`: what serves commands in turn, such as the thread that emulates a virtual disk.

    Reads and writes share it unless they are `apart`. Its time varies: the rest of it is the same
    for all.
    """

    servers: int = Field(default=1, ge=1, le=4096)
    """How many work in parallel."""
    read: Duration = 0
    """Mean time of a read, whatever its size."""
    write: Duration = 0
    read_mib: Duration = 0
    """Mean time of a mebibyte besides."""
    write_mib: Duration = 0
    spread: Share = 0.0
    """Share of the time that varies exponentially."""
    continued_read: Share = 1.0
    """Share of its time that a read takes which continues an earlier one."""
    continued_write: Share = 1.0
    apart: bool = False
    """True if reads have as many servers of their own, and writes others."""
    cache: Size = Field(default=0, ge=0)
    """Bytes in flight that the cache of the CPU holds which copies them; 0 if no CPU does."""
    uncached: float = Field(default=1.0, ge=1.0, le=100.0)
    """Times as long that a byte takes which is not in that cache."""

    def faults(self) -> Iterator[Fault]:
        """A server that takes no time; a cache without what lies outside it."""
        if bool(self.cache) != (self.uncached > 1.0):
            allowed = "more than 1 beside a `cache`, and left out without one"
            yield Fault("uncached", self.uncached, allowed)
        if not any((self.read, self.write, self.read_mib, self.write_mib)):
            yield Fault("read", None, "a time: of a `read`, a `write`, a `read_mib`, a `write_mib`")

    def to_plan(self) -> ServerParams:
        """`ServerParams` of the native models."""
        plan: ServerParams = {
            "servers": self.servers,
            "command_ns": [self.read, self.write],
            "mib_ns": [self.read_mib, self.write_mib],
            "spread": self.spread,
            "continued": [self.continued_read, self.continued_write],
        }
        if self.apart:
            plan["apart"] = True
        if self.cache:
            plan["cache"] = {
                "bytes": self.cache,
                "outside_milli": round(1000 * self.uncached),
            }
        return plan


class Bounds(Table):
    """`[bounds]`: what the provider lets one buy of a volume."""

    least_size: Size = Field(gt=0)
    most_size: Size = Field(gt=0)
    least_rate: IoRate = Field(ge=1)
    most_rate: IoRate = Field(ge=1)
    rate_per_gib: float = Field(gt=0)
    """I/Os a second at most for each GiB, where that is more than `least_rate`."""
    least_throughput: Rate = Field(ge=1)
    most_throughput: Rate = Field(ge=1)
    throughput_per_io: Size | None = Field(default=None, gt=0)
    """Bytes a second at most for each I/O a second, where that is more than the least."""

    def faults_of(self, size: int, rate: float, throughput: float) -> Iterator[Fault]:
        """What cannot be bought, by key, with what can be."""
        if not self.least_size <= size <= self.most_size:
            allowed = f"{format_size(self.least_size)} to {format_size(self.most_size)}"
            yield Fault("size", format_size(size), allowed)
        most = min(self.most_rate, max(self.least_rate, self.rate_per_gib * size / _GIB))
        if not self.least_rate <= rate <= most:
            allowed = f"{self.least_rate:,.0f} to {most:,.0f} for {format_size(size)}"
            yield Fault("iops", f"{rate:g}", f"{allowed}, as its provider sells it")
        most = self.most_throughput
        if self.throughput_per_io is not None:
            most = min(most, max(self.least_throughput, self.throughput_per_io * rate))
        if not self.least_throughput <= throughput <= most:
            allowed = f"{format_rate(self.least_throughput)} to {format_rate(most)}"
            allowed += f" beside {rate:g} IO/s, as its provider sells it"
            yield Fault("throughput", format_rate(throughput), allowed)


class VolumeSpec(DriveSpec):
    """`kind = "volume"`: token buckets, a server in turn, a latency for all commands at once."""

    options: ClassVar[frozenset[str]] = frozenset({"history", "bought"})

    kind: Literal["volume"]
    capacity: Size = Field(gt=0)
    io_size: Size = Field(default=256 * 1024, gt=0)
    """Most bytes that count as one I/O."""
    limits: Rates = Rates.left_out()
    """What is provisioned."""
    bounds: Bounds | None = None
    burst: Burst | None = None
    server: Server | None = None
    latency: Latency
    lost_per_year: Share | None = Field(default=None, gt=0, lt=1)
    """Share of volumes that are lost in a year, as the provider publishes it."""

    def option_faults(self, options: DriveOptions) -> Iterator[Fault]:
        """What is bought beyond the provider's bounds; keys are those of the scenario."""
        bought = options.bought
        if bought is None:
            return
        if self.bounds is None:
            allowed = f"left out: {self.name} is sold as it is (no [bounds] in its file)"
            for key, value in (("size", bought.size), ("iops", bought.rate),
                               ("throughput", bought.throughput)):  # fmt: skip
                if value is not None:
                    yield Fault(key, value, allowed)
            return
        rate, throughput = self._provisioned("ios", options), self._provisioned("bytes", options)
        size = self.capacity_bytes(options)
        yield from self.bounds.faults_of(size, rate or 0.0, throughput or 0.0)

    def _provisioned(self, what: str, options: DriveOptions) -> float | None:
        """I/Os or bytes a second that were bought, or what the file has."""
        bought = options.bought or Bought()
        own = bought.rate if what == "ios" else bought.throughput
        return self.limits.of(what) if own is None else own

    def faults(self) -> Iterator[Fault]:
        """Bursts that are none, and limits that are missing."""
        yield from super().faults()
        unlimited = self.limits.rate is None and self.limits.throughput is None
        if unlimited and self.server is None:
            yield Fault("limits", None, "a `rate`, a `throughput`, or both; or a [server]")
        if self.burst is not None and self.burst.rate is None and self.burst.throughput is None:
            yield Fault("burst", None, "a `rate`, a `throughput`, or both")
        for what, key in (("ios", "rate"), ("bytes", "throughput")):
            base, peak = self.limits.of(what), self.burst.of(what) if self.burst else None
            if peak is not None and (base is None or peak <= base):
                allowed = f"more than limits.{key}, of which it is the burst"
                yield Fault(f"burst.{key}", peak, allowed)

    def capacity_bytes(self, options: DriveOptions) -> int:
        """Bytes that a host can address."""
        size = None if options.bought is None else options.bought.size
        return self.capacity if size is None else size

    def to_plan(self, options: DriveOptions) -> VolumeDeviceParams:
        """`VolumeParams` of the native models; who has written before has spent the credit."""
        plan: VolumeDeviceParams = {
            "kind": "volume",
            "capacity_bytes": self.capacity_bytes(options),
            "read_ns": self._times(self.latency.read),
            "write_ns": self._times(self.latency.write),
            "io_bytes": self.io_size,
            "limits": [limit for what in _COUNTED for limit in self._buckets(what, options)],
            "spent": bool(options.history),
        }
        if self.server is not None:
            plan["server"] = self.server.to_plan()
        if self.latency.slow_share:
            plan["slow_ppm"] = round(1e6 * self.latency.slow_share)
            plan["slow_ns"] = self.latency.slow
        return plan

    def _times(self, mean: int) -> list[int]:
        floor = round(mean * self.latency.floor)
        return [floor, mean - floor]

    def _buckets(self, what: Counted, options: DriveOptions) -> Iterator[LimitParams]:
        """The bucket of what is provisioned with its credit, and that of a burst's rate."""
        base = self._provisioned(what, options)
        if base is None:
            return
        peak = None if self.burst is None else self.burst.of(what)
        burst = _PEAK_NS
        if self.burst is not None and peak is not None:
            burst = round(self.burst.credit * (peak - base) / base)
            yield {"counts": what, "milli_per_s": round(1000 * peak), "burst_ns": _PEAK_NS}
        yield {"counts": what, "milli_per_s": round(1000 * base), "burst_ns": burst}
