"""What fio would print of a run: its JSON, from what the engine recorded of each thread.

Source: the JSON of fio 3.33, `--output-format=json+`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NotRequired, TypedDict

from raidlab.scenarios.fio.resolve import Jobs, Report
from raidlab.scenarios.spec.run_result import Latencies, Samples, SideResult, SlowIo, ThreadResult

VERSION = "fio-3.33"
"""The version of fio whose JSON it is."""

_LEVELS = ("1", "2", "4", "8", "16", "32", ">=64")
_CALLS = ("0", "4", "8", "16", "32", "64", ">=64")
_NS = ("2", "4", "10", "20", "50", "100", "250", "500", "750", "1000")
_MS = (*_NS, "2000", ">=2000")
_ELAPSED_UNKNOWN = 2147483647

_Counts = Literal["latency_ns", "latency_us", "latency_ms", "depths", "submits", "completes"]
"""Counts of a thread, of which fio prints shares."""


class FioLatency(TypedDict):
    """A distribution of latencies in fio's JSON, in nanoseconds."""

    min: int
    max: int
    mean: float
    stddev: float
    N: int
    percentile: NotRequired[dict[str, int]]
    bins: NotRequired[dict[str, int]]


class FioSyncs(TypedDict):
    """Calls that made data durable."""

    total_ios: int
    lat_ns: FioLatency


class _Bandwidths(TypedDict):
    """Samples of a bandwidth, in KiB/s."""

    bw_min: int
    bw_max: int
    bw_agg: float
    bw_mean: float
    bw_dev: float
    bw_samples: int


class _Rates(TypedDict):
    """Samples of a rate, in I/Os a second."""

    iops_min: int
    iops_max: int
    iops_mean: float
    iops_stddev: float
    iops_samples: int


class FioSide(_Bandwidths, _Rates):
    """One direction of a job in fio's JSON; `bw` is in KiB/s, `runtime` in ms."""

    io_bytes: int
    io_kbytes: int
    bw_bytes: int
    bw: int
    iops: float
    runtime: int
    total_ios: int
    short_ios: int
    drop_ios: int
    slat_ns: FioLatency
    clat_ns: FioLatency
    lat_ns: FioLatency


_Counted = TypedDict("_Counted", {"job options": dict[str, str]})


class FioJob(_Counted):
    """A job in fio's JSON; shares are in percent."""

    jobname: str
    groupid: int
    error: int
    eta: int
    elapsed: int
    read: FioSide
    write: FioSide
    trim: FioSide
    sync: FioSyncs
    job_runtime: int
    usr_cpu: float
    sys_cpu: float
    ctx: int
    majf: int
    minf: int
    iodepth_level: dict[str, float]
    iodepth_submit: dict[str, float]
    iodepth_complete: dict[str, float]
    latency_ns: dict[str, float]
    latency_us: dict[str, float]
    latency_ms: dict[str, float]
    latency_depth: int
    latency_target: int
    latency_percentile: float
    latency_window: int


class JobSlowIo(SlowIo):
    """One of the slowest I/Os, with its job and what it waited for."""

    job: str
    waited_for: str


class About(TypedDict):
    """What raidlab says of the system under fio's jobs."""

    name: str
    seed: int
    notes: list[str]
    version: str
    slowest: list[JobSlowIo]


FioDocument = TypedDict(
    "FioDocument",
    {
        "raidlab": About,
        "fio version": str,
        "timestamp": int,
        "timestamp_ms": int,
        "time": str,
        "global options": dict[str, str],
        "jobs": list[FioJob],
    },
)
"""What `fio --output-format=json` prints, with what raidlab says of the system."""


def fio_json(
    jobs: Jobs, threads: Sequence[ThreadResult], about: About, *, bins: bool
) -> FioDocument:
    """Fio's JSON document.

    Args:
        jobs: What was asked for.
        threads: What the engine recorded of each thread, in their order.
        about: The system's name, seed and notes, for the key `raidlab`.
        bins: With the buckets of the distributions, as in `json+`.
    """
    entries: list[_Entry] = []
    for report, asked, thread in zip(jobs.reports, jobs.threads, threads, strict=True):
        if report.grouped and entries:
            last = entries[-1]
            if last.report.grouped and last.report.group == report.group:
                last.threads.append(thread)
                continue
        entries.append(_Entry(report, asked["depth"]["depth"], [thread]))
    return {
        "raidlab": about,
        "fio version": VERSION,
        "timestamp": 0,
        "timestamp_ms": 0,
        "time": "Thu Jan  1 00:00:00 1970",
        "global options": dict(jobs.options),
        "jobs": [_job(entry, bins=bins) for entry in entries],
    }


@dataclass(frozen=True)
class _Entry:
    """A job of the document, of one thread or of a group."""

    report: Report
    depth: int
    """I/Os outstanding that its first thread asks for."""
    threads: list[ThreadResult]


def _job(entry: _Entry, *, bins: bool) -> FioJob:
    report, threads = entry.report, entry.threads
    ios = sum(side["ios"] for thread in threads for side in thread["sides"])
    elapsed = max(thread["ended_ns"] for thread in threads)
    # fio's are those of clat or lat, whichever are shown.
    synced = report.percentiles if any(report.shown[1:]) else None

    def side(at: int) -> FioSide:
        return _side(report, [thread["sides"][at] for thread in threads], bins=bins)

    return {
        "jobname": report.name,
        "groupid": report.group,
        "error": max(thread["error"] for thread in threads),
        "eta": _ELAPSED_UNKNOWN,
        "elapsed": math.ceil(elapsed / 1e9) or 1,
        "job options": {"name": report.name, **report.options},
        "read": side(0),
        "write": side(1),
        "trim": side(2),
        "sync": {
            "total_ios": sum(_count(thread["syncs"]) for thread in threads),
            "lat_ns": _latencies([thread["syncs"] for thread in threads], synced, bins=bins),
        },
        "job_runtime": sum(round(thread["runtime_ns"] / 1e6) for thread in threads),
        "usr_cpu": 0.0,
        "sys_cpu": 0.0,
        "ctx": 0,
        "majf": 0,
        "minf": 0,
        # Flushes have a depth and are no I/Os to fio: with them the shares make more than 100 %.
        "iodepth_level": _shares(threads, "depths", _LEVELS, ios),
        "iodepth_submit": _shares(threads, "submits", _CALLS),
        "iodepth_complete": _shares(threads, "completes", _CALLS),
        "latency_ns": _shares(threads, "latency_ns", _NS, ios),
        "latency_us": _shares(threads, "latency_us", _NS, ios),
        "latency_ms": _shares(threads, "latency_ms", _MS, ios),
        "latency_depth": threads[0]["latency_depth"] or entry.depth,
        "latency_target": report.target_ns // 1000,
        "latency_percentile": 100.0,
        "latency_window": 0,
    }


def _shares(
    threads: Sequence[ThreadResult],
    key: _Counts,
    labels: Sequence[str],
    whole: int | None = None,
) -> dict[str, float]:
    """Counts of all threads by their labels, in percent of their sum or of `whole`."""
    counts = [sum(column) for column in zip(*(thread[key] for thread in threads), strict=True)]
    whole = sum(counts) if whole is None else whole
    shares = [round(100 * count / whole, 6) if whole else 0.0 for count in counts]
    return dict(zip(labels, shares, strict=True))


def _count(latencies: Latencies | None) -> int:
    return 0 if latencies is None else latencies["count"]


def _side(report: Report, sides: Sequence[SideResult], *, bins: bool) -> FioSide:
    ios = sum(side["ios"] for side in sides)
    moved = sum(side["bytes"] for side in sides)
    runtime = max(side["runtime_ns"] for side in sides)
    seconds = runtime / 1e9

    def rate(count: float) -> float:
        return count / seconds if seconds else 0.0

    def latencies(at: int, parts: Iterable[Latencies | None]) -> FioLatency:
        shown = report.percentiles if report.shown[at] else None
        return _latencies(parts if report.kept[at] else (), shown, bins=bins)

    per_s = rate(moved)
    return {
        "io_bytes": moved,
        "io_kbytes": moved >> 10,
        "bw_bytes": int(per_s),
        "bw": int(per_s / 1024),
        "iops": round(rate(ios), 6),
        "runtime": round(runtime / 1e6),
        "total_ios": ios,
        "short_ios": 0,
        "drop_ios": 0,
        "slat_ns": latencies(0, [side["submission"] for side in sides]),
        "clat_ns": latencies(1, [side["completion"] for side in sides]),
        "lat_ns": latencies(2, [side["total"] for side in sides]),
        **_samples([side["bandwidth"] for side in sides], per_s / 1024),
        **_rates([side["rate"] for side in sides]),
    }


def _latencies(
    parts: Iterable[Latencies | None],
    percentiles: Sequence[float] | None,
    *,
    bins: bool,
) -> FioLatency:
    """A distribution, merged of several; percentiles and buckets where they are asked for."""
    known = [part for part in parts if part is not None]
    count = sum(part["count"] for part in known)
    if not count:
        return {"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": 0}
    mean = sum(part["mean"] * part["count"] for part in known) / count
    squares = sum(
        part["count"] * (part["deviation"] ** 2 + (part["mean"] - mean) ** 2) for part in known
    )
    found: FioLatency = {
        "min": min(part["min"] for part in known),
        "max": max(part["max"] for part in known),
        "mean": round(mean, 6),
        "stddev": round(math.sqrt(squares / (count - 1)), 6) if count > 1 else 0.0,
        "N": count,
    }
    if percentiles is None:
        return found
    buckets: dict[int, int] = {}
    for part in known:
        for at, number in part["bins"]:
            buckets[at] = buckets.get(at, 0) + number
    ordered = sorted(buckets.items())
    found["percentile"] = {
        f"{percent:.6f}": _percentile(ordered, percent, count) for percent in percentiles
    }
    if bins:
        found["bins"] = {str(at): number for at, number in ordered}
    return found


def _percentile(buckets: Sequence[tuple[int, int]], percent: float, count: int) -> int:
    seen = 0
    for at, number in buckets:
        seen += number
        if seen >= percent / 100 * count:
            return at
    return buckets[-1][0]


def _moments(parts: Sequence[Samples]) -> tuple[float, float, int]:
    """Sum over threads of the means, deviation, number of samples."""
    taken = [part for part in parts if part["count"]]
    count = sum(part["count"] for part in taken)
    means = sum(part["sum"] / part["count"] for part in taken)
    variance = sum(part["squares"] / part["count"] - (part["sum"] / part["count"]) ** 2
                   for part in taken)  # fmt: skip
    return means, math.sqrt(max(0.0, variance)), count


def _ends(parts: Sequence[Samples], key: Literal["min", "max"]) -> int:
    return round(sum(part[key] for part in parts if part["count"]))


def _samples(parts: Sequence[Samples], whole: float) -> _Bandwidths:
    mean, deviation, count = _moments(parts)
    return {
        "bw_min": _ends(parts, "min"),
        "bw_max": _ends(parts, "max"),
        "bw_agg": min(100.0, round(100 * mean / whole, 6)) if whole else 0.0,
        "bw_mean": round(mean, 6),
        "bw_dev": round(deviation, 6),
        "bw_samples": count,
    }


def _rates(parts: Sequence[Samples]) -> _Rates:
    mean, deviation, count = _moments(parts)
    return {
        "iops_min": _ends(parts, "min"),
        "iops_max": _ends(parts, "max"),
        "iops_mean": round(mean, 6),
        "iops_stddev": round(deviation, 6),
        "iops_samples": count,
    }
