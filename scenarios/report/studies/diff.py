"""What `raidlab diff` shows: figures with intervals, files, where time goes."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

from raidlab.scenarios.report.chart import chart, draw_bars, draw_curve
from raidlab.scenarios.report.look import part_marker
from raidlab.scenarios.report.page import Box, Page, Picture
from raidlab.scenarios.report.report import Report
from raidlab.scenarios.report.tables import Cell, Column, Kind, Table
from raidlab.scenarios.results.number_text import figure, part_name, percent
from raidlab.scenarios.studies.diff import Diff, Figure, Pair, provenance

_DRAWN = 3
"""Pairs of rows whose time is drawn: those whose mean latencies differ most."""
_SMALL_SHARE = 0.02
"""Share of the mean latency below which a part is left out of the table."""
_LONGEST_TEXT = 40
"""Characters of a value that a table shows."""


def answer(found: Diff) -> str:
    """What differs most, and where the time went."""
    if not found.pairs:
        return "No row of A has a counterpart in B."
    pair = _most(found)
    rate, p99 = pair.figures[0], pair.figures[3]
    parts = [_said(rate), _said(p99)]
    text = f"{pair.workload}, {pair.point}: {' and '.join(each for each in parts if each)}"
    part = _part(pair)
    return f"{text}{part}." if any(parts) else f"{text}nothing that can be compared."


def _said(each: Figure) -> str:
    if each.a is None or each.b is None:
        return ""
    values = f"{figure(each.a, each.unit)} in A, {figure(each.b, each.unit)} in B"
    change = each.change_pct
    sign = "" if change is None else f" ({change:+.1f} %)"
    doubt = ", which may be chance" if each.clear is False and each.a != each.b else ""
    return f"{each.name} {values}{sign}{doubt}"


def _most(found: Diff) -> Pair:
    return max(found.pairs, key=lambda pair: abs(pair.figures[0].change_pct or 0.0)
               + abs(pair.figures[3].change_pct or 0.0))  # fmt: skip


def _part(pair: Pair) -> str:
    """The part of the time that differs most."""
    if not pair.breakdown_us:
        return ""
    part, (a, b) = max(pair.breakdown_us.items(), key=lambda each: abs(each[1][1] - each[1][0]))
    mean = pair.figures[1].a or 0.0
    if abs(b - a) < _SMALL_SHARE * mean:
        return ""
    return f"; most of the difference is {part_name(part)}: {figure(a, 'us')}, {figure(b, 'us')}"


def figures_table(found: Diff) -> Table:
    """Each figure of each pair of rows."""
    several = len({pair.workload for pair in found.pairs}) > 1
    columns = [
        *([Column("load", kind=Kind.TEXT, width=14)] if several else []),
        Column("point", kind=Kind.TEXT, width=16),
        Column("figure", kind=Kind.TEXT),
        Column("A"),
        Column("B"),
        Column("", kind=Kind.TEXT),
        Column("change", "%"),
        Column("clear", kind=Kind.TEXT, priority=2),
        Column("A, 95 %", kind=Kind.TEXT, priority=4),
        Column("B, 95 %", kind=Kind.TEXT, priority=4),
    ]
    rows: list[list[Cell]] = []
    for pair in found.pairs:
        for each in pair.figures:
            clear = {True: "yes", False: "no", None: None}[each.clear]
            rows.append(
                [*([pair.workload] if several else []), pair.point, each.name, each.a, each.b,
                 each.unit, each.change_pct, clear, _ends(each, "a"), _ends(each, "b")]
            )  # fmt: skip
    return Table("Figures", columns, rows, most=30)


def _ends(each: Figure, which: str) -> str | None:
    low, high = each.a_ci95 if which == "a" else each.b_ci95
    if low is None or high is None:
        return None
    return f"{figure(low, each.unit)} to {figure(high, each.unit)}"


def files_table(found: Diff) -> Table:
    """Keys whose values differ."""
    columns = [
        Column("key", kind=Kind.TEXT, width=30),
        Column("A", kind=Kind.PROSE, width=20),
        Column("B", kind=Kind.PROSE, width=20),
    ]
    rows: list[list[Cell]] = [[each.key, _short(each.a), _short(each.b)] for each in found.changes]
    return Table("What differs in the files", columns, rows, most=20)


def _short(value: Any) -> str:
    if value is None:
        return "–"
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= _LONGEST_TEXT else f"{text[: _LONGEST_TEXT - 3]}..."


def times_table(found: Diff) -> Table:
    """Where the mean time of an I/O goes, of both."""
    columns = [
        Column("load", kind=Kind.TEXT, width=14, priority=2),
        Column("point", kind=Kind.TEXT, width=16),
        Column("part", kind=Kind.TEXT),
        Column("A", "us"),
        Column("B", "us"),
        Column("B - A", "us"),
    ]
    rows: list[list[Cell]] = []
    for pair in found.pairs:
        total = max(sum(ends[at] for ends in pair.breakdown_us.values()) for at in (0, 1)) if (
            pair.breakdown_us
        ) else 0.0  # fmt: skip
        rows += [
            [pair.workload, pair.point, part_name(part), a, b, b - a]
            for part, (a, b) in pair.breakdown_us.items()
            if max(a, b) >= _SMALL_SHARE * total > 0
        ]
    return Table("Where the time goes", columns, rows, most=30)


def notes(found: Diff) -> list[str]:
    """Which rows stand alone, and what is clear."""
    said = [
        f"Only in {name}: {'; '.join(rows)}."
        for name, rows in (("A", found.only_a), ("B", found.only_b))
        if rows
    ]
    return [*said, "A difference is clear where both 95 % intervals do not meet."]


def _tables(found: Diff) -> list[Table]:
    tables = (figures_table(found), files_table(found), times_table(found))
    return [each for each in tables if each.rows]


def report(found: Diff) -> Report:
    """What a terminal shows, and the page."""
    title = f"A: {found.a.title}; B: {found.b.title}"
    return Report(title, answer(found), _tables(found), notes(found), partial(_page, found))


def _page(found: Diff) -> Page:
    boxes = []
    if found.pairs:
        for each in (_most(found).figures[0], _most(found).figures[3]):
            if each.change_pct is not None:
                sign = "+" if each.change_pct > 0 else "-" if each.change_pct < 0 else ""
                boxes.append(Box(f"{sign}{percent(abs(each.change_pct) / 100)}", each.name))
    drawn = sorted(found.pairs, key=_apart)[:_DRAWN]
    return Page(
        kind="diff",
        question=f"{found.a.title} (A) and {found.b.title} (B)",
        boxes=boxes,
        about=notes(found),
        beside=found.warnings,
        breaches=found.breaches,
        pictures=[*_rates(found), *(_time(pair) for pair in drawn if pair.breakdown_us)],
        evidence=_tables(found),
        provenance=provenance(found),
    )


def _apart(pair: Pair) -> float:
    mean = pair.figures[1]
    return -abs((mean.a or 0.0) - (mean.b or 0.0))


def _rates(found: Diff) -> list[Picture]:
    """Rate and p99 of all points, both laid over each other; nothing for a single point."""
    if len(found.pairs) < 2:
        return []
    pictures = []
    for at, (name, unit, scale) in enumerate((("rate", "IO/s", 1.0), ("p99", "ms", 1e-3))):
        which = 0 if name == "rate" else 3
        drawn = chart()
        for side in ("a", "b"):
            values = [getattr(pair.figures[which], side) for pair in found.pairs]
            draw_curve(
                drawn,
                side.upper(),
                [f"{pair.workload}, {pair.point}" for pair in found.pairs],
                [None if each is None else each * scale for each in values],
                at=0 if side == "a" else 1,
            )
        drawn.update_layout(showlegend=True)
        drawn.update_yaxes(title_text=f"{name}, {unit}", rangemode="tozero")
        pictures.append(Picture(("Rates", "Latencies")[at], f"{name} at each point.", drawn))
    return pictures


def _time(pair: Pair) -> Picture:
    """Where the mean time goes: a bar for each."""
    drawn = chart(height=240)
    for part, (a, b) in pair.breakdown_us.items():
        if max(a, b) <= 0:
            continue
        draw_bars(
            drawn,
            part_name(part),
            [a, b],
            ["A", "B"],
            hover="%{y}, " + part_name(part) + ": %{x:,.4g} us<extra></extra>",
            orientation="h",
            marker=part_marker(part, outline=0.75),
        )
    drawn.update_layout(barmode="stack", showlegend=True)
    drawn.update_xaxes(title_text="mean latency, us", rangemode="tozero")
    drawn.update_yaxes(autorange="reversed")
    means = [sum(ends[at] for ends in pair.breakdown_us.values()) for at in (0, 1)]
    return Picture(
        f"{pair.workload}, {pair.point}: {figure(means[0], 'us')} and {figure(means[1], 'us')}",
        "Mean latency by the part in which it is spent.",
        drawn,
        wide=True,
    )
