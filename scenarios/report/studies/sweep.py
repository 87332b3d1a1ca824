"""What a sweep shows: an answer, a table, and a picture of the first thing that varies."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from raidlab.scenarios import _engine
from raidlab.scenarios.report.page import Box, Page, Picture, Text
from raidlab.scenarios.report.report import Report
from raidlab.scenarios.report.studies.sweep_picture import heads, picture, place, ran
from raidlab.scenarios.report.tables import Cell, Column, Kind, Table
from raidlab.scenarios.results.number_text import figure
from raidlab.scenarios.studies.sweep import Sweep
from raidlab.scenarios.studies.vary import Design, Line

_ROWS = 40
"""Rows that a terminal shows unless it is asked for all."""
_TIE_RATIO = 1.02
"""Times the other figure up to which two are a tie."""
_NAMED = 3
"""Others of a tie that are named."""


def answer(found: Sweep) -> str:
    """How many points there are, and the one with the highest rate, or else the lowest p99.

    The rate of a load that comes at a rate of its own, and is served, is no merit of a system.
    """
    rows = ran(found.rows)
    refused = {row["point"] for row in found.rows if row["why_not"]}
    text = f"{found.points - len(refused):,} points ran"
    if refused:
        text += f", {len(refused):,} cannot be built"
    if not rows:
        return f"{text}."
    carrying = [row for row in rows if not row["doubts"]]
    if len(carrying) < len(rows):
        points = len({row["point"] for row in rows if row["doubts"]})
        text += f", {points:,} of them without a statement (column `doubts`)"
    closed = [row for row in carrying if row["offered_iops"] is None]
    rates = [row["iops"] for row in closed]
    if not found.open and rates and max(rates) > _TIE_RATIO * min(rates):
        best = max(closed, key=lambda row: row["iops"])
        alike = [
            row for row in closed if row is not best and row["iops"] * _TIE_RATIO >= best["iops"]
        ]
        rate = figure(best["iops"], "IO/s")
        return f"{text}. The highest rate is {rate}: {place(found.vary, best)}{_tie(found, alike)}."
    known = [row for row in carrying if row["latency_p99_us"] is not None]
    if not known:
        return f"{text}."
    least = min(known, key=lambda row: row["latency_p99_us"])
    p99 = least["latency_p99_us"]
    alike = [row for row in known if row is not least and row["latency_p99_us"] <= _TIE_RATIO * p99]
    said = f"The lowest p99 is {figure(p99, 'us')}: {place(found.vary, least)}"
    return f"{text}. {said}{_tie(found, alike)}."


def _tie(found: Sweep, alike: Sequence[Line]) -> str:
    """Points that do as well as the best one."""
    others = dict.fromkeys(place(found.vary, row) for row in alike)
    if not others:
        return ""
    if len(others) > _NAMED:
        return f" (a tie within 2 % with {len(others)} others)"
    return f" (a tie within 2 % with {'; '.join(others)})"


def table(found: Sweep) -> Table:
    """A line for each row."""
    varies_depth = any(path.endswith(".outstanding") for path in found.vary)
    columns = [
        *(Column(head, kind=Kind.TEXT, width=10) for head in heads(found.vary).values()),
        Column("workload", kind=Kind.TEXT, priority=2),
        *([] if varies_depth else [Column("depth", priority=3)]),
        Column("IO/s"),
        Column("IO/s ±", "(95 % interval)", priority=4),
        Column("MB/s", priority=5),
        Column("mean", "ms", priority=3),
        Column("p99", "ms"),
        Column("p99.9", "ms", priority=4),
        Column("usable", "TB", priority=4),
        Column("limit", kind=Kind.TEXT, priority=2, width=14),
    ]
    rows: list[list[Cell]] = []
    for row in ran(found.rows):
        wide = None
        if row["iops_low"] is not None and row["iops_high"] is not None:
            wide = (row["iops_high"] - row["iops_low"]) / 2
        usable = row["usable_bytes"]
        rows.append(
            [
                *(str(row[path]) for path in found.vary),
                row["workload"],
                *([] if varies_depth else [row["outstanding"] or None]),
                row["iops"],
                wide,
                row["mb_per_s"],
                _ms(row["latency_mean_us"]),
                _ms(row["latency_p99_us"]),
                _ms(row["latency_p99_9_us"]),
                None if not usable else usable / 1e12,
                row["limit"],
            ]
        )
    return Table("", columns, rows, most=_ROWS)


def notes(found: Sweep) -> list[str]:
    """Why points cannot be built, each reason once."""
    reasons: dict[str, list[Line]] = {}
    for row in found.rows:
        if row["why_not"]:
            reasons.setdefault(row["why_not"], []).append(row)
    said = []
    for why, rows in reasons.items():
        first = found.refused[rows[0]["point"]][0]
        # A fault of the key that varies says itself which point it is.
        where = "" if (first.key,) == found.vary else place(found.vary, rows[0])
        more = f" and {len(rows) - 1:,} more points" if len(rows) > 1 else ""
        said.append(f"{where}{more}{': ' if where or more else ''}{why}.")
    return said


def _ms(value: float | None) -> float | None:
    return None if value is None else value / 1e3


def report(found: Sweep) -> Report:
    """What a terminal shows, and the page."""
    return Report(found.title, answer(found), [table(found)], notes(found), partial(_page, found))


def _page(found: Sweep) -> Page:
    rows = ran(found.rows)
    boxes = [Box(f"{found.points:,}", "points")]
    if rows:
        boxes += _highest(rows)
    return Page(
        kind="sweep",
        question=found.title,
        boxes=boxes,
        beside=found.warnings,
        breaches=found.breaches,
        pictures=[
            Picture(
                f"Rate over {heads(found.vary)[found.vary[0]]}",
                "IO/s of each point.",
                picture(found.rows, found.vary, "iops", grid=found.design is Design.GRID),
            ),
            Picture(
                f"p99 over {heads(found.vary)[found.vary[0]]}",
                "Milliseconds of each point.",
                picture(found.rows, found.vary, "latency_p99_us", grid=found.design is Design.GRID),
            ),
        ]
        if rows
        else [],
        evidence=[table(found), Text("", notes(found))],
        provenance=[f"raidlab {_engine.version()}, seed {found.seed}, {found.design}."],
    )


def _highest(rows: Sequence[Line]) -> list[Box]:
    """The highest rate of rows that may carry a statement."""
    rates = [row["iops"] for row in rows if not row["doubts"]]
    return [Box(figure(max(rates), "IO/s"), "highest rate")] if rates else []
