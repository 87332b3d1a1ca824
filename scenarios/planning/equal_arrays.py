"""`count` of `[[array]]`: several equal arrays, each with the same loads.

The first one keeps the array's name, the others are `NAME-1`, `NAME-2` and so on, behind all other
arrays, so that places in the file stay as they are. A load of the array is one for each of them,
named alike. Faults of the copies are reported where they stand in the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, TypeGuard

from raidlab.devices.faults import Fault, Faults
from raidlab.scenarios.planning.monitored import Expanded, expanded

_MOST_ARRAYS: Final = 256
"""Arrays that one stands for, as many as a scenario may have."""
_PLACED: Final = re.compile(r"(array|workload)\.(\d+)(.*)")


@dataclass
class FaultsInFile(Faults):
    """Faults of a tree with copies, at the places of the file that they were made from."""

    origins: Mapping[str, list[int]] = field(default_factory=dict)
    """Of each array and load of the tree, behind those of the file too, its place in the file."""

    def extend(self, faults: Iterable[Fault], prefix: str = "") -> None:
        """As of `Faults`."""
        before = len(self.found)
        super().extend(faults, prefix)
        self.found[before:] = [self._placed(fault) for fault in self.found[before:]]

    def _placed(self, fault: Fault) -> Fault:
        match = _PLACED.fullmatch(fault.key)
        if match is None:
            return fault
        kind, at, rest = match[1], int(match[2]), match[3]
        places = self.origins.get(kind, [])
        return replace(fault, key=f"{kind}.{places[at]}{rest}") if at < len(places) else fault


def expanded_arrays(tree: Mapping[str, object], path: Path | None) -> tuple[Expanded, Faults]:
    """The tree of a scenario with its equal arrays and monitored loads, and their faults."""
    whole, faults = with_copies(tree, "" if path is None else str(path))
    return expanded(whole, path, faults), faults


def with_copies(tree: Mapping[str, object], file: str) -> tuple[dict[str, object], Faults]:
    """The tree of a scenario with an entry for each of equal arrays, and what collects its faults.

    A `count` that cannot be is left as it is: the schema refuses it.

    Args:
        tree: What the file holds.
        file: Its name, for messages.
    """
    arrays, loads = tree.get("array"), tree.get("workload", [])
    if not _are_tables(arrays) or not _are_tables(loads):
        return dict(tree), Faults(file)
    if all(_count(each) == 1 for each in arrays):
        return dict(tree), Faults(file)
    every, loaded = [_single(each) for each in arrays], list(loads)
    origins = {"array": list(range(len(arrays))), "workload": list(range(len(loads)))}
    for at, array in enumerate(arrays):
        name = str(array.get("name") or f"array-{at}")
        for copy in range(1, _count(array)):
            every.append(_single(array) | {"name": f"{name}-{copy}"})
            origins["array"].append(at)
            for place, load in _loads_of(name, loads, alone=len(arrays) == 1):
                called = str(load.get("name") or f"workload-{place}")
                loaded.append({**load, "name": f"{called}-{copy}", "target": f"{name}-{copy}"})
                origins["workload"].append(place)
        for place, load in _loads_of(name, loads, alone=len(arrays) == 1):
            loaded[place] = {**load, "target": name}
    return {**tree, "array": every, "workload": loaded}, FaultsInFile(file, origins=origins)


def _are_tables(values: object) -> TypeGuard[Sequence[Mapping[str, object]]]:
    return isinstance(values, list | tuple) and all(isinstance(each, Mapping) for each in values)


def _count(array: Mapping[str, object]) -> int:
    """How many there are; 1 where what is written is no such number."""
    count = array.get("count", 1)
    return count if type(count) is int and 1 <= count <= _MOST_ARRAYS else 1


def _single(array: Mapping[str, object]) -> dict[str, object]:
    own = dict(array)
    return own if _count(array) == 1 else {k: v for k, v in own.items() if k != "count"}


def _loads_of(
    name: str, loads: Iterable[Mapping[str, object]], *, alone: bool
) -> Iterator[tuple[int, Mapping[str, object]]]:
    """The loads of an array with their places; one without a target is that of the only array."""
    for place, load in enumerate(loads):
        if load.get("target", name if alone else None) == name:
            yield place, load
