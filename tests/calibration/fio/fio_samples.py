"""Small fio results, made by hand after the form of fio's own output."""

from __future__ import annotations

import json
from typing import Any

Entry = dict[str, object]
"""A part of fio's JSON, as far as a test wants it right."""


def direction(iops: float, ios: int, clat_us: float, **more: Any) -> Entry:
    """A direction of a job with one latency for all its I/Os."""
    ns = clat_us * 1000
    side: Entry = {
        "iops": iops,
        "total_ios": ios,
        "bw_bytes": int(iops * 4096),
        "runtime": 60000,
        "slat_ns": {"min": 1000, "max": 3000, "mean": 2000.0, "stddev": 0.0, "N": ios},
        "lat_ns": {"min": ns, "max": ns, "mean": ns + 2000.0, "stddev": 0.0, "N": ios},
        "clat_ns": {"min": ns, "max": ns, "mean": ns, "stddev": 0.0, "N": ios},
    }
    if ios:
        percents = (1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99, 99.5, 99.9)
        side["clat_ns"]["percentile"] = {f"{p:.6f}": int(ns) for p in percents}
    side["clat_ns"].update(more)
    return side


def job(read: Entry, options: dict[str, str] | None, **more: Any) -> Entry:
    """A job that only reads."""
    entry: Entry = {
        "jobname": "load",
        "groupid": 0,
        "error": 0,
        "usr_cpu": 10.0,
        "sys_cpu": 30.0,
        "read": read,
        "write": direction(0.0, 0, 0.0),
        "trim": direction(0.0, 0, 0.0),
    }
    if options is not None:
        entry["job options"] = options
    return entry | more


def document(*jobs: Entry, **more: Any) -> str:
    """The text of a result."""
    return json.dumps({"fio version": "fio-3.33", "time": "Mon", "jobs": list(jobs), **more})


OPTIONS = {
    "rw": "randread",
    "bs": "4k",
    "iodepth": "8",
    "numjobs": "2",
    "ioengine": "libaio",
    "direct": "1",
}
