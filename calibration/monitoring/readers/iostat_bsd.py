"""iostat of FreeBSD, macOS, OpenBSD and NetBSD without `-x`: a row for each report.

The first heading names the disks, the second has `KB/t`, `tps` and `MB/s` for each of them. KB are
1,024 bytes and MB 1,024 KB. The first row covers the time since boot.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import pairwise

from raidlab.calibration.monitoring.numbers import KIB, MIB
from raidlab.calibration.monitoring.readers.reader import Options, Reader
from raidlab.calibration.monitoring.samples import (
    Boot,
    Capture,
    Quantity,
    Recorder,
    RefusedError,
)
from raidlab.calibration.monitoring.source import Source

Q = Quantity
_SENSES = {"kb/t": (Q.SIZE, KIB), "tps": (Q.IOS, 1.0), "t/s": (Q.IOS, 1.0), "mb/s": (Q.BYTES, MIB)}
_DISK = re.compile(r"[a-z]+\d+$")
_NO_DISK = ("tty", "tin", "tout", "cpu", "load", "average")


def _columns(line: str) -> list[str]:
    """The columns of the second heading; none if the line is another one."""
    words = line.lower().split()
    return words if words.count("kb/t") and words.count("mb/s") == words.count("kb/t") else []


def _disks(line: str) -> list[str]:
    """The disks that the first heading names, in their order."""
    return [word for word in line.split() if _DISK.match(word) and word not in _NO_DISK]


def _recognises(head: str) -> float:
    lines = head.splitlines()[:50]
    pairs = pairwise(lines)
    return 0.9 if any(_disks(line) and _columns(below) for line, below in pairs) else 0.0


def _read(sources: Sequence[Source], options: Options) -> Capture:
    capture = Capture("iostat", boot=Boot.OPEN)
    recorder = Recorder()
    runs: list[dict[str, int]] = []
    for source in sources:
        disks: list[str] = []
        columns: list[str] = []
        for line in source.lines():
            if _columns(line):
                columns = _columns(line)
                continue
            words = line.split()
            if _disks(line):
                if _disks(line) != disks:
                    disks = _disks(line)
                    runs.append({name: len(recorder.rows.get(name, ())) for name in disks})
            elif columns and len(words) == len(columns):
                _row(words, columns, disks, recorder, options.interval_s)
    capture.series = recorder.series()
    if not capture.series:
        raise RefusedError("no row of a disk is in it", source="iostat")
    capture.runs = runs
    return capture


def _row(
    words: Sequence[str],
    columns: Sequence[str],
    disks: Sequence[str],
    recorder: Recorder,
    interval_s: float | None,
) -> None:
    """One report: the first KB/t is of the first disk, the second of the second."""
    try:
        numbers = [float(word.replace(",", ".")) for word in words]
    except ValueError:
        return
    starts = [at for at, name in enumerate(columns) if name == "kb/t"]
    for name, start in zip(disks, starts, strict=False):
        values: dict[Quantity, float] = {}
        for column, number in zip(columns[start : start + 3], numbers[start:], strict=False):
            quantity, scale = _SENSES[column]
            values[quantity] = number * scale
        recorder.add(name, math.nan, interval_s or math.nan, values)


READER = Reader("iostat-bsd", "iostat of BSD and macOS, without -x", _recognises, _read)
