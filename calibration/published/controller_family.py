"""Controllers of one firmware, fitted as a family: shared work, chips that do it at their speed.

A family's firmware does the same work for a request whatever chip runs it. So a time of a chip is a
shared term over the speed of its cores, which clock and design give:

    time = term * speed of the reference / speed        speed in Dhrystone MIPS of one core

Terms are fitted to the published figures behind all chips of the family together, by the search of
`published.fit`; a bound counts where it is broken. Each chip is also left out and predicted from
the figures behind the others, and so are levels, numbers of drives and loads, beside what the
figure of the nearest configuration would predict.

`make calibrate-catalogue` writes the terms into the chips' data sheets and prints the tables of
docs/evidence/controllers.md; `python -m raidlab.calibration.published.controller_family` does that
alone.
"""

from __future__ import annotations

import math
import sys
import tempfile
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from raidlab.calibration.fitting.certainty.fitted_file import with_others
from raidlab.calibration.published.figures import Configuration, Figure
from raidlab.calibration.published.fit import TOLERANCE, Array, Found, assessed, least, least_loss
from raidlab.calibration.published.nearest import by_nearest
from raidlab.calibration.published.usage import FamilyFit, family_figures, fits
from raidlab.calibration.published.validate import judge, validate
from raidlab.devices.catalogue import find
from raidlab.devices.files import write_file
from raidlab.devices.spec_text import with_source, with_value
from raidlab.devices.trees import Value, get, table_at
from raidlab.devices.units import DURATION
from raidlab.scenarios.results import markdown
from raidlab.scenarios.running.store import Store, default_limit, default_path

_JOINT_FIT = "fitted with the family's other terms; the figures hardly determine it alone"


class FamilyBench:
    """The figures behind a family's controllers, simulated with its terms moved."""

    def __init__(self, fit: FamilyFit, store: Store | None = None) -> None:
        self.fit = fit
        self.names = tuple(fit.start)
        self.figures = family_figures(fit)
        self.tolerances = np.array(
            [TOLERANCE.get(f.relation, TOLERANCE["~"]) for f in self.figures]
        )
        self._store = store

    def times(self, chip: str, place: Array) -> dict[str, str]:
        """The firmware times of a chip, as a data sheet has them.

        Args:
            chip: One of the family's.
            place: Logarithms of the terms over their start, shape (terms,).
        """
        slower = self.fit.chip[self.fit.reference].speed / self.fit.chip[chip].speed
        found = {}
        for name, move in zip(self.names, place, strict=True):
            us = float(DURATION.parse(self.fit.start[name])) / 1e3
            found[name] = f"{us * math.exp(move) * slower:.4g} us"
        return found

    def errors(
        self, places: Sequence[Array], wanted: npt.NDArray[np.bool_] | None = None
    ) -> list[Array]:
        """ln(simulated / published) of figures at each place; of a bound what is beyond it.

        Args:
            places: Logarithms of the terms over their start.
            wanted: Which of the figures; all if left out.

        Raises:
            ValueError: A figure cannot be simulated.
        """
        chosen = np.ones(len(self.figures), dtype=bool) if wanted is None else wanted
        with tempfile.TemporaryDirectory() as folder:
            figures = [
                self._behind(figure, place, Path(folder) / str(at))
                for at, place in enumerate(places)
                for figure, taken in zip(self.figures, chosen, strict=True)
                if taken
            ]
            rows = validate(figures, store=self._store).rows
        found = []
        for row in rows:
            if row.simulated is None:
                raise ValueError(f"{row.figure.id}: {row.why_not}")
            found.append(math.log1p(judge(row.figure, row.simulated)[0] / 100))
        return [np.array(part) for part in np.split(np.array(found), len(places))]

    def _behind(self, figure: Figure, place: Array, folder: Path) -> Figure:
        """The figure with the family's controllers as they are at a place."""

        def changed(configuration: Configuration) -> Configuration:
            chip = self.fit.chip_of(configuration.controller)
            if chip is None:
                return configuration
            folder.mkdir(exist_ok=True)
            path = folder / f"{configuration.controller}.toml"
            own = table_at(find(configuration.controller).written, "firmware")
            lines = [
                f'{key} = "{time}"' for key, time in self.times(chip, place).items() if key in own
            ]
            head = ['kind = "controller"', f'name = "{path.stem}-varied"', 'title = "varied"']
            like = f'like = "{find(configuration.controller).spec.name}"'
            path.write_text("\n".join([*head, like, "[firmware]", *lines, ""]), encoding="utf-8")
            return replace(configuration, controller=str(path))

        baseline = None if figure.baseline is None else changed(figure.baseline)
        return replace(figure, configuration=changed(figure.configuration), baseline=baseline)

    def chip_of(self, figure: Figure) -> str:
        """The chip whose firmware a figure shows."""
        return str(self.fit.chip_of(figure.configuration.controller))


def part_of(figure: Figure) -> str:
    """RAID 0, or mirrors and parity."""
    return "RAID 0" if figure.configuration.level == "raid0" else "other levels"


def drives_of(figure: Figure) -> str:
    """How many drives a figure's array has."""
    return f"{figure.configuration.count} drives"


def load_of(figure: Figure) -> str:
    """Streams or random accesses, by the name of the load."""
    return figure.configuration.load


@dataclass(frozen=True)
class LeftOut:
    """Errors of the figures of one group, as ln(simulated / published)."""

    fitted: Array
    """With the terms that all figures gave."""
    predicted: Array
    """With the terms that the other groups' figures give alone."""
    nearest: Array
    """Of the nearest given configuration's figure instead; NaN where none is of that quantity."""


def predictions(
    bench: FamilyBench, found: Found, group: Callable[[Figure], str]
) -> dict[str, LeftOut]:
    """For each group of figures its errors if fitted, if left out, and of the nearest other."""
    labels = np.array([group(figure) for figure in bench.figures])
    left = {}
    for name in sorted(set(labels)):
        inside = labels == name
        place = least_loss(bench, found, ~inside)
        errors = bench.errors([place], inside)[0]
        others = [figure for figure, out in zip(bench.figures, inside, strict=True) if not out]
        own = [figure for figure, out in zip(bench.figures, inside, strict=True) if out]
        nearest = np.array([by_nearest(figure, others) for figure in own])
        left[str(name)] = LeftOut(found.errors[inside], errors, nearest)
    return left


def written(bench: FamilyBench, found: Found) -> dict[Path, str]:
    """The data sheets of the family's controllers with the terms' times and their sources."""
    sheets: dict[Path, str] = {}
    count = f"with {len(bench.names)} terms of the family to {len(bench.figures)} figures"
    for chip, of in bench.fit.chip.items():
        times = bench.times(chip, found.place)
        for controller in of.controllers:
            path = Path(find(controller).path)
            text = path.read_text(encoding="utf-8")
            tree = tomllib.loads(text)
            keys = {
                at: f"firmware.{name}"
                for at, name in enumerate(times)
                if get(tree, f"firmware.{name}") is not None
            }
            sure = [at for at in keys if found.is_determined(at)]
            known = found.correlations[np.ix_(sure, sure)].tolist()
            together = with_others([keys[at] for at in sure], known)
            for at, time in enumerate(times.values()):
                if at not in keys:
                    continue
                key = keys[at]
                stderr = f"{max(1, math.ceil(100 * found.stderr[at]))} %"
                source: Mapping[str, Value] = {"source": "assumed", "note": _JOINT_FIT}
                if found.is_determined(at):
                    fitted = {"source": "fitted", "stderr": stderr}
                    source = {**fitted, "measurement": bench.fit.measurement, "note": count}
                    if together.get(key):
                        source = {**source, "correlations": together[key]}
                text = with_source(with_value(text, key, time), key, source)
            sheets[path] = text
    return sheets


def table(bench: FamilyBench, found: Found) -> str:
    """The errors in percent, medians and largest, in Markdown."""
    lines = markdown.table(
        "left out | figures | median if fitted | largest | median predicted | largest |"
        " median of the nearest given"
    )
    for group in (bench.chip_of, part_of, drives_of, load_of):
        for name, left in predictions(bench, found, group).items():
            cells = [name, str(len(left.fitted))]
            for errors in (left.fitted, left.predicted):
                off = 100 * abs(np.expm1(errors))
                cells += [f"{np.median(off):.1f}", f"{max(off):.1f}"]
            known = left.nearest[~np.isnan(left.nearest)]
            cells.append(f"{np.median(100 * abs(np.expm1(known))):.1f}" if len(known) else "")
            lines.append(markdown.row(cells))
    times = bench.times(bench.fit.reference, found.place)
    terms = [
        (f"`{name}`", time, f"{100 * found.stderr[at]:.0f} %")
        for at, (name, time) in enumerate(times.items())
    ]
    lines += ["", *markdown.table("term | at the reference | standard error", terms)]
    return "\n".join(lines)


def fit_families(store: Store) -> None:
    """Fits every family, writes its sheets and prints its errors."""
    for name, fit in fits().family.items():
        bench = FamilyBench(fit, store)
        found = least(bench)
        for path, text in written(bench, found).items():
            write_file(path, text)
        print(f"{name}: {len(bench.figures)} figures\n\n{table(bench, found)}", flush=True)


def families_as_they_are(store: Store) -> None:
    """Prints the errors of every family with the terms that its sheets have."""
    for name, fit in fits().family.items():
        bench = FamilyBench(fit, store)
        own = table_at(find(fit.chip[fit.reference].controllers[0]).written, "firmware")
        moves = [
            DURATION.parse(str(own[term])) / DURATION.parse(fit.start[term]) for term in fit.start
        ]
        found = assessed(bench, np.log(np.array(moves, dtype=np.float64)))
        print(f"{name}: {len(bench.figures)} figures\n\n{table(bench, found)}", flush=True)


def main() -> int:
    """Fits the families alone."""
    with Store(default_path(), limit_bytes=default_limit()) as store:
        fit_families(store)
    return 0


if __name__ == "__main__":
    sys.exit(main())
