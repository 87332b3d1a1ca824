"""Rows of a result with types: what `Result.rows` has.

The same figures as in `Result.results`, which is plain data in the shape of the JSON document
(docs/reference/result.md); the names are the same. What is long is not in the `repr`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from raidlab.scenarios.spec.findings import Limit

if TYPE_CHECKING:
    from pydantic import TypeAdapter

Interval = tuple[float | None, float | None]
"""Low and high end of a 95 % interval; None where nothing can be said."""


@dataclass(frozen=True, slots=True)
class Latency:
    """A distribution of latencies in microseconds, from issue in the host to completion there."""

    min: float
    mean: float
    stddev: float
    p50: float
    p90: float
    p95: float
    p99: float
    p99_9: float
    p99_99: float
    max: float


@dataclass(frozen=True, slots=True)
class Side:
    """Reads, or writes."""

    ios: int
    bytes: int
    iops: float
    mib_per_s: float
    latency_us: Latency | None
    """None if there were no I/Os."""
    latency_ci95_us: dict[str, Interval] = field(repr=False)
    """Of the mean and of percentiles, by name."""
    uncertain: tuple[str, ...]
    """Percentiles with too few I/Os beyond them."""
    bins: tuple[tuple[int, int], ...] = field(repr=False)
    """Non-empty buckets of fio's histogram: nanoseconds, count."""


@dataclass(frozen=True, slots=True)
class Written:
    """What flash took in during the recorded time."""

    host_bytes: int
    nand_bytes: int
    host_units: int
    """Mapping units of the host."""
    moved_units: int
    """Mapping units that garbage collection moved."""


@dataclass(frozen=True, slots=True)
class ReadUnits:
    """Mapping units of a flash drive that reads asked for in the recorded time."""

    units: int
    unwritten_units: int
    """Those that were never written: the drive answers without NAND."""


@dataclass(frozen=True, slots=True)
class Power:
    """What components drew in the recorded time."""

    joules: float
    watts: float
    """Mean."""
    drives: int = 1
    """Drives whose data sheets say what they draw: the sums are over these."""


@dataclass(frozen=True, slots=True)
class Spell:
    """A time in which a limit held: credit was spent, an SLC cache full, a drive throttled."""

    kind: str
    from_s: float
    to_s: float


@dataclass(frozen=True, slots=True)
class Component:
    """One part of the system and how busy it was."""

    name: str
    kind: str
    utilization: float
    """Share of the recorded time, 0 to 1."""
    queue_mean: float | None
    """Mean number of I/Os there; None where it has no queue."""
    queue_depth: int | None
    """Commands that a drive takes at once; None without a limit."""
    written: Written | None
    """None for what is no flash."""
    figures: dict[str, float] = field(repr=False)
    """Counters of the model over the whole run."""
    power: Power | None = None
    """What it drew; None where its data sheet does not say."""
    spells: tuple[Spell, ...] = ()
    """When something held that changes in time."""
    read_units: ReadUnits | None = None
    """None for what is no flash."""
    arrays: tuple[str, ...] | None = None
    """Arrays whose loads can meet it; None if those of all arrays can."""
    loads: tuple[str, ...] | None = None
    """Loads that can meet it; None if all can."""


@dataclass(frozen=True, slots=True)
class SsdCacheHits:
    """Of the SSD cache of a row's array."""

    read_hit_ratio: float | None
    write_hit_ratio: float | None
    used_share: float | None
    dirty_share: float | None
    filled_bytes: int


@dataclass(frozen=True, slots=True)
class CacheHits:
    """Of the controller's memory, and of the SSD cache if the array has one."""

    read_hit_ratio: float | None
    """None without a memory, or without reads; likewise below."""
    write_hit_ratio: float | None
    full_stripe_ratio: float | None = None
    filled_bytes: int | None = None
    tier: SsdCacheHits | None = None


@dataclass(frozen=True, slots=True)
class CacheCounters:
    """What a controller's memory or an SSD cache did during the recorded time."""

    name: str
    kind: str
    reads: int
    read_hits: int
    writes: int
    write_hits: int
    destages: int
    full_stripes: int
    filled_bytes: int
    gathered_bytes: int
    """Growth of what waits in it for the drives."""
    waiting_bytes: int
    """What waits in it at the end."""
    used_share: float | None
    dirty_share: float | None


@dataclass(frozen=True, slots=True)
class Timeline:
    """Rate and mean latency over time, step by step, warm-up included."""

    t_s: tuple[float, ...]
    """End of each step."""
    iops: tuple[float, ...]
    latency_us: tuple[float | None, ...]
    """None in a step without I/Os."""


@dataclass(frozen=True, slots=True)
class Period:
    """From one event to the next."""

    what: str
    """What began it."""
    from_s: float
    to_s: float
    ios: int
    iops: float
    latency_us: Latency | None


@dataclass(frozen=True, slots=True)
class Moment:
    """When something happened, and what."""

    t_s: float
    what: str


@dataclass(frozen=True, slots=True)
class RateThen:
    """A load before events, or after them."""

    iops: float
    p99_us: float | None
    """None if there were no I/Os."""


@dataclass(frozen=True, slots=True)
class AroundEvents:
    """A load around the events that were recorded: its rate is no steady rate."""

    events: int
    first: Moment
    last: Moment
    before: RateThen | None
    """Before the first one; None of loads that were put together, likewise below."""
    after: RateThen | None


@dataclass(frozen=True, slots=True)
class Arrived:
    """Requests of an open load in the recorded time."""

    requests: int
    fewest_in_flight: tuple[int | None, int | None]
    """The fewest at a time, in each half; None where nothing came and nothing was served."""


@dataclass(frozen=True, slots=True)
class Row:
    """One workload at one point in one replication."""

    workload: str
    target: str
    """The array."""
    point: int
    outstanding: int
    """I/Os in flight; 0 for an open load."""
    replication: int
    replications: int
    ios: int
    errors: int
    """I/Os that were refused or cut off."""
    warm_up_s: float
    """Simulated seconds before anything was recorded."""
    duration_s: float
    """Simulated seconds that were recorded."""
    steady: bool | None
    """Whether rate and latency had a steady state; None where that cannot be said."""
    iops: float
    iops_ci95: Interval
    mib_per_s: float
    mb_per_s: float
    latency_us: Latency | None
    """None if there were no I/Os."""
    latency_ci95_us: dict[str, Interval] = field(repr=False)
    """Of the mean and of percentiles, by name."""
    uncertain: tuple[str, ...]
    """Percentiles with too few I/Os beyond them."""
    independent_batches: float | None
    """How many independent batches say as much of the rate; None where nothing can be said."""
    read: Side = field(repr=False)
    write: Side = field(repr=False)
    breakdown_us: dict[str, float] = field(repr=False)
    """Mean time of an I/O by part; adds up to `latency_us.mean`."""
    write_amplification: float | None
    """Bytes to NAND over bytes from the host; None without flash or writes."""
    cache: CacheHits
    caches: tuple[CacheCounters, ...] = field(repr=False)
    components: tuple[Component, ...] = field(repr=False)
    bottleneck: str | None
    runner_up: str | None
    timeline: Timeline = field(repr=False)
    periods: tuple[Period, ...] = field(repr=False)
    rebuilding: tuple[float, ...]
    """Of rebuilds that were not done at the end: the share that was."""
    power: Power | None = None
    """Of all drives that say what they draw, whatever loads them; None if none does."""
    offered_iops: float | None = None
    """Rate at which I/Os of an open load arrive; None for a closed one."""
    overloaded: bool | None = None
    """Whether more of an open load arrived than was served; None of others."""
    arrived: Arrived | None = None
    """What arrived of an open load; None of others."""
    limits: tuple[Limit, ...] = ()
    """What bounds the rate, and when; nothing where the time of one I/O does."""
    doubts: tuple[str, ...] = ()
    """Codes of what keeps the row from being a best rate, a size or a recommendation."""
    around_events: AroundEvents | None = None
    span_s: float | None = field(default=None, repr=False)
    """Of a job of fio whose rate is over its own time and not over what was recorded: seconds."""
    """The load before and after events; None where none was recorded."""


@cache
def _reader() -> TypeAdapter[tuple[Row, ...]]:
    from pydantic import TypeAdapter

    return TypeAdapter(tuple[Row, ...])


def typed(rows: Iterable[Mapping[str, object]]) -> tuple[Row, ...]:
    """Rows of a result as dataclasses."""
    return _reader().validate_python(tuple(rows))
