"""What the engine gives, as it crosses to Python: made from the engine's types by `make schema`."""

from typing import NotRequired, TypedDict


class Arrived(TypedDict):
    """
    What is said of the arrivals of an open load.
    """

    fewest_in_flight: list[int | None]
    requests: int


class CacheReport(TypedDict):
    """
    One cache's part of the result; counts are of the recorded time.
    """

    destages: int
    dirty_share: float | None
    filled_bytes: int
    full_stripes: int
    gathered_bytes: int
    kind: str
    name: str
    read_hits: int
    reads: int
    used_share: float | None
    waiting_bytes: int
    write_hits: int
    writes: int


class Command(TypedDict):
    """
    What a request became.
    """

    bytes: int
    drive: str | None
    kind: str
    number: int
    offset: int
    op: str
    parent: int


class Comparison(TypedDict):
    """
    Two distributions in the same buckets.
    """

    edges: list[int]
    measured: list[int]
    measured_sum_us: float
    requests: int
    simulated: list[int]
    simulated_sum_us: float


class DataReport(TypedDict):
    """
    The audit's figures.
    """

    acknowledged_writes: int
    corrupt_stripes: int
    lost_in_drive_caches: int
    lost_sectors: int
    lost_writes: int
    refused_reads: int
    stale_reads: int


class Latencies(TypedDict):
    """
    A distribution of latencies.
    """

    bins: list[list[int]]
    count: int
    deviation: float
    max: int
    mean: float
    min: int


class Latency(TypedDict):
    """
    Latency statistics in microseconds.
    """

    max: float
    mean: float
    min: float
    p50: float
    p90: float
    p95: float
    p99: float
    p99_9: float
    p99_99: float
    stddev: float


class LogEntry(TypedDict):
    """
    An entry of the log of what happened.
    """

    kind: str
    subject: str
    t_s: float
    what: str


class MapReport(TypedDict):
    """
    Latencies of reads, or of writes, over time.
    """

    columns: list[list[list[int]]]
    t_s: list[float]


class PeriodResult(TypedDict):
    """
    A workload from one event to the next.
    """

    from_s: float
    iops: float
    ios: int
    latency_us: Latency | None
    to_s: float
    what: str


class Power(TypedDict):
    """
    What a component drew in the recorded time.
    """

    joules: float
    watts: float


class ReadUnits(TypedDict):
    """
    Mapping units that reads asked for.
    """

    units: int
    unwritten_units: int


class Samples(TypedDict):
    """
    Numbers of which mean and deviation are wanted.
    """

    count: int
    max: float
    min: float
    squares: float
    sum: float


class Side(TypedDict):
    """
    Reads or writes of a workload.
    """

    bins: list[list[int]]
    bytes: int
    iops: float
    ios: int
    latency_ci95_us: dict[str, list[float | None]]
    latency_map: NotRequired[MapReport | None]
    latency_us: Latency | None
    mib_per_s: float
    past_half_widths: NotRequired[dict[str, float]]
    rank_half_widths: dict[str, float | None]


class SideResult(TypedDict):
    """
    One direction of a thread.
    """

    bandwidth: Samples
    bytes: int
    completion: Latencies | None
    ios: int
    rate: Samples
    runtime_ns: int
    submission: Latencies | None
    total: Latencies | None


class SlowIo(TypedDict):
    """
    One of the slowest I/Os.
    """

    beside: list[str]
    breakdown_us: dict[str, float]
    bytes: int
    drive: str | None
    issued_ns: int
    latency_us: float
    offset: int
    op: str


class SpellReport(TypedDict):
    """
    A time in which something held at a component: a limit that changes in time.
    """

    from_s: float
    kind: str
    to_s: float


class Stage(TypedDict):
    """
    A time that an I/O, or a command of it, spent at a component.
    """

    begin_ns: int
    command: int
    component: str
    critical: bool
    end_ns: int
    kind: str
    stage: str


class ThreadResult(TypedDict):
    """
    What a thread did.
    """

    began_ns: int
    completes: list[int]
    depths: list[int]
    ended_ns: int
    error: int
    latency_depth: int
    latency_ms: list[int]
    latency_ns: list[int]
    latency_us: list[int]
    number: int
    runtime_ns: int
    sides: list[SideResult]
    submits: list[int]
    syncs: Latencies | None


class Timeline(TypedDict):
    """
    The timeline of a workload.
    """

    iops: list[float]
    latency_us: list[float | None]
    t_s: list[float]


class TracedIo(TypedDict):
    """
    One I/O, from the call in the host to its completion.
    """

    bytes: int
    commands: list[Command]
    issued_ns: int
    latency_ns: int
    offset: int
    op: str
    stages: list[Stage]


class Unit(TypedDict):
    """
    A disk of a trace.
    """

    end: int
    name: str
    requests: int
    start: int


class Written(TypedDict):
    """
    Bytes and mapping units written.
    """

    host_bytes: int
    host_units: int
    moved_units: int
    nand_bytes: int


class Component(TypedDict):
    """
    One component's share of the result.
    """

    arrays: NotRequired[list[str] | None]
    figures: dict[str, float]
    kind: str
    loads: NotRequired[list[str] | None]
    name: str
    power: NotRequired[Power | None]
    queue_depth: int | None
    queue_mean: float | None
    read_units: NotRequired[ReadUnits | None]
    spells: NotRequired[list[SpellReport]]
    utilization: float
    written: Written | None


class Scan(TypedDict):
    """
    What a trace holds.
    """

    bytes: int
    closed: bool
    extent: int
    first_ns: int
    format: str
    length_ns: int
    measured: int
    odd_sizes: int
    others: int
    outside: int
    reads: int
    requests: int
    sorted: bool
    trims: int
    units: list[Unit]


class TraceReport(TypedDict):
    """
    What a trace's load gives besides.
    """

    comparison: Comparison | None
    each_ns: NotRequired[list[int] | None]
    measured_latency_us: Latency | None
    requests: int
    scan: Scan
    served_in_time: int
    simulated_sum_ns: int


class WorkloadResult(TypedDict):
    """
    One workload's result.
    """

    arrived: NotRequired[Arrived | None]
    breakdown_us: dict[str, float]
    errors: int
    independent_batches: float | None
    iops: float
    iops_ci95: list[float | None]
    iops_past_half_width: NotRequired[float | None]
    ios: int
    latency_ci95_us: dict[str, list[float | None]]
    latency_us: Latency | None
    mb_per_s: float
    mib_per_s: float
    name: str
    past_half_widths: NotRequired[dict[str, float]]
    periods: list[PeriodResult]
    rank_half_widths: dict[str, float | None]
    read: Side
    slowest: NotRequired[list[SlowIo] | None]
    steady: bool | None
    target: str
    timeline: Timeline
    trace: NotRequired[TraceReport | None]
    traced_ios: NotRequired[list[TracedIo] | None]
    write: Side


class RunResult(TypedDict):
    """
    A run's result.
    """

    abandoned: int
    breaches: list[str]
    caches: list[CacheReport]
    components: list[Component]
    data: DataReport | None
    duration_s: float
    events: int
    log: list[LogEntry]
    rebuilding: list[float]
    rebuilding_before: list[float]
    refused: int
    threads: NotRequired[list[ThreadResult]]
    unsaved: str | None
    warm_up_s: float
    workloads: list[WorkloadResult]
