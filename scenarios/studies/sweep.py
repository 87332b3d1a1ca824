"""A scenario at many points: fields that are varied, one row of figures for each point.

Points whose scenario has faults (RAID 10 of three drives) are rows that say so. Every finished run
is stored before its row is made, so a sweep that is killed goes on where it was.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import closing
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Any, Self, cast

from raidlab.devices.faults import Fault, SpecError, few_of_each
from raidlab.devices.trees import Document, Value
from raidlab.scenarios import _engine
from raidlab.scenarios.planning.scenario import Scenario, build_scenario
from raidlab.scenarios.results.bottleneck import limits
from raidlab.scenarios.results.result import Result
from raidlab.scenarios.results.row import Row, latency_at
from raidlab.scenarios.running.engine_faults import plan_faults
from raidlab.scenarios.running.pool import outcomes
from raidlab.scenarios.running.simulate import Progress, result_of, runs_of
from raidlab.scenarios.running.store import Store
from raidlab.scenarios.spec.findings import about
from raidlab.scenarios.spec.python_form import in_form_of_a_file
from raidlab.scenarios.spec.trees import ScenarioTree
from raidlab.scenarios.spec.written import scenario_tree
from raidlab.scenarios.studies.vary import Axis, Design, Line, axes_of, points, with_values

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import polars as pl

LATENCIES = ("mean", "p50", "p95", "p99", "p99_9")
"""Of which a row has columns."""


@dataclass(frozen=True, repr=False)
class Sweep:
    """A scenario at many points."""

    title: str
    seed: int
    design: Design
    vary: tuple[str, ...]
    """Paths of what is varied."""
    rows: tuple[Line, ...]
    """One for each point, and within it for each workload and each number outstanding."""
    points: int
    open: bool = False
    """All loads come at rates of their own."""
    warnings: tuple[str, ...] = ()
    breaches: tuple[str, ...] = ()
    interrupted: bool = False
    """Ctrl-C came: some points have no rows."""
    refused: Mapping[int, tuple[Fault, ...]] = field(default_factory=dict)
    """Why points cannot be built."""

    def __repr__(self) -> str:
        """A line: what varies, how many points and rows, and the first warning."""
        said = f"{', '.join(self.vary)}: {self.points} points, {len(self.rows)} rows"
        warned = f", {len(self.warnings)} warnings: {self.warnings[0]}" if self.warnings else ""
        cut = ", interrupted" * self.interrupted
        return f"<Sweep {self.title!r}, {said}, seed {self.seed}{cut}{shorten(warned, 120)}>"

    def plot(self) -> go.Figure:
        """The rate over what varies first, a line for each value of the rest.

        IO/s; where all loads come at rates of their own p99 in milliseconds.

        Raises:
            ValueError: No point could be run.
        """
        from raidlab.scenarios.report.studies.sweep_picture import picture

        if all(row["why_not"] is not None for row in self.rows):
            raise ValueError("no point of the sweep could be run: there is nothing to draw")
        what = "latency_p99_us" if self.open else "iops"
        return picture(self.rows, self.vary, what, grid=self.design is Design.GRID)

    def to_pandas(self) -> Any:
        """`table` as a pandas data frame; pandas must be installed.

        Raises:
            ModuleNotFoundError: pandas is not installed.
        """
        table = self.table()
        return import_module("pandas").DataFrame(table.to_dict(as_series=False))

    def to_dict(self) -> Document:
        """The document of `raidlab sweep --json`."""
        return {
            "title": self.title,
            "seed": self.seed,
            "version": _engine.version(),
            "design": str(self.design),
            "vary": list(self.vary),
            "points": self.points,
            "rows": [dict(row) for row in self.rows],
            "warnings": list(self.warnings),
            "breaches": list(self.breaches),
            "interrupted": self.interrupted,
        }

    def table(self) -> pl.DataFrame:
        """The rows as a data frame; what differs in kind between rows is text."""
        import polars as pl

        columns: dict[str, list[Any]] = {}
        for name in dict.fromkeys(key for row in self.rows for key in row):
            values = [row.get(name) for row in self.rows]
            kinds = {type(value) for value in values if value is not None}
            mixed = len(kinds) > 1 and not kinds <= {int, float}
            texts = [None if v is None else str(v) for v in values]
            columns[name] = texts if mixed or tuple in kinds else values
        return pl.DataFrame(columns, strict=False)


@dataclass(frozen=True)
class Experiment:
    """What a sweep is to simulate: a scenario's tree, what varies in it, and how."""

    tree: ScenarioTree
    axes: Sequence[Axis]
    path: Path | None = None
    """Of the scenario's file."""
    design: Design = Design.GRID
    count: int | None = None
    """Points of designs that are no grid."""
    replications: int | None = None
    """In place of the scenario's own."""
    seed: int | None = None
    """In place of the scenario's own; also that of a design that is drawn."""

    @classmethod
    def of(
        cls,
        scenario: str | Path | Mapping[str, object],
        vary: Mapping[str, str | Sequence[Any]],
        **settings: Any,
    ) -> Self:
        """An experiment as a program writes it.

        Args:
            scenario: The path of a scenario's file, or what such a file holds.
            vary: Values of each path: a list, or text such as `2:24:2`.
            settings: `design`, `count`, `replications`, `seed`.

        Raises:
            SpecError: The file cannot be read, or values cannot be.
        """
        axes = [
            axes_of([f"{path}={values}"], "vary")[0]
            if isinstance(values, str)
            else Axis(path, tuple(values))
            for path, values in vary.items()
        ]
        if isinstance(scenario, Mapping):
            return cls(cast(ScenarioTree, in_form_of_a_file(scenario)), axes, **settings)
        return cls(scenario_tree(Path(scenario)), axes, Path(scenario), **settings)


@dataclass
class _Point:
    """A point under way."""

    values: Mapping[str, Value]
    scenario: Scenario | None
    faults: list[Fault]
    runs: list[tuple[int, int]] = field(default_factory=list)
    finished: dict[int, str] = field(default_factory=dict)

    @property
    def done(self) -> bool:
        return bool(self.faults) or len(self.finished) == len(self.runs)


def sweep(
    experiment: Experiment,
    *,
    workers: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
    store: Store | None = None,
) -> Sweep:
    """Simulates every point of a sweep.

    The result depends neither on the workers nor on what was found in the store.

    Args:
        experiment: What is simulated.
        workers: Threads; the number of cores if None.
        executor: Runs the points instead of threads, such as that of a Dask client.
        progress: Called with the number of points that are done and of all.
        store: Finds finished runs again, and stores new ones.

    Raises:
        SpecError: Axes do not fit the design, no point can be run, or the executor failed.
        KeyboardInterrupt: Ctrl-C, before any point was complete. After that the result says so.
    """
    design = Design(experiment.design)
    placed = points(
        experiment.axes,
        design,
        experiment.count,
        1 if experiment.seed is None else experiment.seed,
    )
    built = _Built(experiment, placed)
    rows: dict[int, list[Line]] = {}
    breaches: set[str] = set()
    warnings: dict[str, int] = {}
    interrupted = False
    try:
        with closing(
            outcomes(built.plans(), workers=workers, executor=executor, store=store)
        ) as coming:
            for at, outcome in coming:
                where, which = built.takes(at)
                point = built.points[where]
                if isinstance(outcome, str):
                    point.finished[which] = outcome
                else:
                    point.faults += plan_faults(outcome, point.scenario)
                if point.done and where not in rows:
                    result = built.result(where)
                    rows[where] = _rows(where, point, result)
                    breaches |= set(() if result is None else result.breaches)
                    for warning in () if result is None else result.warnings:
                        warnings[warning] = warnings.get(warning, 0) + 1
                    built.forget(where)
                if progress is not None:
                    progress(len(rows) + built.refused, len(placed))
    except KeyboardInterrupt:
        if not rows:
            raise
        interrupted = True
    for where, point in built.points.items():
        if point.faults and where not in rows:
            rows[where] = _rows(where, point, None)
    if rows and all(row[0]["why_not"] for row in rows.values()):
        every = (fault for point in built.points.values() for fault in point.faults)
        raise SpecError(few_of_each(every))
    return Sweep(
        title=built.title,
        seed=built.seed,
        design=design,
        vary=tuple(axis.path for axis in experiment.axes),
        rows=tuple(row for where in sorted(rows) for row in rows[where]),
        points=len(placed),
        open=built.open,
        warnings=tuple(_counted(warnings[each], len(placed), each) for each in sorted(warnings)),
        breaches=tuple(sorted(breaches)),
        interrupted=interrupted,
        refused={
            at: tuple(built.points[at].faults) for at in sorted(rows) if built.points[at].faults
        },
    )


def _counted(count: int, of: int, warning: str) -> str:
    if count == of:
        return warning
    return about(warning, f"{warning} ({count:,} of {of:,} points)")


class _Built:
    """Scenarios of the points, made when they are wanted and forgotten when they are done."""

    def __init__(self, experiment: Experiment, placed: Sequence[Mapping[str, Value]]) -> None:
        self._experiment = experiment
        self._placed = placed
        self.points: dict[int, _Point] = {}
        self._runs: deque[tuple[int, int, int]] = deque()
        self._of_run: dict[int, tuple[int, int]] = {}
        self._made = 0
        self.refused = 0
        self.open = True
        self.title = str(experiment.tree.get("title") or "") or (
            experiment.path.stem if experiment.path else "sweep"
        )
        run = experiment.tree.get("run")
        own = run.get("seed", 1) if isinstance(run, Mapping) else 1
        self.seed = (
            int(own if experiment.seed is None else experiment.seed) if isinstance(own, int) else 1
        )

    def plans(self) -> Iterator[str]:
        """The engine's plan of every run of every point that can be run."""
        for where, values in enumerate(self._placed):
            point = self._point(values)
            self.points[where] = point
            if point.scenario is None:
                self.refused += 1
                continue
            for which, run in enumerate(point.runs):
                self._of_run[self._made] = where, which
                self._made += 1
                yield json.dumps(point.scenario.plan(*run, self._experiment.seed))

    def _point(self, values: Mapping[str, Value]) -> _Point:
        more = {}
        if self._experiment.replications is not None:
            more = {"run.replications": self._experiment.replications}
        try:
            tree = with_values(self._experiment.tree, {**values, **more})
            scenario = build_scenario(tree, self._experiment.path)
            if not scenario.workloads:
                allowed = "at least one: without a load there is nothing to simulate"
                raise SpecError([Fault("workload", None, allowed, (), scenario.path)])
        except SpecError as error:
            return _Point(values, None, list(error.faults))
        self.open &= all(load.arrives_per_s for load in scenario.workloads)
        return _Point(values, scenario, [], runs_of(scenario))

    def takes(self, at: int) -> tuple[int, int]:
        """Point and run within it of a plan."""
        return self._of_run.pop(at)

    def result(self, where: int) -> Result | None:
        """The result of a point that is done; None if it could not be run."""
        point = self.points[where]
        if point.faults or point.scenario is None:
            return None
        return result_of(point.scenario, point.runs, point.finished, self._experiment.seed)

    def forget(self, where: int) -> None:
        """Frees what a point that is done needs no more."""
        self.points[where] = replace(self.points[where], finished={}, runs=[], scenario=None)


def _rows(where: int, point: _Point, result: Result | None) -> list[Line]:
    """What a point has found: a row for each workload and number outstanding."""
    head: Line = {"point": where, **point.values}
    if result is None:
        why = "; ".join(str(replace(fault, file="")) for fault in point.faults)
        return [head | dict.fromkeys(COLUMNS) | {"why_not": why}]
    usable = 0 if point.scenario is None else point.scenario.usable_bytes
    return [
        head | columns_of(row) | {"usable_bytes": usable, "why_not": None}
        for row in result.summary()
    ]


def columns_of(row: Row) -> Line:
    """The figures of a result's row that a sweep has, in flat columns."""
    within = row["latency_ci95_us"]
    low, high = within.get("p99", (None, None))
    return {
        "workload": row["workload"],
        "outstanding": row["outstanding"],
        "replications": row["replications"],
        "iops": row["iops"],
        "iops_low": row["iops_ci95"][0],
        "iops_high": row["iops_ci95"][1],
        "mb_per_s": row["mb_per_s"],
        **{f"latency_{name}_us": latency_at(row, name) for name in LATENCIES},
        "latency_p99_low_us": low,
        "latency_p99_high_us": high,
        "read_iops": row["read"]["iops"],
        "write_iops": row["write"]["iops"],
        "write_amplification": row["write_amplification"],
        "utilization": max((each["utilization"] for each in row["components"]), default=None),
        "bottleneck": row["bottleneck"],
        "limit": limits(row),
        "offered_iops": row.get("offered_iops"),
        "doubts": " ".join(row.get("doubts", ())),
    }


COLUMNS = (
    "workload", "outstanding", "replications", "iops", "iops_low", "iops_high", "mb_per_s",
    *(f"latency_{name}_us" for name in LATENCIES), "latency_p99_low_us", "latency_p99_high_us",
    "read_iops", "write_iops", "write_amplification", "utilization", "bottleneck",
    "limit", "offered_iops", "doubts", "usable_bytes", "why_not",
)  # fmt: skip
"""Of every row, beside what varies."""
