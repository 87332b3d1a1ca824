"""Text of users as text: nothing in it acts on a terminal, a table or a page.

A title may hold what a terminal obeys (control sequences), what turns lines around (bidirectional
overrides), or an end of line that feigns a message. Such characters are written out as programs
write them: a backslash, then `x1b` for the first one of a control sequence.
"""

from __future__ import annotations

import html
import re
import unicodedata
from typing import Any

_JOINERS = "\u200c\u200d"
"""Needed by scripts and emoji; they have no other effect."""
_TAG = re.compile(r"<(?!/?(?:b|i|sub|sup|extra)>|br ?/?>)", re.IGNORECASE)
"""The begin of a tag that raidlab's own pictures do not use."""


def printable(text: str) -> str:
    """A text in one line, of characters that only show themselves."""
    if text.isprintable():
        return text
    return "".join(char if _shows(char) else _written(char) for char in text)


def printable_lines(text: str) -> str:
    """As `printable`, for a text of several lines, which stay."""
    return "\n".join(map(printable, text.split("\n")))


def label(text: str) -> str:
    """A text for a picture, in which some tags have a meaning."""
    return html.escape(printable(text), quote=False)


def without_tags(tree: Any) -> Any:
    """A picture's plain data with no tags but those of raidlab's own pictures: no links."""
    if isinstance(tree, str):
        return _TAG.sub("&lt;", printable_lines(tree))
    if isinstance(tree, list):
        return [without_tags(item) for item in tree]
    if isinstance(tree, dict):
        return {key: without_tags(item) for key, item in tree.items()}
    return tree


def _shows(char: str) -> bool:
    return char.isprintable() or unicodedata.category(char) == "Zs" or char in _JOINERS


def _written(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")
