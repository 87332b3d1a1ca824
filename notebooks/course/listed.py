"""The rooms by their notebooks' texts: a list of them needs neither marimo nor the engine."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent.parent
"""Where the notebooks are."""


def names() -> list[str]:
    """Names of all rooms, as `raidlab lab` takes them."""
    files = (path for path in FOLDER.glob("*.py") if not path.name.startswith("_"))
    return sorted(path.stem.replace("_", "-") for path in files)


class Listed(NamedTuple):
    """A room in the list of rooms."""

    number: int
    name: str
    question: str


@cache
def rooms() -> tuple[Listed, ...]:
    """All rooms, in the order of their numbers."""
    found = []
    for name in names():
        tree = ast.parse((FOLDER / f"{name.replace('-', '_')}.py").read_text("utf-8"))
        (made,) = (
            {each.arg: each.value for each in node.keywords}
            for node in ast.walk(tree)
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Room"
        )
        number, question = (ast.literal_eval(made[key]) for key in ("number", "question"))
        found.append(Listed(number, name, question))
    return tuple(sorted(found))
