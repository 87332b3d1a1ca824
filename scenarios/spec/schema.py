"""The scenario file as people write it: its tables, their keys, their defaults.

What several tables together show (drives against ports, area against array) is checked in
`system`. The format is described in docs/reference/scenario.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import gcd
from typing import Annotated, ClassVar, Literal

from pydantic import BeforeValidator, Field

from raidlab.devices.copies import CopyLayout
from raidlab.devices.faults import Fault
from raidlab.devices.forms import TEXT, also
from raidlab.devices.levels import ArrayLevel, LevelFacts, facts
from raidlab.devices.plan_types import LimitParams
from raidlab.devices.schema import Bought, Table
from raidlab.devices.units import (
    Duration,
    Rate,
    Share,
    Size,
    format_duration,
    format_size,
)
from raidlab.devices.words import (
    ARRAY_KEYS,
    DRIVE_KEYS,
    LOAD_KEYS,
    SCENARIO_KEYS,
)
from raidlab.scenarios.spec.areas import Area
from raidlab.scenarios.spec.arrivals import MOST_RATE, Arrivals, Rates
from raidlab.scenarios.spec.caching import CacheSettings, Controllers, ControllerTable
from raidlab.scenarios.spec.copies import AnyCopyLayout
from raidlab.scenarios.spec.declustered import DeclusteredTable
from raidlab.scenarios.spec.durability import AnyFileSystem, Durable
from raidlab.scenarios.spec.host import HostTable as HostTable
from raidlab.scenarios.spec.host import Software
from raidlab.scenarios.spec.host_cache import HostCacheTable
from raidlab.scenarios.spec.limits import DEFAULT_BURST, LONGEST_BURST, Limits
from raidlab.scenarios.spec.links import LinkTable, link_faults
from raidlab.scenarios.spec.loads import (
    PROFILES,
    RW,
    AnyProfile,
    Load,
    Rw,
    profile_file,
)
from raidlab.scenarios.spec.monitored import MonitoredKeys
from raidlab.scenarios.spec.outstanding import Outstanding
from raidlab.scenarios.spec.run import RunTable as RunTable

SECTOR = 512
"""Bytes of a sector: the least that direct I/O moves."""


class DrivesTable(Table):
    """One entry of `drives`: this many of a model."""

    elsewhere: ClassVar[Mapping[str, str]] = DRIVE_KEYS

    model: str
    count: int = Field(default=1, ge=1, le=4096)
    format: str | None = None
    """One of the drive's formats."""
    write_cache: bool | None = None
    """The drive's own write cache on or off; None leaves it to `disk_cache` and the drive."""
    cooling: str | None = None
    ncq: bool | None = None
    """False for SATA ports in IDE mode: one command at a time; they queue if left out."""
    link: str | None = None
    """The `[[link]]` that they hang on; the array's if left out."""
    size: Size | None = Field(default=None, gt=0)
    """What is bought of a cloud volume, within its provider's bounds; so the next two."""
    iops: float | None = Field(default=None, ge=1, le=1e9)
    """I/Os a second."""
    throughput: Rate | None = Field(default=None, ge=1)

    @property
    def bought(self) -> Bought | None:
        """What is bought of a cloud volume; None for what its file has."""
        found = Bought(self.size, self.iops, self.throughput)
        return None if found == Bought() else found


class CacheTierTable(Table):
    """`cache_tier`: fast drives as a cache of the array."""

    drives: tuple[DrivesTable, ...] = Field(min_length=1)
    level: Literal["raid0", "raid1", "raid1e"] = "raid0"
    write: Literal["write-back", "read"] = "write-back"
    """`read`: writes go bypassing the tier."""
    state: Literal["empty", "warm"] = "empty"
    """`warm`: the run finds it as its loads make it in the long run."""


class PreconditioningTable(Table):
    """One entry of `history`: writes that the array has seen before the run."""

    rw: Literal["write", "randwrite"] = "write"
    block_size: Size = Field(default=128 * 1024, gt=0)
    area_start: Size = 0
    area: Area = None
    """`whole` (default) is the whole array."""
    written: Size | None = None
    """Bytes written altogether; until nothing changes any more if left out."""
    then_rests: bool = False
    """True if drives then had some minutes for collection in the background."""

    def faults(self) -> Iterator[Fault]:
        """Writes of nothing, or nowhere."""
        if self.area == 0:
            yield Fault("area", "0 B", 'above 0 B, or "whole"')
        if self.written == 0:
            yield Fault("written", "0 B", "above 0 B; left out: until nothing changes any more")


_ANY_STRIPE_UNIT = frozenset({"independent", "jbod", "raid0", "raid1"})
"""Levels that units of any size divide, or none at all; mdadm(8) says so of `--chunk`."""


class ArrayTable(CacheSettings):
    """`[[array]]`. Its settings of the controller's cache count instead of the controller's."""

    elsewhere: ClassVar[Mapping[str, str]] = ARRAY_KEYS

    name: str = Field(default="", pattern=r"^[A-Za-z0-9_.+-]*$")
    count: int = Field(default=1, ge=1, le=256)
    """Equal arrays, each with the loads that this one has; see `planning/equal_arrays.py`."""
    controller: str | None = None
    """Which of several `[[controller]]` it is behind; on the host itself if left out."""
    level: ArrayLevel = "jbod"
    drives: tuple[DrivesTable, ...] = Field(min_length=1)
    stripe_unit: Size = 64 * 1024
    spans: int | None = Field(default=None, ge=2, le=256)
    """Groups of drives with parity of their own, of RAID 50 and 60; two if left out."""
    declustered: DeclusteredTable | None = None
    """Stripes of RAID 5 and 6 that are narrower than the array, with spare space on all drives."""
    used: Size | None = Field(default=None, gt=0)
    """What the array uses of each drive, from its start; the whole drive if left out."""
    hot_spares: int = Field(default=0, ge=0, le=64)
    hot_spare_model: str | None = None
    """The hot spares' model; that of the array's first drive if left out."""
    rebuild_rate: Share = 0.3
    """Share of the time that rebuild, copyback, patrol read and consistency check may have while
    the host wants the drives."""
    sync_speed_max: Rate | None = Field(default=None, ge=1)
    """Bytes of each member that rebuild and check of RAID in the host move in a second at most, as
    md's `sync_speed_max`; 200,000 KiB/s if left out."""
    shared_depth: int | None = Field(default=None, ge=1, le=65_536)
    """I/Os of tenants that are in it at once, where loads have weights or priorities."""
    sync_speed_min: Rate | None = Field(default=None, ge=1)
    """Bytes a second that they move at least while loads want the drives, as md's
    `sync_speed_min`; if left out `rebuild_rate` decides."""
    group_thread_cnt: int | None = Field(default=None, ge=0, le=256)
    """Threads of each socket that handle stripes of RAID 5 and 6 in the host beside md's own."""
    stripe_cache_size: int | None = Field(default=None, ge=17, le=32_768)
    """Pages of each member that the stripe cache of RAID 5 and 6 in the host holds."""
    software_raid: Software = "none"
    """`os`: Linux's md, or a RAID of another system; `lvm`: device mapper's RAID."""
    read_balance: Literal["md", "shortest-queue"] | None = None
    """How a mirror in the host chooses the copy that serves a read; as md if left out."""
    layout: AnyCopyLayout = None
    """Where md puts the copies of RAID 10: `near2`, `far2`, `offset2`, with 3 for three copies."""
    bitmap: Literal["none", "internal"] | None = None
    """Whether RAID in the host marks regions on the members before it writes to them."""
    bitmap_chunk: Size | None = Field(default=None, gt=0)
    """What a bit of it stands for, 64 MiB if left out."""
    file_system: AnyFileSystem = None
    """What its loads' files are on; they are on the raw array if left out."""
    link: str | None = None
    """The `[[link]]` that its drives hang on; the host's own ports if left out."""
    cache_tier: CacheTierTable | None = None
    host_cache: HostCacheTable | None = None
    """SSDs as a cache that the host keeps: bcache, dm-cache, dm-writecache."""
    history: tuple[PreconditioningTable, ...] = Field(default=(), max_length=100)
    """What was written before the run, after what `precondition` asks for."""

    def faults(self) -> Iterator[Fault]:
        """A stripe unit that no drive can hold."""
        if self.stripe_unit == 0 or self.stripe_unit % 512:
            allowed = 'a multiple of 512 B, at least 512 B, such as "64 KiB"'
            yield Fault("stripe_unit", f"{self.stripe_unit} B", allowed)
        elif self.stripe_unit.bit_count() > 1 and self.level not in _ANY_STRIPE_UNIT:
            allowed = f'a power of two, such as "64 KiB", as {self.level} of controllers and md has'
            yield Fault("stripe_unit", format_size(self.stripe_unit), allowed)
        if self.spans is not None and self.level not in ("raid50", "raid60"):
            yield Fault("spans", self.spans, "left out: only raid50 and raid60 have spans")
        if self.declustered is not None:
            yield from self.declustered.faults_on(self.level, self.drive_count, self.stripe_unit)
        if self.rebuild_rate == 0:
            yield Fault("rebuild_rate", 0, "above 0, at most 1: at 0 nothing would ever be rebuilt")

    @property
    def in_host(self) -> bool:
        """Whether the host's own software does its RAID work."""
        return self.software_raid != "none"

    @property
    def has_ssd_cache(self) -> bool:
        """Whether SSDs are a cache of it, a controller's or the host's."""
        return self.cache_tier is not None or self.host_cache is not None

    @property
    def shape(self) -> LevelFacts:
        """What its level wants and offers."""
        spread = None if self.declustered is None else self.declustered.layout
        return facts(self.level, self.copies, self.spans, spread)

    @property
    def copies(self) -> CopyLayout | None:
        """Where copies of RAID 10 in the host lie, two near ones if left out; None for others."""
        if self.level != "raid10" or not self.in_host:
            return None
        return self.layout or CopyLayout()

    @property
    def used_bytes(self) -> int:
        """`used` in whole stripe units, so that no drive begins within one; 0 for all."""
        unit = self.stripe_unit
        return self.used // unit * unit if self.used and unit else 0

    @property
    def drive_count(self) -> int:
        """Number of its drives."""
        return sum(entry.count for entry in self.drives)


def _goals(value: object) -> object:
    return (
        (value,) if isinstance(value, str) else tuple(value) if isinstance(value, list) else value
    )


Priority = Literal["high", "normal", "low"]
PRIORITIES: tuple[Priority, ...] = ("high", "normal", "low")
"""The first goes before the others."""
TraceFormat = Literal[
    "disksim-validate", "disksim-ascii", "mqsim", "blkparse", "fio-iolog", "msr", "spc", "systor17",
    "alibaba", "tencent", "vscsi", "csv",
]  # fmt: skip
_BESIDE_TRACE = {
    "name", "target", "threads", "limit", "burst", "weight", "priority", "compressible",
    "client_link", "goal", "trace", "trace_format", "trace_columns", "trace_volume", "trace_beyond",
    "trace_slower", "trace_timing",
}  # fmt: skip
"""Keys of a workload that mean something beside a trace."""


class WorkloadTable(Durable, MonitoredKeys):
    """`[[workload]]`."""

    elsewhere: ClassVar[Mapping[str, str]] = {
        "bs": "block_size",
        "blocksize": "block_size",
        "blockalign": "align",
        "iodepth": "outstanding",
        "queue_depth": "outstanding",
        "numjobs": "threads (outstanding is that of all together)",
        "rwmixread": "read_share, from 0 to 1,",
        "readwrite": "rw",
        "size": "area",
        "offset": "area_start",
        "rate_iops": 'rate (an open load) or limit ("5000 IO/s")',
        "random_distribution": "distribution or hot_spot",
        "thinktime": "think_time",
        "buffer_compress_percentage": "compressible",
        "runtime": "run.duration",
        **LOAD_KEYS,
        "ramp_time": "run.warm_up",
    }

    name: str = Field(default="", pattern=r"^[A-Za-z0-9_.+-]*$")
    target: str = ""
    """Name of the array; may be left out where there is only one."""
    profile: AnyProfile | None = None
    rw: Rw | None = None
    """fio's word: read, write, rw, randread, randwrite, randrw."""
    read_share: Share | None = None
    """Share of reads of `rw` and `randrw`."""
    block_size: Size | None = None
    align: Size | None = None
    """Offsets are multiples of this; see `alignment` for what it is if left out."""
    area_start: Size = 0
    area: Area = None
    """Size of the part that is loaded; `whole` (default) is the whole array."""
    threads: int | None = Field(default=None, ge=1, le=1024)
    outstanding: Outstanding = None
    """I/Os in flight: one number, a list (one run each), or `max`."""
    per: Literal["system", "drive"] = "system"
    """`drive`: outstanding counts per drive of the array."""
    think_time: Duration = 0
    """Pause between a completion and the next I/O of the same place in the queue."""
    think: Literal["fixed", "exponential"] = "fixed"
    rate: Rates | None = None
    """An open load instead: I/Os arrive whether or not others have completed. One rate, or a list
    (one run each)."""
    arrivals: Arrivals | None = None
    """How they arrive: `poisson` (default), `constant`, or a table."""
    limit: Limits | None = None
    """A tenant's cap: `"5000 IO/s"`, `"200 MB/s"`, or a list of both."""
    client_link: Rate | None = Field(default=None, ge=10**6)
    """Rate of the load's own link to a target across the host's network."""
    burst: Duration | None = None
    """The limit's tokens collect for so long while the load asks for less."""
    weight: int | None = Field(default=None, ge=1, le=10_000)
    """In proportion to which tenants of one priority are served; 1 if another load says one."""
    priority: Priority | None = None
    """Which tenants go first; `normal` if another load says one."""
    buffered: bool = False
    """True if calls go through the operating system's page cache and block until they are served;
    false for direct I/O."""
    passes: int = Field(default=0, ge=0, le=1 << 20)
    """How often the area is covered, each block once a time; the run then ends, after an fsync if
    the load is buffered. 0 for a load without end."""
    distribution: str = "uniform"
    """`uniform`; `support` names what is not modelled yet."""
    compressible: Share | None = None
    hot_spot: Size | None = None
    """Size of a part of the area that most random I/Os go to."""
    hot_share: Share | None = None
    """Share of the I/Os that go there; 85 % if left out. The rest goes anywhere in the area."""
    hot_start: Size = 0
    """Where it begins in the area."""
    area_beyond: Literal["refuse", "cut"] = "refuse"
    """What becomes of an area that ends beyond the array; `cut` takes what fits."""
    hot_beyond: Literal["refuse", "cut"] = "refuse"
    """What becomes of a hot spot that ends beyond the area; `cut` takes what fits."""
    fio: str | None = None
    goal: Annotated[tuple[str, ...], BeforeValidator(_goals), also(TEXT)] = ()
    """What the load is to reach: `"p99 < 20 ms"`, or a list; says how much of the time it does."""
    trace: str | None = Field(default=None, min_length=1)
    """A recorded trace: what is asked, and when; its path is relative to the scenario's file."""
    trace_format: TraceFormat | None = None
    """Its format; the one that its first lines show if left out."""
    trace_columns: str | None = None
    """Of a csv: which column means what, as `raidlab replay --columns` has it."""
    trace_volume: str | None = None
    """The volume of the trace that is wanted; all of them, one after the other, if left out."""
    trace_beyond: Literal["refuse", "wrap", "skip", "scale"] = "refuse"
    """What becomes of requests that end beyond the array."""
    trace_slower: float = Field(default=1.0, gt=0, le=1e6)
    """Times between requests, times this."""
    trace_timing: Literal["trace", "pauses", "full-speed"] = "trace"
    """At the trace's times, or a closed loop of `outstanding`: with its pauses, or without them."""

    @property
    def job_file(self) -> str | None:
        """The job file of fio that says the load, if one does."""
        if self.fio is not None or self.profile is None:
            return self.fio
        file = profile_file(self.profile)
        return None if file is None else str(file)

    def alignment(self, *, whole_blocks: bool, sector: int = SECTOR) -> int:
        """Bytes of which the load's offsets are multiples.

        What the file says. Left out it is the block's own size on flash and volumes, as in fio, and
        a sector of the medium on disks, as in the published reports. Where the area or the hot spot
        begins at no whole block or sector, it is the largest divisor of all.
        """
        if self.align is not None:
            return self.align
        if not whole_blocks and sector == SECTOR:
            return SECTOR
        whole = self.load().block_bytes if whole_blocks else gcd(sector, self.load().block_bytes)
        return gcd(whole, self.area_start, self.hot_start)

    def faults(self) -> Iterator[Fault]:
        """Statements of the load that contradict each other."""
        if self.monitoring is not None:
            # Planning makes plain loads of it, which are checked then.
            return
        yield from self.monitoring_faults()
        if self.job_file is not None:
            yield from self._rate_faults()
            yield from self._limit_faults()
            if len(self.rate or ()) > 1:
                allowed = "one rate: a profile of several jobs has no list of them"
                yield Fault("rate", list(self.rate or ()), allowed)
            return
        if self.trace is None:
            yield from self._load_faults()
        yield from self._hot_spot_faults()
        yield from self._limit_faults()
        yield from self._arrival_faults()
        yield from self._trace_faults()
        only_reads = self.rw in ("read", "randread") or self.profile == "streaming"
        yield from self.sync_faults(only_reads=only_reads, buffered=self.buffered)
        align = SECTOR if self.align is None else self.align
        if align == 0:
            yield Fault("align", "0 B", "at least 1 B; usual are 512 B and 4096 B")
        elif self.area_start % align:
            allowed = f"a multiple of align = {align} B"
            yield Fault("area_start", f"{self.area_start} B", allowed)
        if not self.think_time and "think" in self.model_fields_set:
            yield Fault("think", self.think, "left out: it has no effect without `think_time`")
        yield from self._rate_faults()
        if self.rate is not None:
            for key in ("outstanding", "think_time", "buffered", "passes"):
                if getattr(self, key):
                    yield Fault(key, None, "has no effect beside `rate`: leave one of them out")
            if "per" in self.model_fields_set:
                allowed = "left out beside `rate`: `per` says what `outstanding` counts for"
                yield Fault("per", self.per, allowed)

    def _rate_faults(self) -> Iterator[Fault]:
        for rate in self.rate or ():
            if rate == 0 or rate > MOST_RATE:
                yield Fault("rate", f"{rate} IO/s", "above 0, at most 10^8 IO/s")

    def _arrival_faults(self) -> Iterator[Fault]:
        if self.arrivals is not None and self.rate is None:
            yield Fault("arrivals", None, "left out: it has no effect without `rate`")

    def _trace_faults(self) -> Iterator[Fault]:
        given = sorted(self.model_fields_set)
        if self.trace is None:
            for key in given:
                if key.startswith("trace_"):
                    yield Fault(key, None, "left out: it has no effect without `trace`")
            return
        closed = self.trace_timing != "trace"
        for key in given:
            if key not in _BESIDE_TRACE and not (closed and key == "outstanding"):
                yield Fault(key, None, "left out: the trace says what is asked, and when")
        if closed and len(self.outstanding or ()) > 1:
            allowed = "one number: a trace has no list of them"
            yield Fault("outstanding", list(self.outstanding or ()), allowed)

    def _limit_faults(self) -> Iterator[Fault]:
        if self.client_link is not None and self.buffered:
            allowed = "left out: a page cache across a client's own link is not modelled"
            yield Fault("client_link", f"{self.client_link / 1e6:g} MB/s", allowed)
        if self.limit is not None and self.buffered:
            allowed = "left out: limits of loads that pass through the page cache are not modelled"
            yield Fault("limit", " and ".join(map(str, self.limit)), allowed)
        for key in ("weight", "priority"):
            if getattr(self, key) is not None and self.buffered:
                allowed = "left out: shares of loads that pass the page cache are not modelled"
                yield Fault(key, getattr(self, key), allowed)
        if self.area_beyond != "refuse" and self.area is None:
            yield Fault("area_beyond", None, "left out: it has no effect without `area`")
        if self.burst is not None and self.limit is None:
            yield Fault("burst", None, "left out: it has no effect without `limit`")
        elif self.burst is not None and self.burst > LONGEST_BURST:
            yield Fault("burst", format_duration(self.burst), "at most 10 d")

    @property
    def limits(self) -> list[LimitParams]:
        """The plan's `limits`."""
        burst = DEFAULT_BURST if self.burst is None else self.burst
        return [
            {"counts": limit.counts, "milli_per_s": limit.milli_per_s, "burst_ns": burst}
            for limit in self.limit or ()
        ]

    def area_bytes(self, usable: int) -> int:
        """Bytes of the area on an array of this many; none or fewer where it begins beyond."""
        space = usable - self.area_start
        if self.area is None or (self.area_beyond == "cut" and self.area > space):
            return space
        return self.area

    def hot_bytes(self, area: int) -> int:
        """Bytes of the hot spot in an area of this many; 0 without one."""
        block = self.load().block_bytes
        size = self.hot_spot or 0
        if self.hot_beyond == "cut" and size > area - self.hot_start:
            size = (area - self.hot_start) // block * block
        return max(0, size)

    def _hot_spot_faults(self) -> Iterator[Fault]:
        if self.hot_spot is None:
            for key, none in (
                ("hot_share", None), ("hot_start", 0), ("hot_beyond", "refuse"),
            ):  # fmt: skip
                if getattr(self, key) != none:
                    yield Fault(key, None, "has no effect without `hot_spot`")
            return
        if self.hot_share == 0:
            allowed = "above 0, at most 1; to load the whole area alike leave `hot_spot` out"
            yield Fault("hot_share", 0, allowed)
        if self.passes:
            yield Fault("hot_spot", None, "has no effect beside `passes`: leave one of them out")
        elif self.hot_spot == 0:
            yield Fault("hot_spot", "0 B", "at least a block")
        align = SECTOR if self.align is None else self.align
        if self.hot_spot and align and self.hot_start % align:
            yield Fault("hot_start", f"{self.hot_start} B", f"a multiple of align = {align} B")

    def _load_faults(self) -> Iterator[Fault]:
        if self.profile is not None:
            for key in ("rw", "read_share", "block_size"):
                if getattr(self, key) is not None:
                    yield Fault(key, None, "is settled by `profile`: leave one of them out")
            return
        if self.rw is None:
            yield Fault("rw", None, "a load: `profile`, or `rw` and `block_size`")
        elif self.read_share is not None and RW[self.rw][1] is not None:
            yield Fault("read_share", self.read_share, f'has no effect with rw = "{self.rw}"')
        if self.block_size is None:
            yield Fault("block_size", None, 'is required beside `rw`, such as "4 KiB"')
        elif not 1 <= self.block_size <= 1 << 30:
            yield Fault("block_size", f"{self.block_size} B", "1 B to 1 GiB")

    def load(self) -> Load:
        """Order, share of reads and block size, of a table without faults."""
        for name, load in PROFILES.items():
            if name == self.profile:
                return load
        if self.rw is None or self.block_size is None:
            raise AssertionError("a workload without a load has faults")
        access, share = RW[self.rw]
        if share is None:
            share = 0.5 if self.read_share is None else self.read_share
        return Load(access, share, self.block_size)


class EventTable(Table):
    """`[[event]]`: something happens at a given time."""

    at: Duration
    action: Literal[
        "fail-drive",
        "slow-drive",
        "unreadable-sectors",
        "replace-drive",
        "power-fail",
        "patrol-read",
        "consistency-check",
        "battery-learn",
        "move-hot-spot",
    ]
    array: str = ""
    """Name of the array; may be left out where there is only one."""
    drive: int = Field(default=0, ge=0, lt=2**16)
    """Which of its drives, from 0; its spares are behind the others."""
    extra: Duration = 10_000_000
    """Of `slow-drive`: this much longer for each command; 0 for as fast as ever."""
    offset: Size = 0
    size: Size = Field(default=4096, gt=0)
    """Of `unreadable-sectors`: where on the drive, and how many bytes."""
    workload: str = ""
    start: Size = 0
    """Of `move-hot-spot`: whose, and where it begins in the area from then on."""
    lasts: Duration = 60_000_000_000
    """Of `power-fail` and `battery-learn`: for how long."""

    def faults(self) -> Iterator[Fault]:
        """Parts of sectors, which no drive fails to read."""
        for name in ("offset", "size"):
            value = getattr(self, name)
            if self.action == "unreadable-sectors" and value % 512:
                allowed = "a multiple of 512 B: whole sectors cannot be read"
                yield Fault(name, format_size(value), allowed)


class ScenarioTable(Table):
    """A whole scenario file."""

    elsewhere: ClassVar[Mapping[str, str]] = SCENARIO_KEYS

    title: str = Field(default="", max_length=300)
    host: HostTable = HostTable.left_out()
    controller: Controllers = Field(default=(), max_length=64)
    """One as a table, which serves all arrays, or several, each with the arrays that name it."""
    link: tuple[LinkTable, ...] = Field(default=(), max_length=256)
    """The tree of what lies between drives and the host."""
    array: tuple[ArrayTable, ...] = Field(min_length=1, max_length=256)
    workload: tuple[WorkloadTable, ...] = Field(default=(), max_length=256)
    """May be empty where SimPy processes make the load."""
    run: RunTable = RunTable.left_out()
    event: tuple[EventTable, ...] = ()

    def faults(self) -> Iterator[Fault]:
        """Links that are no tree."""
        yield from link_faults(self.link)

    def controllers(self) -> Iterator[tuple[str, ControllerTable]]:
        """Every controller with the key of its table."""
        for at, table in enumerate(self.controller):
            yield ("controller" if len(self.controller) == 1 else f"controller.{at}"), table

    def array_name(self, at: int) -> str:
        """Name of an array, given or by position."""
        return self.array[at].name or f"array-{at}"

    def target_name(self, at: int) -> str:
        """Name of the array that a workload is to load; there may be none of that name."""
        target = self.workload[at].target
        return self.array_name(0) if not target and len(self.array) == 1 else target
