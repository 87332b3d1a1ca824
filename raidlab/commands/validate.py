"""`raidlab validate`: published figures beside simulated ones."""

from __future__ import annotations

import json as json_module
import os
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
from raidlab.calibration.published.validate import validate as compare
from raidlab.calibration.report.claims import markdown_claims
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
from raidlab.commands.outputs import deliver, page_of
from raidlab.commands.tables import Output, Wide, print_report
from raidlab.devices.faults import Fault, SpecError
from raidlab.output import echo
from raidlab.scenarios.report.report import Report


@command
def validate(
    source: Annotated[
        str | None,
        typer.Argument(help="One report (iodrive, p3700 ...), or one figure by its id."),
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
        if figures is None:
            _refuse_id_of_the_others(source, claims=claims)
        chosen = figures_of(source, chosen)
    if drive is not None:
        chosen = list(figures_of_drives(drive, chosen))
    with resumable("simulating published figures") as (tell, store):
        depths = DEPTHS if claims else None
        validation = compare(chosen, depths=depths, workers=workers, progress=tell, store=store)

    def shown() -> Report:
        from raidlab.calibration.report import claims as of_claims
        from raidlab.calibration.report import published as of_figures

        return of_claims.report(validation) if claims else of_figures.report(validation)

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
            print_report(shown(), Output.of(json=False, wide=wide))

    deliver([{html: page_of(shown, "validate")}, {markdown: as_markdown, csv: as_csv}], show)
    if not all(row.held for row in validation.rows):
        raise typer.Exit(DOES_NOT_HOLD)


def _refuse_id_of_the_others(name: str, *, claims: bool) -> None:
    """Refuses the id of a claim without --claims, and that of a figure with it.

    Raises:
        SpecError: It is one.
    """
    others = {
        figure.id.lower(): figure.id for figure in (read_published if claims else read_claims)()
    }
    if name.lower() in others:
        how = ("figure", "without") if claims else ("claim", "with")
        allowed = f"the {how[0]} {others[name.lower()]}: {how[1]} --claims"
        raise SpecError([Fault("SOURCE", name, allowed)])
