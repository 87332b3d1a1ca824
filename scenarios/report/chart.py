"""The one chart kit of pages and lab: lines, points, bars and notes in the common look.

A chart is a figure of plotly's, which is loaded when the first one is begun.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from raidlab.scenarios.report.look import X_AXIS, Y_AXIS, dress, frame, line

if TYPE_CHECKING:
    import plotly.graph_objects as go

Figure: TypeAlias = "go.Figure"
_BY_TEXT = "%{text}<extra></extra>"
"""Shows an I/O's or a point's own text and no more, while a pointer is on it."""


def chart(
    *,
    height: int = 300,
    labels: int = 24,
    legend: int = 0,
    x: Mapping[str, object] | None = None,
    y: Mapping[str, object] | None = None,
) -> Figure:
    """An empty picture in its frame.

    Args:
        height: Pixels.
        labels: Pixels to the right for names at the lines' ends.
        legend: Pixels above for names of the colours; 0 for none.
        x: Of the x axis, as plotly takes it. What is given here costs a tenth of an update.
        y: Of the y axis.
    """
    import plotly.graph_objects as go

    axes = {"xaxis": {**X_AXIS, **(x or {})}, "yaxis": {**Y_AXIS, **(y or {})}}
    return go.Figure(layout=frame(height=height, labels=labels, legend=legend) | axes)


def panels(
    count: int, *, height: int, apart: float = 0.08, titles: Sequence[str] | None = None
) -> Figure:
    """Pictures above each other over one axis, `apart` as a share of the height."""
    from plotly.subplots import make_subplots

    drawn = make_subplots(
        rows=count, cols=1, shared_xaxes=True, vertical_spacing=apart, subplot_titles=titles
    )
    return dress(drawn, height=height)


def draw_curve(
    drawn: Figure,
    name: str | None,
    x: Sequence[object],
    y: Sequence[object],
    *,
    at: int | None = None,
    texts: Sequence[str] | None = None,
    hover: str | None = None,
    **more: Any,
) -> None:
    """Adds a line with its points, or points alone.

    Args:
        drawn: The picture.
        name: In the legend, and the head of a column where the picture is shown as a table.
        x: Places; as many as `y`.
        y: Values.
        at: Which line it is: gives colour and marker. None if `more` gives them.
        texts: Of each point.
        hover: What is said of a point under the pointer, as plotly writes it; its text, if any.
        more: What else plotly's Scatter takes: `mode`, `marker` ...; `panel` is the one of several
            pictures above each other, from 1.
    """
    import plotly.graph_objects as go

    panel = more.pop("panel", None)
    look: dict[str, Any] = {} if at is None else {**line(at)}
    if texts is not None:
        hover = hover or _BY_TEXT
    look |= {"mode": "lines+markers", "text": texts, "hovertemplate": hover, **more}
    trace = go.Scatter(name=name, x=x, y=y, **look)
    drawn.add_trace(trace, **({} if panel is None else {"row": panel, "col": 1}))


def draw_bars(
    drawn: Figure,
    name: str | None,
    x: Sequence[object],
    y: Sequence[object],
    *,
    hover: str | None = None,
    **more: Any,
) -> None:
    """Adds bars of one colour; `more` is what else plotly's Bar takes."""
    import plotly.graph_objects as go

    drawn.add_trace(go.Bar(name=name, x=x, y=y, hovertemplate=hover, **more))


def write_note(
    drawn: Figure, x: float, y: float, text: str, *, size: int | None = 13, **more: Any
) -> None:
    """Writes a text into the picture; a logarithmic axis wants a logarithm.

    Args:
        drawn: The picture.
        x: Where it stands.
        y: Where it stands.
        text: What is written.
        size: Of its letters, in pixels; None for the picture's own.
        more: What else plotly's annotation takes: `xanchor`, `yref` ...
    """
    font = {} if size is None else {"font": {"size": size}}
    drawn.add_annotation(**{"x": x, "y": y, "text": text, "showarrow": False, **font, **more})
