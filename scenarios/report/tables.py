"""Tables of a terminal and of pages: columns with name, unit and what they hold, rows of cells."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

from raidlab.scenarios.results.number_text import digits


class Unsure(float):
    """A number that too few samples back: `~1.24`."""


Cell = str | int | float | None


class Kind(Enum):
    """What a column holds, which says where its cells stand and whether they may be cut."""

    NUMBER = "number"
    """To the right."""
    TEXT = "text"
    """To the left; shortened in the middle where there is no room."""
    PROSE = "prose"
    """To the left, on as many lines as it takes."""


@dataclass(frozen=True)
class Column:
    """A column of a table, in a terminal and on a page."""

    name: str
    unit: str = ""
    kind: Kind = Kind.NUMBER
    priority: int = 1
    """1 is never left out; what has the largest number is left out first."""
    width: int = 8
    """Characters that a text has at least."""

    @property
    def head(self) -> str:
        """Name and unit."""
        return f"{self.name} {self.unit}".rstrip()


@dataclass(frozen=True)
class Table:
    """Rows under declared columns, for a terminal and for a page."""

    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    marked: Collection[int] = field(default=())
    """Rows that the answer is about."""
    most: int | None = None
    """Rows that a terminal shows unless it is asked for all."""
    note: str = ""

    def shown(self) -> Table:
        """Without columns in which nothing stands, and without a workload that all rows share."""
        keep = [
            at
            for at, column in enumerate(self.columns)
            if any(row[at] not in (None, "") for row in self.rows)
            and not (column.name == "workload" and len({row[at] for row in self.rows}) == 1)
        ]
        if not self.rows:
            keep = list(range(len(self.columns)))
        return replace(
            self,
            columns=[self.columns[at] for at in keep],
            rows=[[row[at] for at in keep] for row in self.rows],
        )


def cells(values: Iterable[Cell], digit: str = " ", point: str = " ", none: str = "-") -> list[str]:
    """A column of numbers as text, aligned at the decimal point.

    Args:
        values: Numbers; text stays as it is.
        digit: As wide as a digit, put where one is missing.
        point: As wide as a decimal point.
        none: Where there is no value.
    """
    plain = [_cell(value, none) for value in values]
    after = max((len(text.partition(".")[2]) for text in plain if _is_number(text)), default=0)
    if not after:
        return plain
    return [
        text
        if not _is_number(text)
        else text + digit * (after - len(text.partition(".")[2])) + ("" if "." in text else point)
        for text in plain
    ]


def _cell(value: Cell, none: str) -> str:
    if value is None:
        return none
    if isinstance(value, str):
        return value
    if isinstance(value, Unsure):
        return f"~{digits(value)}"
    return f"{value:,}" if isinstance(value, int) else digits(value)


def _is_number(text: str) -> bool:
    return text.replace(",", "").replace(".", "").lstrip("~+-").isdigit()
