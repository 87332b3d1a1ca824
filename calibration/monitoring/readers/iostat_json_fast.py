"""iostat's JSON as the tool itself writes it, without building its tree: a day of seconds.

Every disk is one flat object of plain numbers. What is not of that form is left to the reader that
takes any JSON, and repairs it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from raidlab.calibration.monitoring import json_text
from raidlab.calibration.monitoring.blocks import SIZE, Block, Numbers, Pieces
from raidlab.calibration.monitoring.reports import Reports, rows_of
from raidlab.calibration.monitoring.rows import BATCH, Layout
from raidlab.calibration.monitoring.samples import Array, Capture, RefusedError
from raidlab.calibration.monitoring.source import Source

_DEVICE = b'"disk_device"'
_STAMP = re.compile(rb'"timestamp"\s*:\s*"([^"]*)"')
_NODE = re.compile(rb'"nodename"\s*:\s*"([^"]*)"')
_CLOSED = re.compile(rb"\s*\]\s*\}")
_LAST = re.compile(rb"\s*\]\s*\}\s*\]")
"""Behind the last disk: its list, its report and the list of reports end."""


class OtherFormError(Exception):
    """The file is not as iostat writes it."""


@dataclass
class _Open:
    """The report that is being read: rows by layout, in pieces."""

    stamp: str | None = None
    rows: list[tuple[Layout, Numbers, Array]] = field(default_factory=list)


@dataclass
class FastJson:
    """Reads files one after the other."""

    capture: Capture
    reports: Reports = field(default_factory=Reports)
    names: dict[str, int] = field(default_factory=dict)
    layouts: dict[tuple[str, ...], Layout] = field(default_factory=dict)
    pieces: dict[Layout, Pieces] = field(default_factory=dict)
    columns: set[str] = field(default_factory=set)
    open: _Open = field(default_factory=_Open)
    headed: bool = False
    """True behind the first text of a file."""

    def file(self, source: Source, repairs: json_text.Repairs) -> None:
        """Reads a file.

        Raises:
            OtherFormError: It is not as iostat writes it.
            RefusedError: It is of another host than the files before.
        """
        if not source.encoding.startswith("utf-8"):
            raise OtherFormError
        self.reports.begin_run()
        self.headed = False
        end = b""
        for block in _blocks(source):
            end = self._block(block)
        repairs.cut |= _LAST.match(end) is None
        self.open = _Open()

    def _block(self, block: Block) -> bytes:
        """The objects of a block; gives the text behind the last one, if it ends with text."""
        layouts = [self._layout(keys) for keys in block.keys]
        numbers_of = [self.names.setdefault(n.strip(), len(self.names)) for n in block.names]
        devices = np.array(numbers_of, dtype=np.int32)[np.frombuffer(block.name, dtype="<u4")]
        text = b""
        for run, numbers in block.parts():
            if run.columns:
                rows = devices[run.row : run.row + run.rows]
                self.open.rows.append((layouts[run.keys], rows, numbers))
                text = b""
                continue
            text = block.text[run.start : run.end]
            if not self.headed:
                self._head(text)
            elif b"]" in text:
                if _CLOSED.match(text) is None:
                    raise OtherFormError
                self._commit()
                self._next(text)
        if sum(each.rows for each in self.pieces.values()) >= BATCH:
            self.flush()
        return text

    def _head(self, text: bytes) -> None:
        """What stands before the first disk of a file."""
        self.headed = True
        node = _NODE.search(text)
        if node is not None:
            host = node[1].decode()
            if self.capture.host not in (None, host):
                raise RefusedError(
                    f"the files are of several hosts ({self.capture.host} and {host})"
                )
            self.capture.host = host
        self._next(text)

    def _next(self, text: bytes) -> None:
        """What stands before the first disk of a report."""
        if text.count(b'"nodename"') > 1 or (self.reports.stamps and b'"nodename"' in text):
            raise OtherFormError
        stamps = _STAMP.findall(text)
        self.open = _Open(stamps[-1].decode() if stamps else None)

    def _layout(self, keys: list[str]) -> Layout:
        """The columns of objects with these keys."""
        found = self.layouts.get(tuple(keys))
        if found is None:
            self.columns.update(keys)
            found = self.layouts[tuple(keys)] = Layout.of(keys, device_last=False)
        return found

    def _commit(self) -> None:
        """A whole report."""
        self.reports.begin(self.open.stamp)
        for layout, devices, numbers in self.open.rows:
            self.pieces.setdefault(layout, Pieces()).add(self.reports.at, devices, numbers)

    def flush(self) -> None:
        """Makes series of the rows so far."""
        names = list(self.names)
        for layout, pieces in self.pieces.items():
            reports, devices, matrix = pieces.joined()
            list(self.reports.lasted_by(layout, reports, matrix))
            steps = {sense.quantity: 0.01 * sense.scale for _, sense in layout.used}
            for device, at, rows in rows_of(reports, devices, matrix):
                self.reports.add(names[device], at, layout.columns_of(rows))
                self.reports.coarse(names[device], steps)
        self.pieces = {}


def _blocks(source: Source) -> Iterator[Block]:
    """A file in blocks of whole objects."""
    rest = b""
    try:
        for block in source.blocks(SIZE):
            found = Block.of_objects(rest + block, _DEVICE)
            rest = found.text[found.taken :]
            yield found
        at = rest.find(_DEVICE)
        if b"}" in rest[at + 1 :]:
            # What is behind the last object is whole: a key that ends it is put there.
            yield Block.of_objects(rest + _DEVICE, _DEVICE)
        elif at >= 0:
            # The file ends inside of an object.
            yield Block(rest, "utf-8", len(rest), [], [], b"", np.empty(0), [])
    except ValueError:
        raise OtherFormError from None
