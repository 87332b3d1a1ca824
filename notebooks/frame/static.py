"""Rooms as pages that need no Python: an answer for every setting of the controls is inside.

A page is one file and fetches nothing, so that a teacher puts it on any web server, or opens it
from a folder. The same rooms give the same bytes.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from raidlab.devices.files import write_files
from raidlab.notebooks.course import page as course
from raidlab.notebooks.course.lessons import LESSONS, Lesson
from raidlab.notebooks.frame import catalogue, pages
from raidlab.notebooks.frame.pages import Links
from raidlab.notebooks.frame.room import SEED, Room


def page(
    room: Room,
    links: Links,
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> str:
    """The page of a room.

    Args:
        room: The room; all its settings are simulated.
        links: Where it leads.
        progress: Called with the number of finished and of all settings.
    """
    settings = list(room.settings())
    answers, five = [], []
    for at, values in enumerate(settings):
        progress(at, len(settings))
        answers.append(pages.answered(room, values, SEED))
        if room.five:
            five.append(pages.answered(room, values, SEED, five=True))
    progress(len(settings), len(settings))
    packed = {"answers": answers, "five": five, "outcome": pages.outcome(room)}
    zipped = gzip.compress(json.dumps(packed, separators=(",", ":")).encode(), 9, mtime=0)
    first = pages.answered(room, room.opening, SEED)["result"]
    return pages.page(room, base64.b64encode(zipped).decode(), first, links)


def names_of(rooms: Sequence[Room], lesson: int | None = None) -> list[str]:
    """The pages of a site, without their ending: rooms, lessons, the index."""
    lessons = [each.name for each in _lessons(rooms, lesson)]
    return [*(room.name for room in rooms), *lessons, "index"]


def _lessons(rooms: Sequence[Room], lesson: int | None) -> list[Lesson]:
    """One lesson by its number, or each that uses one of the rooms."""
    known = {room.name for room in rooms}
    return [
        each
        for each in LESSONS
        if (known & set(each.rooms) if lesson is None else each.number == lesson)
    ]


def site(
    rooms: Sequence[Room],
    folder: Path,
    progress: Callable[[str, int, int], None] = lambda room, done, of: None,
    lesson: int | None = None,
) -> None:
    """Writes the pages of rooms, lessons and their index, whole or not at all.

    Args:
        rooms: Those that get a page.
        folder: Where to.
        progress: Called with a room's name, the number of its finished and of all its settings.
        lesson: Number of the one lesson that gets a page; None: each that uses one of the rooms.

    Raises:
        SpecError: A file cannot be written.
    """
    made: dict[Path, str | bytes] = {}
    known = {room.name for room in rooms}
    for room in rooms:
        links = catalogue.links(room, "index.html", "{}.html", known)
        made[folder / f"{room.name}.html"] = page(room, links, partial(progress, room.name))
    lessons = _lessons(rooms, lesson)
    for each in lessons:
        made[folder / f"{each.name}.html"] = course.page_of(each, lessons, known)
    listed = [(f"{each.name}.html", each.heading) for each in lessons]
    index = pages.index(rooms, {name: f"{name}.html" for name in known}, listed)
    write_files(made | {folder / "index.html": index})
