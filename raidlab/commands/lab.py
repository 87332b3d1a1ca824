"""`raidlab lab`: rooms that each answer one question, in the browser."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Final

import typer

from raidlab.commands.common import DOES_NOT_HOLD, command, path, progress, say
from raidlab.commands.file_kinds import FileKind
from raidlab.commands.files_written import Reads, Writes, also_writes
from raidlab.commands.local_server import Browser, needs_lab_packages, open_in_browser
from raidlab.devices.faults import Fault, SpecError


@command
def lab(
    names: Annotated[
        list[str] | None, typer.Argument(help="A room, several for --site; left out: all of them.")
    ] = None,
    lesson: Annotated[
        int | None,
        typer.Option(
            "--lesson", help="One lesson with its rooms, for --site and --pack, or to open."
        ),
    ] = None,
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
        int | None,
        typer.Option("--seed", min=0, max=1_000_000, help="Seed of the pack's question bank: 1."),
    ] = None,
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
    asked = [("--site", site), ("--pack", pack), ("--class", predictions), ("--list", listing)]
    given = {"NAME": names and names[0], "--lesson": lesson, "--port": port, "--seed": seed}
    _fits([option for option, value in asked if value], given)
    if listing:
        _list()
        return
    needs_lab_packages("the lab")
    if predictions is not None:
        _class(predictions)
        return
    chosen = _chosen(names or [], lesson, several=site is not None)
    if site is not None:
        _write(site, chosen, lesson)
    elif pack is not None:
        _pack(pack, 1 if seed is None else seed, lesson)
    else:
        _open(f"lesson-{lesson}" if lesson else "".join(chosen), port, browser=browser)


_TAKES: Final = {
    "--site": ("NAME", "--lesson"),
    "--pack": ("--lesson", "--seed"),
    "--class": (),
    "--list": (),
    "": ("NAME", "--lesson", "--port"),
}
"""What each thing to do heeds; the empty one opens the lab."""


def _fits(asked: Sequence[str], given: Mapping[str, object]) -> None:
    """Whether what was asked for heeds all that was given beside it.

    Raises:
        SpecError: It does not; all faults at once.
    """
    faults = [Fault(each, None, f"left out beside {asked[0]}: one of them") for each in asked[1:]]
    for option, value in given.items() if not faults else ():
        what = "".join(asked)
        if value is not None and option not in _TAKES[what]:
            fits = [each or "the lab itself" for each, heeded in _TAKES.items() if option in heeded]
            beside = f"left out beside {what}: " if what else ""
            faults.append(Fault(option, value, f"{beside}only for {' or '.join(fits)}"))
    if faults:
        raise SpecError(faults)


def _list() -> None:
    """A room a line."""
    from raidlab.notebooks.course.listed import rooms
    from raidlab.output import echo

    for room in rooms():
        echo(f"{room.name:<20} {room.question}")


def _chosen(names: Sequence[str], lesson: int | None, *, several: bool) -> Sequence[str]:
    """Names of the rooms that were asked for; none for all of them.

    Raises:
        SpecError: There is no such room or lesson, or what was asked for is too much.
    """
    from raidlab.notebooks.course.lessons import LESSONS
    from raidlab.notebooks.frame import catalogue

    faults = []
    for each in names:
        try:
            catalogue.notebook(each)
        except SpecError as error:
            faults += error.faults
    numbers = {each.number: each for each in LESSONS}
    if lesson is not None and lesson not in numbers:
        allowed = f"a lesson of the course: {min(numbers)} to {max(numbers)}"
        faults.append(Fault("--lesson", lesson, allowed))
    if lesson is not None and names:
        faults.append(Fault("NAME", names[0], "left out beside --lesson: one of them"))
    if len(names) > 1 and not several:
        faults.append(Fault("NAME", names[1], "one room; with --site FOLDER several"))
    if faults:
        raise SpecError(faults)
    return list(dict.fromkeys(names)) if lesson is None else numbers[lesson].rooms


def _write(folder: Path, names: Sequence[str], lesson: int | None) -> None:
    from raidlab.notebooks.frame import catalogue, static

    chosen = [each for each in catalogue.rooms() if not names or each.name in names]
    files = [f"{each}.html" for each in static.names_of(chosen, lesson)]
    also_writes("--site", {folder / file: FileKind.PAGE for file in files}, say)
    ahead = 0
    total = sum(sum(1 for _ in room.settings()) for room in chosen)
    with progress("lab") as show:

        def step(room: str, done: int, of: int) -> None:
            nonlocal ahead
            show(ahead + done, total)
            ahead += of if done == of else 0

        static.site(chosen, folder, step, lesson)
    say(f"wrote {folder / 'index.html'}")


def _pack(folder: Path, seed: int, lesson: int | None) -> None:
    from raidlab.notebooks.course import pack

    files = [folder / each for each in pack.names(seed, lesson)]
    kinds = {each: FileKind.PAGE if each.suffix == ".html" else FileKind.TEACHING for each in files}
    also_writes("--pack", kinds, say)
    with progress("pack, steps") as show:
        pack.write(folder, seed, show, lesson)
    say(f"wrote {len(files)} files into {folder}")


def _class(folder: Path) -> None:
    """The class's tables.

    Raises:
        Exit: Something was left out.
    """
    say(f"reading what students exported into {folder}")
    from raidlab.commands.tables import print_table
    from raidlab.notebooks.course import collected, exported

    found = exported.read(folder)
    students = {each.student for each in found.predictions}
    made = [each for each in found.predictions if each.prediction]
    later = sum(each.seen for each in made)
    say(f"students: {len(students)}, predictions: {len(made) - later}")
    if later:
        say(f"note: {later} more were made after the result was seen: counted in a column alone")
    late = sorted(students - {each.student for each in made if not each.seen})
    if late:
        say(f"note: no prediction before a result: {', '.join(late)}")
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


def _open(page: str, port: int | None, *, browser: bool) -> None:
    from raidlab.notebooks.frame import serve

    path = f"{page}/" if page else ""
    open_in_browser("The lab", serve.application, port, serve.PORT, path=path, browser=browser)
