"""The page of a run: one HTML file that needs nothing else, not even a network."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

import jinja2
import plotly.graph_objects as go

from raidlab.scenarios.results import charts
from raidlab.scenarios.results.bottleneck import latency_bound
from raidlab.scenarios.results.endurance import COLUMNS, cautions, endurance
from raidlab.scenarios.results.event_summary import integrity_summary, logged, whose
from raidlab.scenarios.results.result import Result, Row


def html_report(result: Result) -> str:
    """The page of `result`: curves, where the time went, what was busy, where it came from."""
    summary = result.summary()
    workloads = list(dict.fromkeys(row["workload"] for row in summary))
    last = result.results[-1] if result.results else None
    worn = endurance(result)
    sections: list[dict[str, Any]] = []
    if summary:
        sections = [
            _section(
                "I/Os a second",
                "Each marker is one number of outstanding I/Os; bars are 95 % intervals.",
                charts.rate(summary, "iops"),
            ),
            _section("Throughput", "1 MiB is 2^20 bytes.", charts.rate(summary, "mib_per_s")),
            _section(
                "Latency",
                "From the call in the host to its completion: mean and percentiles.",
                charts.latency(summary),
            ),
            *(section for workload in workloads for section in _breakdowns(summary, workload)),
            _section(
                "What was busy",
                "Share of the recorded time that each component worked; the busiest come first.",
                charts.utilization(summary),
            ),
        ]
    if last is not None and last["timeline"]["t_s"]:
        sections.append(
            _section(
                f"Over time: {last['workload']}, "
                + (f"{last['outstanding']} outstanding" if last["outstanding"] else "open load"),
                "A rate that is still drifting means that the warm-up was too short.",
                charts.timeline(last),
            )
        )
    return page(
        "run.html.j2",
        title=result.title,
        result=result,
        summary=summary,
        latency_bound=latency_bound(summary),
        worn=worn,
        worn_columns=COLUMNS,
        cautions=cautions(worn),
        periods=logged(result),
        whose="" if last is None else whose(result),
        fate=integrity_summary(result),
        sections=sections,
        written=json.dumps(result.written, indent=2, default=str),
    )


def page(template: str, **values: Any) -> str:
    """A page from one of the templates, with the drawing code in it."""
    from plotly.offline import get_plotlyjs

    folder = files("raidlab.scenarios.results").joinpath("templates")
    kept = [each for each in folder.iterdir() if each.name.endswith(".j2")]
    sources = {each.name: each.read_text("utf-8") for each in kept}
    environment = jinja2.Environment(
        loader=jinja2.DictLoader(sources),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["number"] = number
    return environment.get_template(template).render(plotly_js=get_plotlyjs(), **values)


def number(value: float | None) -> str:
    """A number for people: four figures, thousands set apart."""
    if value is None:
        return "–"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.4g}"


def _breakdowns(summary: list[Row], workload: str) -> list[dict[str, Any]]:
    return [
        _section(
            f"Where the time of an I/O went: {workload}",
            "Mean time by part; the parts of a bar add up to the mean latency.",
            charts.breakdown(summary, workload),
        ),
        _section(
            f"The same in shares: {workload}",
            "Waiting grows with outstanding I/Os; the work of each part does not.",
            charts.breakdown(summary, workload, shares=True),
        ),
    ]


def _section(title: str, text: str, figure: go.Figure) -> dict[str, Any]:
    return {"title": title, "text": text, "chart": chart(figure)}


_TOOLBAR = 24
"""Pixels above a picture and its titles, for Plotly's toolbar."""


def chart(figure: go.Figure) -> str:
    """A figure as a piece of a page that has the drawing code already."""
    layout = figure.layout
    if layout.margin.t is not None and layout.height is not None:
        top, height = layout.margin.t + _TOOLBAR, layout.height + _TOOLBAR
        figure = go.Figure(figure).update_layout(margin_t=top, height=height)
    html: str = figure.to_html(
        full_html=False, include_plotlyjs=False, config={"displaylogo": False, "responsive": True}
    )
    return html
