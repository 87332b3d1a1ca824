"""Do 95 % intervals of single runs cover the true value? By system, over hundreds of seeds.

    python benchmarks/intervals.py [SYSTEM ...] [--seeds 200] [--first 1] [--replications 4]
    python benchmarks/intervals.py short/s4610 [--batches-alone]

Each system of `benchmarks/intervals` runs once a seed; those in `short` are SSDs that run as long
as people run them, and are asked for by name. True is the value of all seeds together:
the mean of the rates, the mean of all I/Os, the quantiles of all I/Os. A figure is covered where it
lies within the interval that its own run gives; one without an upper end has none. Runs that give
no interval, or an uncertain percentile, are counted apart. With `--replications` each interval is
that of these runs together, as of `run.replications`. With `--batches-alone` intervals leave out
what another past of flash drives would change.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from raidlab.scenarios import _engine
from raidlab.scenarios.planning.scenario import load_scenario
from raidlab.scenarios.results import markdown
from raidlab.scenarios.results.intervals import (
    PERCENTILES,
    of_replications,
    quantile,
    students,
    uncertain,
)
from raidlab.scenarios.running.simulate import HEEDS_PAST

HERE = Path(__file__).parent / "intervals"
_ROUNDING = 1e-12
FIGURES = ("iops", "mean", "p50", "p90", "p99", "p99_9")


@dataclass(frozen=True)
class Judged:
    """Intervals of a run, or of several replications, and which figures have none."""

    uncertain: Sequence[str]
    intervals: Mapping[str, Sequence[float | None]]


@dataclass(frozen=True)
class Run(Judged):
    """A run of a system's only workload."""

    ios: int
    values: Mapping[str, float]
    """Latencies in microseconds, and `iops`."""
    bins: Sequence[tuple[int, int]]


class Coverage(TypedDict):
    """How many runs have an interval of a figure, and how many cover the true value."""

    system: str
    figure: str
    true: float
    seeds: int
    intervals: int
    covered_pct: float | None
    half_pct: float | None


def runs_of(
    system: str, seeds: Sequence[int], workers: int, *, heeds_past: bool = True
) -> list[Run]:
    """Rate, latencies, intervals and bins of a system's only workload, one entry a seed."""
    scenario = load_scenario(HERE / f"{system}.toml")

    def one(seed: int) -> Run:
        plan = json.dumps(scenario.plan(0, 0, seed) | (HEEDS_PAST if heeds_past else {}))
        found = json.loads(_engine.run(plan, lambda *_: False))
        (load,) = found["workloads"]
        bins = [tuple(pair) for side in ("read", "write") for pair in load[side]["bins"]]
        return Run(
            uncertain(load["ios"]),
            load["latency_ci95_us"] | {"iops": load["iops_ci95"]},
            load["ios"],
            load["latency_us"] | {"iops": load["iops"]},
            sorted(_counted([bins])),
        )

    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(one, seeds))


def true_values_of(runs: Sequence[Run]) -> dict[str, float]:
    """The figures of all runs together."""
    ios = sum(run.ios for run in runs)
    true_values = {
        "iops": statistics.fmean(run.values["iops"] for run in runs),
        "mean": sum(run.ios * run.values["mean"] for run in runs) / ios,
    }
    bins = sorted(_counted([run.bins for run in runs]))
    # A bucket is wider than what is in it where all I/Os take as long as each other.
    least = min(run.values["min"] for run in runs)
    most = max(run.values["max"] for run in runs)
    return true_values | {
        name: min(max(quantile(bins, share / 100) or 0.0, least), most)
        for name, share in PERCENTILES.items()
    }


def _holds(low: float, value: float, high: float) -> bool:
    """Whether a value lies within an interval, but for the rounding of a sum over many runs."""
    return low * (1 - _ROUNDING) <= value <= high * (1 + _ROUNDING)


def _counted(many: Sequence[Sequence[tuple[int, int]]]) -> list[tuple[int, int]]:
    found: dict[int, int] = {}
    for bins in many:
        for at, count in bins:
            found[at] = found.get(at, 0) + count
    return list(found.items())


def together(runs: Sequence[Run], each: int) -> list[Judged]:
    """Groups of this many runs as one entry each, with the intervals of replications."""
    groups = [runs[at : at + each] for at in range(0, len(runs) - each + 1, each)]
    return [
        Judged(
            uncertain(sum(run.ios for run in group)),
            of_replications([run.values for run in group], [run.bins for run in group])
            | {"iops": students([run.values["iops"] for run in group])},
        )
        for group in groups
    ]


def coverage(
    system: str,
    seeds: Sequence[int],
    workers: int,
    replications: int = 1,
    *,
    heeds_past: bool = True,
) -> list[Coverage]:
    """A row a figure: how many runs have an interval, and how many cover the true value."""
    runs = runs_of(system, seeds, workers, heeds_past=heeds_past)
    true_values = true_values_of(runs)
    rows: list[Coverage] = []
    judged: Sequence[Judged] = together(runs, replications) if replications > 1 else runs
    for figure in FIGURES:
        sure = [run for run in judged if figure not in run.uncertain]
        ends = [run.intervals[figure] for run in sure]
        known = [(low, math.inf if high is None else high) for low, high in ends if low is not None]
        covered = sum(_holds(low, true_values[figure], high) for low, high in known)
        halves = [(high - low) / 2 for low, high in known]
        rows.append(
            {
                "system": system,
                "figure": figure,
                "true": true_values[figure],
                "seeds": len(judged),
                "intervals": len(known),
                "covered_pct": 100 * covered / len(known) if known else None,
                "half_pct": _percent(statistics.median(halves), true_values[figure])
                if known
                else None,
            }
        )
    return rows


def _percent(half: float, value: float) -> float | None:
    return 100 * half / value if math.isfinite(half) else None


def _table(rows: Sequence[Coverage]) -> str:
    """Coverage by system and figure, as Markdown."""
    heads = ("system", "seeds", *(figure.replace("_", ".") for figure in FIGURES))
    lines = markdown.table(" | ".join(heads))
    for system in dict.fromkeys(row["system"] for row in rows):
        own = [row for row in rows if row["system"] == system]
        cells = []
        for row in own:
            if row["covered_pct"] is None:
                cells.append("-")
                continue
            few = row["intervals"] < row["seeds"]
            of = f" of {row['intervals']}" if few else ""
            half = "" if row["half_pct"] is None else f" (±{row['half_pct']:.2g} %)"
            cells.append(f"{row['covered_pct']:.1f}{of}{half}")
        lines.append(markdown.row((system, own[0]["seeds"], *cells)))
    return "\n".join(lines)


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    known = sorted(path.stem for path in HERE.glob("*.toml"))
    short = sorted(f"short/{path.stem}" for path in (HERE / "short").glob("*.toml"))
    parser.add_argument("systems", nargs="*", choices=[[], *known, *short], default=[])
    parser.add_argument("--batches-alone", action="store_true")
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--replications", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    seeds = range(given.first, given.first + given.seeds)
    rows: list[Coverage] = []
    for system in given.systems or known:
        rows += coverage(
            system, seeds, given.workers, given.replications, heeds_past=not given.batches_alone
        )
    print(json.dumps(rows, indent=2) if given.json else _table(rows))


if __name__ == "__main__":
    main()
