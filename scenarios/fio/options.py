"""fio's job options: which have their effect without fio, which have none here, which are refused.

Source: `fio --cmdhelp=all` of fio 3.33, and the manual for what came later.
"""

from __future__ import annotations

from collections.abc import Mapping

from raidlab.scenarios.fio.engines import FOREIGN_OPTIONS
from raidlab.scenarios.fio.jobfile import ALIASES

_EFFECTIVE = """
    allrandrepeat ba bs bs_is_seq_rand bs_unaligned bsrange bssplit buffer_compress_percentage
    bwavgtime clat_percentiles description directory disable_clat disable_lat disable_slat
    do_verify end_fsync exit_what exitall fdatasync file_service_type filename filesize fsync
    group_reporting io_size iodepth iodepth_batch iodepth_batch_complete_max
    iodepth_batch_complete_min iodepth_low ioengine iopsavgtime kb_base lat_percentiles
    latency_percentile latency_run latency_target latency_window loops max_latency name
    new_group norandommap nrfiles number_ios numjobs offset offset_align offset_increment
    percentage_random percentile_list ramp_time random_distribution random_generator randrepeat
    randseed rate rate_iops rate_process runtime rw rw_sequencer rwmixread rwmixwrite size
    slat_percentiles startdelay stonewall sync thinktime thinktime_blocks thinktime_blocks_type
    thinktime_iotime thinktime_spin time_based verify verify_backlog verify_backlog_batch wait_for
    zonemode zonerange zonesize zoneskip
"""

EFFECTIVE = frozenset(_EFFECTIVE.split())
"""Options that do here what they do in fio."""

_WITHOUT = (
    (
        "I/O is direct: jobs have no page cache; a workload with buffered = true has one",
        "buffered invalidate pre_read fadvise_hint direct",
    ),
    ("clones of a job are threads of the host's model either way", "thread"),
    (
        "no data are written, only where they lie is",
        "zero_buffers refill_buffers scramble_buffers buffer_pattern buffer_compress_chunk",
    ),
    (
        "no drive looks for equal data: those that compress do so unit by unit",
        "dedupe_percentage dedupe_mode dedupe_working_set_percentage dedupe_global",
    ),
    (
        "files are parts of the array, which need no laying out",
        "openfiles fallocate overwrite create_serialize create_fsync create_on_open"
        " allow_file_create allow_mounted_write filename_format unique_filename lockfile unlink"
        " unlink_each_loop fsync_on_close fill_device",
    ),
    (
        "the host's model has neither places of threads nor of memory",
        "cpumask cpus_allowed cpus_allowed_policy numa_cpu_nodes numa_mem_policy mem iomem_align"
        " lockmem hugepage-size gpu_dev_id nice uid gid",
    ),
    ("priorities have no effect", "prio prioclass cgroup cgroup_nodelete cgroup_weight"),
    ("drives heed no hints", "write_hint write_barrier atomic fdp fdp_pli fdp_pli_select"),
    ("the scenario's host says which scheduler there is", "ioscheduler"),
    ("the clock is simulated", "clocksource gtod_cpu gtod_reduce"),
    ("no command is run", "exec_prerun exec_postrun"),
    (
        "no log is written: the timeline of the result has rates and latencies over time",
        "write_bw_log write_lat_log write_iops_log write_hist_log log_avg_msec log_hist_msec"
        " log_hist_coarseness log_max_value log_offset log_prio log_compression log_entries"
        " log_compression_cpus log_store_compressed log_unix_epoch log_alternate_epoch"
        " log_alternate_epoch_clock_id per_job_logs write_iolog",
    ),
    (
        "a job does not end because it is slow",
        "rate_min rate_iops_min rate_cycle",
    ),
    ("a job catches up on its pauses", "rate_ignore_thinktime"),
    ("jobs do not wait for each other", "flow flow_id flow_sleep flow_watermark"),
    (
        "a job ends by its own limits",
        "steadystate steadystate_duration steadystate_ramp_time steadystate_check_interval",
    ),
    (
        "an I/O that fails ends its job",
        "continue_on_error ignore_error error_dump exitall_on_error",
    ),
    (
        "results are complete, and of each direction",
        "stats disk_util disable_bw_measurement unified_rw_reporting significant_figures"
        " unit_base block_error_percentiles",
    ),
    ("a file as large as the job asks for is found again, or nothing is", "softrandommap"),
    ("I/Os may overlap in flight", "serialize_overlap"),
    ("the job's own thread submits", "io_submit_mode"),
    (
        "no contents are compared",
        "verify_interval verify_offset verify_pattern verify_fatal verify_dump verify_async"
        " verify_async_cpus verify_state_save verify_write_sequence",
    ),
    ("what was written is read back as it was written", "experimental_verify"),
    ("fio itself no longer heeds it", "verifysort verifysort_nr"),
    ("no I/O is trimmed and verified", "trim_verify_zero trim_backlog trim_backlog_batch"),
    ("no trace is read", "read_iolog_chunked replay_no_stall replay_redirect replay_scale"),
    ("no trace is read", "replay_align replay_time_scale replay_skip merge_blktrace_file"),
    ("no trace is read", "merge_blktrace_scalars merge_blktrace_iters"),
    (
        "no zoned device is simulated",
        "zonecapacity read_beyond_wp max_open_zones job_max_open_zones ignore_zone_limits"
        " zone_reset_threshold zone_reset_frequency",
    ),
    ("fio itself no longer heeds it", "percentage_sequential rwmixcycle"),
)

WITHOUT_EFFECT: Mapping[str, str] = {
    **{name: why for why, names in _WITHOUT for name in names.split()},
    **FOREIGN_OPTIONS,
}
"""Options that change nothing here, and why."""

_SWITCHES = """allow_file_create allow_mounted_write atomic block_error_percentiles buffered
cgroup_nodelete create_fsync create_on_open create_serialize dedupe_global direct
disable_bw_measurement disk_util error_dump exitall_on_error experimental_verify
fill_device fsync_on_close gtod_reduce ignore_zone_limits invalidate log_alternate_epoch
log_max_value log_offset log_prio log_store_compressed log_unix_epoch overwrite per_job_logs
pre_read rate_ignore_thinktime read_beyond_wp read_iolog_chunked refill_buffers replay_no_stall
scramble_buffers serialize_overlap softrandommap stats trim_verify_zero unique_filename unlink
unlink_each_loop verify_dump verify_fatal verify_state_save"""
BOUNDS: Mapping[str, tuple[int, int]] = {
    **dict.fromkeys(_SWITCHES.split(), (0, 1)),
    "cgroup_weight": (100, 1000),
    "dedupe_percentage": (0, 100),
    "dedupe_working_set_percentage": (0, 100),
    "job_max_open_zones": (0, 4096),
    "max_open_zones": (0, 4096),
    "nice": (-20, 19),
    "prio": (0, 7),
    "prioclass": (0, 3),
    "significant_figures": (1, 10),
}
"""Least and most of options without effect, as `fio --cmdhelp` of 3.33 has them."""

REFUSED: Mapping[str, str] = {
    "verify_only": "left out: nothing is there that an earlier run wrote",
    "verify_state_load": "left out: nothing is there that an earlier run wrote",
    "read_iolog": "left out: `raidlab replay --format fio-iolog` replays a log",
    "trim_percentage": "left out: use rw=randtrim or rw=trimwrite",
    "opendir": "left out: name the array by filename=",
    "file_append": "left out: the array is no file that grows",
    "profile": "a job file: a profile makes its jobs inside fio",
    "create_only": "left out: files are parts of the array",
    "sync_file_range": "fsync or fdatasync",
    "num_range": "left out: a trim is of one range",
    "sprandom": "left out: a scenario's precondition says what drives have been through",
    "spr_op": "left out: see sprandom",
    "spr_num_regions": "left out: see sprandom",
}
"""Options whose job would be another one without them, unless they are off."""

CHECKSUMS = (
    *("none", "0", "md5", "crc64", "crc32", "crc32c-intel", "crc32c", "crc16", "crc7"),
    *("sha1", "sha256", "sha512", "sha3-224", "sha3-256", "sha3-384", "sha3-512"),
    *("xxhash", "meta", "pattern", "pattern_hdr", "null"),
)
"""Values of `verify`."""

OFF = frozenset({"0", "none", "null", ""})
"""Values of an option that is refused which say that it is off."""

KNOWN = frozenset({*EFFECTIVE, *WITHOUT_EFFECT, *REFUSED, *ALIASES})
"""All names of options."""
