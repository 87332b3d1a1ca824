"""iostat's JSON as the tool itself writes it, without building its tree: a day of seconds.

Every disk is one object of the same keys, so its numbers stand at the same places. What is not of
that form is left to the reader that takes any JSON, and repairs it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from raidlab.calibration.monitoring import json_text
from raidlab.calibration.monitoring.reports import Reports, rows_of
from raidlab.calibration.monitoring.rows import BATCH, Batch, Layout
from raidlab.calibration.monitoring.samples import Capture, RefusedError
from raidlab.calibration.monitoring.source import Source

_DEVICE = b'"disk_device"'
_DIGITS = b"0123456789."
_TABLE = bytes.maketrans(b",:", b"  ")
_OTHERS = bytes(set(range(256)) - set(_DIGITS) - set(b",: "))
_STAMP = re.compile(rb'"timestamp"\s*:\s*"([^"]*)"')
_NODE = re.compile(rb'"nodename"\s*:\s*"([^"]*)"')
_CLOSED = re.compile(rb"\s*\]\s*\}")
_LAST = re.compile(rb"\s*\]\s*\}\s*\]")
"""Behind the last disk: its list, its report and the list of reports end."""
_BLOCK = 4 << 20


class OtherFormError(Exception):
    """The file is not as iostat writes it."""


@dataclass
class _Open:
    """The report that is being read: rows by layout."""

    stamp: str | None = None
    rows: list[tuple[Layout, bytes, bytes]] = field(default_factory=list)


@dataclass
class FastJson:
    """Reads files one after the other."""

    capture: Capture
    reports: Reports = field(default_factory=Reports)
    names: dict[bytes, int] = field(default_factory=dict)
    layouts: dict[bytes, Layout] = field(default_factory=dict)
    """By what stands between the numbers of an object."""
    batches: dict[Layout, Batch] = field(default_factory=dict)
    columns: set[str] = field(default_factory=set)
    open: _Open = field(default_factory=_Open)
    kept: int = 0

    def file(self, source: Source, repairs: json_text.Repairs) -> None:
        """Reads a file.

        Raises:
            OtherFormError: It is not as iostat writes it.
            RefusedError: It is of another host than the files before.
        """
        if not source.encoding.startswith("utf-8"):
            raise OtherFormError
        self.reports.begin_run()
        pieces = _pieces(source)
        head = next(pieces)
        node = _NODE.search(head)
        if node is not None:
            self._host(node[1].decode())
        self._next(head)
        end = head
        for piece in pieces:
            end = self._disk(piece)
        repairs.cut |= _LAST.match(end) is None
        self.open = _Open()

    def _host(self, host: str) -> None:
        if self.capture.host not in (None, host):
            raise RefusedError(f"the files are of several hosts ({self.capture.host} and {host})")
        self.capture.host = host

    def _disk(self, piece: bytes) -> bytes:
        """An object of a disk behind its first key; gives what stands behind it."""
        body, brace, behind = piece.partition(b"}")
        parts = body.split(b'"', 2)
        if not brace or len(parts) < 3:
            # The file ends inside of it.
            return b""
        between = parts[2].translate(None, _DIGITS)
        layout = self.layouts.get(between)
        if layout is None:
            layout = self.layouts[between] = self._layout(parts[2])
        self.open.rows.append((layout, parts[1], parts[2].translate(_TABLE, _OTHERS)))
        if b"]" in behind:
            if _CLOSED.match(behind) is None:
                raise OtherFormError
            self._commit()
            self._next(behind)
        return behind

    def _next(self, text: bytes) -> None:
        """What stands before the first disk of a report."""
        if text.count(b'"nodename"') > 1 or (self.reports.stamps and b'"nodename"' in text):
            raise OtherFormError
        stamps = _STAMP.findall(text)
        self.open = _Open(stamps[-1].decode() if stamps else None)

    def _layout(self, text: bytes) -> Layout:
        """The columns of objects of one form; every one has to be a plain number.

        Raises:
            OtherFormError: One is not.
        """
        try:
            tree = json.loads(b'{"disk_device": ""' + text + b"}")
        except ValueError:
            raise OtherFormError from None
        del tree["disk_device"]
        numbers = [float(word) for word in text.translate(_TABLE, _OTHERS).split()]
        if list(tree.values()) != numbers:
            raise OtherFormError
        self.columns.update(tree)
        return Layout.of(list(tree), device_last=False)

    def _commit(self) -> None:
        """A whole report."""
        self.reports.begin(self.open.stamp)
        at = self.reports.at
        for layout, name, cells in self.open.rows:
            batch = self.batches.get(layout)
            if batch is None:
                batch = self.batches[layout] = Batch()
            batch.reports.append(at)
            batch.devices.append(self.names.setdefault(name, len(self.names)))
            batch.rows.append(cells.decode("ascii"))
        self.kept += len(self.open.rows)
        if self.kept >= BATCH:
            self.flush()

    def flush(self) -> None:
        """Makes numbers of the rows so far.

        Raises:
            OtherFormError: A row has not as many as its form.
        """
        names = [name.decode("utf-8", "replace").strip() for name in self.names]
        for layout, batch in self.batches.items():
            if not batch.rows:
                continue
            read = len(batch.rows)
            matrix = batch.numbers(layout, names, self.capture)
            if len(batch.rows) < read:
                raise OtherFormError
            list(self.reports.lasted_by(layout, batch.reports, matrix))
            for device, reports, rows in rows_of(batch.reports, batch.devices, matrix):
                self.reports.add(names[device], reports, layout.columns_of(rows))
                steps = {sense.quantity: 0.01 * sense.scale for _, sense in layout.used}
                self.reports.coarse(names[device], steps)
            batch.clear()
        self.kept = 0


def _pieces(source: Source) -> Iterator[bytes]:
    """The text in front of the first disk, and behind the first key of each disk."""
    rest = b""
    for block in source.blocks(_BLOCK):
        *whole, rest = (rest + block).split(_DEVICE)
        yield from whole
    yield rest
