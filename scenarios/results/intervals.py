"""What a result knows of the error of its figures: 95 % intervals, and percentiles with few I/Os.

Intervals are `[low, high]`; an end that nobody knows is None. A single run has its own
(docs/explanation/statistics.md); replications have Student's over their means.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from functools import lru_cache

from raidlab.scenarios.results.student import t_975
from raidlab.scenarios.spec.run_result import Side, WorkloadResult

PERCENTILES = {"p50": 50.0, "p90": 90.0, "p95": 95.0, "p99": 99.0, "p99_9": 99.9, "p99_99": 99.99}
BEYOND = 100
"""I/Os beyond a percentile from which on its rank is known within a fifth."""

Interval = list[float | None]
"""Low and high end of a 95 % interval; None where nothing can be said."""


def uncertain(ios: int) -> list[str]:
    """Percentiles of a number of I/Os that have fewer than 100 of them beyond."""
    # Tenths of a thousandth of a percent: whole numbers, so that nothing is rounded.
    return [
        name
        for name, percent in PERCENTILES.items()
        if ios * round(100 * (100 - percent)) < BEYOND * 10_000
    ]


def students(values: Sequence[float]) -> Interval:
    """Student's interval around the mean of independent values; unknown for fewer than two.

    Rates and times are not negative, so the lower end is at least 0.
    """
    if len(values) < 2:
        return [None, None]
    mean = statistics.fmean(values)
    half = t_975(len(values) - 1) * statistics.stdev(values) / math.sqrt(len(values))
    return [max(0.0, mean - half), mean + half]


def quantile(counted: Sequence[Sequence[int]], share: float) -> float | None:
    """Microseconds below which a share of the I/Os lies, those of a bucket evenly over its width.

    Args:
        counted: Nanoseconds that stand for a bucket, and its count, ascending. From 128 ns on a
            bucket is a sixty-fourth of its power of two wide.
        share: From 0 to 1.
    """
    wanted = share * sum(count for _, count in counted)
    for middle, count in counted:
        if count and count >= wanted:
            begin, width = _bucket(middle)
            return (begin + width * wanted / count) / 1e3
        wanted -= count
    return counted[-1][0] / 1e3 if counted else None


def of_replications(
    latencies: Sequence[Mapping[str, float]], counted: Sequence[Sequence[Sequence[int]]]
) -> dict[str, Interval]:
    """Student's intervals of latencies over independent runs, microseconds.

    A percentile's interval is that of its rank (Woodruff, 1952): Student's over the shares of each
    run's I/Os that lie below the quantile of all runs. It also holds where a distribution jumps.
    Where the upper rank lies beyond all I/Os it is Student's over the quantiles. Both are quantiles
    within buckets, as percentiles of several runs may be equal though the runs differ; the interval
    holds the percentile itself.

    Args:
        latencies: `mean`, `p50` ... of each run.
        counted: Buckets of each run: nanoseconds and count, ascending.
    """
    found: dict[str, Interval] = {}
    together = _together(counted)
    for key in latencies[0]:
        values = [each[key] for each in latencies]
        own = statistics.fmean(values)
        if key in PERCENTILES:
            low, high = _of_ranks(counted, together, PERCENTILES[key] / 100)
        else:
            low, high = students(values)
        known = low is not None and high is not None
        found[key] = [min(low or 0.0, own), max(high or 0.0, own)] if known else [None, None]
    return found


def _together(counted: Sequence[Sequence[Sequence[int]]]) -> list[tuple[int, int]]:
    """Buckets of several runs as those of one."""
    found: dict[int, int] = {}
    for middle, count in (pair for each in counted for pair in each):
        found[middle] = found.get(middle, 0) + count
    return sorted(found.items())


def _of_ranks(
    counted: Sequence[Sequence[Sequence[int]]], together: Sequence[Sequence[int]], share: float
) -> Interval:
    """The interval of a quantile over independent runs, microseconds."""
    busy = [each for each in counted if any(count for _, count in each)]
    middle = quantile(together, share)
    if middle is None:
        return [None, None]
    ranks = [_rank(each, middle) for each in busy]
    high = students(ranks)[1]
    if high is None:
        return [None, None]
    half = high - statistics.fmean(ranks)
    if share + half < 1:
        return [quantile(together, max(0.0, share - half)), quantile(together, share + half)]
    inner = [quantile(each, share) for each in busy]
    return students([each for each in inner if each is not None])


def _rank(counted: Sequence[Sequence[int]], latency_us: float) -> float:
    """Share of the I/Os below a latency, those of a bucket evenly over its width."""
    at, below = latency_us * 1e3, 0.0
    for middle, count in counted:
        begin, width = _bucket(middle)
        below += count * min(1.0, max(0.0, (at - begin) / width))
    return below / sum(count for _, count in counted)


@lru_cache(1 << 14)
def _bucket(middle: int) -> tuple[float, float]:
    """Begin and width of a bucket, nanoseconds."""
    width = 2.0 ** max(0, math.floor(math.log2(max(middle, 1))) - 6)
    return (middle - width / 2 if width > 1 else float(middle)), width


def of_sum(
    total: float, each: Sequence[Sequence[float | None]], pasts: Sequence[float] = ()
) -> Interval:
    """Around a sum of independent figures: the squares of the half widths add up.

    Args:
        total: The sum.
        each: Its summands' intervals.
        pasts: What of their half widths the past of flash drives adds. All drives of a run share
            it, so these add up themselves.
    """
    return _around(total, [(1.0, interval) for interval in each], pasts)


def of_latencies(
    merged: Mapping[str, float] | None,
    loads: Sequence[WorkloadResult] | Sequence[Side],
    counted: Sequence[tuple[int, int]],
) -> dict[str, Interval]:
    """Intervals of latencies that were put together from independent loads.

    Args:
        merged: The latencies of all loads together, microseconds.
        loads: `ios`, `latency_us`, `latency_ci95_us` and `rank_half_widths` of each, and
            `past_half_widths`: what of these the past of flash drives adds, which they share.
        counted: Buckets of all loads together: nanoseconds and count, ascending.
    """
    busy = [load for load in loads if load["ios"]]
    total = sum(load["ios"] for load in busy)
    if merged is None or not total:
        keys = loads[0]["latency_ci95_us"] if loads else {}
        return {key: [None, None] for key in keys}
    shares = [load["ios"] / total for load in busy]
    found: dict[str, Interval] = {key: [None, None] for key in merged}
    means = [load["latency_ci95_us"]["mean"] for load in busy]
    found["mean"] = _around(
        merged["mean"], list(zip(shares, means, strict=True)), _pasts(busy, shares, "mean")
    )
    for name, percent in PERCENTILES.items():
        halves = [half for load in busy if (half := load["rank_half_widths"][name]) is not None]
        if len(halves) == len(busy):
            own = [s * half for s, half in zip(shares, halves, strict=True)]
            half = _added(own, _pasts(busy, shares, name))
            found[name] = _by_rank(counted, percent / 100, half, merged[name])
    return found


def _pasts(
    loads: Sequence[WorkloadResult | Side], shares: Sequence[float], key: str
) -> list[float]:
    """What the past adds to each load's half width of a figure, by its share of the I/Os."""
    each = [load.get("past_half_widths", {}).get(key, 0.0) for load in loads]
    return [s * half for s, half in zip(shares, each, strict=True)]


def _added(halves: Sequence[float], pasts: Sequence[float]) -> float:
    """The half width of a sum: what is independent adds up in squares, what is shared itself."""
    pasts = pasts or [0.0] * len(halves)
    own = (max(0.0, half**2 - past**2) for half, past in zip(halves, pasts, strict=True))
    return math.sqrt(sum(own) + sum(pasts) ** 2)


def _around(
    middle: float,
    each: Sequence[tuple[float, Sequence[float | None]]],
    pasts: Sequence[float] = (),
) -> Interval:
    halves = []
    for share, (low, high) in each:
        if low is None or high is None:
            return [None, None]
        halves.append(share * (high - low) / 2)
    half = _added(halves, pasts)
    return [max(0.0, middle - half), middle + half]


def _by_rank(counted: Sequence[tuple[int, int]], share: float, half: float, own: float) -> Interval:
    """Latencies, in microseconds, at both ends of a percentile's rank."""
    low = min(own, _at_rank(counted, max(0.0, share - half)))
    if share + half >= 1:
        return [low, None]
    return [low, max(own, _at_rank(counted, share + half))]


def _at_rank(counted: Sequence[tuple[int, int]], share: float) -> float:
    rank = math.ceil(share * sum(count for _, count in counted))
    for at, count in counted:
        rank -= count
        if rank <= 0:
            return at / 1e3
    return counted[-1][0] / 1e3
