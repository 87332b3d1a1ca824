"""`make calibrate-catalogue`: fits every device of `published/fits.toml`, and says how well.

`python -m raidlab.calibration.published.catalogue [DEVICE...]` writes fitted values, their standard
errors, correlations and sources into the data sheets; with `--errors` first, only how sure those
are that are fitted as the sheets stand. Without names it fits all devices and writes the page
docs/evidence/fits.md: errors of what was fitted, of every group of figures that was left out of
a fit one by one, and of arrays, which are never fitted; `--page` writes it of the sheets as they
stand. What was simulated is stored until the page is written: an interrupted run goes on.
"""

from __future__ import annotations

import math
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from raidlab.calibration.fitting.comparison.baseline import skill
from raidlab.calibration.fitting.evidence import HEADING
from raidlab.calibration.published.controller_family import families_as_they_are, fit_families
from raidlab.calibration.published.figures import Configuration, Figure, read_published
from raidlab.calibration.published.fit import Array, Bench, Fitted, least_loss, reassess, search
from raidlab.calibration.published.nearest import Beside, beside_nearest, nearest_errors, said_of
from raidlab.calibration.published.usage import fits
from raidlab.calibration.published.validate import Compared, summarise, validate
from raidlab.devices.faults import Faults, SpecError
from raidlab.devices.files import write_file, write_files
from raidlab.devices.reading import whole_number
from raidlab.scenarios.results import markdown
from raidlab.scenarios.running.store import Store, default_limit, default_path

PAGE = Path("docs/evidence/fits.md")
LISTING = PAGE.with_suffix(".csv")
"""Each group of figures that was left out, one a row."""
GROUPS: Mapping[str, Callable[[Configuration], str]] = {
    "profile": lambda configuration: configuration.load,
    "format": lambda configuration: configuration.format or "-",
    "depth": lambda configuration: configuration.outstanding,
}


@dataclass(frozen=True)
class LeftOut:
    """Figures that were left out of a fit, and their errors in percent."""

    label: str
    fitted: Sequence[float]
    """Had they been fitted."""
    predicted: Sequence[float]
    by_lines: Sequence[float] = ()
    """Of straight lines between the others, where all lie between two other numbers outstanding."""
    by_nearest: Sequence[float] = ()
    """Of the nearest other figures instead, where there are any of their quantity."""

    def beside(self, name: str) -> Beside:
        """Its medians, as the listing rounds them, under the name of its kind of group."""
        nearest = round(statistics.median(self.by_nearest), 1) if self.by_nearest else None
        predicted = round(statistics.median(self.predicted), 1)
        return Beside(f"{name} {self.label}", predicted, nearest)


def left_out(fitted: Fitted, group: Callable[[Configuration], str]) -> list[LeftOut]:
    """Fits the device without each group in turn, and simulates the group with what comes out.

    Such a fit goes along the slopes of the whole one.
    """
    bench = fitted.bench
    labels = np.array([group(figure.configuration) for figure in bench.figures])
    names = sorted(set(labels))
    if len(names) < 2:
        return []
    places = [least_loss(bench, fitted, labels != name) for name in names]
    groups = []
    for name, found in zip(names, bench.errors(places), strict=True):
        inside = labels == name
        out = [bench.figures[at] for at in np.flatnonzero(inside)]
        groups.append(
            LeftOut(
                str(name),
                _percent(fitted.errors[inside]),
                _percent(found[inside]),
                by_lines(out, bench.figures),
                nearest_errors(out, bench.figures),
            )
        )
    return groups


def by_lines(out: Sequence[Figure], figures: Sequence[Figure]) -> list[float]:
    """Errors in percent of lines, straight in logarithms, between figures that differ in depth.

    Args:
        out: Figures that are left out.
        figures: All of them.

    Returns:
        Nothing unless each figure lies between two others of its configuration.
    """
    errors = []
    for figure in out:
        depth, curve = _depth(figure), {}
        for other in figures:
            at = _depth(other)
            if other not in out and at is not None and _but_depth(other) == _but_depth(figure):
                curve[at] = math.log(other.value)
        if depth is None or not curve or not min(curve) < depth < max(curve):
            return []
        known = sorted(curve)
        line = np.interp(math.log(depth), np.log(known), [curve[at] for at in known])
        errors.append(100 * abs(math.exp(float(line)) / figure.value - 1))
    return errors


def _depth(figure: Figure) -> int | None:
    return whole_number(figure.configuration.outstanding)


def _but_depth(figure: Figure) -> tuple[object, ...]:
    return replace(figure.configuration, outstanding=""), figure.quantity


def _percent(errors: Array) -> list[float]:
    return [100 * abs(float(each)) for each in np.expm1(errors)]


def arrays_of(device: str, sheet: str) -> tuple[Compared, ...]:
    """Figures of arrays of a device without a controller, simulated with a data sheet."""
    figures = [
        figure
        for figure in read_published()
        if figure.configuration.drive == device
        and figure.configuration.level != "single"
        and not figure.configuration.controller
    ]
    if not figures:
        return ()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fitted.toml"
        path.write_text(sheet, encoding="utf-8")
        moved = [
            replace(figure, configuration=replace(figure.configuration, drive=str(path)))
            for figure in figures
        ]
        return validate(moved).rows


def pages(found: Sequence[Fitted]) -> dict[Path, str]:
    """The page of all fits, and the groups left out as CSV."""
    lines = [*_HEAD, "", *markdown.table(_COLUMNS)]
    details: list[str] = []
    every: list[Beside] = []
    for each in found:
        errors = _percent(each.errors)
        cells = [each.bench.device, str(len(each.bench.names)), str(len(errors))]
        cells += [_of(statistics.median(errors)), _of(float(np.percentile(errors, 90)))]
        beside = []
        for name, group in GROUPS.items():
            groups = list(left_out(each, group))
            pooled = [error for one in groups for error in one.predicted]
            cells.append(_of(statistics.median(pooled)) if pooled else "-")
            details += [_detail(each.bench.device, name, one) for one in groups]
            beside += [one.beside(name) for one in groups]
        lines.append(markdown.row([*cells, *beside_nearest(beside)]))
        every += beside
    lines += ["", said_of(every), "", "## Arrays", *_arrays(found)]
    text = "\n".join(lines) + "\n" + measured_sets(PAGE)
    return {PAGE: text, LISTING: "\n".join([_LISTED, *details]) + "\n"}


_HEAD = (
    "# The catalogue's fits to published figures",
    "Made by `make calibrate-catalogue`. A device is fitted to the figures of one drive alone",
    "([calibration.md](calibration.md)). Left out: every profile, format or number outstanding",
    "one by one is taken out of the fit and predicted by what the others alone lead to; median",
    "error over all figures so predicted, in percent. `raidlab devices NAME` has each fitted",
    "parameter with its standard error; what is not determined is assumed.",
    "",
    "Nearest given: the figure of the configuration with the fewest columns that differ, of those",
    "not left out. Where a quantity has no other figure, there is none. The last columns are",
    "medians over groups, and the groups in which the model loses to it. Each group, one a row,",
    f"beside straight lines between the other depths, too: [{LISTING.name}]({LISTING.name}).",
)
_COLUMNS = (
    "device | parameters | figures | median | 90th percentile | profile left out |"
    " format left out | depth left out | group left out | nearest given | model loses"
)
_LISTED = (
    "device,left_out,figures,median_if_fitted,median_predicted,largest,by_lines,skill,"
    "nearest_figures,by_nearest,skill_by_nearest"
)


def measured_sets(path: Path) -> str:
    """The part of the page that `make fits-evidence` makes, with an empty line before it."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    _, heading, rest = text.partition(HEADING)
    return f"\n{heading}{rest}" if heading else ""


def _detail(device: str, name: str, one: LeftOut) -> str:
    fitted, predicted = statistics.median(one.fitted), statistics.median(one.predicted)
    cells = [device, f"{name} {one.label}", str(len(one.predicted))]
    cells += [_of(fitted), _of(predicted), _of(max(one.predicted))]
    cells += [*_naive(predicted, one.by_lines), str(len(one.by_nearest))]
    return ",".join([*cells, *_naive(predicted, one.by_nearest)])


def _naive(predicted: float, errors: Sequence[float]) -> tuple[str, str]:
    """The median error of a naive prediction, and the model's skill beside it."""
    median = statistics.median(errors) if errors else None
    gained = skill(predicted, median)
    return "" if median is None else _of(median), "" if gained is None else f"{gained:+.2f}"


def _arrays(found: Sequence[Fitted]) -> Iterator[str]:
    yield "No parameter is fitted to an array. Mechanisms of the ioDrive were chosen in view of its"
    yield "arrays ([iodrive.md](iodrive.md)); the others are predictions from one drive. Nearest"
    yield "given: a figure of one drive alone."
    yield ""
    yield from markdown.table(
        "device | level | figures | within tolerance | median error | 90th percentile |"
        " nearest given"
    )
    for each in found:
        rows = arrays_of(each.bench.device, each.sheet())
        for level in dict.fromkeys(row.figure.configuration.level for row in rows):
            own = [row for row in rows if row.figure.configuration.level == level]
            counted = summarise(own)
            errors = counted["median_abs_error_pct"], counted["p90_abs_error_pct"]
            cells = [each.bench.device, level, counted["rows"], counted["held"]]
            cells += [_of(error or 0.0) for error in errors]
            nearest, _ = _naive(0.0, nearest_errors([r.figure for r in own], each.bench.figures))
            yield markdown.row([*cells, nearest])


def _of(value: float) -> str:
    return f"{value:.1f}"


def main(arguments: Sequence[str]) -> int:
    """Fits the devices named, or all and makes the page."""
    known = fits().device
    option = arguments[0] if arguments[:1] in (["--errors"], ["--page"]) else ""
    wanted = arguments[1:] if option else arguments
    faults = Faults()
    for name in wanted:
        if name not in known:
            faults.add("DEVICE", name, f"one of {', '.join(known)}", tuple(known))
    try:
        faults.raise_if_any()
        {"--errors": _reassess, "--page": _page, "": _fit}[option](wanted)
    except SpecError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def _reassess(wanted: Sequence[str]) -> None:
    known = fits().device
    with Store(default_path(), limit_bytes=default_limit()) as store:
        for name in wanted or known:
            found = reassess(name, known[name], store)
            write_file(Path(found.bench.path), found.sheet_with_errors())
            errors = ", ".join(f"{100 * each:.0f} %" for each in found.stderr)
            print(f"{name}: standard errors {errors}", flush=True)


def _page(wanted: Sequence[str]) -> None:
    """The page of some devices as their sheets stand, or of all."""
    known = fits().device
    with Store(default_path(), limit_bytes=default_limit()) as store:
        found = []
        for name in wanted or known:
            found.append(reassess(name, known[name], store))
            print(f"{name}: {len(found[-1].errors)} figures", flush=True)
        write_files(pages(found))
        families_as_they_are(store)


def _fit(wanted: Sequence[str]) -> None:
    known = fits().device
    with Store(default_path(), limit_bytes=default_limit()) as store:
        found = []
        for name in wanted or known:
            fitted = search(Bench(name, known[name], store), known[name])
            median = statistics.median(_percent(fitted.errors))
            print(f"{name}: {len(fitted.errors)} figures, median error {median:.1f} %", flush=True)
            write_file(Path(fitted.bench.path), fitted.sheet())
            found.append(fitted)
        if not wanted:
            fit_families(store)
            write_files(pages(found))
            print(f"wrote {PAGE}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
