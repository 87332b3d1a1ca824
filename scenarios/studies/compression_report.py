"""The page of rates over compressibility: one picture, one table."""

from __future__ import annotations

import plotly.graph_objects as go

from raidlab.scenarios.results.charts import COLOURS
from raidlab.scenarios.results.report import chart, page
from raidlab.scenarios.studies.compression import Compression

_MARKS = ("circle", "square", "diamond", "triangle-up", "cross", "star")
_DASHES = ("solid", "dash", "dot", "dashdot")


def compression_report(found: Compression) -> str:
    """One page that needs nothing else."""
    curves = found.curves()
    return page(
        "compression.html.j2",
        title=f"{found.title}: what compressible data change",
        found=found,
        curves=curves,
        chart=chart(picture(found)),
    )


def picture(found: Compression) -> go.Figure:
    """Rate above, bytes to NAND for each byte written below, both over the compressibility."""
    from plotly.subplots import make_subplots

    figure = make_subplots(
        rows=2,
        cols=1,
        shared_xaxes=True,
        vertical_spacing=0.1,
        row_heights=[0.62, 0.38],
        subplot_titles=("Rate", "Bytes to NAND for each byte that the host writes"),
    )
    for at, (load, points) in enumerate(found.curves().items()):
        colour = COLOURS[at % len(COLOURS)]
        look = {
            "name": load,
            "legendgroup": load,
            "mode": "lines+markers",
            "line": {"color": colour, "dash": _DASHES[at % len(_DASHES)], "width": 2.5},
            "marker": {"size": 8, "symbol": _MARKS[at % len(_MARKS)]},
        }
        figure.add_trace(
            go.Scatter(
                x=[100 * point.compressible for point in points],
                y=[point.mib_per_s for point in points],
                customdata=[point.iops for point in points],
                hovertemplate="%{x:.0f} % compressible: %{y:,.0f} MiB/s, %{customdata:,.0f} IO/s",
                **look,
            ),
            row=1,
            col=1,
        )
        written = [point for point in points if point.nand_bytes_per_host_byte is not None]
        if written:
            figure.add_trace(
                go.Scatter(
                    x=[100 * point.compressible for point in written],
                    y=[point.nand_bytes_per_host_byte for point in written],
                    showlegend=False,
                    hovertemplate="%{x:.0f} % compressible: %{y:.2f}",
                    **look,
                ),
                row=2,
                col=1,
            )
    figure.add_hline(y=1, line={"color": "#9aa5b1", "dash": "dot"}, row=2, col=1)
    figure.update_xaxes(title_text="share by which the data can be compressed, %", row=2, col=1)
    figure.update_yaxes(title_text="MiB/s (2^20 bytes)", rangemode="tozero", row=1, col=1)
    figure.update_yaxes(title_text="bytes for each byte", rangemode="tozero", row=2, col=1)
    return figure.update_layout(
        template="plotly_white",
        height=720,
        margin={"l": 80, "r": 30, "t": 40, "b": 60},
        font={"family": "system-ui, sans-serif", "size": 14},
        legend={"orientation": "h", "y": -0.12, "x": 0, "yanchor": "top"},
    )
