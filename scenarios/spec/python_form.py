"""Scenarios as programs write them: what Python says shorter than TOML, in the form of a file.

A size may be a whole number of bytes, and a drive its model's name alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, get_args

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from raidlab.devices.units import Size
from raidlab.scenarios.spec.schema import DrivesTable, ScenarioTable

_OF_SIZES = get_args(Size)[1]
"""What marks the type of a size: its validator, which no other type has."""


def in_form_of_a_file(tree: Mapping[str, object]) -> dict[str, object]:
    """A scenario as a file has it: sizes in bytes as text with a unit, drives as tables."""
    return _table(ScenarioTable, tree)


def _table(model: type[BaseModel], tree: Mapping[str, object]) -> dict[str, object]:
    fields = model.model_fields
    return {
        key: _value(fields[key], value) if key in fields else value for key, value in tree.items()
    }


def _value(field: FieldInfo, value: Any) -> Any:
    inner = next(_models(field.annotation), None)
    if inner is DrivesTable:
        drives = [value] if isinstance(value, str) else value
        if isinstance(drives, list | tuple):
            return [{"model": each} if isinstance(each, str) else each for each in drives]
        return value
    if inner is not None:
        if isinstance(value, Mapping):
            return _table(inner, value)
        if isinstance(value, list | tuple):
            return [_table(inner, each) if isinstance(each, Mapping) else each for each in value]
    is_bytes = isinstance(value, int) and not isinstance(value, bool)
    return f"{value} B" if is_bytes and _is_size(field) else value


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models(part)


def _is_size(field: FieldInfo) -> bool:
    return _OF_SIZES in field.metadata or _has_sizes(field.annotation)


def _has_sizes(annotation: Any) -> bool:
    """Whether a size is among what a value may be, but not among what a list of it may hold."""
    marks = getattr(annotation, "__metadata__", ())
    return _OF_SIZES in marks or any(map(_has_sizes, get_args(annotation)))
