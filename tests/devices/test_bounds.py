"""Bounds of device files beside those of the engine: what the one takes, the other takes too.

Every number with bounds in a device file of the catalogue is set to each of its bounds, and the
engine is asked. What it then refuses would reach a user as a fault that no check of files names.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import annotated_types
import pytest
from pydantic.fields import FieldInfo

from raidlab.calibration.traces.replay import Target
from raidlab.devices.catalogue import KINDS, catalogue
from raidlab.devices.faults import SpecError
from raidlab.devices.schema import DriveSpec, Table

OF_OTHER_KEYS = {
    "buffer.segment", "buffer.read_ahead_limit", "nand.bad_blocks", "nand.reserved_blocks",
    "nand.parity_stripe", "geometry.zones.0.last_cylinder", "geometry.zones.0.sectors_per_track",
    "geometry.zones.0.empty", "geometry.zones.0.spares",
}  # fmt: skip
"""Keys whose bounds in the engine depend on other keys of the file."""

Path = tuple[str | int, ...]


def bounds(field: FieldInfo) -> list[float]:
    """Values that are just allowed, by all marks of a field together."""
    marks = [
        each
        for mark in field.metadata
        for each in (mark if isinstance(mark, annotated_types.GroupedMetadata) else (mark,))
    ]
    low = [m.ge for m in marks if isinstance(m, annotated_types.Ge)]
    high = [m.le for m in marks if isinstance(m, annotated_types.Le)]
    above = [m.gt for m in marks if isinstance(m, annotated_types.Gt)]
    ends = [max(low)] if low and all(max(low) > each for each in above) else []
    return [*ends, min(high)] if high else ends


def numbers(table: Table, path: Path = ()) -> Iterator[tuple[Path, list[float]]]:
    """Every number that is set, with its bounds; of lists of tables those of the first."""
    for name, field in type(table).model_fields.items():
        value = getattr(table, name)
        if isinstance(value, Table):
            yield from numbers(value, (*path, name))
        elif isinstance(value, tuple) and value and isinstance(value[0], Table):
            yield from numbers(value[0], (*path, name, 0))
        elif isinstance(value, int | float) and not isinstance(value, bool):
            kind = type(value)
            yield (*path, name), [kind(bound) for bound in bounds(field)]


def put(value: Any, path: Path, number: float) -> Any:
    """A copy with another number at a path, unchecked."""
    if not path:
        return number
    first, *rest = path
    if isinstance(value, tuple):
        return (put(value[0], tuple(rest), number), *value[1:])
    return value.model_copy(update={first: put(getattr(value, str(first)), tuple(rest), number)})


def refused(spec: DriveSpec) -> list[str]:
    """What the engine finds wrong with a drive."""
    try:
        Target.of_drive(spec)
    except SpecError as error:
        return [str(fault) for fault in error.faults]
    return []


def drives(kind: str) -> Iterator[DriveSpec]:
    for device in catalogue():
        if isinstance(device.spec, DriveSpec) and device.spec.kind == kind:
            yield device.spec


@pytest.mark.parametrize("kind", [name for name, of in KINDS.items() if issubclass(of, DriveSpec)])
def test_the_engine_takes_what_a_file_may_say(kind: str) -> None:
    seen: set[str] = set()
    wrong: list[str] = []
    for spec in drives(kind):
        for path, limits in numbers(spec):
            key = ".".join(map(str, path))
            if key in seen or key in OF_OTHER_KEYS:
                continue
            seen.add(key)
            for limit in limits:
                changed = put(spec, path, limit)
                if any(True for _ in changed.faults()):
                    continue
                wrong += [f"{key} = {limit}: {text}" for text in refused(changed)]
    assert wrong == []
