"""What a run says little of: nothing recorded or ever written, no steady state, drives gone."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from raidlab.scenarios.planning.scenario import Scenario
from raidlab.scenarios.results.asked import has_rates, is_served
from raidlab.scenarios.results.drive_warnings import drive_warnings
from raidlab.scenarios.results.look import figure
from raidlab.scenarios.results.overload import is_uneven
from raidlab.scenarios.results.result import Row
from raidlab.scenarios.results.short_runs import too_short

__all__ = ["shortfalls", "unrebuilt"]

_CHANGE = 0.1
"""Share of the rate by which thirds of a recording differ if it matters to everybody."""
_INDEPENDENT = 6.0
"""Independent batches from which on an interval is no guess."""


def shortfalls(scenario: Scenario, rows: Sequence[Row]) -> list[str]:
    """A warning for each respect in which a workload falls short, for all points together."""
    plans = scenario.base["workloads"]
    lowest = {
        workload.name: math.inf
        if workload.is_fio
        else len(workload.parts) * min(_let_through(plans[part]) for part in workload.parts)
        for workload in scenario.workloads
    }
    lists = {
        workload.name
        for workload in scenario.workloads
        if has_rates([row for row in rows if row["workload"] == workload.name])
    }
    uneven = {
        workload.name
        for workload in scenario.workloads
        if any(is_uneven(plans[part]) for part in workload.parts if not workload.is_fio)
    }
    found_by_method = scenario.base["warm_up_most_ns"] > 0
    found = (
        warning
        for row in rows
        for warning in (
            *_of(row, lowest[row["workload"]], judged=row["workload"] not in lists),
            *(
                _of_statistics(row, found_by_method=found_by_method)
                if row["workload"] not in uneven and "around_events" not in row
                else ()
            ),
        )
    )
    others = (
        *_overloads(scenario, rows),
        *_unused_limits(scenario, rows),
        *too_short(scenario, rows),
    )
    return list(dict.fromkeys([*drive_warnings(scenario, rows), *found, *others]))


def _overloads(scenario: Scenario, rows: Sequence[Row]) -> Iterator[str]:
    """Of each load with a list of rates: those that are more than is served."""
    for workload in scenario.workloads:
        own = [row for row in rows if row["workload"] == workload.name and row["duration_s"]]
        beyond = sorted(
            {row["offered_iops"] for row in own if has_rates(own) and not is_served(row)}
        )
        if beyond:
            rates = ", ".join(figure(rate, "IO/s") for rate in beyond)
            yield (
                f"{workload.name}: more arrives than is served at {rates}: the queue grows there,"
                " and the latencies grow with run.duration"
            )


def _let_through(load: Mapping[str, Any]) -> float:
    """I/Os a second that the limits of a load of the plan let through."""
    sizes = {"ios": 1, "bytes": load["block_bytes"]}
    rates = (each["milli_per_s"] / 1e3 / sizes[each["counts"]] for each in load.get("limits", ()))
    return min(rates, default=math.inf)


def _unused_limits(scenario: Scenario, rows: Sequence[Row]) -> Iterator[str]:
    """Limits for which no I/O ever waited."""
    for workload in scenario.workloads:
        if workload.is_fio:
            continue
        own = [row for row in rows if row["workload"] == workload.name and row["ios"]]
        limited = any(scenario.base["workloads"][part].get("limits") for part in workload.parts)
        if limited and own and not _has_waited(own):
            yield f"{workload.name}: its limit is never reached, no I/O waited for it"
    for tenant in scenario.base.get("tenants", ()):
        own = [row for row in rows if f"{row['workload']}.".startswith(f"{tenant['name']}.")]
        if tenant.get("limits") and any(row["ios"] for row in own) and not _has_waited(own):
            yield f"{tenant['name']}: its limit is never reached, no I/O waited for it"


def _has_waited(rows: Sequence[Row]) -> bool:
    return any(row["breakdown_us"].get("limit_wait") for row in rows)


def unrebuilt(scenario: Scenario, events: Sequence[Mapping[str, Any]]) -> list[str]:
    """A warning for each drive that nobody replaces, and each array for which it is too late."""
    found: list[str] = []
    for name, warnings in scenario.unrebuilt.items():
        if any(event["what"].startswith(f"array {name} offline:") for event in events):
            found.append(
                f"array {name}: its data are lost, more drives failed at a time than it bears; a"
                " spare that is not rebuilt by then, or a new drive, does not bring them back"
            )
        else:
            found += warnings
    return found


def _of(row: Row, limit: float, *, judged: bool) -> Iterator[str]:
    name, seconds = row["workload"], row["duration_s"]
    served = row["ios"] + row["errors"]
    if seconds == 0:
        yield f"{name}: nothing was recorded, the run ended within its warm-up (run.warm_up)"
    elif served == 0:
        yield f"{name}: nothing was recorded, no I/O ended within {seconds:g} s (run.duration)"
    elif judged and "offered_iops" in row and row["overloaded"]:
        rate = row["offered_iops"]
        least = f"its limit lets through, {limit:g} IO/s" if limit < rate else "is served"
        yield (
            f"{name}: arrives at {rate:g} IO/s, more than {least}: the queue grows, and the"
            " latencies grow with run.duration"
        )


def _of_statistics(row: Row, *, found_by_method: bool) -> Iterator[str]:
    """Where figures are those of a change, or their intervals a guess.

    Where the scenario says how long the warm-up is, the rate must change much: of noisy figures
    the method finds every tenth unsteady.
    """
    if row["steady"] is False and (found_by_method or _rate_changes(row)):
        yield (
            f"{row['workload']}: no steady state, rate or latency still change within the recorded"
            " time (a longer run.warm_up or run.duration)"
        )
    elif row["replications"] == 1 and (row["independent_batches"] or 99.0) < _INDEPENDENT:
        yield (
            f"{row['workload']}: the rate changes so slowly that its interval is a guess (a longer"
            " run.duration, or run.replications)"
        )
    elif row["replications"] == 1 and (lowest := _without_upper_end(row)):
        yield (
            f"{row['workload']}: no upper bound of {lowest} follows from one run, whose tail comes"
            " in too few bursts (run.replications = 4)"
        )


def _without_upper_end(row: Row) -> str | None:
    """The lowest percentile with enough I/Os whose interval has no upper end."""
    ends = row["latency_ci95_us"]
    return next(
        (
            key
            for key in ("p50", "p90", "p95", "p99")
            if key not in row["uncertain"]
            and ends.get(key, (None, None))[0] is not None
            and ends[key][1] is None
        ),
        None,
    )


def _rate_changes(row: Row) -> bool:
    """True if the rates of the first and of the last third of what was recorded differ."""
    line = row["timeline"]
    times = zip(line["t_s"], line["iops"], strict=True)
    rates: list[float] = [rate for t, rate in times if t > row["warm_up_s"]]
    third = len(rates) // 3
    early, late = sum(rates[:third]), sum(rates[-third:])
    return bool(abs(late - early) > _CHANGE * max(early, late))
