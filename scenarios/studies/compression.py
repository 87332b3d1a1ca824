"""Rates of drives that compress, over how far the data that they are given can be compressed."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from raidlab.devices.catalogue import find_for
from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.schema import DriveSpec
from raidlab.devices.trees import Document
from raidlab.scenarios.planning.scenario import Loaded, Scenario, build_scenario
from raidlab.scenarios.results.bottleneck import Leader, leader
from raidlab.scenarios.results.result import Result
from raidlab.scenarios.results.row import Row
from raidlab.scenarios.running.simulate import Progress, results_of
from raidlab.scenarios.running.store import Store
from raidlab.scenarios.spec.trees import RunTree, ScenarioTree, WorkloadTree
from raidlab.scenarios.spec.written import scenario_tree

SHARES = (0.0, 0.02, 0.1, 0.25, 0.5, 0.75, 0.9, 0.98)
"""Compressibilities that are drawn if none are asked for."""

LOADS: Mapping[str, WorkloadTree] = {
    "random write 4 KiB": {"rw": "randwrite", "block_size": "4 KiB"},
    "sequential write 128 KiB": {"rw": "write", "block_size": "128 KiB"},
    "random read 4 KiB": {"rw": "randread", "block_size": "4 KiB"},
    "sequential read 128 KiB": {"rw": "read", "block_size": "128 KiB"},
}
"""What a drive alone is loaded with, each load in a run of its own."""

_OUTSTANDING = 32
_RUN: Final[RunTree] = {"warm_up": "500 ms", "duration": "1 s", "precondition": "steady-state"}


@dataclass(frozen=True)
class Point:
    """A load at one compressibility."""

    load: str
    compressible: float
    """Share by which its data can be compressed, 0 to 1."""
    iops: float
    mib_per_s: float
    nand_bytes_per_host_byte: float | None
    """Bytes that NAND takes in for each byte that the host writes; None if nothing was written."""
    write_amplification: float | None
    """In mapping units, compressed or not: 1 and what collection moves."""
    bottleneck: str | None
    busiest: Leader | None = None
    """The component that it names."""

    def to_dict(self) -> Document:
        """Plain data."""
        busiest = None if self.busiest is None else (self.busiest.name, self.busiest.share)
        return vars(self) | {"busiest": busiest}


@dataclass(frozen=True)
class Compression:
    """Points by load and compressibility."""

    title: str
    seed: int
    points: tuple[Point, ...]
    warnings: tuple[str, ...]
    breaches: tuple[str, ...]

    def curves(self) -> dict[str, list[Point]]:
        """The points of each load, from the least compressible data on."""
        found: dict[str, list[Point]] = {}
        for point in sorted(self.points, key=lambda point: point.compressible):
            found.setdefault(point.load, []).append(point)
        loads = dict.fromkeys(point.load for point in self.points)
        return {load: found[load] for load in loads}

    def to_dict(self) -> Document:
        """Plain data."""
        return {
            "title": self.title,
            "seed": self.seed,
            "points": [point.to_dict() for point in self.points],
            "warnings": list(self.warnings),
            "breaches": list(self.breaches),
        }


def compressions(
    target: str,
    shares: Sequence[float] = SHARES,
    *,
    seed: int | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
    store: Store | None = None,
) -> Compression:
    """Simulates a drive or a scenario once for each compressibility.

    Args:
        target: A drive's name or device file, which gets `LOADS` in their steady states; or a
            scenario's file, whose loads are given data of each compressibility.
        shares: Shares by which data can be compressed, 0 to 1.
        seed: Replaces the scenario's; 1 for a drive.
        workers: Threads; the number of cores if None.
        progress: Called after every finished run.
        store: Finds finished runs again, and stores new ones.

    Raises:
        SpecError: The target cannot be run, or no drive in it compresses.
        KeyboardInterrupt: Ctrl-C.
    """
    tree, path = _tree(target)
    if tree is None:
        title, cases = _of_drive(target, shares)
    else:
        title, cases = _of_scenario(tree, path, shares)
    built = [scenario for _, _, scenario in cases]
    used = built[0].seed if seed is None else seed
    results = results_of(
        built, used, workers=workers, progress=progress, store=store, heeds_past=False
    )
    points: list[Point] = []
    breaches: list[str] = []
    for (load, share, _), result in zip(cases, results, strict=True):
        points += _points(load, share, result)
        breaches += result.breaches
    warnings = dict.fromkeys(warning for scenario in built for warning in scenario.warnings)
    return Compression(title, used, tuple(points), tuple(warnings), tuple(breaches))


def _tree(target: str) -> tuple[ScenarioTree | None, Path]:
    """The tree of a scenario's file; None for a drive."""
    path = Path(target)
    if path.suffix != ".toml":
        return None, path
    tree = scenario_tree(path)
    return (None if "kind" in tree else tree), path


def _of_drive(name: str, shares: Sequence[float]) -> tuple[str, list[tuple[str, float, Scenario]]]:
    device = find_for("TARGET", name)
    if not isinstance(device.spec, DriveSpec) or not device.spec.compresses:
        allowed = "a drive that compresses, with a table [compression] in its device file"
        raise SpecError([Fault("TARGET", name, allowed)])
    model = str(Path(name).resolve()) if name.endswith(".toml") else name
    cases = []
    for load, keys in LOADS.items():
        for share in shares:
            workload: WorkloadTree = {
                "compressible": share,
                "align": "4 KiB",
                "outstanding": _OUTSTANDING,
                **keys,
            }
            tree = {
                "title": device.spec.title or device.spec.name,
                "array": [{"name": "drive", "drives": [{"model": model}]}],
                "workload": [workload],
                "run": _RUN,
            }
            cases.append((load, share, build_scenario(tree)))
    return device.spec.title or device.spec.name, cases


def _of_scenario(
    tree: ScenarioTree, path: Path, shares: Sequence[float]
) -> tuple[str, list[tuple[str, float, Scenario]]]:
    as_written = build_scenario(tree, path)
    if not as_written.workloads:
        raise SpecError([Fault("workload", None, "at least one", (), str(path))])
    compressing = [_compresses(as_written, load) for load in as_written.workloads]
    if not any(compressing):
        allowed = "a scenario with a drive that compresses, such as sandforce-1222-64gb"
        raise SpecError([Fault("array", None, allowed, (), str(path))])
    cases = []
    for share in shares:
        changed = copy.deepcopy(tree)
        for workload, compresses in zip(changed["workload"], compressing, strict=True):
            if compresses:
                workload["compressible"] = share
        cases.append(("", share, build_scenario(changed, path)))
    return as_written.title, cases


def _compresses(scenario: Scenario, load: Loaded) -> bool:
    """Whether all drives that a workload is on compress."""
    plan = scenario.base
    if load.is_fio:
        return False
    arrays = [plan["arrays"][plan["workloads"][part]["array"]] for part in load.parts]
    models = {plan["drives"][drive]["device"] for array in arrays for drive in array["drives"]}
    return all(plan["devices"][model].get("compression") for model in models)


def _points(load: str, share: float, result: Result) -> list[Point]:
    rows = result.summary()
    several = len({row["outstanding"] for row in rows}) > 1
    return [
        Point(
            load=load
            or (f"{row['workload']}, {row['outstanding']}" if several else row["workload"]),
            compressible=share,
            iops=row["iops"],
            mib_per_s=row["mib_per_s"],
            nand_bytes_per_host_byte=row["write_amplification"],
            write_amplification=_amplification(row),
            bottleneck=row["bottleneck"],
            busiest=leader(row),
        )
        for row in rows
    ]


def _amplification(row: Row) -> float | None:
    """Units to NAND for each unit of the host's, over all drives that were written."""
    written = [
        found
        for component in row["components"]
        if (found := component.get("written")) and found["host_units"]
    ]
    host = sum(each["host_bytes"] for each in written)
    if not host:
        return None
    moved = (each["moved_units"] / each["host_units"] * each["host_bytes"] for each in written)
    return float(1 + sum(moved) / host)
