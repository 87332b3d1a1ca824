"""`raidlab collect` and `raidlab fio`: fio on real and on simulated systems."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from raidlab.calibration.fio import virtual as virtual_fio
from raidlab.calibration.measurements.collect import collect as become_collector
from raidlab.commands.common import OwnSeed, command, path

PASS_ON = {"allow_extra_args": True, "ignore_unknown_options": True}
"""Typer's settings for a command that hands its arguments on."""


@command
def collect(context: typer.Context) -> None:
    """Measure a target with fio: the program raidlab-collect (see `raidlab collect --help`)."""
    become_collector(context.args)


@command
def fio(
    context: typer.Context,
    scenario: Annotated[
        Path | None,
        typer.Option(
            "--scenario", help="A scenario file; one 7200 rpm disk without it.", parser=path
        ),
    ] = None,
    array: Annotated[
        str | None, typer.Option("--array", help="The array that fio sees; the first by default.")
    ] = None,
    seed: OwnSeed = None,
    describe: Annotated[bool, typer.Option("--describe", hidden=True)] = False,
) -> None:
    """Run fio's jobs on a simulated system; everything else on the line is fio's own.

    For example: raidlab fio --scenario S.toml job.fio --output-format=json+
    """
    system = virtual_fio.bridge(scenario, array, seed)
    if describe:
        print(json.dumps(system.describe()))
        return
    raise typer.Exit(virtual_fio.run(system, context.args))
