"""Do all of fio's example jobs run on a simulated system, or are they refused with a reason?

The folder is `examples` of fio's sources. Jobs that name no runtime end after 10 simulated
seconds; each file runs in a folder of its own, under a watchdog. The answer is a table for
`docs/evidence/fio.md`; the exit code is 1 if a job hung, broke, or said nothing.

    python benchmarks/fio_examples.py FOLDER [--scenario S.toml]
"""

from __future__ import annotations

import argparse
import os
import re
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
title = "One NVMe SSD"
[[array]]
name = "nvme"
drives = [{ model = "p3700-800" }]
"""
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
    started = time.monotonic()
    environment = os.environ | {"RAIDLAB_SCENARIO": str(scenario)}
    with tempfile.TemporaryDirectory() as folder:
        try:
            done = subprocess.run(
                [*STAND_IN, f"--runtime={RUNTIME_S}", str(job.resolve())], cwd=folder, text=True,
                env=environment, timeout=WATCHDOG_S, capture_output=True, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return Outcome("hung", f"no end after {WATCHDOG_S} s", WATCHDOG_S)
    wall = time.monotonic() - started
    faults = re.findall(r"^error: (.*)", done.stderr, re.MULTILINE)
    if done.returncode == 2 and faults:
        return Outcome("refused", faults[0].removeprefix(f"{job.resolve()}: "), wall)
    issued = [int(n) for found in _ISSUED.findall(done.stdout) for n in found.split(",")]
    if done.returncode == 0 and sum(issued) > 0:
        return Outcome("ran", f"{sum(issued):,} I/Os", wall)
    first = next(iter((done.stderr + done.stdout).strip().splitlines()), "")
    if "Starting" not in done.stdout and done.returncode != 0:
        return Outcome("fio refused", first, wall)
    return Outcome("no I/O" if done.returncode == 0 else "broke", first, wall)


def main() -> int:
    """Prints the table; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--scenario", type=Path)
    given = parser.parse_args()
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        scenario = given.scenario or Path(folder, "system.toml")
        if given.scenario is None:
            scenario.write_text(SCENARIO, encoding="utf-8")
        print("| job | | |\n|---|---|---|")
        for job in sorted(given.folder.glob("*.fio")):
            found = outcome(job, scenario.resolve())
            counts[found.kind] += 1
            text = found.text.replace("|", "\\|").replace("<", "&lt;")
            print(f"| `{job.name}` | {found.kind} | {text} |", flush=True)
            print(f"{job.name}: {found.wall_s:.1f} s", file=sys.stderr, flush=True)
    print("\n" + ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items())))
    return 0 if set(counts) <= {"ran", "refused", "fio refused"} else 1


if __name__ == "__main__":
    sys.exit(main())
