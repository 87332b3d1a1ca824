"""Drives that a sheet alone decides, beside what others have measured of them.

`data/measured.csv` has a measured figure a line: device, load, block, depth of each thread,
threads, writes and reads a second of an open load, metric, value, source. Nothing is fitted to it.
What a sheet does not say is drawn: the interval of the draws should hold what was measured.
"""

from __future__ import annotations

import csv
import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from raidlab.devices.catalogue import SPECS
from raidlab.devices.datasheet.sheet import Sheet, read_sheet
from raidlab.devices.trees import Tree
from raidlab.scenarios.planning.scenario import build_scenario
from raidlab.scenarios.results import markdown
from raidlab.scenarios.results.row import Row, figures_of, measured
from raidlab.scenarios.running.simulate import results_of
from raidlab.scenarios.studies.draws import draws

_DATA = Path(__file__).parent / "data" / "measured.csv"
_SHEETS = SPECS.parent / "datasheets"
DRAWS = 20
"""Drives that could be meant by a sheet, for an interval."""
_USUAL_READ_NS: Final = 80_000
"""Latency of a read that most sheets of drives of TLC state, for those that state none."""
_POLLED_CLOCK = "30 GHz"
"""A host whose CPU times are a tenth stands for a driver that polls in the user's process."""


@dataclass(frozen=True)
class Load:
    """What was measured under."""

    device: str
    rw: str
    block_bytes: int
    depth: int
    """I/Os in flight; 0 for an open load."""
    threads: int
    write_rate: int
    read_rate: int


@dataclass(frozen=True)
class Compared:
    """A measured figure beside the simulated one."""

    load: Load
    metric: str
    measured: float
    simulated: float
    drawn: tuple[float, float] | None
    """Between which 95 % of the draws lie; None without draws."""
    source: str
    by_sheet: float
    """What the sheet's own figures give without a simulator."""

    @property
    def error_pct(self) -> float:
        """100 (simulated / measured - 1)."""
        return 100 * (self.simulated / self.measured - 1)

    @property
    def sheet_error_pct(self) -> float:
        """100 (by_sheet / measured - 1)."""
        return 100 * (self.by_sheet / self.measured - 1)

    @property
    def is_within_draws(self) -> bool:
        """True if the measured figure lies within the interval of the draws."""
        return self.drawn is not None and self.drawn[0] <= self.measured <= self.drawn[1]


def compare(others: Mapping[str, Path] | None = None, count: int = 0) -> list[Compared]:
    """Every measured figure with the simulated one.

    Args:
        others: Device files to take for those of the catalogue, by name; these drives alone.
        count: Draws of each drive.

    Raises:
        SpecError: A device of the file is not in the catalogue.
    """
    with _DATA.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if not others or row["device"] in others]
    return [_compared(row, others or {}, count) for row in rows]


def _compared(row: dict[str, str], others: Mapping[str, Path], count: int) -> Compared:
    load = load_of(row)
    model = others.get(load.device, drive_file(load.device))
    simulated, drawn = _simulated(load, str(model), count)[row["metric"]]
    alone = by_sheet(read_sheet(_SHEETS / f"{load.device}.toml").sheet, load, row["metric"])
    value = float(row["value"])
    return Compared(load, row["metric"], value, simulated, drawn, row["source"], alone)


def load_of(row: Mapping[str, str]) -> Load:
    """The load of a line of measured figures."""
    numbers = [int(row[key] or 0) for key in ("block_bytes", "depth", "threads")]
    rates = [int(row[key] or 0) for key in ("write_rate", "read_rate")]
    block, depth, threads = numbers
    # A depth of a file with one thread is the thread's; reports of several give each one's.
    in_flight = depth * threads if row["load"].startswith("randread") else depth
    return Load(row["device"], row["load"], block, in_flight, threads, rates[0], rates[1])


def drive_file(device: str) -> Path:
    """The file of a drive of the catalogue."""
    return SPECS / "ssd" / f"{device}.toml"


def by_sheet(sheet: Sheet, load: Load, metric: str) -> float:
    """A planner's arithmetic: the least of what a sheet states.

    Reads are its random rate, its stream over the block, and the depth over its latency; writes are
    its random rate. A latency is the stated one, of p99 too, since no sheet has another.
    """
    latency = sheet.read_latency or _USUAL_READ_NS
    if metric.endswith("_us"):
        return latency / 1e3
    if load.rw == "randwrite":
        return sheet.random_write or math.inf
    stream = (sheet.sequential_read or math.inf) / load.block_bytes
    return min(sheet.random_read or math.inf, stream, 1e9 * load.depth / latency)


Figures = dict[str, tuple[float, tuple[float, float] | None]]
"""By metric: the simulated figure, and between which the draws lie."""


@cache
def _simulated(load: Load, model: str, count: int) -> Figures:
    scenario = build_scenario(scenario_of(load, model))
    (result,) = results_of([scenario], scenario.seed, workers=1, heeds_past=False)
    if count:
        result = draws(scenario, result, count)
    rows: dict[str, Row] = {row["workload"]: row for row in result.results}
    found = {name: (rows["main"]["iops"], _drawn(rows["main"])) for name in ("iops", "write_iops")}
    if "reader" in rows:
        row = rows["reader"]
        for name in ("mean", "p99"):
            found[f"read_{name}_us"] = (figures_of(measured(row))[name], _drawn(row, name))
    return found


def _drawn(row: Row, latency: str = "") -> tuple[float, float] | None:
    of_rate = row.get("iops_draws95")
    ends = row["latency_us_draws95"][latency] if of_rate and latency else of_rate
    return (ends[0], ends[1]) if ends else None


def scenario_of(load: Load, model: str) -> Tree:
    """What was measured, as a scenario of one drive."""
    rw, _, host = load.rw.partition(":")
    block = f"{load.block_bytes} B"
    workloads: list[Tree] = [{"name": "main", "rw": rw, "block_size": block}]
    if load.depth:
        workloads[0] |= {"outstanding": [load.depth], "threads": load.threads}
    else:
        workloads[0] |= {"rate": f"{load.write_rate} IO/s"}
    if load.read_rate:
        rate = f"{load.read_rate} IO/s"
        workloads.append({"name": "reader", "rw": "randread", "block_size": block, "rate": rate})
    writes = rw == "randwrite"
    return {
        "host": {"model": "nvme"} | ({"clock": _POLLED_CLOCK} if host == "polled" else {}),
        "array": [{"drives": [{"model": model}]}],
        "workload": workloads,
        "run": {
            "precondition": "steady-state" if writes else "filled",
            "warm_up": "1 s" if writes else "50 ms",
            "duration": "3 s" if writes else "200 ms",
            "seed": 1,
        },
    }


def table(compared: Sequence[Compared]) -> list[str]:
    """The page's part about measured figures."""
    lines = [
        "## Measured beside simulated",
        "The drives are those above, made of the sheets alone. Nothing was fitted to these",
        "measurements (`calibration/datasheets/data/measured.csv` names their sources).",
        "",
        "What the sheets leave open is drawn: `within` counts measured figures that lie between",
        f"the 2.5th and the 97.5th percentile of {DRAWS} draws, as of",
        f"`raidlab run --draws {DRAWS}`. `sheet alone` is the median error without a simulator:",
        "the least of the stated rate, the stream over the block, and depth over the stated",
        f"latency ({_USUAL_READ_NS // 1000} us where none is stated); a latency is that one.",
        "",
        *markdown.table("figures | points | median error | worst error | within | sheet alone"),
    ]
    groups: dict[str, list[Compared]] = {}
    for each in compared:
        kind = "latencies" if each.metric.endswith("_us") else "rates"
        for name in (f"all {kind}", "all"):
            groups.setdefault(name, []).append(each)
    for name, group in sorted(groups.items()):
        errors = [abs(each.error_pct) for each in group]
        within = sum(each.is_within_draws for each in group)
        alone = statistics.median(abs(each.sheet_error_pct) for each in group)
        off = f"{statistics.median(errors):.0f} %", f"{max(errors):.0f} %"
        lines.append(markdown.row((name, len(group), *off, within, f"{alone:.0f} %")))
    return [*lines, "", "Each figure, one a row: [datasheets.csv](datasheets.csv)."]


def listing(compared: Sequence[Compared]) -> str:
    """Each measured figure as a row of CSV, with the ends of its draws."""
    lines = ["drive,load,figure,measured,simulated,error_pct,drawn_low,drawn_high"]
    for each in compared:
        low, high = (f"{end:.0f}" for end in each.drawn) if each.drawn else ("", "")
        lines.append(
            f'{each.load.device},"{_words(each.load)}","{_WHAT[each.metric]}",'
            f"{each.measured:.0f},{each.simulated:.0f},{each.error_pct:.0f},{low},{high}"
        )
    return "\n".join(lines) + "\n"


_WHAT = {
    "iops": "reads a second",
    "write_iops": "most writes a second",
    "read_mean_us": "mean of reads, us",
    "read_p99_us": "p99 of reads, us",
}


def _words(load: Load) -> str:
    if load.rw == "randwrite":
        return f"{load.write_rate:,} writes/s" if load.write_rate else "384 writes in flight"
    host = "polled" if load.rw.endswith("polled") else "io_uring"
    size = load.block_bytes
    block = f"{size} B" if size < 1024 else f"{size // 1024} KiB"
    return f"{block} reads, {load.depth} in flight, {host}"
