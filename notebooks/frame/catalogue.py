"""The rooms that there are: each is a notebook beside the frame, and named like its file."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path

from raidlab.devices.faults import Fault, SpecError
from raidlab.notebooks.course import listed
from raidlab.notebooks.course.lessons import lessons_of
from raidlab.notebooks.course.listed import FOLDER, Listed
from raidlab.notebooks.course.listed import names as names
from raidlab.notebooks.frame.pages import Links
from raidlab.notebooks.frame.room import Room


def notebook(name: str) -> Path:
    """The file of a room.

    Raises:
        SpecError: There is no room of this name.
    """
    if name not in names():
        allowed = "a room: " + ", ".join(names())
        raise SpecError([Fault("NAME", name, allowed, tuple(names()))])
    return FOLDER / f"{name.replace('-', '_')}.py"


@cache
def room(name: str) -> Room:
    """A room.

    Raises:
        SpecError: There is none of this name.
    """
    notebook(name)
    _import_system_has_files()
    found: Room = import_module(f"raidlab.notebooks.{name.replace('-', '_')}").room()
    return found


@cache
def _import_system_has_files() -> None:
    """Says where frames of the import system are from.

    A notebook looks twice through the stack that imports it. For each frame whose file is not there
    `inspect` would go through all modules, half of the time of a room.
    """
    for name in ("importlib._bootstrap", "importlib._bootstrap_external"):
        inspect.modulesbyfile.setdefault(f"<frozen {name}>", name)


def rooms() -> Sequence[Room]:
    """All rooms, in the order of their numbers."""
    return sorted(map(room, names()), key=lambda each: each.number)


def links(of: Room, index: str, address: str, present: Collection[str] | None = None) -> Links:
    """Where a room's page leads: the rooms before and after it, and its lessons.

    Args:
        of: The room.
        index: Address of the list of rooms.
        address: Of a room or a lesson, with `{}` for its name.
        present: Names of the rooms that have pages; None for all.
    """
    there = names() if present is None else present
    others = [each for each in listed.rooms() if each.name != of.name and each.name in there]

    def to(found: Listed | None) -> tuple[str, str]:
        return (address.format(found.name), found.question) if found else ("", "")

    return Links(
        index,
        to(next((each for each in reversed(others) if each.number < of.number), None)),
        to(next((each for each in others if each.number > of.number), None)),
        [(address.format(lesson.name), lesson.heading) for lesson in lessons_of(of.name)],
    )
