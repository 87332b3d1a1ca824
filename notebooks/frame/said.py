"""What a picture shows, in a sentence: for those who hear a page, and for its table."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TypedDict, TypeGuard

from raidlab.scenarios.results.number_text import digits

_FLAT = 0.02
"""Change below which a curve stays where it is, as a share of its largest value."""
_BARS = 6
"""Named one by one; of more, the longest and the shortest."""


class Trace(TypedDict, total=False):
    """A curve or bars, as plotly has them."""

    type: str
    name: str
    mode: str
    orientation: str
    base: object
    x: Sequence[object]
    y: Sequence[object]
    marker: Mapping[str, object]
    text: Sequence[object]


class Drawn(TypedDict):
    """A picture, as plotly has it."""

    data: Sequence[Trace]


def said(picture: Drawn) -> str:
    """One sentence for each curve, for each colour of dots, and for each colour of bars.

    Args:
        picture: `data` and `layout` as plotly takes them.
    """
    sentences = []
    for trace in picture["data"]:
        name = _plain(trace.get("name", ""))
        if trace.get("type") != "bar" and "lines" in trace.get("mode", "") and name:
            known = [
                (x, y)
                for x, y in zip(trace["x"], trace["y"], strict=True)
                if _is_number(x) and _is_number(y)
            ]
            if len(known) > 1:
                sentences.append(f"{name}: {_course(known)}.")
        elif _is_of_dots(trace) and name and trace["x"]:
            sentences.append(f"{name}: {_dots(trace)}.")
    sentences += _bars([trace for trace in picture["data"] if _has_names(trace)])
    return " ".join(sentences)


def _has_names(trace: Trace) -> bool:
    """Whether its values stand beside names: bars, and dots in rows."""
    named = any(isinstance(each, str) for each in trace.get("y", ()))
    dots = "markers" in trace.get("mode", "") and "lines" not in trace.get("mode", "")
    return trace.get("type") == "bar" or (named and dots and bool(trace.get("name")))


def _is_of_dots(trace: Trace) -> bool:
    return "markers" in trace.get("mode", "") and not _has_names(trace)


def _course(points: Sequence[tuple[float, float]]) -> str:
    values = [y for _, y in points]
    (first_x, first), (last_x, last) = points[0], points[-1]
    top_x, top = max(points, key=lambda point: point[1])
    low_x, low = min(points, key=lambda point: point[1])
    ends = f"from {digits(first)} at {digits(first_x)} to {digits(last)} at {digits(last_x)}"
    if max(values) - min(values) <= _FLAT * max(map(abs, values)):
        return f"stays at about {digits(last)}"
    way = "rises" if last > first else "falls"
    said = f"{way} {ends}"
    margin = _FLAT * max(map(abs, values))
    if top > max(first, last) + margin:
        said += f", with its highest value {digits(top)} at {digits(top_x)}"
    if low < min(first, last) - margin:
        said += f", with its lowest value {digits(low)} at {digits(low_x)}"
    return said


def _dots(trace: Trace) -> str:
    if texts := trace.get("text"):
        places = zip(texts, trace["x"], strict=True)
        return ", ".join(f"{_plain(str(text))} at {_plain(str(x))}" for text, x in places)
    said = [f"{len(trace['x']):,} dots"]
    if trace.get("marker", {}).get("symbol") != "square":  # A map's places have no unit.
        for way, values in (("across", trace["x"]), ("up", trace["y"])):
            known = [each for each in values if _is_number(each)]
            if known:
                said.append(f"{way} from {digits(min(known))} to {digits(max(known))}")
    return ", ".join(said)


def _bars(traces: Sequence[Trace]) -> Iterator[str]:
    for trace in traces:
        if trace.get("type") == "bar" and trace.get("orientation") != "h":
            continue
        base = trace.get("base")
        if isinstance(base, list):
            spans = zip(trace["y"], base, trace["x"], strict=True)
            ends = (f"{y} from {digits(at)} to {digits(at + x)}" for y, at, x in spans)
            yield f"{_plain(trace.get('name', ''))}: {', '.join(ends)}."
            continue
        rows = [
            (_plain(str(y)), x)
            for x, y in zip(trace["x"], trace["y"], strict=True)
            if _is_number(x)
        ]
        if not rows:
            continue
        name = _plain(trace.get("name", ""))
        if len(rows) > _BARS:
            rows = [max(rows, key=lambda row: row[1]), min(rows, key=lambda row: row[1])]
        yield f"{name}: " + ", ".join(f"{row} {digits(value)}" for row, value in rows) + "."


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _plain(text: str) -> str:
    return re.sub(r"<[^>]*>", "", text)
