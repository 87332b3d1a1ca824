"""fio's job options: which have their effect without fio, which have none here, which are refused.

Source: `fio --cmdhelp=all` of fio 3.33, and the manual for what came later.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from raidlab.scenarios.fio import values
from raidlab.scenarios.fio.jobfile import ALIASES
from raidlab.scenarios.fio.option_table import OPTIONS, Handling, named

EFFECTIVE = named(native=Handling.APPLIED)
"""Options that do here what they do in fio."""

WITHOUT_EFFECT: Mapping[str, str] = {
    name: OPTIONS[name].why for name in named(native=Handling.IDLE)
}
"""Options that change nothing here, and why."""

REFUSED: Mapping[str, str] = {name: OPTIONS[name].why for name in named(native=Handling.REFUSED)}
"""Options whose job would be another one without them, unless they are off."""

OF_THIS_MACHINE: Mapping[str, Callable[[str], object]] = {
    **dict.fromkeys(("cpus_allowed", "log_compression_cpus", "verify_async_cpus"), values.numbers),
    "cpumask": lambda text: values.size(text),
    "gtod_cpu": lambda text: values.whole(text),
    "numa_cpu_nodes": values.nodes,
    "numa_mem_policy": values.memory_policy,
    "sqthread_poll_cpu": lambda text: values.whole(text),
}
"""Options whose values fio looks for on the machine that runs it: how they are read here."""

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
