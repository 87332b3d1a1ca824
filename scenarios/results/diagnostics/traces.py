"""What a user should know of a trace's load: whether it arrives faster than it is served."""

from __future__ import annotations

from collections.abc import Iterator

from raidlab.scenarios.results.diagnostics.observed import Observed
from raidlab.scenarios.results.diagnostics.overload import of_trace
from raidlab.scenarios.results.row import TraceFound
from raidlab.scenarios.spec.findings import Code, Coded


def trace_doubts(observed: Observed) -> Iterator[str]:
    """Warnings of what leaves response times of traces without meaning."""
    scenario = observed.scenario
    for trace in observed.traces:
        if scenario is not None and of_trace(scenario, trace):
            arrival = scenario.base["workloads"][trace["part"]]["arrival"]
            slower = arrival["trace"].get("slower", 1.0) if arrival["kind"] == "traced" else 1.0
            for text in _overload(trace, slower):
                yield Coded(text, Code.OVERLOAD, trace["workload"])


def _overload(trace: TraceFound, slower: float) -> Iterator[str]:
    """The warning of a trace that arrives faster than it is served."""
    seconds = trace["scan"]["length_ns"] * slower / 1e9
    requests, served = trace["requests"], trace["served_in_time"]
    yield (
        f"{trace['workload']}: arrives at {requests / seconds:,.4g} IO/s, more than is served:"
        f" {requests - served:,} of {requests:,} requests are under way when the last one"
        " arrives, so latencies grow with the length of the trace (--slower, trace_slower)"
    )
