"""Values of a file's tree by dotted key, lists by index: `nand.read.0`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def put(tree: dict[str, Any], key: str, value: Any) -> None:
    """Sets a dotted key of a tree, lists by index."""
    *path, last = key.split(".")
    at: Any = tree
    for part in path:
        at = at[_place(part)] if isinstance(at, list) else at.setdefault(part, {})
    if isinstance(at, list):
        at[_place(last)] = value
    else:
        at[last] = value


def _place(part: str) -> int:
    """A place in a list, from 0; none counts from the end."""
    if not part.isdecimal():
        raise ValueError(f"{part} is no place in a list")
    return int(part)


def get(tree: Mapping[str, Any], key: str) -> Any:
    """The value at a dotted key; None if there is none."""
    at: Any = tree
    for part in key.split("."):
        if isinstance(at, Mapping):
            at = at.get(part)
        elif isinstance(at, list | tuple) and part.isdigit() and int(part) < len(at):
            at = at[int(part)]
        else:
            return None
    return at
