"""Kills commands, and fills their disks, again and again; then nothing may be lost.

`python -m tests.reference.interruptions --kills 10 --full 5` shows a table: for each command how
often it was killed and met a full disk, runs that were stored and then missing, files that were
neither the old nor the new ones, and whether the outputs at the end equal those of an undisturbed
run, byte by byte. With `--mount`, as root, the disk is a file system in memory that is really full;
otherwise the size of files is limited.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from raidlab.calibration.measurements.measurement import Latency, Measurement, Point, Side
from raidlab.scenarios.running.store import Store
from tests import command_server

STATION = """
kind = "station"
name = "fixed"
capacity = "100 GB"
service = "1 ms"
distribution = "exponential"
[sources]
all = "assumed"
"""
SCENARIO = """
title = "Small"
[[array]]
drives = [{ model = "fixed.toml" }]
[[workload]]
rw = "randread"
block_size = "4 KiB"
outstanding = [1, 2, 3, 4, 6, 8, 12, 16]
[run]
warm_up = "10 ms"
duration = "100 s"
"""
REBUILD = """
title = "Rebuild"
[[array]]
name = "a"
level = "raid1"
software_raid = "os"
hot_spares = 1
used = "8 MiB"
drives = [{ model = "fixed.toml", count = 2 }]
[[workload]]
rw = "randread"
block_size = "4 KiB"
[[event]]
at = "1 s"
action = "fail-drive"
array = "a"
drive = 0
[run]
duration = "200 s"
"""


MOUNTED_BYTES = 32 << 20
ROOMS = (0, 2_000, 40_000)
"""Bytes that a full disk has left, one of them at a time."""


@dataclass(frozen=True)
class Case:
    """A command and what it leaves behind."""

    name: str
    words: Sequence[str]
    files: Sequence[str]


CASES = (
    Case("run", ("run", "s.toml", "--out", "o", "--html", "p.html"),
         ("o/result.json", "o/table.csv", "o/report.html", "p.html")),
    Case("rebuild", ("rebuild", "r.toml", "--rates", "20,50,100", "--html", "p.html"),
         ("p.html",)),
    Case("validate", ("validate", "--drive", "sas2-hdd", "--markdown", "v.md"), ("v.md",)),
    Case("calibrate", ("calibrate", "m.json", "--kind", "station", "--out", "d.toml",
                       "--seed", "3", "--budget", "40"), ("d.toml",)),
    Case("compare", ("compare", "m.json", "--device", "fixed.toml", "--html", "p.html"),
         ("p.html",)),
    Case("import", ("import", "trace", "t.csv", "--format", "msr", "--out", "i.json"),
         ("i.json",)),
)  # fmt: skip


def prepare(folder: Path) -> None:
    """What the commands read."""
    (folder / "fixed.toml").write_text(STATION)
    (folder / "s.toml").write_text(SCENARIO)
    (folder / "r.toml").write_text(REBUILD)
    lines = (
        f"{128166372003061629 + 10_000 * at},hm,0,Read,{4096 * (at * 7919 % 90_000)},4096,1000"
        for at in range(40_000)
    )
    (folder / "t.csv").write_text("\n".join(lines))
    points = tuple(
        Point(
            name=f"depth {depth}", rw="randread", read_share=1.0, bs=4096, iodepth=depth,
            read=Side(
                iops=950.0, ios=1000, latency_mean_us=1e6 * depth / 950,
                completion=Latency(mean_us=1e6 * depth / 950),
            ),
        )
        for depth in (1, 4, 32)
    )  # fmt: skip
    (folder / "m.json").write_text(Measurement(name="m", points=points).to_json())


def command(case: Case, folder: Path, **limits: Any) -> int:
    """The exit code of a command within limits of `command_server.run`."""
    store = {"RAIDLAB_STORE": str(folder / "store.sqlite")}
    return command_server.run(*case.words, cwd=folder, env=store, **limits).returncode


@contextmanager
def small_disk(folder: Path) -> Iterator[None]:
    """A file system of its own below a folder."""
    size = f"size={MOUNTED_BYTES}"
    subprocess.run(["mount", "-t", "tmpfs", "-o", size, "raidlab", str(folder)], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def run_full(case: Case, folder: Path, left: int) -> int:
    """The exit code of a command on a disk with this many bytes left: rather a page of it more."""
    if not folder.is_mount():
        return command(case, folder, bytes_most=left)
    filler = folder / "filler"
    disk = os.statvfs(folder)
    with filler.open("wb") as file:
        os.posix_fallocate(
            file.fileno(), 0, (disk.f_bavail - -(-left // disk.f_frsize)) * disk.f_frsize
        )
    try:
        return command(case, folder)
    finally:
        filler.unlink()


def entries(folder: Path) -> int:
    """Results in the store."""
    if not (folder / "store.sqlite").exists():
        return 0
    with Store(folder / "store.sqlite") as store:
        return store.overview().entries


def outputs(case: Case, folder: Path) -> dict[str, bytes]:
    """The files that are there."""
    found = {name: folder / name for name in case.files}
    return {name: path.read_bytes() for name, path in found.items() if path.exists()}


@dataclass
class Outcome:
    """What was seen of a command."""

    name: str
    killed: int = 0
    full: int = 0
    lost: int = 0
    """Times that the store had less after than before."""
    torn: int = 0
    """Files that were neither missing, nor old, nor complete."""
    equal: bool = False
    stored: int = 0


def disturb(case: Case, kills: int, full: int, seed: int = 1, *, mounted: bool = False) -> Outcome:
    """Kills a command `kills` times at random moments, fills its disk `full` times, reruns it."""
    with ExitStack() as stack:
        calm, folder = (Path(stack.enter_context(tempfile.TemporaryDirectory())) for _ in range(2))
        if mounted:
            stack.enter_context(small_disk(folder))
        prepare(calm)
        prepare(folder)
        command_server.run("store", "list", cwd=calm)  # Its own start is not the command's time.
        begun = time.monotonic()
        command(case, calm)
        whole = time.monotonic() - begun
        wanted, outcome = outputs(case, calm), Outcome(case.name)
        draw = random.Random(seed)
        for _ in range(10 * (kills + full)):
            left = kills - outcome.killed, full - outcome.full
            if left == (0, 0):
                break
            before, files = entries(folder), outputs(case, folder)
            if draw.randrange(sum(left)) < left[0]:
                after_s = draw.uniform(0.2, 1.0) * whole
                hit = command(case, folder, kill_after_s=after_s) == -signal.SIGKILL
                outcome.killed += hit
                # What is stored takes less time than it did at first.
                whole *= 1.0 if hit else 0.8
            else:
                code = run_full(case, folder, draw.choice(ROOMS))
                outcome.full += code != 0 or outputs(case, folder) == wanted
            outcome.lost += entries(folder) < before
            now = outputs(case, folder)
            outcome.torn += sum(now[n] not in (files.get(n), wanted[n]) for n in now)
        command(case, folder)
        outcome.equal = outputs(case, folder) == wanted and len(wanted) == len(case.files)
        outcome.stored = entries(folder)
        return outcome


def main() -> None:
    """Disturbs every command and prints what was seen."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--full", type=int, default=5)
    parser.add_argument("--mount", action="store_true", help="a file system that is full; as root")
    names = [case.name for case in CASES]
    parser.add_argument("--only", nargs="+", choices=names, default=names, metavar="COMMAND")
    asked = parser.parse_args()
    print("command     killed  full disks  results lost  files torn  stored  outputs equal")
    for case in (case for case in CASES if case.name in asked.only):
        seen = disturb(case, asked.kills, asked.full, mounted=asked.mount)
        print(
            f"{seen.name:11} {seen.killed:6}  {seen.full:10}  {seen.lost:12}  {seen.torn:10}"
            f"  {seen.stored:6}  {'yes' if seen.equal else 'NO'}",
            flush=True,
        )


if __name__ == "__main__":
    main()
