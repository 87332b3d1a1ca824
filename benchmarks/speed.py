"""How fast, how small: simulated I/Os a second of wall time, beside SimPy and the goals.

    python benchmarks/speed.py [--quick] [--instructions] [--json]

Every line is one system of `benchmarks/systems`, on one thread, accounting and histograms on.
Times vary with the machine: compare the ratios of one run; how fast SimPy is here, and was where
the goals were set, stands at the end. `--instructions` also counts instructions per I/O under
valgrind, which is repeatable.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import peers
from rich import box
from rich.console import Console
from rich.table import Table

from raidlab.devices.faults import SpecError
from raidlab.scenarios import _engine
from raidlab.scenarios.planning.scenario import load_scenario

HERE = Path(__file__).parent
WHERE_GOALS_WERE_SET = 79_000
"""I/Os a second of SimPy on a three-stage queue, on the machine that the goals were set on."""
_FEW_RUNS = 8


@dataclass(frozen=True)
class Line:
    """One line of the table."""

    work: str
    system: str
    goal: float
    ios: int
    peer: dict[str, float]
    """Arguments of the SimPy peer."""


LINES = (
    Line(
        "SSD, 4 KiB random read, 32 outstanding", "ssd-random-read.toml", 10e6, 5_000_000,
        {"outstanding": 32, "drives": 64, "drive_seconds": 80e-6},
    ),
    Line(
        "SSD, 128 KiB sequential read, 32 outstanding", "ssd-sequential-read.toml", 1e6, 500_000,
        {"outstanding": 32, "drives": 64, "drive_seconds": 80e-6, "commands": 8},
    ),
    Line(
        "SSD, 4 KiB random write, 32 outstanding, steady state", "ssd-random-write.toml", 3e6,
        2_000_000, {"outstanding": 32, "drives": 64, "drive_seconds": 300e-6},
    ),
    *(
        Line(
            f"SSD of {size}, 4 KiB random {access}, 32 outstanding, steady state",
            f"ssd-{size.lower().replace(' ', '')}-{access}.toml", 0, 1_000_000,
            {"outstanding": 32, "drives": 64, "drive_seconds": 80e-6},
        )
        for access in ("read", "write") for size in ("64 GB", "8 TB")
    ),
    Line(
        "HDD, 8 KiB random, 32 outstanding, position-aware", "hdd-random.toml", 2e6, 2_000_000,
        {"outstanding": 32, "drives": 1, "drive_seconds": 5e-3},
    ),
    Line(
        "HDD, the same, 4096 outstanding", "hdd-random-4096.toml", 2e6 / 1.5, 2_000_000,
        {"outstanding": 4096, "drives": 1, "drive_seconds": 5e-3},
    ),
    Line(
        "8 HDDs, RAID 0, 256 outstanding", "hdd-raid0-8.toml", 0, 2_000_000,
        {"outstanding": 256, "drives": 8, "drive_seconds": 5e-3},
    ),
    Line(
        "1000 HDDs, independent, 32 outstanding each", "hdd-1000.toml", 0, 2_000_000,
        {"outstanding": 4000, "drives": 1000, "drive_seconds": 5e-3},
    ),
    Line(
        "RAID 5 on nine HDDs, random, 50 % writes", "raid5-hdd-9.toml", 500e3, 500_000,
        {"outstanding": 64, "drives": 9, "drive_seconds": 5e-3, "commands": 2},
    ),
    Line(
        "RAID 5 on 24 SSDs, database, 512 outstanding, cache on", "raid5-ssd-24.toml", 1e6,
        1_000_000, {"outstanding": 512, "drives": 24, "drive_seconds": 200e-6, "commands": 2},
    ),
    Line(
        # 300,000 I/Os are a minute of these; with 59 shadows each, an hour of the tier's life.
        "Tier of SSDs, 5000 I/Os a second, an hour in a minute", "tier-hour.toml", 30e3, 300_000,
        {"outstanding": 64, "drives": 4, "drive_seconds": 8e-3},
    ),
)  # fmt: skip


def plan_of(line: Line, ios: int) -> str:
    """The engine's plan of a line, ending after this many I/Os."""
    plan = load_scenario(HERE / "systems" / line.system).plan(0, 0)
    plan.update(max_ios=ios, timeline_step_ns=0)
    return json.dumps(plan)


def native(plan: str) -> dict[str, float]:
    """Wall seconds, I/Os and peak memory of one run, in a process of its own.

    A first run of a single I/O prepares what drives have been through; it is reported apart.
    """
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    _engine.run(json.dumps(json.loads(plan) | {"max_ios": 1}))
    prepare = time.perf_counter() - start
    start = time.perf_counter()
    result = json.loads(_engine.run(plan))
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    if result["breaches"]:
        raise RuntimeError(f"a bug: {result['breaches']}")
    ios = sum(workload["ios"] for workload in result["workloads"])
    return {"ios": ios, "seconds": seconds, "prepare_s": prepare, "mib": (peak - before) / 1024}


def in_own_process(function, *args):
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(function, *args).result()


def instructions(plan: str) -> float:
    """Instructions per I/O: the difference between a long and a short run, by callgrind."""
    binary = HERE.parent / "target" / "release" / "examples" / "run_plan"
    counts = []
    for ios in (20_000, 60_000):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "plan.json"
            path.write_text(json.dumps(json.loads(plan) | {"max_ios": ios}))
            done = subprocess.run(
                ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", binary, path],
                capture_output=True, text=True, check=True,
            )  # fmt: skip
        found = re.search(r"Collected : (\d+)", done.stderr)
        counts.append((int(found[1]), json.loads(done.stdout)["ios"]))
    (short, ios_short), (long, ios_long) = counts
    return (long - short) / (ios_long - ios_short)


def kernel_alone() -> list[dict[str, object]]:
    """The hold model of the calendar, by `cargo bench`."""
    done = subprocess.run(
        ["cargo", "bench", "-q", "-p", "raidlab-kernel", "--bench", "calendar"],
        capture_output=True, text=True, check=True, cwd=HERE.parent,
    )  # fmt: skip
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def measure(line: Line, *, quick: bool, count: bool) -> dict[str, object]:
    """One line: best of three runs, each in a process of its own."""
    ios = line.ios // 10 if quick else line.ios
    try:
        plan = plan_of(line, ios)
    except SpecError as error:
        return {"work": line.work, "why_not": str(error.faults[0])}
    runs = [in_own_process(native, plan) for _ in range(1 if quick else 3)]
    best = min(runs, key=lambda run: run["seconds"] / run["ios"])
    peer = peers.closed_loop(**line.peer, ios=2_000 if quick else 20_000)
    rate = best["ios"] / best["seconds"]
    found: dict[str, object] = {
        "work": line.work,
        "per_s": rate,
        "goal": line.goal,
        "simpy_per_s": peer,
        "ns_per_io": 1e9 / rate,
        "prepare_s": min(run["prepare_s"] for run in runs),
        "peak_mib": best["mib"],
    }
    if count:
        found["instructions_per_io"] = instructions(plan)
    return found


def reference(rows: list[dict[str, object]]) -> float | None:
    """How fast this machine is: the median of the SimPy peers that are three-stage queues.

    Those have a command for each I/O, and so few drives that they are one stage of three.
    """
    rates = [
        row["simpy_per_s"]
        for line, row in zip(LINES, rows, strict=True)
        if "simpy_per_s" in row and line.peer["drives"] <= _FEW_RUNS and "commands" not in line.peer
    ]
    return statistics.median(rates) if rates else None


def short(number: float) -> str:
    """Three figures: 7.04 M, 42.6 k, 165."""
    scales = ((1e6, " M"), (1e3, " k"), (1.0, ""))
    # From where on three figures are no longer 999 of the unit below.
    factor, unit = next((each for each in scales if number >= 0.9995 * each[0]), scales[-1])
    return f"{number / factor:.3g}{unit}"


def table_of(rows: list[dict[str, object]]) -> Table:
    """The systems in 80 columns: rates a second, times SimPy's, seconds of preconditioning."""
    table = Table("work", box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("I/Os a s", "goal", "SimPy", "times", "prep. s", "MiB"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        if "why_not" in row:
            table.add_row(f"{row['work']}: {row['why_not']}")
            continue
        table.add_row(
            row["work"], short(row["per_s"]), short(row["goal"]) if row["goal"] else "",
            short(row["simpy_per_s"]), short(row["per_s"] / row["simpy_per_s"]),
            f"{row['prepare_s']:.2f}", f"{row['peak_mib']:.0f}",
        )  # fmt: skip
    return table


def main() -> None:
    """Measure every line and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the I/Os, one run each")
    parser.add_argument("--instructions", action="store_true", help="count with valgrind")
    parser.add_argument("--json", action="store_true", help="JSON on standard output")
    args = parser.parse_args()
    if args.instructions and shutil.which("valgrind") is None:
        sys.exit("valgrind is not installed: apt-get install valgrind")
    if args.instructions:
        build = ["cargo", "build", "-q", "--release", "-p", "raidlab-engine", "--examples"]
        subprocess.run(build, check=True, cwd=HERE.parent)
    rows = [measure(line, quick=args.quick, count=args.instructions) for line in LINES]
    kernel = kernel_alone()
    here = reference(rows)
    if args.json:
        found = {"systems": rows, "kernel": kernel}
        found["reference"] = {"simpy_per_s": here, "where_goals_were_set": WHERE_GOALS_WERE_SET}
        print(json.dumps(found, indent=1))
        return
    console = Console()
    console.print(table_of(rows))
    for row in kernel:
        console.print(f"{row['work']}: {row['per_s']:,} events a second (goal 30,000,000)")
    for row in rows:
        if "instructions_per_io" in row:
            console.print(f"{row['work']}: {row['instructions_per_io']:,.0f} instructions an I/O")
    if here is not None:
        console.print(
            f"SimPy's three-stage queue here: {here:,.0f} I/Os a second;"
            f" {WHERE_GOALS_WERE_SET:,} where the goals were set"
        )


if __name__ == "__main__":
    main()
