"""Writes device files: the tree of a device, with the source of every number beside it."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from raidlab.devices.trees import Value

DEVICE_SCHEMA = Path(__file__).parent / "schemas" / "device.json"
SHEET_SCHEMA = Path(__file__).parent / "schemas" / "sheet.json"
"""JSON Schema of files of the catalogue, as `raidlab schema` prints it."""
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def with_schema(text: str, file: Path, schema: Path) -> str:
    """A file's text below the line that names its schema to editors, relative to the file."""
    return f"#:schema {os.path.relpath(schema, file.parent)}\n{text}"


def device_toml(
    values: Mapping[str, Value], sources: Mapping[str, Value], head: Sequence[str]
) -> str:
    """A device file.

    Args:
        values: The tree as files hold it, quantities as text with units.
        sources: For the table `[sources]`: by dotted key, a word or a table.
        head: Lines of the comment at its head.
    """
    lines = [f"# {line}" for line in head]
    _table(values, (), lines)
    lines += ["", "[sources]"]
    lines += [f"{_key(key)} = {toml_value(source)}" for key, source in sources.items()]
    return "\n".join(lines) + "\n"


def _table(table: Mapping[str, Value], path: tuple[str, ...], lines: list[str]) -> None:
    tables: list[tuple[str, Any]] = []
    for key, value in table.items():
        if isinstance(value, Mapping) or _is_tables(value):
            tables.append((key, value))
        elif value is not None:
            lines.append(f"{_key(key)} = {toml_value(value)}")
    for key, value in tables:
        inner = (*path, key)
        name = ".".join(_key(part) for part in inner)
        for item in value if _is_tables(value) else [value]:
            lines += ["", f"[[{name}]]" if _is_tables(value) else f"[{name}]"]
            _table(item, inner, lines)


def _is_tables(value: Any) -> bool:
    return isinstance(value, list | tuple) and bool(value) and isinstance(value[0], Mapping)


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else json.dumps(key, ensure_ascii=False)


def toml_value(value: Any) -> str:
    """A value as TOML writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        inner = ", ".join(f"{_key(str(key))} = {toml_value(item)}" for key, item in value.items())
        return f"{{ {inner} }}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(toml_value(item) for item in value) + "]"
    if isinstance(value, str):
        # TOML's basic strings escape as JSON's do.
        return json.dumps(value, ensure_ascii=False)
    return repr(value)
