"""Grafana's data frames as JSON: answers of `/api/ds/query`, and the data of a panel.

A frame has fields: one of times in milliseconds, and one for each series with labels and a name.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from raidlab.calibration.monitoring import legends
from raidlab.calibration.monitoring.counters import Counter, rates
from raidlab.calibration.monitoring.legends import Named
from raidlab.calibration.monitoring.points import Points
from raidlab.calibration.monitoring.readers.delimited import KEYS, finish
from raidlab.calibration.monitoring.readers.reader import Options, Reader
from raidlab.calibration.monitoring.readers.trees import trees_of
from raidlab.calibration.monitoring.samples import Capture
from raidlab.calibration.monitoring.source import Source
from raidlab.devices.trees import table_of


@dataclass(frozen=True)
class _Field:
    """A column of a frame."""

    names: Sequence[str]
    """What it may be called, the most telling first."""
    labels: Mapping[str, str]
    values: Sequence[Any]
    is_time: bool


def _frames(tree: Any) -> Iterator[list[_Field]]:
    if isinstance(tree, list):
        for each in tree:
            yield from _frames(each)
    elif isinstance(tree, dict):
        schema = tree.get("schema")
        if isinstance(schema, dict) and isinstance(tree.get("data"), dict):
            columns = tree["data"].get("values") or []
            fields = schema.get("fields") or []
            yield [_field(f, v, schema.get("name")) for f, v in zip(fields, columns, strict=False)]
        elif isinstance(tree.get("fields"), list):
            yield [
                _field(f, _plain(f.get("values")), tree.get("name"))
                for f in tree["fields"]
                if isinstance(f, dict)
            ]
        else:
            for value in tree.values():
                yield from _frames(value)


def _plain(values: Any) -> Sequence[Any]:
    """Older versions wrap values in an object with a buffer."""
    if isinstance(values, dict):
        values = values.get("buffer") or values.get("values")
    return values if isinstance(values, list) else []


def _field(field: Mapping[str, object], values: Sequence[Any], frame: Any) -> _Field:
    config, state = table_of(field.get("config")), table_of(field.get("state"))
    labels = {str(k): str(v) for k, v in table_of(field.get("labels")).items()}
    names = [config.get("displayName"), config.get("displayNameFromDS"), state.get("displayName"),
             labels.get("__name__"), frame, field.get("name")]  # fmt: skip
    is_time = field.get("type") == "time" or str(field.get("name")).lower() == "time"
    return _Field([str(name) for name in names if name], labels, values, is_time)


def _recognises(head: str) -> float:
    if '"fields"' not in head:
        return 0.0
    return 0.9 if '"schema"' in head or '"refId"' in head else 0.5


def _named(field: _Field, options: Options) -> Named | None:
    for name in field.names:
        said = options.columns.get(name)
        if said is not None:
            device, _, key = said.rpartition(":")
            return Named(device or None, KEYS[key])
    for name in field.names:
        found = legends.of_metric(name, field.labels) or legends.identify(name)
        if found is not None:
            return found
    return None


def _add(field: _Field, times: Sequence[Any], named: Named, device: str, points: Points) -> None:
    for at, value in zip(times, field.values, strict=False):
        number = float(value) * named.scale if isinstance(value, int | float) else math.nan
        seconds = float(at) / 1000
        if isinstance(named.key, Counter) and named.per_s:
            for quantity, rate in rates({named.key: number}, 1.0).items():
                points.add(device, quantity, seconds, rate)
            continue
        if isinstance(named.key, Counter):
            points.units[named.key] = named.scale
        points.add(device, named.key, seconds, number)


def _read(sources: Sequence[Source], options: Options) -> Capture:
    capture = Capture("grafana", zone="Z")
    points, unknown = Points(), list[str]()
    for source in sources:
        trees = trees_of(source, capture)
        for fields in (frame for tree in trees for frame in _frames(tree)):
            times = next((each.values for each in fields if each.is_time), [])
            for field in fields:
                if field.is_time:
                    continue
                named = _named(field, options)
                label = field.names[0] if field.names else ""
                if named is None:
                    unknown += [] if label in unknown else [label]
                    continue
                keys = ("device", "disk", "volume")
                of_label = next((field.labels[k] for k in keys if k in field.labels), "all")
                _add(field, times, named, named.device or of_label, points)
    return finish(points, {"grafana"}, unknown, set(), capture)


READER = Reader("grafana-json", "Grafana's data as JSON", _recognises, _read)
