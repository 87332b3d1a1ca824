"""The page of a tier over time: one picture for each size of the hot spot, one table."""

from __future__ import annotations

import plotly.graph_objects as go

from raidlab.scenarios.results.charts import COLOURS
from raidlab.scenarios.results.report import chart, page
from raidlab.scenarios.studies.hot_spots import Warming, Warmings


def hot_spots_report(found: Warmings) -> str:
    """One page that needs nothing else."""
    rows = [
        {
            "hot_spot": each.hot_spot_bytes / 1e9,
            "times": found.tier_bytes / each.hot_spot_bytes,
            "disks": each.disks_iops,
            "ssds": each.ssds_iops,
            "above": _minutes(each.reaches(1.2 * each.disks_iops)),
            "half_way": _minutes(each.reaches((each.disks_iops + each.ssds_iops) / 2)),
            "at_end": each.iops[-1] if each.iops else None,
            "used": f"{each.used:.0%}".replace("%", " %"),
        }
        for each in found.warmings
    ]
    return page(
        "hot_spots.html.j2",
        title=found.title,
        found=found,
        tier_gb=found.tier_bytes / 1e9,
        minutes=max((each.t_s[-1] for each in found.warmings if each.t_s), default=0) / 60,
        rows=rows,
        chart=chart(picture(found)),
    )


def _minutes(seconds: float | None) -> float | None:
    return None if seconds is None else seconds / 60


def picture(found: Warmings) -> go.Figure:
    """The rate over time, beneath each other, each beside its disks' and its SSDs' own rate."""
    from plotly.subplots import make_subplots

    titles = [f"A hot spot of {each.hot_spot_bytes / 1e9:g} GB" for each in found.warmings]
    figure = make_subplots(
        rows=len(titles), cols=1, shared_xaxes=True, shared_yaxes="all", subplot_titles=titles,
        vertical_spacing=0.09,
    )  # fmt: skip
    for at, each in enumerate(found.warmings):
        minutes = [t / 60 for t in each.t_s]
        figure.add_trace(
            go.Scatter(
                x=minutes,
                y=each.iops,
                mode="lines",
                line={"color": COLOURS[0], "width": 3},
                name="with the tier",
                showlegend=at == 0,
                hovertemplate="minute %{x:.0f}: %{y:,.0f} IO/s<extra></extra>",
            ),
            row=at + 1,
            col=1,
        )
        _level(figure, each.disks_iops, "the disks alone", COLOURS[3], minutes, at)
        _level(figure, each.ssds_iops, "the SSDs alone", COLOURS[2], minutes, at)
    top = 1.1 * max(max(each.ssds_iops, *each.iops) for each in found.warmings)
    figure.update_yaxes(title_text="IO/s", range=[0, top], tickformat=",d")
    figure.update_xaxes(title_text="minutes since the empty tier was added", row=len(titles), col=1)
    return figure.update_layout(
        template="plotly_white",
        height=160 + 270 * len(titles),
        margin={"l": 80, "r": 30, "t": 40, "b": 100},
        font={"family": "system-ui, sans-serif", "size": 14},
        # At the page's edge in pixels, below the axis' title however many pictures there are.
        legend={"orientation": "h", "yref": "container", "y": 0, "x": 0, "yanchor": "bottom"},
    )


def _level(
    figure: go.Figure, iops: float, name: str, colour: str, minutes: list[float], at: int
) -> None:
    figure.add_trace(
        go.Scatter(
            x=[0, minutes[-1] if minutes else 1],
            y=[iops, iops],
            mode="lines",
            line={"color": colour, "dash": "dash", "width": 2},
            name=name,
            showlegend=at == 0,
            hovertemplate="%{y:,.0f} IO/s<extra>" + name + "</extra>",
        ),
        row=at + 1,
        col=1,
    )


def summary(found: Warming) -> dict[str, float | str]:
    """A line for people."""
    half_way = found.reaches((found.disks_iops + found.ssds_iops) / 2)
    return {
        "hot spot": f"{found.hot_spot_bytes / 1e9:g} GB",
        "disks IO/s": found.disks_iops,
        "SSDs IO/s": found.ssds_iops,
        "half way, minutes": "not reached" if half_way is None else f"{half_way / 60:.3g}",
        "IO/s at the end": found.iops[-1] if found.iops else 0.0,
        "tier in use": f"{found.used:.0%}",
    }
