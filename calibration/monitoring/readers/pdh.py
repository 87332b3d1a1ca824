r"""Logs of performance counters as CSV or TSV: Windows' perfmon, typeperf and relog, and esxtop.

Both write `\\host\object(instance)\counter` as names of columns. Two tables say what counters
are: words in the languages of Windows, and esxtop's English. `(-60)` in the first heading is UTC
minus local time in minutes. Dates are month first, whatever the language.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from raidlab.calibration.monitoring import clock
from raidlab.calibration.monitoring.numbers import plain
from raidlab.calibration.monitoring.pdh_names import (
    Counted,
    esxtop_counter,
    esxtop_layer,
    perfmon_counter,
    perfmon_layer,
)
from raidlab.calibration.monitoring.readers.reader import Options, Reader
from raidlab.calibration.monitoring.samples import (
    Array,
    Capture,
    Layer,
    Quantity,
    RefusedError,
    Series,
)
from raidlab.calibration.monitoring.source import Source

Q = Quantity
_NAME = re.compile(
    r"(?:\\\\(?P<host>[^\\]+))?\\(?P<object>.+?)(?:\((?P<instance>.*)\))?\\(?P<counter>[^\\]*)$"
)
_ZONE = re.compile(r"\((-?\d+)\)\s*$")


@dataclass
class _Column:
    device: str
    what: Counted
    layer: Layer | None
    values: list[float] = field(default_factory=list)


def _recognises(head: str) -> float:
    start = head.lstrip('\ufeff\r\n "')
    if start.startswith(("(PDH-CSV", "(PDH-TSV")):
        return 0.95
    return (
        0.8
        if re.search(r'"?\\\\[^\\"]+\\(?:PhysicalDisk|Physical Disk|LogicalDisk)', head)
        else 0.0
    )


def _rows(source: Source) -> Iterator[list[str]]:
    start = source.head.lstrip("\ufeff\r\n")
    first = start.splitlines()[0]
    bare = re.sub(r'"[^"]*"', "", first)
    delimiter = max(",;\t", key=bare.count)
    lines = (line.lstrip("\ufeff") for line in source.lines())
    return csv.reader((line for line in lines if line.strip()), delimiter=delimiter)


def _read(sources: Sequence[Source], options: Options) -> Capture:
    capture = Capture("perfmon")
    for source in sources:
        _file(source, capture)
    if not capture.series:
        raise RefusedError("no counter of a disk is in it", source=capture.source)
    return capture


def _file(source: Source, capture: Capture) -> None:
    csv.field_size_limit(1 << 24)
    rows = _rows(source)
    names = next(rows)
    zone = _ZONE.search(names[0])
    if zone is not None:
        capture.zone = clock.zone_of_minutes(-int(zone[1]))
    columns = _columns(names, capture)
    if not columns:
        return
    times: list[float] = []
    wanted = sorted(columns)
    for row in rows:
        stamp = clock.parse(row[0]) if row else None
        if stamp is None or len(row) < 2:
            continue
        times.append(stamp.seconds)
        for at in wanted:
            columns[at].values.append(_cell(row[at]) if at < len(row) else math.nan)
        if len(row) < len(names):
            capture.repaired = True
            capture.note("cut", "", "a row is cut off: its cells that lack are gaps")
    _series(np.array(times), columns, capture)


def _columns(names: Sequence[str], capture: Capture) -> dict[int, _Column]:
    parsed = [(at, found) for at, name in enumerate(names) if (found := _NAME.match(name.strip()))]
    hosts = {found["host"] for _, found in parsed if found["host"]}
    esxtop = any(esxtop_layer(found["object"]) for _, found in parsed)
    capture.source = "esxtop" if esxtop else "perfmon"
    if len(hosts) == 1:
        capture.host = next(iter(hosts))
    columns: dict[int, _Column] = {}
    unknown: list[str] = []
    for at, found in parsed:
        layer = (esxtop_layer if esxtop else perfmon_layer)(found["object"])
        if layer is None:
            continue
        instance = found["instance"] or "all"
        what = (esxtop_counter if esxtop else perfmon_counter)(found["counter"])
        if what is None:
            unknown += [] if found["counter"] in unknown else [found["counter"]]
            continue
        if what.quantity is None:
            continue
        device = f"{found['host']}/{instance}" if len(hosts) > 1 else instance
        if instance.lower() == "_total":
            layer = Layer.SUM
        columns[at] = _Column(device, what, layer)
    if unknown:
        names_shown = ", ".join(f'"{name}"' for name in unknown[:3])
        capture.note("unknown-column", names_shown, "no known counter of a disk, and left out")
        if not columns:
            raise RefusedError(
                f"the counters' language is not known; the first is {unknown[0]!r}:"
                " log them again in English (typeperf, or lodctr /r)",
                needs="columns",
                source=capture.source,
            )
    return columns


def _cell(text: str) -> float:
    try:
        value = plain(text, comma="," in text and "." not in text)
    except ValueError:
        return math.nan
    return value if math.isfinite(value) else math.nan


def _series(times: Array, columns: dict[int, _Column], capture: Capture) -> None:
    capture.saw(times)
    length = np.full(len(times), np.nan)
    if len(times) > 1:
        length[1:] = np.diff(times)
    by_device: dict[str, Series] = {}
    for column in columns.values():
        series = by_device.get(column.device)
        if series is None:
            series = by_device[column.device] = Series(times, length, {}, {}, 0, column.layer)
        elif series.layer is not column.layer and series.layer is Layer.ABOVE:
            series.layer = column.layer
        quantity = column.what.quantity
        if quantity is None:
            continue
        values = np.array(column.values) * column.what.scale
        if column.what.rest:
            values = np.clip(100.0 - values, 0.0, None)
        if quantity not in series.columns or column.what.first:
            series.columns[quantity] = values
    for device, series in by_device.items():
        seen = np.zeros(len(times), dtype=bool)
        for values in series.columns.values():
            seen |= ~np.isnan(values)
        if not seen.any():
            continue
        first = int(np.argmax(seen))
        mask = np.arange(len(times)) >= first
        found = series.kept(mask)
        before = capture.series.get(device)
        capture.series[device] = found if before is None else _after(before, found)


def _after(first: Series, second: Series) -> Series:
    """Two files of one log, one after the other."""
    if len(first) == len(second) and bool((first.at == second.at).all()):
        first.columns |= second.columns
        return first
    columns = {}
    for quantity in {**first.columns, **second.columns}:
        parts = [each.columns.get(quantity, np.full(len(each), np.nan)) for each in (first, second)]
        columns[quantity] = np.concatenate(parts)
    at = np.concatenate([first.at, second.at])
    order = np.argsort(at, kind="stable")
    return Series(
        at[order],
        np.concatenate([first.length, second.length])[order],
        {quantity: column[order] for quantity, column in columns.items()},
        first.step,
        0,
        first.layer,
    )


READER = Reader("pdh", "perfmon or esxtop as CSV", _recognises, _read)
