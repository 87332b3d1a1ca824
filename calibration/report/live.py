"""The page and the tables of a machine beside its twin."""

from __future__ import annotations

from functools import partial

from raidlab.calibration.monitoring.live import Live
from raidlab.scenarios import _engine
from raidlab.scenarios.report.page import Box, Page, Text
from raidlab.scenarios.report.report import Report
from raidlab.scenarios.report.studies.present import hours_table, picture, sentence
from raidlab.scenarios.report.tables import Cell, Column, Kind, Table
from raidlab.scenarios.results.number_text import percent


def answer(found: Live) -> str:
    """Whether the machine drifts, and which drive stands out, in sentences."""
    said = [sentence(found.present)]
    if found.drift is not None:
        text = found.drift.said()
        said.append(f"{text[0].upper()}{text[1:]}.")
    if found.unlike:
        said.append(f"{'; '.join(each.said() for each in found.unlike)}.")
    elif found.drives:
        said.append(f"No drive of {len(found.drives)} is unlike its sisters.")
    return " ".join(said)


def drives_table(found: Live) -> Table:
    """Every drive beside its sisters."""
    columns = [
        Column("drive", kind=Kind.TEXT),
        Column("sisters", priority=3),
        Column("wait over theirs"),
        Column("I/Os over theirs"),
        Column("standard errors", priority=3),
        Column("", kind=Kind.TEXT),
    ]
    rows: list[list[Cell]] = [
        [
            each.name, each.sisters, each.wait_ratio, each.rate_ratio, abs(each.errors),
            "unlike" if each.stands_out else "",
        ]
        for each in found.drives
    ]  # fmt: skip
    return Table("Drives beside their sisters", columns, rows)


def tables(found: Live) -> list[Table]:
    """What a terminal shows."""
    return [hours_table(found.present), *([drives_table(found)] if found.drives else [])]


def report(found: Live) -> Report:
    """What a terminal shows, and the page."""
    return Report(found.present.system, answer(found), tables(found), page=partial(_page, found))


def _page(found: Live) -> Page:
    drift = found.drift
    boxes = [
        Box(percent(found.present.error), "off, over all windows"),
        Box("?" if drift is None else f"{100 * drift.change:+.0f} %", "change of waits beside it"),
        Box(str(len(found.unlike)), "drives unlike their sisters"),
    ]
    return Page(
        kind="compare-live",
        question=f"Does the machine do what {found.present.system} does?",
        boxes=boxes,
        beside=found.warnings,
        pictures=[picture(found.present)],
        evidence=[
            *tables(found),
            Text("What it rests on", list(found.load.assumptions)),
        ],
        provenance=[
            f"raidlab {_engine.version()}, seed {found.seed};"
            f" {found.load.seconds:,.0f} s of {', '.join(found.load.devices)}."
        ],
    )
