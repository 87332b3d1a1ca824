"""`raidlab import datasheet`: what a maker states becomes a device file."""

from __future__ import annotations

import json as json_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from raidlab.commands.common import Json, check_writable, command, path, say
from raidlab.commands.outputs import deliver
from raidlab.commands.tables import Output, opening, print_table
from raidlab.output import echo
from raidlab.scenarios.results.look import Column, Kind, Table

if TYPE_CHECKING:
    from raidlab.calibration.datasheets.build import Imported


@command
def datasheet(
    sheet: Annotated[Path, typer.Argument(help="What a maker states, as TOML.", parser=path)],
    out: Annotated[Path, typer.Option("--out", help="The device file to write.", parser=path)],
    json: Json = False,
) -> None:
    """Make a device file of what a maker states; says what contradicts itself."""
    from raidlab.calibration.datasheets.build import import_datasheet

    check_writable(out)
    imported = import_datasheet(sheet)
    for warning in imported.warnings:
        say(f"warning: {sheet}: {warning}")

    def show() -> None:
        if json:
            echo(json_module.dumps({"device": str(out)} | imported.to_dict(), indent=2))
        else:
            _show(imported, out)

    deliver([{out: imported.draft.to_toml}], show)


def _show(imported: Imported, out: Path) -> None:
    opening(f"{imported.name}: {out}", f"raidlab devices {out} shows every number.")
    rows = [
        [
            point.quantity,
            f"{point.stated:,.6g} {point.unit}",
            f"{point.simulated:,.6g} {point.unit}",
            "burst" if point.error_pct is None else f"{point.error_pct:+.1f} %",
        ]
        for point in imported.points
    ]
    columns = [
        Column("figure", kind=Kind.TEXT, width=18),
        Column("stated", kind=Kind.TEXT, width=16),
        Column("simulated", kind=Kind.TEXT, width=16),
        Column("error", kind=Kind.TEXT, width=8),
    ]
    if rows:
        print_table(Table("", columns, rows), Output.of(json=False, wide=False))
