"""A scenario as its file has it: made from its schema by `make schema`."""

from typing import Literal, NotRequired, TypedDict


class CacheDrives(TypedDict):
    """
    One model of the SSDs of a cache.
    """

    model: str
    count: NotRequired[int]


class ControllerTree(TypedDict):
    """
    `[controller]` of all arrays, or one of several `[[controller]]`, which arrays name.
    """

    mode: NotRequired[Literal["data-protection", "performance", "fast-path-optimum"]]
    write: NotRequired[Literal["write-through", "write-back", "always-write-back"]]
    read_ahead: NotRequired[Literal["none", "adaptive", "always"]]
    io_cache: NotRequired[Literal["direct", "cached"]]
    disk_cache: NotRequired[bool]
    name: NotRequired[str]
    model: str
    fast_path: NotRequired[bool]
    backup: NotRequired[Literal["none", "bbu", "fbu"]]
    battery_health: NotRequired[float | str]


class DeclusteredTree(TypedDict):
    """
    `declustered`.
    """

    stripe_width: int
    spares: NotRequired[int]
    chunk: NotRequired[str]
    rebuild: NotRequired[Literal["in-order", "critical-first"]]


class DrivesTree(TypedDict):
    """
    One entry of `drives`: this many of a model.
    """

    model: str
    count: NotRequired[int]
    format: NotRequired[str]
    write_cache: NotRequired[bool]
    cooling: NotRequired[str]
    ncq: NotRequired[bool]
    link: NotRequired[str]
    size: NotRequired[str]
    iops: NotRequired[float]
    throughput: NotRequired[str]


class EventTree(TypedDict):
    """
    `[[event]]`: something happens at a given time.
    """

    at: str
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
    array: NotRequired[str]
    drive: NotRequired[int]
    extra: NotRequired[str]
    offset: NotRequired[str]
    size: NotRequired[str]
    workload: NotRequired[str]
    start: NotRequired[str]
    lasts: NotRequired[str]


class FileSystemTree(TypedDict):
    """
    `file_system` of an array: a name, or a table with the options of its mount.
    """

    type: Literal["ext4", "xfs"]
    data: NotRequired[Literal["ordered", "writeback"]]
    barrier: NotRequired[bool]
    journal_async_commit: NotRequired[bool]
    journal: NotRequired[str]


class HostCacheTree(TypedDict):
    """
    `host_cache` of an array.
    """

    kind: (
        Literal["lvmcache", "dmcache", "cachepool", "dmwritecache", "writecache"]
        | Literal["bcache", "dm-cache", "dm-writecache"]
    )
    drives: list[CacheDrives]
    level: NotRequired[Literal["raid0", "raid1"]]
    mode: NotRequired[Literal["writeback", "writethrough", "writearound"]]
    block: NotRequired[str]
    promote_after: NotRequired[int]
    dirty: NotRequired[float | str]
    sequential_cutoff: NotRequired[str]
    state: NotRequired[Literal["empty", "warm"]]


class HostTree(TypedDict):
    """
    `[host]`.
    """

    model: NotRequired[str]
    threads: NotRequired[int]
    clock: NotRequired[str]
    c_states: NotRequired[str]
    deepest_c_state: NotRequired[str]
    kernel: NotRequired[str]
    sockets: NotRequired[int]
    instance: NotRequired[str]


class LinkTree(TypedDict):
    """
    `[[link]]`: a slot, a switch, a chipset, an adapter, the cable to an enclosure.
    """

    name: str
    interface: NotRequired[str]
    rate: NotRequired[str]
    max_payload: NotRequired[int]
    latency: NotRequired[str]
    ports: NotRequired[str]
    parent: NotRequired[str]


class PatternTree(TypedDict):
    """
    `arrivals`: a table, or its kind alone.
    """

    kind: Literal["poisson", "constant", "on-off", "self-similar", "daily"]
    on: NotRequired[str]
    off: NotRequired[str]
    off_rate: NotRequired[float | str]
    hurst: NotRequired[float]
    sources: NotRequired[int]
    shares: NotRequired[list[float]]
    day: NotRequired[str]


class PreconditioningTree(TypedDict):
    """
    One entry of `history`: writes that the array has seen before the run.
    """

    rw: NotRequired[Literal["write", "randwrite"]]
    block_size: NotRequired[str]
    area_start: NotRequired[str]
    area: NotRequired[Literal["whole"] | str]
    written: NotRequired[str]
    then_rests: NotRequired[bool]


class RunTree(TypedDict):
    """
    `[run]`.
    """

    warm_up: NotRequired[Literal["auto"] | str]
    duration: NotRequired[str]
    max_ios: NotRequired[int]
    precision: NotRequired[float | str]
    after_rebuild: NotRequired[str]
    state: NotRequired[Literal["as-set", "sustained"]]
    precondition: NotRequired[Literal["fresh", "filled", "steady-state"]]
    filled: NotRequired[str]
    snapshot: NotRequired[str]
    replications: NotRequired[int]
    seed: NotRequired[int]
    time_lapse: NotRequired[int]
    timeline_step: NotRequired[str]


class WorkloadTree(TypedDict):
    """
    `[[workload]]`.
    """

    monitoring: NotRequired[str]
    monitoring_from: NotRequired[str]
    monitoring_for: NotRequired[str]
    monitoring_scale: NotRequired[float]
    monitoring_bursts: NotRequired[float]
    monitoring_sequential: NotRequired[float | str]
    monitoring_member: NotRequired[int]
    fsync: NotRequired[int]
    fdatasync: NotRequired[int]
    sync: NotRequired[bool]
    o_dsync: NotRequired[bool]
    file_system: NotRequired[Literal["ext4", "xfs"] | FileSystemTree]
    append: NotRequired[bool]
    name: NotRequired[str]
    target: NotRequired[str]
    profile: NotRequired[
        Literal[
            "database",
            "file-server",
            "file-copy",
            "streaming",
            "restore",
            "oltp",
            "mail",
            "vdi-boot",
            "vdi-steady",
            "file",
            "web",
            "backup",
            "video",
            "log",
            "object-store",
            "ai-training",
            "ai-checkpoint",
            "spc-1-like",
        ]
    ]
    rw: NotRequired[Literal["read", "write", "rw", "readwrite", "randread", "randwrite", "randrw"]]
    read_share: NotRequired[float | str]
    block_size: NotRequired[str]
    align: NotRequired[str]
    area_start: NotRequired[str]
    area: NotRequired[Literal["whole"] | str]
    threads: NotRequired[int]
    outstanding: NotRequired[Literal["max"] | int | list[int]]
    per: NotRequired[Literal["system", "drive"]]
    think_time: NotRequired[str]
    think: NotRequired[Literal["fixed", "exponential"]]
    rate: NotRequired[str | list[str]]
    arrivals: NotRequired[Literal["poisson", "constant"] | PatternTree]
    limit: NotRequired[str | list[str]]
    client_link: NotRequired[str]
    burst: NotRequired[str]
    weight: NotRequired[int]
    priority: NotRequired[Literal["high", "normal", "low"]]
    buffered: NotRequired[bool]
    passes: NotRequired[int]
    distribution: NotRequired[str]
    compressible: NotRequired[float | str]
    hot_spot: NotRequired[str]
    hot_share: NotRequired[float | str]
    hot_start: NotRequired[str]
    area_beyond: NotRequired[Literal["refuse", "cut"]]
    hot_beyond: NotRequired[Literal["refuse", "cut"]]
    fio: NotRequired[str]
    goal: NotRequired[str | list[str]]
    trace: NotRequired[str]
    trace_format: NotRequired[
        Literal[
            "disksim-validate",
            "disksim-ascii",
            "mqsim",
            "blkparse",
            "fio-iolog",
            "msr",
            "spc",
            "systor17",
            "alibaba",
            "tencent",
            "vscsi",
            "csv",
        ]
    ]
    trace_columns: NotRequired[str]
    trace_volume: NotRequired[str]
    trace_beyond: NotRequired[Literal["refuse", "wrap", "skip", "scale"]]
    trace_slower: NotRequired[float]
    trace_timing: NotRequired[Literal["trace", "pauses", "full-speed"]]


class CacheTierTree(TypedDict):
    """
    `cache_tier`: fast drives as a cache of the array.
    """

    drives: list[DrivesTree]
    level: NotRequired[Literal["raid0", "raid1", "raid1e"]]
    write: NotRequired[Literal["write-back", "read"]]
    state: NotRequired[Literal["empty", "warm"]]


class ArrayTree(TypedDict):
    """
    `[[array]]`. Its settings of the controller's cache count instead of the controller's.
    """

    mode: NotRequired[Literal["data-protection", "performance", "fast-path-optimum"]]
    write: NotRequired[Literal["write-through", "write-back", "always-write-back"]]
    read_ahead: NotRequired[Literal["none", "adaptive", "always"]]
    io_cache: NotRequired[Literal["direct", "cached"]]
    disk_cache: NotRequired[bool]
    name: NotRequired[str]
    count: NotRequired[int]
    controller: NotRequired[str]
    level: NotRequired[
        Literal[
            "independent",
            "jbod",
            "raid0",
            "raid1",
            "raid1e",
            "raid10",
            "raid5",
            "raid6",
            "raid50",
            "raid60",
        ]
    ]
    drives: list[DrivesTree]
    stripe_unit: NotRequired[str]
    spans: NotRequired[int]
    declustered: NotRequired[DeclusteredTree]
    used: NotRequired[str]
    hot_spares: NotRequired[int]
    hot_spare_model: NotRequired[str]
    rebuild_rate: NotRequired[float | str]
    sync_speed_max: NotRequired[str]
    shared_depth: NotRequired[int]
    sync_speed_min: NotRequired[str]
    group_thread_cnt: NotRequired[int]
    stripe_cache_size: NotRequired[int]
    software_raid: NotRequired[
        Literal["md", "mdadm", "mdraid", "dmraid", "lvmraid"] | Literal["none", "os", "lvm"]
    ]
    read_balance: NotRequired[Literal["md", "shortest-queue"]]
    layout: NotRequired[str]
    bitmap: NotRequired[Literal["none", "internal"]]
    bitmap_chunk: NotRequired[str]
    file_system: NotRequired[Literal["ext4", "xfs"] | FileSystemTree]
    link: NotRequired[str]
    cache_tier: NotRequired[CacheTierTree]
    host_cache: NotRequired[HostCacheTree]
    history: NotRequired[list[PreconditioningTree]]


class ScenarioTree(TypedDict):
    """
    A whole scenario file.
    """

    title: NotRequired[str]
    host: NotRequired[HostTree]
    controller: NotRequired[ControllerTree | list[ControllerTree]]
    link: NotRequired[list[LinkTree]]
    array: list[ArrayTree]
    workload: NotRequired[list[WorkloadTree]]
    run: NotRequired[RunTree]
    event: NotRequired[list[EventTree]]
