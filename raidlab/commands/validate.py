"""`raidlab validate`: published figures beside simulated ones."""

from __future__ import annotations

import json as json_module
import os
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from raidlab.calibration.published.claims import DEPTHS
from raidlab.calibration.published.figures import (
    figures_of,
    figures_of_drives,
    read_claims,
    read_figures,
    read_published,
)
from raidlab.calibration.published.validate import Validation
from raidlab.calibration.published.validate import validate as compare
from raidlab.calibration.report.claims import answer as claims_answer
from raidlab.calibration.report.claims import markdown_claims, table
from raidlab.commands.again import again
from raidlab.commands.common import (
    DOES_NOT_HOLD,
    Html,
    Json,
    Workers,
    command,
    path,
    resumable,
)
from raidlab.commands.file_kinds import FileKind
from raidlab.commands.files_written import Reads, Writes
from raidlab.commands.outputs import deliver
from raidlab.commands.tables import Output, Wide, print_report
from raidlab.devices.faults import Fault, SpecError
from raidlab.output import echo
from raidlab.scenarios.report.report import Report

_SHOWN = 30
"""Figures that a terminal shows unless it is asked for all."""


@command
def validate(
    source: Annotated[
        str | None, typer.Argument(help="One report: iodrive, p3700, raid-controllers-2013 ...")
    ] = None,
    figures: Annotated[
        Path | None,
        typer.Option(
            "--figures",
            help="A file of figures of the same form instead of raidlab's.",
            parser=path,
        ),
        Reads(),
    ] = None,
    claims: Annotated[
        bool,
        typer.Option(
            "--claims", help="What the reports state in words: ratios, orders, saturation points."
        ),
    ] = False,
    drive: Annotated[
        str | None, typer.Option("--drive", help="Only figures of drives whose name holds this.")
    ] = None,
    json: Json = False,
    html: Html = None,
    markdown: Annotated[
        Path | None,
        typer.Option("--markdown", help="Write the table as a Markdown page.", parser=path),
        Writes(FileKind.MARKDOWN),
    ] = None,
    csv: Annotated[
        Path | None,
        typer.Option(
            "--csv",
            help="Write each figure as a row; the Markdown page then links it.",
            parser=path,
        ),
        Writes(FileKind.FIGURES),
    ] = None,
    wide: Wide = False,
    workers: Workers = None,
) -> None:
    """Show every published figure beside its simulated value, with the error.

    Exits with 1 if a figure is outside the tolerance: 10 % of a number from a table, 15 % of one
    in words, inside a bound or range.
    """
    if claims and figures is not None:
        allowed = "left out beside --claims, which has raidlab's claims"
        raise SpecError([Fault("--figures", str(figures), allowed)])
    supplied = read_claims if claims else read_published
    chosen = supplied() if figures is None else read_figures(figures)
    if source is not None:
        chosen = list(figures_of(source, chosen))
    if drive is not None:
        chosen = list(figures_of_drives(drive, chosen))
    with resumable("simulating published figures") as (tell, store):
        depths = DEPTHS if claims else None
        validation = compare(chosen, depths=depths, workers=workers, progress=tell, store=store)

    def page() -> str:
        from raidlab.calibration.report.published import html_validation

        return html_validation(validation, again("validate"))

    def as_markdown() -> str:
        from raidlab.calibration.report.published import markdown_validation

        made = markdown_claims if claims else markdown_validation
        beside = (markdown or Path()).parent
        return made(validation, "" if csv is None else os.path.relpath(csv, beside))

    def as_csv() -> str:
        from raidlab.calibration.report.published_listing import listed

        return listed(validation)

    def show() -> None:
        if json:
            echo(json_module.dumps(validation.to_dict(), indent=2, allow_nan=False))
        else:
            _show(validation, Output.of(json=False, wide=wide), claims=claims)

    deliver([{html: page}, {markdown: as_markdown, csv: as_csv}], show)
    if not all(row.held for row in validation.rows):
        raise typer.Exit(DOES_NOT_HOLD)


def _show(validation: Validation, output: Output, *, claims: bool) -> None:
    """What figures were used for, then figures, those outside the tolerance first."""
    from raidlab.calibration.report import published as report

    if claims:
        shown = [replace(table(validation.rows), most=_SHOWN)]
        title = f"{len(validation.rows)} claims of the reports beside simulated ones"
        print_report(Report(title, claims_answer(validation), shown), output)
        return
    rows = report.by_use(validation.rows)
    outside = [row for row in rows if not row.held]
    figures = replace(report.table([*outside, *(row for row in rows if row.held)]), most=_SHOWN)
    tables = [report.uses_table(rows), figures]
    title = f"{len(rows)} published figures beside simulated ones"
    print_report(Report(title, report.answer(validation), tables), output)
