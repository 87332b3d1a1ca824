"""Answers of Prometheus to queries, as JSON: ranges and instants."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from raidlab.calibration.monitoring import legends
from raidlab.calibration.monitoring.counters import Counter, rates
from raidlab.calibration.monitoring.legends import Named
from raidlab.calibration.monitoring.points import Points
from raidlab.calibration.monitoring.readers.delimited import KEYS
from raidlab.calibration.monitoring.readers.reader import Options, Reader
from raidlab.calibration.monitoring.readers.trees import trees_of
from raidlab.calibration.monitoring.samples import Capture, RefusedError, Unnamed
from raidlab.calibration.monitoring.source import Source


@dataclass(frozen=True)
class _Result:
    labels: Mapping[str, str]
    values: Sequence[tuple[float, float]]

    @property
    def host(self) -> str | None:
        return next(
            (self.labels[k] for k in ("instance", "host", "node") if k in self.labels), None
        )

    @property
    def device(self) -> str:
        keys = ("device", "disk", "volume", "name")
        return next((self.labels[k] for k in keys if k in self.labels), "all").removeprefix("/dev/")


@dataclass
class _State:
    points: Points = field(default_factory=Points)
    unnamed: dict[str, Unnamed] = field(default_factory=dict)
    others: list[str] = field(default_factory=list)


def _results(tree: Any) -> Iterator[_Result]:
    """Series of an answer, wherever in the document they are."""
    if isinstance(tree, list):
        for each in tree:
            yield from _results(each)
    elif isinstance(tree, dict):
        if "metric" in tree and ("values" in tree or "value" in tree):
            pairs = tree["values"] if "values" in tree else [tree["value"]]
            if "timestamps" in tree:
                # VictoriaMetrics' export: lists of values and of milliseconds.
                pairs = [
                    (int(at) / 1000, value)
                    for at, value in zip(tree["timestamps"], pairs, strict=False)
                ]
            labels = {str(k): str(v) for k, v in dict(tree["metric"]).items()}
            yield _Result(labels, [(float(pair[0]), _number(pair[1])) for pair in pairs])
        else:
            for value in tree.values():
                if isinstance(value, dict | list):
                    yield from _results(value)


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        return math.nan


_SERIES = re.compile(r"^(?P<series>[A-Za-z_:][\w:]*(?:\{.*\})?|\{.*\})\s*=>(?P<rest>.*)$")
_POINT = re.compile(r"(?P<value>\S+)\s+@\[(?P<at>[\d.]+)\]")


def _promtool(source: Source) -> Iterator[_Result]:
    """`promtool query`: a line for each series, its values behind or below it."""
    labels: dict[str, str] = {}
    values: list[tuple[float, float]] = []
    for line in source.lines():
        found = _SERIES.match(line)
        if found is not None:
            if values:
                yield _Result(labels, values)
            name, _, inside = found["series"].partition("{")
            labels = dict(re.findall(r"(\w+)=\"((?:[^\"\\]|\\.)*)\"", inside))
            labels |= {"__name__": name} if name else {}
            values = []
        point = _POINT.search(found["rest"] if found is not None else line)
        if point is not None:
            values.append((float(point["at"]), _number(point["value"])))
    if values:
        yield _Result(labels, values)


def _is_promtool(head: str) -> bool:
    lines = head.lstrip().splitlines()[:2]
    return bool(lines) and _SERIES.match(lines[0]) is not None and "@[" in " ".join(lines)


def _recognises(head: str) -> float:
    if _is_promtool(head):
        return 0.95
    if '"resultType"' in head or (re.search(r'"metric"\s*:\s*\{', head) and '"values' in head):
        return 0.9
    return 0.0


def _read(sources: Sequence[Source], options: Options) -> Capture:
    capture = Capture("prometheus", zone="Z")
    results: list[_Result] = []
    for source in sources:
        if _is_promtool(source.head.lstrip("\ufeff")):
            results += _promtool(source)
            continue
        trees = trees_of(source, capture)
        errors = [
            t.get("error") for t in trees if isinstance(t, dict) and t.get("status") == "error"
        ]
        if errors:
            raise RefusedError(f"the answer is an error: {errors[0]}", source="prometheus")
        results += [each for tree in trees for each in _results(tree)]
    state = _State()
    several = len({each.host for each in results}) > 1
    for each in results:
        _add(each, state, options, several=several)
    if len({each.host for each in results}) == 1:
        capture.host = results[0].host
    state.points.finish(capture)
    if state.unnamed and not capture.series:
        raise RefusedError(
            "the series have no __name__: an answer to rate(...) does not say what was asked",
            remedy="--metric read_iops (or another) says it",
            needs="metric",
            source="prometheus",
            unnamed=state.unnamed,
        )
    if state.unnamed:
        names = ", ".join(list(state.unnamed)[:3])
        capture.note("unnamed", names, "series without a name were left out")
    if not capture.series:
        _refuse_empty(results, state)
    return capture


def _refuse_empty(results: Sequence[_Result], state: _State) -> None:
    if state.points.values:
        raise RefusedError(
            "one value of each counter only: it covers the time since boot; ask for a range",
            source="prometheus",
        )
    shown = ", ".join(sorted(set(state.others))[:3])
    raise RefusedError(
        f"no metric of a disk is in it: {shown}" if results else "the answer holds no series",
        source="prometheus",
    )


def _add(each: _Result, state: _State, options: Options, *, several: bool) -> None:
    device = f"{each.host}/{each.device}" if several and each.host else each.device
    name = each.labels.get("__name__", "")
    named: Named | None = legends.of_metric(name, each.labels) if name else None
    if not name and options.metric is not None:
        named = Named(None, KEYS[options.metric])
    if not name and named is None:
        state.unnamed[device] = _unnamed(each.values)
        return
    if named is None:
        named = legends.of_legend(name.replace("_", " "))
        if named is None:
            state.others.append(name)
            return
        named = replace(named, device=None)
    for at, value in each.values:
        value = value * named.scale if math.isfinite(value) else math.nan
        if isinstance(named.key, Counter) and named.per_s:
            for quantity, rate in rates({named.key: value}, 1.0).items():
                state.points.add(device, quantity, at, rate)
            continue
        if isinstance(named.key, Counter):
            state.points.units[named.key] = named.scale
        state.points.add(device, named.key, at, value)


def _unnamed(values: Sequence[tuple[float, float]]) -> Unnamed:
    good = [value for _, value in values if math.isfinite(value)]
    nan = sum(math.isnan(value) for _, value in values)
    inf = sum(math.isinf(value) for _, value in values)
    return Unnamed(len(good), sum(good) / len(good) if good else None, nan, inf, bool(nan or inf))


READER = Reader("prometheus", "answers of Prometheus as JSON", _recognises, _read)
