"""Every published figure beside its simulated value.

All rows are gathered first: many share a configuration, and each distinct run of the engine is
made once. The shapes are those of `raidlab validate --json` (docs/reference/formats/published.md).
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from raidlab.calibration.published.figures import Configuration, Figure
from raidlab.calibration.published.rules import scenario_tree
from raidlab.calibration.published.usage import USES, use_of
from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.trees import Document
from raidlab.scenarios import _engine
from raidlab.scenarios.planning.scenario import Scenario, build_scenario
from raidlab.scenarios.results.row import Row
from raidlab.scenarios.running.engine_faults import plan_faults
from raidlab.scenarios.running.simulate import Progress, rows_of, run_plans
from raidlab.scenarios.running.store import Store

TOLERANCE_PCT = {"=": 10.0, "~": 15.0}
"""Largest error at which a figure counts as within tolerance."""


class FigureRow(TypedDict):
    """A published figure beside its simulated value."""

    id: str
    published: float
    high: float | None
    relation: str
    simulated: float | None
    unit: str
    error_pct: float | None
    held: bool
    why_not: str | None
    sides_iops: list[float] | None
    source: str
    controller: str
    drive: str
    format: str
    count: int
    level: str
    load: str
    outstanding: str
    quantity: str
    used: str


class _Counted(TypedDict):
    """How many figures ran, held and kept their relations; errors of numbers alone, in percent."""

    rows: int
    ran: int
    held: int
    median_abs_error_pct: float | None
    p90_abs_error_pct: float | None
    relations_kept: int
    relations: int


class FigureSummary(_Counted):
    """Of some figures."""

    numbers: int
    numbers_kept: int


class WholeSummary(_Counted):
    """Of all figures, and of numbers and bounds by what they were used for."""

    wall_s: float
    by_use: dict[str, FigureSummary]
    numbers: dict[str, FigureSummary]
    bounds: dict[str, FigureSummary]


@dataclass(frozen=True)
class Compared:
    """A published figure and what the simulation gives for it."""

    figure: Figure
    simulated: float | None
    unit: str
    error_pct: float | None
    held: bool
    why_not: str | None
    """Why the row could not be run."""
    sides: tuple[float, float] | None = None
    """Of a ratio: IO/s of this row's configuration and of the baseline."""

    def to_dict(self) -> FigureRow:
        """A row of the document."""
        configuration = self.figure.configuration
        return {
            "id": self.figure.id,
            "published": self.figure.value,
            "high": self.figure.high,
            "relation": self.figure.relation,
            "simulated": self.simulated,
            "unit": self.unit,
            "error_pct": self.error_pct,
            "held": self.held,
            "why_not": self.why_not,
            "sides_iops": None if self.sides is None else list(self.sides),
            "source": configuration.source,
            "controller": configuration.controller,
            "drive": configuration.drive,
            "format": configuration.format,
            "count": configuration.count,
            "level": configuration.level,
            "load": configuration.load,
            "outstanding": configuration.outstanding,
            "quantity": self.figure.quantity,
            "used": use_of(self.figure),
        }


@dataclass(frozen=True)
class Validation:
    """All figures, compared."""

    rows: tuple[Compared, ...]
    wall_s: float
    breaches: tuple[str, ...] = ()

    def summary(self) -> WholeSummary:
        """How many rows, how far off, how many relations kept; numbers and bounds apart."""
        numbers = [row for row in self.rows if _is_number(row)]
        bounds = [row for row in self.rows if not _is_number(row)]
        counted = summarise(self.rows)
        return {
            "rows": counted["rows"],
            "ran": counted["ran"],
            "held": counted["held"],
            "median_abs_error_pct": counted["median_abs_error_pct"],
            "p90_abs_error_pct": counted["p90_abs_error_pct"],
            "relations_kept": counted["relations_kept"],
            "relations": counted["relations"],
            "wall_s": round(self.wall_s, 3),
            "by_use": summaries_by_use(self.rows),
            "numbers": summaries_by_use(numbers),
            "bounds": summaries_by_use(bounds),
        }

    def to_dict(self) -> Document:
        """The document that `raidlab validate --json` prints."""
        return {
            "rows": [row.to_dict() for row in self.rows],
            "summary": self.summary(),
            "version": _engine.version(),
            "breaches": list(self.breaches),
        }


def _is_number(row: Compared) -> bool:
    """True for a figure with a value of its own (= and ~), unlike bounds and ranges."""
    return row.figure.relation in TOLERANCE_PCT


def summarise(rows: Sequence[Compared]) -> FigureSummary:
    """The summary of some rows.

    Errors are those of numbers alone: a bound that is kept has none, and counting it as 0 % would
    make the median look better than it is.
    """
    errors = [abs(row.error_pct) for row in rows if row.error_pct is not None and _is_number(row)]
    numbers = [row for row in rows if _is_number(row)]
    related = [row for row in rows if not _is_number(row)]
    return {
        "rows": len(rows),
        "ran": sum(row.error_pct is not None for row in rows),
        "held": sum(row.held for row in rows),
        "median_abs_error_pct": statistics.median(errors) if errors else None,
        "p90_abs_error_pct": _percentile_90(errors) if errors else None,
        "numbers": len(numbers),
        "numbers_kept": sum(row.held for row in numbers),
        "relations_kept": sum(row.held for row in related),
        "relations": len(related),
    }


def summaries_by_use(rows: Sequence[Compared]) -> dict[str, FigureSummary]:
    """Summaries of predictions, of figures in view of a choice by hand, and of fitted ones."""
    groups = {use: [row for row in rows if use_of(row.figure) == use] for use in USES}
    return {use: summarise(group) for use, group in groups.items() if group}


def _percentile_90(values: Sequence[float]) -> float:
    return statistics.quantiles(values, n=10, method="inclusive")[-1] if values[1:] else values[0]


@dataclass
class _Case:
    """A configuration, its scenario, and the positions of its runs among all plans."""

    scenario: Scenario
    runs: list[int]


def validate(
    figures: Sequence[Figure],
    *,
    depths: Sequence[int] | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
    store: Store | None = None,
) -> Validation:
    """Simulates every figure.

    Args:
        figures: Published figures; see `published`.
        depths: Numbers of outstanding I/Os of which `max` takes the best; the reports' own if None.
        workers: Threads; the number of cores if None.
        progress: Called after every run of the engine.
        store: Finds finished runs again, and stores new ones.

    Raises:
        KeyboardInterrupt: Ctrl-C.
    """
    started = time.perf_counter()
    plans: dict[str, int] = {}
    cases: dict[str, _Case | str] = {}
    for figure in figures:
        for configuration in (figure.configuration, figure.baseline):
            if configuration is not None and repr(configuration) not in cases:
                cases[repr(configuration)] = _case(configuration, plans, depths)
    finished: dict[int, str] = {}
    errors: dict[int, _engine.PlanError] = {}
    every = list(plans)
    run_plans(every, finished, workers=workers, progress=progress, store=store, refused=errors)
    refused = {at: plan_faults(each, plan=json.loads(every[at])) for at, each in errors.items()}
    for key, case in cases.items():
        if not isinstance(case, str):
            faults = [fault for run in case.runs for fault in refused.get(run, [])]
            if faults:
                cases[key] = _refused(faults)
    outcomes = {at: json.loads(outcome) for at, outcome in finished.items()}
    rows = tuple(_compare(figure, cases, outcomes) for figure in figures)
    breaches = tuple(
        sorted({breach for outcome in outcomes.values() for breach in outcome["breaches"]})
    )
    return Validation(rows, time.perf_counter() - started, breaches)


def _case(
    configuration: Configuration, plans: dict[str, int], depths: Sequence[int] | None
) -> _Case | str:
    """The configuration's runs, added to `plans`; or why it cannot be run."""
    try:
        tree = scenario_tree(configuration)
        if depths is not None and configuration.outstanding == "max":
            for load in tree["workload"]:
                load["outstanding"] = list(depths)
        scenario = build_scenario(tree)
    except SpecError as error:
        return _refused(error.faults)
    except ValueError as error:
        return str(error)
    runs = []
    for point in range(scenario.points):
        plan = json.dumps(scenario.plan(point, 0))
        runs.append(plans.setdefault(plan, len(plans)))
    return _Case(scenario, runs)


def _refused(faults: Sequence[Fault]) -> str:
    return "; ".join(dict.fromkeys(str(fault) for fault in faults))


def _compare(
    figure: Figure, cases: Mapping[str, _Case | str], outcomes: Mapping[int, Any]
) -> Compared:
    unit = {"latency_ms_min": "ms", "temperature_c": "degC", "ratio": "1"}.get(
        figure.quantity, {"iops": "IO/s", "mib_per_s": "MiB/s"}.get(figure.quantity, "MB/s")
    )
    case = cases[repr(figure.configuration)]
    if isinstance(case, str):
        return Compared(figure, None, unit, None, False, case)
    quantity = "iops" if figure.quantity == "ratio" else figure.quantity
    simulated = _value(case, quantity, outcomes)
    sides = None
    if figure.baseline is not None:
        base = cases[repr(figure.baseline)]
        if isinstance(base, str):
            return Compared(figure, None, unit, None, False, f"baseline: {base}")
        compared = _value(base, quantity, outcomes)
        if compared and simulated is not None:
            sides = (simulated, compared)
        simulated = None if sides is None else sides[0] / sides[1]
    if simulated is None:
        return Compared(figure, None, unit, None, False, "no I/O completed in the recorded time")
    error, within = judge(figure, simulated)
    return Compared(figure, simulated, unit, error, within, None, sides)


def _value(case: _Case, quantity: str, outcomes: Mapping[int, Any]) -> float | None:
    """The best over the case's points: workloads that run side by side add up."""
    values = []
    for point, run in enumerate(case.runs):
        rows = rows_of(case.scenario, point, 0, outcomes[run])
        value = _of_rows(rows, quantity)
        if value is not None:
            values.append(value)
    if not values:
        return None
    return min(values) if quantity == "latency_ms_min" else max(values)


def _of_rows(rows: Sequence[Row], quantity: str) -> float | None:
    if quantity == "latency_ms_min":
        known = [row["latency_us"]["min"] for row in rows if row["latency_us"] is not None]
        return min(known) / 1e3 if known else None
    if quantity == "temperature_c":
        components = [component for row in rows for component in row["components"]]
        figures = [component.get("figures") or {} for component in components]
        known = [each["temperature_c_max"] for each in figures if "temperature_c_max" in each]
        return max(known, default=None)
    each = {
        "iops": [row["iops"] for row in rows],
        "mib_per_s": [row["mib_per_s"] for row in rows],
        "mb_per_s": [row["mb_per_s"] for row in rows],
    }
    return float(sum(each[quantity])) or None


def judge(figure: Figure, simulated: float) -> tuple[float, bool]:
    """The error in percent and whether the figure is within tolerance.

    For `=` and `~` the error is 100 (simulated / published - 1); for a relation it is 0 inside and
    the distance to the nearer end, in percent of it, outside.
    """
    low, high = {
        "=": (figure.value, figure.value),
        "~": (figure.value, figure.value),
        ">=": (figure.value, None),
        "<=": (None, figure.value),
        "range": (figure.value, figure.high),
    }[figure.relation]
    error = 0.0
    if low is not None and simulated < low:
        error = 100 * (simulated / low - 1)
    elif high is not None and simulated > high:
        error = 100 * (simulated / high - 1)
    return error, abs(error) <= TOLERANCE_PCT.get(figure.relation, 0.0)
