"""Latencies over time: a coarse histogram for each column of time, as the engine records them.

A map is plain data: `t_s`, the end of each column, and `columns`, lists of `[nanoseconds, count]`:
where a bin begins and how many I/Os it counts. Bins are four of fio's buckets: 16 to a power of 2.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import zip_longest

from raidlab.scenarios.spec.run_result import MapReport

Column = Sequence[Sequence[int]]


def merge_maps(maps: Sequence[MapReport | None]) -> MapReport | None:
    """Maps of loads that ran beside each other as one; None if there are none.

    Their columns have the same length, or one of them columns of twice, four times ... the length.
    """
    known = [each for each in maps if each is not None and each["t_s"]]
    if not known:
        return next((each for each in maps if each is not None), None)
    step = max(_step(each) for each in known)
    widened = [_widened(each, step) for each in known]
    beside = zip_longest(*(each["columns"] for each in widened), fillvalue=())
    return {
        "t_s": max((each["t_s"] for each in widened), key=len),
        "columns": [_added(columns) for columns in beside],
    }


def _step(each: MapReport) -> float:
    ends = each["t_s"]
    return ends[1] - ends[0] if len(ends) > 1 else 0.0


def with_columns(each: MapReport, most: int) -> MapReport:
    """The given map with this many columns at most."""
    factor = math.ceil(len(each["t_s"]) / max(most, 1))
    return _widened(each, factor * _step(each)) if factor > 1 else each


def _widened(each: MapReport, step: float) -> MapReport:
    """The given map in columns that are twice, four times ... as long."""
    factor = round(step / _step(each)) if _step(each) else 1
    if factor < 2:
        return each
    ends, columns = each["t_s"], each["columns"]
    groups = range(0, len(ends), factor)
    first = ends[0] - _step(each)
    return {
        "t_s": [first + step * (at + 1) for at in range(len(groups))],
        "columns": [_added(columns[at : at + factor]) for at in groups],
    }


def _added(columns: Iterable[Column]) -> list[list[int]]:
    total: dict[int, int] = {}
    for column in columns:
        for begin, count in column:
            total[begin] = total.get(begin, 0) + count
    return [list(each) for each in sorted(total.items())]


def bin_end(begin: int) -> int:
    """Where a bin that begins there ends, in nanoseconds."""
    # Below 128 ns a bucket is 1 ns wide, and a bin 4; above, 1/64 and 1/16 of a power of two.
    return begin + 4 if begin < 128 else begin + (1 << (begin.bit_length() - 5))


def percentile_us(column: Column, share: float) -> float | None:
    """Microseconds below which this share of a column's I/Os lie, evenly spread within a bin."""
    count = sum(each for _, each in column)
    wanted, seen = share * count, 0
    for begin, each in column:
        if seen + each >= wanted:
            inside = (wanted - seen) / each
            return (begin + inside * (bin_end(begin) - begin)) / 1e3
        seen += each
    return None


def mean_us(column: Column) -> float | None:
    """The mean of a column's I/Os, each in the middle of its bin, in microseconds."""
    count = sum(each for _, each in column)
    total = sum(each * (begin + bin_end(begin)) / 2 for begin, each in column)
    return total / count / 1e3 if count else None


def share_below(bins: Iterable[Sequence[int]], bound_ns: float) -> float | None:
    """The share of I/Os that took less than a time, of `bins` of a row; None without any.

    Args:
        bins: Nanoseconds that stand for a bucket of fio's, count.
        bound_ns: In nanoseconds. The I/Os of the bucket that it lies in are spread evenly over it.
    """
    within, total = 0.0, 0
    for middle, count in bins:
        total += count
        width = 1 << max(0, int(middle).bit_length() - 7)
        begin = middle - width // 2 if width > 1 else middle
        within += count * min(1.0, max(0.0, (bound_ns - begin) / width))
    return within / total if total else None


def edges(low_us: float, high_us: float) -> list[float]:
    """Bounds of the rows of a picture, four to a power of two, around two latencies."""
    first, last = math.floor(4 * math.log2(low_us)), math.ceil(4 * math.log2(high_us))
    return [2 ** (at / 4) for at in range(first, max(last, first + 1) + 1)]
