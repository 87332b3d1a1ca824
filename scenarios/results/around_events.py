"""A load before and after the events of a run: with one between, its rate is no steady rate."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from raidlab.scenarios.results.number_text import figure
from raidlab.scenarios.results.row import AroundEvents, RateThen
from raidlab.scenarios.spec.run_result import LogEntry, PeriodResult


def around(
    log: Sequence[LogEntry], periods: Sequence[PeriodResult], warm_up_s: float
) -> AroundEvents | None:
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


def _figures(periods: Sequence[PeriodResult]) -> RateThen | None:
    for period in periods:
        latency = period["latency_us"]
        return {"iops": period["iops"], "p99_us": None if latency is None else latency["p99"]}
    return None


def of_replications(each: Sequence[AroundEvents | None]) -> AroundEvents | None:
    """That of several runs: the first one's events, means of the figures."""
    known = [one for one in each if one is not None]
    if not known:
        return None
    return known[0] | {
        "before": _means([one["before"] for one in known if one["before"] is not None]),
        "after": _means([one["after"] for one in known if one["after"] is not None]),
    }


def _means(sides: Sequence[RateThen]) -> RateThen | None:
    if not sides:
        return None
    tails = [side["p99_us"] for side in sides if side["p99_us"] is not None]
    return {
        "iops": statistics.fmean(side["iops"] for side in sides),
        "p99_us": statistics.fmean(tails) if tails else None,
    }


def when(found: AroundEvents) -> str:
    """The events in words: `at 10.0 s (drive 0 failed)`."""
    first, last = found["first"], found["last"]
    if found["events"] == 1:
        return f"at {figure(first['t_s'], 's')} ({first['what']})"
    return (
        f"from {figure(first['t_s'], 's')} ({first['what']}) to {figure(last['t_s'], 's')}"
        f" ({last['what']})"
    )


def before_and_after(found: AroundEvents) -> str:
    """Rate and p99 before the first event, and after the last; empty if they are not known."""
    before, after = _said(found["before"]), _said(found["after"])
    if not before or not after:
        return ""
    first, last = found["first"], found["last"]
    text = f"{before} before {figure(first['t_s'], 's')} ({first['what']}), {after} after"
    if found["events"] == 1:
        return f"{text} it"
    return (
        f"{text} {figure(last['t_s'], 's')} ({last['what']}, the last of {found['events']} events)"
    )


def _said(side: RateThen | None) -> str:
    if side is None:
        return ""
    tail = "" if side["p99_us"] is None else f" (p99 {figure(side['p99_us'], 'us')})"
    return figure(side["iops"], "IO/s") + tail
