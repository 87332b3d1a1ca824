"""What a user should know of a trace's load: reads of what was never written, a growing queue."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from raidlab.scenarios.planning.scenario import Scenario
from raidlab.scenarios.results.asked import queue_grows
from raidlab.scenarios.results.fresh import has_fresh_ssds

_SEEN = 20_000
"""Requests in which the engine looks for reads of what was never written."""


def trace_doubts(scenario: Scenario, traces: Sequence[Mapping[str, Any]]) -> list[str]:
    """Warnings of what makes response times of traces too short, or without meaning.

    Args:
        scenario: Of which the runs are.
        traces: What the engine gave of each trace, as `Result.traces` has it.
    """
    found: list[str] = []
    for trace in traces:
        load = scenario.base["workloads"][trace["part"]]
        if has_fresh_ssds(scenario.base, load["array"]):
            found += _unwritten(trace, scenario.written_by)
        if not load["arrival"]["outstanding"]:
            found += _overload(trace, load["arrival"]["trace"]["slower"])
    return list(dict.fromkeys(found))


def _unwritten(trace: Mapping[str, Any], remedy: str) -> Iterator[str]:
    seen, requests = trace["unwritten"], trace["scan"]["requests"]
    if seen["unwritten"]:
        of = f"{seen['reads']:,} reads" + (
            f" among the first {seen['seen']:,} requests" if requests > _SEEN else ""
        )
        yield (
            f"{trace['workload']}: {seen['unwritten']:,} of {of} are of what was never written,"
            f" and SSDs answer that without NAND: {remedy} writes it first"
        )


def _overload(trace: Mapping[str, Any], slower: float) -> Iterator[str]:
    """The warning of a trace that arrives faster than it is served."""
    seconds = trace["scan"]["length_ns"] * slower / 1e9
    requests, served = trace["requests"], trace["served_in_time"]
    if seconds > 0 and queue_grows(requests, served):
        yield (
            f"{trace['workload']}: arrives at {requests / seconds:,.4g} IO/s, more than is served:"
            f" {requests - served:,} of {requests:,} requests are under way when the last one"
            " arrives, so latencies grow with the length of the trace (--slower, trace_slower)"
        )
