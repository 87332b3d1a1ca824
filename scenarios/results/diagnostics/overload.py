"""Open loads of which more arrives than is served: their latencies have no steady state."""

from __future__ import annotations

from collections.abc import Sequence

from raidlab.devices.plan_types import WorkloadPlan
from raidlab.scenarios.planning.scenario import Loaded, Scenario
from raidlab.scenarios.results.asked import LEFT, queue_grows
from raidlab.scenarios.results.row import Row, TraceFound


def is_uneven(load: WorkloadPlan) -> bool:
    """True if a load of the plan comes in bursts: its rate in a short time is not its mean."""
    arrival = load["arrival"]
    if arrival["kind"] == "patterned":
        return arrival["pattern"]["kind"] != "even"
    return arrival["kind"] == "traced"


def of_rate(scenario: Scenario, load: Loaded, row: Row) -> bool:
    """Whether more of an open load arrived than was served.

    Args:
        scenario: Of which the row is.
        load: Its load, which has rates.
        row: Of one run.
    """
    parts = (scenario.base["workloads"][part] for part in load.parts)
    return of_arrivals(row, bursty=any(map(is_uneven, parts)))


def of_arrivals(row: Row, *, bursty: bool) -> bool:
    """Whether more of an open load arrived in a run than was served.

    What counts is what arrived in this run, not the mean of the arrivals. Of bursts, a queue at the
    end is no sign by itself: even the fewest requests in flight have to grow from the first half of
    the recording to the second.

    Args:
        row: With `arrived`, of one run.
        bursty: Whether the rate in a short time is not the mean.
    """
    arrived, served = row["arrived"]["requests"], row["ios"] + row["errors"]
    if not queue_grows(arrived, served):
        return False
    early, late = row["arrived"]["fewest_in_flight"]
    if not bursty or early is None or late is None:
        return True
    return bool(2 * (late - early) > LEFT * arrived)


def of_trace(scenario: Scenario, trace: TraceFound) -> bool | None:
    """Whether a trace arrives faster than it is served; None of a closed loop.

    Args:
        scenario: Of which the trace is.
        trace: What the engine gave of it, as `Result.traces` has it.
    """
    arrival = scenario.base["workloads"][trace["part"]]["arrival"]
    if arrival["kind"] != "traced" or arrival.get("outstanding"):
        return None
    if not trace["scan"]["length_ns"] * arrival["trace"].get("slower", 1.0):
        return None
    return queue_grows(trace["requests"], trace["served_in_time"])


def with_traces(scenario: Scenario, rows: Sequence[Row], traces: Sequence[TraceFound]) -> None:
    """Says of rows of traces whether they are overloaded."""
    found = {
        (trace["workload"], trace["point"], trace["replication"]): of_trace(scenario, trace)
        for trace in traces
    }
    for row in rows:
        grows = found.get((row["workload"], row["point"], row["replication"]))
        if grows is not None:
            row["overloaded"] = grows
