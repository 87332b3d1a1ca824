"""A class's predictions: the files that students exported, put together."""

from __future__ import annotations

import csv
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from raidlab.devices.faults import Fault, SpecError
from raidlab.notebooks.frame import catalogue
from raidlab.scenarios.results.look import Column, Kind, Table, digits

HEAD = ("student", "room", "prediction", "outcome", "unit", "kept")
"""Columns of an exported file."""
_LARGEST_FILE = 1 << 20
"""Bytes of a file; a class's are a few hundred."""


@dataclass(frozen=True)
class Prediction:
    """One row of a student's file."""

    student: str
    room: str
    prediction: str
    """A number, a sentence, or the numbers of a curve."""
    outcome: str
    unit: str

    @property
    def number(self) -> float | None:
        """The prediction, where it is one number."""
        return _number(self.prediction)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def read(folder: Path) -> list[Prediction]:
    """The predictions of all CSV files of a folder, in the order of their names.

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
    return found


def _rows(path: Path) -> list[Prediction]:
    allowed = "a file of predictions, with the columns " + ", ".join(HEAD)
    try:
        if path.stat().st_size > _LARGEST_FILE:
            raise SpecError([Fault("", None, f"at most {_LARGEST_FILE:,} bytes", file=str(path))])
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise SpecError([Fault("", None, f"{allowed} ({error})", file=str(path))]) from None
    head, *rows = list(csv.reader(text.splitlines())) or [[]]
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
            found.append(Prediction(*row[:5]))
    if faults:
        raise SpecError(faults)
    return found


def summary(predictions: Iterable[Prediction]) -> Table:
    """A row for each room: how many predicted, their median and span, and what was simulated."""
    by_room: dict[str, list[Prediction]] = {}
    for each in predictions:
        if each.prediction:
            by_room.setdefault(each.room, []).append(each)
    order = [room.name for room in catalogue.rooms()]
    rows = [_row(name, by_room[name]) for name in order if name in by_room]
    columns = [
        Column("room", kind=Kind.TEXT, width=13),
        Column("students"),
        Column("median"),
        Column("lowest", priority=2),
        Column("highest", priority=2),
        Column("simulated", width=9),
        Column("unit", kind=Kind.TEXT, priority=2, width=5),
        Column("within a fifth", kind=Kind.TEXT, priority=3),
    ]
    return Table("Predictions of the class", columns, rows)


def _row(name: str, rows: Sequence[Prediction]) -> list[str]:
    numbers = [each.number for each in rows if each.number is not None]
    outcome = rows[0].outcome
    count = len({each.student for each in rows})
    if len(numbers) < len(rows):
        # Sentences and curves have no median; how many are right, a teacher sees in the files.
        right = sum(each.prediction == each.outcome for each in rows)
        known = "curve" if _number(outcome.partition(" ")[0]) is not None else "choice"
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
