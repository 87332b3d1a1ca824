"""An answer's spread over five seeds: boxes as spans, curves as bands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import plotly.graph_objects as go

from raidlab.notebooks.frame.figures import Box, spanned
from raidlab.notebooks.frame.room import Answer, Picture, Room, Values
from raidlab.notebooks.frame.running import progress
from raidlab.scenarios.report.page import Box as PageBox

SEEDS = 5
"""Runs of a band."""
_COLOR = "rgba(86,180,233,0.35)"


def of_five(room: Room, values: Values, seed: int) -> Answer:
    """The answer of a seed, with the spread of it and the next four.

    Raises:
        SpecError: The setting cannot be simulated.
    """
    answers = []
    for step in range(SEEDS):
        progress(step, SEEDS)
        answers.append(room.answer(values, seed + step))
    return banded(answers)


def banded(answers: Sequence[Answer]) -> Answer:
    """The first answer, its numbers and curves with the spread of all."""
    first = answers[0]
    boxes = [
        _box([each.boxes[at] for each in answers if at < len(each.boxes)])
        for at in range(len(first.boxes))
    ]
    pictures = [
        _picture([each.pictures[at] for each in answers if at < len(each.pictures)])
        for at in range(len(first.pictures))
    ]
    sentence = (
        f"{len(answers)} seeds: boxes say the least and the largest. Of the first seed: "
        f"{first.sentence}"
    )
    return replace(first, sentence=sentence, boxes=boxes, pictures=pictures)


def _box(boxes: Sequence[PageBox]) -> PageBox:
    first = boxes[0]
    numbers = [each.number for each in boxes if isinstance(each, Box) and each.number is not None]
    if not isinstance(first, Box) or len(numbers) < SEEDS:
        return first
    return replace(first, value=spanned(numbers, first.unit))


def _picture(pictures: Sequence[Picture]) -> Picture:
    first = pictures[0].figure
    if first is None or any(each.figure is None for each in pictures):
        return pictures[0]
    drawn = go.Figure(layout=first.layout)
    # Little of a band is hidden if it lies below all curves.
    for at in range(len(first.data)):
        for edge in _edges([each.figure.data[at : at + 1] for each in pictures if each.figure]):
            drawn.add_trace(edge)
        _widen(drawn)
    for trace in first.data:
        drawn.add_trace(trace)
    return replace(pictures[0], figure=drawn)


def _edges(traces: Sequence[tuple[Any, ...]]) -> list[go.Scatter]:
    """The lower and the upper edge of a curve's band; none for what is no simulated curve."""
    if not all(traces):
        return []
    curves = [trace[0] for trace in traces]
    first = curves[0]
    lined = first.type == "scatter" and "lines" in (first.mode or "") and first.name
    if not lined or first.line.dash:
        return []
    # The band is along the axis on which the seeds differ.
    for fixed, free in (("x", "y"), ("y", "x")):
        if all(list(curve[fixed]) == list(first[fixed]) for curve in curves):
            return _band(curves, fixed, free)
    return []


def _band(curves: Sequence[Any], fixed: str, free: str) -> list[go.Scatter]:
    columns = list(zip(*(curve[free] for curve in curves), strict=True))
    if any(value is None for column in columns for value in column):
        return []
    look = {"mode": "lines", "line": {"width": 0}, "hoverinfo": "skip", fixed: curves[0][fixed]}
    filled = {"fill": "tonexty", "fillcolor": _COLOR}
    return [
        go.Scatter({free: [min(column) for column in columns]} | look),
        go.Scatter({free: [max(column) for column in columns]} | look | filled),
    ]


def _widen(drawn: go.Figure) -> None:
    """A linear y axis reaches the band's upper edge."""
    axis = drawn.layout.yaxis
    if axis.type == "log" or axis.range is None or not drawn.data:
        return
    top = max(max(trace.y) for trace in drawn.data)
    if top > axis.range[1]:
        drawn.update_yaxes(range=[axis.range[0], 1.06 * top])
