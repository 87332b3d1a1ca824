"""Tables in a terminal: as wide as there is room, the most important columns first."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import replace
from enum import Enum
from typing import Annotated

import typer

from raidlab.devices.printable import printable
from raidlab.output import echo, echo_styled, say
from raidlab.scenarios.report.report import Report
from raidlab.scenarios.report.tables import Cell, Column, Kind, Table, cells
from raidlab.scenarios.results.number_text import joined

WIDTH = 100
"""Characters of a line where neither a terminal nor COLUMNS says how many."""
_GAP = "  "
_MARK = " <"
"""Behind a row that the answer is about."""
_MOST_COLUMNS = 7
"""Columns of a line of 80 characters."""
_NARROW_WIDTH = 90
_PROSE = 20
"""Characters in which prose is laid at least."""


class Output(Enum):
    """What a command prints."""

    FIT = "tables of what fits into a line"
    ALL = "tables of every column and every row"
    JSON = "one JSON document"

    @classmethod
    def of(cls, *, json: bool, wide: bool) -> Output:
        """What `--json` and `--wide` ask for."""
        return cls.JSON if json else cls.ALL if wide else cls.FIT


Wide = Annotated[
    bool, typer.Option("--wide", help="Every column and row of the tables, however long.")
]


def opening(title: str, answer: str = "", warnings: Iterable[str] = ()) -> None:
    """What stands above a table: title, answer, warnings (on standard error)."""
    echo(printable(title))
    paragraph(answer)
    sys.stdout.flush()
    for warning in warnings:
        say(f"warning: {warning}")


def paragraph(text: str) -> None:
    """A sentence below a table, in lines that fit."""
    if text:
        room = max(40, width())
        lines = textwrap.wrap(joined(text), room, break_long_words=False, break_on_hyphens=False)
        echo("\n".join(lines).replace("\u00a0", " "))


def print_report(report: Report, output: Output, warnings: Iterable[str] = ()) -> None:
    """Title, answer, warnings, tables, sentences."""
    opening(report.title, report.answer, warnings)
    for table in report.tables:
        print_table(table, output)
    print_notes(report.notes)


def print_notes(notes: Sequence[str]) -> None:
    """Sentences below a table, an empty line before them."""
    known = [note for note in notes if note]
    if known:
        echo()
    for note in known:
        paragraph(note)


def width() -> int:
    """Characters of a line: those of COLUMNS or of the terminal, else 100."""
    return shutil.get_terminal_size((WIDTH, 24)).columns


def print_table(table: Table, output: Output = Output.FIT) -> None:
    """A table on standard output; what is left out is named below it."""
    echo_styled("\n".join(["", *lines(table, width(), output)]))


def lines(table: Table, room: int, output: Output = Output.FIT) -> list[str]:
    """A table in lines of at most `room` characters, unless all of it is asked for."""
    whole = table.shown()
    chosen = list(range(len(whole.columns)))
    widths = [_natural(whole, at) for at in chosen]
    if output is Output.FIT:
        chosen = _fitting(whole, room)
        widths = _shared(whole, chosen, room)
    rows = whole.rows if output is Output.ALL or table.most is None else whole.rows[: table.most]
    cut = replace(
        whole,
        columns=[whole.columns[at] for at in chosen],
        rows=[[row[at] for at in chosen] for row in rows],
    )
    found = [printable(table.title)] if table.title else []
    found += _laid(cut, widths)
    more = [
        _count(len(whole.columns) - len(chosen), "column"),
        _count(len(whole.rows) - len(rows), "row"),
    ]
    if any(more):
        found.append(f"{' and '.join(each for each in more if each)} more: --wide")
    return found


def _count(number: int, of: str) -> str:
    return f"{number:,} {of}{'s' if number > 1 else ''}" if number else ""


def _texts(table: Table, at: int) -> list[str]:
    values: list[Cell] = [row[at] for row in table.rows]
    if table.columns[at].kind is Kind.NUMBER:
        return list(map(printable, cells(values)))
    return ["-" if value is None else printable(str(value)) for value in values]


def _natural(table: Table, at: int) -> int:
    column = table.columns[at]
    longest = max((len(text) for text in _texts(table, at)), default=0)
    return max(longest, _head_width(column, longest))


def _head_width(column: Column, longest: int = 0) -> int:
    """Characters that a head takes on two lines, never broken inside a word."""
    words = column.head.split(" ")
    if len(column.head) <= longest:
        return len(column.head)
    return min(
        max(len(" ".join(words[:at])), len(" ".join(words[at:]))) for at in range(len(words) + 1)
    )


def _least(table: Table, at: int) -> int:
    column = table.columns[at]
    if column.kind is Kind.NUMBER:
        return _natural(table, at)
    least = _PROSE if column.kind is Kind.PROSE else column.width
    return max(min(_natural(table, at), least), _head_width(column))


def _fitting(table: Table, room: int) -> list[int]:
    """Columns that are shown: the least important are left out until the rest fits."""
    chosen = list(range(len(table.columns)))
    most = _MOST_COLUMNS if room < _NARROW_WIDTH else max(_MOST_COLUMNS, room // 11)

    def needed() -> int:
        return (
            sum(_least(table, at) for at in chosen) + len(_GAP) * (len(chosen) - 1) + _mark(table)
        )

    while len(chosen) > 1 and (len(chosen) > most or needed() > room):
        worst = max(chosen, key=lambda at: (table.columns[at].priority, at))
        if table.columns[worst].priority == 1 and len(chosen) <= most:
            break
        chosen.remove(worst)
    return chosen


def _mark(table: Table) -> int:
    return len(_MARK) if table.marked else 0


def _shared(table: Table, chosen: Sequence[int], room: int) -> list[int]:
    """Widths of the columns: what room is left goes to text, the first ones first."""
    widths = {at: _least(table, at) for at in chosen}
    rest = room - sum(widths.values()) - len(_GAP) * (len(chosen) - 1) - _mark(table)
    for at in sorted(chosen, key=lambda at: table.columns[at].kind is Kind.PROSE):
        more = min(max(0, rest), _natural(table, at) - widths[at])
        widths[at] += more
        rest -= more
    return [widths[at] for at in chosen]


def _laid(table: Table, widths: Sequence[int]) -> list[str]:
    columns = table.columns
    heads = [_head(column, wide) for column, wide in zip(columns, widths, strict=True)]
    found = [
        _line(columns, widths, [head[at] for head in heads]).rstrip()
        for at in range(2)
        if any(head[at] for head in heads)
    ]
    found.append(_GAP.join("-" * wide for wide in widths))
    texts = [_texts(table, at) for at in range(len(columns))]
    for at in range(len(table.rows)):
        mark = _MARK if at in table.marked else ""
        found += _row(table, widths, [column[at] for column in texts], mark)
    return found


def _row(table: Table, widths: Sequence[int], texts: Sequence[str], mark: str) -> list[str]:
    columns = table.columns
    pieces = [
        textwrap.wrap(text, wide) or [""]
        if column.kind is Kind.PROSE
        else [text if column.kind is Kind.NUMBER else _shortened(text, wide)]
        for column, wide, text in zip(columns, widths, texts, strict=True)
    ]
    found = []
    for at in range(max(map(len, pieces))):
        line = _line(columns, widths, [each[at] if at < len(each) else "" for each in pieces])
        if mark and at == 0:
            line = _bold(line) + mark
        found.append(line.rstrip())
    return found


def _bold(text: str) -> str:
    return f"\033[1m{text}\033[0m" if sys.stdout.isatty() else text


def _head(column: Column, wide: int) -> tuple[str, str]:
    """A head on two lines, the upper one empty where one is enough."""
    words = column.head.split(" ")
    if len(column.head) <= wide:
        return "", column.head
    split = next(at for at in range(len(words), -1, -1) if len(" ".join(words[:at])) <= wide)
    return " ".join(words[:split]), " ".join(words[split:])


def _line(columns: Sequence[Column], widths: Sequence[int], texts: Sequence[str]) -> str:
    return _GAP.join(
        text.rjust(wide) if column.kind is Kind.NUMBER else text.ljust(wide)
        for column, wide, text in zip(columns, widths, texts, strict=True)
    )


def _shortened(text: str, wide: int) -> str:
    """A text with its middle left out where it is too long."""
    if len(text) <= wide:
        return text
    before = (wide - 3 + 1) // 2
    return f"{text[:before]}...{text[len(text) - (wide - 3 - before) :]}"
