"""atop's parseable output (`atop -P DSK`).

Fields of a disk: name, ms busy, reads, sectors read, writes, sectors written; newer versions have
more behind them. They are counts over the interval. The first sample covers the time since boot.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from raidlab.calibration.monitoring.readers.reader import Options, Reader
from raidlab.calibration.monitoring.samples import (
    Boot,
    Capture,
    Layer,
    Quantity,
    Recorder,
    RefusedError,
)
from raidlab.calibration.monitoring.source import Source

Q = Quantity
_ROW = re.compile(
    r"^(?P<label>DSK|LVM|MDD) (?P<host>\S+) (?P<epoch>\d+) \S+ \S+ (?P<length>\d+) (?P<name>\S+)"
    r" (?P<busy>\d+) (?P<reads>\d+) (?P<rsec>\d+) (?P<writes>\d+) (?P<wsec>\d+)"
)


def _recognises(head: str) -> float:
    return 0.95 if re.search(_ROW.pattern, head, re.MULTILINE) else 0.0


def _read(sources: Sequence[Source], options: Options) -> Capture:
    capture = Capture("atop", zone="Z", boot=Boot.DROPPED)
    recorder = Recorder()
    since_boot = True
    for source in sources:
        for line in source.lines():
            if line.startswith("RESET"):
                since_boot = True
            elif line.startswith("SEP"):
                since_boot = False
            else:
                row = _ROW.match(line)
                if row is not None:
                    _add(row, recorder, capture, dropped=since_boot)
    capture.series = recorder.series()
    if not capture.series:
        raise RefusedError("no sample of a disk but that since boot", source="atop")
    return capture


def _add(row: re.Match[str], recorder: Recorder, capture: Capture, *, dropped: bool) -> None:
    if capture.host not in (None, row["host"]):
        raise RefusedError(f"several hosts are in it ({capture.host} and {row['host']})")
    capture.host = row["host"]
    at, length = float(row["epoch"]), float(row["length"])
    capture.saw([at])
    if dropped or length <= 0:
        return
    if row["label"] != "DSK":
        recorder.layers[row["name"]] = Layer.ABOVE
    values = {
        Q.READS: float(row["reads"]) / length,
        Q.WRITES: float(row["writes"]) / length,
        Q.READ_BYTES: 512 * float(row["rsec"]) / length,
        Q.WRITE_BYTES: 512 * float(row["wsec"]) / length,
        Q.UTIL: float(row["busy"]) / (10 * length),
    }
    recorder.add(row["name"], at, length, values)


READER = Reader("atop", "atop -P DSK", _recognises, _read)
