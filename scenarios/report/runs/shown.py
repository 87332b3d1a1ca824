"""A result in a few lines: in a terminal, and as a notebook shows it."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from textwrap import shorten

from raidlab.scenarios.report.look import LINES
from raidlab.scenarios.report.runs import answers
from raidlab.scenarios.results.number_text import between, digits, figure, joined
from raidlab.scenarios.results.outcome import Outcome

_WIDEST_WARNING = 90
"""Characters of the first warning."""
_LINES = 4
"""Workloads that are named; further ones are counted."""
_WIDTH, _HEIGHT = 360, 150
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 12, 10, 30
"""Of the picture, in pixels: its size, and what is left for the axes."""

Line = tuple[str, Sequence[float], Sequence[float]]
"""Name, places, values."""


def text(result: Outcome) -> str:
    """A line for the run and one for each workload."""
    count = len(result.results)
    of = f"seed {result.seed}, {count} row{'s' * (count != 1)}, raidlab {result.version}"
    lines = [f"<Result {result.title!r}: {of}{', interrupted' * result.interrupted}"]
    found = answers.curves(result.summary())
    for curve in found[:_LINES]:
        rates = [row["iops"] for row in curve.rows]
        latencies = [row["latency_us"]["p99"] for row in curve.rows if row["latency_us"]]
        depths = list(dict.fromkeys(row["outstanding"] for row in curve.rows))
        load = f"{depths[0]} to {depths[-1]} outstanding" if len(depths) > 1 else "open load"
        if len(depths) == 1 and depths[0]:
            load = f"{depths[0]} outstanding"
        rate = _range(rates, "IO/s")
        p99 = f", p99 {_range(latencies, 'us')}" if latencies else ""
        lines.append(f"  {curve.name}: {load}, {rate}{p99}")
    if len(found) > _LINES:
        lines.append(f"  and {len(found) - _LINES} more workloads")
    for what, entries in (("warning", result.warnings), ("failed self-check", result.breaches)):
        if entries:
            first = shorten(entries[0], _WIDEST_WARNING, placeholder=" ...")
            lines.append(f"  {len(entries)} {what}{'s' * (len(entries) > 1)}: {first}")
    return "\n".join(lines) + ">"


def _range(values: Sequence[float], unit: str) -> str:
    low, high = min(values), max(values)
    return figure(low, unit) if low == high else between(low, high, unit)


def html(result: Outcome) -> str:
    """The page's answer, its figures and a picture: a few kilobytes without any script."""
    boxes = "".join(
        f"<span style='margin-right:2em'><b>{escape(joined(box.value))}</b>"
        f" {escape(joined(box.text))}</span>"
        for box in answers.boxes(result)
    )
    notes = [*result.breaches, *result.warnings]
    listed = "".join(f"<li>{escape(note)}</li>" for note in notes)
    number = f"{len(notes)} warning{'s' * (len(notes) > 1)}"
    folded = f"<details><summary>{number}</summary><ul>{listed}</ul></details>" if notes else ""
    return (
        f"<div><b>{escape(result.title)}</b>"
        f"<p>{escape(joined(answers.answer(result)))}</p>"
        f"<p>{boxes}</p>{_picture(result)}{folded}</div>"
    )


def _picture(result: Outcome) -> str:
    """Rate over queue depth; over time where there is only one depth."""
    found = answers.curves(result.summary())
    if not found:
        return ""
    if max(len(curve.rows) for curve in found) > 1:
        lines: list[Line] = [
            (
                curve.name,
                [row["outstanding"] for row in curve.rows],
                [row["iops"] for row in curve.rows],
            )
            for curve in found
        ]
        return _drawn(lines, "queue depth")
    over_time = [(curve.name, curve.rows[0]["timeline"]) for curve in found]
    return _drawn([(name, line["t_s"], line["iops"]) for name, line in over_time], "s")


def _drawn(lines: Sequence[Line], axis: str) -> str:
    """A small picture of lines over a common axis, places apart evenly."""
    places = sorted({place for _, at, _ in lines for place in at})
    top = max((value for _, _, values in lines for value in values), default=0.0)
    if len(places) < 2 or top <= 0:
        return ""
    across = {
        place: _LEFT + (_WIDTH - _LEFT - _RIGHT) * number / (len(places) - 1)
        for number, place in enumerate(places)
    }

    def height(value: float) -> float:
        return _HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * value / top

    drawn = [
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{_WIDTH}' height='{_HEIGHT}'"
        " font-family='sans-serif' font-size='11' fill='currentColor' role='img'"
        f" aria-label='IO/s over {escape(axis)}'>",
        f"<path d='M{_LEFT} {_TOP}V{_HEIGHT - _BOTTOM}H{_WIDTH - _RIGHT}' fill='none'"
        " stroke='currentColor' opacity='0.4'/>",
    ]
    for value in (0.0, top):
        label = f"{digits(value)} IO/s" if value == 0 else digits(value)
        drawn.append(
            f"<text x='{_LEFT - 4}' y='{height(value) + 4:.0f}' text-anchor='end'>{label}</text>"
        )
    ends = ((places[0], "start"), (places[-1], "end"))
    for place, anchor in ends:
        drawn.append(
            f"<text x='{across[place]:.0f}' y='{_HEIGHT - 14}' text-anchor='{anchor}'>"
            f"{place:g}</text>"
        )
    middle = (_LEFT + _WIDTH - _RIGHT) / 2
    drawn.append(
        f"<text x='{middle:.0f}' y='{_HEIGHT - 4}' text-anchor='middle'>{escape(axis)}</text>"
    )
    for number, (name, at, values) in enumerate(lines):
        colour = LINES[number % len(LINES)]
        points = " ".join(
            f"{across[place]:.1f},{height(value):.1f}"
            for place, value in zip(at, values, strict=True)
        )
        drawn.append(
            f"<polyline points='{points}' fill='none' stroke='{colour}' stroke-width='2'>"
            f"<title>{escape(name)}</title></polyline>"
        )
    return "".join([*drawn, "</svg>"])
