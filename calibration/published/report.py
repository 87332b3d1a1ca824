"""The page of a validation: published figures beside simulated ones, as pictures and a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from raidlab.calibration.published.figures import shared
from raidlab.calibration.published.validate import Compared, Validation, summaries_by_use, summarise
from raidlab.scenarios import _engine
from raidlab.scenarios.results.charts import COLOURS
from raidlab.scenarios.results.report import chart, number, page

_QUANTITIES = (("iops", "I/Os a second", "IO/s"), ("mib_per_s", "Throughput", "MiB/s"))


def html_validation(validation: Validation) -> str:
    """The page of `validation`."""
    rows = validation.rows
    sources = list(dict.fromkeys(row.figure.configuration.source for row in rows))
    sections = []
    for quantity, title, unit in _QUANTITIES:
        of_quantity = [
            row
            for row in rows
            if row.figure.quantity == quantity and row.figure.relation in ("=", "~")
        ]
        if any(row.simulated for row in of_quantity):
            text = (
                "Each dot is one figure: published on the horizontal axis, simulated on the"
                " vertical. On the line both agree; the band is 10 %."
            )
            figure = _scatter(of_quantity, sources, unit)
            sections.append({"title": title, "text": text, "chart": chart(figure)})
    if any(row.error_pct is not None for row in rows):
        text = "Simulated against published, in percent; beyond 50 % counted at the edge."
        histogram = chart(_errors(rows, sources))
        sections.append({"title": "Errors", "text": text, "chart": histogram})
    return page(
        "validation.html.j2",
        title="raidlab: published and simulated figures",
        version=_engine.version(),
        total=validation.summary(),
        breaches=validation.breaches,
        sections=sections,
        groups=[_group(source, rows) for source in sources],
    )


def markdown_validation(validation: Validation) -> str:
    """The table of `validation` as a Markdown page, by source."""
    lines = [
        "# Published and simulated figures",
        "",
        "Made by `make docs`. Held: within 10 % of a figure from a table (=), 15 % of one in words",
        "(~), inside a bound or range. A figure that cannot be simulated yet says why. Used:",
        "whether parameters were fitted to the figure, or chosen by hand with it in view; all",
        "others are predictions.",
        "",
        *_markdown_uses(validation.rows),
    ]
    for source in dict.fromkeys(row.figure.configuration.source for row in validation.rows):
        group = _group(source, validation.rows)
        summary = group["summary"]
        lines += [
            "",
            f"## {source}",
            "",
            f"{group['title']}. {summary['held']} of {summary['rows']} held, {summary['ran']} ran,"
            f" median error {number(summary['median_abs_error_pct'])} %.",
            "",
            "| figure | configuration | load | outstanding | published | simulated | error, % | |"
            " used |",
            "|---|---|---|---|---|---|---|---|---|",
        ]
        lines += [_markdown_row(row) for row in group["rows"]]
    return "\n".join(lines) + "\n"


def _markdown_uses(rows: Sequence[Compared]) -> list[str]:
    lines = [
        "| used | figures | held | median error, % | 90th percentile, % |",
        "|---|---|---|---|---|",
    ]
    for use, summary in summaries_by_use(rows).items():
        median, tail = (
            number(summary[key]) for key in ("median_abs_error_pct", "p90_abs_error_pct")
        )
        lines.append(f"| {use} | {summary['rows']} | {summary['held']} | {median} | {tail} |")
    return lines


def _markdown_row(row: dict[str, Any]) -> str:
    end = "" if row["high"] is None else f" to {number(row['high'])}"
    published = f"{row['relation']} {number(row['published'])}{end} {row['unit']}"
    error = "" if row["error_pct"] is None else f"{row['error_pct']:+.1f}"
    outcome = "held" if row["held"] else row["why_not"] or "off"
    cells = (
        row["id"],
        row["configuration"],
        row["load"],
        row["outstanding"],
        published,
        number(row["simulated"]),
        error,
        outcome,
        row["used"],
    )
    return "| " + " | ".join(cell.replace("|", "/") for cell in cells) + " |"


def _group(source: str, rows: Sequence[Compared]) -> dict[str, Any]:
    own = [row for row in rows if row.figure.configuration.source == source]
    report = shared().get(source, shared()["default"])
    return {
        "source": source,
        "title": report.title or "Figures of one's own",
        "load_generator": report.load_generator,
        "summary": summarise(own),
        "rows": [row.to_dict() | {"configuration": describe(row)} for row in own],
    }


def describe(row: Compared) -> str:
    """A configuration in a few words: `raid0 of 8 sas-6g-hdd, lsi2008; write=write-through`."""
    configuration = row.figure.configuration
    drives = " ".join(part for part in (configuration.drive, configuration.format) if part)
    if configuration.count > 1 or configuration.level != "single":
        drives = f"{configuration.level} of {configuration.count} {drives}"
    if configuration.raid_by == "os":
        drives += " (OS)"
    where = f", {configuration.controller}" if configuration.controller else ""
    settings = "; ".join(f"{key}={value}" for key, value in configuration.settings.items())
    return f"{drives}{where}{'; ' + settings if settings else ''}"


def _scatter(rows: Sequence[Compared], sources: Sequence[str], unit: str) -> go.Figure:
    figure = go.Figure()
    values = [value for row in rows for value in (row.figure.value, row.simulated) if value]
    ends = [min(values) / 1.3, max(values) * 1.3]
    for factor, dash in ((0.9, "dot"), (1.0, "solid"), (1.1, "dot")):
        figure.add_trace(
            go.Scatter(
                x=ends,
                y=[end * factor for end in ends],
                mode="lines",
                line={"color": "#9aa7b4", "width": 1, "dash": dash},
                showlegend=False,
                hoverinfo="skip",
            )
        )
    for at, source in enumerate(sources):
        own = [row for row in rows if row.figure.configuration.source == source and row.simulated]
        if own:
            figure.add_trace(
                go.Scatter(
                    x=[row.figure.value for row in own],
                    y=[row.simulated for row in own],
                    mode="markers",
                    name=source,
                    marker={"color": COLOURS[at % len(COLOURS)], "size": 8, "opacity": 0.8},
                    text=[f"{row.figure.id}: {describe(row)}" for row in own],
                    hovertemplate="%{text}<br>published %{x}<br>simulated %{y:.5g}",
                )
            )
    figure.update_xaxes(title_text=f"published, {unit} (logarithmic)", type="log")
    figure.update_yaxes(title_text=f"simulated, {unit} (logarithmic)", type="log")
    return _dressed(figure, 520)


def _errors(rows: Sequence[Compared], sources: Sequence[str]) -> go.Figure:
    figure = go.Figure()
    for at, source in enumerate(sources):
        errors = [
            max(-50.0, min(50.0, row.error_pct))
            for row in rows
            if row.error_pct is not None and row.figure.configuration.source == source
        ]
        if errors:
            figure.add_trace(
                go.Histogram(
                    x=errors,
                    name=source,
                    marker_color=COLOURS[at % len(COLOURS)],
                    xbins={"start": -52.5, "end": 52.5, "size": 5},
                )
            )
    figure.update_layout(barmode="stack", bargap=0.05)
    figure.update_xaxes(title_text="error, %", range=[-53, 53], dtick=10)
    figure.update_yaxes(title_text="number of figures")
    return _dressed(figure, 340)


def _dressed(figure: go.Figure, height: int) -> go.Figure:
    return figure.update_layout(
        template="plotly_white",
        height=height,
        margin={"l": 70, "r": 20, "t": 20, "b": 50},
        font={"family": "system-ui, sans-serif", "size": 13},
    )
