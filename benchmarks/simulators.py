"""Other simulators on equal work: I/Os a second of CPU time, and the ratio to raidlab's.

    python benchmarks/simulators.py --mqsim FOLDER --simplessd FOLDER --disksim FOLDER [--rounds 3]

FOLDER has the simulator's sources, built: MQSim by `make`; SimpleSSD-Standalone, with SimpleSSD as
`simplessd` and McPAT as `simplessd/lib/mcpat`, by cmake in its folder `build`. Without a folder the
simulator is left out. Today's compilers build SimpleSSD with a number for SIGSTKSZ in
`sim/signal.cc` and with

    -DCMAKE_CXX_FLAGS="-include limits -include cstring -include strings.h -Wno-error"

The work is one NVMe SSD with 32 random 4 KiB I/Os outstanding; the cost of an I/O is the difference
of a long and a short run, so that start and preconditioning do not count.
A SimPy model of three stages does the same number of I/Os. DiskSim's disk: `disksim_disk.py`.
Rounds alternate between simulators; the median counts. What each simulates: docs/evidence/speed.md.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from enum import StrEnum
from functools import partial
from pathlib import Path

import disksim_disk
import peers

from raidlab.scenarios import _engine
from raidlab.scenarios.planning.scenario import load_scenario

SYSTEMS = Path(__file__).parent / "systems"
OUTSTANDING = 32
SHORT, LONG = 20_000, 200_000
"""I/Os of the two runs of another simulator."""
OWN_SHORT, OWN_LONG = 200_000, 2_000_000


class Work(StrEnum):
    """What is asked of the drive."""

    READS = "random reads"
    WRITES = "random writes"


Cost = Callable[[Work, int], float]
"""CPU seconds of a run: the work, and how many I/Os it has."""


def of_raidlab(work: Work, ios: int) -> float:
    """One thread of the engine."""
    system = "ssd-random-read.toml" if work is Work.READS else "ssd-random-write.toml"
    return _own(load_scenario(SYSTEMS / system).plan(0, 0), ios)


def _own(plan: dict[str, object], ios: int) -> float:
    text = json.dumps({**plan, "max_ios": ios, "timeline_step_ns": 0})
    begun = time.process_time()
    _engine.run(text)
    return time.process_time() - begun


def of_simpy(work: Work, ios: int) -> float:
    """Host, link and 64 dies as resources of SimPy."""
    begun = time.process_time()
    seconds = 80e-6 if work is Work.READS else 300e-6
    peers.closed_loop(OUTSTANDING, drives=64, drive_seconds=seconds, ios=ios)
    return time.process_time() - begun


def _child(command: list[str], folder: Path) -> float:
    """CPU seconds of a program in a folder.

    Raises:
        SystemExit: It failed; says how.
    """
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, input="\n")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(f"{command[0]}: status {done.returncode}: {done.stderr[-500:]}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def of_mqsim(sources: Path) -> Cost:
    """MQSim with its own drive; 75 % of it are in use, reads pass by its cache."""

    def cost(work: Work, ios: int) -> float:
        text = (sources / "workload.xml").read_text()
        tag = "IO_Flow_Parameter_Set_Synthetic"
        found = re.search(f"<{tag}>.*?</{tag}>", text, re.DOTALL)
        if found is None:
            raise SystemExit(f"{sources / 'workload.xml'}: no {tag}")
        flow = found[0]
        for key, value in {
            "Device_Level_Data_Caching_Mode": "TURNED_OFF" if work is Work.READS else "WRITE_CACHE",
            "Read_Percentage": 100 * (work is Work.READS),
            "Working_Set_Percentage": 75,
            "Address_Alignment_Unit": 8,
            "Average_No_of_Reqs_in_Queue": OUTSTANDING,
            "Stop_Time": 0,
            "Total_Requests_To_Generate": ios,
        }.items():
            flow = re.sub(f"<{key}>.*?</{key}>", f"<{key}>{value}</{key}>", flow)
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            parts = ["MQSim_IO_Scenarios", "IO_Scenario"]
            opened, closed = (f"<{p}>" for p in parts), (f"</{p}>" for p in reversed(parts))
            (folder / "load.xml").write_text("".join([*opened, flow, *closed]))
            drive = str(sources / "ssdconfig.xml")
            return _child([str(sources / "MQSim"), "-i", drive, "-w", "load.xml"], folder)

    return cost


def of_simplessd(sources: Path) -> Cost:
    """SimpleSSD with its own drive behind NVMe, filled before the load."""

    def cost(work: Work, ios: int) -> float:
        host = (sources / "config" / "sample.cfg").read_text()
        drive = (sources / "simplessd" / "config" / "sample.cfg").read_text()
        host = _set(
            host,
            Interface=1, LogPeriod=0, io_size=4096 * ios, iodepth=OUTSTANDING,
            readwrite="randread" if work is Work.READS else "randwrite",
        )  # fmt: skip
        drive = _set(drive, FillingMode=1, FillRatio=0.75, EnableReadCache=0)
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "host.cfg").write_text(host)
            (folder / "drive.cfg").write_text(drive)
            program = str(sources / "build" / "simplessd-standalone")
            return _child([program, "host.cfg", "drive.cfg", name], folder)

    return cost


def _set(text: str, **values: object) -> str:
    """A file of settings with others."""
    for key, value in values.items():
        text = re.sub(rf"^{key} *=.*$", f"{key} = {value}", text, flags=re.MULTILINE)
    return text


def rate(cost: Callable[[int], float], short: int, long: int) -> float:
    """I/Os a second of CPU time."""
    return (long - short) / (cost(long) - cost(short))


def row(name: str, work: str, pairs: list[tuple[float, float]]) -> str:
    """A line of the table: the other's rate and ours of each round."""
    theirs, own = (statistics.median(each) for each in zip(*pairs, strict=True))
    ratio = statistics.median(one / other for other, one in pairs)
    return f"| {name} | {work} | {theirs:,.0f} | {own:,.0f} | {ratio:.0f} |"


def disks(sources: Path, rounds: int) -> Iterator[str]:
    """DiskSim's lines."""
    for depth, ios in disksim_disk.IOS.items():
        other = disksim_disk.of_disksim(sources, depth, _child)
        own = disksim_disk.of_raidlab(sources, depth, _own)
        pairs = [(rate(other, *ios), rate(own, *disksim_disk.OWN_IOS)) for _ in range(rounds)]
        yield row("DiskSim", f"disk, random reads, depth {depth}", pairs)


def main() -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mqsim", type=Path)
    parser.add_argument("--simplessd", type=Path)
    parser.add_argument("--disksim", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    others: dict[str, Cost] = {"SimPy": of_simpy}
    if asked.mqsim:
        others["MQSim"] = of_mqsim(asked.mqsim.resolve())
    if asked.simplessd:
        others["SimpleSSD"] = of_simplessd(asked.simplessd.resolve())
    print("| simulator | work | I/Os a CPU second | raidlab beside it | ratio |")
    print("|---|---|---|---|---|")
    for work in Work:
        for name, cost in others.items():
            pairs = [
                (
                    rate(partial(cost, work), SHORT, LONG),
                    rate(partial(of_raidlab, work), OWN_SHORT, OWN_LONG),
                )
                for _ in range(asked.rounds)
            ]
            print(row(name, work, pairs), flush=True)
    if asked.disksim:
        for line in disks(asked.disksim.resolve(), asked.rounds):
            print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
