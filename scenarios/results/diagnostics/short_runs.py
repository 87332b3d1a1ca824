"""Runs that are too short for what they are asked: for phases of arrivals, or for a precision."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from raidlab.devices.plan_types import Plan
from raidlab.devices.units import format_duration
from raidlab.scenarios.planning.scenario import Loaded, Scenario
from raidlab.scenarios.results.diagnostics.observed import Observed
from raidlab.scenarios.results.number_text import figure
from raidlab.scenarios.results.row import Row
from raidlab.scenarios.spec.findings import Code, Coded

_ENOUGH_PERIODS = 10
"""Periods from which on the mean of the arrivals shows: by chance alone it is then a third off."""
_WHOLE_DAY_SHARE = 0.01
"""Part of a day by which a run may miss a whole number of days."""


def too_short(observed: Observed) -> Iterator[str]:
    """A warning for each load with fewer than ten periods, and for each precision not reached."""
    scenario = observed.scenario
    for load in () if scenario is None else scenario.workloads:
        own = [row for row in observed.rows if row["workload"] == load.name and row["ios"]]
        if scenario is None or not own or load.is_fio:
            continue
        for text in _periods(scenario, load, own):
            yield Coded(text, Code.FEW_PERIODS, load.name)
        wanted = scenario.base["precision"]
        if wanted:
            planned_s = scenario.base["duration_ns"] / 1e9
            ended = [row for row in own if row["duration_s"] < planned_s]
            late = [row for row in own if row not in ended]
            for text in (*_precision(wanted, late), *_short_of_the_past(scenario.base, ended)):
                yield Coded(text, Code.PRECISION, load.name)


def _periods(scenario: Scenario, load: Loaded, rows: Sequence[Row]) -> Iterator[str]:
    arrival = scenario.base["workloads"][load.parts[0]]["arrival"]
    if arrival["kind"] != "patterned":
        return
    pattern = arrival["pattern"]
    seconds = min(row["duration_s"] for row in rows)
    if pattern["kind"] == "daily":
        period = pattern["step_ns"] * len(pattern["shares"])
        days = seconds * 1e9 / period
        whole = round(days) >= 1 and abs(days - round(days)) <= _WHOLE_DAY_SHARE
        if days < _ENOUGH_PERIODS and not whole:
            yield (
                f"{load.name}: {days:.2g} of its days of {_length(period)} were recorded:"
                f" rate and latencies are those of a part of a day{_beside_mean(rows)}"
                f' (run.duration = "{_length(period)}", or a shorter arrivals.day)'
            )
    elif pattern["kind"] in ("on_off", "self_similar"):
        period = pattern["on_ns"] + pattern["off_ns"]
        periods = seconds * 1e9 / period
        if periods < _ENOUGH_PERIODS:
            yield (
                f"{load.name}: {periods:.2g} of its periods of {_length(period)} (on and"
                f" off) were recorded: rate and latencies are those of chance{_beside_mean(rows)}"
                f' (run.duration = "{_length(_ENOUGH_PERIODS * period)}" has {_ENOUGH_PERIODS})'
            )


def _length(nanoseconds: int) -> str:
    """In hours where these are whole: `24 h`."""
    hours, rest = divmod(nanoseconds, 3600 * 10**9)
    return f"{hours} h" if hours and not rest else format_duration(nanoseconds)


def _beside_mean(rows: Sequence[Row]) -> str:
    """The rate that was found, and the mean that is asked for."""
    row = rows[0]
    rates = [figure(row[key], "IO/s") for key in ("iops", "offered_iops")]
    return f", {rates[0]} for a mean of {rates[1]}"


def _precision(wanted: float, rows: Sequence[Row]) -> Iterator[str]:
    """What was reached of the precision of rates, and how long a run would reach it.

    An interval is as wide as 1 over the square root of what was recorded.
    """
    missed = [row for row in rows if (half := _half(row)) is None or half > wanted]
    if not missed:
        return
    row = max(missed, key=lambda row: _half(row) or math.inf)
    half, at = _half(row), _at(row)
    target = f"{row['workload']}{at}: run.precision, {100 * wanted:g} %, was not reached"
    after = f"in {figure(row['duration_s'], 's')}"
    if half is None:
        yield f"{target} {after}: the rate has no interval yet (a longer run.duration)"
        return
    seconds = float(f"{row['duration_s'] * (half / wanted) ** 2:.2g}")
    yield (
        f"{target} {after}: the rate is known to {100 * half:.2g} %; about"
        f" {figure(seconds, 's')} would do (run.duration; the interval narrows with its square"
        " root)"
    )


def _short_of_the_past(plan: Plan, rows: Sequence[Row]) -> Iterator[str]:
    """SSDs that collect garbage: what another past would change may be beyond the precision."""
    wanted = plan["precision"]
    single = [row for row in rows if row["replications"] == 1 and row["steady"] is not False]
    missed = [row for row in single if (half := _half(row)) is not None and half > wanted]
    sizes = {
        drive["name"]: plan["devices"][drive["device"]].get("capacity_bytes", 0)
        for drive in plan["drives"]
    }
    written = [
        (each["written"]["host_bytes"] / sizes[each["name"]], row, each["name"])
        for row in missed
        for each in row["components"]
        if each["written"] and each["written"]["moved_units"] and sizes.get(each["name"])
    ]
    if not written:
        return
    share, row, drive = min(written, key=lambda each: each[0])
    half = _half(row) or 0.0
    enough = max(4, math.ceil((half / wanted) ** 2))
    yield (
        f"{row['workload']}{_at(row)}: run.precision, {100 * wanted:g} %, was reached when"
        f" {share:.2g} of {drive} was written, but with another past of the drive the rate may"
        f" differ by {100 * half:.2g} % (run.replications = {enough} narrows that)"
    )


def _half(row: Row) -> float | None:
    """Half of the rate's interval as a share of it."""
    low, high = row["iops_ci95"]
    if low is None or high is None:
        return None
    return float((high - low) / 2 / row["iops"])


def _at(row: Row) -> str:
    return f" at {row['outstanding']} outstanding" if row["outstanding"] else ""
