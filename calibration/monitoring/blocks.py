"""Files in blocks of bytes, and the rows of plain numbers that the engine finds in them.

A day of seconds of 24 disks has two million rows that are alike. The engine finds names and
numbers; what they mean, and every line of another form, is the reader's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from raidlab.calibration.monitoring.rows import Layout
from raidlab.calibration.monitoring.samples import Array
from raidlab.calibration.monitoring.source import Source
from raidlab.scenarios import _engine

SIZE = 4 << 20
_SUPERSETS = ("utf-8", "utf-8-sig", "cp1252")
"""Encodings whose digits, blanks and line ends are ASCII's bytes."""

Numbers = NDArray[np.int32]


class Run(NamedTuple):
    """Rows that follow each other and are alike, or text of another form (no columns)."""

    start: int
    end: int
    """Bytes of the block, the second one behind it."""
    columns: int
    """Numbers in each row."""
    row: int
    rows: int
    """The first row and how many there are."""
    prefix_end: int
    """Where the name of the first row begins."""
    keys: int


@dataclass(frozen=True)
class Block:
    """A part of a file and what was found in it."""

    text: bytes
    encoding: str
    taken: int
    runs: list[Run]
    names: list[str]
    name: bytes
    """Which of `names` each row has, u32."""
    numbers: Array
    """Of all rows, one after the other."""
    keys: list[list[str]]

    @classmethod
    def of_lines(cls, text: bytes, encoding: str) -> Block:
        """The rows of whole lines."""
        return cls._of(text, encoding, _engine.rows_of_lines(text))

    @classmethod
    def of_objects(cls, text: bytes, key: bytes) -> Block:
        """The flat objects that begin with a key.

        Raises:
            ValueError: One is of another form.
        """
        return cls._of(text, "utf-8", _engine.rows_of_objects(text, key))

    @classmethod
    def _of(cls, text: bytes, encoding: str, rows: _engine.Rows) -> Block:
        taken, runs, names, name, numbers, keys = rows
        return cls(
            text, encoding, taken, [Run(*run) for run in runs],
            [each.decode(encoding, "replace") for each in names], name,
            np.frombuffer(numbers, dtype="<f8"), keys,
        )  # fmt: skip

    def parts(self) -> Iterator[tuple[Run, Array]]:
        """Each run with its numbers."""
        at = 0
        for run in self.runs:
            end = at + run.rows * run.columns
            yield run, self.numbers[at:end]
            at = end

    def order(self, run: Run) -> bytes:
        """The names of a run's rows, as bytes that can be looked up."""
        return self.name[4 * run.row : 4 * (run.row + run.rows)]

    def names_of(self, order: bytes) -> list[str]:
        """The names that an order stands for."""
        return [self.names[at] for at in np.frombuffer(order, dtype="<u4").tolist()]

    def lines(self, run: Run) -> list[str]:
        """The lines of a run, without their ends."""
        text = self.text[run.start : run.end].decode(self.encoding, "replace")
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        return text.removesuffix("\n").split("\n")

    def prefix(self, run: Run) -> str:
        """What stands before the name in each row of a run."""
        return self.text[run.start : run.prefix_end].decode(self.encoding, "replace")


def by_lines(source: Source) -> Iterator[Block] | None:
    """A file in blocks of whole lines; None if its encoding has other bytes for digits."""
    return _by_lines(source) if source.encoding in _SUPERSETS else None


def _by_lines(source: Source) -> Iterator[Block]:
    encoding = source.encoding.removesuffix("-sig")
    rest = b""
    for block in source.blocks(SIZE):
        text = rest + block
        end = text.rfind(b"\n") + 1
        rest = text[end:]
        if end:
            yield Block.of_lines(text[:end], encoding)
    if rest:
        # The last line may be cut inside of a number: a reader sees that it is not whole.
        yield Block(rest, encoding, len(rest), [Run(0, len(rest), 0, 0, 0, 0, 0)], [], b"",
                    np.empty(0), [])  # fmt: skip


@dataclass
class Pieces:
    """Rows of one layout, a piece a report."""

    reports: list[int] = field(default_factory=list)
    devices: list[Numbers] = field(default_factory=list)
    numbers: list[Array] = field(default_factory=list)
    rows: int = 0

    def add(self, report: int, devices: Numbers, numbers: Array) -> None:
        """The rows of a report."""
        self.reports.append(report)
        self.devices.append(devices)
        self.numbers.append(numbers)
        self.rows += len(devices)

    def joined(self) -> tuple[Numbers, Numbers, Array]:
        """Report and device of each row, and the rows as a matrix."""
        counts = [len(each) for each in self.devices]
        reports = np.repeat(np.array(self.reports, dtype=np.int32), counts)
        return (
            reports,
            np.concatenate(self.devices),
            np.concatenate(self.numbers).reshape(self.rows, -1),
        )


class RowReader(Protocol):
    """A reader of lines that takes usual rows by whole reports."""

    names: dict[str, int]
    """Numbers of devices by name."""
    step_known: set[tuple[Layout, str]]
    """Devices of a layout of which a row was read as a line, which tells how it is rounded."""

    def line(self, line: str) -> None:
        """One line."""
        ...

    def flush(self) -> None:
        """Makes numbers of the lines so far."""
        ...

    def table_of(self, block: Block, run: Run) -> tuple[Layout, float] | None:
        """Layout and time stamp of a run of usual rows; None if its lines are to be read."""
        ...

    def report_of(self, stamp: float) -> int:
        """The number of the report with a time stamp."""
        ...

    def add(
        self,
        layout: Layout,
        reports: Sequence[int] | Numbers,
        devices: Sequence[int] | Numbers,
        matrix: Array,
        names: Sequence[str],
    ) -> list[int]:
        """Rows that are numbers; gives the devices that they are of."""
        ...


def read_block(reader: RowReader, block: Block) -> None:
    """Hands over the lines of a block; usual rows go by whole reports."""
    pieces: dict[Layout, Pieces] = {}
    known: dict[tuple[Layout, bytes], Numbers] = {}
    for run, numbers in block.parts():
        table = reader.table_of(block, run)
        if table is None:
            for line in block.lines(run):
                reader.line(line)
            continue
        (layout, stamp), order = table, block.order(run)
        devices = known.get((layout, order))
        if devices is None:
            names = block.names_of(order)
            if any((layout, name) not in reader.step_known for name in names):
                for line in block.lines(run):
                    reader.line(line)
                reader.flush()
                continue
            devices = np.array([reader.names[name] for name in names], dtype=np.int32)
            known[layout, order] = devices
        pieces.setdefault(layout, Pieces()).add(reader.report_of(stamp), devices, numbers)
    names = list(reader.names)
    for layout, each in pieces.items():
        reader.add(layout, *each.joined(), names)
