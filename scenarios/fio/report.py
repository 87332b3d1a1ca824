"""What fio would print of a run: its JSON, from what the engine recorded of each thread.

Source: the JSON of fio 3.33, `--output-format=json+`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from raidlab.scenarios.fio.resolve import Jobs, Report

VERSION = "fio-3.33"
"""The version of fio whose JSON it is."""

_SIDES = ("read", "write", "trim")
_LEVELS = ("1", "2", "4", "8", "16", "32", ">=64")
_CALLS = ("0", "4", "8", "16", "32", "64", ">=64")
_NS = ("2", "4", "10", "20", "50", "100", "250", "500", "750", "1000")
_MS = (*_NS, "2000", ">=2000")
_ELAPSED_UNKNOWN = 2147483647

Thread = Mapping[str, Any]


def fio_json(
    jobs: Jobs, threads: Sequence[Thread], about: Mapping[str, Any], *, bins: bool
) -> dict[str, Any]:
    """Fio's JSON document.

    Args:
        jobs: What was asked for.
        threads: What the engine recorded of each thread, in their order.
        about: The system's name, seed and notes, for the key `raidlab`.
        bins: With the buckets of the distributions, as in `json+`.
    """
    entries: list[tuple[Report, list[Thread]]] = []
    for report, thread in zip(jobs.reports, threads, strict=True):
        if report.grouped and entries:
            last, members = entries[-1]
            if last.grouped and last.group == report.group:
                members.append(thread)
                continue
        entries.append((report, [thread]))
    return {
        "raidlab": dict(about),
        "fio version": VERSION,
        "timestamp": 0,
        "timestamp_ms": 0,
        "time": "Thu Jan  1 00:00:00 1970",
        "global options": dict(jobs.options),
        "jobs": [_entry(report, members, bins=bins) for report, members in entries],
    }


def _entry(report: Report, threads: Sequence[Thread], *, bins: bool) -> dict[str, Any]:
    ios = sum(side["ios"] for thread in threads for side in thread["sides"])
    elapsed = max(thread["ended_ns"] for thread in threads)
    latencies = {
        name: dict(zip(labels, _shares(threads, name, ios), strict=True))
        for name, labels in (("latency_ns", _NS), ("latency_us", _NS), ("latency_ms", _MS))
    }
    return {
        "jobname": report.name,
        "groupid": report.group,
        "error": max(thread["error"] for thread in threads),
        "eta": _ELAPSED_UNKNOWN,
        "elapsed": math.ceil(elapsed / 1e9) or 1,
        "job options": {"name": report.name, **report.options},
        **{
            name: _side(report, [thread["sides"][at] for thread in threads], bins=bins)
            for at, name in enumerate(_SIDES)
        },
        "sync": {
            "total_ios": sum(_count(thread["syncs"]) for thread in threads),
            "lat_ns": _latencies([thread["syncs"] for thread in threads], None, bins=False),
        },
        "job_runtime": sum(round(thread["runtime_ns"] / 1e6) for thread in threads),
        "usr_cpu": 0.0,
        "sys_cpu": 0.0,
        "ctx": 0,
        "majf": 0,
        "minf": 0,
        "iodepth_level": dict(zip(_LEVELS, _shares(threads, "depths"), strict=True)),
        "iodepth_submit": dict(zip(_CALLS, _shares(threads, "submits"), strict=True)),
        "iodepth_complete": dict(zip(_CALLS, _shares(threads, "completes"), strict=True)),
        **latencies,
        "latency_depth": threads[0]["latency_depth"] or threads[0]["depth"],
        "latency_target": report.target_ns // 1000,
        "latency_percentile": 100.0,
        "latency_window": 0,
    }


def _shares(threads: Sequence[Thread], key: str, whole: int | None = None) -> list[float]:
    """Counts of all threads, in percent of their sum."""
    counts = [sum(column) for column in zip(*(thread[key] for thread in threads), strict=True)]
    whole = sum(counts) if whole is None else whole
    return [round(100 * count / whole, 6) if whole else 0.0 for count in counts]


def _count(latencies: Mapping[str, Any] | None) -> int:
    return 0 if latencies is None else int(latencies["count"])


def _side(report: Report, sides: Sequence[Mapping[str, Any]], *, bins: bool) -> dict[str, Any]:
    ios = sum(side["ios"] for side in sides)
    moved = sum(side["bytes"] for side in sides)
    runtime = max(side["runtime_ns"] for side in sides)
    seconds = runtime / 1e9

    def rate(count: float) -> float:
        return count / seconds if seconds else 0.0

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
        **{
            name: _latencies(
                [side[key] if report.kept[at] else None for side in sides],
                report.percentiles if report.shown[at] else None,
                bins=bins,
            )
            for at, (name, key) in enumerate(
                (("slat_ns", "submission"), ("clat_ns", "completion"), ("lat_ns", "total"))
            )
        },
        **_samples([side["bandwidth"] for side in sides], per_s / 1024),
        **_rates([side["rate"] for side in sides]),
    }


def _latencies(
    parts: Iterable[Mapping[str, Any] | None],
    percentiles: Sequence[float] | None,
    *,
    bins: bool,
) -> dict[str, Any]:
    """A distribution, merged of several; percentiles and buckets where they are asked for."""
    known = [part for part in parts if part is not None]
    count = sum(part["count"] for part in known)
    if not count:
        return {"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": 0}
    mean = sum(part["mean"] * part["count"] for part in known) / count
    squares = sum(
        part["count"] * (part["deviation"] ** 2 + (part["mean"] - mean) ** 2) for part in known
    )
    found: dict[str, Any] = {
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


def _moments(parts: Sequence[Mapping[str, Any]]) -> tuple[float, float, int]:
    """Sum over threads of the means, deviation, number of samples."""
    taken = [part for part in parts if part["count"]]
    count = sum(part["count"] for part in taken)
    means = sum(part["sum"] / part["count"] for part in taken)
    variance = sum(part["squares"] / part["count"] - (part["sum"] / part["count"]) ** 2
                   for part in taken)  # fmt: skip
    return means, math.sqrt(max(0.0, variance)), count


def _ends(parts: Sequence[Mapping[str, Any]], of: Callable[[Iterable[float]], float]) -> float:
    taken = [part["min" if of is min else "max"] for part in parts if part["count"]]
    return sum(taken) if taken else 0


def _samples(parts: Sequence[Mapping[str, Any]], whole: float) -> dict[str, Any]:
    mean, deviation, count = _moments(parts)
    return {
        "bw_min": round(_ends(parts, min)),
        "bw_max": round(_ends(parts, max)),
        "bw_agg": min(100.0, round(100 * mean / whole, 6)) if whole else 0.0,
        "bw_mean": round(mean, 6),
        "bw_dev": round(deviation, 6),
        "bw_samples": count,
    }


def _rates(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    mean, deviation, count = _moments(parts)
    return {
        "iops_min": round(_ends(parts, min)),
        "iops_max": round(_ends(parts, max)),
        "iops_mean": round(mean, 6),
        "iops_stddev": round(deviation, 6),
        "iops_samples": count,
    }
