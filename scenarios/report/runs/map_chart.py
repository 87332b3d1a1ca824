"""Latencies over time as a heat map, with p50 and p99 as lines."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from raidlab.scenarios.report.chart import Figure, chart, draw_bars, draw_curve
from raidlab.scenarios.report.look import ORANGE, VERMILLION, log_axis
from raidlab.scenarios.report.tables import Column, Table
from raidlab.scenarios.results.latency_map import (
    bin_end,
    edges,
    percentile_us,
    with_columns,
)
from raidlab.scenarios.spec.run_result import MapReport

_SHADES = (
    (0.2, "over 20 %", 1.0),
    (0.05, "5 to 20 %", 0.7),
    (0.01, "1 to 5 %", 0.45),
    (0.0, "below 1 %", 0.22),
)
"""Share of a column's I/Os from which on a field has this name and this much of the colour."""
_COLOUR = "0, 114, 178"
_LEAST_IOS = 100
"""I/Os that columns have on average, if there are this many; of one from which on it has a p99."""
_COLUMNS = 40
"""Columns that a picture has at most."""


def figure(over_time: MapReport, begin_s: float) -> Figure:
    """A field for each column of time and each quarter of a power of two of the latency.

    Args:
        over_time: Of reads, of writes or of both.
        begin_s: Where the first column begins.
    """
    ios = sum(count for column in over_time["columns"] for _, count in column)
    over_time = with_columns(over_time, min(_COLUMNS, max(1, ios // _LEAST_IOS)))
    ends, columns = over_time["t_s"], over_time["columns"]
    begins = [begin_s, *ends[:-1]]
    longest = ends[-1] - begin_s
    scale, unit = (1e3, "ms") if longest < 1 else (1.0, "s")
    if longest >= 7200:
        scale, unit = 1 / 3600, "hours"
    every = [each for column in columns for each, _ in column]
    bounds = edges(max(min(every), 1) / 1e3, bin_end(max(every)) / 1e3)
    fields: dict[str, list[tuple[float, float, float]]] = {name: [] for _, name, _ in _SHADES}
    for begin, end, column in zip(begins, ends, columns, strict=True):
        count = sum(each for _, each in column)
        for low, high in pairwise(bounds):
            inside = sum(n for at, n in column if low <= (at + bin_end(at)) / 2e3 < high)
            if inside:
                name = next(name for least, name, _ in _SHADES if inside / count >= least)
                fields[name].append(((begin + end) / 2 * scale, low / 1e3, (high - low) / 1e3))
    drawn = chart(height=360)
    for _, name, strength in _SHADES:
        own = fields[name]
        draw_bars(
            drawn,
            name,
            [middle for middle, _, _ in own],
            [height for *_, height in own],
            hover="%{base:.3~g} ms and more: " + name + "<extra></extra>",
            width=scale * (ends[0] - begin_s),
            base=[low for _, low, _ in own],
            marker={"color": f"rgba({_COLOUR}, {strength})", "line": {"width": 0}},
        )
    _lines(drawn, begins, ends, columns, scale)
    drawn.update_layout(barmode="overlay", showlegend=True, margin_t=64)
    drawn.update_xaxes(
        title_text=f"simulated time, {unit}", range=[begins[0] * scale, ends[-1] * scale]
    )
    drawn.update_yaxes(log_axis([bounds[0] / 1e3, bounds[-1] / 1e3], "latency, ms"))
    return drawn


def _lines(
    drawn: Figure,
    begins: Sequence[float],
    ends: Sequence[float],
    columns: Sequence[Sequence[Sequence[int]]],
    scale: float,
) -> None:
    for share, name, colour, least in (
        (0.5, "p50", ORANGE, 2),
        (0.99, "p99", VERMILLION, _LEAST_IOS),
    ):
        values = [
            percentile_us(column, share) if sum(n for _, n in column) >= least else None
            for column in columns
        ]
        if not any(values):
            continue
        draw_curve(
            drawn,
            name,
            [scale * (a + b) / 2 for a, b in zip(begins, ends, strict=True)],
            [None if value is None else value / 1e3 for value in values],
            hover=f"{name} " + "%{y:.3~g} ms<extra></extra>",
            mode="lines",
            line={"color": colour, "width": 2},
        )


def table(over_time: MapReport) -> Table:
    """The I/Os and percentiles of each column."""
    rows = [
        [
            end,
            sum(n for _, n in column),
            *(_ms(percentile_us(column, share)) for share in (0.5, 0.99)),
        ]
        for end, column in zip(over_time["t_s"], over_time["columns"], strict=True)
    ]
    columns = [Column("up to,", "s"), Column("I/Os"), Column("p50,", "ms"), Column("p99,", "ms")]
    return Table("", columns, rows)


def _ms(value_us: float | None) -> float | None:
    return None if value_us is None else value_us / 1e3
