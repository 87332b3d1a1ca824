"""A load before and after the events of a run: with one between, its rate is no steady rate."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from raidlab.scenarios.results.look import figure

Row = dict[str, Any]


def around(
    log: Sequence[Mapping[str, Any]], periods: Sequence[Mapping[str, Any]], warm_up_s: float
) -> Row | None:
    """What a load was before the first event that was recorded, and after the last.

    `before` and `after` have `iops` and `p99_us`; they are None where nothing is known: of loads
    that were put together, or without I/Os.

    Args:
        log: What happened: `t_s`, `what`.
        periods: The load from event to event.
        warm_up_s: Simulated seconds before anything was recorded.
    """
    within = [entry for entry in log if entry["t_s"] > warm_up_s]
    if not within:
        return None
    first, last = within[0], within[-1]
    earlier = [period for period in periods if period["from_s"] < first["t_s"]]
    return {
        "events": len(within),
        "first": {"t_s": first["t_s"], "what": first["what"]},
        "last": {"t_s": last["t_s"], "what": last["what"]},
        "before": _figures(earlier[-1:]),
        "after": _figures(periods[-1:]),
    }


def _figures(periods: Sequence[Mapping[str, Any]]) -> Row | None:
    for period in periods:
        latency = period["latency_us"]
        return {"iops": period["iops"], "p99_us": None if latency is None else latency["p99"]}
    return None


def of_replications(each: Sequence[Row | None]) -> Row | None:
    """That of several runs: the first one's events, means of the figures."""
    known = [one for one in each if one is not None]
    if not known:
        return None
    return known[0] | {
        side: _means([one[side] for one in known if one[side] is not None])
        for side in ("before", "after")
    }


def _means(sides: Sequence[Row]) -> Row | None:
    if not sides:
        return None
    tails = [side["p99_us"] for side in sides if side["p99_us"] is not None]
    return {
        "iops": statistics.fmean(side["iops"] for side in sides),
        "p99_us": statistics.fmean(tails) if tails else None,
    }


def when(found: Mapping[str, Any]) -> str:
    """The events in words: `at 10.0 s (drive 0 failed)`."""
    first, last = found["first"], found["last"]
    if found["events"] == 1:
        return f"at {figure(first['t_s'], 's')} ({first['what']})"
    return (
        f"from {figure(first['t_s'], 's')} ({first['what']}) to {figure(last['t_s'], 's')}"
        f" ({last['what']})"
    )


def before_and_after(found: Mapping[str, Any]) -> str:
    """Rate and p99 before the first event, and after the last; empty if they are not known."""
    before, after = (_said(found[side]) for side in ("before", "after"))
    if not before or not after:
        return ""
    first, last = found["first"], found["last"]
    text = f"{before} before {figure(first['t_s'], 's')} ({first['what']}), {after} after"
    if found["events"] == 1:
        return f"{text} it"
    return (
        f"{text} {figure(last['t_s'], 's')} ({last['what']}, the last of {found['events']} events)"
    )


def _said(side: Mapping[str, Any] | None) -> str:
    if side is None:
        return ""
    tail = "" if side["p99_us"] is None else f" (p99 {figure(side['p99_us'], 'us')})"
    return figure(side["iops"], "IO/s") + tail
