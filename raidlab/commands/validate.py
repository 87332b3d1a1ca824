"""`raidlab validate`: published figures beside simulated ones."""

from __future__ import annotations

import json as json_module
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from raidlab.calibration.published.figures import (
    figures_of,
    figures_of_drives,
    read_figures,
    read_published,
)
from raidlab.calibration.published.usage import use_of
from raidlab.calibration.published.validate import Validation
from raidlab.calibration.published.validate import validate as compare
from raidlab.commands.common import (
    DOES_NOT_HOLD,
    Html,
    Json,
    Workers,
    check_writable,
    command,
    path,
    resumable,
    say,
    table,
)
from raidlab.devices.files import write_file


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
    ] = None,
    drive: Annotated[
        str | None, typer.Option("--drive", help="Only figures of drives whose name holds this.")
    ] = None,
    json: Json = False,
    html: Html = None,
    markdown: Annotated[
        Path | None,
        typer.Option("--markdown", help="Write the table as a Markdown page.", parser=path),
    ] = None,
    workers: Workers = None,
) -> None:
    """Show every published figure beside its simulated value, with the error.

    Exits with 1 if a figure is not within tolerance: within 10 % of a number from a table, 15 % of
    one in words, inside a bound or range.
    """
    check_writable(html, markdown)
    chosen = read_published() if figures is None else read_figures(figures)
    if source is not None:
        chosen = list(figures_of(source, chosen))
    if drive is not None:
        chosen = list(figures_of_drives(drive, chosen))
    with resumable("simulating published figures") as (tell, store):
        validation = compare(chosen, workers=workers, progress=tell, store=store)
    if json:
        print(json_module.dumps(validation.to_dict(), indent=2, allow_nan=False))
    else:
        _show(validation)
    if html is not None:
        from raidlab.calibration.published.report import html_validation

        write_file(html, html_validation(validation))
        say(f"wrote {html}")
    if markdown is not None:
        from raidlab.calibration.published.report import markdown_validation

        write_file(markdown, markdown_validation(validation))
    if not all(row.held for row in validation.rows):
        raise typer.Exit(DOES_NOT_HOLD)


def _show(validation: Validation) -> None:
    from raidlab.calibration.published.report import describe

    rows = [
        {
            "figure": row.figure.id,
            "configuration": describe(row),
            "load": row.figure.configuration.load,
            "outst.": row.figure.configuration.outstanding,
            "published": f"{row.figure.relation} {row.figure.value:g}"
            + (f" to {row.figure.high:g}" if row.figure.high is not None else ""),
            "simulated": row.simulated,
            "unit": row.unit,
            "error %": "-" if row.error_pct is None else f"{row.error_pct:+.1f}",
            "held": "held" if row.held else row.why_not or "off",
            "used": use_of(row.figure),
        }
        for row in validation.rows
    ]
    table(rows)
    summary = validation.summary()
    del summary["numbers"], summary["bounds"]
    for use, group in summary.pop("by_use").items():
        print(f"{use}: {_line(group)}")
    print(_line(summary))


def _line(summary: Mapping[str, float | None]) -> str:
    return ", ".join(f"{key} {_short(value)}" for key, value in summary.items())


def _short(value: float | None) -> str:
    return "-" if value is None else f"{value:g}" if isinstance(value, int) else f"{value:.1f}"
