"""Every option of fio's jobs, once: what becomes of it here, and of a result that has it.

Three readers ask: jobs that the engine itself runs (`native`), jobs that fio runs on a simulated
system (`bridge`), and results of fio that become points of a measurement (`load`). Nothing that an
option asks of the machine that simulates is done: no command, no file but fio's own outputs, no
memory, no CPU. An option that a newer fio has is in no row; a test compares the table with the
installed fio.

Source: `fio --cmdhelp=all` and `--enghelp=ENGINE` of fio 3.33; the manual and `options.c` of fio
2.0 to 3.42 for what came and went.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, auto


class Handling(Enum):
    """What becomes of an option of a job."""

    APPLIED = auto()
    """It does what it does in fio."""
    IDLE = auto()
    """It has no effect, and a note says why; through the bridge it is left out."""
    NOTED = auto()
    """It has no effect, and a note says why; fio may have it all the same."""
    REPLACED = auto()
    """It is about files: the simulated array stands in, and a note says so."""
    SILENT = auto()
    """It is replaced in every job, as the docs say."""
    REFUSED = auto()
    """The job would be another one without it."""
    FOREIGN = auto()
    """It belongs to an engine that is not simulated."""


class When(Enum):
    """Which loads an option changes."""

    ALWAYS = auto()
    WRITES = auto()
    READS = auto()
    RANDOM = auto()
    QUEUED = auto()
    """More than one I/O in flight."""
    BUFFERED = auto()
    """The page cache stands between."""


@dataclass(frozen=True)
class Skip:
    """A result whose load is not plain for an option."""

    why: str
    """What its I/Os are instead."""
    off: frozenset[str] = frozenset({"0"})
    """Values with which the load is plain all the same."""
    when: When = When.ALWAYS


class Load(Enum):
    """What an option does to the load of a result that has it."""

    PLAIN = auto()
    """Nothing: the point has the load that its other options say."""
    JUDGED = auto()
    """The point keeps it, or its value decides: `calibration/fio/options.py`, `results.py`."""


@dataclass(frozen=True)
class Option:
    """A row of the table."""

    native: Handling
    bridge: Handling
    load: Load | Skip
    why: str
    """Why it has no effect, or what is allowed instead of it; empty if it takes effect."""
    why_bridge: str
    """What becomes of it through the bridge."""


H, I, N, A, S, R, F = (  # noqa: E741
    Handling.APPLIED,
    Handling.IDLE,
    Handling.NOTED,
    Handling.REPLACED,
    Handling.SILENT,
    Handling.REFUSED,
    Handling.FOREIGN,
)
P, J = Load.PLAIN, Load.JUDGED


@dataclass(frozen=True)
class _Row:
    names: str
    native: Handling
    bridge: Handling
    load: Load | Skip
    why: str = ""
    why_bridge: str = ""


def _skip(why: str, off: str = "0", when: When = When.ALWAYS) -> Skip:
    return Skip(why, frozenset(off.split()), when)


_DIRECT_ONLY = "I/O is direct: jobs have no page cache; a workload with buffered = true has one"
_HOST = "the scenario's host has the CPUs and the memory, not this machine"
_FILES = "files are parts of the array, which need no laying out"
_PRIORITY = "priorities have no effect"
_HINTS = "drives ignore hints"
_NO_ZONES = "no zoned device is simulated"
_NO_TRACE = "no trace is read"
_LOGS = "no log is written: the timeline of the result has rates and latencies over time"
_CONTENT = "no data are written, only where they lie is"
_CONTENTS = "no contents are compared"
_LEFT_NOTHING = "left out: nothing is there that an earlier run wrote"
_OWN_LIMITS = "a job ends by its own limits"
_SPRANDOM = "left out: a scenario's precondition says what drives have been through"
_GROUPS = "blocks have no protection information"
_POLLING = "completions are neither polled nor interrupts: the host's model has one cost"
_PACED = "holds the load back: no full iodepth in flight"
_BATCHES = "I/Os are handed over in batches, not one by one"

JOBS: tuple[_Row, ...] = (
    # -- what an I/O is --------------------------------------------------------------------------
    _Row("rw bs bsrange bssplit ba bs_is_seq_rand kb_base rwmixread rwmixwrite", H, H, J),
    _Row("bs_unaligned", H, H, _skip("sizes are no whole sectors")),
    _Row("rw_sequencer", H, H, P),
    _Row("size filesize", H, H, J),
    _Row("direct buffered", I, H, J, _DIRECT_ONLY),
    _Row("io_size number_ios loops offset_align", H, H, P),
    _Row("offset offset_increment", H, H, J),
    _Row(
        "percentage_random",
        H,
        H,
        _skip("only a part of the offsets is random", "100 100,100 100,100,100", When.RANDOM),
    ),
    _Row(
        "percentage_sequential",
        I,
        H,
        _skip("a part of the offsets is sequential", when=When.RANDOM),
        "fio itself ignores it now",
    ),
    _Row(
        "random_distribution",
        H,
        H,
        _skip("blocks are not drawn evenly", "random", When.RANDOM),
    ),
    _Row("randrepeat randseed allrandrepeat random_generator norandommap", H, H, P),
    _Row("rwmixcycle use_os_rand", I, H, P, "fio itself ignores it now"),
    _Row(
        "softrandommap",
        I,
        H,
        P,
        "a file as large as the job asks for is found again, or nothing is",
    ),
    _Row("random_sequence_stride", I, H, P, "no sequence of blocks is drawn"),
    _Row("zonemode", H, H, J),
    _Row("zonesize zonerange zoneskip", H, H, J),
    _Row(
        "zonecapacity read_beyond_wp max_open_zones job_max_open_zones ignore_zone_limits"
        " zone_reset_threshold zone_reset_frequency recover_zbd_write_error write_zone_remainder",
        I,
        H,
        P,
        _NO_ZONES,
    ),
    # -- how many, and when ----------------------------------------------------------------------
    _Row("iodepth numjobs runtime", H, H, J),
    _Row("time_based", H, H, P),
    _Row("ioengine", H, S, J),
    _Row("steadystate", I, H, J, _OWN_LIMITS),
    _Row(
        "iodepth_batch",
        H,
        H,
        _skip(_BATCHES, "1", When.QUEUED),
    ),
    _Row(
        "iodepth_batch_complete_min iodepth_batch_complete_max",
        H,
        H,
        _skip("completions are taken in batches, not one by one", "0 1", When.QUEUED),
    ),
    _Row("iodepth_low", H, H, J),
    _Row(
        "io_submit_mode",
        I,
        H,
        _skip("other threads submit, as many as iodepth says", "inline"),
        "the job's own thread submits",
    ),
    _Row("serialize_overlap", I, H, P, "I/Os may overlap in flight"),
    _Row("rate rate_iops", H, H, _skip(_PACED, "0 0,0 0,0,0")),
    _Row("thinktime", H, H, _skip(_PACED)),
    _Row("thinktime_spin thinktime_blocks thinktime_blocks_type thinktime_iotime", H, H, P),
    _Row(
        "thinkcycles", R, I, _skip(_PACED), "thinktime, in time", "no CPU of this machine is spun"
    ),
    _Row("rate_process", H, H, P),
    _Row("rate_min rate_iops_min rate_cycle", I, H, P, "a job does not end because it is slow"),
    _Row("rate_ignore_thinktime", I, H, P, "a job catches up on its pauses"),
    _Row("flow", I, H, _skip("jobs wait for each other"), "jobs do not wait for each other"),
    _Row("flow_id flow_sleep flow_watermark", I, H, P, "jobs do not wait for each other"),
    _Row("latency_target", H, H, J),
    _Row("latency_window latency_percentile latency_run max_latency", H, H, P),
    _Row("ramp_time", H, H, P),
    _Row("ramp_size", R, H, P, "ramp_time, in time"),
    _Row("startdelay wait_for stonewall new_group", H, H, J),
    _Row("exitall exit_what", H, H, P),
    _Row("exitall_on_error continue_on_error", I, H, P, "an I/O that fails ends its job"),
    _Row("ignore_error error_dump", I, H, P, "an I/O that fails ends its job"),
    _Row(
        "steadystate_duration steadystate_ramp_time steadystate_check_interval",
        I,
        H,
        P,
        _OWN_LIMITS,
    ),
    _Row("name description group_reporting", H, H, P),
    # -- flushes ---------------------------------------------------------------------------------
    _Row("fsync fdatasync", H, H, J),
    _Row("sync_file_range", R, H, J, "fsync or fdatasync"),
    _Row("sync", H, H, _skip("each write is complete when it is flushed", "0 none", When.WRITES)),
    _Row("write_barrier", I, H, _skip("some writes are barriers", when=When.WRITES), _HINTS),
    _Row("end_fsync", H, H, P),
    _Row("fsync_on_close", I, H, P, _FILES),
    _Row(
        "end_syncfs",
        I,
        I,
        P,
        "no file system is here: end_fsync flushes the array",
    ),
    # -- files, of which the array is none -------------------------------------------------------
    _Row("filename directory", H, S, J),
    _Row("filename_format unique_filename", I, S, P, _FILES),
    _Row("nrfiles file_service_type", H, A, J),
    _Row(
        "openfiles fallocate create_serialize create_fsync create_on_open allow_file_create"
        " allow_mounted_write unlink unlink_each_loop filetype",
        I,
        A,
        P,
        _FILES,
    ),
    _Row("overwrite fill_device", I, H, P, _FILES),
    _Row("lockfile", I, H, _skip("jobs take turns at a lock", "none"), _FILES),
    _Row("opendir", R, A, P, "left out: name the array by filename="),
    _Row(
        "file_append",
        R,
        R,
        P,
        "left out: the array is no file that grows",
    ),
    _Row("create_only", R, H, P, "left out: files are parts of the array"),
    _Row("fadvise_hint fadvise_stream", I, H, P, _DIRECT_ONLY),
    _Row(
        "invalidate",
        I,
        H,
        _skip("the page cache may hold the file", "1", When.BUFFERED),
        _DIRECT_ONLY,
    ),
    _Row(
        "pre_read",
        I,
        I,
        _skip("the page cache holds the file", when=When.BUFFERED),
        _DIRECT_ONLY,
        "no page cache is here",
    ),
    # -- contents --------------------------------------------------------------------------------
    _Row(
        "buffer_compress_percentage",
        H,
        N,
        _skip("drives that compress write less", when=When.WRITES),
        "",
        "the device file says how far data can be compressed",
    ),
    _Row(
        "zero_buffers", I, H, _skip("zeros: some drives write nothing", when=When.WRITES), _CONTENT
    ),
    _Row("refill_buffers scramble_buffers buffer_pattern buffer_compress_chunk", I, H, P, _CONTENT),
    _Row(
        "dedupe_percentage",
        I,
        N,
        _skip("stores that deduplicate write less", when=When.WRITES),
        "no drive looks for equal data: those that compress do so unit by unit",
        "no system here deduplicates",
    ),
    _Row(
        "dedupe_mode dedupe_working_set_percentage dedupe_global",
        I,
        H,
        P,
        "no drive looks for equal data: those that compress do so unit by unit",
    ),
    _Row(
        "verify",
        H,
        H,
        _skip("checksums take the job's time, and what was written is read back", "0 none"),
    ),
    _Row("do_verify verify_backlog verify_backlog_batch", H, H, P),
    _Row(
        "verify_interval verify_offset verify_pattern verify_pattern_interval verify_fatal"
        " verify_async verify_write_sequence verify_header_seed verify_policy",
        I,
        H,
        P,
        _CONTENTS,
    ),
    _Row("verify_dump verify_state_save", I, I, P, _CONTENTS, "no file of fio's state is written"),
    _Row("experimental_verify", I, H, P, "what was written is read back as it was written"),
    _Row("verifysort verifysort_nr", I, H, P, "fio itself ignores it now"),
    _Row("verify_only", R, H, _skip("it only compares what an earlier run wrote"), _LEFT_NOTHING),
    _Row("verify_state_load", R, R, P, _LEFT_NOTHING),
    _Row(
        "trim_percentage",
        R,
        H,
        _skip("a part of what was written is trimmed"),
        "left out: use rw=randtrim or rw=trimwrite",
    ),
    _Row(
        "trim_verify_zero trim_backlog trim_backlog_batch",
        I,
        H,
        P,
        "no I/O is trimmed and verified",
    ),
    _Row("num_range", R, H, P, "left out: a trim is of one range"),
    _Row("sprandom", R, H, _skip("each block is written about once, in a made order"), _SPRANDOM),
    _Row("spr_op spr_num_regions spr_cs", R, H, P, "left out: see sprandom"),
    # -- recorded I/O ----------------------------------------------------------------------------
    _Row(
        "read_iolog",
        R,
        H,
        _skip("it replays a trace", ""),
        "left out: `raidlab replay --format fio-iolog` replays a log",
    ),
    _Row("replay_redirect", I, A, P, _NO_TRACE),
    _Row(
        "read_iolog_chunked replay_no_stall replay_scale replay_align replay_time_scale"
        " replay_skip",
        I,
        H,
        P,
        _NO_TRACE,
    ),
    _Row(
        "merge_blktrace_file merge_blktrace_scalars merge_blktrace_iters",
        I,
        R,
        P,
        _NO_TRACE,
        "left out: merge the traces by fio --merge-blktrace-only first",
    ),
    # -- this machine ----------------------------------------------------------------------------
    _Row("exec_prerun exec_postrun", I, I, P, "no command is run"),
    _Row(
        "profile",
        R,
        R,
        _skip("a profile makes its jobs inside fio", ""),
        "a job file: a profile makes its jobs inside fio, files and all",
    ),
    _Row(
        "cpumask cpus_allowed cpus_allowed_policy numa_cpu_nodes numa_mem_policy"
        " log_compression_cpus verify_async_cpus gtod_cpu",
        I,
        I,
        P,
        _HOST,
    ),
    _Row("mem iomem_align lockmem hugepage-size gpu_dev_id nice uid gid comm", I, I, P, _HOST),
    _Row("cgroup", I, I, _skip("its control group may limit it", ""), _HOST),
    _Row("cgroup_nodelete cgroup_weight", I, I, P, _HOST),
    _Row("prio prioclass priohint", I, I, P, _PRIORITY),
    _Row("ioscheduler", I, I, P, "the scenario's host says which scheduler there is"),
    _Row("thread", I, S, P, "clones of a job are threads of the host's model either way"),
    _Row("clocksource", I, S, P, "the clock is simulated"),
    _Row("disk_util", I, S, P, "results are complete, and of each direction"),
    _Row(
        "write_hint atomic fdp fdp_pli fdp_pli_select dataplacement data_placement plids"
        " plid_select dp_scheme",
        I,
        I,
        P,
        _HINTS,
    ),
    # -- what is reported ------------------------------------------------------------------------
    _Row(
        "bwavgtime iopsavgtime clat_percentiles lat_percentiles slat_percentiles percentile_list"
        " disable_lat disable_clat disable_slat",
        H,
        H,
        P,
    ),
    _Row(
        "write_bw_log write_lat_log write_iops_log write_hist_log log_avg_msec log_hist_msec"
        " log_hist_coarseness log_max_value log_window_value log_offset log_prio log_issue_time"
        " log_compression log_entries log_store_compressed log_unix_epoch log_alternate_epoch"
        " log_alternate_epoch_clock_id job_start_clock_id per_job_logs write_iolog",
        I,
        H,
        P,
        _LOGS,
    ),
    _Row("gtod_reduce", I, H, P, "the clock is simulated"),
    _Row(
        "stats disable_bw_measurement unified_rw_reporting significant_figures unit_base"
        " block_error_percentiles",
        I,
        H,
        P,
        "results are complete, and of each direction",
    ),
)

ENGINES: tuple[_Row, ...] = (
    _Row("hipri", I, I, P, _POLLING),
    _Row("hipri_percentage", I, I, P, "completions are neither polled nor interrupts"),
    _Row("fixedbufs", I, I, P, "buffers are not mapped"),
    _Row("registerfiles", I, I, P, "files are not registered"),
    _Row("sqthread_poll", I, I, P, "no kernel thread submits: the job's own thread pays for it"),
    _Row("sqthread_poll_cpu", I, I, P, "no kernel thread submits"),
    _Row("nonvectored", I, I, P, "vectors cost nothing"),
    _Row("uncached", I, I, P, "no page cache is here"),
    _Row("nowait", I, I, P, "nothing but the device makes an I/O wait"),
    _Row("force_async", I, I, P, "no I/O is handed to a worker of the kernel"),
    _Row("userspace_reap", I, I, P, "completions are fetched by a call"),
    _Row("libaio_vectored", I, I, P, "vectors cost nothing"),
    _Row("thp", I, I, P, _HOST),
    _Row(
        "cmdprio_percentage",
        I,
        I,
        _skip("a part of the I/Os goes before the others", "0 100 0,0 100,100"),
        _PRIORITY,
    ),
    _Row("cmdprio_bssplit", I, I, _skip("some I/Os go before the others", ""), _PRIORITY),
    _Row("cmdprio cmdprio_class cmdprio_hint", I, I, P, _PRIORITY),
    _Row("cmd_type", I, I, P, "I/Os pass the block layer"),
    _Row(
        "writefua",
        I,
        I,
        _skip("writes go to the medium itself", when=When.WRITES),
        "writes are not forced to the medium: use sync=1",
    ),
    _Row(
        "readfua",
        I,
        I,
        _skip("reads come from the medium itself", when=When.READS),
        "reads are not forced from the medium",
    ),
    _Row("write_mode", I, I, _skip("no plain writes", "write", When.WRITES), "writes are writes"),
    _Row("verify_mode", I, I, P, "reads are reads"),
    _Row("md_per_io_size", I, I, P, "blocks have no metadata"),
    _Row("pi_act pi_chk apptag apptag_mask", I, I, P, _GROUPS),
    _Row("deac", I, I, P, "zeros are written"),
    _Row("sg_write_mode", F, F, _skip("no plain writes", "write", When.WRITES)),
    _Row(
        "arguments bindname brick busy_poll busy_wait_polling chunck_size chunk_size clientname"
        " clustername conf cont cpuchunks cpuload cpumode cuda_io direct_write_to_pmem donorname"
        " dummy exit_on_io_done gpu_dev_ids grace_time hdfs_use_direct hdfsdirectory hostname"
        " http_host http_mode http_object_mode http_pass http_s3_key http_s3_keyid http_s3_region"
        " http_s3_security_token http_s3_sse_customer_algorithm http_s3_sse_customer_key"
        " http_s3_storage_class http_swift_auth_token http_user http_verbose https initiator"
        " inplace interface libblkio_driver libblkio_force_enable_completion_eventfd"
        " libblkio_num_entries libblkio_path libblkio_pre_connect_props libblkio_pre_start_props"
        " libblkio_queue_size libblkio_vectored libblkio_wait_mode libblkio_write_zeroes_on_trim"
        " listen mss namenode nfs_url no_completion_thread nodelay object_class pingpong pool port"
        " program proto protocol rbd_encryption_format rbd_encryption_passphrase rbdname serverip"
        " single-instance single_instance skip_bad stat_type std_redirect stream stream_id svcl"
        " touch_objects ttl uri verb volume window_size xnvme_admin xnvme_async xnvme_be"
        " xnvme_dev_nsid xnvme_dev_subnqn xnvme_iovec xnvme_mem xnvme_sync",
        F,
        F,
        P,
    ),
)
"""Options of engines of I/O."""


def _options() -> Iterator[tuple[str, Option]]:
    for row in (*JOBS, *ENGINES):
        option = Option(row.native, row.bridge, row.load, row.why, row.why_bridge or row.why)
        for name in row.names.split():
            yield name, option


OPTIONS: Mapping[str, Option] = dict(_options())
"""Every option by its first name."""


def named(native: Handling | None = None, bridge: Handling | None = None) -> frozenset[str]:
    """The options that are handled so, native or through the bridge."""
    return frozenset(
        name
        for name, option in OPTIONS.items()
        if native in (None, option.native) and bridge in (None, option.bridge)
    )
