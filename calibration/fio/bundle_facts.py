"""What a collector's bundle says beside its results: the machine, and what else it did."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pydantic import ValidationError

from raidlab.calibration.measurements.bundle import Step
from raidlab.calibration.measurements.measurement import Machine
from raidlab.devices.faults import SpecError
from raidlab.devices.reading import MIB, read_json
from raidlab.devices.trees import table_of, tables_of

_LARGEST_FILE = 64 * MIB


def noise_of(files: Sequence[Path]) -> dict[Path, tuple[str, ...]]:
    """What was too much beside each result of a bundle, by the result's path."""
    found = {}
    for folder, tree in _manifests(files):
        for entry in tables_of(tree.get("steps")):
            try:
                step = Step.model_validate(entry)
            except ValidationError:
                continue
            if step.noisy:
                found[folder / "steps" / f"{step.number:03}.json"] = step.noisy
    return found


def machine_of(files: Sequence[Path]) -> Machine | None:
    """The machine of all bundles among the files; None if there is none, or they differ."""
    machines = {_machine(tree) for _, tree in _manifests(files)}
    return machines.pop() if len(machines) == 1 else None


def _manifests(files: Sequence[Path]) -> Iterator[tuple[Path, Mapping[str, object]]]:
    """Each bundle's folder and manifest; what is unreadable is somebody else's to say."""
    for path in files:
        if path.name != "manifest.json":
            continue
        try:
            tree = read_json(path, _LARGEST_FILE, "manifest")
        except SpecError:
            continue
        if isinstance(tree, Mapping):
            yield path.parent, tree


def _machine(tree: Mapping[str, object]) -> Machine:
    host, target = (table_of(tree.get(key)) for key in ("host", "target"))
    identity, details = (table_of(target.get(key)) for key in ("identity", "details"))
    said = {
        "cpus": host.get("cpus"),
        "rotational": details.get("rotational"),
        "model": identity.get("model"),
        "device": identity.get("device"),
        "capacity_bytes": identity.get("size_bytes"),
    }
    found = {}
    for key, value in said.items():
        try:
            Machine.model_validate({key: value})
        except ValidationError:
            continue
        found[key] = value
    return Machine.model_validate(found)
