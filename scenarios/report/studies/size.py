"""What a size shows: the answer with its confidence, the values that were tried, the curve."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from raidlab.scenarios import _engine
from raidlab.scenarios.report.chart import Figure, chart, draw_curve
from raidlab.scenarios.report.look import GREY, VERMILLION, log_axis
from raidlab.scenarios.report.page import Box, Page, Picture, Text
from raidlab.scenarios.report.report import Report
from raidlab.scenarios.report.studies.present import hours_table, picture, sentence
from raidlab.scenarios.report.studies.sweep_picture import number_of, short
from raidlab.scenarios.report.tables import Cell, Column, Kind, Table
from raidlab.scenarios.results.goals import UNWORN_YEARS, Judged
from raidlab.scenarios.results.number_text import percent, with_spread
from raidlab.scenarios.studies.size import Find, Sized, Tried

_LISTED = 4
"""Values that are named where many have the same reason."""


def answer(found: Sized) -> str:
    """The present system, the answer with its figures, and what its neighbour lacks."""
    if found.present is not None:
        return f"{sentence(found.present)} {_answer(found)}"
    return _answer(found)


def _answer(found: Sized) -> str:
    if found.answer is None:
        nearest = closest(found)
        lacks = "; ".join(
            f"{each.goal.name} is {_value(each)}, wanted: {each.goal.text}"
            for each in nearest.judged
            if not each.holds
        )
        behind = "it falls behind its load; " if nearest.falls_behind else ""
        behind += f"its run carries no statement ({nearest.unsettled}); " * bool(nearest.unsettled)
        return (
            f"No {short(found.path)} that was tried meets every goal. The nearest is"
            f" {nearest.value}: {behind}{lacks}."
        )
    at = found.at(found.answer)
    text = f"{_words(found, found.answer)} {_holds(found, at)}"
    if found.neighbour is not None:
        text += f"; {_words(found, found.neighbour)} {_fails(found, found.at(found.neighbour))}"
    else:
        ends = "least" if found.find is Find.LEAST else "most"
        text += f"; it is the {ends} of what was asked for"
    sure = "above 99.9 %" if found.confidence > 0.999 else percent(found.confidence)
    return f"{text}. Confidence {sure}."


def closest(found: Sized) -> Tried:
    """The value that misses its goals by the least share."""

    def misses(each: Tried) -> tuple[bool, float]:
        beyond = [one.by or 0.0 for one in each.judged if not one.holds]
        return each.falls_behind, max(beyond, default=0.0)

    return min(found.tried, key=misses)


def warnings(found: Sized) -> tuple[str, ...]:
    """What limits the answer."""
    odd = {value: found.at(value).holds for value in found.not_monotone}
    hold = ", ".join(str(value) for value, holds in odd.items() if holds)
    fail = ", ".join(str(value) for value, holds in odd.items() if not holds)
    said = []
    if hold:
        said.append(f"{hold} meets the goals as well, though what lies between does not")
    if fail:
        said.append(f"{fail} does not meet the goals, though it lies beyond the answer")
    own = [f"the goals are not monotone in {found.path}: {'; '.join(said)}"] if said else []
    return (*own, *found.warnings)


def notes(found: Sized) -> list[str]:
    """Values that the scenario cannot be built with, each reason once."""
    reasons: dict[str, list[object]] = {}
    for value, faults in found.unbuilt:
        why = "; ".join(dict.fromkeys(fault.allowed for fault in faults))
        reasons.setdefault(why, []).append(value)
    return [
        f"Not tried, as it cannot be built: {listed(values)} ({why})."
        for why, values in reasons.items()
    ]


def listed(values: Sequence[object]) -> str:
    """The first of many values, and how many more there are."""
    shown = ", ".join(map(str, values[:_LISTED]))
    return shown + (f" and {len(values) - _LISTED:,} more" if len(values) > _LISTED else "")


def _words(found: Sized, value: object) -> str:
    if isinstance(value, str):
        return value
    unit = found.unit.removesuffix("s") if value == 1 else found.unit
    return f"{value} {unit}".strip()


def _value(each: Judged) -> str:
    measured = each.measured
    shown = each.goal.shown(measured.value)
    if measured.value is None:
        return "unknown"
    if each.goal.unit != "us":
        return shown
    return with_spread(measured.value, measured.low, measured.high, each.goal.unit)


def _many(found: Sized, value: object) -> bool:
    return isinstance(value, int) and value > 1 and found.unit.endswith("s")


def _holds(found: Sized, at: Tried) -> str:
    verb = "hold" if _many(found, at.value) else "holds"
    return f"{verb} " + ", ".join(f"{each.goal.text} ({_value(each)})" for each in at.judged)


def _fails(found: Sized, at: Tried) -> str:
    lacks = [f"{each.goal.name} {_value(each)}" for each in at.judged if not each.holds]
    if at.falls_behind:
        lacks.insert(0, "it falls behind its load")
    return f"{'do' if _many(found, at.value) else 'does'} not ({', '.join(lacks)})"


def table(found: Sized) -> Table:
    """A line for each value that was tried."""
    columns = [
        Column(short(found.path), kind=Kind.TEXT, width=8),
        *(Column(goal.name, _unit(goal.unit)) for goal in found.goals),
        Column("holds", kind=Kind.TEXT, width=5),
        Column("confidence", "%", priority=3),
        Column("runs", priority=4),
        Column("limit", kind=Kind.TEXT, priority=2, width=12),
    ]
    rows: list[list[Cell]] = []
    for each in found.tried:
        values: list[Cell] = [_cell(one) for one in each.judged]
        holds = "falls behind" if each.falls_behind else "yes" if each.holds else "no"
        holds = each.unsettled or holds
        rows.append(
            [
                str(each.value),
                *values,
                holds,
                100 * each.confidence,
                each.replications,
                each.limit,
            ]
        )
    marked = [at for at, each in enumerate(found.tried) if each.value == found.answer]
    return Table("", columns, rows, marked=marked)


def _cell(each: Judged) -> float | None:
    value = each.measured.value
    unworn = each.goal.quantity == "life" and value is not None and value >= UNWORN_YEARS
    return None if value is None or unworn else value * _scale(each.goal.unit)


def _unit(unit: str) -> str:
    return {"us": "ms", "B": "TB", "B/s": "MB/s"}.get(unit, unit)


def _scale(unit: str) -> float:
    return {"us": 1e-3, "B": 1e-12, "B/s": 1e-6}.get(unit, 1.0)


def _before(found: Sized) -> list[Table]:
    """The present system, where one was monitored."""
    return [] if found.present is None else [hours_table(found.present)]


def report(found: Sized) -> Report:
    """What a terminal shows, and the page."""
    tables = [*_before(found), table(found)]
    return Report(found.title, answer(found), tables, notes(found), partial(_page, found))


def _page(found: Sized) -> Page:
    boxes = []
    if found.answer is not None:
        boxes = [
            Box(_words(found, found.answer), short(found.path)),
            Box(percent(found.confidence), "confidence"),
        ]
    pictures = [
        *([picture(found.present)] if found.present is not None else []),
        *_goal_pictures(found),
    ]
    return Page(
        kind="size",
        question=found.title,
        boxes=boxes,
        beside=warnings(found),
        breaches=found.breaches,
        pictures=pictures,
        evidence=[*_before(found), table(found), Text("", notes(found))],
        provenance=[f"raidlab {_engine.version()}, seed {found.seed}."],
    )


def _goal_pictures(found: Sized) -> list[Picture]:
    return [
        Picture(
            f"{goal.name} over {short(found.path)}",
            f"Each value that was tried, with its 95 % interval; dashed: {goal.text}.",
            _picture(found, at),
        )
        for at, goal in enumerate(found.goals)
        if any(_cell(each.judged[at]) is not None for each in found.tried)
    ]


def _picture(found: Sized, which: int) -> Figure:
    goal = found.goals[which]
    scale = _scale(goal.unit)
    known = [each for each in found.tried if _cell(each.judged[which]) is not None]
    values = [_cell(each.judged[which]) or 0.0 for each in known]

    def half(each: Tried, *, high: bool) -> float:
        measured = each.judged[which].measured
        end = measured.high if high else measured.low
        return 0.0 if end is None or measured.value is None else abs(end - measured.value) * scale

    across = [number_of(each.value) for each in known]
    drawn = chart()
    draw_curve(
        drawn,
        goal.name,
        across,
        values,
        at=0,
        error_y={
            "array": [half(each, high=True) for each in known],
            "arrayminus": [half(each, high=False) for each in known],
        },
    )
    drawn.add_hline(y=goal.bound * scale, line={"color": GREY, "dash": "dash", "width": 2})
    if found.answer is not None:
        drawn.add_vline(
            x=number_of(found.answer), line={"color": VERMILLION, "dash": "dot", "width": 2}
        )
    positive = [value for value in values if value > 0]
    title = f"{goal.name}, {_unit(goal.unit)}".rstrip(", ")
    if positive and max(positive) > 10 * min(positive):
        drawn.update_yaxes(log_axis([*positive, goal.bound * scale], title))
    else:
        drawn.update_yaxes(title_text=title, rangemode="tozero", tickformat=",~f")
    drawn.update_xaxes(title_text=short(found.path))
    return drawn
