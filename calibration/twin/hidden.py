"""How near twins of known systems come, of which they see nothing but rates and latencies.

    python -m raidlab.calibration.twin.hidden [NAME...] [--page docs/evidence/twin.md]

Each system is simulated. The loop of `raidlab twin` measures it at its defaults. Then `LOADS` loads
are drawn at random, measured and predicted. Beside it stand two plans of the collector, whose loads
are measured in the same time and fitted by the same laws: `quick`, and the sweep of `pts-iops` in
its order. Prints Markdown, or writes it into the page.
"""

from __future__ import annotations

import argparse
import math
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Final

from raidlab.calibration.fitting.bench.bench import Bench, Effort
from raidlab.calibration.fitting.bench.scenario_bench import bench_of_scenario
from raidlab.calibration.fitting.calibrate_by_law import calibrate_by_law
from raidlab.calibration.fitting.estimation.stages import Settings
from raidlab.calibration.fitting.parameters.kinds import TABLE
from raidlab.calibration.measurements.measurement import Measurement, Point
from raidlab.calibration.twin.asks import KIB, Ask, kept_back
from raidlab.calibration.twin.evidence import Errors, write_rows
from raidlab.calibration.twin.intervals import interval_pct
from raidlab.calibration.twin.loop import TwinSettings, run_twin
from raidlab.calibration.twin.targets import SECONDS, SimulatedTarget

MARKS: Final = ("<!-- made by `make hidden-evidence` -->", "<!-- end of hidden -->")
HEAD: Final = (
    "| system | points | minutes | answer | median, nine in ten | interval | holds | quick | pts |",
    "|---|---|---|---|---|---|---|---|---|",
)
LOADS: Final = 200
_SEED: Final = 77
"""Of the loads that are drawn, and of their measurements: the twin's own is 1."""
_RUN: Final = Effort(ios=4000, ios_of_slow=2000, rounds=12.0)
_FILE = "device.toml"

_VOLUME = """kind = "volume"
name = "hidden"
capacity = "100 GB"
{of}
[sources]
all = "assumed"
"""
_SERVED = """[server]
read = "12 us"
write = "15 us"
read_mib = "600 us"
write_mib = "300 us"
spread = 0.8
[latency]
read = "60 us"
write = "50 us"
"""
_FOUR = """[server]
servers = 4
read = "30 us"
write = "20 us"
read_mib = "900 us"
write_mib = "1300 us"
apart = true
[latency]
read = "80 us"
write = "30 us"
"""
_CAPS = 'limits = { rate = "20000 IO/s", throughput = "300 MB/s" }\n'
_LATENT = '[latency]\nread = "300 us"\nwrite = "600 us"\n'
_BURSTS = (
    'limits = { rate = "3000 IO/s", throughput = "125 MiB/s" }\n'
    f'{_LATENT}[burst]\nrate = "12000 IO/s"\ncredit = "2 s"\n'
)
_COPIED = """[server]
read = "6 us"
write = "11 us"
read_mib = "110 us"
write_mib = "160 us"
spread = 1.0
cache = "6 MiB"
uncached = 2.2
[latency]
read = "20 us"
write = "25 us"
"""


@dataclass(frozen=True)
class Hidden:
    """A system: its array as a scenario has it, and a device's file if it has one of its own."""

    name: str
    array: str
    device: str = ""

    @property
    def scenario(self) -> str:
        """The text of the scenario file."""
        return (
            f'[host]\nmodel = "generic"\n{self.array}\n'
            '[[workload]]\nrw = "randread"\nblock_size = "4 KiB"\noutstanding = 8\n'
            '[run]\nduration = "1 s"\n'
        )


def _volume(name: str, of: str) -> Hidden:
    return Hidden(name, f'[[array]]\ndrives = [{{ model = "{_FILE}" }}]', _VOLUME.format(of=of))


def _drives(name: str, model: str, count: int = 1, level: str = "", above: str = "") -> Hidden:
    several = f", count = {count}" if count > 1 else ""
    of = f'level = "{level}"\n' if level else ""
    of += 'software_raid = "os"\n' if level and not above else ""
    head = f'[controller]\nmodel = "{above}"\nbackup = "fbu"\n' if above else ""
    array = f'[[array]]\n{of}drives = [{{ model = "{model}"{several} }}]'
    return Hidden(name, f"{head}{array}")


SYSTEMS: Final = (
    _volume("volume with caps", _CAPS + _LATENT),
    _volume("virtual machine's disk", _SERVED),
    _volume("the same with caps", _CAPS + _SERVED),
    _volume("four servers a direction", _FOUR),
    _drives("NVMe SSD, 980 PRO", "980-pro-1000"),
    _drives("SATA SSD, 860 PRO", "860-pro-1000"),
    _drives("NVMe SSD, 970 EVO Plus", "970-evo-plus-1000"),
    _drives("md RAID 10 of four disks", "generic-7200rpm", 4, "raid10"),
    _drives(
        "RAID 5 of five disks behind a cache", "generic-7200rpm", 5, "raid5", "megaraid-9460-8i"
    ),
    _volume("volume with caps and bursts", _BURSTS),
    _volume("loop device", _COPIED),
    _drives("md RAID 1 of two SATA SSDs", "860-pro-1000", 2, "raid1"),
)  # fmt: skip

QUICK: Final = (
    *(Ask(share, 4 * KIB, depth) for share in (1.0, 0.0) for depth in (1, 32)),
    *(Ask(0.67, 8 * KIB, depth) for depth in (1, 16, 64)),
    Ask(0.67, 64 * KIB, 16),
    *(Ask(s, 64 * KIB, depth, sequential=True) for s in (1.0, 0.0) for depth in (1, 16)),
)
"""The loads of the plan `quick`."""
PTS: Final = tuple(
    Ask(share, round(size * KIB), 16, 2)
    for share, size in product(
        (1.0, 0.95, 0.65, 0.5, 0.35, 0.05, 0.0), (1024, 128, 64, 32, 16, 8, 4, 0.5)
    )
)
"""The sweep of the plan `pts-iops`, in its order."""


@dataclass(frozen=True)
class Row:
    """A system's twin beside two plans."""

    of: Hidden
    points: int
    kind: str
    errors: Errors
    interval_pct: float | None
    holds: float
    """Percent of the loads within the interval."""
    quick: Errors
    pts: Errors
    cpu_s: float

    def text(self) -> str:
        """A row of the table."""
        within = "-" if self.interval_pct is None else f"{self.interval_pct:.0f}"
        kind = "table" if self.kind == TABLE else "law"
        return (
            f"| {self.of.name} | {self.points} | {self.points * SECONDS / 60.0:.1f} | {kind} |"
            f" {self.errors.text()} | {within} | {self.holds:.0f} | {self.quick.text()} |"
            f" {self.pts.text()} |"
        )


def row_of(of: Hidden, folder: Path, loads: int = LOADS) -> Row:
    """Makes the twin of a system and judges it.

    Args:
        of: The system.
        folder: An empty one, where files go.
        loads: How many are drawn.
    """
    begun = time.process_time()
    (folder / "system.toml").write_text(of.scenario, encoding="utf-8")
    if of.device:
        (folder / _FILE).write_text(of.device, encoding="utf-8")
    target = SimulatedTarget(of.name, bench_of_scenario(str(folder / "system.toml")))
    (folder / "twin").mkdir()
    twin = run_twin(target, TwinSettings(folder / "twin"))
    truth = SimulatedTarget(of.name, target.bench, _SEED)
    judged = truth.measure(kept_back(loads, _SEED, writes=True), 1)
    errors = _errors(twin.result.bench, judged)
    within = interval_pct(twin)
    most = math.log1p((within or 0.0) / 100.0)
    quick, pts = (_by_plan(target, asks[: twin.points], judged) for asks in (QUICK, PTS))
    held = sum(abs(math.log1p(error / 100.0)) <= most for error in errors)
    return Row(
        of, twin.points, twin.result.settings.kind, Errors.of(errors), within,
        100.0 * held / len(errors), quick, pts, time.process_time() - begun,
    )  # fmt: skip


def _by_plan(target: SimulatedTarget, asks: Sequence[Ask], judged: Sequence[Point]) -> Errors:
    """What the same laws make of a plan's loads."""
    points = target.measure(asks, 2)
    measurement = Measurement(name="plan", points=tuple(points), machine=target.machine())
    settings = Settings(kind="", name="plan")
    fit = calibrate_by_law(measurement, settings, lambda done, steps: None)
    return Errors.of(_errors(fit.bench, judged))


def _errors(bench: Bench, judged: Sequence[Point]) -> list[float]:
    """Of predicted rates, in percent."""
    results = bench.run_all(judged, _RUN)
    return [100.0 * (r.iops / p.iops - 1.0) for p, r in zip(judged, results, strict=True)]


def main() -> int:
    """Prints the rows, or writes them into a page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="systems; all if none is named")
    parser.add_argument("--page", type=Path, help="page whose table is made anew")
    given = parser.parse_args()
    rows = []
    for line in HEAD:
        print(line, flush=True)
    for of in SYSTEMS:
        if given.names and of.name not in given.names:
            continue
        with tempfile.TemporaryDirectory() as folder:
            found = row_of(of, Path(folder))
        rows.append(found.text())
        print(f"{rows[-1]} <!-- {found.cpu_s:.0f} s of CPU -->", flush=True)
    if given.page:
        write_rows(given.page, MARKS, (*HEAD, *rows))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
