"""Hard disks: the data sheet that people write, and the flat form that the engine runs.

See docs/reference/device/index.md for the file and docs/explanation/hard-disk.md for what its
numbers do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, ValidationError, WithJsonSchema

from raidlab.devices import plan_bounds
from raidlab.devices.bounds import within
from raidlab.devices.faults import Fault, faults_of
from raidlab.devices.hdd_geometry import CYLINDERS, SECTOR, Geometry, Zone
from raidlab.devices.hdd_shingled import Shingled
from raidlab.devices.plan_types import (
    AfterParams,
    BufferParams,
    CurveParams,
    ExtraDisconnectParams,
    HddDeviceParams,
    InterfaceParams,
    ReadAhead,
    SchedulerParams,
    ScsiBusInterfaceParams,
    SeekParams,
    WriteCacheParams,
)
from raidlab.devices.power import DiskPower
from raidlab.devices.schema import DriveOptions, DriveSpec, Table
from raidlab.devices.units import DURATION, Duration, Share, Size, Speed, form_of


def _signed(value: Any) -> Any:
    return DURATION.convert(value) if isinstance(value, str) else value


SignedDuration = Annotated[int, BeforeValidator(_signed), WithJsonSchema(form_of(DURATION))]
"""Whole nanoseconds, from `"0.5 ms"` or `"-0.1 ms"`."""

_MINUTE = plan_bounds.WriteCacheParams.flush_after_idle_ns.most
_SHORT_NS = plan_bounds.SeekParams.head_switch_ns.most


class Curve(Table):
    """Seek time by distance, in one of three forms.

    `single`, `average`, `full`: the three figures of a data sheet. `distances`, `times`: a
    measured table. `first`, `line_from`, `root`, `line`: single distances from 1 on, then
    `root[0] + root[1] sqrt(d)` below `line_from` cylinders and `line[0] + line[1] d` from there.
    """

    single: Duration | None = None
    average: Duration | None = None
    full: Duration | None = None
    distances: tuple[Annotated[int, Field(ge=1, lt=CYLINDERS)], ...] | None = None
    times: tuple[Duration, ...] | None = None
    first: tuple[Duration, ...] | None = None
    line_from: int | None = Field(default=None, ge=1, le=2**31)
    root: tuple[SignedDuration, SignedDuration] | None = None
    line: tuple[SignedDuration, SignedDuration] | None = None

    _FORMS: ClassVar[tuple[tuple[str, ...], ...]] = (
        ("single", "average", "full"),
        ("distances", "times"),
        ("first", "line_from", "root", "line"),
    )

    def faults(self) -> Iterator[Fault]:
        """Neither one form nor whole, or figures out of order."""
        given = {name for form in self._FORMS for name in form if getattr(self, name) is not None}
        if not any(given == set(form) for form in self._FORMS):
            forms = " or ".join("{" + ", ".join(form) + "}" for form in self._FORMS)
            yield Fault("", ", ".join(sorted(given)) or "nothing", f"exactly one of {forms}")
            return
        for name, times in (("times", self.times), ("first", self.first)):
            if times is not None and any(time > _SHORT_NS for time in times):
                yield Fault(name, "a longer time", "at most 1 s each")
        if self.distances is not None and self.times is not None:
            ascending = all(a < b for a, b in pairwise(self.distances))
            if not self.distances or self.distances[0] < 1 or not ascending:
                yield Fault("distances", str(self.distances), "ascending cylinders, from 1 on")
            if len(self.distances) != len(self.times):
                yield Fault("times", f"{len(self.times)} times", "as many as distances")
        figures = [
            figure for figure in (self.single, self.average, self.full) if figure is not None
        ]
        if figures != sorted(figures) or any(figure > _SHORT_NS for figure in figures):
            yield Fault("average", f"{self.average} ns", "single <= average <= full <= 1 s")

    def to_plan(self) -> CurveParams:
        """`CurveParams` of the native models."""
        if self.distances is not None and self.times is not None:
            points = list(zip(self.distances, self.times, strict=True))
            return {"form": "table", "points": points}
        if self.root is not None and self.line is not None and self.line_from is not None:
            return {
                "form": "root_and_line",
                "first_ns": list(self.first or ()),
                "line_from": self.line_from,
                "root_constant_ns": self.root[0],
                "root_factor_ns": self.root[1],
                "line_constant_ns": self.line[0],
                "line_slope_ns": self.line[1],
            }
        if self.single is None or self.average is None or self.full is None:
            raise AssertionError("a curve has one form whole: `faults`")
        return {
            "form": "three_figures",
            "single_ns": self.single,
            "average_ns": self.average,
            "full_ns": self.full,
        }


class Seek(Table):
    """How long the arm takes."""

    read: Curve
    write: Curve | None = None
    """Before writes; the curve for reads plus `write_settle` if absent."""
    write_settle: SignedDuration = 0
    """Added to every movement before a write."""
    head_switch: Duration = Field(le=_SHORT_NS)
    """To another head of the same cylinder."""
    spread: Duration = Field(default=0, le=_SHORT_NS)
    """A movement takes up to this much longer, uniformly."""

    def faults(self) -> Iterator[Fault]:
        """A settle time that no arm has."""
        if abs(self.write_settle) > _SHORT_NS:
            yield Fault("write_settle", f"{self.write_settle} ns", "between -1 s and 1 s")

    def to_plan(self) -> SeekParams:
        """`SeekParams` of the native models."""
        return {
            "read": self.read.to_plan(),
            "write": None if self.write is None else self.write.to_plan(),
            "write_settle_ns": self.write_settle,
            "head_switch_ns": self.head_switch,
            "spread_ns": self.spread,
        }


class Buffer(Table):
    """The buffer for reads."""

    segments: Annotated[int, within(plan_bounds.BufferParams.segments)]
    segment: Size = Field(ge=SECTOR, le=plan_bounds.BufferParams.segment_sectors.most * SECTOR)
    """What a segment holds."""
    read_ahead: Literal["none", "track-end", "fixed", "next-track"]
    """How far the head reads on: not at all; to the end of the track; by `read_ahead_limit`; to
    the end of the next sector's track, and one track more if the segment began before it."""
    read_ahead_limit: Size = Field(
        default=0, le=plan_bounds.BufferParams.segment_sectors.most * SECTOR
    )
    """Beyond the request at most, for `fixed` and `track-end`."""
    read_ahead_on_idle_hit: bool = True
    """A hit on a segment that is not being filled starts reading on at its end."""
    stop_in_sector: bool = False
    """Reading ahead stops in the middle of a sector when the arm is needed."""
    own_write_segment: bool = False
    """The first segment takes all writes and no reads."""
    read_hits_on_written: bool = True
    """What was written can be read from the buffer."""
    read_on_arrival: bool = False
    """A read takes the sectors of the wanted track in the order in which they pass."""
    write_on_arrival: bool = False
    """A write likewise."""
    read_while_waiting: bool = False
    """What passes on the track while the head waits for the wanted sector is cached."""

    def faults(self) -> Iterator[Fault]:
        """Sizes that do not fit together."""
        if self.segment % SECTOR:
            yield Fault("segment", f"{self.segment} B", f"whole sectors of {SECTOR} B")
        limited = self.read_ahead in ("fixed", "track-end")
        if limited and not 0 < self.read_ahead_limit <= self.segment:
            allowed = f"more than 0 and at most a segment, {self.segment} B"
            yield Fault("read_ahead_limit", f"{self.read_ahead_limit} B", allowed)
        if not limited and self.read_ahead_limit:
            allowed = f"nothing: it has no effect with read_ahead = {self.read_ahead}"
            yield Fault("read_ahead_limit", f"{self.read_ahead_limit} B", allowed)
        if self.own_write_segment and self.segments < 2:
            yield Fault("segments", self.segments, "2 or more: the first takes writes only")

    def _ahead(self) -> ReadAhead:
        sectors = self.read_ahead_limit // SECTOR
        match self.read_ahead:
            case "none":
                return {"policy": "none"}
            case "track-end":
                return {"policy": "track_end", "sectors": sectors}
            case "fixed":
                return {"policy": "fixed", "sectors": sectors}
            case "next-track":
                return {"policy": "next_track"}

    def to_plan(self) -> BufferParams:
        """`BufferParams` of the native models."""
        return {
            "segments": self.segments,
            "segment_sectors": self.segment // SECTOR,
            "read_ahead": self._ahead(),
            "read_ahead_on_idle_hit": self.read_ahead_on_idle_hit,
            "stop_in_sector": self.stop_in_sector,
            "own_write_segment": self.own_write_segment,
            "read_hits_on_written": self.read_hits_on_written,
            "read_on_arrival": self.read_on_arrival,
            "write_on_arrival": self.write_on_arrival,
            "read_while_waiting": self.read_while_waiting,
        }


class WriteCache(Table):
    """The cache for writes."""

    enabled: bool = True
    """As the drive comes; a scenario may switch it."""
    size: Size = Field(ge=SECTOR)
    extents: Annotated[int, within(plan_bounds.WriteCacheParams.extents)]
    """Separate runs of sectors that it can keep track of."""
    extent: Size = Field(ge=SECTOR, le=plan_bounds.WriteCacheParams.extent_sectors.most * SECTOR)
    """Longest run that neighbouring writes grow into."""
    flush_above: Share
    """Share of size or extents beyond which writing out competes with commands."""
    flush_after_idle: Duration = Field(le=_MINUTE)
    """Without commands for this long it writes out what it has."""
    order: Literal["scheduler", "first-come"] = "scheduler"
    """What it writes out next: what the scheduler's policy says, or what came first. A write that
    finds no room then waits for that."""
    persistent: bool = False
    """True if its content survives a loss of power, in flash that the turning platters supply: a
    flush then need not wait."""

    def to_plan(self) -> WriteCacheParams:
        """`WriteCacheParams` of the native models."""
        plan: WriteCacheParams = {
            "sectors": self.size // SECTOR,
            "extents": self.extents,
            "extent_sectors": self.extent // SECTOR,
            "flush_above": self.flush_above,
            "flush_after_idle_ns": self.flush_after_idle,
        }
        if self.persistent:
            plan["persistent"] = True
        if self.order == "first-come":
            plan["order"] = "first_come"
        return plan


class Scheduler(Table):
    """Order of the commands in the drive's queue."""

    policy: Literal["first-come", "c-look", "shortest-access"]
    ageing: Share = 0.0
    """Part of its age that is taken off a command's access time (`shortest-access`)."""
    age_limit: Duration = Field(default=5 * 10**9, gt=0, le=_MINUTE)
    """A command that has waited for longer goes next."""
    plans_ahead: bool = False
    """True if the next command is chosen when the one before it begins: what comes meanwhile waits
    for both. Of drives behind a link whose tracks do not overlap."""

    def faults(self) -> Iterator[Fault]:
        """Ageing without a policy that knows it."""
        if self.ageing and self.policy != "shortest-access":
            yield Fault("ageing", self.ageing, f"nothing: it has no effect with {self.policy}")
        if self.plans_ahead and self.policy == "first-come":
            yield Fault("plans_ahead", True, "false: it has no effect with first-come")

    def to_plan(self) -> SchedulerParams:
        """`SchedulerParams` of the native models."""
        match self.policy:
            case "first-come":
                return {"policy": "first_come"}
            case "c-look":
                return {"policy": "c_look"}
            case "shortest-access":
                return {"policy": "shortest_access", "ageing": self.ageing}


class Overhead(Table):
    """Firmware time of a command on a drive behind a link."""

    read: Duration = Field(le=_SHORT_NS)
    write: Duration = Field(le=_SHORT_NS)


class After(Table):
    """A time that depends on what the drive did last."""

    after_read: Duration = Field(default=0, le=_SHORT_NS)
    after_write: Duration = Field(default=0, le=_SHORT_NS)

    def to_plan(self) -> AfterParams:
        """`AfterParams` of the native models."""
        return {"after_read_ns": self.after_read, "after_write_ns": self.after_write}


class ExtraDisconnect(Table):
    """A write that follows an unrelated write leaves the bus once more."""

    command: Duration = Field(le=_SHORT_NS)
    disconnect: Duration = Field(le=_SHORT_NS)
    between: Duration = Field(le=_SHORT_NS)
    second_disconnect: Duration = Field(le=_SHORT_NS)
    seek_delta: Duration = Field(le=_SHORT_NS)

    def to_plan(self) -> ExtraDisconnectParams:
        """`ExtraDisconnectParams` of the native models."""
        return {
            "command_ns": self.command,
            "disconnect_ns": self.disconnect,
            "between_ns": self.between,
            "second_disconnect_ns": self.second_disconnect,
            "seek_delta_ns": self.seek_delta,
        }


class ScsiBus(Table):
    """A parallel SCSI bus, whose phases are part of the drive."""

    read_sector: Duration = Field(le=_SHORT_NS)
    """A sector on the bus."""
    write_sector: Duration = Field(le=_SHORT_NS)
    read_hit: After
    """Before the data of a read that the buffer holds."""
    read_miss: After
    """Before the arm starts for a read."""
    write: After
    """Before the data and before the arm starts for a write."""
    read_completion: Duration = Field(default=0, le=_SHORT_NS)
    write_completion: Duration = Field(default=0, le=_SHORT_NS)
    data_preparation: Duration = Field(default=0, le=_SHORT_NS)
    """Before each data phase."""
    first_reselect: Duration = Field(default=0, le=_SHORT_NS)
    """Coming back to the bus."""
    other_reselect: Duration = Field(default=0, le=_SHORT_NS)
    """Coming back for the status of a write with an extra disconnect."""
    read_disconnect: After = After.left_out()
    """Leaving the bus after a read's command."""
    write_disconnect: Duration = Field(default=0, le=_SHORT_NS)
    """Leaving the bus after a write's data."""
    extra_disconnect: ExtraDisconnect | None = None
    minimum_seek: Duration = Field(default=0, le=_SHORT_NS)
    """Least time of an arm movement before a write."""
    read_water_mark: Share = 0.0
    """Share of a read that must be buffered before the drive comes back to the bus."""
    hold_bus: bool = False
    """A read keeps the bus while it waits for the medium."""
    never_disconnect: bool = False
    fast_write: bool = False
    """A write completes once its data are in the buffer."""

    def to_plan(self, queue_depth: int) -> ScsiBusInterfaceParams:
        """`InterfaceParams` of the native models."""
        extra = self.extra_disconnect
        return {
            "kind": "scsi_bus",
            "queue_depth": queue_depth,
            "read_sector_ns": self.read_sector,
            "write_sector_ns": self.write_sector,
            "read_hit": self.read_hit.to_plan(),
            "read_miss": self.read_miss.to_plan(),
            "write": self.write.to_plan(),
            "read_completion_ns": self.read_completion,
            "write_completion_ns": self.write_completion,
            "data_preparation_ns": self.data_preparation,
            "first_reselect_ns": self.first_reselect,
            "other_reselect_ns": self.other_reselect,
            "read_disconnect": self.read_disconnect.to_plan(),
            "write_disconnect_ns": self.write_disconnect,
            "extra_disconnect": None if extra is None else extra.to_plan(),
            "minimum_seek_ns": self.minimum_seek,
            "read_water_mark": self.read_water_mark,
            "hold_bus": self.hold_bus,
            "never_disconnect": self.never_disconnect,
            "fast_write": self.fast_write,
        }


class HddSpec(DriveSpec):
    """`kind = "hdd"`."""

    renamed: ClassVar[Mapping[str, str]] = {"initial_turn": "initial_angle"}
    options: ClassVar[frozenset[str]] = frozenset({"write_cache"})

    kind: Literal["hdd"]
    queue_depth: Annotated[int, within(plan_bounds.LinkInterfaceParams.queue_depth)]
    """Commands that it takes at once."""
    capacity: Size = 0
    """Bytes that it offers; all that its geometry holds if absent."""
    speed: Annotated[Speed, within(plan_bounds.HddDeviceParams.rpm)]
    speed_tolerance: Annotated[
        Share, Field(le=plan_bounds.HddDeviceParams.speed_tolerance.most)
    ] = 0.0001
    """Most by which a drive's speed differs from `speed`; each drive draws its own."""
    initial_angle: Share | None = None
    """Part of a revolution that has passed the head when the run begins; random if absent."""
    physical_sector: Size = SECTOR
    """Bytes of a sector on the medium: 4 KiB of a disk that emulates sectors of 512 B."""
    geometry: Geometry
    seek: Seek
    buffer: Buffer
    write_cache: WriteCache | None = None
    scheduler: Scheduler
    overhead: Overhead | None = None
    """Of a drive behind a link."""
    scsi_bus: ScsiBus | None = None
    """Of a drive on a parallel SCSI bus."""
    power: DiskPower | None = None
    shingled: Shingled | None = None
    """Of a drive-managed shingled disk."""

    def faults(self) -> Iterator[Fault]:
        """What only several tables together show."""
        if (self.overhead is None) == (self.scsi_bus is None):
            allowed = "one of [overhead] (behind a link) and [scsi_bus]"
            yield Fault("overhead", "both" if self.overhead else "neither", allowed)
        if self.scsi_bus is not None:
            if self.interface != "none":
                allowed = "none: the bus is part of the drive"
                yield Fault("interface", self.interface, allowed)
            if self.write_cache is not None:
                allowed = "nothing: on a SCSI bus, segments hold writes (scsi_bus.fast_write)"
                yield Fault("write_cache", "a table", allowed)
            if self.seek.spread:
                allowed = "nothing: on a SCSI bus one command at a time, nothing is chosen"
                yield Fault("seek.spread", f"{self.seek.spread} ns", allowed)
            if self.scheduler.plans_ahead:
                allowed = "false: on a SCSI bus one command at a time, nothing is chosen"
                yield Fault("scheduler.plans_ahead", True, allowed)
        elif self.buffer.own_write_segment:
            allowed = "false: behind a link writes are cached in [write_cache]"
            yield Fault("buffer.own_write_segment", True, allowed)
        yield from self._shingled_faults()
        emulates = self.scsi_bus is None and self.shingled is None
        if self.physical_sector not in (SECTOR, 8 * SECTOR)[: 1 + emulates]:
            allowed = "512 B; 4 KiB behind a link, if not shingled"
            yield Fault("physical_sector", f"{self.physical_sector} B", allowed)
        if self.initial_angle == 1:
            yield Fault("initial_angle", self.initial_angle, "0 to below 1")
        yield from self._capacity_faults()

    def _shingled_faults(self) -> Iterator[Fault]:
        if self.shingled is None:
            return
        if self.scsi_bus is not None:
            yield Fault("shingled", "a table", "nothing on a SCSI bus")
        if self.buffer.read_ahead not in ("none", "fixed"):
            allowed = "none or fixed on a shingled disk"
            yield Fault("buffer.read_ahead", self.buffer.read_ahead, allowed)
        if self.write_cache is not None and self.write_cache.order != "scheduler":
            allowed = "scheduler: the media cache of a shingled disk takes its writes"
            yield Fault("write_cache.order", self.write_cache.order, allowed)
        if self.scheduler.plans_ahead:
            allowed = (
                "false: a shingled disk chooses the next command when the one before it is over"
            )
            yield Fault("scheduler.plans_ahead", True, allowed)

    @property
    def _log(self) -> int:
        """Bytes of the medium that are not offered: the log of a shingled disk."""
        return 0 if self.shingled is None else self.shingled.media_cache

    @property
    def _medium(self) -> int:
        """Bytes for which a geometry is made; 0 where its zones are written out."""
        return self.capacity + self._log if self.capacity else 0

    def _capacity_faults(self) -> Iterator[Fault]:
        if self.capacity % SECTOR:
            yield Fault("capacity", f"{self.capacity} B", f"whole sectors of {SECTOR} B")
        if any(True for _ in self.geometry.faults()):
            return
        if not self.geometry.zones and not self.capacity:
            yield Fault("capacity", None, "the bytes that the drive offers, such as 1 TB")
            return
        try:
            self.geometry.laid_out(self._medium, 60e9 / self.speed)
        except ValidationError as error:
            # Of zones that are made of these figures.
            yield from map(self._of_zones, faults_of(error, Zone))
            return
        holds = self.geometry.sectors(self._medium) * SECTOR - self._log
        if self.capacity > holds or holds <= 0:
            allowed = f"at most the {holds} B that the geometry holds"
            yield Fault("capacity", f"{self.capacity} B", allowed)

    def _of_zones(self, fault: Fault) -> Fault:
        """A fault of a zone that no file has written, at the key that is the cause."""
        if fault.key.endswith("skew"):
            given = getattr(self.geometry, fault.key)
            return Fault(f"geometry.{fault.key}", f"{given} ns", "a few revolutions at most")
        allowed = "less: heads and sectors of a track would need more than 2^24 cylinders for it"
        return Fault("capacity", f"{self.capacity} B", allowed)

    def capacity_bytes(self, options: DriveOptions) -> int:
        """Bytes that a host can address."""
        return self.capacity or self.geometry.sectors(0) * SECTOR - self._log

    def _caches_writes(self, options: DriveOptions) -> bool:
        if self.write_cache is None:
            return False
        wanted = options.write_cache
        return self.write_cache.enabled if wanted is None else wanted

    def volatile(self, options: DriveOptions) -> bool:
        """True if it acknowledges a write while only memory has it that forgets."""
        if self.scsi_bus is None:
            persistent = self.write_cache is not None and self.write_cache.persistent
            return self._caches_writes(options) and not persistent
        wanted = options.write_cache
        return self.scsi_bus.fast_write if wanted is None else wanted

    def to_plan(self, options: DriveOptions) -> HddDeviceParams:
        """`HddParams` of the native models."""
        cache = self.write_cache
        enabled = self._caches_writes(options)
        fastest = self.speed * (1 + self.speed_tolerance)
        if self.scsi_bus is not None:
            bus = self.scsi_bus
            if options.write_cache is not None:
                bus = bus.model_copy(update={"fast_write": options.write_cache})
            interface: InterfaceParams = bus.to_plan(self.queue_depth)
        else:
            overhead = self.overhead or Overhead(read=0, write=0)
            interface = {
                "kind": "link",
                "read_overhead_ns": overhead.read,
                "write_overhead_ns": overhead.write,
                "queue_depth": self.queue_depth,
            }
        plan: HddDeviceParams = {
            "kind": "hdd",
            "capacity_bytes": self.capacity,
            "rpm": self.speed,
            "speed_tolerance": self.speed_tolerance,
            "initial_angle": self.initial_angle,
            "geometry": self.geometry.to_plan(self._medium, fastest),
            "seek": self.seek.to_plan(),
            "buffer": self.buffer.to_plan(),
            "write_cache": cache.to_plan() if cache is not None and enabled else None,
            "scheduler": self.scheduler.to_plan(),
            "age_limit_ns": self.scheduler.age_limit,
            "interface": interface,
        }
        if self.physical_sector > SECTOR:
            plan["physical_sectors"] = 8
        if self.scheduler.plans_ahead:
            plan["plans_ahead"] = True
        if self.power is not None:
            plan["power"] = self.power.to_plan()
        if self.shingled is not None:
            plan["shingled"] = self.shingled.to_plan()
        return plan
