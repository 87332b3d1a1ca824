"""Open loads of which more arrives than is served: their latencies have no steady state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from raidlab.scenarios.planning.scenario import Loaded, Scenario
from raidlab.scenarios.results.asked import queue_grows


def is_uneven(load: Mapping[str, Any]) -> bool:
    """True if a load of the plan comes in bursts: its rate in a short time is not its mean."""
    pattern: Mapping[str, str] = load["arrival"].get("pattern", {"kind": "even"})
    return pattern["kind"] != "even" or load["arrival"]["kind"] == "traced"


def seconds_without_power(plan: Mapping[str, Any]) -> float:
    """Recorded seconds in which nothing arrives, as the power is off."""
    begin, end = plan["warm_up_ns"], plan["warm_up_ns"] + plan["duration_ns"]
    outages = [event for event in plan["events"] if event["action"] == "power_fail"]
    times = ((max(e["at_ns"], begin), min(e["at_ns"] + e["off_ns"], end)) for e in outages)
    return float(sum(max(0, to - since) for since, to in times)) / 1e9


def of_rate(scenario: Scenario, load: Loaded, row: Mapping[str, Any]) -> bool | None:
    """Whether more of an open load arrives than is served; None where chance decides: in bursts.

    Args:
        scenario: Of which the row is.
        load: Its load, which has rates.
        row: With `offered_iops`.
    """
    if any(is_uneven(scenario.base["workloads"][part]) for part in load.parts):
        return None
    # Power may be off for longer than was recorded.
    seconds = max(0.0, row["duration_s"] - seconds_without_power(scenario.base))
    return queue_grows(row["offered_iops"] * seconds, row["ios"] + row["errors"])


def of_trace(scenario: Scenario, trace: Mapping[str, Any]) -> bool | None:
    """Whether a trace arrives faster than it is served; None of a closed loop.

    Args:
        scenario: Of which the trace is.
        trace: What the engine gave of it, as `Result.traces` has it.
    """
    arrival = scenario.base["workloads"][trace["part"]]["arrival"]
    if arrival["outstanding"] or not trace["scan"]["length_ns"] * arrival["trace"]["slower"]:
        return None
    return queue_grows(trace["requests"], trace["served_in_time"])


def with_traces(
    scenario: Scenario, rows: Sequence[dict[str, Any]], traces: Sequence[Mapping[str, Any]]
) -> None:
    """Says of rows of traces whether they are overloaded."""
    keys = ("workload", "point", "replication")
    found = {tuple(trace[key] for key in keys): of_trace(scenario, trace) for trace in traces}
    for row in rows:
        grows = found.get(tuple(row[key] for key in keys))
        if grows is not None:
            row["overloaded"] = grows
