"""A teacher's pack: what is printed, shown, asked and collected, written into one folder.

Worksheets have no solutions; the teacher's edition has them, with minutes and the wrong answers to
expect. Slides are a page for the browser, and Markdown to change. The same seed gives the same
bytes.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import raidlab
from raidlab.devices.files import write_files
from raidlab.notebooks.course.axes import paper
from raidlab.notebooks.course.bank import has_questions, questions
from raidlab.notebooks.course.exports import moodle, qti
from raidlab.notebooks.course.lessons import LESSONS, Lesson
from raidlab.notebooks.course.page import glossary, render, slides
from raidlab.notebooks.course.text import text_of
from raidlab.notebooks.frame import catalogue, pages
from raidlab.notebooks.frame.room import Curve, Room

_KINDS: Final = (
    "worksheet.html",
    "teacher.html",
    *(f"slides{brief}.{end}" for brief in ("", "-45") for end in ("html", "md")),
)
"""Of a lesson."""
SEEDS = 5
"""Variants of the question bank."""
_POINTS = (
    (
        "prediction",
        "kept before the result was opened (seen_before: no); its value is not graded",
        1,
    ),
    ("table", "every setting of the worksheet is filled in, with units", 2),
    ("closed form", "written down before the run, with each symbol named", 3),
    ("comparison", "run and closed form differ by how much, and a reason for it", 3),
    ("what would change my mind", "names a measurement that could contradict", 1),
)
"""Of the rubric: what is judged, what earns the points, how many."""


def _chosen(lesson: int | None) -> list[Lesson]:
    return [each for each in LESSONS if lesson in (None, each.number)]


def _rooms(lessons: Sequence[Lesson]) -> list[Room]:
    used = {room for lesson in lessons for room in lesson.rooms}
    return [room for room in catalogue.rooms() if room.name in used]


def names(seed: int, lesson: int | None = None) -> list[str]:
    """The files of a pack, relative to its folder: of one lesson by its number, or of all."""
    chosen = _chosen(lesson)
    lessons = [f"{each.name}-{kind}" for each in chosen for kind in _KINDS]
    ends = ("moodle.xml", "qti.zip")
    seeds = range(seed, seed + SEEDS) if has_questions(lesson) else ()
    asked = [f"questions-seed-{each}.{end}" for each in seeds for end in ends]
    rooms = [f"notebooks/{room.name}.ipynb" for room in _rooms(chosen)]
    return [
        "README.md",
        *lessons,
        *asked,
        *(["questions.csv"] if asked else []),
        "rubric.csv",
        "glossary.html",
        "LICENCE.md",
        *rooms,
    ]


def write(
    folder: Path,
    seed: int,
    progress: Callable[[int, int], None],
    lesson: int | None = None,
) -> None:
    """Writes the pack, whole or not at all.

    Args:
        folder: Where to.
        seed: Of the first variant of the question bank.
        progress: Called with the number of finished and of all steps.
        lesson: Number of the one lesson; None for all.

    Raises:
        SpecError: A file cannot be written.
    """
    made: dict[Path, str | bytes] = {}
    chosen = _chosen(lesson)
    steps = len(chosen) + SEEDS
    for at, each in enumerate(chosen):
        progress(at, steps)
        for kind in ("worksheet.html", "teacher.html"):
            made[folder / f"{each.name}-{kind}"] = _render(f"{kind}.j2", each)
        for ending, brief in (("", False), ("-45", True)):
            text = _render("slides.md.j2", each, brief=brief)
            made[folder / f"{each.name}-slides{ending}.md"] = text
            made[folder / f"{each.name}-slides{ending}.html"] = slides(each, text)
    rows = []
    for at in range(SEEDS if has_questions(lesson) else 0):
        progress(len(chosen) + at, steps)
        found = questions(seed + at, lesson)
        rows += [(seed + at, each) for each in found]
        made[folder / f"questions-seed-{seed + at}.moodle.xml"] = moodle(found)
        made[folder / f"questions-seed-{seed + at}.qti.zip"] = qti(found)
    if rows:
        made[folder / "questions.csv"] = _csv(
            ["seed", "lesson", "name", "question", "answer", "unit", "closed form", "why"],
            [
                [at, q.lesson, q.name, q.text, f"{q.answer:.4g}", q.unit, f"{q.closed:.4g}", q.why]
                for at, q in rows
            ],
        )
    made[folder / "rubric.csv"] = _csv(["part", "earns the points", "points"], _POINTS)
    made[folder / "README.md"] = _contents(chosen)
    made[folder / "glossary.html"] = glossary()
    made[folder / "LICENCE.md"] = _licence()
    for room in _rooms(chosen):
        made[folder / "notebooks" / f"{room.name}.ipynb"] = notebook(room)
    progress(steps, steps)
    write_files(made)


def notebook(room: Room) -> str:
    """The room as a Jupyter notebook for Colab or Binder; it installs raidlab from a wheel."""
    cells = [
        ("markdown", f"# Room {room.number}: {room.question}\n\n{room.about}"),
        (
            "code",
            _INSTALL,
        ),
        (
            "code",
            "try:  # Colab shows no widgets of others until it is asked to.\n"
            "    from google.colab import output\n\n"
            "    output.enable_custom_widget_manager()\n"
            "except ImportError:\n    pass\n\n"
            "from raidlab.notebooks.frame import Live, catalogue\n\n"
            f'Live(catalogue.room("{room.name}"))',
        ),
    ]
    made = {
        "cells": [
            {"cell_type": kind, "id": f"cell-{at}", "metadata": {}, "source": text}
            | ({"outputs": [], "execution_count": None} if kind == "code" else {})
            for at, (kind, text) in enumerate(cells)
        ],
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(made, indent=1) + "\n"


_INSTALL = """\
# An installed raidlab is used; else a wheel beside this notebook: on Colab upload it first.
import glob
from importlib.util import find_spec

if not all(find_spec(each) for each in ("raidlab", "anywidget", "plotly")):
    wheels = sorted(glob.glob("raidlab-*.whl"))
    if not wheels:
        raise SystemExit(
            "raidlab is not installed, and no wheel (raidlab-*.whl) lies beside this notebook."
            " `make wheel` in the sources of raidlab writes one into dist/: copy it here."
        )
    %pip install -q "{wheels[-1]}[lab]\""""
"""The first cell of a notebook."""

_FIRST = "# Teacher's pack of raidlab"
"""The first line of the list of contents, by which the next pack knows it."""


def _contents(chosen: Sequence[Lesson]) -> str:
    """What a teacher needs first, an hour before a class."""
    lessons = "\n".join(f"- {each.name}: {each.heading.partition(': ')[2]}" for each in chosen)
    return (
        f"{_FIRST} {raidlab.__version__}\n\n"
        "In the hour before a class:\n\n"
        "1. Choose a lesson below. Read `lesson-N-teacher.html`: minutes, wrong answers to\n"
        "   expect, solutions.\n"
        "2. Print `lesson-N-worksheet.html` for each student, two pages; for 45 minutes the first\n"
        "   page alone. Its exercises are graded and have no solutions there; those on the pages\n"
        "   of rooms are to practise, with solutions beside them.\n"
        "3. Start `raidlab lab` and open the lesson's first room on the projector. Without\n"
        "   raidlab on the students' machines, write the lesson's pages before with\n"
        "   `raidlab lab --lesson N --site DIR`; for 45 minutes two rooms, by the command in the\n"
        "   teacher's edition. A room takes one to several minutes. Serve the folder to their\n"
        "   phones: `python3 -m http.server --directory DIR 8000`.\n"
        "4. Open `lesson-N-slides.html` in a browser, for 45 minutes `lesson-N-slides-45.html`:\n"
        "   arrow keys turn the slides, and they print one a page. The same to change, for Marp\n"
        "   or as it is: the files ending in `.md`.\n"
        "5. Afterwards: students export predictions from the list of rooms; `raidlab lab --class\n"
        "   FOLDER` puts them together.\n\n"
        f"{lessons}\n\n"
        "Beside them: `glossary.html` to print; `questions.csv`, Moodle XML and QTI with five\n"
        "variants of each question; `rubric.csv`; `notebooks/` for Colab or Binder;\n"
        "`LICENCE.md`.\n\n"
        "The notebooks use a raidlab that is installed, or a wheel beside them: `make wheel` in\n"
        "the sources of raidlab writes it into `dist/`; copy it into `notebooks/`.\n"
    )


def _licence() -> str:
    return (
        "# Licence of the teaching material\n\n"
        "Worksheets, teacher's edition, slides, questions and notebooks of this folder are part"
        " of\n"
        f"raidlab {raidlab.__version__} and have its licence: copy, change and print them, for\n"
        "classes and courses of any kind, and keep this note.\n"
    )


def _csv(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    made = io.StringIO()
    csv.writer(made).writerows([head, *rows])
    return made.getvalue()


def _render(name: str, lesson: Lesson, *, brief: bool = False) -> str:
    rooms = [catalogue.room(stop.room) for stop in lesson.stops]
    outcomes = {}
    if name.startswith("teacher"):
        outcomes = {room.name: pages.outcome(room) for room in rooms}
    forms = {room.name: room.prediction.form for room in rooms}
    axes = {room: paper(form) if isinstance(form, Curve) else "" for room, form in forms.items()}
    text = text_of(lesson.name)
    return render(
        name,
        lesson,
        outcomes=outcomes,
        axes=axes,
        brief=brief,
        points=_POINTS,
        text=text,
        exercises=re.split(r"(?=<p><strong>\d[b-z]\.)", text.exercises),
    )
