"""What a sweep draws: a figure of each point over what varies first."""

from __future__ import annotations

import math
from collections.abc import Sequence

from raidlab.scenarios.report.chart import Figure, chart, draw_curve
from raidlab.scenarios.report.look import apart, depth_axis, end_label, line
from raidlab.scenarios.studies.vary import Line

_LINES = 5
_LABEL_DISTANCE = 0.08
"""Least distance of labels at the lines' ends, as a share of the highest value."""


def ran(rows: Sequence[Line]) -> list[Line]:
    """The rows of points that could be run."""
    return [row for row in rows if row["why_not"] is None]


def place(vary: Sequence[str], row: Line) -> str:
    """A point in words: the value of each path that varies."""
    return ", ".join(f"{path} = {row[path]}" for path in vary)


def short(path: str) -> str:
    """The last words of a path that a person needs to know it by: `drives.0.count`."""
    words = [word for word in path.split(".") if not word.isdigit()]
    return ".".join(words[-2:])


def heads(vary: Sequence[str]) -> dict[str, str]:
    """What each path is called in a table: its last word, or two where that is not enough."""
    last = [path.rpartition(".")[2] for path in vary]
    one = len(set(last)) == len(last) and not any(word.isdigit() for word in last)
    return dict(zip(vary, last if one else map(short, vary), strict=True))


def picture(rows: Sequence[Line], vary: Sequence[str], what: str, *, grid: bool) -> Figure:
    """A column of the rows over what varies first: a line for each value of the rest.

    Args:
        rows: Of a sweep.
        vary: Paths of what varies.
        what: The column.
        grid: False for points that are drawn at random: they are on no line.
    """
    drawn = chart(labels=96)
    across, *others = vary
    rows = [row for row in ran(rows) if row[what] is not None]
    scale = 1e-3 if what.endswith("_us") else 1.0

    deep = across.endswith(".outstanding")

    def group(row: Line) -> tuple[str, ...]:
        own = ("workload",) if deep else ("workload", "outstanding")
        return tuple(str(row[name]) for name in (*others, *own))

    groups = list(dict.fromkeys(group(row) for row in rows))
    few = len(groups) <= _LINES and grid
    ends: list[tuple[str, float, float]] = []
    for at, each in enumerate(groups if few else [()]):
        own = [row for row in rows if not few or group(row) == each]
        look = line(at)
        name = ", ".join(word for word in each[: len(others)]) or "points"
        draw_curve(
            drawn,
            name,
            [number_of(row[across]) for row in own],
            [row[what] * scale for row in own],
            mode="lines+markers" if few else "markers",
            hovertext=[place(vary, row) for row in own],
            **look,
        )
        if few and own and len(groups) > 1:
            ends.append((name, _last(own, across), own[-1][what] * scale))
    top = max((row[what] * scale for row in rows), default=0.0)
    heights = apart([end for _, _, end in ends], _LABEL_DISTANCE * top, top)
    for (name, last, _), height in zip(ends, heights, strict=True):
        end_label(drawn, (math.log10(last) if deep else last, height), name)
    drawn.update_yaxes(
        title_text="p99, ms" if scale < 1 else "IO/s", rangemode="tozero", tickformat=",~f"
    )
    drawn.update_xaxes(title_text=heads(vary)[across])
    if deep:
        drawn.update_xaxes(depth_axis([row["outstanding"] for row in rows]))
    return drawn


def _last(rows: Sequence[Line], across: str) -> float:
    value = number_of(rows[-1][across])
    return value if isinstance(value, float) else float(len({row[across] for row in rows}) - 1)


def number_of(value: object) -> float | str:
    """A value as a place on an axis: a number, also in front of a unit, or a category."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    first = str(value).split(" ")[0]
    try:
        return float(first)
    except ValueError:
        return str(value)
