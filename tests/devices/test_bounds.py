"""Bounds of device files beside those of the engine: what the one takes, the other takes too.

Every number with bounds in a file of the catalogue, of a drive, a host or a controller, is set to
each of its bounds, and the engine is asked. What it then refuses would reach a user as a fault
that no check of files names.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import annotated_types
import pytest
from pydantic.fields import FieldInfo

from raidlab.calibration.traces.replay import Target
from raidlab.devices.catalogue import KINDS, catalogue
from raidlab.devices.controller import ControllerSpec
from raidlab.devices.faults import SpecError
from raidlab.devices.host import HostSpec
from raidlab.devices.schema import DeviceSpec, DriveSpec, Table
from raidlab.scenarios.planning.parts import Parts
from raidlab.scenarios.planning.scenario import build_scenario
from raidlab.scenarios.running.simulate import simulate

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


def system(spec: HostSpec | ControllerSpec) -> dict[str, Any]:
    """A scenario that needs all of a host, or of a controller with the drives behind it."""
    array: dict[str, Any] = {"name": "data", "drives": [{"model": "five", "count": 4}]}
    load: dict[str, Any] = {"rw": "randrw", "block_size": "4 KiB", "outstanding": 1}
    run = {"warm_up": "0 s", "duration": "1 ms"}
    tree = {"array": [array], "workload": [load], "run": run}
    if isinstance(spec, ControllerSpec):
        array["level"] = "raid10" if spec.parity is None else "raid6"
        return {**tree, "controller": {"model": spec.name}}
    array |= {"level": "raid6", "software_raid": "os"}
    load["buffered"] = spec.page_cache is not None
    return {**tree, "host": {"model": spec.name}}


def refused_in_a_system(
    spec: HostSpec | ControllerSpec, monkeypatch: pytest.MonkeyPatch
) -> list[str]:
    """What planning or the engine finds wrong with a system of a host or a controller."""
    find = Parts.find

    def found(parts: Parts, key: str, name: str, kind: type[DeviceSpec]) -> DeviceSpec | None:
        return spec if kind is type(spec) else find(parts, key, name, kind)

    with monkeypatch.context() as patched:
        patched.setattr(Parts, "find", found)
        try:
            simulate(build_scenario(system(spec)), workers=1)
        except SpecError as error:
            return [str(fault) for fault in error.faults]
    return []


def of_kind(kind: str) -> Iterator[DeviceSpec]:
    for device in catalogue():
        if device.spec.kind == kind:
            yield device.spec


@pytest.mark.parametrize("kind", KINDS)
def test_the_engine_takes_what_a_file_may_say(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: set[str] = set()
    wrong: list[str] = []
    for spec in of_kind(kind):
        for path, limits in numbers(spec):
            key = ".".join(map(str, path))
            if key in seen or key in OF_OTHER_KEYS:
                continue
            seen.add(key)
            for limit in limits:
                changed = put(spec, path, limit)
                if any(True for _ in changed.faults()):
                    continue
                found = (
                    refused(changed)
                    if isinstance(changed, DriveSpec)
                    else refused_in_a_system(changed, monkeypatch)
                )
                wrong += [f"{key} = {limit}: {text}" for text in found]
    assert seen or kind == "table", "a table has no number with bounds"
    assert wrong == []
