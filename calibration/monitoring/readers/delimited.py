"""Series as CSV: Grafana's exports, Prometheus', Zabbix' and pcp's, wide or long.

Wide: a column of times, and a column for each series. Long: a row for each value, which names its
series. What a column is says its name; `--columns` says it where the name does not.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from raidlab.calibration.monitoring import clock, legends
from raidlab.calibration.monitoring.counters import Counter, rates
from raidlab.calibration.monitoring.legends import Named
from raidlab.calibration.monitoring.numbers import with_unit
from raidlab.calibration.monitoring.points import Points
from raidlab.calibration.monitoring.readers.reader import Options, Reader
from raidlab.calibration.monitoring.samples import Capture, Quantity, RefusedError
from raidlab.calibration.monitoring.source import Source

_TIME_NAMES = {"time", "timestamp", "clock", "date", "datetime", "zeit", "_time", "ts",
               "@timestamp", "date time", "time stamp"}  # fmt: skip
_VALUE_NAMES = {"value", "_value", "val", "wert", "value_avg"}
_NAME_NAMES = {"series", "metric", "__name__", "key", "key_", "name", "item", "measurement",
               "legend", "_measurement", "item name", "_field", "field", "path"}  # fmt: skip
_HOST_NAMES = {"host", "instance", "hostname", "node", "server"}
_DEVICE_NAMES = {"device", "disk", "dev"}
KEYS = {
    "read_iops": Quantity.READS, "write_iops": Quantity.WRITES, "iops": Quantity.IOS,
    "read_bytes": Quantity.READ_BYTES, "write_bytes": Quantity.WRITE_BYTES,
    "bytes": Quantity.BYTES, "r_await": Quantity.R_AWAIT, "w_await": Quantity.W_AWAIT,
    "await": Quantity.AWAIT, "queue": Quantity.QUEUE, "util": Quantity.UTIL,
    "read_size": Quantity.READ_SIZE, "write_size": Quantity.WRITE_SIZE, "size": Quantity.SIZE,
}  # fmt: skip
"""What `--columns` and `--metric` may say."""


def rows_of(text: str) -> list[list[str]]:
    """Cells of a CSV whose delimiter is comma, semicolon or tab."""
    text = text.lstrip("\ufeff")
    lines = text.split("\n", 1)
    found = re.match(r"sep=(.)\s*$", lines[0])
    if found:
        delimiter, text = found[1], lines[1]
    else:
        first = next((line for line in text.splitlines() if line.strip()), "")
        bare = re.sub(r'"[^"]*"', "", first)
        delimiter = max(",;\t", key=bare.count)
    return [row for row in csv.reader(io.StringIO(text), delimiter=delimiter) if any(row)]


def _column(names: Sequence[str], known: set[str]) -> int | None:
    low = [name.strip().strip('"').lower() for name in names]
    return next((at for at, name in enumerate(low) if name in known), None)


@dataclass
class _State:
    capture: Capture
    options: Options
    points: Points = field(default_factory=Points)
    unknown: list[str] = field(default_factory=list)
    order: clock.Order = clock.Order.MONTH_FIRST
    kinds: set[str] = field(default_factory=set)
    hosts: set[str] = field(default_factory=set)

    def time(self, text: str) -> float:
        """Seconds; NaN where a cell holds no time."""
        seconds = clock.epoch(text)
        if seconds is not None:
            self.capture.zone = self.capture.zone or "Z"
            return seconds
        stamp = clock.parse(text, self.order)
        if stamp is None:
            return math.nan
        self.capture.zone = self.capture.zone or stamp.zone
        return stamp.seconds

    def named(self, text: str, unit: str = "") -> Named | None:
        """What a series is."""
        said = self.options.columns.get(text)
        if said is not None:
            device, _, key = said.rpartition(":")
            return Named(device or None, KEYS[key])
        found = legends.identify(text, unit)
        if found is None:
            if text and text not in self.unknown:
                self.unknown.append(text)
            return None
        self.kinds.add(
            "zabbix" if legends.is_zabbix(text)
            else "perfmon" if legends.of_path(text)
            else "pcp" if legends.of_pcp(text)
            else "prometheus" if legends.of_expression(text)
            else "grafana"
        )  # fmt: skip
        if found.assumed:
            self.capture.note("assumed", text, found.assumed)
        return found

    def add(self, named: Named, device: str, at: float, value: float) -> None:
        """A value of a series."""
        value *= named.scale
        if named.per_s and isinstance(named.key, Counter):
            for quantity, rate in rates({named.key: value}, 1.0).items():
                self.points.add(device, quantity, at, rate)
            return
        if isinstance(named.key, Counter) and named.scale != 1.0:
            self.points.units[named.key] = named.scale
        self.points.add(device, named.key, at, value)


def _wide(rows: Sequence[Sequence[str]], state: _State) -> None:
    names = list(rows[0])
    time = _column(names, _TIME_NAMES) or 0
    device_at = _texts(rows, _column(names, _DEVICE_NAMES | {"name", "disk name", "device name"}))
    host_at = _texts(rows, _column(names, _HOST_NAMES))
    units = [_unit_of(rows[1:40], at) for at in range(len(names))]
    columns: list[tuple[int, Named]] = []
    for at, name in enumerate(names):
        if at not in (time, device_at, host_at) and name.strip():
            named = state.named(name.strip(), units[at])
            if named is not None:
                columns.append((at, named))
    whole = {named.device for _, named in columns if named.device}
    several = {named.host for _, named in columns if named.host}
    hosts = {row[host_at] for row in rows[1:] if host_at is not None and len(row) > host_at}
    state.hosts |= hosts
    for row in rows[1:]:
        at_s = state.time(row[time].strip()) if len(row) > time else math.nan
        if math.isnan(at_s):
            continue
        state.capture.saw([at_s])
        for at, named in columns:
            device = named.device or (next(iter(whole)) if len(whole) == 1 else "all")
            if device_at is not None and device_at < len(row):
                device = row[device_at].strip().removeprefix("/dev/") or device
            if host_at is not None and len(hosts) > 1:
                device = f"{row[host_at].strip()}/{device}"
            if named.host and len(several) > 1:
                device = f"{named.host}/{device}"
            value = _cell(row[at] if at < len(row) else "")
            state.add(named, device, at_s, value)


def _texts(rows: Sequence[Sequence[str]], at: int | None) -> int | None:
    """A column that names what its rows are of: None if it has numbers."""
    cells = [row[at] for row in rows[1:] if at is not None and at < len(row) and row[at].strip()]
    named = bool(cells) and all(re.search(r"[A-Za-z]", cell) for cell in cells)
    return at if named else None


def _unit_of(rows: Sequence[Sequence[str]], at: int) -> str:
    for row in rows:
        if at < len(row) and row[at].strip():
            try:
                value, unit = with_unit(row[at])
            except ValueError:
                return ""
            if not math.isnan(value) and unit:
                return "" if unit == "B" else unit
    return ""


def _cell(text: str) -> float:
    try:
        value = with_unit(text)[0]
    except ValueError:
        return math.nan
    return value if math.isfinite(value) else math.nan


def _long(rows: Sequence[Sequence[str]], state: _State) -> None:
    names = rows[0]
    time, value = _column(names, _TIME_NAMES), _column(names, _VALUE_NAMES)
    series = _column(names, _NAME_NAMES)
    host, device_at = _column(names, _HOST_NAMES), _column(names, _DEVICE_NAMES)
    if time is None or value is None or series is None:
        return
    hosts = {row[host] for row in rows[1:] if host is not None and len(row) > host}
    known: dict[str, Named | None] = {}
    for row in rows[1:]:
        if len(row) <= max(time, value, series):
            state.capture.note("cut", "", "a row is cut off and left out")
            state.capture.repaired = True
            continue
        text = row[series].strip()
        if text not in known:
            known[text] = _long_name(text, names, row, state)
        named = known[text]
        at_s = state.time(row[time].strip())
        if named is None or math.isnan(at_s):
            continue
        device = named.device or (row[device_at].strip() if device_at is not None else "") or "all"
        if len(hosts) > 1 and host is not None:
            device = f"{row[host]}/{device}"
        state.add(named, device, at_s, _cell(row[value]))
    state.hosts |= hosts


def _long_name(text: str, names: Sequence[str], row: Sequence[str], state: _State) -> Named | None:
    labels = {name.strip(): cell for name, cell in zip(names, row, strict=False)}
    found = legends.of_metric(text, labels)
    if found is not None:
        state.kinds.add("prometheus")
        return found
    return state.named(text)


def _is_long(names: Sequence[str]) -> bool:
    return (
        _column(names, _TIME_NAMES) is not None
        and _column(names, _VALUE_NAMES) is not None
        and _column(names, _NAME_NAMES) is not None
    )


def _recognises(head: str) -> float:
    lines = head.lstrip("\ufeff").splitlines()[:3]
    if not lines:
        return 0.0
    try:
        rows = rows_of("\n".join(lines))
    except csv.Error:
        return 0.0
    if not rows or len(rows[0]) < 2 or "PDH" in rows[0][0] or "Dstat" in head[:200]:
        return 0.0
    if _is_long(rows[0]):
        return 0.6
    if _column(rows[0], _TIME_NAMES) is None:
        return 0.0
    return 0.5 if any(legends.identify(name) for name in rows[0]) else 0.25


def _dates(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    at = _column(rows[0], _TIME_NAMES) or 0
    return (row[at] for row in rows[1:] if len(row) > at)


def _read(sources: Sequence[Source], options: Options) -> Capture:
    capture = Capture("csv")
    state = _State(capture, options)
    for source in sources:
        rows = rows_of(source.text())
        state.order, _ = clock.order_of(_dates(rows))
        (_long if _is_long(rows[0]) else _wide)(rows, state)
    return finish(state.points, state.kinds, state.unknown, state.hosts, capture)


def finish(
    points: Points, kinds: set[str], unknown: Sequence[str], hosts: set[str], capture: Capture
) -> Capture:
    """The capture of what was found.

    Raises:
        RefusedError: No series is known.
    """
    order = ("zabbix", "perfmon", "pcp", "prometheus", "grafana")
    capture.source = next((name for name in order if name in kinds), capture.source)
    if len(hosts) == 1:
        capture.host = next(iter(hosts))
    points.finish(capture)
    if unknown:
        shown = ", ".join(f'"{name}"' for name in unknown[:3])
        capture.note("unknown-column", shown, "not known as figures of a disk, and left out")
    if not capture.series:
        raise RefusedError(
            "no column is known as a figure of a disk"
            + (f": {', '.join(unknown[:4])}" if unknown else ""),
            remedy='--columns "NAME=sda:read_iops" says what one is',
            needs="columns",
            source=capture.source,
        )
    return capture


def columns_of(text: str) -> Mapping[str, str]:
    """The option `--columns`: `NAME=sda:read_iops`, several apart by commas or semicolons.

    Raises:
        ValueError: A part is not of that form; says what is allowed.
    """
    found = {}
    for part in re.split(r"[;,](?=[^;,]*=)", text):
        name, equals, sense = part.strip().rpartition("=")
        if not equals or sense.rpartition(":")[2] not in KEYS:
            raise ValueError(f"NAME=DEVICE:WHAT, WHAT one of {', '.join(KEYS)}")
        found[name.strip().strip("'\"")] = sense
    return found


READER = Reader("csv", "CSV of Grafana, Prometheus, Zabbix or pcp", _recognises, _read)
