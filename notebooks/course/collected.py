"""A class's predictions: the files that students exported, put together."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from raidlab.notebooks.course.exported import Prediction, number_of, numbers_of
from raidlab.notebooks.frame import catalogue
from raidlab.notebooks.frame.room import Choice, Curve
from raidlab.scenarios.report.tables import Column, Kind, Table
from raidlab.scenarios.results.number_text import digits

_SPREAD: Final = (
    Column("median"),
    Column("lowest", priority=2),
    Column("highest", priority=2),
    Column("simulated", width=9),
    Column("unit", kind=Kind.TEXT, priority=2, width=5),
)
"""What predictions come to, beside what was simulated."""


def _by_room(predictions: Iterable[Prediction]) -> dict[str, list[Prediction]]:
    """What was predicted, room by room in the order of their numbers."""
    found: dict[str, list[Prediction]] = {}
    for each in predictions:
        if each.prediction:
            found.setdefault(each.room, []).append(each)
    return dict(sorted(found.items(), key=lambda each: catalogue.room(each[0]).number))


def _outcome(rows: Sequence[Prediction]) -> str:
    """What was simulated, of the first student whose file says it."""
    return next((each.outcome for each in rows if each.outcome), "")


def choices(predictions: Iterable[Prediction]) -> Table:
    """A row for each sentence that was chosen, or is right: by how many students."""
    rows = []
    for name, found in _by_room(predictions).items():
        form = catalogue.room(name).prediction.form
        if not isinstance(form, Choice):
            continue
        picked = Counter(each.prediction for each in found if not each.seen)
        right = _outcome(found)
        rows += [
            [name, words, f"{picked[words]}", "simulated" if words == right else ""]
            for words in form.words
        ]
    columns = [
        Column("room", kind=Kind.TEXT, width=13),
        Column("sentence", kind=Kind.TEXT, width=40),
        Column("students"),
        Column("right", kind=Kind.TEXT, priority=2),
    ]
    return Table("What the class chose", columns, rows)


def curves(predictions: Iterable[Prediction]) -> Table:
    """A row for each place of a curve: the class's median and span there, and the simulation."""
    rows = []
    for name, found in _by_room(predictions).items():
        form = catalogue.room(name).prediction.form
        drawn = [curve for each in found if not each.seen and (curve := each.curve)]
        truth = numbers_of(_outcome(found))
        if not isinstance(form, Curve) or not truth:
            continue
        for at, x in enumerate(form.x if drawn else ()):
            here = [curve[at] for curve in drawn]
            spread = [statistics.median(here), min(here), max(here), truth[at]]
            rows.append([name, f"{x:,g}", *map(digits, spread), found[0].unit])
    columns = [
        Column("room", kind=Kind.TEXT, width=13),
        Column("at"),
        *_SPREAD,
    ]
    return Table("What the class drew", columns, rows)


def summary(predictions: Iterable[Prediction]) -> Table:
    """A row for each room: how many predicted, their median and span, and what was simulated.

    Who predicted after the result was seen is counted in a column of its own alone.
    """
    rows = [_row(name, found) for name, found in _by_room(predictions).items()]
    columns = [
        Column("room", kind=Kind.TEXT, width=13),
        Column("students"),
        *_SPREAD,
        Column("within a fifth", kind=Kind.TEXT, priority=3),
        Column("after the result", priority=2),
    ]
    return Table("Predictions of the class", columns, rows)


def _row(name: str, rows: Sequence[Prediction]) -> list[str]:
    outcome, unit = _outcome(rows), rows[0].unit
    later = len({each.student for each in rows if each.seen})
    after, first = f"{later or ''}", [each for each in rows if not each.seen]
    numbers = [each.number for each in first if each.number is not None]
    count = len({each.student for each in first})
    truth = number_of(outcome)
    if len(numbers) < len(first):
        # Sentences and curves have no median: tables of their own have them.
        right = sum(each.prediction == each.outcome for each in first)
        known = "curve" if numbers_of(outcome) else "choice"
        hit = f"{right} of {len(first)}" if known == "choice" else ""
        return [name, f"{count}", "", "", "", known, unit, hit, after]
    if not numbers:
        shown = digits(truth) if truth is not None else ""
        return [name, "0", "", "", "", shown, unit, "", after]
    near = [each for each in numbers if truth and abs(each / truth - 1) <= 0.2]
    return [
        name,
        f"{count}",
        digits(statistics.median(numbers)),
        digits(min(numbers)),
        digits(max(numbers)),
        digits(truth) if truth is not None else "",
        unit,
        f"{len(near)} of {len(numbers)}",
        after,
    ]
