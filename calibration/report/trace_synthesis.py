"""A synthetic trace beside its original, as a table and as a page."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from raidlab.calibration.report.trace_description import pictures
from raidlab.scenarios.report.page import Box, Page
from raidlab.scenarios.report.report import Report
from raidlab.scenarios.report.tables import Column, Kind, Table

if TYPE_CHECKING:
    from raidlab.calibration.traces.synthesis import Synthesized


def answer(found: Synthesized) -> str:
    """Whether the statistics agree."""
    differ = [each.name for each in found.statistics if not each.holds]
    if differ:
        return f"More than 10 % off: {', '.join(differ)}."
    return "All statistics are within 10 % of the original's."


def table(found: Synthesized) -> Table:
    """What a terminal shows."""
    columns = [
        Column("", kind=Kind.TEXT),
        Column("original", kind=Kind.TEXT),
        Column("synthetic", kind=Kind.TEXT),
        Column("difference", "%"),
    ]

    def text(value: float | None, unit: str) -> str:
        return "-" if value is None else f"{value:,.4g} {unit}".strip()

    rows = [
        [
            each.name,
            text(each.original, each.unit),
            text(each.synthetic, each.unit),
            None if each.difference is None else 100 * each.difference,
        ]
        for each in found.statistics
    ]
    return Table("Statistics", columns, rows)


def report(found: Synthesized) -> Report:
    """What a terminal shows, and the page."""
    title = f"{found.out.name}: like {found.original.name}"
    return Report(title, answer(found), [table(found)], page=partial(_page, found))


def _page(found: Synthesized) -> Page:
    held = sum(each.holds for each in found.statistics)
    return Page(
        kind="trace",
        question=f"Is {found.out.name} like {found.original.name}?",
        boxes=[
            Box(f"{found.synthetic.found['requests']:,}", "requests"),
            Box(f"{held} of {len(found.statistics)}", "statistics within 10 %"),
        ],
        beside=found.original.warnings,
        pictures=pictures({"original": found.original, "synthetic": found.synthetic}),
        evidence=[table(found)],
    )
