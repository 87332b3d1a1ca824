"""`raidlab lab`: rooms that each answer one question, in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from raidlab.commands.common import DOES_NOT_HOLD, command, path, progress, say
from raidlab.commands.file_kinds import FileKind
from raidlab.commands.files_written import Reads, Writes, also_writes
from raidlab.commands.local_server import Browser, needs_lab_packages, open_in_browser
from raidlab.devices.faults import Fault, SpecError


@command
def lab(
    name: Annotated[str | None, typer.Argument(help="A room; all of them if left out.")] = None,
    listing: Annotated[bool, typer.Option("--list", help="Print a room a line, and end.")] = False,
    port: Annotated[
        int | None,
        typer.Option("--port", min=0, max=65535, help="On loopback; 8642, or any that is free."),
    ] = None,
    browser: Browser = True,
    site: Annotated[
        Path | None,
        typer.Option(
            "--site", help="Write pages that need no Python into this folder, and end.", parser=path
        ),
        Writes(FileKind.PAGE, later=True),
    ] = None,
    pack: Annotated[
        Path | None,
        typer.Option(
            "--pack", help="Write a teacher's pack for the course into this folder.", parser=path
        ),
        Writes(FileKind.TEACHING, later=True),
    ] = None,
    seed: Annotated[
        int,
        typer.Option("--seed", min=0, max=1_000_000, help="Seed of the pack's question bank."),
    ] = 1,
    predictions: Annotated[
        Path | None,
        typer.Option(
            "--class", help="Put the predictions that students exported together.", parser=path
        ),
        Reads(),
    ] = None,
) -> None:
    """Open the lab in the browser: rooms that each answer one question by simulation.

    The server listens on loopback alone; its address has a random token. Ctrl-C ends it.
    """
    needs_lab_packages("the lab")
    from raidlab.notebooks.frame import catalogue

    asked = [("--site", site), ("--pack", pack), ("--class", predictions), ("--list", listing)]
    named = [option for option, value in asked if value]
    if len(named) > 1:
        raise SpecError([Fault(named[1], None, f"left out beside {named[0]}: one of them")])
    if name is not None:
        catalogue.notebook(name)
    if listing:
        from raidlab.output import echo

        for room in catalogue.rooms():
            echo(f"{room.name:<20} {room.question}")
    elif site is not None:
        _write(site, name)
    elif pack is not None:
        _pack(pack, seed)
    elif predictions is not None:
        _class(predictions)
    else:
        _open(name, port, browser=browser)


def _write(folder: Path, name: str | None) -> None:
    from raidlab.notebooks.frame import catalogue, static

    chosen = catalogue.rooms() if name is None else [catalogue.room(name)]
    files = [f"{each}.html" for each in static.names_of(chosen)]
    also_writes("--site", {folder / file: FileKind.PAGE for file in files}, say)
    ahead = 0
    total = sum(sum(1 for _ in room.settings()) for room in chosen)
    with progress("lab") as show:

        def step(room: str, done: int, of: int) -> None:
            nonlocal ahead
            show(ahead + done, total)
            ahead += of if done == of else 0

        static.site(chosen, folder, step)
    say(f"wrote {folder / 'index.html'}")


def _pack(folder: Path, seed: int) -> None:
    from raidlab.notebooks.course import pack

    files = [folder / each for each in pack.names(seed)]
    kinds = {each: FileKind.PAGE if each.suffix == ".html" else FileKind.TEACHING for each in files}
    also_writes("--pack", kinds, say)
    with progress("pack, steps") as show:
        pack.write(folder, seed, show)
    say(f"wrote {len(files)} files into {folder}")


def _class(folder: Path) -> None:
    """The class's tables.

    Raises:
        Exit: Something was left out.
    """
    from raidlab.commands.tables import print_table
    from raidlab.notebooks.course import collected, exported

    found = exported.read(folder)
    rows = found.predictions
    for table in (collected.summary(rows), collected.choices(rows), collected.curves(rows)):
        if table.rows:
            print_table(table)
    for note in found.notes:
        say(f"note: {note}")
    for fault in found.left_out:
        say(f"left out: {fault}")
    if found.left_out:
        raise typer.Exit(DOES_NOT_HOLD)


def _open(name: str | None, port: int | None, *, browser: bool) -> None:
    from raidlab.notebooks.frame import serve

    room = f"{name}/" if name else ""
    open_in_browser("The lab", serve.application, port, serve.PORT, path=room, browser=browser)
