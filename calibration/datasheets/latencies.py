"""Percentiles of drives that a sheet alone decides, beside measured ones.

`data/latencies.csv` has a measured latency a line, of the loads of `data/measured.csv`: device,
load, block, depth, threads, rates, reads or writes, figure, microseconds, source. Nothing is fitted
to it. The best guess is compared alone, without draws.
"""

from __future__ import annotations

import csv
import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from raidlab.calibration.datasheets.measured import Load, drive_file, load_of, scenario_of
from raidlab.scenarios.planning.scenario import build_scenario
from raidlab.scenarios.results import markdown
from raidlab.scenarios.results.row import Row, latency_at
from raidlab.scenarios.running.simulate import results_of

_DATA: Final = Path(__file__).parent / "data" / "latencies.csv"


@dataclass(frozen=True)
class Latency:
    """A measured latency beside the simulated one, in microseconds."""

    load: Load
    of: str
    """`reads` or `writes`."""
    figure: str
    measured: float
    simulated: float

    @property
    def ratio(self) -> float:
        """Simulated over measured."""
        return self.simulated / self.measured


def latencies(data: Path = _DATA) -> list[Latency]:
    """Every measured latency with the simulated one.

    Raises:
        SpecError: A device of the file is not in the catalogue.
    """
    with data.open(encoding="utf-8", newline="") as file:
        return [_latency(row) for row in csv.DictReader(file)]


def _latency(row: dict[str, str]) -> Latency:
    load = load_of(row)
    # Probing reads have a load of their own beside writes.
    name = "reader" if load.read_rate and row["of"] == "reads" else "main"
    found = _simulated(load, name, row["figure"])
    return Latency(load, row["of"], row["figure"], float(row["value_us"]), found)


@cache
def _rows(load: Load) -> dict[str, Row]:
    scenario = build_scenario(scenario_of(load, str(drive_file(load.device))))
    (result,) = results_of([scenario], scenario.seed, workers=1, heeds_past=False)
    return {row["workload"]: row for row in result.results}


def _simulated(load: Load, workload: str, figure: str) -> float:
    found = latency_at(_rows(load)[workload], figure.replace(".", "_"))
    return math.nan if found is None else found


LISTING: Final = Path("docs/evidence/datasheets-percentiles.csv")
"""The file beside the page that has each drive's figures."""


def table(found: Sequence[Latency]) -> Iterator[str]:
    """The page's part about them: the totals."""
    yield from (
        "## Percentiles",
        "Latencies of the same loads, best guess alone: simulated over measured. Reads of a",
        "980 PRO at depths 1 to 256; reads and writes of a thread beside an open load of writes.",
        "`off by` is a factor either way. The write latency of the PE8110 is a prior made with its",
        "own 10 us and the Micron's 9 us in view. By drive:",
        f"[{LISTING.name}]({LISTING.name}).",
        "",
        *markdown.table("latencies | points | median ratio | off by, median | worst ratio"),
    )
    for (of, drive, _), cells in _groups(found).items():
        if not drive:
            yield markdown.row((f"all {of}".rstrip(), *cells))
    yield from (
        "",
        "Writes of the Micron 7450 PRO wait for milliseconds from 20,000 a second on, reads beside",
        "them from 50,000 on, where collection stops them: that is not modelled. The PE8110 is",
        "measured at 69,332 writes a second, which the best guess does not reach: writes queue.",
    )


def listing(found: Sequence[Latency]) -> str:
    """Each drive's figures as CSV; no drive is all of them together."""
    lines = ["drive,latencies,figure,points,median_ratio,off_by_median,worst_ratio"]
    for (of, drive, figure), cells in _groups(found).items():
        lines.append(",".join((drive, of, figure, *cells)))
    return "\n".join(lines) + "\n"


def _groups(found: Sequence[Latency]) -> Mapping[tuple[str, str, str], tuple[str, ...]]:
    """Points, median, median factor and worst ratio by direction, drive and figure."""
    groups: dict[tuple[str, str, str], list[float]] = {}
    for each in found:
        for key in (("", "", ""), (each.of, "", ""), (each.of, each.load.device, each.figure)):
            groups.setdefault(key, []).append(each.ratio)
    cells = {}
    for key, ratios in sorted(groups.items()):
        off = math.exp(statistics.median(abs(math.log(ratio)) for ratio in ratios))
        worst = max(ratios, key=lambda ratio: abs(math.log(ratio)))
        median = statistics.median(ratios)
        cells[key] = (str(len(ratios)), f"{median:.2g}", f"{off:.3g}", f"{worst:.2g}")
    return cells
