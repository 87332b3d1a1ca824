"""What a run says little of: nothing recorded, no steady state, limits that are never reached."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence

from raidlab.devices.plan_types import WorkloadPlan
from raidlab.scenarios.planning.scenario import Scenario
from raidlab.scenarios.results.asked import has_rates, is_served
from raidlab.scenarios.results.diagnostics.observed import Observed
from raidlab.scenarios.results.diagnostics.overload import is_uneven
from raidlab.scenarios.results.number_text import figure
from raidlab.scenarios.results.row import Row
from raidlab.scenarios.spec.findings import TIMED, Code, Coded

_CHANGE = 0.1
"""Share of the rate by which thirds of a recording differ if it matters to everybody."""
_INDEPENDENT = 6.0
"""Independent batches from which on an interval is no guess."""


def of_loads(observed: Observed) -> Iterator[str]:
    """A warning for each respect in which a workload falls short, for all points together."""
    scenario = observed.scenario
    if scenario is None:
        return
    lowest = _let_through_of(scenario)
    lists = {name for name, rows in observed.loads() if has_rates(rows)}
    for row in observed.rows:
        yield from _nothing(row)
        if row["workload"] not in lists:
            yield from _overload(row, lowest[row["workload"]])
        yield from _of_statistics(row, scenario)


def overloads(observed: Observed) -> Iterator[str]:
    """Of each load with a list of rates: those that are more than is served."""
    for name, rows in observed.loads():
        own = [row for row in rows if row["duration_s"]]
        beyond = sorted(
            {row["offered_iops"] for row in own if has_rates(own) and not is_served(row)}
        )
        if beyond:
            rates = ", ".join(figure(rate, "IO/s") for rate in beyond)
            text = (
                f"{name}: more arrives than is served at {rates}: the queue grows there,"
                " and the latencies grow with run.duration"
            )
            yield Coded(text, Code.OVERLOAD, name)


def unused_limits(observed: Observed) -> Iterator[str]:
    """Limits for which no I/O ever waited."""
    scenario, rows = observed.scenario, observed.rows
    if scenario is None:
        return
    for workload in scenario.workloads:
        if workload.is_fio:
            continue
        own = [row for row in rows if row["workload"] == workload.name and row["ios"]]
        limited = any(scenario.base["workloads"][part].get("limits") for part in workload.parts)
        if limited and own and not _has_waited(own):
            yield _unused(workload.name)
    for tenant in scenario.base.get("tenants", ()):
        own = [row for row in rows if f"{row['workload']}.".startswith(f"{tenant['name']}.")]
        if tenant.get("limits") and any(row["ios"] for row in own) and not _has_waited(own):
            yield _unused(tenant["name"])


def _unused(name: str) -> str:
    text = f"{name}: its limit is never reached, no I/O waited for it"
    return Coded(text, Code.LIMIT_UNUSED, name)


def is_unsteady(row: Row, scenario: Scenario | None) -> bool:
    """Whether what was recorded of a load is a change rather than a state.

    Where the scenario says how long the warm-up is, the rate must change much: of noisy figures
    the method finds every tenth unsteady. Of bursts, and around events, nothing is said.
    """
    if row["steady"] is not False or "around_events" in row:
        return False
    if scenario is None:
        return _rate_changes(row)
    if row["workload"] in _uneven(scenario):
        return False
    return bool(scenario.base["warm_up_most_ns"] > 0 or _rate_changes(row))


def _let_through_of(scenario: Scenario) -> dict[str, float]:
    """I/Os a second that the limits of each load let through."""
    plans = scenario.base["workloads"]
    return {
        workload.name: math.inf
        if workload.is_fio
        else len(workload.parts) * min(_let_through(plans[part]) for part in workload.parts)
        for workload in scenario.workloads
    }


def _let_through(load: WorkloadPlan) -> float:
    """I/Os a second that the limits of a load of the plan let through."""
    sizes = {"ios": 1, "bytes": load["block_bytes"]}
    rates = (each["milli_per_s"] / 1e3 / sizes[each["counts"]] for each in load.get("limits", ()))
    return min(rates, default=math.inf)


def _uneven(scenario: Scenario) -> Collection[str]:
    """Loads that come in bursts."""
    plans = scenario.base["workloads"]
    return {
        workload.name
        for workload in scenario.workloads
        if any(is_uneven(plans[part]) for part in workload.parts if not workload.is_fio)
    }


def _has_waited(rows: Sequence[Row]) -> bool:
    return any(row["breakdown_us"].get("limit_wait") for row in rows)


def _nothing(row: Row) -> Iterator[str]:
    name, seconds = row["workload"], row["duration_s"]
    text = ""
    if seconds == 0:
        text = f"{name}: nothing was recorded, the run ended within its warm-up (run.warm_up)"
    elif row["ios"] + row["errors"] == 0:
        text = f"{name}: nothing was recorded, no I/O ended within {seconds:g} s (run.duration)"
    if text:
        yield Coded(text, Code.NOTHING_RECORDED, name)


def _overload(row: Row, limit: float) -> Iterator[str]:
    if not row["duration_s"] or not row["ios"] + row["errors"]:
        return
    if "offered_iops" in row and row["overloaded"]:
        name, rate = row["workload"], row["offered_iops"]
        least = f"its limit lets through, {limit:g} IO/s" if limit < rate else "is served"
        text = (
            f"{name}: arrives at {rate:g} IO/s, more than {least}: the queue grows, and the"
            " latencies grow with run.duration"
        )
        yield Coded(text, Code.OVERLOAD, name)


def _of_statistics(row: Row, scenario: Scenario) -> Iterator[str]:
    """Where figures are those of a change, or their intervals a guess."""
    name = row["workload"]
    if name in _uneven(scenario) or "around_events" in row:
        return
    if is_unsteady(row, scenario):
        text = (
            f"{name}: no steady state, rate or latency still change within the recorded"
            f" time {_advice(row)}"
        )
        yield Coded(text, Code.UNSTEADY, name)
    elif row["replications"] == 1 and (row["independent_batches"] or 99.0) < _INDEPENDENT:
        text = (
            f"{name}: the rate changes so slowly that its interval is a guess (a longer"
            " run.duration, or run.replications)"
        )
        yield Coded(text, Code.SLOW_CHANGES, name)
    elif row["replications"] == 1 and (lowest := _without_upper_end(row)):
        text = (
            f"{name}: no upper bound of {lowest} follows from one run, whose tail comes"
            " in too few bursts (run.replications = 4)"
        )
        yield Coded(text, Code.BURSTY_TAIL, name)


def _advice(row: Row) -> str:
    """What to do about a change; where a limit changes in time, the change is what was asked."""
    begin, end = row["warm_up_s"], row["warm_up_s"] + row["duration_s"]
    kinds = {
        each["kind"]: each
        for each in row.get("limits", ())
        if each["kind"] in TIMED and (each["from_s"] > begin or each["to_s"] < end)
    }
    if not kinds:
        return "(a longer run.warm_up or run.duration)"
    words = ", ".join(
        f"{TIMED[kind]} from {figure(each['from_s'], 's')} to {figure(each['to_s'], 's')}"
        for kind, each in kinds.items()
    )
    return f"as {words}: see the rate over time"


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
