"""Single I/Os laid out in lanes, in each of which nothing overlaps."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

WAITS = frozenset(
    (
        "limit_wait",
        "share_wait",
        "host_wait",
        "controller_wait",
        "cache_wait",
        "link_wait",
        "queue",
        "garbage_collection",
    )
)
"""Parts of the time in which nothing works for the I/O."""

Each = TypeVar("Each")


def lanes(each: Iterable[Each], span: Callable[[Each], tuple[int, int]]) -> list[tuple[int, Each]]:
    """Everything in the order of its begin, with the first lane that is free then.

    Args:
        each: What is laid out.
        span: Begin and end of one of them.
    """
    found = []
    free: list[int] = []
    busy: list[tuple[int, int]] = []
    count = 0
    for one in sorted(each, key=span):
        begin, end = span(one)
        while busy and busy[0][0] <= begin:
            heapq.heappush(free, heapq.heappop(busy)[1])
        if free:
            lane = heapq.heappop(free)
        else:
            lane, count = count, count + 1
        heapq.heappush(busy, (end, lane))
        found.append((lane, one))
    return found


def in_path_order(names: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Components as (kind, name): host first, drives last, each kind by name."""
    order: Sequence[str] = ("host", "controller", "memory", "link", "drive")
    natural = sorted(set(names), key=lambda each: (len(each[1]), each[1]))
    return sorted(natural, key=lambda each: order.index(each[0]))
