"""`pcp iostat`, the tables of `pmrep`, and `pmval`.

`pcp iostat` prints one heading that begins with `#`, with or without times; its `avgrq-sz` is in
KiB, unlike sysstat's. `pmrep` prints lines of metrics, instances and units above its columns, with
the first parts of a metric cut to a letter: `d.d.read` is `disk.dev.read`. None has a report since
boot.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from raidlab.calibration.monitoring import clock
from raidlab.calibration.monitoring.column_names import is_column
from raidlab.calibration.monitoring.legends import Named, of_pcp
from raidlab.calibration.monitoring.numbers import KIB, plain
from raidlab.calibration.monitoring.points import Points
from raidlab.calibration.monitoring.readers.reader import Options, Reader
from raidlab.calibration.monitoring.samples import Capture, Quantity, Recorder, RefusedError
from raidlab.calibration.monitoring.source import Source
from raidlab.calibration.monitoring.tables import steps_of, values_of

Q = Quantity
_METRIC = re.compile(r"(?:d\.d|disk\.dev)\.(\w+)")


def _heading(line: str) -> list[str] | None:
    """The columns behind the device's name."""
    words = line.lstrip("#").split()
    if not line.lstrip().startswith("#") or "Device" not in words:
        return None
    columns = words[words.index("Device") + 1 :]
    return columns if sum(map(is_column, columns)) >= 4 else None


def _metrics(line: str) -> list[str] | None:
    """The metrics of a heading of pmrep."""
    words = line.split()
    if not words or not all(_METRIC.fullmatch(word) for word in words):
        return None
    return [_METRIC.sub(r"disk.dev.\1", word) for word in words]


def _recognises(head: str) -> float:
    lines = head.splitlines()[:50]
    if _PMVAL.search(head[:400]):
        return 0.95
    if any(_metrics(line) is not None for line in lines):
        return 0.9
    return 0.9 if any(_heading(line) is not None for line in lines) else 0.0


def _read(sources: Sequence[Source], options: Options) -> Capture:
    capture = Capture("pcp")
    recorder = Recorder()
    columns: list[str] = []
    for source in sources:
        if _PMVAL.search(source.head[:400]):
            _pmval(source, capture, options)
            continue
        if any(_metrics(line) is not None for line in source.head.splitlines()[:50]):
            _pmrep(source, capture)
            continue
        for line in source.lines():
            found = _heading(line)
            if found is not None:
                columns = found
            elif columns and line.strip():
                _row(line.split(), columns, recorder, capture)
    capture.series |= recorder.series()
    if not capture.series:
        raise RefusedError("no row of a device is in it", source="pcp")
    for series in capture.series.values():
        capture.saw(series.at)
        if len(series) > 1 and not math.isnan(float(series.at[0])):
            series.length[1:] = series.at[1:] - series.at[:-1]
    return capture


_PMVAL = re.compile(r"^metric:\s+(disk\.(?:dev|all|dm|md)\.\w+)", re.MULTILINE)


def _pmval(source: Source, capture: Capture, options: Options) -> None:
    """`pmval`: one metric, a column for each instance, rows with or without times."""
    instances: list[str] = []
    head: dict[str, str] = {}
    points, days, row = Points(), clock.Midnight(), 0
    for line in source.lines():
        key, colon, rest = line.partition(": ")
        words = line.split()
        if colon and not instances and key.isalpha():
            head[key] = rest.strip()
            continue
        if not words:
            continue
        if not instances and clock.parse(words[0]) is None:
            instances = words
            continue
        count = len(instances) or 1
        stamp = clock.parse(" ".join(words[:-count]))
        step = options.interval_s or _seconds(head.get("interval", ""))
        at = days.at(stamp.seconds) if stamp is not None and not stamp.dated else math.nan
        at = stamp.seconds if stamp is not None and stamp.dated else at
        at = row * (step or 1.0) if stamp is None else at
        row += 1
        unit = (head.get("units") or "").partition("(")[0].strip()
        for instance, word in zip(instances or ["all"], words[-count:], strict=False):
            named = of_pcp(f"{head['metric']}-{instance}", unit)
            try:
                value = plain(word)
            except ValueError:
                continue
            if named is not None:
                points.add(named.device or "all", named.key, at, value * named.scale)
    capture.host = head.get("host", capture.host)
    points.finish(capture, options.interval_s)


def _seconds(text: str) -> float | None:
    found = re.match(r"([\d.]+)\s*sec", text)
    return float(found[1]) if found else None


def _pmrep(source: Source, capture: Capture) -> None:
    """Columns of one metric and instance each."""
    metrics: list[str] = []
    above: list[list[str]] = []
    named: list[Named | None] = []
    points = Points()
    days = clock.Midnight()
    for line in source.lines():
        words = line.split()
        found = _metrics(line)
        if found is not None:
            metrics, above, named = found, [], []
            continue
        if not metrics or not words:
            continue
        stamp = clock.parse(" ".join(words[: -len(metrics)])) if len(words) > len(metrics) else None
        if stamp is None:
            if len(words) == len(metrics):
                above.append(words)
            continue
        if not named:
            instances = above[0] if above else ["all"] * len(metrics)
            units = above[1] if len(above) > 1 else [""] * len(metrics)
            columns = zip(metrics, instances, units, strict=True)
            named = [of_pcp(f"{metric}-{instance}", unit) for metric, instance, unit in columns]
        at = stamp.seconds if stamp.dated else days.at(stamp.seconds)
        for each, word in zip(named, words[-len(metrics) :], strict=True):
            if each is not None:
                try:
                    points.add(each.device or "all", each.key, at, plain(word) * each.scale)
                except ValueError:
                    continue
    points.finish(capture)
    for series in capture.series.values():
        # The first row has nothing: rates need two readings.
        empty = all(math.isnan(float(column[0])) for column in series.columns.values())
        if empty and len(series) > 1:
            mask = series.at > series.at[0]
            series.at, series.length = series.at[mask], series.length[mask]
            series.columns = {key: column[mask] for key, column in series.columns.items()}


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


READER = Reader("pcp", "pcp iostat, pmrep or pmval", _recognises, _read)
