"""Loads of which a run says little: nothing was recorded, or more arrives than is served."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from raidlab.scenarios.result import Row
from raidlab.scenarios.system import Scenario

__all__ = ["shortfalls"]

_DEVIATIONS = 5
"""Standard deviations of Poisson arrivals that are no sign of anything."""
_LEFT = 0.01
"""Share of the arrivals that may be under way at the end."""


def shortfalls(scenario: Scenario, rows: Sequence[Row]) -> list[str]:
    """A warning for each way in which a workload falls short, for all points together."""
    plans = scenario.base["workloads"]
    rates = {
        workload.name: sum(plans[part]["arrival"].get("per_s", 0.0) for part in workload.parts)
        for workload in scenario.workloads
    }
    told = (warning for row in rows for warning in _of(row, rates[row["workload"]]))
    return list(dict.fromkeys(told))


def _of(row: Row, rate: float) -> Iterator[str]:
    name, seconds = row["workload"], row["duration_s"]
    served = row["ios"] + row["errors"]
    if seconds == 0:
        yield f"{name}: nothing was recorded, the run ended within its warm-up (run.warm_up)"
    elif served == 0:
        yield f"{name}: nothing was recorded, no I/O ended within {seconds:g} s (run.duration)"
    elif _queue_grows(rate * seconds, served):
        yield (
            f"{name}: arrives at {rate:g} IO/s, more than is served: the queue grows, and the"
            " latencies grow with run.duration"
        )


def _queue_grows(arrived: float, served: int) -> bool:
    return arrived - served > max(_LEFT * arrived, _DEVIATIONS * math.sqrt(arrived))
