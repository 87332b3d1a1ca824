"""How near laws come on sets that were measured, in one table: `make twin-evidence`.

    python -m raidlab.calibration.twin.evidence FOLDER [--page docs/evidence/twin.md]

FOLDER has a folder for each target. Some have a bundle `quick.bundle`, further points in `extra`
and `design`, and loads measured afterwards in `unseen`; of others a selection of one folder trains
and the rest is unseen. Each set of training points is fitted by law without a kind named, and the
unseen loads are predicted, beside the best law, straight lines and a law of six numbers through the
same training points. Prints Markdown, or writes it into the page. Exit code 1 if an answer is
further off than its bounds, or than lines by more than `MATERIALLY`, which are regression tests.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from raidlab.calibration.fio.results import import_fio
from raidlab.calibration.fitting.calibrate_by_law import calibrate_by_law
from raidlab.calibration.fitting.comparison.baseline import against_lines
from raidlab.calibration.fitting.comparison.compare import p90
from raidlab.calibration.fitting.estimation.stages import Settings
from raidlab.calibration.fitting.parameters.kinds import TABLE
from raidlab.calibration.fitting.points.training_split import split
from raidlab.calibration.fitting.report.calibration import Calibration
from raidlab.calibration.measurements.measurement import Measurement
from raidlab.calibration.surrogates.laws import ServerLaw, fit_law
from raidlab.calibration.surrogates.loads import measured
from raidlab.calibration.surrogates.selection import Scored
from raidlab.devices.files import write_file

BEGIN, END = "<!-- made by `make twin-evidence` -->", "<!-- end -->"
_HEAD: Final = (
    "| target | points | kind | seen | answer | p99 | law | lines | six numbers | CPU |",
    "|---|---|---|---|---|---|---|---|---|---|",
)
MATERIALLY: Final = 1.25
"""Ratio to the error of lines beyond which an answer is worse than they are,"""
_AND_BY_PCT: Final = 5.0
"""if it is by as many percent, too: what a measurement itself varies by."""
_FEW_JOBS: Final = "iodepth=1,8,64 numjobs=1,8,64"


@dataclass(frozen=True)
class Bounds:
    """Percent that errors of unseen rates may have: regressions are beyond."""

    median: float
    p90: float


@dataclass(frozen=True)
class Set:
    """Training points of a target, by the folders that have them."""

    target: str
    folder: str
    training: tuple[str, ...]
    """Folders of the training points; of none a selection of the target's folder, `train`."""
    bounds: Bounds
    train: str = ""

    def points(self, folder: Path) -> tuple[Measurement, list[int]]:
        """All points, and which of them a fit may see.

        Raises:
            SpecError: Results that cannot be read.
        """
        home = folder / self.folder
        if not self.training:
            every = import_fio([home])
            return every, split(every.points, self.train)[0]
        training = import_fio([home / name for name in self.training])
        unseen = import_fio([home / "unseen"])
        both = training.model_copy(update={"points": (*training.points, *unseen.points)})
        return both, list(range(len(training.points)))


SETS: Final = (
    Set("virtual disk", "vda", ("quick.bundle",), Bounds(20.0, 45.0)),
    Set("virtual disk", "vda", ("quick.bundle", "extra"), Bounds(20.0, 45.0)),
    Set("virtual disk, designed", "vda", ("design",), Bounds(10.0, 30.0)),
    Set("loop device", "loop", ("quick.bundle",), Bounds(25.0, 85.0)),
    Set("loop device", "loop", ("quick.bundle", "extra"), Bounds(20.0, 95.0)),
)
"""Of one machine, by their folders in it."""
DRIVES: Final = tuple(
    Set(target, folder, (), Bounds(25.0, 60.0), _FEW_JOBS)
    for target, folder in (
        ("hard disk, 7200 rpm", "ahci-hgst-hts72101-100gb-7200rpm"),
        ("SATA SSD, AHCI", "ahci-intel-d3-s4610"),
        ("SATA SSD, SATA 3G", "sata-3g-intel-d3-s4610"),
        ("SATA SSD, SAS adapter", "sas2008-intel-d3-s4610"),
        ("another SATA SSD, SAS adapter", "sas2008-kingston-dc500m"),
        ("SATA SSD, RAID controller", "p420i-mx200"),
        ("md RAID 0 of three of them", "p420i-raid0-3-mx200"),
        ("md RAID 5 of eight hard disks", "highpoint-raid5-hdd"),
    )
)
"""Drives and arrays, by their folders: at depths and jobs of 1, 8 and 64; the rest is unseen."""


@dataclass(frozen=True)
class Errors:
    """Of rates in percent, in the median and in nine in ten."""

    median: float
    p90: float

    @staticmethod
    def of(values: Sequence[float]) -> Errors:
        """Of errors in percent, whatever their sign."""
        sizes = [abs(value) for value in values]
        return Errors(statistics.median(sizes), p90(sizes))

    def text(self, than: Errors | None = None) -> str:
        """Both; bold where one is greater than that of the other."""
        found = []
        for own, other in zip(
            (self.median, self.p90), (than.median, than.p90) if than else (None, None), strict=True
        ):
            said = f"{own:.1f}" if own < 10.0 else f"{own:.0f}"
            found.append(f"**{said}**" if other is not None and own > other else said)
        return ", ".join(found)


@dataclass(frozen=True)
class Result:
    """A set's fit beside the two rulers."""

    of: Set
    fit: Calibration
    seen: Errors
    unseen: Errors
    p99: float
    law: Errors
    lines: Errors
    six: Errors
    cpu_s: float

    @property
    def holds(self) -> bool:
        """True if the unseen loads are within the set's bounds, and about as near as lines."""
        pairs = (
            (self.unseen.median, self.of.bounds.median, self.lines.median),
            (self.unseen.p90, self.of.bounds.p90, self.lines.p90),
        )
        return all(
            own <= min(bound, max(MATERIALLY * lines, lines + _AND_BY_PCT))
            for own, bound, lines in pairs
        )

    def row(self) -> str:
        """A row of the table."""
        kind = "table" if self.fit.settings.kind == TABLE else "virtual disk"
        points = len(self.fit.part("train"))
        return (
            f"| {self.of.target} | {points} | {kind} | {self.seen.text()} |"
            f" {self.unseen.text(self.lines)} | {self.p99:.0f} | {self.law.text()} |"
            f" {self.lines.text()} |"
            f" {self.six.text()} | {self.cpu_s:.1f} s |"
        )


def result_of(of: Set, folder: Path) -> Result:
    """Fits a set and predicts the target's unseen loads.

    Raises:
        SpecError: Results that cannot be read.
    """
    both, train = of.points(folder)
    begun = time.process_time()
    settings = Settings(kind="", name="twin")
    fit = calibrate_by_law(both, settings, lambda done, steps: None, train=train)
    cpu = time.process_time() - begun
    rows = fit.part("test")
    lines = against_lines(fit.rows)
    seen = measured([row.point for row in fit.part("train")])
    loads = measured([row.point for row in rows])
    law, six = (
        100.0 * (each.rates(loads.loads) / loads.rate - 1.0)
        for each in (_law_of(fit).predictor, fit_law(ServerLaw(0.0), seen))
    )
    tails = [abs(e) for row in rows if (e := row.percentile_error_pct(99.0)) is not None]
    return Result(
        of, fit, Errors.of([row.error_pct for row in fit.part("train")]),
        Errors.of([row.error_pct for row in rows]), statistics.median(tails),
        Errors.of(law.tolist()),
        Errors(lines["median_abs_error_pct"] or 0.0, lines["p90_abs_error_pct"] or 0.0),
        Errors.of(six.tolist()), cpu,
    )  # fmt: skip


def _law_of(fit: Calibration) -> Scored:
    """The best law that a device can have, whatever was taken."""
    if fit.selection is None:
        raise AssertionError("a fit by law has a selection")
    return fit.selection.best_device_law


def results(folder: Path) -> Iterator[Result]:
    """Of every set that is there."""
    for home, sets in ((folder / "own-machine", SETS), (folder / "fio-plot", DRIVES)):
        for of in sets:
            if (home / of.folder).is_dir():
                yield result_of(of, home)


def with_rows(page: str, rows: Sequence[str], marks: tuple[str, str] = (BEGIN, END)) -> str:
    """The page with these lines between its marks.

    Raises:
        ValueError: It has no marks.
    """
    before, begin, rest = page.partition(marks[0])
    _, end, after = rest.partition(marks[1])
    if not begin or not end:
        raise ValueError(f"the page needs the lines {marks[0]} and {marks[1]}")
    return "\n".join([before + begin, *rows, end + after])


def write_rows(page: Path, marks: tuple[str, str], rows: Sequence[str]) -> None:
    """Writes lines between the marks of a page.

    Raises:
        ValueError: It has no marks.
    """
    write_file(page, with_rows(page.read_text(encoding="utf-8"), rows, marks))


def main() -> int:
    """Prints the rows, or writes them into a page; 1 if a set is beyond its bounds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="with a folder for each target")
    parser.add_argument("--page", type=Path, help="page whose table is made anew")
    given = parser.parse_args()
    found = list(results(given.folder))
    rows = [each.row() for each in found]
    for line in (*_HEAD, *rows):
        print(line)
    if given.page:
        write_rows(given.page, (BEGIN, END), (*_HEAD, *rows))
    beyond = [each for each in found if not each.holds]
    for each in beyond:
        print(f"beyond its bounds: {each.of.target}, {each.of.training}")
    return 1 if beyond else 0


if __name__ == "__main__":
    raise SystemExit(main())
