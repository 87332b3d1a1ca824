"""Pictures of results: rates, latencies, where the time went, what was busy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from raidlab.scenarios.results.result import Row

COLOURS = ("#1f5fa8", "#d9792b", "#3a8f57", "#b23a48", "#7a5ea8", "#8a6d3b", "#4b9db5", "#6b6b6b")
"""Of workloads and drives, told apart also in grey."""

_PART_COLOURS = {
    "host": "#1f5fa8", "host_wait": "#9dbfe3", "raid": "#5b7f2b",
    "controller": "#7a5ea8", "controller_wait": "#cbbde3", "cache": "#c79a00",
    "cache_wait": "#ead28a",
    "link": "#4b9db5", "link_wait": "#b5dbe6", "queue": "#c9c9c9", "overhead": "#6b6b6b",
    "seek": "#b23a48", "rotation": "#e08a92", "transfer": "#d9792b",
    "nand_read": "#3a8f57", "nand_program": "#8cc9a1", "garbage_collection": "#8a6d3b",
    "service": "#3a8f57",
}  # fmt: skip
_LATENCIES = (
    ("mean", "solid", "circle", 6),
    ("p50", "dot", "diamond-open", 9),
    ("p95", "dashdot", "triangle-up-open", 10),
    ("p99", "dash", "square-open", 10),
    ("p99_9", "longdash", "x-thin-open", 10),
)
"""Line, marker and its size: where there is one point there are no lines, and it may be the same
for all."""
_TICKS = [float(f"{step}e{power}") for power in range(-6, 9) for step in (1, 2, 5)]


def curves(summary: Sequence[Row], title: str) -> go.Figure:
    """Rate over outstanding I/Os beside mean and 99th percentile of the latency."""
    from plotly.subplots import make_subplots

    figure = make_subplots(
        rows=2, cols=1, shared_xaxes=True, subplot_titles=("Rate", "Latency"), vertical_spacing=0.1
    )
    latencies = latency(summary, ("mean", "p99"))
    for source, row in ((rate(summary, "iops"), 1), (latencies, 2)):
        for trace in source.data:
            trace.showlegend = row == 1
            figure.add_trace(trace, row=row, col=1)
    figure.update_yaxes(title_text="IO/s", rangemode="tozero", row=1, col=1)
    figure.update_yaxes(latencies.layout.yaxis, row=2, col=1)
    _Axis(summary).lay(figure, row=2)
    return _dressed(figure, title, 720)


def rate(summary: Sequence[Row], quantity: str) -> go.Figure:
    """IO/s (`iops`) or MiB/s (`mib_per_s`) over outstanding I/Os, with the 95 % interval."""
    figure, axis = go.Figure(), _Axis(summary)
    for name, rows, colour in _by_workload(summary):
        scale = [row[quantity] / row["iops"] if row["iops"] else 0.0 for row in rows]
        low, high = (
            [
                None if (at := row["iops_ci95"][end]) is None else abs(at - row["iops"]) * each
                for row, each in zip(rows, scale, strict=True)
            ]
            for end in (0, 1)
        )
        figure.add_trace(
            go.Scatter(
                x=axis.of(rows),
                y=[row[quantity] for row in rows],
                error_y={"type": "data", "array": high, "arrayminus": low},
                name=name,
                legendgroup=name,
                mode="lines+markers",
                line={"color": colour},
                marker={"size": 7},
            )
        )
    unit = {"iops": "IO/s", "mib_per_s": "MiB/s (2^20 bytes)"}[quantity]
    figure.update_yaxes(title_text=unit, rangemode="tozero")
    axis.lay(figure)
    return _dressed(figure, "")


def latency(summary: Sequence[Row], shown: Sequence[str] | None = None) -> go.Figure:
    """Latency over outstanding I/Os: mean and percentiles, on a logarithmic scale if none is 0."""
    figure, axis = go.Figure(), _Axis(summary)
    values: list[float] = []
    for name, rows, colour in _by_workload(summary):
        known = [row for row in rows if row["latency_us"]]
        for key, dash, symbol, size in _LATENCIES:
            if shown is not None and key not in shown:
                continue
            label = key.replace("p", "", 1).replace("_", ".") + " %" if key != "mean" else "mean"
            y = [row["latency_us"][key] / 1e3 for row in known]
            values += y
            figure.add_trace(
                go.Scatter(
                    x=axis.of(known),
                    y=y,
                    name=f"{name}, {label}",
                    legendgroup=name,
                    mode="lines+markers",
                    line={"color": colour, "dash": dash},
                    marker={
                        "size": size,
                        "symbol": symbol,
                        "line": {"width": 1.5, "color": colour},
                    },
                )
            )
    figure.update_yaxes(_latency_axis(values))
    axis.lay(figure)
    return _dressed(figure, "")


def _latency_axis(values: Sequence[float]) -> dict[str, Any]:
    """The axis of latencies in milliseconds, logarithmic if it can be."""
    if values and min(values) <= 0:
        return {"title_text": "latency, ms", "rangemode": "tozero", "minallowed": 0}
    # Written out: between powers of ten a lone 5 could be anything.
    axis: dict[str, Any] = {
        "title_text": "latency, ms (logarithmic)",
        "type": "log",
        "tickvals": _TICKS,
        "ticktext": [f"{tick:,.0f}" if tick >= 1 else f"{tick:g}" for tick in _TICKS],
    }
    if values:
        # From tick to tick: between two of them nothing would say where a point lies.
        low = max((tick for tick in _TICKS if tick < min(values) / 1.05), default=_TICKS[0])
        high = min((tick for tick in _TICKS if tick > max(values) * 1.05), default=_TICKS[-1])
        axis["range"] = [math.log10(low), math.log10(high)]
    return axis


def breakdown(summary: Sequence[Row], workload: str, shares: bool = False) -> go.Figure:
    """Where the mean latency went, by part, one bar for each number of outstanding I/Os.

    In milliseconds, or as shares of the whole.
    """
    rows = [row for row in summary if row["workload"] == workload]
    parts = [part for part in _PART_COLOURS if any(row["breakdown_us"].get(part) for row in rows)]
    parts += sorted({part for row in rows for part in row["breakdown_us"]} - set(_PART_COLOURS))
    figure, axis = go.Figure(), _Axis(summary)
    for part in parts:
        figure.add_trace(
            go.Bar(
                x=axis.words(rows),
                y=[row["breakdown_us"].get(part, 0.0) / 1e3 for row in rows],
                name=part.replace("_", " "),
                marker_color=_PART_COLOURS.get(part, "#333333"),
            )
        )
    figure.update_layout(barmode="stack")
    if shares:
        figure.update_layout(barnorm="percent")
    figure.update_xaxes(title_text=axis.title, type="category")
    title = "share, %" if shares else "mean time of an I/O, ms"
    figure.update_yaxes(title_text=title, rangemode="tozero", minallowed=0)
    return _dressed(figure, "")


def timeline(row: Row) -> go.Figure:
    """Rate over simulated time of one run."""
    line = row["timeline"]
    figure = go.Figure(
        go.Scatter(x=line["t_s"], y=line["iops"], mode="lines", line={"color": COLOURS[0]})
    )
    figure.update_xaxes(title_text="simulated time, s (warm-up included)")
    figure.update_yaxes(title_text="IO/s", rangemode="tozero")
    return _dressed(figure, "", 280)


def utilization(summary: Sequence[Row], most: int = 12) -> go.Figure:
    """How busy the busiest components were, at each number of outstanding I/Os."""
    rows = [row for row in summary if row["workload"] == summary[0]["workload"]]
    peak: dict[str, float] = {}
    for row in rows:
        for component in row["components"]:
            name = component["name"]
            peak[name] = max(peak.get(name, 0.0), component["utilization"])
    names = sorted(peak, key=lambda name: -peak[name])[:most]
    shares = [{each["name"]: each["utilization"] for each in row["components"]} for row in rows]
    values = [[100 * share.get(name, 0.0) for share in shares] for name in names]
    axis = _Axis(summary)
    figure = go.Figure(
        go.Heatmap(
            x=axis.words(rows),
            y=names,
            z=values,
            zmin=0,
            zmax=100,
            text=[[f"{value:.0f}" for value in line] for line in values],
            texttemplate="%{text}",
            colorscale=[[0, "#f4f7fb"], [0.5, "#9dbfe3"], [0.8, "#d9792b"], [1, "#b23a48"]],
            colorbar={"title": "busy, %"},
        )
    )
    figure.update_xaxes(title_text=axis.title, type="category")
    figure.update_yaxes(autorange="reversed", automargin=True)
    return _dressed(figure, "", 160 + 26 * len(names))


def _by_workload(summary: Sequence[Row]) -> list[tuple[str, list[Row], str]]:
    groups: dict[str, list[Row]] = {}
    for row in summary:
        groups.setdefault(row["workload"], []).append(row)
    return [
        (name, rows, COLOURS[at % len(COLOURS)]) for at, (name, rows) in enumerate(groups.items())
    ]


class _Axis:
    """Places of the scenario's points: outstanding I/Os of the workload whose number changes."""

    def __init__(self, summary: Sequence[Row]) -> None:
        names = list(dict.fromkeys(row["workload"] for row in summary))
        steps = {
            name: {row["point"]: row["outstanding"] for row in summary if row["workload"] == name}
            for name in names
        }
        chosen = max(
            names,
            key=lambda name: (len(set(steps[name].values())), any(steps[name].values())),
            default="",
        )
        self._open = not any(steps.get(chosen, {}).values())
        """True if no load has a number of outstanding I/Os."""
        self._places = {point: step or point + 1 for point, step in steps.get(chosen, {}).items()}
        of = f" of {chosen}" if len(names) > 1 else ""
        self.title = "" if self._open else f"outstanding I/Os{of}"

    def of(self, rows: Sequence[Row]) -> list[int]:
        """Where each row lies."""
        return [self._places[row["point"]] for row in rows]

    def words(self, rows: Sequence[Row]) -> list[str]:
        """What each row is called."""
        return [self._word(place) for place in self.of(rows)]

    def _word(self, place: int) -> str:
        return "open load" if self._open else str(place)

    def lay(self, figure: go.Figure, row: int | None = None) -> None:
        """Puts a logarithmic axis under the picture, or under one row of it."""
        places = sorted(set(self._places.values()))
        where: dict[str, Any] = {} if row is None else {"row": row, "col": 1}
        words = [self._word(place) for place in places]
        figure.update_xaxes(type="log", tickvals=places, ticktext=words)
        if not self._open:
            figure.update_xaxes(title_text=f"{self.title} (logarithmic)", **where)


def _dressed(figure: go.Figure, title: str, height: int = 380) -> go.Figure:
    return figure.update_layout(
        title=title or None,
        template="plotly_white",
        height=height,
        margin={"l": 70, "r": 20, "t": 60 if title else 20, "b": 50},
        font={"family": "system-ui, sans-serif", "size": 13},
        hovermode="closest",
    )
