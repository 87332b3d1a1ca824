"""`pcp iostat`: a table under one heading that begins with `#`, with or without times.

Its `avgrq-sz` is in KiB, unlike sysstat's; there is no report since boot.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from raidlab.calibration.monitoring import clock
from raidlab.calibration.monitoring.column_names import is_column
from raidlab.calibration.monitoring.numbers import KIB
from raidlab.calibration.monitoring.readers.reader import Options, Reader
from raidlab.calibration.monitoring.samples import Capture, Quantity, Recorder, RefusedError
from raidlab.calibration.monitoring.source import Source
from raidlab.calibration.monitoring.tables import steps_of, values_of

Q = Quantity


def _heading(line: str) -> list[str] | None:
    """The columns behind the device's name."""
    words = line.lstrip("#").split()
    if not line.lstrip().startswith("#") or "Device" not in words:
        return None
    columns = words[words.index("Device") + 1 :]
    return columns if sum(map(is_column, columns)) >= 4 else None


def _recognises(head: str) -> float:
    lines = head.splitlines()[:50]
    return 0.9 if any(_heading(line) is not None for line in lines) else 0.0


def _read(sources: Sequence[Source], options: Options) -> Capture:
    capture = Capture("pcp")
    recorder = Recorder()
    columns: list[str] = []
    for source in sources:
        for line in source.lines():
            found = _heading(line)
            if found is not None:
                columns = found
            elif columns and line.strip():
                _row(line.split(), columns, recorder, capture)
    capture.series = recorder.series()
    if not capture.series:
        raise RefusedError("no row of a device is in it", source="pcp")
    for series in capture.series.values():
        capture.saw(series.at)
        if len(series) > 1 and not math.isnan(float(series.at[0])):
            series.length[1:] = series.at[1:] - series.at[:-1]
    return capture


def _row(
    words: Sequence[str], columns: Sequence[str], recorder: Recorder, capture: Capture
) -> None:
    count = len(columns)
    if len(words) <= count:
        capture.repaired = True
        capture.note("cut", "", "a row is cut off and left out")
        return
    name, cells = words[-count - 1], words[-count:]
    stamp = clock.parse(" ".join(words[: -count - 1]))
    at = math.nan if stamp is None else stamp.seconds
    if stamp is not None and stamp.zone:
        capture.zone = stamp.zone
    values = values_of(columns, cells)
    if Q.SIZE in values:
        values[Q.SIZE] *= KIB / 512
    recorder.add(name, at, math.nan, values)
    for quantity, step in steps_of(columns, cells).items():
        recorder.coarse(name, quantity, step)


READER = Reader("pcp", "pcp iostat", _recognises, _read)
