"""Pages of lessons: templates that the static site and the teacher's pack share."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import cache, partial
from importlib.resources import files
from typing import Any

import jinja2
import markdown

import raidlab
from raidlab.notebooks.course.lessons import Lesson
from raidlab.notebooks.course.misconceptions import of_lesson
from raidlab.notebooks.course.text import glossary_of_the_course, text_of
from raidlab.notebooks.frame import catalogue, pages
from raidlab.scenarios.results.number_text import digits, joined


def page_of(
    lesson: Lesson,
    lessons: Sequence[Lesson],
    known: Collection[str],
    address: str = "{}.html",
    index: str = "index.html",
) -> str:
    """The page of a lesson, with links to its rooms and to the lessons before and after it.

    Args:
        lesson: The lesson.
        lessons: All that have a page.
        known: Names of the rooms that have one.
        address: Of a room or a lesson, with `{}` for its name.
        index: Address of the list of rooms.
    """
    to = {"address": address.format, "index": index}
    text = text_of(lesson.name, known, address.format)
    return render("lesson.html.j2", lesson, lessons=lessons, known=known, text=text, **to)


def render(name: str, lesson: Lesson, **values: Any) -> str:
    """A template of a lesson.

    Args:
        name: Of the template.
        lesson: The lesson.
        **values: What the template has beside it.
    """
    stops = [(stop, catalogue.room(stop.room)) for stop in lesson.stops]
    home = [catalogue.room(each) for each in lesson.home]
    known = {
        "style": pages.style(),
        "version": raidlab.__version__,
        "misconceptions": of_lesson(lesson.number),
    }
    made: str = (
        _templates()
        .get_template(name)
        .render(lesson=lesson, stops=stops, home=home, **known, **values)
    )
    return made


def slides(lesson: Lesson, text: str) -> str:
    """The slides of a lesson as one page, which fetches nothing.

    Args:
        lesson: The lesson.
        text: Its slides in Markdown, apart by lines of three dashes, after a head of such lines.
    """
    made = partial(markdown.markdown, extensions=["sane_lists"])  # Lists may begin at 4.
    _, _, *each = re.split(r"^---$", text, flags=re.MULTILINE)
    return render("slides.html.j2", lesson, slides=list(map(made, each)))


def glossary() -> str:
    """The words of the field and of the lab, as a page to print."""
    made: str = (
        _templates()
        .get_template("glossary.html.j2")
        .render(
            style=pages.style(), version=raidlab.__version__, text=glossary_of_the_course(),
        )
    )  # fmt: skip
    return made


@cache
def _templates() -> jinja2.Environment:
    folder = files("raidlab.notebooks.course").joinpath("templates")
    found = {
        each.name: each.read_text("utf-8") for each in folder.iterdir() if each.name.endswith(".j2")
    }
    made = jinja2.Environment(
        loader=jinja2.DictLoader(found),
        autoescape=lambda name: bool(name and name.endswith(".html.j2")),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals |= {"joined": joined, "digits": digits}
    return made
