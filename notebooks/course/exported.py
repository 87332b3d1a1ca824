"""Files of predictions that students exported: what can be read, what cannot, who came twice."""

from __future__ import annotations

import codecs
import csv
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.reading import read_bytes
from raidlab.notebooks.frame import catalogue
from raidlab.notebooks.frame.room import Choice, Curve, Number
from raidlab.scenarios.results.number_text import digits

OLDER = ("student", "room", "prediction", "outcome", "unit", "kept")
"""Columns of a file of 0.2.0."""
HEAD = (*OLDER, "seen_before")
"""Columns of an exported file; the last says `yes` or `no`."""
_LARGEST_FILE = 1 << 20
"""Bytes of a file; a class's are a few hundred."""
UNNAMED: Final = "student"
"""What a file calls a student who typed no name."""
_SEEN: Final = ("yes", "no")
_DECIMAL_COMMA = re.compile(r"(?<=\d),(?=\d)")
_ALLOWED: Final = "a file of predictions, with the columns " + ", ".join(HEAD)
_HOW: Final = "; export it anew from the list of rooms, or save it as CSV (UTF-8)"


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
    seen: bool = False
    """True if its student had seen the result before; older files do not say it."""

    @property
    def curve(self) -> list[float] | None:
        """The prediction, where it is a drawn curve."""
        return numbers_of(self.prediction)

    @property
    def number(self) -> float | None:
        """The prediction, where it is one number."""
        return number_of(self.prediction)


@dataclass(frozen=True)
class Exported:
    """What the files of a class hold."""

    predictions: Sequence[Prediction]
    """Each student once in each room, and once more for what was predicted after the result."""
    left_out: Sequence[Fault]
    """Files and rows that are not among them."""
    notes: Sequence[str]
    """What a teacher should look at: students with several files, files without predictions."""


def number_of(text: str) -> float | None:
    """A finite number; None for any other text."""
    try:
        found = float(text)
    except ValueError:
        return None
    return found if math.isfinite(found) else None


def numbers_of(text: str) -> list[float] | None:
    """Two or more finite numbers apart by spaces; None for any other text."""
    found = [number_of(each) for each in text.split(" ")]
    kept = [each for each in found if each is not None]
    return kept if len(kept) == len(found) > 1 else None


def read(folder: Path) -> Exported:
    """The predictions of all CSV files of a folder, in the order of their names.

    A student who exported twice counts once in each room, by the prediction that was kept first.
    What was predicted after the result was seen is beside it, marked. Files without a name are of
    one student each. What cannot be read is left out and named.

    Raises:
        SpecError: There is none, or none that can be read; all faults at once.
    """
    if not folder.is_dir():
        raise SpecError([Fault("--class", str(folder), "a folder with files of predictions")])
    paths = sorted(folder.glob("*.csv"))
    if not paths:
        allowed = "a folder with files of predictions (.csv), as students export them"
        raise SpecError([Fault("--class", str(folder), allowed)])
    faults: list[Fault] = []
    notes: list[str] = []
    found: list[tuple[Path, Prediction]] = []
    for path in paths:
        wrong: list[Fault] = []
        rows = _rows(path, wrong)
        faults += wrong
        found += [(path, each) for each in rows]
        if not rows and not wrong:
            notes.append(f"{path}: no prediction in it")
    if faults and not found:
        raise SpecError(faults)
    first: dict[tuple[str, str, bool], Prediction] = {}
    for _, each in sorted(found, key=lambda each: each[1].kept):
        first.setdefault((each.student, each.room, each.seen), each)
    kept = [each for _, each in found if first[each.student, each.room, each.seen] is each]
    return Exported(kept, faults, [*notes, *_twice(found, kept)])


def _twice(found: Sequence[tuple[Path, Prediction]], kept: Sequence[Prediction]) -> list[str]:
    """A note for each name that stands in several files, or twice beside one room."""
    files: dict[str, list[str]] = {}
    for path, each in found:
        if path.name not in files.setdefault(each.student, []):
            files[each.student].append(path.name)
    notes = []
    for student, names in files.items():
        rows = sum(each.student == student for _, each in found)
        dropped = rows - sum(each.student == student for each in kept)
        if len(names) > 1 or dropped:
            notes.append(
                f"{student}: {', '.join(names)}: of each room the prediction that was kept first"
                f" counts, {dropped} of {rows} rows are left out; if these are two students, give"
                " one of them another name in the column student"
            )
    return notes


def _rows(path: Path, faults: list[Fault]) -> list[Prediction]:
    """The rows of a file that are predictions; what is wrong with the others goes to `faults`."""
    try:
        content = read_bytes(path, _LARGEST_FILE, "file of predictions")
        lines = _text(content).splitlines()
        # A spreadsheet of a country with decimal commas writes semicolons between its columns,
        # one that saves Unicode text writes tabs.
        mark = next((each for each in ";\t" if lines and each in lines[0]), ",")
        head, *rows = list(csv.reader(lines, delimiter=mark)) or [[]]
    except SpecError as error:
        faults += error.faults
        return []
    except (UnicodeDecodeError, csv.Error) as error:
        faults.append(Fault("", None, f"{_ALLOWED} ({error}){_HOW}", file=str(path)))
        return []
    if tuple(head) not in (HEAD, OLDER):
        faults.append(Fault("", ",".join(head)[:60], _ALLOWED + _HOW, file=str(path)))
        return []
    found = []
    for line, row in enumerate(rows, 2):
        if not any(row):
            continue
        try:
            found.append(_prediction(row, head, path, line, commas=mark == ","))
        except SpecError as error:
            faults += error.faults
    return found


def _text(found: bytes) -> str:
    """The text of a file: UTF-8, what spreadsheets call Unicode (UTF-16), or an old code page."""
    if found.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return found.decode("utf-16")
    try:
        return found.decode("utf-8-sig")
    except UnicodeDecodeError:
        return found.decode("latin-1")


def _prediction(
    row: Sequence[str], head: Sequence[str], path: Path, line: int, *, commas: bool
) -> Prediction:
    where, file = f"line {line}", str(path)
    if len(row) != len(head):
        raise SpecError([Fault(where, ",".join(row)[:60], _ALLOWED, file=file)])
    student, name, *said = row[:5]
    kept = row[5]
    seen = row[-1] if len(head) > len(OLDER) else "no"
    names = tuple(catalogue.names())
    if name not in names:
        raise SpecError([Fault(where, name, "the name of a room", names, file=file)])
    form = catalogue.room(name).prediction.form
    if not commas and not isinstance(form, Choice):
        said = [_DECIMAL_COMMA.sub(".", each) for each in said]
    wrong = [
        Fault(f"{where}: {name}: {column}", value, allowed, file=file)
        for column, value in zip(HEAD[2:4], said, strict=False)
        if value and (allowed := _not(form, value, outcome=column == "outcome"))
    ]
    if seen not in _SEEN:
        wrong.append(Fault(f"{where}: {name}: {HEAD[-1]}", seen, "yes or no", _SEEN, file=file))
    if wrong:
        raise SpecError(wrong)
    own = student if student not in ("", UNNAMED) else f"{UNNAMED} of {path.name}"
    return Prediction(own, name, said[0], said[1], said[2], kept, seen == "yes")


def _not(form: Number | Choice | Curve, value: str, *, outcome: bool) -> str:
    """What a value of a room should be; empty if it is."""
    if isinstance(form, Choice):
        return "" if value in form.words else "one of the room's sentences"
    if isinstance(form, Curve):
        curve = numbers_of(value)
        fits = curve and len(curve) == len(form.x)
        if fits and (outcome or all(form.least <= each <= form.most for each in curve or ())):
            return ""
        bounds = "" if outcome else f" from {form.least:,g} to {digits(form.most)}"
        return f"{len(form.x)} numbers{bounds} with spaces between them"
    number = number_of(value)
    if number is not None and (outcome or form.least <= number <= form.most):
        return ""
    return "a number" if outcome else f"a number from {form.least:,} to {form.most:,}"
