"""Zabbix' answers as JSON: items with their keys, and history or trends by item."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from raidlab.calibration.monitoring import legends
from raidlab.calibration.monitoring.counters import Counter
from raidlab.calibration.monitoring.points import Points
from raidlab.calibration.monitoring.readers.delimited import finish
from raidlab.calibration.monitoring.readers.reader import Options, Reader
from raidlab.calibration.monitoring.readers.trees import trees_of
from raidlab.calibration.monitoring.samples import Capture, RefusedError
from raidlab.calibration.monitoring.source import Source


def _objects(tree: Any) -> Iterator[Mapping[str, object]]:
    if isinstance(tree, list):
        for each in tree:
            yield from _objects(each)
    elif isinstance(tree, dict):
        yield tree
        for value in tree.values():
            if isinstance(value, dict | list):
                yield from _objects(value)


def _recognises(head: str) -> float:
    if '"itemid"' in head and '"clock"' in head:
        return 0.9
    return 0.8 if '"key_"' in head else 0.0


def _read(sources: Sequence[Source], options: Options) -> Capture:
    capture = Capture("zabbix", zone="Z")
    objects: list[Mapping[str, object]] = []
    for source in sources:
        trees = trees_of(source, capture)
        objects += [each for tree in trees for each in _objects(tree)]
    keys = {
        str(each["itemid"]): str(each.get("key_") or each.get("key"))
        for each in objects
        if "itemid" in each and (each.get("key_") or each.get("key"))
    }
    hosts = {str(each["host"]) for each in objects if isinstance(each.get("host"), str)}
    points, unknown = Points(), []
    for each in objects:
        if "clock" not in each or not ("value" in each or "value_avg" in each):
            continue
        key = keys.get(str(each.get("itemid")), str(each.get("key_") or each.get("key") or ""))
        if not key:
            raise RefusedError(
                "history without keys: give the answer of item.get beside it",
                needs="items",
                source="zabbix",
            )
        named = legends.of_zabbix(key)
        if named is None:
            unknown += [] if key in unknown else [key]
            continue
        value = float(str(each.get("value", each.get("value_avg", "nan")))) * named.scale
        if isinstance(named.key, Counter):
            points.units[named.key] = named.scale
        points.add(named.device or "all", named.key, float(str(each["clock"])), value)
    return finish(points, {"zabbix"}, unknown, hosts, capture)


READER = Reader("zabbix", "Zabbix' history as JSON", _recognises, _read)
