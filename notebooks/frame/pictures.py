"""Pictures that rooms share, in the look of all pages (`raidlab.scenarios.report.look`)."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from raidlab.scenarios.report.chart import Figure, chart, draw_bars, draw_curve, write_note
from raidlab.scenarios.report.look import (
    BLACK,
    BLUE,
    GREY,
    PARTS,
    apart,
    depth_axis,
    end_label,
    line,
    log_axis,
    part_marker,
)
from raidlab.scenarios.results.number_text import digits, part_name
from raidlab.scenarios.results.row import IoRow
from raidlab.scenarios.spec.run_result import Stage

_LEAST_SHARE = 0.02
"""Share of the longest bar below which a part joins "other"."""
_RIM = "#7B8794"
"""Around squares that may be empty: stands out from white and from the dark page."""
_UNIT = 5
"""Letters of a unit that is written beside each bar."""
_DRIVE = re.compile(r"^[^/ ]+/[^ ]+\.(\d+)")
_LETTER = 7.5
"""Pixels of a letter of 13 pixels, on average, at most."""
_LABEL_DISTANCE = 0.09
"""Least distance of labels at the lines' ends, as a share of the picture's height."""
_DOWNWARDS = {"autorange": "reversed", "showgrid": False}
"""An axis of names, the first one on top."""


@dataclass(frozen=True)
class Axis:
    """Of a picture: its title has the unit."""

    title: str
    log: bool = False
    depths: bool = False
    """True for queue depths, each written out."""
    around: Sequence[float] = ()
    """Values that the axis reaches, whatever is drawn: a level to compare with."""

    def layout(self, values: Iterable[float | None]) -> Mapping[str, object]:
        """For plotly, around the values."""
        known = [*(value for value in values if value is not None), *self.around]
        if self.depths:
            return depth_axis([int(value) for value in known], self.title)
        if self.log:
            return log_axis(known, self.title)
        low, high = min([0.0, *known]), max([0.0, *known]) or 1.0
        top = high + 0.06 * (high - low)
        return {"title_text": self.title, "range": [low, top], "tickformat": ",~f"}


@dataclass(frozen=True)
class Series:
    """A line of a picture: measured on the engine, or (`closed`) computed from a closed form."""

    name: str
    x: Sequence[float]
    y: Sequence[float | None]
    closed: bool = False


def lines(
    series: Sequence[Series], x: Axis, y: Axis, height: int = 300, *, above: bool = False
) -> Figure:
    """Lines named at their ends, or above the plot; closed forms are dashed and grey."""
    measured = [value for each in series if not each.closed for value in each.y]
    drawn = chart(
        labels=16 if above else _room(each.name for each in series),
        height=height,
        x=x.layout(value for each in series for value in each.x),
        y={**y.layout(measured), "title_standoff": 8},
    )
    at = 0
    for each in series:
        if each.closed:
            look: dict[str, Any] = {
                "mode": "lines",
                "line": {"color": GREY, "width": 2, "dash": "dash"},
            }
        else:
            # Points on an axis are drawn whole; closed forms may run out of the picture.
            look, at = {"mode": "lines+markers", "cliponaxis": False, **line(at)}, at + 1
        hover = f"{each.name}: %{{y:,.4~g}} at %{{x:,~r}}<extra></extra>"
        draw_curve(drawn, each.name, list(each.x), list(each.y), hover=hover, **look)
    if above:
        legend(drawn, 60)
    else:
        _name_ends(drawn, series, x, y)
    return drawn


def _room(names: Iterable[str]) -> int:
    """Pixels that the longest of these names takes to the right of a plot."""
    return 16 + round(_LETTER * max(len(re.sub(r"<[^>]*>", "", name)) for name in names))


def _name_ends(drawn: Figure, series: Sequence[Series], x: Axis, y: Axis) -> None:
    low, high = drawn.layout.yaxis.range
    ends = []
    for each in series:
        known = [(a, b) for a, b in zip(each.x, each.y, strict=True) if b is not None and b > 0]
        inside = [(a, b) for a, b in known if low <= _place(b, y) <= high]
        if inside:
            ends.append((each.name, _place(inside[-1][0], x), _place(inside[-1][1], y)))
    heights = apart([end[2] for end in ends], _LABEL_DISTANCE * (high - low), high)
    for (name, across, _), up in zip(ends, heights, strict=True):
        end_label(drawn, (across, up), name)


def _place(value: float, axis: Axis) -> float:
    return math.log10(value) if axis.log or axis.depths else value


def dashed(
    drawn: Figure,
    x: float,
    text: str,
    axis: Axis | None = None,
    side: Literal["left", "right"] = "right",
) -> None:
    """A dotted vertical line at a value of the x axis, and its name on one side."""
    at = math.log10(x) if axis and (axis.log or axis.depths) else x
    line = {"color": GREY, "dash": "dot"}
    drawn.add_shape(type="line", x0=x, x1=x, y0=0, y1=1, yref="paper", line=line)
    write_note(
        drawn,
        at,
        0,
        text,
        yref="paper",
        yanchor="bottom",
        xanchor="left" if side == "right" else "right",
        xshift=4 if side == "right" else -4,
    )


def mark(drawn: Figure, x: float, y: float, text: str) -> None:
    """A ring around the point that the controls chose."""
    draw_curve(
        drawn,
        None,
        [x],
        [y],
        hover=f"{text}<extra></extra>",
        mode="markers",
        cliponaxis=False,
        marker={"size": 16, "symbol": "circle-open", "color": BLACK, "line_width": 3},
        showlegend=False,
    )


def legend(drawn: Figure, height: int) -> None:
    """Names of the colours at the upper edge, `height` pixels above the plot."""
    drawn.update_layout(showlegend=True, legend_traceorder="normal", margin_t=height)


def bars(values: Mapping[str, float], axis: Axis, *, marked: str = "") -> Figure:
    """A horizontal bar for each value, its number beside it; the marked one stands out."""
    unit = axis.title.rpartition(", ")[2]
    unit = f" {unit}" if len(unit) <= _UNIT else ""
    texts = [
        f"{value:,}{unit}" if isinstance(value, int) else f"{digits(value)}{unit}"
        for value in values.values()
    ]
    drawn = chart(
        labels=_room(texts),
        height=80 + 36 * len(values),
        x={**axis.layout(values.values()), "nticks": 4, "tickangle": 0},
        y=_DOWNWARDS,
    )
    draw_bars(
        drawn,
        axis.title,
        list(values.values()),
        list(values),
        hover="%{y}: %{text}<extra></extra>",
        orientation="h",
        text=texts,
        textposition="outside",
        cliponaxis=False,
        marker_color=[BLUE if name == marked or not marked else GREY for name in values],
    )
    return drawn


def parts(
    rows: Mapping[str, Mapping[str, float]], unit: str = "us", always: Sequence[str] = ()
) -> Figure:
    """A horizontal bar for each row, of the parts of an I/O's mean time in their fixed colours.

    Args:
        rows: Microseconds of each part, as in `Row.breakdown_us`.
        unit: Of the axis: `us` or `ms`.
        always: Parts with a place of their own however short they are.
    """
    scale = 1.0 if unit == "us" else 1e-3
    longest = max(sum(row.values()) for row in rows.values())
    shown = [
        part
        for part in PARTS
        if any(
            row.get(part, 0) >= (0.0 if part in always else _LEAST_SHARE * longest)
            and row.get(part, 0) > 0
            for row in rows.values()
        )
    ]
    title = f"mean time of an I/O, {_micro(unit)}"
    x = {"title_text": title, "showgrid": True}
    drawn = chart(height=130 + 44 * len(rows), x=x, y=_DOWNWARDS)
    for part in [*shown, "other"]:
        lengths = [
            scale
            * (
                sum(row.values()) - sum(row.get(each, 0) for each in shown)
                if part == "other"
                else row.get(part, 0)
            )
            for row in rows.values()
        ]
        if max(lengths) <= 1e-6 * longest * scale:
            continue
        draw_bars(
            drawn,
            part_name(part),
            lengths,
            list(rows),
            hover=f"{part_name(part)}: %{{x:,.4~g}} {_micro(unit)}<extra></extra>",
            orientation="h",
            marker=part_marker(part, outline=0.75),
        )
    drawn.update_layout(barmode="stack")
    legend(drawn, 60)
    return drawn


def _micro(unit: str) -> str:
    return "µs" if unit == "us" else unit


def squares(
    kinds: Mapping[str, tuple[str, Sequence[tuple[int, int]]]],
    shaded: Sequence[tuple[int, int, float]],
    shade: str,
    columns: int,
    rows: int,
) -> Figure:
    """A map of equal parts, a square each, from the left and from the top; shades in steps of 5 %.

    Args:
        kinds: Squares of one colour by their name: the colour, then column and row of each.
        shaded: Column, row and a share from 0 to 1, which is drawn as a shade of blue.
        shade: What the share is.
        columns: Of the map.
        rows: Of the map.
    """
    drawn = chart(
        height=90 + 8 * rows,
        x={"visible": False, "range": [-1, columns]},
        y={"visible": False, "range": [rows, -1]},
    )
    outline = {"color": _RIM, "width": 0.75}
    look = {"symbol": "square", "size": 7, "line": outline}
    for name, (color, places) in kinds.items():
        draw_curve(
            drawn,
            name,
            [x for x, _ in places],
            [y for _, y in places],
            hover=f"{name}<extra></extra>",
            mode="markers",
            marker={**look, "color": color},
        )
    draw_curve(
        drawn,
        f"darker: more {shade}",
        [x for x, _, _ in shaded],
        [y for _, y, _ in shaded],
        hover=f"%{{marker.color:.0%}} {shade}<extra></extra>",
        mode="markers",
        marker={
            **look,
            "color": [round(20 * share) / 20 for _, _, share in shaded],
            "cmin": 0,
            "cmax": 1,
            "colorscale": [[0, "#E8F4FB"], [0.5, "#8CC9EE"], [1, "#0072B2"]],
        },
    )
    drawn.update_layout(margin={"l": 8, "r": 8, "b": 8})
    legend(drawn, 70)
    return drawn


def stages(io: IoRow) -> Figure:
    """The life of one I/O over the parts of the system, from top to bottom as it comes to them.

    Args:
        io: One of `Result.ios`; stages beside the critical path are drawn fainter.
    """
    begin = io["issued_ns"]
    unit, long = ("µs", 1e3) if io["latency_ns"] < 1e6 else ("ms", 1e6)
    places = list(dict.fromkeys(map(_place_of, io["stages"])))
    title = f"time since the call, {unit}"
    drawn = chart(
        height=150 + 30 * len(places),
        x={"title_text": title, "showgrid": True, "tickangle": 0, "nticks": 6, "tickformat": ",~f"},
        y={"showgrid": False, "categoryorder": "array", "categoryarray": places[::-1]},
    )
    named: set[str] = set()
    for stage in sorted(io["stages"], key=lambda each: list(PARTS).index(_part(each))):
        part = _part(stage)
        draw_bars(
            drawn,
            part_name(part),
            [(stage["end_ns"] - stage["begin_ns"]) / long],
            [_place_of(stage)],
            hover=(
                f"{part_name(part)}: %{{x:,.4~g}} {unit} from %{{base:,.4~g}} {unit}<extra></extra>"
            ),
            base=[(stage["begin_ns"] - begin) / long],
            orientation="h",
            legendgroup=part,
            showlegend=part not in named,
            opacity=1.0 if stage["critical"] else 0.45,
            marker=part_marker(part, outline=0.75),
        )
        named.add(part)
    drawn.update_layout(barmode="overlay")
    legend(drawn, 80)
    drawn.update_layout(legend_entrywidth=105)
    return drawn


def _place_of(stage: Stage) -> str:
    """`array-0/MODEL.3` as `drive 3`, what belongs to it with it."""
    return _DRIVE.sub(r"drive \1", str(stage["component"]))


def _part(stage: Stage) -> str:
    name = str(stage["stage"])
    return name if name in PARTS else "service"
