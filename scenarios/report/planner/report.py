"""What a plan shows: the recommendation, the front, and why every other candidate fails."""

from __future__ import annotations

import math
from functools import partial

from raidlab.scenarios import _engine
from raidlab.scenarios.capacity.answer import Answer, fits, per_watt, price
from raidlab.scenarios.capacity.candidates import Candidate
from raidlab.scenarios.capacity.headroom import Headroom
from raidlab.scenarios.capacity.later import Later
from raidlab.scenarios.capacity.load import asked_of, bill_of, sum_of
from raidlab.scenarios.capacity.question import time_of
from raidlab.scenarios.capacity.ranking import misses, preferred
from raidlab.scenarios.capacity.upgrades import Upgrade
from raidlab.scenarios.report.page import Box, Evidence, Folded, Page, Text
from raidlab.scenarios.report.planner.alternatives import (
    cost_column,
    fitting_table,
    reasons_table,
    shown_of,
)
from raidlab.scenarios.report.planner.energy import energy_note, with_energy, without_energy
from raidlab.scenarios.report.planner.migration import copies, moving
from raidlab.scenarios.report.planner.pictures import pictures
from raidlab.scenarios.report.report import Report
from raidlab.scenarios.report.studies.present import hours_table, picture, sentence
from raidlab.scenarios.report.tables import Cell, Column, Kind, Table
from raidlab.scenarios.results.goals import NO_WEAR, Judged, Source
from raidlab.scenarios.results.number_text import figure, percent, rounded_down, times
from raidlab.scenarios.studies.draws import interval

_FAR_SHARE = 1.0
"""Share of a bound from which on a value is said to be this many times the bound."""
_LONG_YEARS = 100.0
"""Years of life beyond which nobody asks."""
_ERROR = 0.1
"""Share by which figures may be off (docs/evidence/validation.md)."""
_OTHERS_SHOWN = 12
"""Candidates that do not fit and that a terminal shows."""


def answer(found: Answer) -> str:
    """The present system, the recommendation, how long it lasts, or what the nearest lacks."""
    if found.present is not None:
        return " ".join((sentence(found.present), recommendation(found), *prospects(found)))
    return " ".join((recommendation(found), *prospects(found)))


def recommendation(found: Answer) -> str:
    """What to buy, or what the nearest lacks: one sentence."""
    total = f"{len(found.candidates):,} candidate{'s' * (len(found.candidates) > 1)}"
    if found.recommended is None:
        if found.nearest is None:
            return f"None of {total} can be built."
        return f"None of {total} fits. The nearest is {found.nearest.name}: {why(found.nearest)}."
    best = found.recommended
    cost = f" for {found.question.amount(best.cost)}" if best.cost is not None else ""
    cost += with_energy(found)
    cheapest = "is the cheapest" if found.question.prices else "needs the fewest drives"
    most = {"cost": cheapest, "latency": "has the lowest p99"}
    words = most.get(found.question.table.prefer, "gives the highest rate for its cost")
    text = f"{best.name} {words} of {total} that fit{'s' if words[:2] == 'is' else ''}{cost}"
    text += _ties(found, best)
    if found.question.closed and best.iops is not None:
        text += f", {figure(best.iops, 'IO/s')}"
    met = [_met(one, best) for one in best.judged.values() if _says(one)]
    if met:
        text += f": {', '.join(met)}"
    return f"{text}.{without_energy(found)}"


def _ties(found: Answer, best: Candidate) -> str:
    """Which others have as little of what is preferred."""
    own = preferred(found.question, best)
    alike = [each for each in found.front if preferred(found.question, each) == own]
    names = [each.name for each in alike if each is not best]
    if not names:
        return ""
    return f" (a tie with {'; '.join(names)}, of which none has a lower p99)"


def prospects(found: Answer) -> list[str]:
    """What the recommended bears, until when, what would help, how sure it is: sentences."""
    said = []
    if found.headroom is not None:
        text = f"It sustains {_bears(found.headroom)}"
        if found.headroom.reason and not found.headroom.beyond_search:
            text += f"; beyond, {found.headroom.reason}"
            if found.headroom.limit:
                text += f" (limit: {found.headroom.limit})"
        said.append(text + ".")
    if found.months is not None:
        end = (
            figure(found.months / 12, "years")
            if found.months >= 36
            else f"{found.months:.0f} months"
        )
        by = "the loads' rates" if found.ended_by != "capacity" else "capacity"
        least = found.ended_by != "capacity" and found.headroom and found.headroom.beyond_search
        when = "does not end it for" if least else "ends it after"
        said.append(f"Growth of {by} {when} {end}.")
    if found.later is not None:
        said.append(_waiting(found, found.later))
    if found.migration is not None:
        said.append(moving(found.migration))
    if found.upgrades:
        said.append(f"What would help most: {_gives(found, found.upgrades[0])}.")
    if found.open_parts is not None:
        low, high = (figure(each, "us") for each in found.open_parts.p99_us)
        said.append(
            f"What monitoring leaves open puts p99 between {low} and {high}; with"
            f" {found.open_parts.fits} of {found.open_parts.choices} choices it fits."
        )
    if found.drawn:
        said.append(f"It fits in {percent(found.drawn[0].share)} of draws.")
    return said


def _bears(headroom: Headroom) -> str:
    """Up to which rates, in words: `up to 2.4 times today's rates`, `... and 5 % more`."""
    factor = rounded_down(headroom.factor)
    if factor > 1 or headroom.beyond_search:
        return f"{'more than' if headroom.beyond_search else 'up to'} {times(factor)} today's rates"
    more = math.floor(100 * (headroom.factor - 1) + 1e-9)
    return f"today's rates and {more} % more" if more > 0 else "today's rates, but not 5 % more"


def _waiting(found: Answer, later: Later) -> str:
    """Whether to buy now, and until when the present system serves."""
    best, now = later.best, later.purchases[0]
    until = "longer than is asked" if later.lasts is None else f"{later.lasts:.0f} months more"
    serves = f"{later.present} meets the goals for {until}"
    if later.lasts == 0:
        return f"Buy now: {later.present} misses {later.ended_by} today."
    if best.month == 0:
        return f"Buy now: waiting saves nothing, though {serves}."
    amount = found.question.amount
    return (
        f"Bought in {best.month} months it costs {amount(best.total)} over the horizon,"
        f" {amount(now.total - best.total)} less than now; {serves}."
    )


def _gives(found: Answer, each: Upgrade) -> str:
    """A change and what it gives, in words."""
    if found.headroom is None:
        gain = f"{100 * (each.factor - 1):+.0f} % IO/s"
    else:
        gain = f"{times(each.factor)} today's rates and more"
    cost = f" for {found.question.amount(each.cost)}" if each.cost is not None else ""
    return f"{each.change}, {gain}{cost}"


def changes(found: Answer) -> Table:
    """Single changes of the recommended candidate, the best first."""
    closed = found.headroom is None
    columns = [
        Column("change", kind=Kind.PROSE, width=30),
        Column("more cost", found.question.table.currency),
        Column("rate" if closed else "sustains", "x"),
        Column("then limited by", kind=Kind.TEXT, priority=2, width=12),
    ]
    rows: list[list[Cell]] = [
        [each.change, each.cost, each.factor, each.limit or None] for each in found.upgrades
    ]
    what = "of its rate" if closed else "of today's rates, at least"
    return Table(f"What single changes give, in multiples {what}", columns, rows)


def doubts(found: Answer) -> Table:
    """What draws of the numbers that data sheets leave open give."""
    columns = [
        Column("candidate", kind=Kind.PROSE, width=24),
        Column("fits in", "%"),
        Column("p99 from", "ms"),
        Column("to", "ms"),
        Column("recommended is better in", "%", priority=2),
    ]
    better = [None, *(100 * each["probability"] for each in found.beats())]
    rows: list[list[Cell]] = []
    for each, share in zip(found.drawn, better, strict=False):
        low, high = interval(each.p99_us) or (None, None)
        ends = [None if end is None else end / 1e3 for end in (low, high)]
        rows.append([each.candidate.name, 100 * each.share, *ends, share])
    count = len(found.drawn[0].fits) if found.drawn else 0
    return Table(f"95 % of {count} draws of what data sheets leave open", columns, rows)


def _says(one: Judged) -> bool:
    return one.goal.quantity not in ("cost", "survives") and one.measured.value is not None


def _met(one: Judged, each: Candidate) -> str:
    value = shown_of(one, each)
    return value if value == NO_WEAR else f"{one.goal.name} {value}"


def _beyond_goal(one: Judged) -> str:
    """How far it is from its goal: by which share, or how many times the bound if it is far."""
    if one.measured.value is None and one.goal.source is Source.LIFE:
        return " is not known: writes still wait in the controller's cache, a longer run shows it"
    if one.by is None:
        return ""
    if one.goal.at_most and one.by >= _FAR_SHARE:
        return f", {times(1 + one.by)} the bound of {one.goal.text}"
    return (
        f", {percent(abs(one.by))} {'beyond' if one.goal.at_most else 'short of'} {one.goal.text}"
    )


def _part_of_load(each: Candidate) -> str:
    """How much of its load a candidate serves: `: at most 427 of 1,000 IO/s`."""
    if each.served is None:
        return ""
    bound = "at most " if each.is_bounded else "at least " if each.serves_more else ""
    return f": {bound}{figure(each.served, 'IO/s')} of {figure(each.asked, 'IO/s')}"


def why(each: Candidate) -> str:
    """Why a candidate does not fit, or is not on the front."""
    if each.too_small is not None and not each.failing:
        return f"too small: {each.why_not}"
    if each.why_not and each.too_small is None:
        return f"cannot be {'built' if each.scenario is None else 'simulated'}: {each.why_not}"
    parts = []
    if each.falls_behind:
        parts.append(f"cannot serve the load{_part_of_load(each)} ({each.limit})")
    for one in each.failing:
        if each.falls_behind and one.goal.source is Source.LATENCY:
            # It grows as long as the run lasts.
            continue
        parts.append(f"{one.goal.name} {shown_of(one, each)}".rstrip() + _beyond_goal(one))
    if each.unsettled:
        parts.append(f"its run carries no statement: {each.unsettled}")
    if each.failing and each.limit and each.rung >= 0 and not each.falls_behind:
        parts.append(f"limit: {each.limit}")
    if not parts and each.dominated_by:
        return f"{each.dominated_by} is as good in everything"
    rest = "between numbers of drives that were simulated" if each.rung < 0 else ""
    if each.spared is not None:
        rest = f"not simulated: {each.spared}"
    return "; ".join(parts) or rest or "not among the cheapest after a short run"


def _row(found: Answer, each: Candidate) -> list[Cell]:
    loss = each.loss.value
    rates: list[Cell] = []
    if found.question.closed:
        rates = [each.iops, None if not each.cost or not each.iops else each.iops / each.cost]
    return [
        each.name,
        each.cost,
        *rates,
        None if each.p99_us is None else each.p99_us / 1e3,
        each.usable_bytes / 1e12,
        each.bill.watts,
        per_watt(each),
        each.bill.energy,
        None if loss is None else f"{loss:.2g}",
        _life(each.life_years),
        each.bill.rack_units,
        each.limit or None,
    ]


def _life(years: float | None) -> Cell:
    """Years until drives are worn out, for a table; None where that is not known."""
    return f"> {_LONG_YEARS:g}" if years is not None and years > _LONG_YEARS else years


def table(found: Answer) -> Table:
    """The front: candidates that fit and that no other beats in everything."""
    closed = found.question.closed
    columns = [
        Column("candidate", kind=Kind.PROSE, width=24),
        cost_column(found.question),
        *([Column("IO/s"), Column("IO/s for 1", found.question.table.currency)] if closed else []),
        Column("p99", "ms"),
        Column("usable", "TB"),
        Column("power", "W", priority=2),
        Column("IO/s for 1", "W", priority=4),
        Column("energy", found.question.table.currency, priority=4),
        Column(f"loss in {time_of(found.question.table.horizon)}", kind=Kind.TEXT, priority=2),
        Column("life", "years", priority=3),
        Column("rack", "units", priority=4),
        Column("limit", kind=Kind.TEXT, priority=3, width=12),
    ]
    front = list(found.front)
    marked = [at for at, each in enumerate(front) if each is found.recommended]
    rows = [_row(found, each) for each in front]
    title, note = "Candidates that fit, none better in everything", energy_note(found)
    return Table(title, columns, rows, marked=marked, note=note)


def others(found: Answer) -> Table:
    """Every other candidate, those nearest to the goals first, and why it is no answer."""
    rest = [each for each in found.candidates if each not in found.front]
    rest.sort(key=lambda each: (not fits(each), misses(each), price(each)))
    columns = [
        Column("candidate", kind=Kind.PROSE, width=24),
        cost_column(found.question),
        Column("why not", kind=Kind.PROSE),
    ]
    rows: list[list[Cell]] = [[each.name, each.cost, why(each)] for each in rest]
    return Table("The others", columns, rows, most=_OTHERS_SHOWN)


def risks(found: Answer, best: Candidate) -> list[str]:
    """What may go wrong with the recommended candidate: sentences."""
    said = ["Any failed drive loses data."]
    if best.survives:
        drives = "single drive failure" if best.survives == 1 else f"{best.survives} drive failures"
        said = [f"It survives any {drives}."]
    if best.loss.value is not None:
        years = found.question.table.horizon
        said.append(
            f"Data are lost within {time_of(years)} with a probability of {best.loss.value:.2g}."
        )
    if best.life_years is not None and best.life_years <= _LONG_YEARS:
        said.append(f"At this load its drives wear out after {figure(best.life_years, 'years')}.")
    judged = best.judged.values()
    # A level survives whole drives: there is no room to speak of.
    near = [one for one in judged if one.by is not None and one.goal.quantity != "survives"]
    if near:
        nearest = max(near, key=lambda one: one.by or 0.0)
        text = (
            f"The goal with the least room is {nearest.goal.text}, with {shown_of(nearest, best)}"
        )
        if (nearest.by or 0.0) > -_ERROR and not nearest.measured.certain:
            text += ": less room than the error of the models"
        said.append(text + ".")
    return said


def report(found: Answer) -> Report:
    """What a terminal shows, and the page."""
    tables = [
        *([hours_table(found.present)] if found.present is not None else []),
        table(found), changes(found), doubts(found), others(found),
    ]  # fmt: skip
    shown = [each for each in tables if each.rows]
    return Report(
        found.question.title, answer(found), shown, found.assumptions, partial(plan_page, found)
    )


def plan_page(found: Answer, command: str = "") -> Page:
    """The page; `command` makes it again."""
    boxes = []
    if found.recommended is not None:
        best = found.recommended
        if best.cost is not None:
            energy = with_energy(found, ",")
            boxes.append(Box(found.question.amount(best.cost), f"over the horizon{energy}"))
        several = len(found.question.table.load) > 1
        boxes.append(Box(figure(best.p99_us, "us"), "p99, slowest load" if several else "p99"))
        if found.headroom is not None:
            end = "at least" if found.headroom.beyond_search else "at most"
            factor = rounded_down(found.headroom.factor)
            boxes.append(Box(f"{factor:.2g} x", f"today's rates, {end}"))
    own = [*([picture(found.present)] if found.present is not None else []), *pictures(found, why)]
    return Page(
        kind="plan",
        question=found.question.title,
        answer=recommendation(found),
        boxes=boxes,
        about=[*([sentence(found.present)] if found.present else []), *prospects(found)],
        breaches=found.breaches,
        pictures=own[:1],
        evidence=_first_page(found),
        appendix_pictures=own[1:],
        appendix=_appendix(found),
        provenance=[
            f"raidlab {_engine.version()}, seed {found.seed}; {found.simulated:,} simulations."
        ],
        command=command,
    )


def _first_page(found: Answer) -> list[Evidence]:
    """For the one who decides: what was asked, what else fits, why the rest does not, risks."""
    made: list[Evidence] = [Text("What was asked", asked_of(found.question))]
    alternatives = [fitting_table(found), reasons_table(found)]
    made += [each for each in alternatives if each.rows]
    if found.recommended is not None:
        made.append(Text("What it costs", sum_of(found.question, found.recommended)))
    own = [] if found.recommended is None else risks(found, found.recommended)
    count = f"{len(found.assumptions)} assumptions are listed and marked in the appendix."
    made.append(Text("Risks", [*own, *found.warnings, count]))
    return made


def _appendix(found: Answer) -> list[Evidence]:
    """For the one who checks: all figures, all candidates, all assumptions."""
    made: list[Evidence] = []
    if found.present is not None:
        made.append(hours_table(found.present))
    if found.front:
        made.append(table(found))
    made += [each for each in (changes(found), doubts(found)) if each.rows]
    if found.recommended is not None:
        made.append(Text("The bill", bill_of(found.question, found.recommended)))
    if found.migration is not None:
        made.append(copies(found.migration))
    made.append(Folded("Every other candidate, and why it is no answer", others(found)))
    made.append(Text("Assumptions", found.assumptions, assumed=True))
    return made
