"""What a run records when it is asked for: single I/Os, the slowest ones, latencies over time."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TypedDict, cast

from raidlab.devices.faults import Faults
from raidlab.devices.plan_types import Details as DetailsPlan
from raidlab.scenarios.planning.scenario import Scenario
from raidlab.scenarios.results.row import IoRow, TraceFound
from raidlab.scenarios.spec.run_result import RunResult

MOST_IOS = 10_000
"""I/Os whose stages a run records at most; slow ones of a workload that it lists."""
_LONGEST_S = 1e8
"""Three years: longer than any run."""


class Details(TypedDict, total=False):
    """What a run records when it is asked for; nothing of it changes a figure."""

    trace_ios: int
    """The stages of the first this many I/Os after the warm-up of every run, up to 10,000."""
    trace_from_s: float
    """The first ones that are issued at this time of the run or later, in seconds."""
    slowest: int
    """How many of the slowest I/Os of each workload, up to 10,000: `slowest` of its rows."""
    latency_map: bool
    """Latencies over time: `latency_map` of `read` and `write`."""


def plan_of(
    *,
    trace_ios: int = 0,
    trace_from_s: float = 0.0,
    slowest: int = 0,
    latency_map: bool = False,
) -> DetailsPlan:
    """What is asked for, as the plan's `details`; empty if nothing is.

    Raises:
        SpecError: A number is not what it can be.
    """
    faults = Faults("")
    for name, asked in (("trace_ios", trace_ios), ("slowest", slowest)):
        whole = isinstance(asked, int) and not isinstance(asked, bool)
        if not (whole and 0 <= asked <= MOST_IOS):
            faults.add(name, asked, f"a whole number of I/Os from 0 to {MOST_IOS:,}")
    if not (math.isfinite(trace_from_s) and 0 <= trace_from_s <= _LONGEST_S):
        faults.add("trace_from_s", trace_from_s, "seconds of the run from 0 on")
    faults.raise_if_any()
    details: DetailsPlan = {}
    if trace_ios:
        details["trace_ios"] = trace_ios
        details["trace_from_ns"] = round(trace_from_s * 1e9)
    if slowest:
        details["slowest"] = slowest
    if latency_map:
        details["latency_map"] = True
    return details


def counts_of(outcome: RunResult) -> Mapping[str, int]:
    """What became of the data, by name; nothing where the run did not follow them."""
    return cast("Mapping[str, int]", outcome["data"] or {})


def traced_of(
    scenario: Scenario, point: int, replication: int, outcome: RunResult
) -> list[IoRow] | None:
    """The I/Os that a run has traced, by the time at which they were issued; None if not asked."""
    found: list[IoRow] = [
        {
            "workload": workload.name,
            "point": point,
            "outstanding": workload.outstanding[point],
            "replication": replication,
            **io,
        }
        for workload in scenario.workloads
        for part in workload.parts
        for io in outcome["workloads"][part].get("traced_ios") or ()
    ]
    asked = any("traced_ios" in load for load in outcome["workloads"])
    return sorted(found, key=lambda io: io["issued_ns"]) if asked else None


def traced_parts(scenario: Scenario) -> Iterator[tuple[str, int]]:
    """Loads of the plan that are recorded traces: the workload's name, and their index."""
    for workload in scenario.workloads:
        for part in () if workload.is_fio else workload.parts:
            if scenario.base["workloads"][part]["arrival"]["kind"] == "traced":
                yield workload.name, part


def traces_of(
    scenario: Scenario, point: int, replication: int, outcome: RunResult
) -> list[TraceFound]:
    """What a run gave of its traces besides: `part` of the plan, and what the engine says."""
    return [
        {"workload": name, "part": part, "point": point, "replication": replication, **trace}
        for name, part in traced_parts(scenario)
        if (trace := outcome["workloads"][part].get("trace")) is not None
    ]
