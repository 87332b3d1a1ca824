"""The page of rebuilds against their rate limit: one picture, one table."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from raidlab.scenarios.results.charts import COLOURS
from raidlab.scenarios.results.report import chart, page
from raidlab.scenarios.studies.rebuild import PHASES, Rebuild, Rebuilds

_MARKS = {"before": "circle", "during": "square", "after": "diamond"}
_LINES = {"before": "dot", "during": "solid", "after": "dash"}


def rebuild_report(found: Rebuilds) -> str:
    """One page that needs nothing else."""
    rows = [
        {
            "rate": f"{100 * rebuild.rate:.4g} %",
            "minutes": None if rebuild.rebuild_s is None else rebuild.rebuild_s / 60,
            "whole_hours": _hours(found, rebuild),
            "done": f"{rebuild.done:.0%}".replace("%", " %"),
            "phases": [rebuild.phases.get(name) for name in PHASES],
            "lost": rebuild.lost_writes,
        }
        for rebuild in found.rebuilds
    ]
    return page(
        "rebuild.html.j2",
        title=found.title,
        found=found,
        used_gb=found.used_bytes / 1e9,
        drive_gb=found.drive_bytes / 1e9,
        part=found.used_bytes < found.drive_bytes,
        rows=rows,
        chart=chart(picture(found)),
    )


def _hours(found: Rebuilds, rebuild: Rebuild) -> float | None:
    seconds = found.whole_drive_s(rebuild)
    return None if seconds is None else seconds / 3600


def picture(found: Rebuilds) -> go.Figure:
    """Rebuild time above, the users' 99th percentile below, both over the rebuild rate."""
    from plotly.subplots import make_subplots

    figure = make_subplots(
        rows=2,
        cols=1,
        shared_xaxes=True,
        vertical_spacing=0.12,
        row_heights=[0.45, 0.55],
        subplot_titles=(
            "How long the array is without redundancy",
            "How long the slowest 1 % of the users' I/Os take",
        ),
    )
    done = [rebuild for rebuild in found.rebuilds if rebuild.rebuild_s is not None]
    minutes = [(rebuild.rebuild_s or 0.0) / 60 for rebuild in done]
    figure.add_trace(
        go.Scatter(
            x=_percent(done),
            y=minutes,
            mode="lines+markers+text",
            text=[f"{value:.3g} min" for value in minutes],
            textposition="top right",
            line={"color": COLOURS[3], "width": 3},
            marker={"size": 9},
            showlegend=False,
            cliponaxis=False,
            hovertemplate="rebuild rate %{x} %: %{y:.3g} minutes<extra></extra>",
        ),
        row=1,
        col=1,
    )
    for name, colour in zip(PHASES, (COLOURS[0], COLOURS[3], COLOURS[2]), strict=True):
        with_load = [rebuild for rebuild in found.rebuilds if name in rebuild.phases]
        figure.add_trace(
            go.Scatter(
                x=_percent(with_load),
                y=[rebuild.phases[name].p99_ms for rebuild in with_load],
                name=f"{name} the rebuild",
                mode="lines+markers",
                line={"color": colour, "dash": _LINES[name], "width": 3},
                marker={"size": 9, "symbol": _MARKS[name]},
                hovertemplate="rebuild rate %{x} %: %{y:.3g} ms<extra>" + name + "</extra>",
            ),
            row=2,
            col=1,
        )
    rates = _percent(found.rebuilds)
    figure.update_xaxes(tickvals=rates, range=[0, max(rates) * 1.06])
    figure.update_xaxes(
        title_text="rebuild rate: share of the time that the rebuild may have, %", row=2, col=1
    )
    figure.update_yaxes(title_text="rebuild, minutes", rangemode="tozero", row=1, col=1)
    figure.update_yaxes(title_text="99th percentile, ms", rangemode="tozero", row=2, col=1)
    top = max(minutes, default=1.0)
    figure.update_yaxes(range=[0, top * 1.25], row=1, col=1)
    return figure.update_layout(
        template="plotly_white",
        height=720,
        margin={"l": 80, "r": 60, "t": 40, "b": 60},
        font={"family": "system-ui, sans-serif", "size": 14},
        legend={"orientation": "h", "y": -0.12, "x": 0, "yanchor": "top"},
    )


def _percent(rebuilds: Sequence[Rebuild]) -> list[float]:
    return [100 * rebuild.rate for rebuild in rebuilds]
