"""Published figures beside simulated ones, one a row: what is compared, as a table for programs."""

from __future__ import annotations

import csv
import io
from typing import Final

from raidlab.calibration.published.usage import use_of
from raidlab.calibration.published.validate import Compared, Validation
from raidlab.calibration.report.published import by_use, configured, outcome
from raidlab.scenarios.results.number_text import digits

COLUMNS: Final = (
    *("figure", "report", "configuration", "compared_with", "load", "queue_depth"),
    *("relation", "published", "high", "unit", "simulated", "error_pct"),
    *("iops", "compared_iops", "outcome", "used"),
)
"""`high` ends a range; `iops` and `compared_iops` are the two rates of a ratio."""


def listed(validation: Validation) -> str:
    """Every figure of `validation` as CSV, by report, predictions first.

    Numbers have three digits, as on the pages; errors one decimal, in percent. An empty cell means
    that the figure has no such value.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    sources = dict.fromkeys(row.figure.configuration.source for row in validation.rows)
    for source in sources:
        own = [row for row in validation.rows if row.figure.configuration.source == source]
        writer.writerows(_cells(row) for row in by_use(own))
    return text.getvalue()


def _cells(row: Compared) -> list[str]:
    figure, configuration = row.figure, row.figure.configuration
    sides = ("", "") if row.sides is None else tuple(_number(side) for side in row.sides)
    return [
        figure.id,
        configuration.source,
        configured(configuration),
        "" if figure.baseline is None else configured(figure.baseline),
        configuration.load,
        str(configuration.outstanding),
        figure.relation,
        _number(figure.value),
        _number(figure.high),
        row.unit,
        _number(row.simulated),
        "" if row.error_pct is None else f"{row.error_pct:.1f}",
        *sides,
        row.why_not or outcome(row),
        use_of(figure),
    ]


def _number(value: float | None) -> str:
    """Three digits, without the commas that are for people."""
    return "" if value is None else digits(value).replace(",", "")
