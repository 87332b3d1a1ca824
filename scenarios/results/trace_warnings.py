"""What a user should know of a trace's load: whether it arrives faster than it is served."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from raidlab.scenarios.planning.scenario import Scenario
from raidlab.scenarios.results.overload import of_trace


def trace_doubts(scenario: Scenario, traces: Sequence[Mapping[str, Any]]) -> list[str]:
    """Warnings of what leaves response times of traces without meaning.

    Args:
        scenario: Of which the runs are.
        traces: What the engine gave of each trace, as `Result.traces` has it.
    """
    found: list[str] = []
    for trace in traces:
        load = scenario.base["workloads"][trace["part"]]
        if of_trace(scenario, trace):
            found += _overload(trace, load["arrival"]["trace"]["slower"])
    return list(dict.fromkeys(found))


def _overload(trace: Mapping[str, Any], slower: float) -> Iterator[str]:
    """The warning of a trace that arrives faster than it is served."""
    seconds = trace["scan"]["length_ns"] * slower / 1e9
    requests, served = trace["requests"], trace["served_in_time"]
    yield (
        f"{trace['workload']}: arrives at {requests / seconds:,.4g} IO/s, more than is served:"
        f" {requests - served:,} of {requests:,} requests are under way when the last one"
        " arrives, so latencies grow with the length of the trace (--slower, trace_slower)"
    )
