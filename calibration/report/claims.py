"""Claims of the reports beside what is simulated: a sentence, a table, a Markdown page."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from raidlab.calibration.published.claims import DEPTHS, causes
from raidlab.calibration.published.figures import Figure, shared
from raidlab.calibration.published.validate import Compared, Validation
from raidlab.calibration.report.published import SHOWN, describe, page
from raidlab.scenarios.report.report import Report
from raidlab.scenarios.report.tables import Cell, Column, Kind, Table
from raidlab.scenarios.results import markdown
from raidlab.scenarios.results.number_text import digits

_LINE: Final = 100
"""Characters of a line of the Markdown page."""


def answer(validation: Validation) -> str:
    """How many claims are held."""
    held = sum(row.held for row in validation.rows)
    parts = [f"{held} of {len(validation.rows)} claims of the reports are held."]
    for source, own in _by_source(validation.rows).items():
        parts.append(f"{source}: {sum(row.held for row in own)} of {len(own)}.")
    return " ".join(parts)


def report(validation: Validation) -> Report:
    """What is said of claims beside simulated ones, those not held first."""
    title = f"{len(validation.rows)} claims of the reports beside simulated ones"
    shown = replace(table(validation.rows), most=SHOWN)
    return Report(title, answer(validation), [shown], page=partial(page, validation))


def table(rows: Sequence[Compared]) -> Table:
    """A line for each claim, those not held first, as a terminal shows it."""
    reasons = causes()
    ordered = [*(row for row in rows if not row.held), *(row for row in rows if row.held)]
    columns = [
        Column("claim", kind=Kind.TEXT, priority=1, width=20),
        Column("", kind=Kind.TEXT, width=8),
        Column("stated", priority=1),
        Column("simulated", priority=1),
        Column("unit", kind=Kind.TEXT, priority=5, width=5),
        Column("this", "IO/s", priority=2),
        Column("compared", "IO/s", priority=2),
        Column("configuration", kind=Kind.PROSE, priority=3, width=22),
        Column("load", kind=Kind.PROSE, priority=4, width=10),
        Column("why", kind=Kind.PROSE, priority=6, width=20),
    ]
    found: list[list[Cell]] = [
        [
            row.figure.id,
            _outcome(row),
            _stated(row.figure),
            row.simulated,
            row.unit,
            None if row.sides is None else row.sides[0],
            None if row.sides is None else row.sides[1],
            describe(row),
            row.figure.configuration.load,
            row.why_not or ("" if row.held else reasons.get(row.figure.id, "")),
        ]
        for row in ordered
    ]
    return Table("Claims", columns, found)


def markdown_claims(validation: Validation, listing: str = "") -> str:
    """The table of claims as a Markdown page, by report, with the causes of those not held.

    Args:
        validation: The claims, compared.
        listing: The file beside the page that lists every claim; the page then has those that are
            not held alone. Without one the page has all.
    """
    depths = ", ".join(map(str, DEPTHS))
    lines = [
        "# Claims of the reports",
        "",
        "Made by `make docs`. Each claim is a ratio, an order or a saturation point that a report",
        "states in words. Its two runs follow from its columns, as those of",
        "[figures](../reference/formats/published.md) do. A reader chose the bounds of words such",
        f"as *slightly*. `max` is the best of {depths} outstanding I/Os.",
        "",
        *textwrap.wrap(answer(validation), _LINE),
    ]
    if listing:
        lines += ["", f"All {len(validation.rows)} claims, one a row: [{listing}]({listing}); here"]
        lines[-1] += " are those that are not held."
    for source, own in _by_source(validation.rows).items():
        missed = [row for row in own if not row.held]
        if missed or not listing:
            title = textwrap.wrap(f"{shared()[source].title}.", _LINE)
            lines += ["", f"## {source}", "", *title, ""]
            lines += _of_report(missed if listing else own, missed)
    return "\n".join(lines) + "\n"


def _of_report(rows: Sequence[Compared], missed: Sequence[Compared]) -> list[str]:
    """The claims of one report as a table, and why those are not held that are not."""
    lines = markdown.table(
        "claim | configuration | load | queue depth | stated | simulated |"
        " IO/s, this and compared |",
        map(_cells, rows),
    )
    if missed:
        lines += ["", "Not held:", ""]
    reasons = causes()
    for why in dict.fromkeys(reasons.get(row.figure.id, "") for row in missed):
        names = [f"`{row.figure.id}`" for row in missed if reasons.get(row.figure.id, "") == why]
        text = f"- {', '.join(names)}: {why or 'no cause is known'}"
        lines += textwrap.wrap(text, _LINE, subsequent_indent="  ", break_on_hyphens=False)
    return lines


def _by_source(rows: Sequence[Compared]) -> dict[str, list[Compared]]:
    sources = dict.fromkeys(row.figure.configuration.source for row in rows)
    return {
        source: [row for row in rows if row.figure.configuration.source == source]
        for source in sources
    }


def _stated(figure: Figure) -> str:
    relation = figure.relation if figure.relation not in ("=", "range") else ""
    end = f" to {digits(figure.high)}" if figure.high is not None else ""
    return f"{relation} {digits(figure.value)}{end}".lstrip()


def _outcome(row: Compared) -> str:
    return "not run" if row.simulated is None else "held" if row.held else "not held"


def _cells(row: Compared) -> tuple[object, ...]:
    configuration = row.figure.configuration
    return (
        row.figure.id,
        describe(row),
        configuration.load,
        configuration.outstanding,
        f"{_stated(row.figure)} {row.unit}",
        "–" if row.simulated is None else digits(row.simulated),
        "" if row.sides is None else f"{digits(row.sides[0])}, {digits(row.sides[1])}",
        row.why_not or _outcome(row),
    )
