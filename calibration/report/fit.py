"""What a comparison or a calibration answers: a sentence, tables, and the page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Final, Literal

from raidlab.calibration.fitting.certainty.goodness_of_fit import Goodness
from raidlab.calibration.fitting.certainty.uncertainty import Estimate
from raidlab.calibration.fitting.comparison.baseline import BesideLines, against_lines
from raidlab.calibration.fitting.comparison.compare import Compared, Summary, summary
from raidlab.calibration.fitting.comparison.regions import NAMES, Region, RegionSummary, by_region
from raidlab.calibration.fitting.report.calibration import Calibration
from raidlab.calibration.measurements.measurement import Measurement
from raidlab.calibration.report.fit_pictures import Bands, interval_pictures, point_pictures
from raidlab.scenarios import _engine
from raidlab.scenarios.report.page import Box, Evidence, Folded, Page, Text
from raidlab.scenarios.report.report import Report
from raidlab.scenarios.report.tables import Cell, Column, Kind, Table
from raidlab.scenarios.results.number_text import digits
from raidlab.scenarios.spec.findings import Code

_WORST: Final = 25
WORST_SHOWN: Final = 10
"""Points that a terminal shows unless it is asked for all."""
_ALIKE_CORRELATION: Final = 0.8
"""Correlation from which on two parameters are named together."""


def comparison_report(
    title: str,
    measurement: Measurement,
    rows: Sequence[Compared],
    notes: Sequence[str],
    seed: int = 1,
) -> Report:
    """What is said of measured points beside simulated ones."""
    page = partial(_comparison_page, title, measurement, rows, notes, seed)
    return Report(title, comparison_answer(rows), [points_table(rows, None)], page=page)


def _comparison_page(
    title: str,
    measurement: Measurement,
    rows: Sequence[Compared],
    notes: Sequence[str],
    seed: int,
) -> Page:
    return Page(
        kind="compare",
        question=f"{title}: measured and simulated",
        boxes=_boxes(summary(rows), "", (_MEDIAN, _P90, _P99)),
        beside=notes,
        pictures=point_pictures(rows),
        evidence=[points_table(rows), *_files(measurement)],
        provenance=[f"raidlab {_engine.version()}, seed {seed}."],
    )


def calibration_report(result: Calibration, bands: Bands = ()) -> Report:
    """What is said of a fit.

    Args:
        result: What came out.
        bands: For each of the result's rows the rates between which 95 % of drawn devices lie.
    """
    tables = [parameters_table(result.fit.estimates), parts_table(result)]
    notes = [] if result.pauses is None else [result.pauses.said()]
    page = partial(_calibration_page, result, bands)
    return Report(str(result.tree["title"]), calibration_answer(result), tables, notes, page)


def _calibration_page(result: Calibration, bands: Bands) -> Page:
    estimates = result.fit.estimates
    determined = sum(estimate.identifiable for estimate in estimates)
    part, of = result.errors("test"), "unseen "
    if not part["points"]:
        part, of = result.errors("train"), "training "
    boxes = _boxes(part, of, (_MEDIAN, _P90, _P99))
    evidence: list[Evidence] = [
        parameters_table(estimates),
        Text(
            "",
            [
                "95 % intervals come from the slopes at the place found and a bootstrap over"
                " points, confirmed by simulations at their ends. What is hardly determined could"
                " as well have another value within its interval.",
                "Lines are straight in the logarithms of rate and outstanding I/Os between the"
                " training points of the same load. Skill is 1 less the model's error over theirs:"
                " 0 is no better than the lines.",
                _goodness(result.goodness),
                *_correlated(result),
            ],
        ),
        parts_table(result),
    ]
    if result.left_out:
        evidence.append(
            Table(
                "Predicted by a fit that has not seen the points",
                [Column("left out", kind=Kind.TEXT), Column("points"), Column("median error", "%")],
                [[each.curve, each.points, each.median_abs_error_pct] for each in result.left_out],
            )
        )
    return Page(
        kind="calibrate",
        question=f"{result.tree['title']}: how well does it predict?",
        boxes=[
            *boxes,
            Box(f"{determined} of {len(estimates)}", "parameters determined"),
        ],
        beside=grouped_warnings(result),
        about=_next(result),
        pictures=[*interval_pictures(estimates), *point_pictures(result.rows, bands)],
        evidence=[
            *evidence,
            points_table(result.rows),
            *_files(result.measurement),
            Text("The device file", listing=result.to_toml(), folded=True),
        ],
        provenance=[
            f"raidlab {_engine.version()}, seed {result.settings.seed}; fitted to"
            f" {result.measurement.name}, measured {result.where};"
            f" {result.fit.evaluations:,} evaluations."
        ],
    )


def _goodness(found: Goodness) -> str:
    """Chi-square and what is made of it, of the training points."""
    return (
        f"Chi-square {digits(found['chi_square'])} of {found['residuals']} residuals in tolerances"
        f" and {found['parameters']} parameters, reduced {digits(found['reduced_chi_square'])};"
        f" AIC {digits(found['aic'])}, BIC {digits(found['bic'])}, as lmfit defines them."
    )


def comparison_answer(rows: Sequence[Compared]) -> str:
    """How far off rates and tails are."""
    found = summary(rows)
    if not found["points"]:
        return "No point was compared."
    text = (
        f"Rates: {digits(found['median_abs_error_pct'])} % off in the median,"
        f" {digits(found['p90_abs_error_pct'])} % or less in nine in ten"
        f" ({found['points']} points)."
    )
    tails = [(e, row) for row in rows if (e := row.percentile_error_pct(99.0)) is not None]
    if tails:
        worst, row = max(tails, key=lambda each: _times(each[0]))
        how = "too long" if worst > 0 else "too short"
        text += f" p99: {digits(found['p99_latency_median_abs_error_pct'])} % off"
        text += f", up to {digits(_times(worst))} times {how} ({row.point.in_words()})."
    return text


def _times(error_pct: float) -> float:
    """An error as a factor of 1 or more."""
    ratio = max(1e-3, 1 + error_pct / 100)
    return max(ratio, 1 / ratio)


def calibration_answer(result: Calibration) -> str:
    """How well unseen points are predicted, and how many parameters are determined."""
    train, test = result.errors("train"), result.errors("test")
    estimates = result.fit.estimates
    determined = sum(estimate.identifiable for estimate in estimates)
    seen = "Unseen" if test["points"] else "Training"
    found = test if test["points"] else train
    count = {0: "none", len(estimates): "all"}.get(determined, str(determined))
    return (
        f"{seen} rates are {digits(found['median_abs_error_pct'])} % off in the median"
        f" ({found['points']} points, nine in ten within {digits(found['p90_abs_error_pct'])} %);"
        f" {train['points']} training points determine {count} of the {len(estimates)} parameters."
        + _hard_first(by_region(result.rows))
        + _beside_lines(against_lines(result.rows))
    )


def _beside_lines(found: BesideLines) -> str:
    """Whether the model is better than straight lines between its training points."""
    if found["skill"] is None or found["skill_p90"] is None:
        return ""
    median, ninth = found["skill"] > 0, found["skill_p90"] > 0
    better = "better" if median and ninth else "no better"
    if median != ninth:
        better = f"better in {'the median' if median else 'nine in ten'} alone"
    own = digits(found["model_median_abs_error_pct"])
    own_ninth = digits(found["model_p90_abs_error_pct"])
    lines, lines_ninth = digits(found[_MEDIAN]), digits(found[_P90])
    return (
        f" It is {better} than straight lines between the training points, which are {lines} % off,"
        f" {lines_ninth} % in nine in ten (it {own} %, {own_ninth} % on the same points; skill"
        f" {_skill(found['skill'])}, {_skill(found['skill_p90'])})."
    )


def _hard_first(regions: Mapping[str, RegionSummary]) -> str:
    """Errors of one outstanding and of the knee before those of ceilings, which flatter."""
    if Region.CEILING.value not in regions or len(regions) == 1:
        return ""
    said = [
        f"{NAMES[region]} {digits(of[_MEDIAN])} %, {digits(of[_P90])} % in nine in ten"
        f" ({of['points']})"
        for region in Region
        if (of := regions.get(region.value))
    ]
    return f" Apart: {'; '.join(said)}."


def grouped_warnings(result: Calibration) -> list[str]:
    """Warnings beside the answer; the table says which parameters are in doubt."""
    estimates = result.fit.estimates
    found = [each.text for each in result.warnings_typed if each.code != Code.UNDETERMINED]
    doubted = sum(not estimate.identifiable for estimate in estimates)
    if doubted:
        found.insert(
            0,
            f"{doubted} of {len(estimates)} parameters are not determined by these points (see the"
            " table): rates and latencies may be predicted well, these numbers are not known",
        )
    return found


def _next(result: Calibration) -> list[str]:
    """What to measure so that the parameters in doubt are determined."""
    doubted = [e.parameter.speaks for e in result.fit.estimates if not e.identifiable]
    if not doubted:
        return []
    return [
        f"To determine them, measure {'; '.join(dict.fromkeys(doubted))}:"
        " raidlab-collect --plan profiles --target DEVICE --out FOLDER."
    ]


_Error = Literal["median_abs_error_pct", "p90_abs_error_pct", "p99_latency_median_abs_error_pct"]
_MEDIAN: Final = "median_abs_error_pct"
_P90: Final = "p90_abs_error_pct"
_P99: Final = "p99_latency_median_abs_error_pct"


def _boxes(found: Summary, of: str, keys: Iterable[_Error]) -> list[Box]:
    """What is known of a part of the points, by the keys of its summary."""
    texts: dict[_Error, str] = {
        _MEDIAN: f"median error of {of}rates",
        _P90: f"of nine in ten {of}rates at most",
        _P99: f"median error of {of}p99",
    }
    return [Box(f"{digits(found[key])} %", texts[key]) for key in keys if found[key] is not None]


def certainty(estimate: Estimate) -> str:
    """Whether the points determine a parameter, in words."""
    if estimate.at_bound:
        return "next to a bound"
    if estimate.like:
        return f"mixed with {estimate.like}"
    return "determined" if estimate.identifiable else "hardly determined"


def parameters_table(estimates: Sequence[Estimate]) -> Table:
    """A line for each fitted parameter."""
    columns = [
        Column("parameter", kind=Kind.TEXT, width=20),
        Column("value"),
        Column("unit", kind=Kind.TEXT, width=4),
        Column("95\u00a0%", kind=Kind.TEXT, width=14),
        Column("", kind=Kind.TEXT, width=17),
        Column("bounds", kind=Kind.TEXT, priority=4, width=10),
        Column("measured by", kind=Kind.PROSE, priority=3, width=20),
    ]
    rows: list[list[Cell]] = [
        [
            each.parameter.key,
            each.value,
            each.parameter.unit or (f"x {each.parameter.of}" if each.parameter.of else ""),
            f"{digits(each.low)} to {digits(each.high)}",
            certainty(each),
            f"{digits(each.parameter.low)} to {digits(each.parameter.high)}",
            each.parameter.speaks,
        ]
        for each in estimates
    ]
    return Table("Parameters", columns, rows)


def parts_table(result: Calibration) -> Table:
    """Training and unseen points, and straight lines between the training points beside them."""
    lines, regions = against_lines(result.rows), by_region(result.rows)
    rows: list[list[Cell]] = [
        [
            name,
            errors["points"],
            errors[_MEDIAN],
            errors[_P90],
            errors[_P99],
            _skill(lines["skill"]) if part == "test" else None,
            _skill(lines["skill_p90"]) if part == "test" else None,
        ]
        for part, name in (("train", "training"), ("test", "unseen"))
        if (errors := result.errors(part))["points"]
    ]
    # One region alone says what the parts have said.
    for region in Region if len(regions) > 1 else ():
        if of := regions.get(region.value):
            skills = _skill(of["skill"]), _skill(of["skill_p90"])
            rows.append([NAMES[region], of["points"], of[_MEDIAN], of[_P90], of[_P99], *skills])
    if lines["points"]:
        rows.append(
            ["unseen, by lines", lines["points"], lines[_MEDIAN], lines[_P90], None, None, None]
        )
    return Table(
        "Errors",
        [
            Column("points of", kind=Kind.TEXT, width=16),
            Column("points"),
            Column("median error of the rate,", "%"),
            Column("nine in ten within,", "%"),
            Column("median error of p99,", "%", priority=2),
            Column("skill"),
            Column("skill, nine in ten", priority=3),
        ],
        rows,
    )


def _skill(value: float | None) -> str | None:
    return None if value is None else f"{value:+.2f}"


def _correlated(result: Calibration) -> list[str]:
    """Pairs of parameters that these points cannot separate."""
    names = [estimate.parameter.key for estimate in result.fit.estimates]
    pairs = [
        f"{names[one]} and {names[other]}: {result.fit.correlations[one][other]:+.2f}"
        for one in range(len(names))
        for other in range(one)
        if abs(result.fit.correlations[one][other]) >= _ALIKE_CORRELATION
    ]
    if not pairs:
        return []
    return [f"Correlated, so that one may stand for the other: {'; '.join(pairs)}."]


def points_table(rows: Sequence[Compared], most: int | None = _WORST) -> Table:
    """The points whose rates differ most, with what most likely explains them."""
    ordered = sorted(rows, key=lambda row: abs(row.error_pct), reverse=True)
    columns = [
        Column("load, depth x jobs", kind=Kind.TEXT, width=20),
        Column("part", kind=Kind.TEXT, priority=3),
        Column("measured", "IO/s"),
        Column("simulated", "IO/s"),
        Column("error", "%"),
        Column("p99 error", "%", priority=2),
        Column("distance", priority=6),
        Column("busiest", kind=Kind.TEXT, priority=5, width=12),
        Column("likely cause", kind=Kind.PROSE, priority=2, width=24),
    ]
    found: list[list[Cell]] = []
    said = ""
    for row in ordered if most is None else ordered[:most]:
        p99 = row.percentile_error_pct(99.0)
        cause, said = "" if row.cause() == said else row.cause(), row.cause()
        found.append(
            [
                row.point.label(),
                {"train": "training", "test": "unseen"}.get(row.part, row.part),
                row.point.iops,
                row.simulated.iops,
                f"{row.error_pct:+.1f}",
                None if p99 is None else f"{p99:+.0f}",
                row.distance(),
                row.simulated.busiest,
                cause,
            ]
        )
    return Table(
        "Points whose rates differ most",
        columns,
        found,
        most=WORST_SHOWN,
        note="8 x 4 is a queue depth of 8 in each of 4 jobs. No cause: that of the row above."
        + (
            " Distance: the largest difference of the two distributions of latency (Kolmogorov's),"
            " 0 to 1."
            if any(row[6] is not None for row in found)
            else ""
        )
        + " Busiest: the part of the simulated system that works most.",
    )


def _files(measurement: Measurement) -> list[Evidence]:
    skipped = [f"Skipped: {one.path}: {one.reason}" for one in measurement.skipped]
    found: list[Evidence] = [Text("", skipped)] if skipped else []
    if measurement.files:
        found.append(
            Folded(
                f"Measured files ({len(measurement.files)})",
                Table(
                    "",
                    [
                        Column("file", kind=Kind.TEXT),
                        Column("tool", kind=Kind.TEXT),
                        Column("checksum", kind=Kind.TEXT),
                    ],
                    [[file.path, file.tool, file.sha256[:16]] for file in measurement.files],
                ),
            )
        )
    return found
