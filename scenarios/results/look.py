"""How results look: numbers, columns, colours and the frame of a picture.

Terminal tables and pages share this module, so that a quantity has one name, one unit and one
number of digits everywhere. Importing it loads no drawing library.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, NotRequired, TypedDict

if TYPE_CHECKING:
    import plotly.graph_objects as go


class Unsure(float):
    """A number that too few samples back: `~1.24`."""


Cell = str | int | float | None

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

_NAMES = {
    "nand_read": "NAND read",
    "nand_program": "NAND program",
    "overhead": "drive overhead",
    "limit_wait": "waiting for the limit",
    "share_wait": "waiting for other tenants",
    "host_wait": "waiting for the host",
    "link_wait": "waiting for a link",
    "controller_wait": "waiting for the controller",
    "cache_wait": "waiting for the cache",
    "queue": "waiting in the queue",
}


def part_name(part: str) -> str:
    """A part of an I/O's time in words."""
    return _NAMES.get(part, part.replace("_", " "))


_SCALES: dict[str, Sequence[tuple[float, str]]] = {
    "us": ((1e6, "s"), (1e3, "ms"), (1.0, "us")),
    "ms": ((1e3, "s"), (1.0, "ms"), (1e-3, "us")),
    "s": ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")),
    "MB/s": ((1e3, "GB/s"), (1.0, "MB/s")),
    "h": ((1.0, "h"), (1 / 60, "min")),
    "B": ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B")),
}
_MILLION = 999_999.5


def digits(value: float | None) -> str:
    """Three significant digits; from 1,000 on whole, with thousands set apart; - for none."""
    if value is None:
        return "-"
    if value == 0 or not math.isfinite(value):
        return f"{value:.0f}"
    size = abs(value)
    if size >= 999.5:
        return f"{value:,.0f}"
    rounded = float(f"{value:.3g}")
    if size < 1e-4:
        return f"{rounded:g}"
    return f"{rounded:.{max(0, 2 - math.floor(math.log10(abs(rounded))))}f}"


def figure(value: float | None, unit: str = "") -> str:
    """A number with its unit for a sentence or a box: `4,107 IO/s`, `1.24 M IO/s`, `870 us`."""
    if value is None:
        return "–"
    scale, unit = shown_unit(value, unit)
    return f"{_number(value, scale)} {unit}".rstrip()


def _number(value: float, scale: float) -> str:
    """A number in a unit of which one is `scale`; whole ones stay whole."""
    value = value if scale == 1 else value / scale
    return f"{value:,}" if isinstance(value, int) else digits(value)


def shown_unit(value: float, unit: str = "") -> tuple[float, str]:
    """How many of `unit` the unit has in which `figure` shows a value, and its name."""
    found, name = 1.0, unit
    for scale, other in _SCALES.get(unit, ()) if value else ():
        if abs(value) >= 0.9995 * scale or scale == _SCALES[unit][-1][0]:
            found, name = scale, other
            break
    if abs(value / found) >= _MILLION:
        found, name = found * 1e6, f"M {name}".rstrip()
    return found, name


def between(first: float, last: float, unit: str = "") -> str:
    """Two numbers with their unit: `49.6 to 167 ms`, `870 us to 1.20 ms`."""
    scale, name = shown_unit(first, unit)
    one = _number(first, scale) if name == shown_unit(last, unit)[1] else figure(first, unit)
    return f"{one} to {figure(last, unit)}"


def percent(share: float) -> str:
    """A share of one in percent: `87 %`."""
    return f"{100 * share:.3g} %" if share < 0.0995 else f"{100 * share:.0f} %"


def times(factor: float) -> str:
    """A factor in words: `2.4 times`, `138 times`."""
    return f"{factor:,.0f} times" if factor >= 9.95 else f"{factor:.2g} times"


def spread(value: float, low: float | None, high: float | None) -> str:
    """What stands behind a value for its 95 % interval: ` ± 11`.

    Nothing if the interval is not known, or smaller than the value's last digit.
    """
    if low is None or high is None:
        return ""
    places = len(digits(value).partition(".")[2])
    text = f"{(high - low) / 2:,.{places}f}"
    return f" ± {text}" if float(text.replace(",", "")) else ""


def with_spread(value: float, low: float | None, high: float | None, unit: str) -> str:
    """A value, its 95 % interval as of `spread`, and the unit of both: `1.24 ± 0.02 M IO/s`."""
    scale, name = shown_unit(value, unit)
    ends = [None if end is None else end / scale for end in (low, high)]
    return f"{_number(value, scale)}{spread(value / scale, ends[0], ends[1])} {name}"


_UNITS = re.compile(
    r"(?<=\d) (?=(?:%|[num]?s|h|min|(?:[kMGT]|[KMGT]i)?B(?:/s)?|IO/s|outstanding)(?![\w]))"
    r"|(?<=\bRAID) (?=\d)"
)


def joined(text: str) -> str:
    """A sentence whose numbers stay in one line with their units, and RAID with its level."""
    return _UNITS.sub("\u00a0", text).replace("± ", "±\u00a0")


class Kind(Enum):
    """What a column holds, which says where its cells stand and whether they may be cut."""

    NUMBER = "number"
    """To the right."""
    TEXT = "text"
    """To the left; shortened in the middle where there is no room."""
    PROSE = "prose"
    """To the left, on as many lines as it takes."""


@dataclass(frozen=True)
class Column:
    """A column of a table, in a terminal and on a page."""

    name: str
    unit: str = ""
    kind: Kind = Kind.NUMBER
    priority: int = 1
    """1 is never left out; what has the largest number is left out first."""
    width: int = 8
    """Characters that a text has at least."""

    @property
    def head(self) -> str:
        """Name and unit."""
        return f"{self.name} {self.unit}".rstrip()


@dataclass(frozen=True)
class Table:
    """Rows under declared columns, for a terminal and for a page."""

    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    marked: Collection[int] = field(default=())
    """Rows that the answer is about."""
    most: int | None = None
    """Rows that a terminal shows unless it is asked for all."""
    note: str = ""

    def shown(self) -> Table:
        """Without columns in which nothing stands, and without a workload that all rows share."""
        keep = [
            at
            for at, column in enumerate(self.columns)
            if any(row[at] not in (None, "") for row in self.rows)
            and not (column.name == "workload" and len({row[at] for row in self.rows}) == 1)
        ]
        if not self.rows:
            keep = list(range(len(self.columns)))
        return replace(
            self,
            columns=[self.columns[at] for at in keep],
            rows=[[row[at] for at in keep] for row in self.rows],
        )


def cells(values: Iterable[Cell], digit: str = " ", point: str = " ", none: str = "-") -> list[str]:
    """A column of numbers as text, aligned at the decimal point.

    Args:
        values: Numbers; text stays as it is.
        digit: As wide as a digit, put where one is missing.
        point: As wide as a decimal point.
        none: Where there is no value.
    """
    plain = [_cell(value, none) for value in values]
    after = max((len(text.partition(".")[2]) for text in plain if _is_number(text)), default=0)
    if not after:
        return plain
    return [
        text
        if not _is_number(text)
        else text + digit * (after - len(text.partition(".")[2])) + ("" if "." in text else point)
        for text in plain
    ]


def _cell(value: Cell, none: str) -> str:
    if value is None:
        return none
    if isinstance(value, str):
        return value
    if isinstance(value, Unsure):
        return f"~{digits(value)}"
    return f"{value:,}" if isinstance(value, int) else digits(value)


def _is_number(text: str) -> bool:
    return text.replace(",", "").replace(".", "").lstrip("~+-").isdigit()


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


def dress(figure: go.Figure, *, height: int = 300, labels: int = 24) -> go.Figure:
    """The frame that all pictures share; `labels` are the pixels for names at the lines' ends.

    A legend hangs from the upper edge of the picture: one that stands on the plot slides into it
    when a page becomes narrower and the names need a further row.
    """
    figure.update_layout(
        template="none",
        height=height,
        margin={"l": 64, "r": labels, "t": 8, "b": 48},
        font={"family": "system-ui, sans-serif", "size": 14},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        hovermode="closest",
        showlegend=False,
        legend={
            "orientation": "h",
            "x": 0,
            "y": 1,
            "yanchor": "top",
            "xref": "container",
            "yref": "container",
        },
    )
    figure.update_xaxes(title_font_size=14)
    figure.update_yaxes(title_font_size=14)
    figure.update_xaxes(showgrid=False, zeroline=False, ticks="outside", ticklen=4, automargin=True)
    figure.update_yaxes(gridcolor="#D7DEE6", zeroline=False, automargin=True, ticklabelstandoff=4)
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
