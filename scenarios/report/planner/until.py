"""What `raidlab until` shows: the month of each candidate, and the way there over time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

from raidlab.scenarios import _engine
from raidlab.scenarios.capacity.load import load_of
from raidlab.scenarios.capacity.until import MODEL_ERROR, MONTHS, Lasting, Miss, Until, curves
from raidlab.scenarios.report.chart import Figure, chart, draw_curve
from raidlab.scenarios.report.look import GREY, log_axis
from raidlab.scenarios.report.page import Box, Page, Picture, Text
from raidlab.scenarios.report.planner.alternatives import cost_column
from raidlab.scenarios.report.report import Report
from raidlab.scenarios.report.tables import Cell, Column, Kind, Table
from raidlab.scenarios.results.number_text import figure, percent

_LINES = 4
"""Candidates that are drawn: those that last longest."""


def month(value: float) -> str:
    """A month in words: `now`, `month 14 (1.2 years)`."""
    if value < 1:
        return "now"
    years = f" ({value / 12:.1f} years)" if value >= 18 else ""
    return f"month {value:.0f}{years}"


def _when(miss: Miss) -> str:
    if miss.month is None:
        return f"not within {MONTHS // 12} years"
    high = f"{miss.high:.0f}" if miss.high is not None else f"beyond {MONTHS}"
    if miss.high is not None and miss.high < 1:
        return "now"
    return f"{month(miss.month)}, 95 %: {miss.low:.0f} to {high}"


def answer(found: Until) -> str:
    """Which candidate lasts longest, until when, and what ends it."""
    known = [each for each in found.candidates if each.first is not None]
    if not known:
        return "No candidate can be built and simulated."
    best = known[0]
    assert best.first is not None
    if best.months == 0:
        now = next((one.p99_us for one in best.curve if one.month == 0), None)
        has = "" if now is None else f", its p99 is {figure(now, 'us')}"
        return f"No candidate meets the goals today: {best.name} misses {best.first.goal}{has}."
    several = f" of {len(known)} candidates" if len(known) > 1 else ""
    lasts = f"{best.name} lasts longest{several}" if len(known) > 1 else best.name
    if best.first.month is None:
        alike = [each for each in known if each.first and each.first.month is None]
        names = "; ".join(each.name for each in alike[:3])
        more = f" and {len(alike) - 3} more" if len(alike) > 3 else ""
        return f"{names}{more} meet every goal for {MONTHS // 12} years and longer."
    return f"{lasts}: it misses {best.first.goal} in {_when(best.first)}{_limit(best.first)}."


def _limit(miss: Miss) -> str:
    return f" (limit: {miss.limit})" if miss.limit and miss.limit != "capacity" else ""


def table(found: Until) -> Table:
    """Each candidate with its first miss."""
    columns = [
        Column("candidate", kind=Kind.PROSE, width=24),
        cost_column(found.question, 2),
        Column("misses first", kind=Kind.PROSE, width=18),
        Column("month"),
        Column("from"),
        Column("to"),
        Column("limit", kind=Kind.TEXT, priority=3, width=12),
    ]
    rows: list[list[Cell]] = []
    for each in found.candidates:
        first = each.first
        if first is None:
            rows.append([each.name, each.cost, each.why_not, None, None, None, None])
            continue
        goal = first.goal if first.month is not None else f"none within {MONTHS} months"
        rows.append(
            [each.name, each.cost, goal, first.month, first.low, first.high, first.limit or None]
        )
    return Table("When each candidate first misses a goal", columns, rows)


def others(found: Until) -> Table:
    """What else is missed, and when."""
    columns = [
        Column("candidate", kind=Kind.PROSE, width=24),
        Column("then misses", kind=Kind.PROSE, width=18),
        Column("month"),
        Column("from"),
        Column("to"),
    ]
    rows: list[list[Cell]] = [
        [each.name, miss.goal, miss.month, miss.low, miss.high]
        for each in found.candidates
        for miss in each.misses[1:]
        if miss.month is not None
    ]
    return Table("Other goals", columns, rows)


def report(found: Until) -> Report:
    """What a terminal shows, and the page."""
    tables = [each for each in (table(found), others(found)) if each.rows]
    return Report(found.question.title, answer(found), tables, notes(found), partial(_page, found))


def _page(found: Until) -> Page:
    boxes = []
    known = [each for each in found.candidates if each.first is not None]
    if known and known[0].first is not None:
        first = known[0].first
        boxes.append(Box("beyond" if first.month is None else f"{first.month:.0f}",
                         f"{MONTHS} months" if first.month is None else "months"))  # fmt: skip
        end = "beyond" if first.high is None else f"{first.high:.0f}"
        boxes.append(Box(f"{first.low:.0f} to {end}", "95 % interval"))
    tables = [each for each in (table(found), others(found)) if each.rows]
    return Page(
        kind="until",
        question=f"{found.question.title}: until when?",
        boxes=boxes,
        beside=found.warnings,
        breaches=found.breaches,
        pictures=_pictures(found),
        evidence=[*tables, Text("The load", load_of(found.question)),
                  Text("What it rests on", notes(found))],
        provenance=[f"raidlab {_engine.version()}, seed {found.seed}."],
    )  # fmt: skip


def notes(found: Until) -> list[str]:
    """What the months rest on."""
    slow, fast = found.question.growth_ends
    growth = f"{100 * found.question.mean_growth:.3g} %"
    between = f", {100 * slow:.3g} to {100 * fast:.3g} %" if fast > slow else ""
    return [
        f"Rates together grow by {growth} a year{between}, without a pause and without seasons.",
        "Intervals hold the last month that surely meets the goals, the first that surely does not,"
        f" rates that are off by {percent(MODEL_ERROR)}, and the ends of the growth.",
    ]


def _pictures(found: Until) -> list[Picture]:
    drawn = curves(found.candidates)[:_LINES]
    if not drawn:
        return []
    goals = [
        goal for goal in found.question.latency_goals if goal.quantity == "p99" and goal.at_most
    ]
    bounds = [goal.bound / 1e3 for goal in goals]
    said = answer(found).split(":")[0].rstrip(".")
    under = "p99 of the slowest load over months from now"
    if bounds:
        under += f"; dashed: {goals[0].text}"
    return [Picture(said, f"{under}.", _over_time(drawn, bounds), wide=True)]


def _over_time(drawn: Sequence[Lasting], bounds: Sequence[float]) -> Figure:
    picture = chart(height=380)
    values = list(bounds)
    for at, each in enumerate(drawn):
        points = [one for one in each.curve if one.p99_us]
        own = [(one.p99_us or math.nan) / 1e3 for one in points]
        values += own
        draw_curve(
            picture,
            each.name,
            [one.month for one in points],
            own,
            at=at,
            hover="month %{x}: %{y:.3g} ms<extra></extra>",
        )
    for bound in bounds:
        picture.add_hline(y=bound, line={"color": GREY, "dash": "dash", "width": 2})
    picture.update_layout(showlegend=True)
    picture.update_yaxes(**log_axis(values, "p99, ms"))
    picture.update_xaxes(title_text="months from now", rangemode="tozero")
    return picture
