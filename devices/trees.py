"""Values of a file's tree by dotted key, lists by index: `nand.read.0`."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

Scalar: TypeAlias = str | bool | int | float | datetime.date | datetime.time | None
"""What TOML and JSON hold besides tables and lists."""
Value: TypeAlias = "Scalar | Sequence[Value] | Mapping[str, Value]"
"""A value of a file: nothing else can be written to one."""
Tree: TypeAlias = dict[str, Value]
"""A file's tree, quantities as text with units, which a fit or an import fills in."""

Document: TypeAlias = dict[str, object]
"""An answer as `--json` prints it, to be written alone: what code reads has a type of its own."""


def copied(tree: Mapping[str, Value]) -> Tree:
    """A copy that shares no table and no list with the tree: what can be changed in a file."""
    return {key: _copied(value) for key, value in tree.items()}


def _copied(value: Value) -> Value:
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return copied(value)
    return [_copied(each) for each in value] if isinstance(value, Sequence) else value


def put(tree: Tree, key: str, value: Value) -> None:
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


def table_of(value: object) -> Mapping[str, object]:
    """A table of a document that others wrote; an empty one for anything else."""
    return value if isinstance(value, Mapping) else {}


def tables_of(value: object) -> Sequence[Mapping[str, object]]:
    """The tables of a list of such a document; none of anything else."""
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []


def table_at(tree: Mapping[str, Value], key: str) -> Mapping[str, Value]:
    """The table at a dotted key; empty if there is none."""
    found = get(tree, key)
    return found if isinstance(found, Mapping) else {}


def get(tree: Mapping[str, object], key: str) -> Any:
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
