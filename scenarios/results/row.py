"""A row of a result as plain data: the shape of `raidlab run --json` (docs/reference/result.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, NotRequired, TypedDict, cast

from raidlab.scenarios.results.intervals import Interval
from raidlab.scenarios.spec.findings import LimitData
from raidlab.scenarios.spec.run_result import (
    Arrived,
    CacheReport,
    Component,
    Latency,
    LogEntry,
    MapReport,
    PeriodResult,
    SlowIo,
    Timeline,
    TracedIo,
    TraceReport,
)

DIRECTIONS: Final[tuple[Literal["read"], Literal["write"]]] = ("read", "write")
"""Keys of a row's sides."""


def latency_of(figures: Mapping[str, float]) -> Latency:
    """A distribution of figures by their names."""
    return cast("Latency", figures)


def figures_of(latency: Latency) -> Mapping[str, float]:
    """The figures of a distribution by their names."""
    return cast("Mapping[str, float]", latency)


class Rates(TypedDict):
    """What reads, writes and both together have alike."""

    ios: int
    iops: float
    mib_per_s: float
    latency_us: Latency | None
    latency_ci95_us: dict[str, Interval]
    uncertain: list[str]


def latency_at(each: Rates, name: str) -> float | None:
    """A figure of its latencies in microseconds, by name; None without I/Os."""
    latency = each.get("latency_us")
    return None if latency is None else figures_of(latency).get(name)


def measured(each: Rates) -> Latency:
    """The latencies of what had I/Os.

    Raises:
        ValueError: It had none.
    """
    latency = each.get("latency_us")
    if latency is None:
        raise ValueError("no I/O was recorded")
    return latency


def side_of(row: Row, name: str) -> Side:
    """Its `read` or its `write`."""
    return row["read"] if name == "read" else row["write"]


class Drawn(TypedDict, total=False):
    """What holds 95 % of draws of the devices, where they are asked for."""

    iops_draws95: list[float] | None
    latency_us_draws95: dict[str, list[float] | None]


class Mapped(Drawn, total=False):
    """Latencies over time, where they are asked for."""

    latency_map: MapReport | None


class Side(Rates, Mapped):
    """Reads, or writes."""

    bytes: int
    bins: list[list[int]]


class Hits(TypedDict):
    """Of a cache; None without one, or where nothing came to it."""

    read_hit_ratio: float | None
    write_hit_ratio: float | None


class TierHits(Hits):
    """Of the SSD cache of a row's array."""

    used_share: float | None
    dirty_share: float | None
    filled_bytes: int


class CacheHits(Hits):
    """Of the controller's memory, and of the SSD cache if the array has one."""

    full_stripe_ratio: NotRequired[float | None]
    filled_bytes: NotRequired[int]
    tier: NotRequired[TierHits]


class Power(TypedDict):
    """What the drives that say so drew."""

    joules: float
    watts: float
    drives: int


class Moment(TypedDict):
    """When something happened, and what."""

    t_s: float
    what: str


class RateThen(TypedDict):
    """A load before events, or after them."""

    iops: float
    p99_us: float | None


class AroundEvents(TypedDict):
    """A load around the events that were recorded."""

    events: int
    first: Moment
    last: Moment
    before: RateThen | None
    after: RateThen | None


class IfKnown(Drawn, total=False):
    """What only some rows have."""

    around_events: AroundEvents
    """Of a load around events that were recorded."""
    span_s: float
    """Of a job of fio whose rate is over its own time: seconds."""
    arrived: Arrived
    """Of an open load."""
    slowest: list[SlowIo]
    """If they are asked for."""
    offered_iops: float
    """Of an open load."""
    overloaded: bool
    """Of an open load: whether more arrived than was served."""
    doubts: list[str]
    """Codes of what keeps the row from carrying a statement."""
    replications: int
    """Of the scenario."""


class Row(Rates, IfKnown):
    """One workload at one point in one replication."""

    workload: str
    target: str
    point: int
    outstanding: int
    replication: int
    errors: int
    iops_ci95: Interval
    mb_per_s: float
    independent_batches: float | None
    read: Side
    write: Side
    breakdown_us: dict[str, float]
    write_amplification: float | None
    cache: CacheHits
    caches: list[CacheReport]
    components: list[Component]
    power: Power | None
    bottleneck: str | None
    runner_up: str | None
    limits: list[LimitData]
    timeline: Timeline
    periods: list[PeriodResult]
    rebuilding: list[float]
    warm_up_s: float
    duration_s: float
    steady: bool | None


class Gain(TypedDict):
    """What a change gives a load."""

    workload: str
    outstanding: int
    point: int
    iops: float
    gain_pct: float | None
    bottleneck: str | None
    still_filling: bool


class Change(TypedDict):
    """One thing changed in a scenario; why it cannot be, or what it gives."""

    change: str
    subject: str
    """What there is twice of."""
    why_not: str | None
    reason: str | None
    """What would be allowed, where it cannot be."""
    results: list[Gain]


class GoalData(TypedDict):
    """What became of a goal."""

    goal: str
    value: float | None
    ci95: Interval
    unit: str
    holds: bool
    confidence: float | None
    by: float | None


class GoalRow(GoalData):
    """What became of a goal at a point; shares of I/Os and of time are 0 to 1."""

    workload: str
    point: int
    outstanding: int
    ios_within: float | None
    time_within: float | None


class RunEvent(LogEntry):
    """What happened, by point and replication."""

    point: int
    replication: int


class IoRow(TracedIo):
    """A single I/O with its stages, by point, replication and workload."""

    workload: str
    point: int
    outstanding: int
    replication: int


class TraceFound(TraceReport):
    """What the engine gave of a load that is a recorded trace; `part` of the plan."""

    workload: str
    part: int
    point: int
    replication: int
