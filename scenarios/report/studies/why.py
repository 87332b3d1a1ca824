"""What a diagnosis shows: causes by gain, the proof of each, what to do about it."""

from __future__ import annotations

import math
from functools import partial

from raidlab.scenarios import _engine
from raidlab.scenarios.report.chart import Figure, chart, draw_bars
from raidlab.scenarios.report.look import BLUE
from raidlab.scenarios.report.page import Box, Page, Picture, Text
from raidlab.scenarios.report.report import Report
from raidlab.scenarios.report.tables import Cell, Column, Kind, Table
from raidlab.scenarios.studies.why import Cause, Diagnosis, percent


def table(found: Diagnosis) -> Table:
    """A line for each cause, the largest gain first."""
    columns = [
        Column("cause", kind=Kind.TEXT, width=16),
        Column("gain", "%"),
        Column("of", kind=Kind.TEXT, priority=2),
        Column("from", "%", priority=2),
        Column("to", "%", priority=2),
        Column("where", kind=Kind.TEXT, priority=1, width=24),
        Column("remedy", kind=Kind.TEXT, priority=3),
    ]
    rows: list[list[Cell]] = [_row(each) for each in found.causes]
    return Table("What removing each cause gives", columns, rows)


def _row(each: Cause) -> list[Cell]:
    gain, low, high = _finite(each.gain_pct, *each.gain_pct_ci95)
    return [each.code, gain, each.gain_of, low, high, each.subject, each.remedy]


def _finite(*gains: float) -> list[float | None]:
    return [each if math.isfinite(each) else None for each in gains]


def beside_measurement(found: Diagnosis) -> Table | None:
    """The system as it is written and the nearest changes, beside the measurement."""
    own = found.explanation
    if own is None:
        return None
    columns = [
        Column("system", kind=Kind.TEXT, width=34),
        Column("rate", "IO/s"),
        Column("latency", "us"),
        Column("error", "%", priority=1),
    ]
    rows: list[list[Cell]] = [
        [f"measured ({own.measured.source})", own.measured.iops, own.measured.latency_us, None],
        ["as it is written", own.written.iops, own.written.latency_us, own.written.error_pct],
    ]
    for each in own.changed[:6]:
        sign = "with" if each.at_work else "without"
        rows.append([f"{sign} {each.code}", each.iops, each.latency_us, each.error_pct])
    return Table("Beside the measurement, the nearest first", columns, rows)


def notes(found: Diagnosis) -> list[str]:
    """Proof, remedy and check of each cause; what was tried besides."""
    said = [
        f"{each.code}: {each.proof}. Remedy: {each.remedy}. On the machine: {each.check}"
        for each in found.causes
    ]
    if found.explanation is not None:
        said += [
            f"{each.code} explains the measurement; on the machine: {each.check}"
            for each in found.explanation.explained_by[:3]
        ]
    tried = "; ".join(found.tried) or "nothing; no suspect applies"
    said.append(
        f"Removed one at a time, gains of the rate, or the latency where it stays: {tried}."
    )
    return said + [f"Not tried: {each}" for each in found.set_aside]


def report(found: Diagnosis) -> Report:
    """What a terminal shows, and the page."""
    beside = beside_measurement(found)
    tables = [*([beside] if beside else []), *([table(found)] if found.causes else [])]
    return Report(found.title, found.sentence, tables, notes(found), partial(_page, found))


def _page(found: Diagnosis) -> Page:
    boxes = [
        Box(percent(each.gain_pct), f"{each.gain_of}, without {each.code}")
        for each in found.causes[:3]
    ]
    pictures = [
        Picture(
            "What slows the system",
            "Gain of each removal, with its 95 % interval over seeds.",
            _picture(found),
            wide=True,
        )
    ]
    measured = beside_measurement(found)
    return Page(
        kind="why",
        question=f"Why is it slow? {found.title}",
        boxes=boxes,
        beside=found.warnings,
        breaches=found.breaches,
        pictures=pictures if found.causes else [],
        evidence=[
            *([measured] if measured else []),
            table(found),
            Text("Proof and remedies", notes(found)),
        ],
        provenance=[f"raidlab {_engine.version()}."],
    )


def _picture(found: Diagnosis) -> Figure:
    drawn = [each for each in found.causes[::-1] if math.isfinite(each.gain_pct)]
    picture = chart(height=120 + 26 * len(drawn))
    draw_bars(
        picture,
        None,
        [each.gain_pct for each in drawn],
        [each.code for each in drawn],
        error_x={
            "array": [each.gain_pct_ci95[1] - each.gain_pct for each in drawn],
            "arrayminus": [each.gain_pct - each.gain_pct_ci95[0] for each in drawn],
        },
        orientation="h",
        marker_color=BLUE,
    )
    picture.update_xaxes(title_text="gain without it, %", rangemode="tozero")
    picture.update_yaxes(automargin=True)
    return picture
