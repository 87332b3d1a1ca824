"""Whether what fio reports is the one load that its options say.

Options do not say all: what ran beside a job, how often it flushed, at which depth it settled, and
how many jobs one entry sums up.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from raidlab.calibration.fio.options import JobLoad, OptionError, is_on, named
from raidlab.scenarios.fio import values
from raidlab.scenarios.fio.values import OptionValueError

SIDES = ("read", "write")
_FLUSHES_AT_MOST = 0.01
"""Share of the jobs' time that flushes may take where the load counts as plain."""
_SIZE_OFF = 0.02
_SHARE_OFF = 0.05
_SLACK_S = 2.0
"""By how much times of whole seconds, and the start of jobs, may be off."""
_SIGMAS = 5.0
_IN_FLIGHT_OFF = 1.1
"""Latency times rate over what the options let be in flight: more are jobs that were not said."""
_SUMMED = "group_reporting sums up sections, of which the result has the options of one"
_NOT_FIOS = "latencies are not those of these rates (Little's law): was the result changed?"
_LAST_WINDOWS = 1.5
"""Windows of `latency_target` that its last run, at the depth that it found, takes at most."""

Entry = Mapping[str, object]
Options = Mapping[str, object]


def beside_others(groups: Sequence[Sequence[Entry]]) -> set[int]:
    """The groups, by number, that ran while another one did: `new_group` without `stonewall`.

    The options do not show it: fio writes none that has no value. Newer versions write when a job
    began. In older ones groups that took longer together than fio itself ran beside each other.

    Args:
        groups: What fio reports of each group's jobs.
    """
    took_s = [max(_runtime_ms(entry) for entry in group) / 1000 for group in groups]
    begins = [min(_number(entry, "job_start") for entry in group) / 1000 for group in groups]
    if all(begins):
        spans = list(zip(begins, took_s, strict=True))
        return {
            at
            for at, (begin, took) in enumerate(spans)
            for other, (start, length) in enumerate(spans)
            if at != other and min(begin + took, start + length) - max(begin, start) > _SLACK_S
        }
    elapsed = max(_number(entry, "elapsed") for group in groups for entry in group)
    if elapsed and sum(took_s) > elapsed + _SLACK_S:
        return set(range(len(groups)))
    return set()


def _number(table: Entry, key: str) -> float:
    """A number of fio's; 0 where there is none."""
    value = table.get(key, 0)
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else 0.0


def _runtime_ms(entry: Entry) -> float:
    """How long a job made I/Os; fio 2 has the time of directions without any too."""
    sides = [_side(entry, side) for side in SIDES]
    return max((_number(side, "runtime") for side in sides if _number(side, "iops")), default=0.0)


def _side(entry: Entry, side: str) -> Entry:
    reported = entry.get(side)
    return reported if isinstance(reported, Mapping) else {}


def why_no_group(options: Sequence[Options]) -> Iterator[str]:
    """Why jobs that ran together are no clones of one."""
    jobs = [named(each) for each in options]
    for key in ("filename", "directory"):
        places = sorted({job[key] for job in jobs if key in job})
        if len(places) > 1:
            yield f"jobs of several files or drives ran together: {key} = {', '.join(places[:4])}"
    for key in ("startdelay", "wait_for"):
        if len(jobs) > 1 and any(is_on(job, key) for job in jobs):
            yield f"{key}: jobs of one group did not run at one time"


def settled(load: JobLoad, group: Sequence[Entry], options: Options) -> JobLoad:
    """The load at the depth that `latency_target` found.

    fio looks for the deepest queue that keeps the target, and then records one window at that
    depth alone; what it records before is a mixture of depths.

    Raises:
        OptionError: What it has recorded is not that window.
    """
    job = named(options)
    if not is_on(job, "latency_target"):
        return load
    depths = {int(_number(entry, "latency_depth")) for entry in group}
    try:
        window_ms = values.duration(job.get("latency_window", "0"), "us") / 1e6
    except OptionValueError:
        window_ms = 0.0
    took_ms = max(_runtime_ms(entry) for entry in group)
    ended = window_ms <= took_ms <= _LAST_WINDOWS * window_ms + 1.0
    if len(depths) > 1 or 0 in depths or is_on(job, "latency_run") or not window_ms or not ended:
        last = ", ".join(map(str, sorted(depths)))
        raise OptionError(
            f"latency_target = {job['latency_target']}: the depth changes as it runs, up to"
            f" iodepth = {load.iodepth}; latency_depth = {last} is the last one"
        )
    return replace(load, iodepth=depths.pop())


def why_not_plain(
    load: JobLoad, jobs: int, group: Sequence[Entry], options: Options
) -> Iterator[str]:
    """Why what was measured is not the load of `jobs` clones with these options."""
    failed = sum(int(_number(entry, "total_err")) for entry in group)
    if failed:
        yield f"{failed} I/Os failed"
    job = named(options)
    yield from _flushes(load, jobs, group, job)
    for side, other in (("read", "write"), ("write", "read")):
        if load.rw.endswith(side) and any(_ios(entry, other) for entry in group):
            yield f"rw = {load.rw}, but {other}s were made too"
    for entry in group:
        yield from _sizes(load, entry)
    if is_on(job, "group_reporting"):
        yield from _shares(load, group)
    yield from _in_flight(load, jobs, group)


def _ios(entry: Entry, side: str) -> int:
    return int(_number(_side(entry, side), "total_ios"))


def _flushes(
    load: JobLoad, jobs: int, group: Sequence[Entry], job: Mapping[str, str]
) -> Iterator[str]:
    """Flushes between writes, unless none came or they took next to no time."""
    if "read" in load.rw:
        return
    if is_on(job, "sync_file_range") and job["sync_file_range"]:
        yield f"sync_file_range = {job['sync_file_range']}: flushes come between its writes"
    for key in ("fsync", "fdatasync"):
        if not is_on(job, key):
            continue
        every = max(1, values.whole(job[key] or "1"))
        written = sum(_written(load, entry) for entry in group)
        if not written and any(_number(_side(entry, "write"), "iops") for entry in group):
            yield f"{key} = {job[key]}: it does not say how many writes or flushes there were"
        count = written // jobs // every * jobs
        counted = sum(_ios(entry, "sync") for entry in group)
        spent_ns = sum(
            _ios(entry, "sync") * _number(_side(_side(entry, "sync"), "lat_ns"), "mean")
            for entry in group
        )
        runtime_ns = 1e6 * max(_runtime_ms(entry) for entry in group)
        if not count and not counted:
            continue
        if not counted or spent_ns > _FLUSHES_AT_MOST * runtime_ns * jobs:
            yield f"{key} = {job[key]}: {max(count, counted)} flushes came between its writes"


def _written(load: JobLoad, entry: Entry) -> int:
    """Writes of an entry: counted, or those of its latencies or bytes; 0 if nothing says it."""
    side = _side(entry, "write")
    known = (_number(_side(side, kind), "N") for kind in ("clat_ns", "lat_ns"))
    by_bytes = _number(side, "io_bytes") / load.bs
    return _ios(entry, "write") or int(next((count for count in known if count), by_bytes))


def _sizes(load: JobLoad, entry: Entry) -> Iterator[str]:
    """I/Os of another mean size than the options say."""
    for side in SIDES:
        reported = _side(entry, side)
        ios = _ios(entry, side)
        if not ios or "io_bytes" not in reported:
            continue
        # Up to 2.21, without nanoseconds, it is KiB under the name of bytes.
        counts_bytes = not {"io_kbytes", "clat_ns", "lat_ns"}.isdisjoint(reported)
        moved = _number(reported, "io_bytes") * (1.0 if counts_bytes else 1024.0)
        rest = load.iodepth * load.bs + 1024
        if abs(moved - ios * load.bs) > _SIZE_OFF * ios * load.bs + rest:
            yield f"bs = {load.bs} B, but {ios} {side}s moved {moved:.0f} B, {moved / ios:.0f} each"


def _shares(load: JobLoad, group: Sequence[Entry]) -> Iterator[str]:
    """A mixture with another share of reads than the options say."""
    reads, writes = (sum(_ios(entry, side) for entry in group) for side in SIDES)
    if load.rw not in ("rw", "randrw") or not reads + writes:
        return
    share, asked = reads / (reads + writes), load.read_share
    luck = _SIGMAS * math.sqrt(asked * (1 - asked) / (reads + writes))
    if abs(share - asked) > max(_SHARE_OFF, luck):
        yield f"{share:.0%} of its I/Os are reads, its options say {asked:.0%}: {_SUMMED}"


def _in_flight(load: JobLoad, jobs: int, group: Sequence[Entry]) -> Iterator[str]:
    """More I/Os in flight, by Little's law, than the jobs that are said can have."""
    inside = 0.0
    for entry in group:
        for side in SIDES:
            reported = _side(entry, side)
            mean_s = max(
                _number(_side(reported, f"lat{unit}"), "mean") * scale
                for unit, scale in (("_ns", 1e-9), ("", 1e-6))
            )
            inside += _number(reported, "iops") * mean_s
    allowed = load.iodepth * jobs
    if inside > _IN_FLIGHT_OFF * allowed:
        # The options need not show that sections were summed up: it is a flag without a value.
        why = f"{_SUMMED}, or {_NOT_FIOS}" if len(group) == 1 else _NOT_FIOS
        yield (
            f"{inside:.3g} I/Os were in flight on average, iodepth and numjobs allow {allowed}:"
            f" {why}"
        )
