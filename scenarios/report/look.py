"""How pictures look: colours, axes and the frame of a picture.

Importing it loads no drawing library.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, NotRequired, TypedDict

if TYPE_CHECKING:
    import plotly.graph_objects as go


BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
YELLOW, BLUE, VERMILLION, PINK = "#F0E442", "#0072B2", "#D55E00", "#CC79A7"
GREY, WAITING = "#9AA3AD", "#C3C9D0"
"""Okabe's and Ito's colours, and two greys: a limit or reference, and waiting."""

LINES = (BLUE, VERMILLION, GREEN, PINK, BLACK)
MARKS = ("circle", "square", "diamond", "triangle-up", "x")
"""Of the first, second ... line of a picture."""
OUTLINE = "#3A4653"
"""Around bars: yellow, orange and sky blue stand out too little from white."""

PARTS: dict[str, tuple[str, str, str]] = {
    "limit_wait": (WAITING, "x", BLACK),
    "share_wait": (WAITING, "-", BLACK),
    "host": (BLUE, "", ""),
    "host_wait": (WAITING, "/", BLUE),
    "link": (SKY, "", ""),
    "link_wait": (WAITING, "/", SKY),
    "raid": (PINK, "-", BLACK),
    "controller": (PINK, "", ""),
    "controller_wait": (WAITING, "/", PINK),
    "cache": (YELLOW, "", ""),
    "cache_wait": (WAITING, "/", ORANGE),
    "queue": (GREY, "", ""),
    "overhead": (BLACK, "", ""),
    "seek": (VERMILLION, "", ""),
    "rotation": (ORANGE, "", ""),
    "transfer": (GREEN, "", ""),
    "nand_read": ("#FFFFFF", "x", GREEN),
    "nand_program": ("#FFFFFF", "x", VERMILLION),
    "garbage_collection": ("#FFFFFF", "x", ORANGE),
    "service": (SKY, "x", BLACK),
}
"""Parts of an I/O's time from the bottom of a bar upwards: colour, pattern, the pattern's colour.

A wait is grey with stripes of its part; what NAND does is cross-hatched.
"""

TICKS = [float(f"{step}e{power}") for power in range(-6, 9) for step in (1, 2, 5)]


def tick(value: float) -> str:
    """A number beside an axis: 0.5, 10, 1,000, `1 M`."""
    if value >= 1e6:
        return f"{value / 1e6:g} M"
    return f"{value:,.0f}" if value >= 1 else f"{value:g}"


class Axis(TypedDict):
    """A logarithmic axis, as plotly takes it."""

    title_text: str | None
    type: Literal["log"]
    tickvals: list[float]
    ticktext: list[str]
    range: list[float]
    tickangle: NotRequired[int]


class Look(TypedDict):
    """Colour and marker of a line, as plotly takes them."""

    line: dict[str, str | float]
    marker: dict[str, str | float]


def log_axis(values: Iterable[float], title: str) -> Axis:
    """A logarithmic axis from tick to tick around the values, its numbers written out."""
    known = [value for value in values if value and value > 0]
    low = max((each for each in TICKS if each < min(known, default=1) / 1.05), default=TICKS[0])
    high = min((each for each in TICKS if each > max(known, default=1) * 1.05), default=TICKS[-1])
    inside = [each for each in TICKS if low <= each <= high]
    if len(inside) > 7:
        inside = [each for each in inside if f"{each:e}".startswith("1")]
    return {
        "title_text": title,
        "type": "log",
        "tickvals": inside,
        "ticktext": [tick(each) for each in inside],
        "range": [math.log10(low), math.log10(high)],
    }


def depth_axis(depths: Iterable[float], title: str = "outstanding I/Os") -> Axis:
    """The axis of queue depths: logarithmic, each depth written if there is room for it."""
    places = sorted(set(depths))
    low, high = math.log10(places[0]), math.log10(places[-1])
    beside = 0.05 * (high - low) or 0.3
    return {
        "title_text": title,
        "type": "log",
        "tickvals": places,
        "ticktext": [f"{place:,.15g}" for place in places],
        "tickangle": 0,
        "range": [low - beside, high + beside],
    }


def frame(*, height: int = 300, labels: int = 24, legend: int = 0) -> dict[str, object]:
    """The layout that all pictures share.

    `labels` are the pixels for names at the lines' ends, `legend` those for names of the colours.

    A legend hangs from the upper edge of the picture: one that stands on the plot slides into it
    when a page becomes narrower and the names need a further row.
    """
    return {
        "template": "none",
        "height": height,
        "margin": {"l": 64, "r": labels, "t": legend or 8, "b": 48},
        "font": {"family": "system-ui, sans-serif", "size": 14},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "hovermode": "closest",
        "showlegend": legend > 0,
        "legend": {
            "orientation": "h",
            "x": 0,
            "y": 1,
            "yanchor": "top",
            "xref": "container",
            "yref": "container",
        },
    }


X_AXIS = {
    "title_font_size": 14,
    "showgrid": False,
    "zeroline": False,
    "ticks": "outside",
    "ticklen": 4,
    "automargin": True,
}
Y_AXIS = {
    "title_font_size": 14,
    "gridcolor": "#D7DEE6",
    "zeroline": False,
    "automargin": True,
    "ticklabelstandoff": 4,
}
"""What all axes share."""


def dress(figure: go.Figure, *, height: int = 300, labels: int = 24) -> go.Figure:
    """Puts the frame around a figure that is there; one that is made with it takes a tenth."""
    figure.update_layout(frame(height=height, labels=labels))
    figure.update_xaxes(X_AXIS)
    figure.update_yaxes(Y_AXIS)
    return figure


def end_label(figure: go.Figure, at: tuple[float, float], text: str, shift: int = 0) -> None:
    """A line's name to the right of its last point; logarithmic axes want logarithms."""
    figure.add_annotation(
        x=at[0], y=at[1], text=text, xanchor="left", xshift=8, yshift=shift, showarrow=False,
        font={"size": 13}, align="left",
    )  # fmt: skip


def apart(heights: Sequence[float], least: float, top: float = math.inf) -> list[float]:
    """Where labels stand that belong at `heights`, moved so that none covers another."""
    order = sorted(range(len(heights)), key=lambda at: heights[at])
    placed = list(heights)
    for before, at in pairwise(order):
        placed[at] = max(placed[at], placed[before] + least)
    for at in reversed(order):
        placed[at] = min(placed[at], top)
        top = placed[at] - least
    return placed


def line(at: int) -> Look:
    """Colour and marker of the line that is drawn as number `at`."""
    return {
        "line": {"color": LINES[at % len(LINES)], "width": 2.5},
        "marker": {"size": 8, "symbol": MARKS[at % len(MARKS)], "color": LINES[at % len(LINES)]},
    }


def part_marker(part: str, outline: float = 0.3) -> dict[str, object]:
    """How bars of a part of the latency are filled; `outline` in pixels."""
    colour, pattern, stripes = PARTS.get(part, ("#FFFFFF", "", ""))
    fill = {"shape": pattern, "fgcolor": stripes, "bgcolor": colour, "solidity": 0.3}
    return {
        "color": colour,
        "line": {"width": outline, "color": OUTLINE},
        "pattern": fill | {"size": 5} if pattern else {},
    }
