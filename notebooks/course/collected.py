"""A class's predictions: the files that students exported, put together."""

from __future__ import annotations

import csv
import re
import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from raidlab.devices.faults import Fault, SpecError
from raidlab.notebooks.frame import catalogue
from raidlab.notebooks.frame.room import Choice, Curve
from raidlab.scenarios.report.tables import Column, Kind, Table
from raidlab.scenarios.results.number_text import digits

HEAD = ("student", "room", "prediction", "outcome", "unit", "kept")
"""Columns of an exported file."""
_LARGEST_FILE = 1 << 20
"""Bytes of a file; a class's are a few hundred."""
UNNAMED: Final = "student"
"""What a file calls a student who typed no name."""
_SPREAD: Final = (
    Column("median"),
    Column("lowest", priority=2),
    Column("highest", priority=2),
    Column("simulated", width=9),
    Column("unit", kind=Kind.TEXT, priority=2, width=5),
)
"""What predictions come to, beside what was simulated."""
_DECIMAL_COMMA = re.compile(r"(?<=\d),(?=\d)")


@dataclass(frozen=True)
class Prediction:
    """One row of a student's file."""

    student: str
    room: str
    prediction: str
    """A number, a sentence, or the numbers of a curve."""
    outcome: str
    unit: str
    kept: str = ""
    """When it was kept, as the browser wrote it."""

    @property
    def curve(self) -> list[float] | None:
        """The prediction, where it is a drawn curve."""
        return _numbers(self.prediction)

    @property
    def number(self) -> float | None:
        """The prediction, where it is one number."""
        return _number(self.prediction)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _numbers(text: str) -> list[float] | None:
    found = [_number(each) for each in text.split(" ")]
    kept = [each for each in found if each is not None]
    return kept if len(kept) == len(found) > 1 else None


def read(folder: Path) -> list[Prediction]:
    """The predictions of all CSV files of a folder, in the order of their names.

    A student who exported twice counts once in each room, by the prediction that was kept first.
    Files without a name are of one student each.

    Raises:
        SpecError: There is none, or one is no file of predictions; all faults at once.
    """
    if not folder.is_dir():
        raise SpecError([Fault("--class", str(folder), "a folder with files of predictions")])
    paths = sorted(folder.glob("*.csv"))
    if not paths:
        allowed = "a folder with files of predictions (.csv), as students export them"
        raise SpecError([Fault("--class", str(folder), allowed)])
    faults: list[Fault] = []
    found: list[Prediction] = []
    for path in paths:
        try:
            found += _rows(path)
        except SpecError as error:
            faults += error.faults
    if faults:
        raise SpecError(faults)
    first: dict[tuple[str, str], Prediction] = {}
    for each in sorted(found, key=lambda each: each.kept):
        first.setdefault((each.student, each.room), each)
    return [each for each in found if first[each.student, each.room] is each]


def _rows(path: Path) -> list[Prediction]:
    allowed = "a file of predictions, with the columns " + ", ".join(HEAD)
    try:
        if path.stat().st_size > _LARGEST_FILE:
            raise SpecError([Fault("", None, f"at most {_LARGEST_FILE:,} bytes", file=str(path))])
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise SpecError([Fault("", None, f"{allowed} ({error})", file=str(path))]) from None
    lines = text.splitlines()
    # A spreadsheet of a country with decimal commas writes semicolons between its columns.
    commas = not lines or ";" not in lines[0]
    head, *rows = list(csv.reader(lines, delimiter="," if commas else ";")) or [[]]
    if tuple(head) != HEAD:
        raise SpecError([Fault("", ",".join(head)[:60], allowed, file=str(path))])
    names = catalogue.names()
    faults, found = [], []
    for line, row in enumerate(rows, 2):
        if len(row) != len(HEAD):
            faults.append(Fault(f"line {line}", ",".join(row)[:60], allowed, file=str(path)))
        elif row[1] not in names:
            faults.append(
                Fault(f"line {line}", row[1], "the name of a room", tuple(names), file=str(path))
            )
        else:
            student, room, *said = row if commas else [_DECIMAL_COMMA.sub(".", e) for e in row]
            own = student if student not in ("", UNNAMED) else f"{UNNAMED} of {path.name}"
            found.append(Prediction(own, room, *said))
    if faults:
        raise SpecError(faults)
    return found


def _by_room(predictions: Iterable[Prediction]) -> dict[str, list[Prediction]]:
    """What was predicted, room by room in the order of their numbers."""
    found: dict[str, list[Prediction]] = {room.name: [] for room in catalogue.rooms()}
    for each in predictions:
        if each.prediction:
            found[each.room].append(each)
    return {name: rows for name, rows in found.items() if rows}


def choices(predictions: Iterable[Prediction]) -> Table:
    """A row for each sentence that was chosen, or is right: by how many students."""
    rows = []
    for name, found in _by_room(predictions).items():
        form = catalogue.room(name).prediction.form
        if not isinstance(form, Choice):
            continue
        picked = Counter(each.prediction for each in found)
        right = found[0].outcome
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
        drawn = [curve for each in found if (curve := each.curve)]
        truth = _numbers(found[0].outcome)
        if not isinstance(form, Curve) or not truth:
            continue
        drawn = [curve for curve in drawn if len(curve) == len(form.x) == len(truth)]
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
    """A row for each room: how many predicted, their median and span, and what was simulated."""
    rows = [_row(name, found) for name, found in _by_room(predictions).items()]
    columns = [
        Column("room", kind=Kind.TEXT, width=13),
        Column("students"),
        *_SPREAD,
        Column("within a fifth", kind=Kind.TEXT, priority=3),
    ]
    return Table("Predictions of the class", columns, rows)


def _row(name: str, rows: Sequence[Prediction]) -> list[str]:
    numbers = [each.number for each in rows if each.number is not None]
    outcome = rows[0].outcome
    count = len({each.student for each in rows})
    if len(numbers) < len(rows):
        # Sentences and curves have no median: tables of their own have them.
        right = sum(each.prediction == each.outcome for each in rows)
        known = "curve" if _numbers(outcome) else "choice"
        hit = f"{right} of {len(rows)}" if known == "choice" else ""
        return [name, f"{count}", "", "", "", known, rows[0].unit, hit]
    truth = _number(outcome)
    near = [each for each in numbers if truth and abs(each / truth - 1) <= 0.2]
    return [
        name,
        f"{count}",
        digits(statistics.median(numbers)),
        digits(min(numbers)),
        digits(max(numbers)),
        digits(truth) if truth is not None else "",
        rows[0].unit,
        f"{len(near)} of {len(numbers)}",
    ]
