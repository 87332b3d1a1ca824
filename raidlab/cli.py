"""The command line: see `raidlab --help`."""

from __future__ import annotations

from typing import Annotated

import typer

from raidlab.commands.calibrate import calibrate
from raidlab.commands.collect import PASS_ON, collect, fio
from raidlab.commands.common import command
from raidlab.commands.compare import compare
from raidlab.commands.compression import compression
from raidlab.commands.controllers import controllers
from raidlab.commands.devices import devices
from raidlab.commands.import_disksim import disksim
from raidlab.commands.import_fio import fio_results
from raidlab.commands.import_published import published
from raidlab.commands.import_trace import trace
from raidlab.commands.rebuild import rebuild
from raidlab.commands.replay import replay
from raidlab.commands.run import run
from raidlab.commands.tier import tier
from raidlab.commands.validate import validate
from raidlab.scenarios import _engine

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Simulate the block-storage path, calibrated from what fio measures.",
)
app.command()(run)
app.command()(validate)
app.command()(devices)
app.command()(controllers)
app.command()(rebuild)
app.command()(compression)
app.command()(tier)
app.command()(replay)
app.command(context_settings=PASS_ON, add_help_option=False)(collect)
app.command(context_settings=PASS_ON)(fio)
app.command()(calibrate)
app.command()(compare)

importing = typer.Typer(no_args_is_help=True, help="Make a device or a measurement of other files.")
app.add_typer(importing, name="import")
importing.command("disksim")(disksim)
importing.command("fio")(fio_results)
importing.command("trace")(trace)
importing.command("published")(published)


@command
def _version(asked: bool) -> None:
    if asked:
        print(_engine.version(), flush=True)
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Options before the command."""
