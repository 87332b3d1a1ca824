"""What a run records when it is asked for: the stages of single I/Os."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, TypedDict

from raidlab.devices.faults import Faults
from raidlab.scenarios.planning.scenario import Scenario

TRACED_IOS = 10_000
"""I/Os whose stages a run records at most."""
_LONGEST_S = 1e8
"""Three years: longer than any run."""


class Details(TypedDict, total=False):
    """What a run records when it is asked for; nothing of it changes a figure."""

    trace_ios: int
    """The stages of the first so many I/Os after the warm-up of every run, up to 10,000."""
    trace_from_s: float
    """The first ones that are issued at this time of the run or later, in seconds."""


def plan_of(*, trace_ios: int = 0, trace_from_s: float = 0.0) -> dict[str, Any]:
    """What is asked for as a part of a plan; empty if nothing is.

    Raises:
        SpecError: A number is not what it can be.
    """
    faults = Faults("")
    whole = isinstance(trace_ios, int) and not isinstance(trace_ios, bool)
    if not (whole and 0 <= trace_ios <= TRACED_IOS):
        allowed = f"a whole number of I/Os from 0 to {TRACED_IOS:,}"
        faults.add("trace_ios", trace_ios, allowed)
    if not (math.isfinite(trace_from_s) and 0 <= trace_from_s <= _LONGEST_S):
        faults.add("trace_from_s", trace_from_s, "seconds of the run from 0 on")
    faults.raise_if_any()
    if not trace_ios:
        return {}
    asked = {"trace_ios": trace_ios, "trace_from_ns": round(trace_from_s * 1e9)}
    return {"details": asked}


def traced_of(
    scenario: Scenario, point: int, replication: int, outcome: Mapping[str, Any]
) -> list[dict[str, Any]] | None:
    """The I/Os that a run has traced, by the time at which they were issued; None if not asked."""
    found = [
        {
            "workload": workload.name,
            "point": point,
            "outstanding": workload.outstanding[point],
            "replication": replication,
        }
        | io
        for workload in scenario.workloads
        for part in workload.parts
        for io in outcome["workloads"][part].get("traced_ios", ())
    ]
    asked = any("traced_ios" in load for load in outcome["workloads"])
    return sorted(found, key=lambda io: io["issued_ns"]) if asked else None
