"""A page of results: one HTML file that needs nothing else, not even a network.

Every page has the same order: question, answer, at most three figures, warnings that change the
answer, pictures, evidence, and how to make it again. The same results give the same bytes.
"""

from __future__ import annotations

import base64
import csv
import io
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, TypedDict

from raidlab.devices.printable import printable_lines, without_tags
from raidlab.devices.trees import Document
from raidlab.scenarios.report.tables import Cell, Column, Kind, Table, cells
from raidlab.scenarios.results.number_text import joined

if TYPE_CHECKING:
    import jinja2
    import plotly.graph_objects as go

BOXES = 3
"""Figures that stand out on a page, at most."""
_ROWS = 200
"""Rows of a picture's data that a page shows; of more there is the file alone."""
_WARNINGS_ON_TOP = 3
"""Warnings that stand beside the answer; more are behind a click."""
_NARROW_PRIORITY = 3
"""Columns of larger priority are hidden on narrow screens."""
_NO_PLOTS = "[]"
"""Plots of a page without any."""
_NO_WORD = re.compile(r"[^a-z0-9]+")
_HUE, _TOO_FAST, _TOO_SLOW = "blue", "orange", "blue"


@dataclass(frozen=True)
class Box:
    """One of the figures that stand out."""

    value: str
    text: str


@dataclass(frozen=True)
class HeatMap:
    """A table whose cells are coloured by their value."""

    corner: str
    columns: Sequence[str]
    rows: Sequence[tuple[str, Sequence[float | None]]]
    limit: float
    """Where the colour is full; negative values have the other colour."""
    signed: bool = False


@dataclass(frozen=True)
class Picture:
    """Something drawn: its title says what is seen, its subtitle what is drawn."""

    seen: str
    drawn: str
    figure: go.Figure | None = None
    heat_map: HeatMap | None = None
    wide: bool = False
    """True for the whole width of a page."""
    data: Table | None = None
    """What it shows as a table, where its lines and bars alone do not say it."""


@dataclass(frozen=True)
class Text:
    """A paragraph of the evidence; `listing` is shown as it is, `folded` behind a click."""

    title: str
    lines: Sequence[str] = ()
    listing: str = ""
    folded: bool = False
    assumed: bool = False
    """True if its lines are assumptions: each is marked as one."""


@dataclass(frozen=True)
class Folded:
    """A table behind a click."""

    title: str
    table: Table


Evidence = Table | Text | Folded


@dataclass(frozen=True)
class Fragment:
    """A page's content without its frame."""

    html: str
    plots: str
    """What `draw` of the pages' script takes, as JSON."""


@dataclass(frozen=True)
class Page:
    """What a page says."""

    kind: str
    """Of question: `run`, `rebuild` ..."""
    question: str
    answer: str = ""
    boxes: Sequence[Box] = ()
    beside: Sequence[str] = ()
    """Warnings that may change the answer."""
    breaches: Sequence[str] = ()
    """Checks of the engine that failed."""
    about: Sequence[str] = ()
    """Sentences before the pictures."""
    pictures: Sequence[Picture] = ()
    evidence: Sequence[Evidence] = ()
    appendix_pictures: Sequence[Picture] = ()
    """For those who check the answer: after all else, on a sheet of its own in print."""
    appendix: Sequence[Evidence] = ()
    provenance: Sequence[str] = field(default=())
    command: str = ""
    """Makes the page again."""

    def html(self) -> str:
        """The page as text."""
        values, plots = self._values()
        plotly = _plotly() if plots != _NO_PLOTS else ""
        template = _templates().get_template("base.html.j2")
        return template.render(**values, plots=plots, heading="h1", plotly_js=plotly)

    def fragment(self) -> Fragment:
        """What the page says, to stand in another page that has the style and the script."""
        values, plots = self._values()
        template = _templates().get_template("report.html.j2")
        return Fragment(template.render(**values, plots=plots, heading="h2"), plots)

    def _values(self) -> tuple[Document, str]:
        """What the templates take, and the pictures as plotly takes them."""
        every = [*self.pictures, *self.appendix_pictures]
        drawn = [_drawn(at, picture) for at, picture in enumerate(every, 1)]
        plotted = [each["plot"] for each in drawn if each["plot"] is not None]
        values: Document = {
            "page": self,
            "joined": joined,
            "beside": list(self.beside)[:_WARNINGS_ON_TOP],
            "further": list(self.beside)[_WARNINGS_ON_TOP:],
            "boxes": list(self.boxes)[:BOXES],
            "pictures": drawn[: len(self.pictures)],
            "evidence": [_evidence(each) for each in self.evidence],
            "appendix_pictures": drawn[len(self.pictures) :],
            "appendix": [_evidence(each) for each in self.appendix],
        }
        return values, "[" + ",\n".join(plotted).replace("</", "<\\/") + "]"


def _shown(value: Any) -> Any:
    """What a template inserts; what is no markup of raidlab's own shows and does nothing else."""
    return printable_lines(value) if type(value) is str else value


@cache
def _templates() -> jinja2.Environment:
    import jinja2

    folder = files("raidlab.scenarios.report").joinpath("templates")
    found = [each for each in folder.iterdir() if each.name.endswith(".j2")]
    return jinja2.Environment(
        loader=jinja2.DictLoader({each.name: each.read_text("utf-8") for each in found}),
        autoescape=True,
        finalize=_shown,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@cache
def _plotly() -> str:
    """The drawing library: the part of plotly.js that has lines, points and bars."""
    folder = files("raidlab.scenarios.report").joinpath("static")
    return folder.joinpath("plotly-basic.min.js").read_text("utf-8")


class _Drawn(TypedDict):
    """What the templates take of a picture."""

    id: str
    picture: Picture
    plot: str | None
    height: float | None
    heat_map: Document | None
    data: Document | None
    csv: str | None


def _drawn(at: int, picture: Picture) -> _Drawn:
    plot, data = None, None
    name = f"picture-{at}"
    if picture.figure is not None:
        figure = without_tags(json.loads(picture.figure.to_json(), parse_float=_rounded))
        plot = json.dumps({"id": f"{name}-plot", **figure}, sort_keys=True, separators=(",", ":"))
        data = picture.data or data_of(picture.figure)
    return {
        "id": name,
        "picture": picture,
        "plot": plot,
        "height": picture.figure.layout.height if picture.figure is not None else None,
        "heat_map": None if picture.heat_map is None else _heat_map(picture.heat_map),
        "data": None if data is None or not 0 < len(data.rows) <= _ROWS else _table(data),
        "csv": None if data is None or not data.rows else _csv(data),
    }


def _rounded(text: str) -> float:
    """A number with as many digits as a picture shows, and more."""
    return float(f"{float(text):.6g}")


def data_of(figure: go.Figure) -> Table:
    """What a picture's named lines and bars show, as a table."""
    named = [trace for trace in figure.data if trace.name]
    flat = any(trace.type == "bar" and trace.orientation == "h" for trace in named)
    across, up = ("y", "x") if flat else ("x", "y")
    places: dict[Any, None] = {}
    found: dict[str, dict[Any, Any]] = {}
    for trace in named:
        at, values = trace[across], trace[up]
        pairs = zip(() if at is None else at, () if values is None else values, strict=False)
        for place, value in pairs:
            places.setdefault(place)
            found.setdefault(trace.name, {})[place] = value
    axes = figure.select_yaxes() if flat else figure.select_xaxes()
    title = next((axis.title.text for axis in axes if axis.title.text), "")
    names = list(found)
    return Table(
        "",
        [Column(title or across), *(Column(_plain(name)) for name in names)],
        [[_value(place), *(_value(found[name].get(place)) for name in names)] for place in places],
    )


def _plain(text: str) -> str:
    return text.replace("<br>", " ").replace("<b>", "").replace("</b>", "")


def _value(value: Any) -> Cell:
    if value is None or isinstance(value, str):
        return value
    number = float(value)
    return int(number) if number.is_integer() and abs(number) < 1e15 else number


def _csv(table: Table) -> str:
    """The address of the table as a file that a browser can save."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([column.head for column in table.columns])
    writer.writerows(
        [f"{cell:.6g}" if isinstance(cell, float) else cell for cell in row] for row in table.rows
    )
    return "data:text/csv;base64," + base64.b64encode(text.getvalue().encode()).decode()


def _heat_map(heat_map: HeatMap) -> Document:
    def cell(value: float | None) -> dict[str, str]:
        if value is None:
            return {"text": "", "mix": "0", "hue": _HUE}
        text = f"{value:+.0f}" if heat_map.signed and round(value) else f"{abs(value):.0f}"
        mix = min(1.0, abs(value) / heat_map.limit)
        hue = (_TOO_FAST if value > 0 else _TOO_SLOW) if heat_map.signed else _HUE
        return {"text": text, "mix": f"{70 * mix:.0f}", "hue": hue}

    return {
        "corner": heat_map.corner,
        "columns": heat_map.columns,
        "rows": [(name, [cell(value) for value in values]) for name, values in heat_map.rows],
    }


def _table(table: Table) -> Document:
    shown = table.shown()
    columns = []
    for at, column in enumerate(shown.columns):
        values = [row[at] for row in shown.rows]
        if column.kind is Kind.NUMBER:
            texts = cells(values, digit="\u2007", point="\u2008", none="–")
        else:
            texts = ["–" if value is None else str(value) for value in values]
        classes = {Kind.NUMBER: "", Kind.TEXT: "text", Kind.PROSE: "text prose"}[column.kind]
        if column.priority > _NARROW_PRIORITY:
            classes = f"{classes} wide".strip()
        columns.append({"head": column.head, "classes": classes, "texts": texts})
    return {
        "title": table.title,
        "note": table.note,
        "columns": columns,
        "csv": _csv(table) if table.title and table.rows else "",
        "file": f"{_NO_WORD.sub('-', table.title.lower()).strip('-')}.csv",
        "count": len(shown.rows),
        "marked": set(table.marked),
    }


def _evidence(each: Evidence) -> Document:
    if isinstance(each, Table):
        return {"kind": "table", "title": each.title, "table": _table(each)}
    if isinstance(each, Folded):
        return {"kind": "folded", "title": each.title, "table": _table(each.table)}
    return {"kind": "text", "title": each.title, "text": each}
