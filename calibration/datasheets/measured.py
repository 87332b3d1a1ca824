"""Drives that a sheet alone decides, beside what others have measured of them.

`data/measured.csv` has a measured figure a line: device, load, block, depth of each thread,
threads, writes and reads a second of an open load, metric, value, source. Nothing is fitted to it.
"""

from __future__ import annotations

import csv
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from raidlab.devices.catalogue import SPECS
from raidlab.scenarios.planning.scenario import build_scenario
from raidlab.scenarios.running.simulate import simulate

_DATA = Path(__file__).parent / "data" / "measured.csv"
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
    source: str

    @property
    def error_pct(self) -> float:
        """100 (simulated / measured - 1)."""
        return 100 * (self.simulated / self.measured - 1)


def compare(others: Mapping[str, Path] | None = None) -> list[Compared]:
    """Every measured figure with the simulated one.

    Args:
        others: Device files to take for those of the catalogue, by name; these drives alone.

    Raises:
        SpecError: A device of the file is not in the catalogue.
    """
    with _DATA.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if not others or row["device"] in others]
    return [_compared(row, others or {}) for row in rows]


def _compared(row: dict[str, str], others: Mapping[str, Path]) -> Compared:
    numbers = [int(row[key] or 0) for key in ("block_bytes", "depth", "threads")]
    rates = [int(row[key] or 0) for key in ("write_rate", "read_rate")]
    block, depth, threads = numbers
    # A depth of a file with one thread is the thread's; reports of several give each one's.
    in_flight = depth * threads if row["load"].startswith("randread") else depth
    load = Load(row["device"], row["load"], block, in_flight, threads, rates[0], rates[1])
    model = others.get(load.device, SPECS / "ssd" / f"{load.device}.toml")
    simulated = _simulated(load, str(model))[row["metric"]]
    return Compared(load, row["metric"], float(row["value"]), simulated, row["source"])


@cache
def _simulated(load: Load, model: str) -> dict[str, float]:
    rw, _, host = load.rw.partition(":")
    block = f"{load.block_bytes} B"
    workloads: list[dict[str, Any]] = [{"name": "main", "rw": rw, "block_size": block}]
    if load.depth:
        workloads[0] |= {"outstanding": [load.depth], "threads": load.threads}
    else:
        workloads[0] |= {"rate": f"{load.write_rate} IO/s"}
    if load.read_rate:
        rate = f"{load.read_rate} IO/s"
        workloads.append({"name": "reader", "rw": "randread", "block_size": block, "rate": rate})
    writes = rw == "randwrite"
    tree = {
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
    rows: dict[str, Any] = {
        row["workload"]: row for row in simulate(build_scenario(tree), workers=1).results
    }
    found = {"iops": rows["main"]["iops"], "write_iops": rows["main"]["iops"]}
    if "reader" in rows:
        latency = rows["reader"]["latency_us"]
        found |= {"read_mean_us": latency["mean"], "read_p99_us": latency["p99"]}
    return found


def table(compared: Sequence[Compared]) -> list[str]:
    """The page's part about measured figures."""
    lines = [
        "## Measured beside simulated",
        "",
        "The drives are those above, made of the sheets alone. Nothing was fitted to these",
        "measurements (`calibration/datasheets/data/measured.csv` names their sources).",
        "",
        "| figures | points | median error | worst error |",
        "|---|---|---|---|",
    ]
    groups: dict[str, list[float]] = {}
    for each in compared:
        kind = "latencies" if each.metric.endswith("_us") else "rates"
        for name in (f"{each.load.device}: {_WHAT[each.metric]}", f"all {kind}"):
            groups.setdefault(name, []).append(abs(each.error_pct))
    for name, errors in sorted(groups.items()):
        lines.append(
            f"| {name} | {len(errors)} | {statistics.median(errors):.0f} % | {max(errors):.0f} % |"
        )
    lines += [
        "",
        "| drive | load | figure | measured | simulated | error |",
        "|---|---|---|---|---|---|",
    ]
    for each in compared:
        lines.append(
            f"| {each.load.device} | {_words(each.load)} | {_WHAT[each.metric]} |"
            f" {each.measured:,.0f} | {each.simulated:,.0f} | {each.error_pct:+.0f} % |"
        )
    return lines


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
