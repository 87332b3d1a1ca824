"""The text of a lesson, from the page of the course, as parts of a page of the lab."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cache
from html import unescape
from importlib.resources import files

import markdown

_LINK = re.compile(r"\[([^]]+)\]\((?!http)[^)]+\)")
_SOLUTION = re.compile(r"\*\*Solution\.\*\*.*?(?=\n\n\*\*\d+[a-z]\.\*\*|\Z)", re.DOTALL)
_BOX = '<div class="scroll" tabindex="0" role="region" aria-label="Table">'
"""A table that is wider than a phone scrolls alone."""
_ROOM = re.compile(r"<code>([a-z0-9-]+)</code>")


@dataclass(frozen=True)
class Text:
    """HTML of the sections that a lesson has."""

    predictions: str
    steps: str
    theory: str
    exercises: str
    """Without their solutions; of a table the names of its rows and columns are left."""
    solutions: str
    """The exercises with them."""
    limits: str
    reading: str


def text_of(name: str, known: Collection[str] = (), address: Callable[[str], str] = str) -> Text:
    """The text of a lesson.

    Args:
        name: Of the lesson: `lesson-1`.
        known: Names of the rooms to link to.
        address: Of a room.
    """
    parts = _sections(name)

    def html(title: str, *, solved: bool = True) -> str:
        found = parts.get(title, "")
        made: str = markdown.markdown(
            found if solved else asked(found), extensions=["tables", "fenced_code"]
        )
        made = made.replace("<table>", _BOX + "<table>").replace("</table>", "</table></div>")
        return _ROOM.sub(linked, made)

    def linked(room: re.Match[str]) -> str:
        return f'<a href="{address(room[1])}">{room[0]}</a>' if room[1] in known else room[0]

    return Text(
        html("Predict first"),
        html("Steps"),
        html("Theory"),
        html("Exercises", solved=False),
        html("Exercises"),
        html("Limits"),
        html("Reading"),
    )


def aims_of(name: str) -> list[str]:
    """The aims of a lesson, as plain text."""
    return re.findall(r"^- (.+)$", _sections(name)["Aims"], re.MULTILINE)


def formulas_of(name: str) -> list[str]:
    """The closed forms of a lesson's theory: its blocks of fixed width, as plain text."""
    made = markdown.markdown(_sections(name)["Theory"], extensions=["fenced_code"])
    return [unescape(each) for each in re.findall(r"<pre><code.*?>(.*?)\n*</code>", made, re.S)]


def asked(exercises: str) -> str:
    """Exercises in Markdown as students get them: no solutions, and tables to fill in."""
    lines, inside = [], 0
    for line in _SOLUTION.sub("", exercises).split("\n"):
        inside = inside + 1 if line.startswith("|") else 0
        # The first two lines of a table are its head and a rule.
        row = [each.strip() for each in line.strip("|").split("|")]
        lines.append(f"| {row[0]} |{' |' * (len(row) - 1)}" if inside > 2 else line)
    return "\n".join(lines)


@cache
def _sections(name: str) -> dict[str, str]:
    """The sections by their titles; links to pages that are not here become their words."""
    found = files("raidlab.notebooks.course").joinpath("text", f"{name}.md").read_text("utf-8")
    _, *sections = re.split(r"^## ", _LINK.sub(r"\1", found), flags=re.MULTILINE)
    return {title: text for title, _, text in (each.partition("\n") for each in sections)}


def glossary_of_the_course() -> str:
    """The glossary as HTML, without links to pages that are not here."""
    found = files("raidlab.notebooks.course").joinpath("glossary.md").read_text("utf-8")
    plain = _LINK.sub(r"\1", found.partition("\n")[2])
    made: str = markdown.markdown(plain, extensions=["tables"])
    return made
