"""Tails of drives that were never seen: the class of each with the pauses of the others.

`python -m raidlab.calibration.datasheets.tails FOLDER` takes a folder of fio's results, a folder
for each drive behind a host, and writes docs/evidence/tails.md. Pauses come from the sets of the
other drives alone; the rest of a drive is that of its class, made of data sheets.
"""

from __future__ import annotations

import math
import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from raidlab.calibration.fio.results import import_fio
from raidlab.calibration.fitting.estimation.pauses import Kind, pauses_of, typical
from raidlab.calibration.measurements.measurement import Measurement, Point
from raidlab.devices.catalogue import SPECS
from raidlab.devices.datasheet.draft import quantity
from raidlab.devices.datasheet.tail_spread import TailSpread, learned
from raidlab.devices.files import write_file, write_files
from raidlab.devices.schema import read_toml
from raidlab.devices.spec_writer import device_toml
from raidlab.devices.trees import table_at
from raidlab.scenarios.planning.scenario import build_scenario
from raidlab.scenarios.results import markdown
from raidlab.scenarios.results.row import latency_at
from raidlab.scenarios.running.simulate import simulate
from raidlab.scenarios.studies.draws import draws

PAGE = Path("docs/evidence/tails.md")
LISTING = PAGE.with_suffix(".csv")
_DRAWS = 10
_DEPTHS = (1, 4, 16)
_Z95 = 1.96
_LEFT_OUT = 10
"""One in this many of the fitted kinds at each end is no bound."""
_PERCENTILES = {"p99": "99", "p99_9": "99.9"}


@dataclass(frozen=True)
class Set:
    """Results of one drive behind one host, and what stands for both."""

    folder: str
    drive: str
    model: str
    """Device of the drive's class."""
    host: str


SETS = (
    Set("sas2008-intel-d3-s4610", "Intel S4610", "generic-sata-tlc", "sas2008"),
    Set("sata-3g-intel-d3-s4610", "Intel S4610", "generic-sata-tlc", "sata-3g"),
    Set("ahci-intel-d3-s4610", "Intel S4610", "generic-sata-tlc", "ahci"),
    Set("sas2008-kingston-dc500m", "Kingston DC500M", "generic-sata-tlc", "sas2008"),
    Set("p420i-mx200", "Crucial MX200", "generic-sata-tlc-client", "p420i"),
)


@dataclass(frozen=True)
class Tail:
    """A measured percentile beside the predicted one, in microseconds."""

    of: Set
    rw: str
    depth: int
    percentile: str
    measured: float
    predicted: float
    drawn: tuple[float, float]

    @property
    def ratio(self) -> float:
        """Predicted over measured."""
        return self.predicted / self.measured

    @property
    def is_within(self) -> bool:
        """True if the draws hold what was measured."""
        return self.drawn[0] <= self.measured <= self.drawn[1]


def predicted(folder: Path) -> list[Tail]:
    """Every tail of the sets, predicted without its drive.

    Raises:
        SpecError: A set is missing or cannot be read.
    """
    read = {each: import_fio([folder / each.folder]) for each in SETS}
    tails = []
    for each, measurement in read.items():
        others = [
            kind
            for other, seen in read.items()
            if other.drive != each.drive
            for kind in pauses_of(seen)
        ]
        tails += _of_set(each, measurement, others)
    return tails


def widened(tails: Sequence[Tail]) -> list[Tail]:
    """As `predicted`, with draws that have the spread which the other drives' own tails show.

    A factor of the draws' middle: both spreads are those of logarithms, and add as squares.
    """
    return [_widened(tail, spread_without(tails, tail.of.drive)) for tail in tails]


def spread_without(tails: Sequence[Tail], drive: str | None) -> TailSpread:
    """What the tails of all drives but one show."""

    def of(kind: str) -> float:
        ratios: dict[str, list[float]] = {}
        for tail in tails:
            if kind in tail.rw and tail.of.drive != drive:
                ratios.setdefault(tail.of.drive, []).append(tail.ratio)
        return learned(ratios)

    return TailSpread(read=of("read"), write=of("write"))


def _widened(tail: Tail, spread: TailSpread) -> Tail:
    sigma = spread.of(reads="read" in tail.rw, writes="write" in tail.rw)
    low, high = tail.drawn
    ends = []
    for end, sign in ((low, -1.0), (high, 1.0)):
        own = max(0.0, sign * math.log(end / tail.predicted))
        ends.append(tail.predicted * math.exp(sign * math.hypot(own, _Z95 * sigma)))
    return replace(tail, drawn=(ends[0], ends[1]))


def _of_set(of: Set, measurement: Measurement, kinds: Sequence[Kind]) -> list[Tail]:
    tails = []
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / f"{of.model}.toml"
        write_file(model, with_pauses(of.model, kinds))
        for point in measurement.points:
            if point.numjobs == 1 and point.iodepth in _DEPTHS and point.read_share in (0, 1):
                tails += _of_point(of, point, model)
    return tails


def with_pauses(model: str, kinds: Sequence[Kind]) -> str:
    """The device file of a class with the typical one of `kinds` for its pauses."""
    tree = read_toml(SPECS / "ssd" / f"{model}.toml")
    sources = dict(table_at(tree, "sources"))
    del tree["sources"]
    usual = typical(kinds)
    assert usual is not None
    tree["pause"] = [
        {
            "every": quantity(usual.every_us, "us"),
            "length": quantity(usual.length_us, "us"),
        }
    ]
    for key, values in {
        "pause.0.every": [kind.every_us for kind in kinds],
        "pause.0.length": [kind.length_us for kind in kinds],
    }.items():
        inner = sorted(values)[len(values) // _LEFT_OUT : -(len(values) // _LEFT_OUT) or None]
        ends = [quantity(end, "us") for end in (inner[0], inner[-1])]
        sources[key] = {"source": "assumed", "note": "other drives", "range": ends}
    return device_toml(tree, sources, ["Pauses of other drives."])


def _of_point(of: Set, point: Point, model: Path) -> list[Tail]:
    side = point.read if point.read_share == 1 else point.write
    if side is None:
        return []
    writes = point.read_share == 0
    tree = {
        "host": {"model": of.host},
        "array": [{"drives": [{"model": str(model)}]}],
        "workload": [
            {
                "rw": "randwrite" if writes else "randread",
                "block_size": "4 KiB",
                "outstanding": [point.iodepth],
            }
        ],
        "run": {
            "precondition": "steady-state" if writes else "filled",
            "warm_up": "300 ms",
            "duration": "3 s",
            "seed": 1,
        },
    }
    scenario = build_scenario(tree)
    alone = TailSpread(0.0, 0.0)
    (row,) = draws(scenario, simulate(scenario, workers=2), _DRAWS, tails=alone).results
    tails = []
    for name, percent in _PERCENTILES.items():
        measured, simulated = side.completion.percentile(float(percent)), latency_at(row, name)
        within = (row.get("latency_us_draws95") or {}).get(name)
        if measured is not None and simulated is not None and within is not None:
            low, high = within
            tails.append(
                Tail(of, str(point.rw), point.iodepth, name, measured, simulated, (low, high))
            )
    return tails


def page(tails: Sequence[Tail]) -> str:
    """The evidence."""
    within = sum(tail.is_within for tail in tails)
    wide = widened(tails)
    held = sum(tail.is_within for tail in wide)
    every = spread_without(tails, None)
    lines = [
        "# Tails of drives that were never seen",
        "",
        "What p99 and p99.9 of a drive are worth of which only the class is known. Made by",
        "`python -m raidlab.calibration.datasheets.tails FOLDER` from fio's results. The pauses",
        "are those of the other drives. All else is the drive of its class, made of data sheets,",
        "behind the host of the catalogue. Nothing is fitted to the drive that is judged. The sets",
        "have reads and writes, none of both.",
        "",
        "How: [pauses](../explanation/pauses.md).",
        "",
        f"{len(tails)} percentiles. {within} of them ({100 * within / len(tails):.0f} %) lie within"
        f" {_DRAWS} draws of the class, and",
        f"{held} ({100 * held / len(tails):.0f} %) where the draws have the spread that the other"
        " drives' tails show, as below.",
        "",
        f"Over all drives that spread is {every.read:.2f} of the logarithm for reads,"
        f" {every.write:.2f} for writes.",
        "",
        *markdown.table("percentiles | points | median ratio | median error | within"),
    ]
    groups: dict[str, list[Tail]] = {"all": list(wide)}
    for tail in wide:
        kind = "writes" if "write" in tail.rw else "reads"
        for name in (kind, f"{tail.percentile} of {kind}".replace("_", "."), tail.of.drive):
            groups.setdefault(name, []).append(tail)
    for name, each in sorted(groups.items()):
        ratio = statistics.median(tail.ratio for tail in each)
        error = math.exp(statistics.median(abs(math.log(tail.ratio)) for tail in each)) - 1
        held = sum(tail.is_within for tail in each)
        cells = (name, len(each), f"{ratio:.2f}", f"{100 * error:.0f} %", held)
        lines.append(markdown.row(cells))
    lines += ["", f"Each percentile, one a row: [{LISTING.name}]({LISTING.name})."]
    return "\n".join(lines) + "\n"


def listing(tails: Sequence[Tail]) -> str:
    """Each percentile as a row of CSV, with the ends of its widened draws, in microseconds."""
    lines = ["drive,host,load,depth,percentile,measured_us,predicted_us,drawn_low_us,drawn_high_us"]
    for tail in widened(tails):
        low, high = tail.drawn
        lines.append(
            f"{tail.of.drive},{tail.of.host},{tail.rw},{tail.depth},"
            f"{tail.percentile.replace('_', '.')},{tail.measured:.0f},{tail.predicted:.0f},"
            f"{low:.0f},{high:.0f}"
        )
    return "\n".join(lines) + "\n"


def main() -> int:
    """The command."""
    if len(sys.argv) < 2:
        print("error: FOLDER: a folder of fio's results", file=sys.stderr)
        return 2
    tails = predicted(Path(sys.argv[1]))
    write_files({PAGE: page(tails), LISTING: listing(tails)})
    print(f"wrote {PAGE}, {LISTING}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
