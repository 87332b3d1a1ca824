"""A few measured points more: a sheet's drive fitted to three of them, and judged by the rest.

`make datasheets` writes what comes out into docs/evidence/datasheets.md. Depth curves and block
sizes are fitted; latencies beside writes are no points of a measurement, and are only predicted.
"""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from raidlab.calibration.datasheets.measured import Compared, compare
from raidlab.calibration.fitting.calibrate import calibrate
from raidlab.calibration.fitting.estimation.stages import Settings
from raidlab.calibration.measurements.measurement import Latency, Measurement, Point, Side
from raidlab.devices.files import write_file
from raidlab.scenarios.results import markdown

_BUDGET = 600
_LONG_S = 60.0


@dataclass(frozen=True)
class Case:
    """A drive, and the points that its fit may see: depths, or sizes of blocks."""

    device: str
    rw: str
    depths: tuple[int, ...]
    """In flight, as the measurement has them."""
    blocks: tuple[int, ...] = (4096,)


CASES = (
    Case("980-pro-1000", "randread", (1, 16, 256)),
    Case("p4610-1600", "randread", (2048,), (512, 4096, 16384)),
    Case("micron-7450-pro-960", "randwrite", (384,)),
    Case("pe8110-960", "randwrite", (384,)),
)
"""Ends and middle of each curve; of the drives in steady state the one point of their ceiling."""


@dataclass(frozen=True)
class Fitted:
    """What the points that a fit has not seen were before it, and after."""

    case: Case
    seen: int
    before: tuple[Compared, ...]
    after: tuple[Compared, ...]


def fit_few() -> list[Fitted]:
    """Every case, fitted; the same on every machine."""
    every = compare()
    return [_fitted(case, every) for case in CASES]


def _fitted(case: Case, every: Sequence[Compared]) -> Fitted:
    of = [each for each in every if each.load.device == case.device]
    seen = [each for each in of if _is_seen(case, each)]
    settings = Settings(
        kind="nvme",
        host="nvme",
        like=case.device,
        name=case.device,
        budget=_BUDGET,
        leave_out=False,
    )
    measurement = Measurement(name=case.device, points=tuple(_point(each) for each in seen))
    found = calibrate(measurement, settings)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{case.device}.toml"
        write_file(file, found.to_toml())
        after = compare({case.device: file})
    rest = [each for each in of if each not in seen]
    loads = {(each.load, each.metric) for each in rest}
    return Fitted(
        case,
        len(seen),
        tuple(rest),
        tuple(each for each in after if (each.load, each.metric) in loads),
    )


def _is_seen(case: Case, each: Compared) -> bool:
    load = each.load
    return (
        load.rw in (case.rw, f"{case.rw}:nvme")
        and load.depth in case.depths
        and load.block_bytes in case.blocks
    )


def _point(each: Compared) -> Point:
    load = each.load
    jobs = max(1, load.threads)
    latency = 1e6 * load.depth / each.measured
    side = Side(
        iops=each.measured,
        ios=round(each.measured * _LONG_S),
        latency_mean_us=latency,
        completion=Latency(mean_us=latency),
    )
    reads = load.rw.startswith("randread")
    return Point(
        name=f"{load.rw} {load.depth}",
        rw="randread" if reads else "randwrite",
        read_share=1.0 if reads else 0.0,
        bs=load.block_bytes,
        iodepth=load.depth // jobs,
        numjobs=jobs,
        state="filled" if reads else "steady-state",
        runtime_s=_LONG_S,
        read=side if reads else None,
        write=None if reads else side,
    )


def table(found: Sequence[Fitted]) -> Iterator[str]:
    """The page's part about them."""
    yield from (
        "## A few points more",
        "Each drive once more, by `raidlab calibrate --like`: the device from the sheet is the",
        "prior, and the fit sees the points named. The rest judges both; median errors.",
        "",
        *markdown.table("drive | seen | judged by | from the sheet alone | with these points"),
    )
    for each in found:
        blocks, depths = each.case.blocks, each.case.depths
        what = (
            f"blocks of {', '.join(str(block) for block in blocks)} B"
            if len(blocks) > 1
            else f"{each.case.rw} at depth {', '.join(map(str, depths))}"
        )
        for kind, judged in (("rates", False), ("read latencies", True)):
            errors = [
                [abs(c.error_pct) for c in part if c.metric.endswith("_us") is judged]
                for part in (each.before, each.after)
            ]
            if errors[0]:
                both = (f"{statistics.median(part):.0f} %" for part in errors)
                yield markdown.row((each.case.device, what, f"{len(errors[0])} {kind}", *both))
