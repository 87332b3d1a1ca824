"""Pictures of a run: rates, latencies, where the time went, what was busy."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from raidlab.devices.printable import label
from raidlab.scenarios.report.chart import Figure, chart, draw_bars, draw_curve, panels, write_note
from raidlab.scenarios.report.look import (
    BLUE,
    GREY,
    PARTS,
    Axis,
    apart,
    depth_axis,
    end_label,
    log_axis,
    part_marker,
)
from raidlab.scenarios.report.page import HeatMap
from raidlab.scenarios.results.asked import asked, has_rates, in_words
from raidlab.scenarios.results.bottleneck import PLURALS, leading, limits
from raidlab.scenarios.results.number_text import digits, figure, part_name
from raidlab.scenarios.results.row import Row, figures_of, latency_at, measured
from raidlab.scenarios.spec.component_name import drive_name

_PERCENTILES = {"p50": "p50", "p99": "p99", "p99_9": "p99.9"}
_LITTLE_SHARE = 0.02
"""Share of every bar below which a part joins the others."""
_IDLE = 0.5
"""Percent of the time below which a component is not listed."""
_DIRECT_LABELS = 4
"""Lines that are named at their ends; more have a legend."""
_BELOW_TITLE = 0.95
"""Where a legend hangs in a picture that has its title inside, as a share of its height."""


def curves(summary: Sequence[Row], title: str) -> Figure:
    """Rate over outstanding I/Os, and mean and 99th percentile of the latency below it."""
    both = panels(2, height=720, apart=0.1, titles=("Rate", "Latency"))
    latencies = [latency(summary, name, ("mean", "p99")) for name, _ in _by_workload(summary)]
    for sources, row in (([rate(summary)], 1), (latencies, 2)):
        for source in sources:
            for trace in source.data:
                trace.showlegend = row == 1
                both.add_trace(trace, row=row, col=1)
    values = [value for each in latencies for trace in each.data for value in trace.y]
    both.update_yaxes(title_text="IO/s", rangemode="tozero", row=1, col=1)
    both.update_yaxes(_latency_axis(values), row=2, col=1)
    axis = _Axis(summary)
    both.update_xaxes(axis.layout() | {"title_text": None})
    both.update_xaxes(title_text=axis.title or None, row=2, col=1)
    both.update_layout(title=label(title) or None, margin_t=70, showlegend=len(both.data) > 2)
    both.update_layout(legend_y=_BELOW_TITLE)
    return both


def rate(summary: Sequence[Row], knee: Row | None = None) -> Figure:
    """IO/s over outstanding I/Os, with the 95 % interval."""
    axis, groups = _Axis(summary), _by_workload(summary)
    drawn = chart(labels=96 if len(groups) > 1 else 24)
    for at, (name, rows) in enumerate(groups):
        low, high = (
            [
                None if (edge := row["iops_ci95"][end]) is None else abs(edge - row["iops"])
                for row in rows
            ]
            for end in (0, 1)
        )
        draw_curve(
            drawn,
            name if len(groups) > 1 else "IO/s",
            axis.of(rows),
            [row["iops"] for row in rows],
            at=at,
            texts=[_hover(row) for row in rows],
            error_y={"type": "data", "array": high, "arrayminus": low, "thickness": 1},
        )
    drawn.update_yaxes(title_text="IO/s", rangemode="tozero", tickformat=",~r")
    axis.lay(drawn)
    _name_lines(drawn, [(name, _place(axis, rows), rows[-1]["iops"]) for name, rows in groups])
    _mark(drawn, axis, knee)
    return drawn


def latency(
    summary: Sequence[Row],
    workload: str,
    shown: Sequence[str] = tuple(_PERCENTILES),
    knee: Row | None = None,
) -> Figure:
    """Latency of one workload over outstanding I/Os, logarithmic unless one is 0."""
    drawn, axis = chart(labels=64), _Axis(summary)
    known = [row for row in summary if row["workload"] == workload and row["latency_us"]]
    values: list[float] = []
    for at, key in enumerate(shown):
        y = [figures_of(measured(row))[key] / 1e3 for row in known]
        values += y
        draw_curve(
            drawn,
            _PERCENTILES.get(key, key),
            axis.of(known),
            y,
            at=at,
            texts=[_hover(row) for row in known],
        )
    drawn.update_yaxes(_latency_axis(values))
    axis.lay(drawn)
    if known:
        last = figures_of(measured(known[-1]))
        ends = [(_PERCENTILES.get(key, key), last[key] / 1e3) for key in shown]
        _name_lines(drawn, [(name, _place(axis, known), value) for name, value in ends])
    _mark(drawn, axis, knee)
    return drawn


def _hover(row: Row) -> str:
    p99 = latency_at(row, "p99")
    tail = "" if p99 is None else f", p99 {figure(p99, 'us')}"
    return f"{in_words(row)}: {figure(row['iops'], 'IO/s')}{tail}"


def _place(axis: _Axis, rows: Sequence[Row]) -> float:
    return math.log10(axis.of(rows)[-1])


def _name_lines(drawn: Figure, ends: Sequence[tuple[str, float, float]]) -> None:
    """Names at the ends of up to four lines, else a legend."""
    if len(ends) < 2:
        return
    if len(ends) > _DIRECT_LABELS:
        drawn.update_layout(showlegend=True, margin_t=64)
        return
    logarithmic = drawn.layout.yaxis.type == "log"
    heights = [math.log10(value) if logarithmic and value > 0 else value for _, _, value in ends]
    axis = drawn.layout.yaxis.range
    highest = max((max((y or 0 for y in trace.y), default=0) for trace in drawn.data), default=1)
    span = (axis[1] - axis[0]) if logarithmic and axis else highest or 1
    top = axis[1] if logarithmic and axis else 1.02 * span
    for (name, place, _), height in zip(ends, apart(heights, 0.09 * span, top), strict=True):
        end_label(drawn, (place, height), name)


def _mark(drawn: Figure, axis: _Axis, knee: Row | None) -> None:
    """A dotted line where more outstanding I/Os only wait."""
    if knee is None or not asked(knee):
        return
    (at,) = axis.of([knee])
    drawn.add_vline(x=at, line={"color": GREY, "dash": "dot", "width": 1.5})
    write_note(
        drawn,
        math.log10(at),
        1,
        f"knee {at:.15g}",
        yref="paper",
        yanchor="top",
        xanchor="right",
        xshift=-4,
    )


def _latency_axis(values: Sequence[float]) -> Mapping[str, object]:
    """The axis of latencies in milliseconds, logarithmic if it can be."""
    if values and min(values) <= 0:
        return {"title_text": "latency, ms", "rangemode": "tozero", "minallowed": 0}
    return log_axis(values, "latency, ms")


def parts_of(rows: Sequence[Row]) -> tuple[list[str], list[str]]:
    """Parts of the time that are drawn, and those too small in every row."""
    named = [part for part in PARTS if any(row["breakdown_us"].get(part) for row in rows)]
    named += sorted({part for row in rows for part in row["breakdown_us"]} - set(PARTS))

    def share(part: str) -> float:
        totals = [(row["breakdown_us"], sum(row["breakdown_us"].values())) for row in rows]
        return max((each.get(part, 0.0) / total for each, total in totals if total), default=0.0)

    shares = {part: share(part) for part in named}
    large = [part for part in named if shares[part] >= _LITTLE_SHARE]
    return large or named, [part for part in named if large and 0 < shares[part] < _LITTLE_SHARE]


def breakdown(summary: Sequence[Row], workload: str) -> Figure:
    """Shares of the mean latency by part, a bar a queue depth with its milliseconds above.

    One point is one bar that lies, with names beside its parts.
    """
    rows = [row for row in summary if row["workload"] == workload]
    large, small = parts_of(rows)
    axis, flat = _Axis(summary), len(rows) == 1
    groups = [(part, [part]) for part in large] + ([("other", small)] if small else [])
    drawn = chart(height=max(160, 60 + 34 * len(groups)) if flat else 340)
    for part, members in groups:
        values = [
            100 * sum(row["breakdown_us"].get(each, 0.0) for each in members) / (_total(row) or 1.0)
            for row in rows
        ]
        draw_bars(
            drawn,
            part_name(part),
            values if flat else axis.words(rows),
            [part_name(part)] if flat else values,
            hover=(
                "%{y}: %{x:.1f} %<extra></extra>"
                if flat
                else "%{x} " + axis.unit + ", " + part_name(part) + ": %{y:.1f} %<extra></extra>"
            ),
            orientation="h" if flat else "v",
            marker=part_marker(part, outline=0.75),
            text=[f"{value:.0f} %" for value in values] if flat else None,
            textposition="outside" if flat else "none",
            cliponaxis=False,
        )
    if flat:
        drawn.update_xaxes(title_text="share of the mean latency, %", range=[0, 112])
        drawn.update_yaxes(type="category", autorange="reversed", showgrid=False)
    else:
        _stack(drawn, rows, axis)
    return drawn


def _stack(drawn: Figure, rows: Sequence[Row], axis: _Axis) -> None:
    for at, row in enumerate(rows):
        write_note(drawn, at, 100, digits(_total(row) / 1e3), size=12, yanchor="bottom")
    drawn.update_layout(barmode="stack", showlegend=True, margin_t=84)
    drawn.update_xaxes(title_text=axis.title or None, type="category", tickangle=0)
    drawn.update_yaxes(title_text="share of the mean latency, %", range=[0, 108], minallowed=0)


def _total(row: Row) -> float:
    return float(sum(row["breakdown_us"].values()))


_BEYOND = 3
"""Times the highest recorded rate: a warm-up that is faster is cut off."""


def timeline(row: Row) -> Figure:
    """Rate over simulated time of one run."""
    drawn_line = row["timeline"]
    longest = max(drawn_line["t_s"], default=0.0)
    scale, unit = next(
        (each for each in ((3600.0, "hours"), (60.0, "minutes")) if longest >= 3 * each[0]),
        (1.0, "seconds"),
    )
    drawn = chart()
    draw_curve(
        drawn,
        "IO/s",
        [t / scale for t in drawn_line["t_s"]],
        drawn_line["iops"],
        hover="%{x:.3g} " + unit + ": %{y:,.0f} IO/s<extra></extra>",
        mode="lines",
        line={"color": BLUE, "width": 2},
    )
    drawn.update_xaxes(title_text=f"simulated time, {unit}")
    drawn.update_yaxes(title_text="IO/s", rangemode="tozero", tickformat=",~r")
    warm_up = row["warm_up_s"] / scale
    recorded = [
        rate
        for at, rate in zip(drawn_line["t_s"], drawn_line["iops"], strict=True)
        if at > row["warm_up_s"] and rate is not None
    ]
    if warm_up > 0:
        drawn.add_vrect(
            x0=0, x1=warm_up, fillcolor=GREY, opacity=0.2, line_width=0, layer="below",
        )  # fmt: skip
        write_note(drawn, 0, 1, "warm-up", size=None, yref="paper", yanchor="top", xanchor="left")
        # A cache that fills may be a hundred times as fast: it runs out of the picture.
        if recorded and max(drawn_line["iops"]) > _BEYOND * max(recorded) > 0:
            drawn.update_yaxes(range=[0, 1.3 * max(recorded)])
    return drawn


def utilization(summary: Sequence[Row], most: int = 12) -> HeatMap:
    """How busy the busiest components were at each queue depth; equal ones share a row."""
    rows = [row for row in summary if row["workload"] == summary[0]["workload"]]
    groups: dict[str, list[list[float]]] = {}
    for at, row in enumerate(rows):
        for component in leading(row["components"]):
            name, members = _members(component, row)
            shares = groups.setdefault(name, [[] for _ in rows])
            shares[at] = [100 * each["utilization"] for each in members]
    peak = {name: max(max(each, default=0.0) for each in shares) for name, shares in groups.items()}
    busy = [name for name in groups if peak[name] >= _IDLE]
    chosen = sorted(busy, key=lambda name: -peak[name])[:most]
    axis = _Axis(summary)

    def mean(shares: Sequence[float]) -> float | None:
        return sum(shares) / len(shares) if shares else None

    return HeatMap(
        corner=axis.title or "component",
        columns=axis.words(rows),
        rows=[(name, [mean(shares) for shares in groups[name]]) for name in chosen],
        limit=100.0,
    )


def _members(component: Any, row: Row) -> tuple[str, list[Any]]:
    """The name of a component's group, and all that are in it."""
    kind, drive = component["kind"], drive_name(component["name"])
    if kind in ("cpu", "host"):
        return "host, busiest thread", [component]
    if drive is None:
        return component["name"] + (" cores" if kind == "controller" else ""), [component]
    alike = [
        each
        for each in row["components"]
        if each["kind"] == kind
        and (other := drive_name(each["name"])) is not None
        and other.array == drive.array
    ]
    if len(alike) == 1:
        return str(drive), alike
    return f"{PLURALS.get(kind, kind)} of {drive.array} ({len(alike)})", alike


def bound(rows: Sequence[Row]) -> str:
    """What bounds the rate at the last point, for a caption."""
    return limits(rows[-1]) if rows and "components" in rows[-1] else ""


def _by_workload(summary: Sequence[Row]) -> list[tuple[str, list[Row]]]:
    groups: dict[str, list[Row]] = {}
    for row in summary:
        groups.setdefault(row["workload"], []).append(row)
    return list(groups.items())


class _Axis:
    """Places of the scenario's points: outstanding I/Os of the workload whose number changes."""

    def __init__(self, summary: Sequence[Row]) -> None:
        names = list(dict.fromkeys(row["workload"] for row in summary))
        steps: dict[str, dict[int, float]] = {
            name: {row["point"]: row["outstanding"] for row in summary if row["workload"] == name}
            for name in names
        }
        in_rates = set()
        for name in names:
            own = [row for row in summary if row["workload"] == name]
            if has_rates(own):
                in_rates.add(name)
                steps[name] = {row["point"]: row["offered_iops"] for row in own}
        chosen = max(
            names,
            key=lambda name: (len(set(steps[name].values())), any(steps[name].values())),
            default="",
        )
        self._open = not any(steps.get(chosen, {}).values())
        """True if no load has a number of outstanding I/Os."""
        self._places = {point: step or point + 1 for point, step in steps.get(chosen, {}).items()}
        of = f" of {chosen}" if len(names) > 1 else ""
        what = "offered IO/s" if chosen in in_rates else "outstanding I/Os"
        self.title = "" if self._open else f"{what}{of}"
        self.unit = "IO/s offered" if chosen in in_rates else "outstanding"

    def of(self, rows: Sequence[Row]) -> list[float]:
        """Where each row lies."""
        return [self._places[row["point"]] for row in rows]

    def words(self, rows: Sequence[Row]) -> list[str]:
        """What each row is called."""
        return [self._word(place) for place in self.of(rows)]

    def _word(self, place: float) -> str:
        return "open load" if self._open else f"{place:.15g}"

    def layout(self) -> Axis:
        """A logarithmic axis with every place."""
        found = depth_axis(self._places.values(), self.title)
        if self._open:
            found["ticktext"] = [self._word(place) for place in found["tickvals"]]
        found["title_text"] = self.title or None
        return found

    def lay(self, drawn: Figure) -> None:
        """Puts a logarithmic axis under the picture."""
        drawn.update_xaxes(self.layout())
