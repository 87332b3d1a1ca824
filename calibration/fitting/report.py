"""The page of a comparison or a calibration: one HTML file that needs nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from raidlab.calibration.fitting.calibrate import Calibration
from raidlab.calibration.fitting.compare import Compared, shifted, summary
from raidlab.calibration.measurements.distribution import curve
from raidlab.calibration.measurements.measurement import (
    WINDOWS,
    Latency,
    Measurement,
    rates_of,
    seconds_of,
)
from raidlab.scenarios import _engine
from raidlab.scenarios.results.charts import COLOURS
from raidlab.scenarios.results.report import chart, number, page

_WORST = 25
_DISTRIBUTIONS = 6
_DRAWN = "measured read", "simulated read", "measured write", "simulated write"
"""Curves of a distribution, in the order of their colours."""


def html_comparison(
    title: str,
    measurement: Measurement,
    rows: Sequence[Compared],
    notes: Sequence[str],
    seed: int = 1,
) -> str:
    """The page of a comparison."""
    return _page(
        title,
        "Measured and simulated, side by side.",
        measurement,
        rows,
        warnings=list(notes),
        tiles=_tiles("", summary(rows)),
        seed=seed,
    )


def html_calibration(result: Calibration) -> str:
    """The page of a calibration."""
    document = result.to_dict()
    tiles = _tiles("training points", document["train"])
    if document["test"]["points"]:
        tiles += _tiles("points not seen by the fit", document["test"])
    tiles.append({"value": number(document["wall_s"]) + " s", "text": "search"})
    return _page(
        str(result.tree["title"]),
        f"A device fitted to {result.measurement.name}, measured {result.where};"
        f" {document['evaluations']} evaluations.",
        result.measurement,
        result.rows,
        warnings=_warnings(result),
        tiles=tiles,
        seed=document["seed"],
        parameters=[
            {**parameter, "speaks": estimate.parameter.speaks}
            for parameter, estimate in zip(
                document["parameters"], result.fit.estimates, strict=True
            )
        ],
        extra=[_correlations(result)] if len(document["parameters"]) > 1 else [],
        left_out=document["left_out"],
        device_file=result.to_toml(),
    )


def _warnings(result: Calibration) -> list[str]:
    """What is said above the page; the table says which parameters are in doubt."""
    estimates = result.fit.estimates
    names = tuple(f"{estimate.parameter.key} " for estimate in estimates)
    found = [warning for warning in result.warnings if not warning.startswith(names)]
    doubted = sum(not estimate.identifiable for estimate in estimates)
    if doubted:
        found.append(
            f"{doubted} of {len(estimates)} parameters are not told by these points (see the"
            " table): rates and latencies may be predicted well, these numbers are not known"
        )
    return found


def _page(
    title: str,
    about: str,
    measurement: Measurement,
    rows: Sequence[Compared],
    *,
    warnings: Sequence[str],
    tiles: Sequence[dict[str, Any]],
    seed: int,
    parameters: Sequence[dict[str, Any]] = (),
    extra: Sequence[dict[str, Any]] = (),
    left_out: Sequence[dict[str, Any]] = (),
    device_file: str = "",
) -> str:
    sections: list[dict[str, Any]] = []
    unseen = any(row.part == "test" for row in rows)
    for load, of_load in _by_load(rows):
        sections.append(
            {
                "title": f"{load}: rate and 99 % latency",
                "text": "Over all I/Os in flight, one colour for each number of jobs. Markers are"
                " measured, lines (a dash, where there is one point) simulated."
                + (" Hollow ones the fit has not seen." if unseen else ""),
                "chart": chart(_curves(of_load)),
            }
        )
        if len({row.point.numjobs for row in of_load}) > 1:
            sections.append(
                {
                    "title": f"{load}: error of the rate",
                    "text": "Simulated over measured, in percent, by depth and jobs: +10 is"
                    " simulated 10 % too fast.",
                    "chart": chart(_errors(of_load)),
                }
            )
    for row in rows:
        if row.simulated.rates:
            sections.append(
                {
                    "title": f"{row.point.label()}: the rate over time",
                    "text": "Means of twelve parts of the time, measured and simulated.",
                    "chart": chart(_over_time(row)),
                }
            )
    shown = distributions(rows)
    if shown is not None:
        sections.append(
            {
                "title": "Distributions of latency",
                "text": "Share of I/Os that took at most so long. The points that differ most, and"
                " the best one; 8 x 4 is a depth of 8 in each of 4 jobs, in brackets the largest"
                " vertical distance (Kolmogorov's).",
                "chart": chart(shown),
            }
        )
    return page(
        "comparison.html.j2",
        title=title,
        about=about,
        version=_engine.version(),
        tiles=list(tiles),
        warnings=list(warnings),
        parameters=list(parameters),
        sections=[*sections, *extra],
        left_out=list(left_out),
        worst=[_worst(row) for row in sorted(rows, key=_badness, reverse=True)[:_WORST]],
        files=measurement.files,
        skipped=measurement.skipped,
        seed=seed,
        device_file=device_file,
    )


def _tiles(of: str, found: dict[str, Any]) -> list[dict[str, Any]]:
    def tile(value: float | None, unit: str, text: str) -> dict[str, Any]:
        return {"value": f"{number(value)}{unit}", "text": text}

    where = f", {of}" if of else ""
    return [
        tile(found["points"], "", of or "points"),
        tile(found["median_abs_error_pct"], " %", f"median error of the rate{where}"),
        tile(found["p90_abs_error_pct"], " %", f"error of the rate, nine of ten below{where}"),
        tile(
            found["p99_latency_median_abs_error_pct"],
            " %",
            f"median error of the 99 % latency{where}",
        ),
    ]


def _by_load(rows: Sequence[Compared]) -> list[tuple[str, list[Compared]]]:
    found: dict[str, list[Compared]] = {}
    for row in rows:
        found.setdefault(row.point.label().rpartition(",")[0], []).append(row)
    return list(found.items())


def _curves(rows: Sequence[Compared]) -> go.Figure:
    figure = make_subplots(cols=2, subplot_titles=("I/Os a second", "99 % latency, ms"))
    for index, jobs in enumerate(sorted({row.point.numjobs for row in rows})):
        of = sorted((r for r in rows if r.point.numjobs == jobs), key=lambda r: r.point.outstanding)
        x = [row.point.outstanding for row in of]
        colour = COLOURS[index % len(COLOURS)]
        name = f"{jobs} job{'s' if jobs > 1 else ''}"
        hollow = ["circle-open" if row.part == "test" else "circle" for row in of]
        tails = [next(iter(row.percentiles(99.0)), ("", None, None)) for row in of]
        for column, measured, simulated in (
            (1, [row.point.iops for row in of], [row.simulated.iops for row in of]),
            (2, [_ms(tail[1]) for tail in tails], [_ms(tail[2]) for tail in tails]),
        ):
            figure.add_scatter(
                x=x,
                y=measured,
                mode="markers",
                name=name,
                legendgroup=name,
                marker={"color": colour, "symbol": hollow, "size": 8},
                showlegend=column == 1,
                row=1,
                col=column,
            )
            figure.add_scatter(
                x=x,
                y=simulated,
                # A curve of one point has no line to show.
                mode="lines" if len(x) > 1 else "markers",
                marker={"color": colour, "symbol": "line-ew-open", "size": 18},
                line={"color": colour},
                legendgroup=name,
                name=f"{name}, simulated",
                showlegend=False,
                row=1,
                col=column,
            )
    figure.update_xaxes(type="log", title="outstanding I/Os, all jobs", dtick=np.log10(2))
    figure.update_yaxes(rangemode="tozero", row=1, col=1)
    figure.update_yaxes(type="log", row=1, col=2)
    return figure.update_layout(template="plotly_white", height=420, margin={"t": 40, "b": 40})


def _over_time(row: Compared) -> go.Figure:
    x = (np.arange(WINDOWS) + 0.5) * seconds_of(row.point) / WINDOWS
    figure = go.Figure()
    figure.add_scatter(x=x, y=rates_of(row.point), mode="markers", name="measured")
    figure.add_scatter(x=x, y=row.simulated.rates, mode="lines", name="simulated")
    figure.update_xaxes(title="seconds")
    figure.update_yaxes(title="I/Os a second", rangemode="tozero")
    return figure.update_layout(template="plotly_white", height=340, margin={"t": 20, "b": 40})


def _ms(latency_us: float | None) -> float | None:
    return None if latency_us is None else latency_us / 1e3


def _errors(rows: Sequence[Compared]) -> go.Figure:
    depths = sorted({row.point.iodepth for row in rows})
    jobs = sorted({row.point.numjobs for row in rows})
    table = np.full((len(depths), len(jobs)), np.nan)
    for row in rows:
        table[depths.index(row.point.iodepth), jobs.index(row.point.numjobs)] = row.error_pct
    figure = go.Figure(
        go.Heatmap(
            z=np.clip(table, -50, 50),
            x=[str(count) for count in jobs],
            y=[str(depth) for depth in depths],
            text=[["" if np.isnan(v) else f"{v:+.0f}" for v in line] for line in table],
            texttemplate="%{text}",
            colorscale="RdBu",
            zmid=0,
            zmin=-30,
            zmax=30,
            colorbar={"title": "%"},
        )
    )
    figure.update_xaxes(title="jobs", type="category")
    figure.update_yaxes(title="depth of each job", type="category")
    return figure.update_layout(template="plotly_white", height=340, margin={"t": 20, "b": 40})


def distributions(rows: Sequence[Compared]) -> go.Figure | None:
    """Latency distributions of the points that differ most, and of the best one.

    None if no point has distributions on both sides.
    """
    known = [row for row in rows if row.distance() is not None]
    if not known:
        return None
    ordered = sorted(known, key=lambda row: -(row.distance() or 0.0))
    best = ordered[-1:] if len(ordered) >= _DISTRIBUTIONS else []
    chosen = ordered[: _DISTRIBUTIONS - 1] + best
    titles = [f"{row.point.label()} ({row.distance():.2f})" for row in chosen]
    figure = make_subplots(rows=-(-len(chosen) // 3), cols=3, subplot_titles=titles)
    for index, row in enumerate(chosen):
        place = {"row": index // 3 + 1, "col": index % 3 + 1}
        for direction, side in row.point.sides():
            latencies = shifted(row.point, side), row.simulated.side(direction)
            for what, latency in zip(("measured", "simulated"), latencies, strict=True):
                if latency is not None:
                    _step(figure, latency, f"{what} {direction}", place)
    figure.update_xaxes(type="log", title={"text": "latency, ms", "font": {"size": 11}})
    figure.update_yaxes(title={"text": "share of I/Os", "font": {"size": 11}}, col=1)
    figure.update_annotations(font_size=11)
    height = 290 * -(-len(chosen) // 3) + 60
    return figure.update_layout(template="plotly_white", height=height, margin={"t": 40, "b": 30})


def _step(figure: go.Figure, latency: Latency, name: str, place: dict[str, int]) -> None:
    at, shares = curve(latency)
    if len(at):
        figure.add_scatter(
            x=at / 1e3,
            y=shares,
            name=name,
            legendgroup=name,
            showlegend=all(trace.name != name for trace in figure.data),
            mode="lines",
            line={"color": COLOURS[_DRAWN.index(name)]},
            **place,
        )


def _correlations(result: Calibration) -> dict[str, Any]:
    names = [estimate.parameter.key for estimate in result.fit.estimates]
    figure = go.Figure(
        go.Heatmap(
            z=result.fit.correlations,
            x=names,
            y=names,
            zmin=-1,
            zmax=1,
            colorscale="RdBu",
            text=np.round(result.fit.correlations, 2),
            texttemplate="%{text}",
        )
    )
    figure.update_layout(template="plotly_white", height=120 + 34 * len(names))
    return {
        "title": "Correlations",
        "text": "Parameters near 1 or -1 cannot be told from each other by these points.",
        "chart": chart(figure),
    }


def _badness(row: Compared) -> float:
    p99 = row.percentile_error_pct(99.0)
    return abs(row.error_pct) + 0.05 * min(200.0, abs(p99 or 0.0))


def _worst(row: Compared) -> dict[str, Any]:
    return {
        "label": row.point.label(),
        "part": row.part,
        "measured": row.point.iops,
        "simulated": row.simulated.iops,
        "error": row.error_pct,
        "p99": row.percentile_error_pct(99.0),
        "distance": row.distance(),
        "busiest": row.simulated.busiest,
        "cause": row.cause(),
    }
