"""How near laws come on sets that were measured, in one table: `make twin-evidence`.

    python -m raidlab.calibration.twin.evidence FOLDER [--page docs/evidence/twin.md]

FOLDER has a folder for each target, with a bundle `quick.bundle`, further points in `extra` and
`design`, and loads measured afterwards in `unseen`. Each set of training points is fitted without
a kind named, and the unseen loads are predicted, beside straight lines and a law of six
numbers through the same training points. Prints Markdown, or writes it into the page. Exit code 1
if a fit is further off than its bounds, which are a regression test.
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
from raidlab.calibration.fitting.report.calibration import Calibration
from raidlab.calibration.surrogates.laws import ServerLaw, fit_law
from raidlab.calibration.surrogates.loads import measured
from raidlab.devices.files import write_file

BEGIN, END = "<!-- made by `make twin-evidence` -->", "<!-- end -->"
_HEAD: Final = (
    "| target | points | kind | seen | unseen | p99 | lines | six numbers | CPU |",
    "|---|---|---|---|---|---|---|---|---|",
)


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
    bounds: Bounds


SETS: Final = (
    Set("virtual disk", "vda", ("quick.bundle",), Bounds(20.0, 45.0)),
    Set("virtual disk", "vda", ("quick.bundle", "extra"), Bounds(20.0, 45.0)),
    Set("virtual disk, designed", "vda", ("design",), Bounds(10.0, 30.0)),
    Set("loop device", "loop", ("quick.bundle",), Bounds(35.0, 80.0)),
    Set("loop device", "loop", ("quick.bundle", "extra"), Bounds(35.0, 90.0)),
)


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
    lines: Errors
    six: Errors
    cpu_s: float

    @property
    def holds(self) -> bool:
        """True if the unseen loads are within the set's bounds."""
        return self.unseen.median <= self.of.bounds.median and self.unseen.p90 <= self.of.bounds.p90

    def row(self) -> str:
        """A row of the table."""
        kind = "table" if self.fit.settings.kind == TABLE else "virtual disk"
        points = len(self.fit.part("train"))
        return (
            f"| {self.of.target} | {points} | {kind} | {self.seen.text()} |"
            f" {self.unseen.text(self.lines)} | {self.p99:.0f} | {self.lines.text()} |"
            f" {self.six.text()} | {self.cpu_s:.1f} s |"
        )


def result_of(of: Set, folder: Path) -> Result:
    """Fits a set and predicts the target's unseen loads.

    Raises:
        SpecError: Results that cannot be read.
    """
    home = folder / of.folder
    training = import_fio([home / name for name in of.training])
    unseen = import_fio([home / "unseen"])
    both = training.model_copy(update={"points": (*training.points, *unseen.points)})
    begun = time.process_time()
    settings = Settings(kind="", name="twin")
    fit = calibrate_by_law(
        both, settings, lambda done, steps: None, train=range(len(training.points))
    )
    cpu = time.process_time() - begun
    rows = fit.part("test")
    lines = against_lines(fit.rows)
    law = fit_law(ServerLaw(0.0), measured(training.points))
    loads = measured(unseen.points)
    six = 100.0 * (law.rates(loads.loads) / loads.rate - 1.0)
    tails = [abs(e) for row in rows if (e := row.percentile_error_pct(99.0)) is not None]
    return Result(
        of, fit, Errors.of([row.error_pct for row in fit.part("train")]),
        Errors.of([row.error_pct for row in rows]), statistics.median(tails),
        Errors(lines["median_abs_error_pct"] or 0.0, lines["p90_abs_error_pct"] or 0.0),
        Errors.of(six.tolist()), cpu,
    )  # fmt: skip


def results(folder: Path, sets: Sequence[Set] = SETS) -> Iterator[Result]:
    """Of every set that is there."""
    for of in sets:
        if (folder / of.folder / "unseen").is_dir():
            yield result_of(of, folder)


def with_rows(page: str, rows: Sequence[str]) -> str:
    """The page with these rows between its marks.

    Raises:
        ValueError: It has no marks.
    """
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the page needs the lines {BEGIN} and {END}")
    return "\n".join([before + begin, *_HEAD, *rows, end + after])


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
        write_file(given.page, with_rows(given.page.read_text(encoding="utf-8"), rows))
    beyond = [each for each in found if not each.holds]
    for each in beyond:
        print(f"beyond its bounds: {each.of.target}, {each.of.training}")
    return 1 if beyond else 0


if __name__ == "__main__":
    raise SystemExit(main())
