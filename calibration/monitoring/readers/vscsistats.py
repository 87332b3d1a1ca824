"""vscsiStats: histograms of a virtual disk since the collection began, as CSV or text.

A bucket's limit is its upper end. There are no rates over time; the mean gap between commands
gives one mean rate.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from raidlab.calibration.monitoring.readers.reader import Options, Reader
from raidlab.calibration.monitoring.samples import (
    Capture,
    DiskHistograms,
    Histogram,
    RefusedError,
)
from raidlab.calibration.monitoring.source import Source

_TITLE = re.compile(
    r"Histogram:\s*(?P<title>.*?)\s*(?:,|\bfor)\s*virtual machine worldGroupID\s*[,:]\s*\d+\s*,?"
    r"\s*virtual disk handleID\s*[,:]\s*(?P<handle>\d+)\s*[,(]?\s*\(?(?P<disk>[\w:.]+)?"
)
_MEAN = re.compile(r"^\s*(min|max|mean|count)\s*[,:]\s*(-?[\d.]+)")
_CSV_BUCKET = re.compile(r"^\s*(\d+)\s*,\s*[<>=]*\s*(-?\d+)")
_TEXT_BUCKET = re.compile(r"^\s*(\d+)\s*\(\s*([<>])=?\s*(-?\d+)\)")


@dataclass
class _Table:
    title: str
    disk: str
    means: dict[str, float] = field(default_factory=dict)
    buckets: dict[int, int] = field(default_factory=dict)

    def histogram(self) -> Histogram:
        """What it counts."""
        means = self.means
        return Histogram(self.buckets, means.get("mean"), means.get("min"), means.get("max"))


def _recognises(head: str) -> float:
    return 0.95 if "Histogram:" in head and "handleID" in head else 0.0


def _read(sources: Sequence[Source], options: Options) -> Capture:
    capture = Capture("vscsistats")
    tables: list[_Table] = []
    for source in sources:
        table: _Table | None = None
        for line in source.lines():
            found = _TITLE.search(line)
            if found:
                name = f"{found['handle']} {found['disk']}" if found["disk"] else found["handle"]
                table = _Table(found["title"].lower(), name)
                tables.append(table)
            elif table is not None:
                _line(line, table)
    names = list(dict.fromkeys(table.disk for table in tables))
    for name in names:
        capture.histograms[name] = _disk([table for table in tables if table.disk == name])
    if not any(table.buckets for table in tables):
        raise RefusedError("no histogram is in it", source="vscsistats")
    capture.note(
        "no-times", "", "histograms are sums since the collection began: no rates over time"
    )
    return capture


def _line(line: str, table: _Table) -> None:
    mean = _MEAN.match(line)
    if mean:
        table.means[mean[1]] = float(mean[2])
        return
    text, cells = _TEXT_BUCKET.match(line), _CSV_BUCKET.match(line)
    if text:
        limit = int(text[3]) + (1 if text[2] == ">" else 0)
        table.buckets[limit] = table.buckets.get(limit, 0) + int(text[1])
    elif cells:
        limit = int(cells[2])
        table.buckets[limit] = table.buckets.get(limit, 0) + int(cells[1])


def _disk(tables: Sequence[_Table]) -> DiskHistograms:
    def of(what: str, side: str = "") -> Histogram | None:
        for table in tables:
            title = table.title
            read = bool(re.search(r"\breads?\b", title))
            write = bool(re.search(r"\bwrites?\b", title))
            of_side = "r" if read else "w" if write else ""
            if re.search(what, title) and of_side == side:
                return table.histogram()
        return None

    return DiskHistograms(
        read_sizes=of(r"io lengths", "r"),
        write_sizes=of(r"io lengths", "w"),
        sizes=of(r"io lengths"),
        distance=of(r"distance.*between successive"),
        latency_us=of(r"latency of ios"),
        outstanding=of(r"number of outstanding"),
        gap_us=of(r"interarrival"),
    )


READER = Reader("vscsistats", "vscsiStats' histograms", _recognises, _read)
