"""A plan, as the engine takes it: made from its types by `make schema`."""

from typing import Literal, NotRequired, TypeAlias, TypedDict


Access: TypeAlias = Literal["random", "sequential"]


class ArmPowerParams(TypedDict):
    """
    Power of a disk in the plan.
    """

    active_w: float
    idle_w: float


Arrangement: TypeAlias = Literal["near", "far", "offset"]


class PoissonArrival(TypedDict):
    """
    At random instants (a Poisson stream), whether or not earlier ones have completed.
    """

    kind: Literal["poisson"]
    per_s: float


class Balance(TypedDict):
    """
    How far a recording of `max_ios` goes on that has not seen the I/Os that wait for long.

    In a closed load rate times mean latency is what is outstanding (Little's law). A recording that
    ends before I/Os that wait for longer have ended misses these.
    """

    most_ios: int
    share: float


Beyond: TypeAlias = Literal["refuse", "wrap", "skip", "scale"]


class BitmapPlan(TypedDict):
    """
    The write-intent bitmap of an array in the host.
    """

    chunk_bytes: int
    flushes: bool
    fua: NotRequired[bool]


class BytePowerParams(TypedDict):
    """
    Power of such a drive in the plan.
    """

    byte_nj: list[float]
    idle_w: float


CacheReadAhead: TypeAlias = Literal["none", "adaptive", "always", "behind_each"]


class Cap(TypedDict):
    """
    A cap of one direction; 0 for none.
    """

    bytes_per_s: int
    exact: NotRequired[bool]
    poisson: bool


class ClientPlan(TypedDict):
    """
    Where the data of a load cross a link of their own before they reach the target's.
    """

    link: int
    target: int


class Column(TypedDict):
    """
    A column by its name.
    """

    name: str
    unit: NotRequired[str]


class Columns(TypedDict):
    """
    The columns of a table whose first line names them.
    """

    offset: Column
    op: Column
    response: NotRequired[Column | None]
    size: Column
    time: Column
    unit: NotRequired[Column | None]


class CompressionParams(TypedDict):
    """
    Compression in the plan.
    """

    bytes_per_s: NotRequired[int]
    gain: float
    least_share: float
    shortest_match: NotRequired[int]


class CopiesPlan(TypedDict):
    """
    The copies of level 10.
    """

    arrangement: Arrangement
    copies: int


class CopyCacheParams(TypedDict):
    """
    A CPU's cache through which a server copies.
    """

    bytes: int
    outside_milli: int


Counted: TypeAlias = Literal["ios", "bytes"]


Point: TypeAlias = int


class DeclusteredPlan(TypedDict):
    """
    Stripes of levels 5 and 6 that are spread over more drives than one of them is wide.
    """

    chunk_bytes: int
    spares: int
    width: int


class Depth(TypedDict):
    """
    How many I/Os a thread has, hands in and takes back at once.
    """

    batch: int
    complete_max: int
    complete_min: int
    depth: int
    low: int


BytesPer: TypeAlias = int


class ExternalDeviceParams(TypedDict):
    """
    Served by the caller's own code (a SimPy process), not by the engine.
    """

    capacity_bytes: int
    kind: Literal["external"]


Direction: TypeAlias = Literal["read", "write", "trim", "read_write", "trim_write"]


class UniformDistribution(TypedDict):
    """
    All alike.
    """

    kind: Literal["uniform"]


class ZipfDistribution(TypedDict):
    """
    Zipf's law.
    """

    center: NotRequired[float | None]
    kind: Literal["zipf"]
    theta: float


class ParetoDistribution(TypedDict):
    """
    Pareto's law.
    """

    center: NotRequired[float | None]
    h: float
    kind: Literal["pareto"]


class NormalDistribution(TypedDict):
    """
    Sums of twelve uniform numbers.
    """

    center: NotRequired[float | None]
    deviation: float
    kind: Literal["normal"]


class ZonedDistribution(TypedDict):
    """
    Zones in percent of the file.
    """

    kind: Literal["zoned"]


class ZonedAbsDistribution(TypedDict):
    """
    Zones in bytes.
    """

    kind: Literal["zoned_abs"]


Distribution: TypeAlias = (
    UniformDistribution
    | ZipfDistribution
    | ParetoDistribution
    | NormalDistribution
    | ZonedDistribution
    | ZonedAbsDistribution
)


class FilePlan(TypedDict):
    """
    A file: a part of the array.
    """

    io_bytes: int
    name_hash: int
    offset_bytes: int
    real_bytes: int
    start_bytes: int


FileService: TypeAlias = Literal["round_robin", "sequential", "random"]


class FlashPowerParams(TypedDict):
    """
    Power of a solid-state drive in the plan.
    """

    byte_nj: float
    erase_nj: float
    idle_w: float
    limit_w: NotRequired[float | None]
    program_nj: float
    program_slc_nj: NotRequired[float | None]
    read_nj: float


FlushCommand: TypeAlias = Literal["queued", "alone", "dropped"]


FlushOrder: TypeAlias = Literal["together", "one_by_one", "batches"]


HeadOrder: TypeAlias = Literal["cylinder", "serpentine"]


HistoryAccess: TypeAlias = Literal["sequential", "random"]


class HistoryLoad(TypedDict):
    """
    Writes before the run.
    """

    access: HistoryAccess
    area_bytes: int
    block_bytes: int
    ongoing: NotRequired[bool]
    start_bytes: int
    then_rests: NotRequired[bool]
    weight: NotRequired[int]
    written_bytes: int


class HostCachePlan(TypedDict):
    """
    Of a cache of dm-cache's or bcache's kind.
    """

    allocates: NotRequired[bool]
    reads_alone_promote: NotRequired[bool]
    sequential_cutoff_bytes: NotRequired[int]
    through: NotRequired[bool]


class HotSpotPlan(TypedDict):
    """
    A part of a workload's area that most of its random I/Os go to.
    """

    bytes: int
    share: float
    start_bytes: int


JournalKind: TypeAlias = Literal["ext4", "xfs"]


class LatencyParams(TypedDict):
    """
    The latencies of a direction at one block size and one population.
    """

    block_bytes: int
    outstanding: float
    quantiles_ns: list[float]


Level: TypeAlias = Literal[
    "jbod", "raid0", "raid1", "raid1e", "raid10", "raid5", "raid6", "raid50", "raid60"
]


class MapCacheParams(TypedDict):
    """
    The map cache in the plan.
    """

    bytes: int
    entry_bytes: int
    page_bytes: int


Nanos: TypeAlias = int


class Options(TypedDict):
    """
    Which trace, and how it is read.
    """

    beyond: NotRequired[Beyond]
    capacity: NotRequired[int]
    columns: NotRequired[Columns | None]
    format: str
    path: str
    pauses: NotRequired[bool]
    slower: NotRequired[float]
    unit: NotRequired[str | None]
    without_trims: NotRequired[bool]


class PageCacheParams(TypedDict):
    """
    A page cache in the plan.
    """

    background_share: float
    dirty_share: float
    expire_ns: Nanos
    holds_end: bool
    memory_bytes: int
    read_ahead_bytes: int
    read_call_ns: Nanos
    read_page_ns: Nanos
    request_bytes: int
    requests: int
    write_call_ns: Nanos
    write_page_ns: Nanos


class EvenPattern(TypedDict):
    """
    At even intervals.
    """

    kind: Literal["even"]


class OnOffPattern(TypedDict):
    """
    At two rates in turn.
    """

    kind: Literal["on_off"]
    off_ns: Nanos
    off_rate: float
    on_ns: Nanos


class SelfSimilarPattern(TypedDict):
    """
    From sources that are on and off for Pareto times.
    """

    hurst: float
    kind: Literal["self_similar"]
    off_ns: Nanos
    on_ns: Nanos
    sources: int


class DailyPattern(TypedDict):
    """
    At rates that follow the time, over and over.
    """

    kind: Literal["daily"]
    shares: list[float]
    step_ns: Nanos


Pattern: TypeAlias = EvenPattern | OnOffPattern | SelfSimilarPattern | DailyPattern


class PauseParams(TypedDict):
    """
    One kind of pause in the plan.
    """

    every_ns: Nanos
    length_ns: Nanos


Placement: TypeAlias = Literal["log", "address"]


Policy: TypeAlias = Literal["greedy", "first_in_first_out", "random", "best_of", "cost_benefit"]


class PrefetchParams(TypedDict):
    """
    Prefetching in the plan.
    """

    after_commands: int
    window_bytes: int


RandomGenerator: TypeAlias = Literal["tausworthe", "tausworthe64", "lfsr"]


class NoneReadAhead(TypedDict):
    """
    Not at all.
    """

    policy: Literal["none"]


class TrackEndReadAhead(TypedDict):
    """
    To the end of the track, but no further than this many sectors.
    """

    policy: Literal["track_end"]
    sectors: int


class FixedReadAhead(TypedDict):
    """
    This many sectors beyond the request.
    """

    policy: Literal["fixed"]
    sectors: int


class NextTrackReadAhead(TypedDict):
    """
    To the end of the track of the next sector, and one track more if the segment began
    before that track.
    """

    policy: Literal["next_track"]


ReadAhead: TypeAlias = NoneReadAhead | TrackEndReadAhead | FixedReadAhead | NextTrackReadAhead


Rotation: TypeAlias = Literal[
    "left_symmetric", "left_asymmetric", "right_symmetric", "right_asymmetric"
]


Scheduler: TypeAlias = Literal["none", "deadline", "fair"]


class FirstComeSchedulerParams(TypedDict):
    """
    As they came.
    """

    policy: Literal["first_come"]


class CLookSchedulerParams(TypedDict):
    """
    Ascending, then from the lowest again.
    """

    policy: Literal["c_look"]


class ShortestAccessSchedulerParams(TypedDict):
    """
    The one that is reached first.
    """

    ageing: float
    policy: Literal["shortest_access"]


SchedulerParams: TypeAlias = (
    FirstComeSchedulerParams | CLookSchedulerParams | ShortestAccessSchedulerParams
)


class Seeds(TypedDict):
    """
    Seeds of a thread.
    """

    repeat_all: bool
    repeat_offsets: bool
    repeat_passes: bool
    same_sizes: NotRequired[bool]
    seed: int


Sequencer: TypeAlias = Literal["sequential", "identical"]


class ServerParams(TypedDict):
    """
    What serves the commands of a volume one after the other. Pairs are of reads and of writes.
    """

    apart: NotRequired[bool]
    cache: NotRequired[CopyCacheParams | None]
    command_ns: list[Nanos]
    continued: list[float]
    mib_ns: list[Nanos]
    servers: int
    spread: float


ServiceTime: TypeAlias = Literal["fixed", "exponential"]


class SharePlan(TypedDict):
    """
    A load's share of its array, where tenants share it.
    """

    priority: int
    weight: int


class ShingledParams(TypedDict):
    """
    A drive-managed shingled disk.
    """

    band_bytes: int
    media_cache_bytes: int
    merge_after_idle_ns: Nanos
    records: int


SplitItem: TypeAlias = int


Zone: TypeAlias = int


class Sizes(TypedDict):
    """
    Sizes of one direction.
    """

    align: int
    max: int
    min: int
    percent_random: int
    split: NotRequired[list[tuple[SplitItem, SplitItem]]]
    zones: NotRequired[list[tuple[Zone, Zone]]]


Sparing: TypeAlias = Literal["track", "track_end", "slip_only", "range", "zone"]


class Start(TypedDict):
    """
    When a thread begins and whose end it takes part in.
    """

    after: NotRequired[int | None]
    delay_ns: Nanos
    ends_others: bool
    file: int
    phase: int


class Strides(TypedDict):
    """
    Strided zones: `zonemode=strided`.
    """

    range: int
    size: int
    skip: int


class SyncPlan(TypedDict):
    """
    A load's calls behind its writes: `fsync`, `fdatasync`, or a file that is opened so.
    """

    allocates: bool
    every: int
    fua: NotRequired[bool]
    times: bool


class Syncs(TypedDict):
    """
    When I/Os are made durable.
    """

    allocates: NotRequired[bool]
    at_end: bool
    data_only: NotRequired[bool]
    each_write: bool
    fdatasync: int
    fsync: int
    fua: NotRequired[bool]
    queued: NotRequired[bool]


class Think(TypedDict):
    """
    Pauses of a thread.
    """

    after_ns: Nanos
    blocks: int
    completed: bool
    pause_ns: Nanos


class ThrottleStep(TypedDict):
    """
    A throttling step in the plan.
    """

    above_c: float
    speed: float


class TierPlan(TypedDict):
    """
    An SSD cache of an array.
    """

    array: int
    copies_at_once: int
    dirty_share: float
    half_life_ns: Nanos
    host: NotRequired[HostCachePlan]
    promote_after: int
    warm: bool
    write_back: bool


class Verify(TypedDict):
    """
    What was written is read back: fio's `verify`.
    """

    backlog: int
    batch: int
    by_offset: bool


WhenFull: TypeAlias = Literal["direct", "fold"]


class WriteBufferParams(TypedDict):
    """
    The write buffer in the plan.
    """

    bytes: int
    protected: bool
    write_through: bool


WriteOrder: TypeAlias = Literal["scheduler", "first_come"]


WritePolicy: TypeAlias = Literal["write_through", "write_back", "always_write_back"]


Defect: TypeAlias = int


class ZoneParams(TypedDict):
    """
    Cylinders with equally many sectors on each track.
    """

    cylinder_skew_sectors: NotRequired[int]
    defects: NotRequired[list[tuple[Defect, Defect]]]
    empty_sectors: NotRequired[int]
    first_cylinder: int
    last_cylinder: int
    offset_sectors: NotRequired[int]
    sectors_per_track: int
    slips: NotRequired[list[int]]
    spares: NotRequired[int]
    track_skew_sectors: NotRequired[int]


class AfterParams(TypedDict):
    """
    A value that depends on what the drive did last.
    """

    after_read_ns: Nanos
    after_write_ns: Nanos


class ClosedArrival(TypedDict):
    """
    As soon as one of `outstanding` completes and `think_ns` has passed.
    """

    exponential: NotRequired[bool]
    kind: Literal["closed"]
    outstanding: int
    think_ns: Nanos


class PatternedArrival(TypedDict):
    """
    Whether or not earlier ones have completed, as the pattern says.
    """

    kind: Literal["patterned"]
    pattern: Pattern
    per_s: float


class TracedArrival(TypedDict):
    """
    As a file has recorded; what is asked stands there, too.
    """

    each: NotRequired[bool]
    kind: Literal["traced"]
    outstanding: NotRequired[int]
    trace: Options


Arrival: TypeAlias = ClosedArrival | PoissonArrival | PatternedArrival | TracedArrival


class BackEndParams(TypedDict):
    """
    A sleeping back end in the plan.
    """

    sleep_after_ns: NotRequired[Nanos]
    wake_ns: Nanos


class BlockLayerParams(TypedDict):
    """
    The queue in the plan.
    """

    requests: int
    scheduler: Scheduler


class BufferParams(TypedDict):
    """
    The buffer for reads.
    """

    own_write_segment: NotRequired[bool]
    read_ahead: ReadAhead
    read_ahead_on_idle_hit: NotRequired[bool]
    read_hits_on_written: NotRequired[bool]
    read_on_arrival: NotRequired[bool]
    read_while_waiting: NotRequired[bool]
    segment_sectors: int
    segments: int
    stop_in_sector: NotRequired[bool]
    write_on_arrival: NotRequired[bool]


class CStateParams(TypedDict):
    """
    A state that an idle core may take.
    """

    exit_ns: Nanos
    residency_ns: Nanos


class CachePlan(TypedDict):
    """
    A controller's cache.
    """

    bytes: int
    destages_per_drive: int
    dirty_share: float
    flush_interval_ns: Nanos
    hold_ns: NotRequired[Nanos]
    low_share: float


class CoalescingParams(TypedDict):
    """
    An adapter that interrupts the host once for several completions.
    """

    above: int
    delay_ns: Nanos


class CollectionParams(TypedDict):
    """
    Garbage collection in the plan.
    """

    background_free_blocks: NotRequired[int]
    background_share: NotRequired[float]
    blocks_at_once: NotRequired[int]
    candidates: NotRequired[int]
    level_wear: NotRequired[bool]
    placement: NotRequired[Placement]
    policy: Policy
    separate_frontiers: NotRequired[bool]
    start_free_blocks: NotRequired[int]
    wear_gap: NotRequired[int]


class ControllerPlan(TypedDict):
    """
    A controller: a queue, cores, firmware time.
    """

    cache: NotRequired[CachePlan | None]
    cache_cores: NotRequired[int]
    cached_request_ns: NotRequired[Nanos | None]
    command_ns: Nanos
    cores: int
    fast_path_request_ns: NotRequired[Nanos | None]
    latency_ns: NotRequired[Nanos]
    link: NotRequired[int | None]
    memory_bytes_per_s: NotRequired[int]
    name: str
    page_ns: NotRequired[Nanos]
    parity_bytes_per_s: NotRequired[int]
    parity_request_ns: NotRequired[Nanos | None]
    queue_depth: int
    request_ns: Nanos
    tier_ns: NotRequired[Nanos]


class TableCurveParams(TypedDict):
    """
    Measured points, (cylinders, time); straight lines between and beyond them.
    """

    form: Literal["table"]
    points: list[tuple[Point, Nanos]]


class RootAndLineCurveParams(TypedDict):
    """
    Single distances from a list, a root below a limit and a line beyond it.
    """

    first_ns: list[Nanos]
    form: Literal["root_and_line"]
    line_constant_ns: float
    line_from: int
    line_slope_ns: float
    root_constant_ns: float
    root_factor_ns: float


class ThreeFiguresCurveParams(TypedDict):
    """
    A root plus a line through the three figures of data sheets.
    """

    average_ns: Nanos
    form: Literal["three_figures"]
    full_ns: Nanos
    single_ns: Nanos


CurveParams: TypeAlias = TableCurveParams | RootAndLineCurveParams | ThreeFiguresCurveParams


class Details(TypedDict):
    """
    What a run records when it is asked for.
    """

    latency_map: NotRequired[bool]
    slowest: NotRequired[int]
    trace_from_ns: NotRequired[Nanos]
    trace_ios: NotRequired[int]


class StationDeviceParams(TypedDict):
    """
    A service time and nothing else.
    """

    capacity_bytes: int
    distribution: ServiceTime
    kind: Literal["station"]
    servers: int
    service_ns: Nanos
    settle_ns: NotRequired[Nanos]


class TableDeviceParams(TypedDict):
    """
    Latencies as they were measured.
    """

    capacity_bytes: int
    kind: Literal["table"]
    latencies: list[list[LatencyParams]]
    shared: NotRequired[float]
    shares: list[float]


class XpointDeviceParams(TypedDict):
    """
    A drive of 3D XPoint.
    """

    bytes_per_s: list[BytesPer]
    capacity_bytes: int
    command_ns: list[Nanos]
    cores: int
    kind: Literal["xpoint"]
    latency_ns: list[Nanos]
    power: NotRequired[BytePowerParams | None]


class DrivePlan(TypedDict):
    """
    A drive and its path to the host.
    """

    block_layer: NotRequired[BlockLayerParams]
    device: int
    flush: NotRequired[FlushCommand]
    name: str
    path: list[int]
    pauses: NotRequired[list[PauseParams]]
    queue_depth: int


class FailDriveEventPlan(TypedDict):
    """
    A drive answers nothing any more.
    """

    at_ns: Nanos
    action: Literal["fail_drive"]
    drive: int


class SlowDriveEventPlan(TypedDict):
    """
    A drive takes longer for every command.
    """

    at_ns: Nanos
    action: Literal["slow_drive"]
    drive: int
    extra_ns: Nanos


class UnreadableSectorsEventPlan(TypedDict):
    """
    Sectors of a drive cannot be read any more, until they are written again.
    """

    at_ns: Nanos
    action: Literal["unreadable_sectors"]
    bytes: int
    drive: int
    offset_bytes: int


class ReplaceDriveEventPlan(TypedDict):
    """
    A new drive in a failed one's place.
    """

    at_ns: Nanos
    action: Literal["replace_drive"]
    drive: int


class PowerFailEventPlan(TypedDict):
    """
    The power fails.
    """

    at_ns: Nanos
    action: Literal["power_fail"]
    off_ns: Nanos


class PatrolReadEventPlan(TypedDict):
    """
    All drives of an array are read through for unreadable sectors.
    """

    at_ns: Nanos
    action: Literal["patrol_read"]
    array: int


class ConsistencyCheckEventPlan(TypedDict):
    """
    Parity of an array is compared with its data.
    """

    at_ns: Nanos
    action: Literal["consistency_check"]
    array: int


class MoveHotSpotEventPlan(TypedDict):
    """
    The hot spot of a workload moves.
    """

    at_ns: Nanos
    action: Literal["move_hot_spot"]
    start_bytes: int
    workload: int


class BackupReadyEventPlan(TypedDict):
    """
    A cache's battery or flash backup becomes ready or not ready (it learns, it fails).
    """

    at_ns: Nanos
    action: Literal["backup_ready"]
    controller: int
    ready: bool


EventPlan: TypeAlias = (
    FailDriveEventPlan
    | SlowDriveEventPlan
    | UnreadableSectorsEventPlan
    | ReplaceDriveEventPlan
    | PowerFailEventPlan
    | PatrolReadEventPlan
    | ConsistencyCheckEventPlan
    | MoveHotSpotEventPlan
    | BackupReadyEventPlan
)


class Extent(TypedDict):
    """
    How long a thread goes on.
    """

    io_size: int
    loops: int
    number_ios: int
    ramp_ns: Nanos
    runtime_ns: Nanos
    size: int
    time_based: bool


class ExtraDisconnectParams(TypedDict):
    """
    When a write leaves the bus although it is not on the medium yet.
    """

    between_ns: Nanos
    command_ns: Nanos
    disconnect_ns: Nanos
    second_disconnect_ns: Nanos
    seek_delta_ns: Nanos


class FileSystemPlan(TypedDict):
    """
    A file system on an array.
    """

    async_commit: bool
    bytes: int
    flushes: bool
    fua: NotRequired[bool]
    journal: JournalKind
    start_bytes: int
    tick_ns: Nanos
    wake_ns: Nanos


class Filling(TypedDict):
    """
    When the memory of a controller counts as filling, and for how long the warm-up waits for that.
    """

    most_ns: Nanos
    share: float


class FirmwareParams(TypedDict):
    """
    Firmware in the plan.
    """

    cores: int
    descent_ns: NotRequired[Nanos]
    fetch_unit_ns: NotRequired[Nanos]
    finish_ns: NotRequired[Nanos]
    finish_unit_ns: NotRequired[Nanos]
    flush_ns: NotRequired[Nanos]
    fua_ns: NotRequired[Nanos | None]
    insert_unit_ns: NotRequired[Nanos]
    lookup_unit_ns: NotRequired[Nanos]
    move_batch: NotRequired[int]
    move_unit_ns: NotRequired[Nanos]
    other_ns: Nanos
    read_latency_ns: Nanos
    read_ns: Nanos
    read_unit_ns: Nanos
    spread: NotRequired[float]
    stream_unit_ns: NotRequired[Nanos | None]
    turnaround_ns: NotRequired[Nanos | None]
    write_latency_ns: Nanos
    write_ns: Nanos
    write_unit_ns: Nanos


class GeometryParams(TypedDict):
    """
    Where sectors lie.
    """

    head_order: NotRequired[HeadOrder]
    heads: int
    range_cylinders: NotRequired[int]
    sparing: NotRequired[Sparing]
    zones: list[ZoneParams]


class HostParams(TypedDict):
    """
    The host in the plan. Times are those of this host's clock: the catalogue scales them.
    """

    c_states: NotRequired[list[CStateParams]]
    coalescing: NotRequired[CoalescingParams | None]
    complete_ns: Nanos
    cores: NotRequired[int]
    fill_ns: NotRequired[Nanos]
    interrupt_ns: NotRequired[Nanos]
    page_ns: NotRequired[Nanos]
    parity_bytes_per_s: NotRequired[int]
    raid_command_ns: Nanos
    scheduler_latency_ns: NotRequired[Nanos]
    spread: NotRequired[float]
    stripe_page_ns: NotRequired[Nanos]
    stripe_reread_ns: NotRequired[Nanos | None]
    submit_ns: Nanos
    two_parities_bytes_per_s: NotRequired[int]
    wake_ns: NotRequired[Nanos]
    write_page_ns: NotRequired[Nanos]


class IdleStateParams(TypedDict):
    """
    A non-operational state in the plan.
    """

    after_ns: Nanos
    entry_ns: Nanos
    exit_ns: Nanos
    watts: float


class LinkInterfaceParams(TypedDict):
    """
    The engine's link carries the data.
    """

    kind: Literal["link"]
    queue_depth: int
    read_overhead_ns: Nanos
    write_overhead_ns: Nanos


class ScsiBusInterfaceParams(TypedDict):
    """
    A parallel SCSI bus, whose phases are part of the drive.
    """

    data_preparation_ns: NotRequired[Nanos]
    extra_disconnect: NotRequired[ExtraDisconnectParams | None]
    fast_write: NotRequired[bool]
    first_reselect_ns: NotRequired[Nanos]
    hold_bus: NotRequired[bool]
    kind: Literal["scsi_bus"]
    minimum_seek_ns: NotRequired[Nanos]
    never_disconnect: NotRequired[bool]
    other_reselect_ns: NotRequired[Nanos]
    queue_depth: int
    read_completion_ns: NotRequired[Nanos]
    read_disconnect: NotRequired[AfterParams]
    read_hit: AfterParams
    read_miss: AfterParams
    read_sector_ns: Nanos
    read_water_mark: NotRequired[float]
    write: AfterParams
    write_completion_ns: NotRequired[Nanos]
    write_disconnect_ns: NotRequired[Nanos]
    write_sector_ns: Nanos


InterfaceParams: TypeAlias = LinkInterfaceParams | ScsiBusInterfaceParams


class LatencyTarget(TypedDict):
    """
    fio's `latency_target`: the greatest depth whose latency keeps a limit.
    """

    percentile: float
    runs_on: bool
    target_ns: Nanos
    window_ns: Nanos


class LimitParams(TypedDict):
    """
    A limit in the plan: a token bucket.
    """

    burst_ns: Nanos
    counts: Counted
    milli_per_s: int


class LinkParams(TypedDict):
    """
    A link in the plan.
    """

    bytes_per_s: int
    frame_bytes: int
    full_duplex: bool
    latency_ns: NotRequired[Nanos]
    name: str
    read_command_ns: NotRequired[Nanos]
    write_command_ns: NotRequired[Nanos]


class MdPlan(TypedDict):
    """
    What Linux md costs and allows an array in the host, beyond its host's CPU times.
    """

    flash_as_disks: NotRequired[bool]
    flush_hand_ns: NotRequired[Nanos]
    flush_order: NotRequired[FlushOrder]
    least_bytes_per_s: NotRequired[int]
    shared_read_ns: NotRequired[Nanos]
    shared_write_ns: NotRequired[Nanos]
    stripe_cache: NotRequired[int]
    threads: NotRequired[int]


class PolicyPlan(TypedDict):
    """
    How a controller's cache serves an array.
    """

    keep_reads: bool
    read_ahead: CacheReadAhead
    write: WritePolicy


class SeekParams(TypedDict):
    """
    How long the arm takes.
    """

    head_switch_ns: Nanos
    read: CurveParams
    spread_ns: NotRequired[Nanos]
    write: NotRequired[CurveParams | None]
    write_settle_ns: NotRequired[int]


class Sequence(TypedDict):
    """
    fio's `rw=randread:8`, `rw=read:4k` and `rw_sequencer`.
    """

    between: Sequencer
    every: int
    step_bytes: int


class SlcCacheParams(TypedDict):
    """
    An SLC cache in the plan.
    """

    dynamic_bytes: int
    fixed_bytes: int
    idle_ns: Nanos
    program_ns: Nanos
    when_full: WhenFull


class TemperatureParams(TypedDict):
    """
    Temperature and throttling in the plan.
    """

    ambient_c: float
    byte_nj: float
    capacity_j_per_k: float
    erase_nj: float
    hysteresis_k: float
    idle_w: float
    interval_ns: Nanos
    program_nj: float
    program_slc_nj: NotRequired[float | None]
    read_nj: float
    resistance_k_per_w: float
    start_c: NotRequired[float | None]
    steps: list[ThrottleStep]


class TenantPlan(TypedDict):
    """
    Outside threads that are one tenant: their I/Os are held before they reach the host's CPU.
    """

    array: int
    first_thread: int
    limits: NotRequired[list[LimitParams]]
    name: str
    share: NotRequired[SharePlan | None]
    threads: int


class WorkloadPlan(TypedDict):
    """
    A load on one array.
    """

    access: Access
    align_bytes: int
    area_bytes: int
    area_start_bytes: int
    array: int
    arrival: Arrival
    block_bytes: int
    client: NotRequired[ClientPlan | None]
    hot_spot: NotRequired[HotSpotPlan | None]
    limits: NotRequired[list[LimitParams]]
    name: str
    page_cache: NotRequired[PageCacheParams | None]
    passes: NotRequired[int]
    read_share: float
    share: NotRequired[SharePlan | None]
    sync: NotRequired[SyncPlan | None]
    threads: int


class WriteCacheParams(TypedDict):
    """
    The cache for writes.
    """

    extent_sectors: int
    extents: int
    flush_above: float
    flush_after_idle_ns: Nanos
    order: NotRequired[WriteOrder]
    persistent: NotRequired[bool]
    sectors: int


class ArrayPlan(TypedDict):
    """
    An array.
    """

    background_bytes_per_s: NotRequired[int]
    background_share: NotRequired[float]
    bitmap: NotRequired[BitmapPlan | None]
    cache: NotRequired[PolicyPlan | None]
    controller: NotRequired[int | None]
    copies: NotRequired[CopiesPlan | None]
    declustered: NotRequired[DeclusteredPlan | None]
    drives: list[int]
    fast_path: NotRequired[bool]
    file_system: NotRequired[FileSystemPlan | None]
    level: Level
    md: NotRequired[MdPlan]
    md_reads: NotRequired[bool]
    name: str
    one_copy_streams: NotRequired[bool]
    rebuild_from: NotRequired[float]
    rotation: NotRequired[Rotation]
    shared_depth: NotRequired[int]
    software: bool
    spans: NotRequired[int]
    spares: NotRequired[list[int]]
    stripe_unit_bytes: int
    takes_fua: NotRequired[bool]
    tier: NotRequired[TierPlan | None]
    used_bytes: NotRequired[int]


class VolumeDeviceParams(TypedDict):
    """
    A cloud volume.
    """

    capacity_bytes: int
    io_bytes: int
    kind: Literal["volume"]
    limits: list[LimitParams]
    read_ns: list[Nanos]
    server: NotRequired[ServerParams | None]
    slow_ns: NotRequired[Nanos]
    slow_ppm: NotRequired[int]
    spent: bool
    write_ns: list[Nanos]


class HddDeviceParams(TypedDict):
    """
    A hard disk.
    """

    age_limit_ns: NotRequired[Nanos]
    buffer: BufferParams
    capacity_bytes: NotRequired[int]
    geometry: GeometryParams
    initial_angle: NotRequired[float | None]
    interface: InterfaceParams
    kind: Literal["hdd"]
    physical_sectors: NotRequired[int]
    plans_ahead: NotRequired[bool]
    power: NotRequired[ArmPowerParams | None]
    rpm: float
    scheduler: SchedulerParams
    seek: SeekParams
    shingled: NotRequired[ShingledParams | None]
    speed_tolerance: NotRequired[float]
    write_cache: NotRequired[WriteCacheParams | None]


class JobPlan(TypedDict):
    """
    One thread.
    """

    array: int
    caps: NotRequired[list[Cap]]
    depth: Depth
    direction: Direction
    distribution: Distribution
    extent: Extent
    file_distribution: NotRequired[Distribution]
    file_service: FileService
    file_service_ios: int
    files: list[FilePlan]
    generator: RandomGenerator
    latency_target: NotRequired[LatencyTarget | None]
    load: int
    max_latency_ns: Nanos
    number: int
    random: bool
    random_map: bool
    read_percent: int
    sample_ns: Nanos
    seeds: Seeds
    sequence: Sequence
    sizes: list[Sizes]
    sizes_by_order: bool
    start: Start
    strides: NotRequired[Strides | None]
    synchronous: bool
    syncs: Syncs
    think: NotRequired[Think | None]
    unaligned: bool
    verify: NotRequired[Verify | None]


class JobsPlan(TypedDict):
    """
    All threads of all jobs of a run.
    """

    loads: list[str]
    threads: list[JobPlan]
    until_ns: NotRequired[Nanos]


class NandParams(TypedDict):
    """
    NAND in the plan.
    """

    blocks_per_plane: int
    cache_program: bool
    cache_read: bool
    channel_bytes_per_s: int
    channel_write_bytes_per_s: NotRequired[int | None]
    channels: int
    command_ns: Nanos
    correction_bytes_per_s: NotRequired[int | None]
    dies_per_channel: int
    erase_ns: Nanos
    independent_reads: NotRequired[bool]
    page_bytes: int
    pages_per_block: int
    planes: int
    program_bytes_per_s: NotRequired[int | None]
    program_ns: list[Nanos]
    pulse_ns: NotRequired[Nanos]
    rated_cycles: int
    read_ns: list[Nanos]
    reads_first: int
    resume_ns: NotRequired[Nanos]
    slc_cache: NotRequired[SlcCacheParams | None]
    suspend_interval_ns: NotRequired[Nanos]
    suspend_ns: NotRequired[Nanos | None]


class SsdDeviceParams(TypedDict):
    """
    A solid-state drive.
    """

    back_end: NotRequired[BackEndParams | None]
    buffer: WriteBufferParams
    capacity_bytes: int
    collection: CollectionParams
    compressible: NotRequired[float]
    compression: NotRequired[CompressionParams | None]
    firmware: FirmwareParams
    history: NotRequired[list[HistoryLoad]]
    idle_states: NotRequired[list[IdleStateParams]]
    keeps_pages: NotRequired[bool]
    kind: Literal["ssd"]
    map_cache: NotRequired[MapCacheParams | None]
    nand: NandParams
    parity_stripe: NotRequired[int]
    power: NotRequired[FlashPowerParams | None]
    prefetch: NotRequired[PrefetchParams | None]
    rated_host_bytes: NotRequired[int]
    reserved_blocks_per_plane: NotRequired[int]
    sector_mapping: NotRequired[bool]
    slices: NotRequired[int]
    snapshot: NotRequired[str | None]
    thermal: NotRequired[TemperatureParams | None]
    unit_bytes: int


DeviceParams: TypeAlias = (
    StationDeviceParams
    | VolumeDeviceParams
    | TableDeviceParams
    | XpointDeviceParams
    | HddDeviceParams
    | SsdDeviceParams
    | ExternalDeviceParams
)


class Plan(TypedDict):
    """
    A whole run.
    """

    address_bytes: NotRequired[int]
    after_rebuild_ns: NotRequired[Nanos]
    arrays: list[ArrayPlan]
    balance: NotRequired[Balance | None]
    controllers: list[ControllerPlan]
    data: NotRequired[bool]
    details: NotRequired[Details]
    devices: list[DeviceParams]
    drives: list[DrivePlan]
    duration_ns: Nanos
    events: NotRequired[list[EventPlan]]
    filling: NotRequired[Filling | None]
    heeds_past: NotRequired[bool]
    host: HostParams
    jobs: NotRequired[JobsPlan | None]
    links: list[LinkParams]
    max_ios: NotRequired[int]
    memory_bytes: NotRequired[int]
    outside_threads: NotRequired[int]
    precision: NotRequired[float]
    save_state: NotRequired[str | None]
    seed: int
    tenants: NotRequired[list[TenantPlan]]
    time_lapse: NotRequired[int]
    timeline_step_ns: NotRequired[Nanos]
    warm_up_most_ns: NotRequired[Nanos]
    warm_up_ns: Nanos
    workloads: list[WorkloadPlan]
