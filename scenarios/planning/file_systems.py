"""Which array has which file system: arrays say it, and loads that write files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from raidlab.scenarios.spec.durability import FileSystemTable
from raidlab.scenarios.spec.schema import ScenarioTable


@dataclass(frozen=True)
class Said:
    """A file system, and the key that says it first."""

    key: str
    table: FileSystemTable


def file_systems(table: ScenarioTable) -> dict[str, Said]:
    """File systems by the array's name. What an array says counts before what its loads say."""
    found: dict[str, Said] = {}
    for at, array in enumerate(table.array):
        if array.file_system is not None:
            found[table.array_name(at)] = Said(f"array.{at}.file_system", array.file_system)
    for at, load in enumerate(table.workload):
        if load.file_system is not None:
            said = Said(f"workload.{at}.file_system", load.file_system)
            found.setdefault(table.target_name(at), said)
    return found


def disagreements(
    table: ScenarioTable, systems: Mapping[str, Said]
) -> Iterator[tuple[str, str, str]]:
    """Loads that say another file system than their array has: key, value, what is allowed."""
    for at, load in enumerate(table.workload):
        said = systems.get(table.target_name(at))
        if load.file_system is not None and said is not None and load.file_system != said.table:
            allowed = f"left out, or what {said.key} says: an array has one file system"
            yield f"workload.{at}.file_system", load.file_system.type, allowed
