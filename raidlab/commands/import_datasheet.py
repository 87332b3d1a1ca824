"""`raidlab import datasheet`: what a maker states becomes a device file."""

from __future__ import annotations

import json as json_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from raidlab.commands.common import (
    DOES_NOT_HOLD,
    Json,
    command,
    path,
    progress,
    say,
)
from raidlab.commands.file_kinds import FileKind
from raidlab.commands.files_written import Reads, Writes, own_device
from raidlab.commands.outputs import deliver
from raidlab.commands.tables import Output, opening, print_table
from raidlab.output import echo
from raidlab.scenarios.report.tables import Column, Kind, Table

if TYPE_CHECKING:
    from raidlab.calibration.datasheets.build import Imported


@command
def datasheet(
    sheet: Annotated[
        Path, typer.Argument(help="What a maker states, as TOML.", parser=path), Reads()
    ],
    out: Annotated[
        Path,
        typer.Option("--out", help="The device file to write.", parser=path),
        Writes(FileKind.DEVICE),
    ],
    json: Json = False,
) -> None:
    """Make a device file of what a maker states; says what contradicts itself.

    No file is written, and the exit code is 1, if a figure comes out at less than half or more than
    twice what is stated.
    """
    from raidlab.calibration.datasheets.build import import_datasheet
    from raidlab.devices.schema import read_toml
    from raidlab.scenarios.spec.findings import Coded

    own_device("--out", out, str(read_toml(sheet).get("name")))
    with progress(f"{sheet.stem}: figures") as tell:
        imported = import_datasheet(sheet, tell)
    useless = {point.quantity for point in imported.useless}
    for warning in imported.warnings:
        about = warning.subject if isinstance(warning, Coded) else ""
        severity = "error" if about in useless else "warning"
        say(f"{severity}: {sheet}: {warning}")

    def show() -> None:
        if json:
            device = None if useless else str(out)
            echo(json_module.dumps({"device": device} | imported.to_dict(), indent=2))
        else:
            _show(imported, None if useless else out)

    deliver([] if useless else [{out: imported.draft.to_toml}], show)
    if useless:
        say(f"{out} was not written: correct or leave out {', '.join(sorted(useless))} in {sheet}")
        raise typer.Exit(DOES_NOT_HOLD)


def _show(imported: Imported, out: Path | None) -> None:
    if out is None:
        opening(f"{imported.name}: no device", "A figure is off by more than a factor of two.")
    else:
        opening(f"{imported.name}: {out}", f"raidlab devices {out} shows every number.")
    rows = [
        [
            point.quantity,
            point.shown(point.stated),
            point.shown(point.simulated),
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
