"""The other candidates of a plan in groups: what else fits, and which reasons the rest have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from raidlab.scenarios.capacity.answer import Answer, fits, price
from raidlab.scenarios.capacity.candidates import Candidate
from raidlab.scenarios.capacity.question import Question
from raidlab.scenarios.capacity.ranking import misses
from raidlab.scenarios.report.planner.energy import energy_note
from raidlab.scenarios.report.tables import Cell, Column, Kind, Table
from raidlab.scenarios.results.goals import Judged, Source

_FITTING_SHOWN: Final = 4
"""Other candidates that fit and that the first page shows."""
_REASONS_SHOWN: Final = 6
"""Groups of candidates that do not fit and that the first page shows; the rest are counted."""


_BETWEEN: Final = ", "
"""Between the parts of a candidate's name."""


@dataclass(frozen=True)
class Group:
    """Candidates that are no answer for one reason."""

    reason: str
    members: Sequence[Candidate]
    """Those nearest to fitting first."""


def fitting(found: Answer) -> list[Candidate]:
    """Candidates that fit beside the recommended one: the cheapest of each drive and level."""
    best: dict[tuple[str, ...], Candidate] = {}
    for each in sorted((each for each in found.candidates if fits(each)), key=price):
        best.setdefault(each.family, each)
    return [each for each in best.values() if each is not found.recommended]


def groups(found: Answer) -> list[Group]:
    """Candidates that do not fit, by the reason that was found; the nearest group first."""
    reasons: dict[str, list[Candidate]] = {}
    for each in found.candidates:
        if each is not found.recommended and not fits(each):
            reasons.setdefault(_reason(each), []).append(each)
    made = [Group(text, sorted(own, key=misses)) for text, own in reasons.items()]
    return sorted(made, key=lambda group: misses(group.members[0]))


def _reason(each: Candidate) -> str:
    """Why a candidate does not fit, without its own figures."""
    if each.why_not and each.too_small is None:
        return "cannot be built" if each.scenario is None else "cannot be simulated here"
    if each.falls_behind:
        return "cannot serve the load"
    if each.failing:
        return f"misses {' and '.join(one.goal.text for one in each.failing)}"
    if each.too_small is not None:
        return "has no room for the load's data"
    if each.unsettled:
        return "its run carries no statement"
    if each.spared is not None:
        return f"not simulated: {each.spared}"
    return "left out after a short run"


def shown_of(one: Judged, each: Candidate) -> str:
    """What was found beside a goal, with its unit; of usable bytes that data grow into, both."""
    value = one.measured.value
    if value is None:
        return "" if one.goal.source is Source.LIFE else one.goal.shown(value)
    shown = one.goal.shown(value)
    if one.goal.quantity == "usable" and round(value) != each.usable_bytes:
        shown += f" for today's data ({one.goal.shown(float(each.usable_bytes))} in all)"
    return shown


def cost_column(question: Question, priority: int = 1) -> Column:
    """Costs over the horizon, which say whether energy is in them."""
    words = "cost, energy" if question.table.energy_price and question.prices else "cost"
    return Column(words, question.table.currency, priority=priority)


def fitting_table(found: Answer) -> Table:
    """The recommended candidate, and others that fit, for the first page."""
    columns = [
        Column("candidate", kind=Kind.PROSE, width=24),
        cost_column(found.question) if found.question.prices else Column("drives"),
        Column("p99", "ms"),
        Column("usable", "TB"),
        Column("failures borne"),
    ]
    shown, common = fitting(found), _common(found)
    rows = [_row(found, each, common) for each in _with_best(found, shown[:_FITTING_SHOWN])]
    left = len(shown) - _FITTING_SHOWN
    notes = [f"All with {', '.join(sorted(common))}."] if common else []
    if left > 0:
        notes.append(f"{left} other kinds fit, too: see the appendix.")
    notes += [said] if (said := energy_note(found)) else []
    marked = [0] if found.recommended is not None else []
    return Table("What fits", columns, rows, marked=marked, note=" ".join(notes))


def _with_best(found: Answer, others: Sequence[Candidate]) -> Iterator[Candidate]:
    if found.recommended is not None:
        yield found.recommended
    yield from others


def _row(found: Answer, each: Candidate, common: frozenset[str]) -> list[Cell]:
    return [
        _short(each, common),
        each.cost if found.question.prices else each.count + each.spares,
        None if each.p99_us is None else each.p99_us / 1e3,
        each.usable_bytes / 1e12,
        each.survives,
    ]


def reasons_table(found: Answer) -> Table:
    """Why the rest do not fit, in groups, each with the nearest of it."""
    columns = [
        Column("reason", kind=Kind.PROSE, width=24),
        Column("how many"),
        Column("the nearest", kind=Kind.PROSE, width=24),
    ]
    made, common = groups(found), _common(found)
    rows: list[list[Cell]] = []
    for group in made[:_REASONS_SHOWN]:
        nearest = group.members[0]
        lacks = _lacks(found, nearest)
        name = _short(nearest, common)
        rows.append([group.reason, len(group.members), f"{name}: {lacks}" if lacks else name])
    left = sum(len(group.members) for group in made[_REASONS_SHOWN:])
    note = f"{left} more have other reasons: see the appendix." if left else ""
    return Table("What does not fit, and why", columns, rows, note=note)


def _common(found: Answer) -> frozenset[str]:
    """What the names of all candidates have in common, such as the only controller."""
    parts = [set(each.name.split(_BETWEEN)[1:]) for each in found.candidates]
    return frozenset(set.intersection(*parts)) if len(parts) > 1 else frozenset()


def _short(each: Candidate, common: frozenset[str]) -> str:
    """A candidate's name without what all have."""
    first, *rest = each.name.split(_BETWEEN)
    return _BETWEEN.join([first, *(part for part in rest if part not in common)])


def _lacks(found: Answer, each: Candidate) -> str:
    """By how much the nearest misses, of the goal that it misses most."""
    if each.why_not and (each.too_small is None or not each.failing):
        return each.why_not
    if each.falls_behind:
        served = 100 / (1 + (each.overload or 0.0))
        most = "at most " if each.is_bounded else ""
        return f"serves {most}{served:.0f} % of the rate" if each.overload else ""
    if not each.failing:
        return ""
    worst = max(each.failing, key=lambda one: one.by or 0.0)
    if worst.by is None or worst.measured.value is None:
        return ""
    shown = shown_of(worst, each)
    if worst.goal.quantity == "cost":
        shown = found.question.amount(worst.measured.value)
    return f"{worst.goal.name} {shown}" if worst.goal.source is not Source.LIFE else shown
