"""Rows of tables with one heading as numbers, many at a time.

Rows are kept as text until there are enough of them, and become numbers in one call: a day of
seconds has millions.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from raidlab.calibration.monitoring.column_names import AMOUNTS, Meaning, meaning
from raidlab.calibration.monitoring.numbers import KIB, decimals, with_prefix
from raidlab.calibration.monitoring.samples import Array, Capture, Quantity

Q = Quantity
_DIRECTIONS = 2
BATCH = 40_000
"""Rows from which on they become numbers."""


@dataclass(frozen=True, eq=False)
class Layout:
    """The columns of a table: which are used, and which hold the bytes of a whole report."""

    columns: tuple[str, ...]
    device_last: bool
    used: tuple[tuple[int, Meaning], ...]
    totals: tuple[tuple[int, Quantity, float], ...]

    @classmethod
    def of(cls, columns: Sequence[str], *, device_last: bool, pcp: bool = False) -> Layout:
        """A layout by the names of its columns; `pcp` counts request sizes in KiB."""
        used = []
        for at, name in enumerate(columns):
            found = meaning(name)
            if list(columns).count(name) > 1 and name in ("kBps", "kB/s"):
                # gstat writes the bytes of each direction behind its requests, in one name.
                found = meaning(f"{columns[at - 1][0]}kB/s")
            if found is not None:
                if pcp and name.lower() == "avgrq-sz":
                    found = Meaning(Q.SIZE, KIB)
                used.append((at, found))
        totals = tuple(
            (at, AMOUNTS[name.lower()].quantity, AMOUNTS[name.lower()].scale)
            for at, name in enumerate(columns)
            if name.lower() in AMOUNTS
        )
        return cls(tuple(columns), device_last, tuple(used), totals)

    def columns_of(self, rows: Array) -> dict[Quantity, Array]:
        """Columns of rows in base units."""
        found: dict[Quantity, Array] = {}
        for at, sense in self.used:
            values = rows[:, at] * sense.scale
            if sense.adds and sense.quantity in found:
                values = values + found[sense.quantity]
            elif sense.quantity in found:
                continue
            found[sense.quantity] = values
        return self._divided(rows, found)

    def _divided(self, rows: Array, found: dict[Quantity, Array]) -> dict[Quantity, Array]:
        """Bytes a second of each direction, where a table has their sum beside amounts of each."""
        amounts = {quantity: rows[:, at] * scale for at, quantity, scale in self.totals}
        if Q.BYTES not in found or Q.READ_BYTES in found or len(amounts) < _DIRECTIONS:
            return found
        both = amounts[Q.READ_BYTES] + amounts[Q.WRITE_BYTES]
        for quantity, amount in amounts.items():
            share = np.divide(amount, both, out=np.zeros_like(both), where=both > 0)
            found[quantity] = found[Q.BYTES] * share
        return found


@dataclass
class Batch:
    """Rows of one layout: the report and the device of each by number, and its cells."""

    reports: list[int] = field(default_factory=list)
    devices: list[int] = field(default_factory=list)
    rows: list[str] = field(default_factory=list)

    def numbers(self, layout: Layout, names: Sequence[str], capture: Capture) -> Array:
        """Cells as numbers; rows that are none are left out of the batch, with a note."""
        found = _fast(self.rows, len(layout.columns))
        return self._slow(layout, names, capture) if found is None else found

    def clear(self) -> None:
        """Forgets the rows."""
        self.reports, self.devices, self.rows = [], [], []

    def _slow(self, layout: Layout, names: Sequence[str], capture: Capture) -> Array:
        """Row by row: units behind numbers, decimal commas, cut rows."""
        matrix = np.full((len(self.rows), len(layout.columns)), np.nan)
        bad: list[int] = []
        whole = [at for at, row in enumerate(self.rows) if len(row.split()) == matrix.shape[1]]
        plain = _fast([self.rows[at] for at in whole], matrix.shape[1])
        if plain is not None:
            # Only some rows are damaged.
            matrix[whole] = plain
        done = set() if plain is None else set(whole)
        for at, row in enumerate(self.rows):
            if at in done:
                continue
            words = row.split()
            if len(words) > len(layout.columns):
                words = words[len(words) - len(layout.columns) :]
            if len(words) < len(layout.columns):
                bad.append(at)
                continue
            try:
                matrix[at] = [_value(word, name) for word, name in
                              zip(words, layout.columns, strict=True)]  # fmt: skip
            except ValueError:
                bad.append(at)
        if bad:
            shown = ", ".join(sorted({names[self.devices[at]] for at in bad})[:3])
            many = "a row is" if len(bad) == 1 else f"{len(bad)} rows are"
            capture.note("cut", shown, f"{many} cut off or unreadable, and left out")
            capture.repaired = True
            for at in reversed(bad):
                del self.rows[at], self.reports[at], self.devices[at]
            matrix = np.delete(matrix, bad, axis=0)
        return matrix


def _value(word: str, column: str) -> float:
    if column.lower().startswith("%") or "await" in column:
        return with_prefix(word.rstrip("%"), comma="," in word)
    value = with_prefix(word.rstrip("%"), comma="," in word)
    if word[-1].isalpha():
        # With --human the letter is the unit, whatever the heading says.
        sense = meaning(column)
        if sense is not None and sense.scale != 1.0:
            return value / sense.scale
    return value


def steps_of_row(layout: Layout, words: Sequence[str]) -> dict[Quantity, float]:
    """The unit of each column's last digit in a row, in base units."""
    found: dict[Quantity, float] = {}
    for at, sense in layout.used:
        if at < len(words):
            word = words[at]
            step = 10.0 ** -decimals(word)
            if word[-1] in "kMGTP":
                step *= with_prefix(f"1{word[-1]}") / sense.scale
            found.setdefault(sense.quantity, step * sense.scale)
    return found


def _fast(rows: Sequence[str], columns: int) -> Array | None:
    """All rows at once; None if they are not plain numbers, this many in each row."""
    text = " ".join(rows)
    if "," in text:
        text = text.replace(",", ".")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            numbers = np.fromstring(text, sep=" ")
        except (ValueError, DeprecationWarning):
            return None
    if len(numbers) != len(rows) * columns or any(
        len(row.split()) != columns for row in (rows if len(rows) < 1000 else rows[:50])
    ):
        return None
    return numbers.reshape(len(rows), columns)
