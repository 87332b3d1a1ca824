"""The present system beside what was monitored, and what was fitted: sentences, tables, a page."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

from raidlab.scenarios import _engine
from raidlab.scenarios.report.chart import chart, draw_curve
from raidlab.scenarios.report.look import VERMILLION
from raidlab.scenarios.report.page import Box, Page, Picture, Text
from raidlab.scenarios.report.report import Report
from raidlab.scenarios.report.tables import Cell, Column, Kind, Table
from raidlab.scenarios.results.number_text import figure, percent
from raidlab.scenarios.spec.monitored import Fit, Openness
from raidlab.scenarios.studies.openness import Fitted, off
from raidlab.scenarios.studies.present import Present

_GIB = 1 << 30
_HOURS_FROM_S, _MINUTES_FROM_S = 7200.0, 120.0
"""Length from which on windows are counted in hours, and in minutes."""


def sentence(found: Present) -> str:
    """How near the present system is to what was monitored."""
    whole = found.whole
    if not math.isfinite(found.error):
        return f"{found.system} cannot be compared: too few I/Os have known waits."
    sides = [
        (whole.simulated.read_ms, whole.monitored.read_ms, "reads in "),
        (whole.simulated.write_ms, whole.monitored.write_ms, "writes in "),
    ]
    known = [each for each in sides if None not in each]
    if not known:
        known = [(whole.simulated.mean_ms, whole.monitored.mean_ms, "in ")]
    said = ", ".join(
        f"{what}{figure(_us(simulated), 'us')} where {figure(_us(monitored), 'us')} were monitored"
        for simulated, monitored, what in known
    )
    over = f"over {len(found.hours)} windows"
    return f"Simulated, {found.system} answers {said}: off by {off(found.error)} {over}."


def _us(ms: float | None) -> float | None:
    return None if ms is None else 1000 * ms


def answer(found: Fitted) -> str:
    """Whether anything that is open gives the monitored waits, and what."""
    fit = found.fit
    if not fit.holds:
        return (
            f"Nothing that the file leaves open gives what was monitored: the nearest of"
            f" {found.tried} choices is off by {off(fit.members[0].error_pct / 100)}."
            f" {found.present.system} is not what its file says, or other loads were on it."
        )
    count = len(fit.members)
    what = "1 choice gives" if count == 1 else f"{count} choices give"
    return (
        f"{what} what was monitored, the nearest within"
        f" {percent(fit.members[0].error_pct / 100)}: {', '.join(_words(fit))}."
    )


_SHARES: tuple[tuple[str, Callable[[Openness], float]], ...] = (
    ("of the reads in sequence", lambda each: each.sequential_read),
    ("of the writes in sequence", lambda each: each.sequential_write),
    ("of the random I/Os in a hot spot", lambda each: each.hot_share),
)


def _words(fit: Fit) -> list[str]:
    said = []
    for what, value in _SHARES:
        nearest, low, high = _ends(fit, value)
        said.append(f"{100 * nearest:.0f} % ({100 * low:.0f} to {100 * high:.0f}) {what}")
    nearest, low, high = _ends(fit, lambda each: each.bursts)
    return [*said, f"bursts of {nearest:.3g} ({low:.3g} to {high:.3g}) times the mean rate"]


def _ends(fit: Fit, value: Callable[[Openness], float]) -> tuple[float, float, float]:
    every = [value(each) for each in fit.members]
    return every[0], min(every), max(every)


def open_table(fit: Fit) -> Table:
    """What was open, with its interval."""
    columns = [
        Column("what no file says", kind=Kind.TEXT),
        Column("nearest"),
        Column("from"),
        Column("to"),
        Column("", kind=Kind.TEXT),
    ]
    rows: list[list[Cell]] = [
        [what, *(100 * each for each in _ends(fit, value)), "%"] for what, value in _SHARES
    ]
    hot = [each / _GIB for each in _ends(fit, lambda each: each.hot_bytes)]
    rows.append(["size of the hot spot", *hot, "GiB"])
    used = [each / _GIB for each in _ends(fit, lambda each: each.used_bytes or fit.system_bytes)]
    rows.append(["part of the system that is used", *used, "GiB"])
    rows.append(["bursts, over the mean rate", *_ends(fit, lambda each: each.bursts), "x"])
    return Table("What was fitted", columns, rows)


def clock_of(begins_s: Sequence[float]) -> tuple[str, str, float]:
    """A unit for times of windows, short and in full, and its seconds."""
    last = max(begins_s, default=0.0)
    if last >= _HOURS_FROM_S:
        return "h", "hours", 3600.0
    return ("min", "minutes", 60.0) if last >= _MINUTES_FROM_S else ("s", "seconds", 1.0)


def hours_table(found: Present) -> Table:
    """Each window: as monitored, as simulated."""
    unit, _, unit_s = clock_of([each.at_s for each in found.hours])
    columns = [
        Column("after", unit),
        Column("rate", "IO/s"),
        Column("reads", "ms"),
        Column("simulated", "ms"),
        Column("writes", "ms"),
        Column("simulated", "ms"),
        Column("queue", priority=3),
        Column("simulated", priority=3),
    ]
    rows: list[list[Cell]] = []
    for each in found.hours:
        one, two = each.monitored, each.simulated
        waits: list[Cell] = [one.read_ms, two.read_ms, one.write_ms, two.write_ms]
        if one.read_ms is None and one.write_ms is None:
            waits = [one.mean_ms, two.mean_ms, None, None]
        rows.append([each.at_s / unit_s, one.iops, *waits, one.queue, two.queue])
    return Table(f"{found.system}, monitored and simulated", columns, rows, most=24)


def open_hours_table(found: Fitted) -> Table:
    """Each window: its wait, that of the choices that are kept, and what is open then."""
    unit, _, unit_s = clock_of([each.at_s for each in found.hours])
    columns = [
        Column("after", unit),
        Column("wait", "ms"),
        Column("from", "ms"),
        Column("to", "ms"),
        Column("choices", priority=3),
        Column("sequential reads, %", kind=Kind.TEXT),
        Column("hot spot, %", kind=Kind.TEXT),
        Column("bursts", kind=Kind.TEXT),
    ]
    rows: list[list[Cell]] = []
    for each in found.hours:
        spans = [
            "none"
            if (ends := each.span(name)) is None
            else f"{by * ends[0]:.3g} to {by * ends[1]:.3g}"
            for name, by in (("sequential_read", 100), ("hot_share", 100), ("bursts", 1))
        ]
        rows.append(
            [each.at_s / unit_s, each.monitored_ms, each.low_ms, each.high_ms, len(each.choices),
             *spans]
        )  # fmt: skip
    return Table("Hour by hour: waits of the choices, and what is open", columns, rows, most=24)


def picture(found: Present) -> Picture:
    """Mean waits over time, monitored and simulated."""
    drawn = chart()
    _, unit, unit_s = clock_of([each.at_s for each in found.hours])
    hours = [(each.at_s + each.seconds / 2) / unit_s for each in found.hours]
    draw_curve(
        drawn,
        "monitored",
        hours,
        [each.monitored.mean_ms for each in found.hours],
        mode="markers",
        marker={"color": VERMILLION, "size": 9, "symbol": "diamond"},
    )
    draw_curve(drawn, "simulated", hours, [each.simulated.mean_ms for each in found.hours], at=0)
    drawn.update_layout(showlegend=True)
    drawn.update_xaxes(title_text=f"{unit} since the first sample")
    drawn.update_yaxes(title_text="mean wait, ms", rangemode="tozero")
    return Picture(
        f"The present system, simulated, is off by {off(found.error)}",
        "Mean wait of reads and writes in each window: as monitored, and as simulated.",
        drawn,
        wide=True,
    )


def boxes(found: Fitted) -> Sequence[Box]:
    """At most three figures."""
    return [
        Box(percent(found.present.error), "off, over all windows"),
        Box(str(len(found.fit.members)), "choices that give the waits"),
        Box(percent(found.fit.tolerance_pct / 100), "tolerance"),
    ]


def report(found: Fitted) -> Report:
    """What a terminal shows, and the page."""
    tables = [open_table(found.fit), hours_table(found.present), open_hours_table(found)]
    return Report(found.present.system, answer(found), tables, page=partial(_page, found))


def _page(found: Fitted) -> Page:
    return Page(
        kind="fit-load",
        question=f"Does {found.present.system} give what was monitored?",
        boxes=boxes(found),
        about=[sentence(found.present)],
        beside=found.warnings,
        pictures=[picture(found.present)],
        evidence=[
            open_table(found.fit),
            hours_table(found.present),
            open_hours_table(found),
            Text("What it rests on", list(found.load.assumptions)),
        ],
        provenance=[f"raidlab {_engine.version()}, seed {found.fit.seed}; {found.tried} choices."],
    )
