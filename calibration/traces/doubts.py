"""What a user should know of a replay: reads of what was never written, a queue that grows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from raidlab.scenarios.results.asked import queue_grows
from raidlab.scenarios.results.warnings import has_fresh_ssds

_SEEN = 20_000
"""Requests in which the engine looks for reads of what was never written."""


def doubts(
    found: Mapping[str, Any],
    held: Mapping[str, Any],
    plan: Mapping[str, Any],
    array: int,
    remedy: str,
) -> Iterator[str]:
    """Warnings of what makes the response times too short or without meaning.

    Args:
        found: What the engine gives of the replay.
        held: What the trace holds.
        plan: Of the target.
        array: The array in it.
        remedy: What writes the drives first.
    """
    if has_fresh_ssds(plan, array):
        yield from _unwritten(found["unwritten"], held["requests"], remedy)


def _unwritten(seen: Mapping[str, int], requests: int, remedy: str) -> Iterator[str]:
    if seen["unwritten"]:
        of = f"{seen['reads']:,} reads" + (
            f" among the first {seen['seen']:,} requests" if requests > _SEEN else ""
        )
        yield (
            f"{seen['unwritten']:,} of {of} are of what was never written, and SSDs answer that"
            f" without NAND: {remedy} writes it first"
        )


def overload(found: Mapping[str, Any], seconds: float) -> Iterator[str]:
    """The warning of a trace that arrives faster than it is served.

    Args:
        found: What the engine gives of the replay.
        seconds: From the first arrival to the last.
    """
    requests, served = found["requests"], found["served_in_time"]
    if seconds > 0 and queue_grows(requests, served):
        yield (
            f"arrives at {requests / seconds:,.4g} IO/s, more than is served:"
            f" {requests - served:,} of {requests:,} requests are under way when the last one"
            " arrives, so latencies grow with the length of the trace (--slower)"
        )
