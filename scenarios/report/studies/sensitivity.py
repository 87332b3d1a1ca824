"""What a sensitivity shows: which number to measure first, and how much each one matters."""

from __future__ import annotations

from functools import partial

from raidlab.scenarios import _engine
from raidlab.scenarios.report.chart import Figure, chart, draw_bars
from raidlab.scenarios.report.look import BLUE
from raidlab.scenarios.report.page import Box, Page, Picture, Text
from raidlab.scenarios.report.report import Report
from raidlab.scenarios.report.studies.sweep_picture import short
from raidlab.scenarios.report.tables import Cell, Column, Kind, Table
from raidlab.scenarios.results.number_text import percent
from raidlab.scenarios.studies.sensitivity import Effect, Method, Sensitivity

_DRAWN = 20
"""Numbers of which the picture has a bar."""
_SILENT = 0.01
"""Of the value: below, a number does not matter."""


def _share(found: Sensitivity, each: Effect) -> float:
    """The effect as a share of the value (Morris) or of the variance (Sobol)."""
    if found.method is Method.SOBOL:
        return each.effect
    return each.effect / found.best if found.best else 0.0


def _one_device(found: Sensitivity) -> str:
    """The device that every number belongs to; empty if there are several, or loads beside it."""
    devices = {each.factor.device for each in found.effects}
    return devices.pop() if len(devices) == 1 else ""


def answer(found: Sensitivity) -> str:
    """The number to measure first, and what it does."""
    value = found.of.shown(found.best)
    ends = f"{found.of.shown(found.low)} to {found.of.shown(found.high)}"
    text = f"{found.of.name} is {value}, and {ends} over {found.simulated:,} simulations."
    first = found.effects[0]
    if found.low == found.high or (
        found.method is Method.MORRIS and _share(found, first) < _SILENT
    ):
        return f"{text} No number that is open moves it by more than 1 %."
    does = (
        f"causes {percent(first.effect)} of the variance"
        if found.method is Method.SOBOL
        else f"moves it by {found.of.shown(first.effect)} ({percent(_share(found, first))})"
    )
    text += f" Measure {first.factor.name} first: it {does}."
    others = [each for each in found.effects[1:] if each.effect > first.effect / 2]
    if others:
        text += f" Next: {', '.join(each.factor.name for each in others[:3])}."
    return text


def notes(found: Sensitivity) -> list[str]:
    """What the figures mean, and what is missing from them."""
    said = {
        Method.MORRIS: "Effect: mean change as a number goes over the middle three quarters of its"
        " range. A spread as large as the effect: it acts with others, or in a curve.",
        Method.SOBOL: "Effect: share of the variance with interactions; alone: without them.",
    }[found.method]
    if not found.left_out:
        return [said]
    return [said, f"{found.left_out:,} simulations are left out: a device could not be built."]


def table(found: Sensitivity) -> Table:
    """A line for each number."""
    sobol = found.method is Method.SOBOL
    several = not _one_device(found)
    columns = [
        *([Column("device", kind=Kind.TEXT, priority=2, width=12)] if several else []),
        Column("number", kind=Kind.TEXT, width=20),
        Column("value", kind=Kind.TEXT, priority=3),
        Column("from", kind=Kind.TEXT, priority=4),
        Column("to", kind=Kind.TEXT, priority=4),
        Column("effect", "%"),
        Column("effect ±", "(95 % interval)", priority=3),
        Column("alone" if sobol else "spread", "%", priority=2),
    ]
    whole = 1.0 if sobol else found.best or 1.0
    rows: list[list[Cell]] = [
        [
            *([each.factor.device or None] if several else []),
            each.factor.key if each.factor.device else short(each.factor.key),
            each.factor.best,
            *each.factor.bounds,
            100 * each.effect / whole,
            100 * each.ci95 / whole,
            100 * ((each.first_order if sobol else each.spread) or 0.0) / whole,
        ]
        for each in found.effects
    ]
    what = "Share of the variance" if sobol else "Change"
    return Table(f"{what} of {found.of.name} by each number", columns, rows, most=_DRAWN)


def report(found: Sensitivity) -> Report:
    """What a terminal shows, and the page."""
    return Report(found.title, answer(found), [table(found)], notes(found), partial(_page, found))


def _page(found: Sensitivity) -> Page:
    first, device = found.effects[0], _one_device(found)
    return Page(
        kind="sensitivity",
        question=found.title,
        boxes=[
            Box(found.of.shown(found.best), found.of.name),
            Box(percent(_share(found, first)), first.factor.key if device else first.factor.name),
        ],
        beside=found.warnings,
        breaches=found.breaches,
        pictures=[
            Picture(
                "What to measure first",
                f"How much each open number {f'of {device} ' * bool(device)}moves the result, with"
                " 95 % intervals.",
                _picture(found),
                wide=True,
            )
        ],
        evidence=[table(found), Text("How to read it", notes(found))],
        provenance=[
            f"raidlab {_engine.version()}, seed {found.seed}; {found.method},"
            f" {found.simulated:,} simulations."
        ],
    )


def _picture(found: Sensitivity) -> Figure:
    drawn = found.effects[:_DRAWN][::-1]
    whole = 1.0 if found.method is Method.SOBOL else found.best or 1.0
    picture = chart(height=120 + 26 * len(drawn))
    draw_bars(
        picture,
        None,
        [100 * each.effect / whole for each in drawn],
        [each.factor.key if _one_device(found) else each.factor.name for each in drawn],
        error_x={"array": [100 * each.ci95 / whole for each in drawn]},
        orientation="h",
        marker_color=BLUE,
    )
    of = "variance" if found.method is Method.SOBOL else found.of.name
    picture.update_xaxes(title_text=f"effect, % of {of}", rangemode="tozero")
    picture.update_yaxes(automargin=True)
    return picture
