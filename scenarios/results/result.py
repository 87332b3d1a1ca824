"""What a simulation found: one row for each workload, point and replication.

Rows are plain data in the shape of `raidlab run --json` (docs/reference/result.md), so that a
program that reads the file and one that calls `simulate` see the same.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from raidlab.devices.trees import Document
from raidlab.scenarios.results import around_events
from raidlab.scenarios.results.around_events import around
from raidlab.scenarios.results.bottleneck import behind, busiest, felt, limits_of
from raidlab.scenarios.results.intervals import (
    PERCENTILES,
    of_replications,
    students,
    uncertain,
)
from raidlab.scenarios.results.merging import add_bins, all_steady, merge_loads
from raidlab.scenarios.results.over_time import typed_events
from raidlab.scenarios.results.row import (
    DIRECTIONS,
    CacheHits,
    Change,
    GoalRow,
    IfKnown,
    IoRow,
    Mapped,
    Power,
    Row,
    RunEvent,
    Side,
    TraceFound,
    figures_of,
    latency_of,
)
from raidlab.scenarios.spec.findings import Event, Warning, typed_warnings
from raidlab.scenarios.spec.run_result import (
    CacheReport,
    Component,
    Latency,
    RunResult,
    WorkloadResult,
)
from raidlab.scenarios.spec.run_result import Side as EngineSide
from raidlab.scenarios.spec.trees import ScenarioTree

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import polars as pl

    from raidlab.scenarios.results import rows as typed_rows

MIB = 1 << 20
PARTS = (
    "host", "link", "controller", "cache", "raid", "seek", "rotation", "transfer", "nand_read",
    "nand_program", "garbage_collection", "queue",
)  # fmt: skip
"""Parts of the time that every row has, zero where the system has no such part."""


@dataclass(frozen=True)
class Recorded:
    """What a run recorded of the system itself, whether it had loads or not."""

    seconds: float
    components: tuple[Component, ...]
    """As in rows."""
    rebuilding_before: tuple[float, ...]
    """Share done of each rebuild that was under way when recording began."""
    rebuilding: tuple[float, ...]
    """Share done of each that is under way at the end."""

    @staticmethod
    def of(run: RunResult) -> Recorded:
        """Of what the engine gave."""
        return Recorded(
            run["duration_s"],
            tuple(run["components"]),
            tuple(run["rebuilding_before"]),
            tuple(run["rebuilding"]),
        )


@dataclass(frozen=True, repr=False)
class Result:
    """The outcome of `simulate`, or of a `LiveSystem`."""

    title: str
    seed: int
    version: str
    results: tuple[Row, ...]
    """Rows by point, replication and workload."""
    warnings: tuple[str, ...] = ()
    breaches: tuple[str, ...] = ()
    """What the engine's own checks found wrong: bugs of raidlab, never of the scenario."""
    devices: tuple[Mapping[str, str], ...] = ()
    """Name, kind and fingerprint of every device file used."""
    fingerprint: str = ""
    """Of the plan, seed aside."""
    interrupted: bool = False
    """True if rows are missing because the run was stopped."""
    events: tuple[RunEvent, ...] = ()
    """What happened, by point and replication: `t_s`, `what`."""
    data: Mapping[str, int] | None = None
    """What became of the data, over all runs; None if the runs did not follow them."""
    written: ScenarioTree | None = None
    """The scenario as it was written."""
    what_if: tuple[Change, ...] | None = None
    """What twice of something would give; None if it was not asked."""
    goals: tuple[GoalRow, ...] | None = None
    """How much of the I/Os and of the time met each goal; None if there are none."""
    ios: tuple[IoRow, ...] | None = None
    """Single I/Os with their stages, by point, replication and time; None if none were asked."""
    traces: tuple[TraceFound, ...] = ()
    """Of each load that is a recorded trace what the engine gave besides; not in the document."""
    recorded: tuple[Recorded, ...] = ()
    """Of each run; not in the document."""

    def to_dict(self) -> Document:
        """The document that `raidlab run --json` prints."""
        writes = sum(row["write"]["ios"] for row in self.results)
        return {
            "title": self.title,
            "seed": self.seed,
            "version": self.version,
            "fingerprint": self.fingerprint,
            "devices": [dict(device) for device in self.devices],
            "results": [_without_means(row) for row in self.results],
            "events": [dict(event) for event in self.events],
            # Where versions of the data are not followed, what is unknown is null, not zero.
            "data": {
                "acknowledged_writes": writes,
                "lost_writes": None,
                "stale_reads": None,
                "corrupt_stripes": None,
                **(self.data or {}),
            },
            "events_typed": [each.to_dict() for each in self.events_typed],
            "warnings": list(self.warnings),
            "warnings_typed": [each.to_dict() for each in self.warnings_typed],
            "breaches": list(self.breaches),
            "interrupted": self.interrupted,
            **({} if self.what_if is None else {"what_if": list(self.what_if)}),
            **({} if self.goals is None else {"goals": list(self.goals)}),
            **({} if self.ios is None else {"ios": list(self.ios)}),
        }

    @property
    def warnings_typed(self) -> tuple[Warning, ...]:
        """`warnings` with their codes and subjects."""
        return typed_warnings(self.warnings)

    @property
    def events_typed(self) -> tuple[Event, ...]:
        """What happened, and what held for a time: by time, kinds and subjects of the field."""
        return typed_events(self.events, self.results)

    def to_json(self, indent: int | None = 2) -> str:
        """`to_dict` as text; the same seed gives the same bytes."""
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)

    def table(self) -> pl.DataFrame:
        """One line a row: rates, latencies in microseconds, bottleneck."""
        import polars as pl

        found = pl.DataFrame([_flat(row) for row in self.results], infer_schema_length=None)
        # Numbers that no row has are numbers all the same: tables of several runs fit together.
        return found.with_columns(pl.col(pl.Null).cast(pl.Float64))

    def to_pandas(self) -> Any:
        """`table` as a pandas data frame; pandas must be installed.

        Raises:
            ModuleNotFoundError: pandas is not installed.
        """
        pandas = import_module("pandas")
        return pandas.DataFrame([_flat(row) for row in self.results])

    @property
    def rows(self) -> tuple[typed_rows.Row, ...]:
        """`results` with types: `row.latency_us.p99` for `row["latency_us"]["p99"]`."""
        from raidlab.scenarios.results.rows import typed

        return typed(self.results)

    def __repr__(self) -> str:
        from raidlab.scenarios.report.runs.shown import text

        return text(self)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from raidlab.scenarios.report.runs.shown import html

        return html(self)

    def summary(self) -> list[Row]:
        """One line for each workload and point: means over replications.

        Means are the rates, `latency_us` and `breakdown_us`, and those of reads and writes; what
        else a row has is that of the first replication.

        The 95 % intervals are Student's over the replications; with a single one they are those
        of the run itself.
        """
        return means_of(self.results)

    def plot(self) -> go.Figure:
        """Rate and latency over outstanding I/Os."""
        from raidlab.scenarios.report.runs.charts import curves

        return curves(self.summary(), self.title)


def _own_span(load: WorkloadResult, recorded_s: float) -> IfKnown:
    """The time that a job's rate is over, as fio has it, where that is not the recorded one."""
    if not load["ios"] or not load["iops"]:
        return {}
    span = load["ios"] / load["iops"]
    return {} if abs(span - recorded_s) <= 1e-6 * recorded_s else {"span_s": round(span, 9)}


def _without_means(row: Row) -> Mapping[str, object]:
    """A row of no I/Os has no mean time by part: null, not zero."""
    return row if row["ios"] else {**row, "breakdown_us": dict.fromkeys(row["breakdown_us"])}


def _flat(row: Row) -> dict[str, object]:
    latency = figures_of(row["latency_us"]) if row["latency_us"] else {}
    return {
        "workload": row["workload"],
        "target": row["target"],
        "outstanding": row["outstanding"],
        "replication": row["replication"],
        "iops": row["iops"],
        "iops_low": row["iops_ci95"][0],
        "iops_high": row["iops_ci95"][1],
        "mib_per_s": row["mib_per_s"],
        "mb_per_s": row["mb_per_s"],
        **{
            f"latency_{name}_us": latency.get(name) for name in ("min", "mean", *PERCENTILES, "max")
        },
        **{
            f"latency_{name}_{end}_us": row["latency_ci95_us"].get(name, (None, None))[at]
            for name in ("mean", *PERCENTILES)
            for at, end in enumerate(("low", "high"))
        },
        "uncertain": " ".join(row["uncertain"]),
        "read_iops": row["read"]["iops"],
        "write_iops": row["write"]["iops"],
        "bottleneck": row["bottleneck"],
    }


def means_of(rows: Sequence[Row]) -> list[Row]:
    """A row for each workload and point, as `Result.summary` has them."""
    groups: dict[tuple[str, int], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["workload"], row["point"]), []).append(row)
    return [_mean_row(each) for each in groups.values()]


def _mean_row(rows: Sequence[Row]) -> Row:
    first = rows[0]
    if len(rows) == 1:
        return {**first, "replications": 1}
    rates = [row["iops"] for row in rows]
    done = [row for row in rows if row["latency_us"] is not None]
    latencies = [figures_of(each) for row in rows if (each := row["latency_us"]) is not None]
    counted = [sorted(add_bins(row[side]["bins"] for side in DIRECTIONS).items()) for row in done]
    parts = {part for row in rows for part in row["breakdown_us"]}
    mean: Row = {
        **first,
        "replications": len(rows),
        "iops": statistics.fmean(rates),
        "iops_ci95": students(rates),
        "mib_per_s": statistics.fmean(row["mib_per_s"] for row in rows),
        "mb_per_s": statistics.fmean(row["mb_per_s"] for row in rows),
        "latency_us": _mean_latency(latencies),
        "latency_ci95_us": of_replications(latencies, counted)
        if latencies
        else first["latency_ci95_us"],
        "uncertain": uncertain(sum(row["ios"] for row in rows)),
        "read": _mean_side([row["read"] for row in rows]),
        "write": _mean_side([row["write"] for row in rows]),
        "steady": all_steady([row["steady"] for row in rows]),
        "doubts": list(dict.fromkeys(code for row in rows for code in row.get("doubts", ()))),
        "breakdown_us": {
            part: statistics.fmean(row["breakdown_us"].get(part, 0.0) for row in rows)
            for part in first["breakdown_us"].keys() | parts
        },
    }
    if first.get("overloaded") is not None:
        mean["overloaded"] = any(row["overloaded"] for row in rows)
    between = around_events.of_replications([row.get("around_events") for row in rows])
    if between is not None:
        mean["around_events"] = between
    return mean


def _mean_latency(each: Sequence[Mapping[str, float]]) -> Latency | None:
    if not each:
        return None
    return latency_of({key: statistics.fmean(one[key] for one in each) for key in each[0]})


def _mean_side(sides: Sequence[Side]) -> Side:
    """Reads or writes: means of rates and latencies, with Student's intervals."""
    known = [figures_of(each) for side in sides if (each := side["latency_us"]) is not None]
    latencies = known if len(known) == len(sides) else []
    return {
        **sides[0],
        "iops": statistics.fmean(side["iops"] for side in sides),
        "mib_per_s": statistics.fmean(side["mib_per_s"] for side in sides),
        "latency_us": _mean_latency(latencies),
        "latency_ci95_us": of_replications(latencies, [side["bins"] for side in sides])
        if latencies
        else sides[0]["latency_ci95_us"],
    }


def make_row(
    run: RunResult,
    parts: Sequence[int],
    *,
    name: str,
    target: str,
    point: int,
    outstanding: int,
    replication: int,
) -> Row:
    """A row of the result from one run of the engine.

    Args:
        run: What the engine gave.
        parts: Its workloads that belong to this one: several where each drive is loaded alone.
        name: Name of the workload in the scenario.
        target: Name of the array in the scenario.
        point: Which of the scenario's points.
        outstanding: I/Os in flight; 0 for an open load.
        replication: Which replication.
    """
    loads = [run["workloads"][part] for part in parts]
    merged = loads[0] if len(loads) == 1 else merge_loads(loads)
    met = behind(run["components"], target, name)
    busy = busiest(felt(met, merged["breakdown_us"]))
    bottleneck, runner_up, *_ = [*busy, None, None]
    recorded = (run["warm_up_s"], run["warm_up_s"] + run["duration_s"])
    between = around(run["log"], merged["periods"], run["warm_up_s"])
    events: IfKnown = {} if between is None else {"around_events": between}
    more: IfKnown = {}
    if (arrived := merged.get("arrived")) is not None:
        more["arrived"] = arrived
    if (slowest := merged.get("slowest")) is not None:
        more["slowest"] = slowest
    return {
        "workload": name,
        "target": target,
        "point": point,
        "outstanding": outstanding,
        "replication": replication,
        "ios": merged["ios"],
        "errors": merged["errors"],
        "iops": merged["iops"],
        "iops_ci95": merged["iops_ci95"],
        "mib_per_s": merged["mib_per_s"],
        "mb_per_s": merged["mb_per_s"],
        "latency_us": merged["latency_us"],
        "latency_ci95_us": merged["latency_ci95_us"],
        "uncertain": uncertain(merged["ios"]),
        "independent_batches": merged["independent_batches"],
        "read": _side(merged["read"]),
        "write": _side(merged["write"]),
        "breakdown_us": dict.fromkeys(PARTS, 0.0) | merged["breakdown_us"],
        "write_amplification": _write_amplification(met),
        "cache": _cache(run["caches"], target),
        "caches": run["caches"],
        "components": run["components"],
        "power": _power(run["components"]),
        "bottleneck": bottleneck,
        "runner_up": runner_up,
        "limits": [each.to_dict() for each in limits_of(met, merged["breakdown_us"], recorded)],
        "timeline": merged["timeline"],
        "periods": merged["periods"],
        **events,
        "rebuilding": run["rebuilding"],
        "warm_up_s": run["warm_up_s"],
        "duration_s": run["duration_s"],
        **_own_span(merged, run["duration_s"]),
        "steady": merged["steady"],
        **more,
    }


def _side(side: EngineSide) -> Side:
    """Reads or writes: without what only serves to put loads together."""
    over_time: Mapped = {} if "latency_map" not in side else {"latency_map": side["latency_map"]}
    return {
        "ios": side["ios"],
        "bytes": side["bytes"],
        "iops": side["iops"],
        "mib_per_s": side["mib_per_s"],
        "latency_us": side["latency_us"],
        "latency_ci95_us": side["latency_ci95_us"],
        **over_time,
        "uncertain": uncertain(side["ios"]),
        "bins": side["bins"],
    }


def _cache(caches: Sequence[CacheReport], target: str) -> CacheHits:
    """Hit ratios of the controller's memory and of the array's tier; null without a memory."""
    row: CacheHits = {"read_hit_ratio": None, "write_hit_ratio": None}
    for cache in caches:
        reads = _ratio(cache["read_hits"], cache["reads"])
        writes = _ratio(cache["write_hits"], cache["writes"])
        if cache["kind"] == "memory":
            row["read_hit_ratio"] = reads
            row["write_hit_ratio"] = writes
            row["full_stripe_ratio"] = _ratio(cache["full_stripes"], cache["destages"])
            row["filled_bytes"] = cache["filled_bytes"]
        elif cache["name"] == target:
            row["tier"] = {
                "read_hit_ratio": reads,
                "write_hit_ratio": writes,
                "used_share": cache["used_share"],
                "dirty_share": cache["dirty_share"],
                "filled_bytes": cache["filled_bytes"],
            }
    return row


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _write_amplification(components: Iterable[Component]) -> float | None:
    """Bytes to NAND over bytes from the host, over all drives that know of NAND, while recorded."""
    written = [found for component in components if (found := component.get("written"))]
    host = sum(each["host_bytes"] for each in written)
    nand = sum(each["nand_bytes"] for each in written)
    return _ratio(nand, host)


def _power(components: Iterable[Component]) -> Power | None:
    """Joules and mean watts of the drives that say what they draw, while recorded."""
    known = [found for component in components if (found := component.get("power"))]
    if not known:
        return None
    return {
        "joules": sum(each["joules"] for each in known),
        "watts": sum(each["watts"] for each in known),
        "drives": len(known),
    }
