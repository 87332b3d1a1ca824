"""What a validation answers: how many published figures raidlab predicts, as a page and a table."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from math import log10
from typing import Literal

from raidlab.calibration.published.figures import Configuration, shared
from raidlab.calibration.published.gaps import in_words
from raidlab.calibration.published.usage import USES, use_of
from raidlab.calibration.published.validate import (
    Compared,
    FigureSummary,
    Validation,
    summaries_by_use,
    summarise,
)
from raidlab.scenarios import _engine
from raidlab.scenarios.report.chart import Figure, chart, draw_bars, draw_curve, write_note
from raidlab.scenarios.report.look import GREY, LINES, MARKS, OUTLINE, log_axis
from raidlab.scenarios.report.page import Box, Evidence, Folded, Page, Picture, Text
from raidlab.scenarios.report.report import Report
from raidlab.scenarios.report.tables import Cell, Column, Kind, Table
from raidlab.scenarios.results import markdown
from raidlab.scenarios.results.number_text import digits

_QUANTITIES = (("iops", "IO/s"), ("mib_per_s", "MiB/s"))
_EDGE = 40.0
"""Percent beyond which errors are counted at the edge."""
SHOWN = 30
"""Figures that a terminal shows unless it is asked for all."""
_BAR = 5.0
_FAR_RATIO = 1.25
"""Ratio to the published figure from which on a point is named."""
_LINE = 100
"""Characters of a line of the Markdown page."""
_OWN = "Figures of one's own"
_USED = {
    "predicted": "predicted: nothing was chosen with the figure in view",
    "chosen in view": "chosen in view: a parameter or a mechanism of the model was chosen by hand"
    " with the figure in view",
    "fitted": "fitted: parameters were fitted to the figure",
}


def report(validation: Validation) -> Report:
    """What is said of figures beside simulated ones, those outside the tolerance first."""
    rows = by_use(validation.rows)
    ordered = [*(row for row in rows if not row.held), *(row for row in rows if row.held)]
    tables = [uses_table(rows), replace(table(ordered), most=SHOWN)]
    title = f"{len(rows)} published figures beside simulated ones"
    return Report(title, answer(validation), tables, page=partial(page, validation))


def page(validation: Validation) -> Page:
    """The page of figures or claims, by source."""
    rows = validation.rows
    outside = [row for row in by_use(rows) if not row.held]
    evidence: list[Evidence] = [uses_table(rows), Text("", list(_USED.values()))]
    if outside:
        evidence.append(_table("Outside the tolerance", outside))
    for source in dict.fromkeys(row.figure.configuration.source for row in rows):
        own = by_use([row for row in rows if row.figure.configuration.source == source])
        evidence.append(Folded(_source(source, own), _table("", own)))
        left_out = in_words(source, _ids(own))
        if left_out:
            evidence.append(Text("", [f"{source}: {left_out}"]))
    return Page(
        kind="validation",
        question="How well does raidlab predict what others measured and published?",
        answer=answer(validation),
        boxes=_boxes(validation),
        breaches=validation.breaches,
        about=[
            "Within tolerance: 10 % of a figure from a table (=), 15 % of one in words (~), or"
            " inside a bound or range. A figure that cannot be simulated counts as outside and says"
            " why.",
        ],
        pictures=_pictures(rows),
        evidence=evidence,
        provenance=[f"raidlab {_engine.version()}, {len(rows)} figures."],
    )


def _ids(rows: Sequence[Compared]) -> list[str]:
    return [row.figure.id for row in rows]


def by_use(rows: Sequence[Compared]) -> list[Compared]:
    """The figures, predictions first; those of one use as they were."""
    return sorted(rows, key=lambda row: USES.index(use_of(row.figure)))


def answer(validation: Validation) -> str:
    """How many predictions lie within tolerance, and how many of all figures do not."""
    rows = validation.rows
    predicted = summaries_by_use(rows).get("predicted")
    outside = sum(not row.held for row in rows)
    ends = f"{outside} of all {len(rows)} figures lie outside"
    if predicted is None or not predicted["ran"]:
        return f"No prediction is among these figures; {ends}."
    found = []
    if predicted["numbers"]:
        text = f"{_share(predicted, 'numbers')} predicted numbers lie within tolerance"
        if predicted["median_abs_error_pct"] is not None:
            text += f", median error {digits(predicted['median_abs_error_pct'])} %"
        found.append(text)
    if predicted["relations"]:
        found.append(f"{_share(predicted, 'relations')} predicted bounds hold")
    return f"{'; '.join([*found, ends])}."


def _share(found: FigureSummary, of: Literal["numbers", "relations"]) -> str:
    """`8 of 9` numbers, or relations."""
    kept = found["numbers_kept"] if of == "numbers" else found["relations_kept"]
    return f"{kept} of {found[of]}"


def _boxes(validation: Validation) -> list[Box]:
    uses = summaries_by_use(validation.rows)
    first = uses.get("predicted") or summarise(validation.rows)
    of = "predicted " if "predicted" in uses else ""
    boxes = []
    if first["numbers"]:
        boxes.append(Box(_share(first, "numbers"), f"{of}numbers within tolerance"))
    if first["median_abs_error_pct"] is not None:
        error = f"{digits(first['median_abs_error_pct'])} %"
        boxes.append(Box(error, f"median error of {of}numbers"))
    if first["relations"]:
        boxes.append(Box(_share(first, "relations"), f"{of}bounds and ranges hold"))
    return boxes


def _source(source: str, rows: Sequence[Compared]) -> str:
    report = shared().get(source, shared()["default"])
    found = summarise(rows)
    load = f", load: {report.load_generator}" if report.load_generator else ""
    title = report.title or _OWN
    return f"{source}: {found['held']} of {found['rows']} within tolerance ({title}{load})"


def table(rows: Sequence[Compared]) -> Table:
    """A line for each figure, as a terminal shows it."""
    return _table("Figures", rows, Kind.TEXT)


def _table(title: str, rows: Sequence[Compared], words: Kind = Kind.PROSE) -> Table:
    columns = [
        Column("used", kind=Kind.TEXT, priority=3),
        Column("configuration", kind=words, priority=1, width=22),
        Column("load", kind=words, priority=2, width=10),
        Column("queue depth", kind=Kind.NUMBER, priority=4),
        Column("published", priority=1),
        Column("simulated", priority=1),
        Column("unit", kind=Kind.TEXT, priority=5, width=5),
        Column("error", "%"),
        Column("", kind=Kind.TEXT, width=7),
        Column("why not", kind=Kind.PROSE, priority=6, width=16),
        Column("figure", kind=Kind.TEXT, priority=7, width=12),
    ]
    found: list[list[Cell]] = [
        [
            use_of(row.figure),
            describe(row),
            row.figure.configuration.load,
            row.figure.configuration.outstanding,
            _published(row),
            row.simulated,
            row.unit,
            None if row.error_pct is None else _signed(row.error_pct),
            outcome(row),
            row.why_not or "",
            row.figure.id,
        ]
        for row in rows
    ]
    return Table(title, columns, found)


def _signed(error_pct: float) -> str:
    return f"{error_pct:+.1f}" if round(error_pct, 1) else "0.0"


def _published(row: Compared) -> str:
    relation = row.figure.relation if row.figure.relation not in ("=", "range") else ""
    end = f" to {digits(row.figure.high)}" if row.figure.high is not None else ""
    return f"{relation} {digits(row.figure.value)}{end}".lstrip()


def outcome(row: Compared) -> str:
    """Whether a figure lies within its tolerance."""
    if row.simulated is None:
        return "not run"
    return "within" if row.held else "outside"


def uses_table(rows: Sequence[Compared]) -> Table:
    """How far off figures are, by what they were used for; numbers and bounds apart."""
    return Table(
        "By what figures were used for",
        [
            Column("used", kind=Kind.TEXT, width=14),
            Column("numbers"),
            Column("within tolerance"),
            Column("median error", "%"),
            Column("nine in ten within", "%"),
            Column("bounds"),
            Column("bounds that hold"),
        ],
        [
            [
                use,
                found["numbers"],
                found["numbers_kept"] if found["numbers"] else None,
                found["median_abs_error_pct"],
                found["p90_abs_error_pct"],
                found["relations"],
                found["relations_kept"] if found["relations"] else None,
            ]
            for use, found in summaries_by_use(rows).items()
        ],
    )


def markdown_validation(validation: Validation, listing: str = "") -> str:
    """The table of `validation` as a Markdown page, by source.

    Args:
        validation: The figures, compared.
        listing: The file beside the page that lists every figure; the page then has those outside
            the tolerance alone. Without one the page has all.
    """
    lines = [
        "# Published and simulated figures",
        "Made by `make docs`. Within tolerance: 10 % of a figure from a table (=), 15 % of one in",
        "words (~), inside a bound or range. A figure that cannot be simulated says why.",
        "",
        *(line for each in _USED.values() for line in textwrap.wrap(f"- {each}", _LINE)),
        "",
        "Errors are of numbers alone: a bound that holds has none.",
        "",
        *_markdown_table(uses_table(validation.rows)),
    ]
    if listing:
        outside = by_use([row for row in validation.rows if not row.held])
        lines += [
            "",
            f"All {len(validation.rows)} figures, one a row: [{listing}]({listing}).",
            "",
            f"## The {len(outside)} outside the tolerance",
            *_markdown_rows(outside),
            "",
            "## By report",
        ]
    for source in dict.fromkeys(row.figure.configuration.source for row in validation.rows):
        own = [row for row in validation.rows if row.figure.configuration.source == source]
        said, missing = _of_report(source, own), in_words(source, _ids(own))
        if listing:
            words = f"- **{source}.** {said} {missing}".rstrip()
            lines += textwrap.wrap(words, _LINE, subsequent_indent="  ")
        else:
            lines += ["", f"## {source}", *textwrap.wrap(said, _LINE), ""]
            lines += [*_paragraph(missing), *_markdown_rows(by_use(own))]
    return "\n".join(lines) + "\n"


def _of_report(source: str, rows: Sequence[Compared]) -> str:
    """A report's title, and how many of its figures are within tolerance."""
    found, report = summarise(rows), shared().get(source, shared()["default"])
    median = found["median_abs_error_pct"]
    return (
        f"{report.title or _OWN}. {found['held']} of {found['rows']} within tolerance,"
        f" {found['ran']} ran, median error {'–' if median is None else digits(median)} %."
    )


def _markdown_rows(rows: Sequence[Compared]) -> list[str]:
    heads = (
        "figure | configuration | load | queue depth | published | simulated | error, % | | used"
    )
    return markdown.table(heads, map(_cells, rows))


def _paragraph(text: str) -> list[str]:
    """Lines of a text with an empty one behind it; none for no text."""
    return [*textwrap.wrap(text, _LINE), ""] if text else []


def _markdown_table(found: Table) -> list[str]:
    heads = [column.head.replace(" %", ", %") for column in found.columns]
    rows = [
        [
            digits(cell) if isinstance(cell, float) else "–" if cell is None else str(cell)
            for cell in row
        ]
        for row in found.rows
    ]
    return markdown.table(" | ".join(heads), rows)


def _cells(row: Compared) -> tuple[str, ...]:
    return (
        row.figure.id,
        describe(row),
        row.figure.configuration.load,
        str(row.figure.configuration.outstanding),
        f"{row.figure.relation} {digits(row.figure.value)}"
        + (f" to {digits(row.figure.high)}" if row.figure.high is not None else "")
        + f" {row.unit}",
        "–" if row.simulated is None else digits(row.simulated),
        "" if row.error_pct is None else _signed(row.error_pct),
        row.why_not or outcome(row),
        use_of(row.figure),
    )


def describe(row: Compared) -> str:
    """A row's configuration in a few words."""
    return configured(row.figure.configuration)


def configured(configuration: Configuration) -> str:
    """A configuration in a few words: `raid0 of 8 sas-6g-hdd, lsi2008; write=write-through`."""
    drives = " ".join(part for part in (configuration.drive, configuration.format) if part)
    if configuration.count > 1 or configuration.level != "single":
        drives = f"{configuration.level} of {configuration.count} {drives}"
    if configuration.raid_by == "os":
        drives += " (OS)"
    where = f", {configuration.controller}" if configuration.controller else ""
    settings = "; ".join(f"{key}={value}" for key, value in configuration.settings.items())
    return f"{drives}{where}{'; ' + settings if settings else ''}"


def _pictures(rows: Sequence[Compared]) -> list[Picture]:
    pictures = []
    for quantity, unit in _QUANTITIES:
        own = [
            row
            for row in rows
            if row.figure.quantity == quantity
            and row.figure.relation in ("=", "~")
            and row.simulated
            and row.figure.value
        ]
        if own:
            within = sum(row.held for row in own)
            pictures.append(
                Picture(
                    f"{within} of {len(own)} rates in {unit} lie within tolerance",
                    "Simulated over published, by the published figure; the band is 10 %, what is"
                    f" more than {100 * (_FAR_RATIO - 1):.0f} % off is named.",
                    ratios(own, unit),
                )
            )
    numbers = [
        row for row in rows if row.error_pct is not None and row.figure.relation in ("=", "~")
    ]
    if numbers:
        pictures.append(
            Picture(
                "Errors by what the figures were used for",
                f"Figures by error in percent; beyond {_EDGE:.0f} % counted at the edge.",
                _errors(numbers),
            )
        )
    return pictures


def ratios(rows: Sequence[Compared], unit: str) -> Figure:
    """Simulated over published, by the published figure."""
    drawn = chart(height=360, legend=40)
    for at, use in enumerate(USES):
        own = [row for row in rows if use_of(row.figure) == use]
        if own:
            draw_curve(
                drawn,
                use,
                [row.figure.value for row in own],
                [(row.simulated or 0.0) / row.figure.value for row in own],
                texts=[f"{row.figure.id}: {describe(row)}" for row in own],
                hover=("%{text}<br>published %{x:,}, simulated %{y:.3f} of it<extra></extra>"),
                mode="markers",
                marker={"color": LINES[at], "size": 7, "opacity": 0.8, "symbol": MARKS[at]},
            )
    drawn.add_hrect(y0=0.9, y1=1.1, fillcolor=GREY, opacity=0.25, line_width=0, layer="below")
    drawn.update_xaxes(log_axis([row.figure.value for row in rows], f"published, {unit}"))
    every = [(row.simulated or 0.0) / row.figure.value for row in rows]
    low, high = min(0.7, *every), max(1.4, *every)
    drawn.update_yaxes(title_text="simulated / published", range=[low - 0.05, high + 0.05])
    _name_far(drawn, rows)
    return drawn


def _name_far(drawn: Figure, rows: Sequence[Compared]) -> None:
    for row in rows:
        ratio = (row.simulated or 0.0) / row.figure.value
        if not 1 / _FAR_RATIO <= ratio <= _FAR_RATIO:
            write_note(drawn, log10(row.figure.value), ratio, row.figure.id, size=11, yshift=9)


def _errors(rows: Sequence[Compared]) -> Figure:
    drawn = chart(height=360)
    middles = [_BAR * step for step in range(-int(_EDGE / _BAR), int(_EDGE / _BAR) + 1)]
    for at, use in enumerate(USES):
        errors = [row.error_pct or 0.0 for row in rows if use_of(row.figure) == use]
        if not errors:
            continue
        places = [max(-_EDGE, min(_EDGE, _BAR * round(error / _BAR))) for error in errors]
        draw_bars(
            drawn,
            use,
            middles,
            [places.count(middle) for middle in middles],
            hover="%{x} %: %{y} figures<extra>" + use + "</extra>",
            marker={"color": LINES[at], "line": {"width": 0.75, "color": OUTLINE}},
        )
    drawn.update_layout(barmode="stack", bargap=0.05, showlegend=True, margin_t=40)
    drawn.update_xaxes(title_text="error, %", dtick=10)
    drawn.update_yaxes(title_text="figures")
    return drawn
