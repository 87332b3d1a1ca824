"""Do all of fio's example jobs run on a simulated system, or are they refused with a reason?

The folder is `examples` of fio's sources. Jobs that name no runtime end after 10 simulated
seconds; each file runs in a folder of its own, under a watchdog. The answer is a table for
`docs/evidence/fio.md`; the exit code is 1 if a job hung, broke, or said nothing.

With `--native` the engine runs the jobs, without fio, and where fio is installed it says of each
job whether fio itself takes it (`fio --parse-only`).

    python benchmarks/fio_examples.py FOLDER [--scenario S.toml] [--native]
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

RUNTIME_S = 10
WATCHDOG_S = 300
STAND_IN = (sys.executable, "-c", "from raidlab.commands.fio import stand_in; stand_in()")
SCENARIO = """
title = "RAID 10 of eight 15,000 rpm disks"
[[array]]
name = "data"
level = "raid10"
software_raid = "os"
drives = [{ model = "sas-6g-hdd", count = 8 }]
"""
NATIVE = (str(Path(sys.executable).with_name("raidlab")),)
_ISSUED = re.compile(r"issued rwts: total=([\d,]+)")


@dataclass(frozen=True)
class Outcome:
    """What became of a job file."""

    kind: str
    """`ran`, `refused`, `fio refused`, or what must not be: `hung`, `broke`, `no I/O`."""
    text: str
    wall_s: float


def outcome(job: Path, scenario: Path) -> Outcome:
    """Runs a job file on the simulated system."""
    environment = os.environ | {"RAIDLAB_SCENARIO": str(scenario)}
    done, wall = _run([*STAND_IN, f"--runtime={RUNTIME_S}", str(job.resolve())], environment)
    if done is None:
        return Outcome("hung", f"no end after {WATCHDOG_S} s", wall)
    refused = _refused(job, scenario, done, wall)
    if refused is not None:
        return refused
    issued = [int(n) for found in _ISSUED.findall(done.stdout) for n in found.split(",")]
    if done.returncode == 0 and sum(issued) > 0:
        return Outcome("ran", f"{sum(issued):,} I/Os", wall)
    first = next(iter((done.stderr + done.stdout).strip().splitlines()), "")
    if done.returncode != 0 and sum(issued) == 0 and first:
        return Outcome("fio refused", first, wall)
    return Outcome("no I/O" if done.returncode == 0 else "broke", first, wall)


def native(job: Path, scenario: Path) -> Outcome:
    """Runs a job file in the engine, without fio."""
    words = ["fio", "--native", "--scenario", str(scenario), f"--runtime={RUNTIME_S}"]
    done, wall = _run([*NATIVE, *words, str(job.resolve())], dict(os.environ))
    if done is None:
        return Outcome("hung", f"no end after {WATCHDOG_S} s", wall)
    refused = _refused(job, scenario, done, wall)
    if refused is not None:
        return refused
    if done.returncode != 0:
        first = next(iter(done.stderr.strip().splitlines()), "")
        return Outcome("broke", first, wall)
    found = json.loads(done.stdout)
    sides = [side for each in found["jobs"] for side in (each["read"], each["write"], each["trim"])]
    ios, seconds = sum(side["total_ios"] for side in sides), max(s["runtime"] for s in sides) / 1000
    notes = len(found["raidlab"]["notes"])
    text = f"{ios:,} I/Os in {seconds:,.1f} s, {notes} options without effect"
    return Outcome("ran" if ios else "no I/O", text, wall)


def parses(job: Path) -> str:
    """What fio itself says of a job file: nothing, or why it does not take it."""
    if shutil.which("fio") is None:
        return ""
    done, _ = _run(["fio", "--parse-only", str(job.resolve())], dict(os.environ))
    if done is None or done.returncode == 0:
        return ""
    first = next(iter((done.stderr + done.stdout).strip().splitlines()), "")
    return f"; fio refuses it: {first}"


def _run(
    words: list[str], environment: dict[str, str]
) -> tuple[subprocess.CompletedProcess[str] | None, float]:
    """A program in a folder of its own, none if it hung; and how long it took."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        try:
            done = subprocess.run(
                words, cwd=folder, text=True, env=environment, timeout=WATCHDOG_S,
                capture_output=True, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return None, WATCHDOG_S
    return done, time.monotonic() - started


def _refused(
    job: Path, scenario: Path, done: subprocess.CompletedProcess[str], wall: float
) -> Outcome | None:
    """That a job is refused with its reason, if it is."""
    faults = re.findall(r"^error: (.*)", done.stderr, re.MULTILINE)
    if done.returncode == 2 and any(fault.startswith(str(scenario)) for fault in faults):
        raise SystemExit(done.stderr)
    if done.returncode != 2 or not faults:
        return None
    fault = faults[0].removeprefix(f"{job.resolve()}: ")
    # Of an engine the reason stands behind the list of those that run.
    return Outcome("refused", fault.split("; ")[-1] if "ioengine" in fault else fault, wall)


def main() -> int:
    """Prints the table; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--scenario", type=Path)
    parser.add_argument("--native", action="store_true")
    given = parser.parse_args()
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        scenario = given.scenario or Path(folder, "system.toml")
        if given.scenario is None:
            scenario.write_text(SCENARIO, encoding="utf-8")
        print("| job | | |\n|---|---|---|")
        for job in sorted(given.folder.glob("*.fio")):
            run = native if given.native else outcome
            found = run(job, scenario.resolve())
            counts[found.kind] += 1
            text = found.text + (parses(job) if given.native else "")
            text = text.replace("|", "\\|").replace("<", "&lt;")
            print(f"| `{job.name}` | {found.kind} | {text} |", flush=True)
            print(f"{job.name}: {found.wall_s:.1f} s", file=sys.stderr, flush=True)
    print("\n" + ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items())))
    return 0 if set(counts) <= {"ran", "refused", "fio refused"} else 1


if __name__ == "__main__":
    sys.exit(main())
