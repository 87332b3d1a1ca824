"""`raidlab discover`: what a machine's storage consists of, as facts and as a scenario."""

from __future__ import annotations

import json as json_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from raidlab.commands.common import BAD_INPUT, Json, command, path, say
from raidlab.commands.file_kinds import FileKind
from raidlab.commands.files_written import Reads, Writes
from raidlab.commands.outputs import deliver
from raidlab.output import echo

if TYPE_CHECKING:
    from raidlab.calibration.discover.machine import Found


@command
def discover(
    sources: Annotated[
        list[Path] | None,
        typer.Option(
            "--from",
            help="Captured outputs: files or folders. This machine if left out.",
            parser=path,
        ),
        Reads(),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="The scenario to write.", parser=path),
        Writes(FileKind.SCENARIO),
    ] = None,
    json: Json = False,
) -> None:
    """Find a machine's storage: controllers, arrays, drives, links; write its scenario.

    Reads captured outputs of its tools, or this machine.
    """
    from raidlab.calibration.discover.machine import find

    found = find(sources or [])

    def shown() -> None:
        if json:
            echo(json_module.dumps(_document(found, None), indent=2, allow_nan=False))
        else:
            _print(found)

    for warning in found.facts.warnings:
        say(f"warning: {warning.text}")
    deliver([], shown)
    if found.refused:
        for refusal in found.refused:
            say(f"error: {refusal}")
        raise typer.Exit(BAD_INPUT)


def _document(found: Found, scenario: Path | None) -> dict[str, Any]:
    from raidlab.calibration.discover.facts import to_dict

    return {
        "facts": to_dict(found.facts),
        "matches": [],
        "scenario": None if scenario is None else str(scenario),
        "files": [{"file": name, "reader": reader} for name, reader in found.readers],
        "refused": found.refused,
        "repaired": found.facts.repaired,
        "warnings": [{"code": each.code, "text": each.text} for each in found.facts.warnings],
    }


def _print(found: Found) -> None:
    for name, reader in found.readers:
        echo(f"{name}: {reader or 'no reader knows it'}")
