"""What a risk shows: the probability in words and figures, and what it rests on."""

from __future__ import annotations

from functools import partial

from raidlab.scenarios import _engine
from raidlab.scenarios.report.page import Box, Page, Text
from raidlab.scenarios.report.report import Report
from raidlab.scenarios.report.tables import Cell, Column, Kind, Table
from raidlab.scenarios.results.number_text import figure
from raidlab.scenarios.risk.assess import Risk


def probability(value: float) -> str:
    """A probability: `1.2 %`, or below a ten-thousandth as a power: `3.1e-09`."""
    return f"{100 * value:.3g} %" if value >= 1e-4 or value == 0 else f"{value:.2g}"


def answer(found: Risk) -> str:
    """The probability with its interval, one in how many, and what it comes from."""
    low, high = found.ci95
    years = f"{found.years:g} years" if found.years != 1 else "a year"
    if not found.loss:
        return f"No history of {found.arrays[0].found.histories:,} lost data within {years}."
    text = f"Data are lost within {years} with probability {probability(found.loss)}"
    if probability(low) != probability(high):
        text += f" ({probability(low)} to {probability(high)})"
    if found.loss < 0.5:
        text += f", one system in {1 / found.loss:,.0f}"
    drives = sum(array.found.by_drives for array in found.arrays)
    share = min(1.0, drives / sum(array.found.loss for array in found.arrays))
    if any(array.unreadable for array in found.arrays):
        text += (
            f". Failures of drives alone are {100 * share:.0f} % of it, unreadable sectors in"
            f" rebuilds {100 - 100 * share:.0f} %"
        )
    if found.missed == ():
        text += ". While drives are rebuilt the load's goals are met"
    elif found.missed:
        goals = ", ".join(goal.text for goal in found.missed)
        text += (
            f". {goals} is missed for {found.missed_hours_per_year:.3g} hours a year, while drives"
            " are rebuilt"
        )
    return f"{text}."


def tables(found: Risk) -> list[Table]:
    """Arrays, and what the answer rests on."""
    columns = [
        Column("array", kind=Kind.TEXT, width=7),
        Column("level", kind=Kind.TEXT, width=6),
        Column("drives"),
        Column("loss", kind=Kind.TEXT, width=8),
        Column("by drives", kind=Kind.TEXT, width=8, priority=2),
        Column("Markov chain", kind=Kind.TEXT, width=8, priority=3),
        Column("failures", "a year", priority=2),
        Column("degraded", "h a year", priority=2),
        Column("histories", priority=4),
    ]
    rows: list[list[Cell]] = [
        [
            each.name,
            each.level,
            each.drives,
            probability(each.found.loss),
            probability(each.found.by_drives),
            None if each.closed_form is None else probability(each.closed_form),
            each.found.failures_per_year,
            each.found.degraded_h_per_year,
            each.found.histories,
        ]
        for each in found.arrays
    ]
    assumed: list[list[Cell]] = [
        [
            each["name"],
            None if each["value"] is None else f"{each['value']:.4g} {each['unit']}".strip(),
            each["source"],
        ]
        for each in found.assumptions
    ]
    head = [
        Column("assumption", kind=Kind.TEXT, width=12),
        Column("value", kind=Kind.TEXT, width=8),
        Column("source", kind=Kind.PROSE),
    ]
    return [Table("", columns, rows), Table("What it rests on", head, assumed)]


def notes(found: Risk) -> list[str]:
    """How the histories relate to the closed form."""
    if all(each.closed_form is None for each in found.arrays):
        return ["Lives are not exponential, or neighbours matter: no Markov chain has this."]
    return [
        "The Markov chain has failures of drives alone; by drives is the part of the histories that"
        " no unreadable sector came before."
    ]


def report(found: Risk) -> Report:
    """What a terminal shows, and the page."""
    return Report(found.title, answer(found), tables(found), notes(found), partial(_page, found))


def _page(found: Risk) -> Page:
    boxes = [Box(probability(found.loss), f"data loss in {found.years:g} years")]
    if found.rebuild.value is not None:
        boxes.append(Box(figure(found.rebuild.value, "h"), "a rebuild"))
    rate = sum(each.found.failures_per_year for each in found.arrays)
    boxes.append(Box(f"{rate:.2g}", "failures of drives a year"))
    return Page(
        kind="risk",
        question=found.title,
        boxes=boxes,
        beside=found.warnings,
        breaches=found.breaches,
        evidence=[*tables(found), Text("", notes(found))],
        provenance=[f"raidlab {_engine.version()}, seed {found.seed}."],
    )
