"""`raidlab check`: whether files can be used, without running anything."""

from __future__ import annotations

import json as json_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from raidlab.commands.common import BAD_INPUT, Json, command, path, say
from raidlab.commands.files_written import Reads
from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.printable import printable
from raidlab.output import echo
from raidlab.scenarios.files.kinds import WrittenKind

if TYPE_CHECKING:
    from raidlab.scenarios.files.checks import Checked


@command
def check(
    files: Annotated[
        list[Path],
        typer.Argument(
            help="Scenarios, devices, sheets, questions, fio's jobs; or folders of them.",
            parser=path,
            metavar="FILE...",
        ),
        Reads(),
    ],
    kind: Annotated[
        WrittenKind | None,
        typer.Option("--as", help="What the files are meant to be; what they show by default."),
    ] = None,
    json: Json = False,
) -> None:
    """Check files without running them: every fault of each, with what is allowed."""
    from raidlab.scenarios.files.checks import check_file, files_in

    found = [check_file(each, kind) for each in files_in(files)]
    if not found:
        allowed = "a file, or a folder with .toml or .fio files"
        raise SpecError([Fault("FILE", str(each), allowed) for each in files])
    if json:
        echo(
            json_module.dumps({"files": [_document(each) for each in found]}, indent=2, default=str)
        )
    for each in found:
        for warning in each.warnings:
            say(f"warning: {each.path}: {warning}")
        for fault in each.faults:
            say(f"error: {fault}")
        if not json:
            echo(_line(each))
    if any(each.faults for each in found):
        raise typer.Exit(BAD_INPUT)


def _line(found: Checked) -> str:
    kind = "" if found.kind is None else f"{found.kind}, "
    count = len(found.faults)
    faults = "1 fault" if count == 1 else f"{count} faults"
    return printable(f"{found.path}: {kind}{faults if count else found.holds}")


def _document(found: Checked) -> dict[str, object]:
    return {
        "file": str(found.path),
        "kind": found.kind,
        "holds": found.holds or None,
        "faults": [
            {
                "file": each.file,
                "key": each.key,
                "value": each.value,
                "allowed": each.allowed,
                "nearest": each.nearest,
                "text": str(each),
            }
            for each in found.faults
        ],
        "warnings": list(found.warnings),
    }
