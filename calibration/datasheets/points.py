"""What a maker states, measured on the simulated drive: one short run for each figure."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from raidlab.devices.datasheet.client import fixed_slc_bytes
from raidlab.devices.datasheet.draft import Draft
from raidlab.devices.datasheet.priors import BLOCK, DEPTHS
from raidlab.devices.datasheet.sheet import Sheet
from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.files import write_file
from raidlab.devices.links import Interface
from raidlab.devices.trees import table_at
from raidlab.scenarios.planning.scenario import build_scenario
from raidlab.scenarios.running.simulate import results_of
from raidlab.scenarios.spec.loads import Rw
from raidlab.scenarios.spec.trees import RunTree, ScenarioTree, WorkloadTree

HOST = "nvme-gen5"
"""The host that bounds no drive."""
SEED = 1
_STREAM = 128 * 1024
_ENOUGH_IOS = 20_000
"""I/Os of a run: rates then vary by well below 1 %."""
_DISK_IOS = 2_000
_MIXED_DEPTH = 128
"""I/Os in flight at which mixed rates are taken to be stated. Assumed, and chosen in view of the
stated rates of one family: no sheet of the catalogue says it. A deeper queue goes on to gain."""
_AREA = 8 << 30
"""What random I/Os of drives without DRAM are stated on: an area whose map their memory holds."""
_SMALL_AREA = 64 << 20
"""As `_AREA`, at depth 1, where few I/Os have to bring its map."""
_THREADS = 32
_OUTER = 0.02
"""Share of a disk's capacity that has the rate of its outer tracks."""
_IN_CACHE = ("random_read", "read_latency")
"""Of client drives: of data that are still in the SLC cache."""
OF_BURSTS = ("sequential_write", "random_write")
"""Of client drives: into an empty cache."""
LATENCIES = ("read_latency", "write_latency")
_SEEKS = {"average_seek_read": "randread", "average_seek_write": "randwrite"}
Precondition = Literal["fresh", "filled", "steady-state"]
_LOADS: Mapping[str, tuple[Rw, Precondition]] = {
    "sequential_read": ("read", "filled"),
    "sequential_write": ("write", "steady-state"),
    "sustained_write": ("write", "steady-state"),
    "sustained_rate": ("read", "fresh"),
    "random_read": ("randread", "filled"),
    "random_write": ("randwrite", "steady-state"),
    "mixed_random": ("randrw", "steady-state"),
    "read_latency": ("randread", "filled"),
    "write_latency": ("randwrite", "filled"),
    "average_seek_read": ("randread", "fresh"),
    "average_seek_write": ("randwrite", "fresh"),
}


@dataclass(frozen=True)
class Load:
    """The run that measures a stated figure."""

    rw: Rw
    precondition: Precondition
    block: int
    depth: int
    seconds: float
    area: int | None = None
    filled: int | None = None
    """Bytes that the drive has been filled with; all of it if None."""

    def tree(self, model: Path) -> ScenarioTree:
        """The scenario."""
        workload: WorkloadTree = {
            "rw": self.rw,
            "block_size": f"{self.block} B",
            "outstanding": [self.depth],
            # One stream, but as many threads as random I/Os need processors.
            "threads": min(_THREADS, self.depth) if self.rw.startswith("rand") else 1,
        }
        if self.rw == "randrw":
            workload["read_share"] = 0.7
        if self.area is not None:
            workload["area"] = f"{self.area} B"
        warm_up = 0.5 * self.seconds
        run: RunTree = {
            "precondition": self.precondition,
            "warm_up": f"{warm_up:.6f} s",
            "duration": f"{self.seconds:.6f} s",
            "seed": SEED,
        }
        if self.filled is not None:
            run["filled"] = f"{self.filled} B"
        return {
            "host": {"model": HOST},
            "array": [{"drives": [{"model": str(model)}]}],
            "workload": [workload],
            "run": run,
        }


def stated(sheet: Sheet, quantity: str) -> float:
    """A stated figure in base units: bytes or I/Os a second, nanoseconds."""
    return float(getattr(sheet, quantity))


def quantities(sheet: Sheet) -> list[str]:
    """The figures of a sheet that runs can measure, in their order of adjustment."""
    return [name for name in _LOADS if getattr(sheet, name) is not None]


def load_of(sheet: Sheet, quantity: str) -> Load:
    """The run that measures a figure: as long as it needs for enough I/Os at the stated rate."""
    load = _load_of(sheet, quantity)
    if not sheet.has_slc_cache or quantity not in _IN_CACHE:
        return load
    held = min(fixed_slc_bytes(sheet), load.area or sheet.capacity)
    return replace(load, area=held, filled=held)


def _load_of(sheet: Sheet, quantity: str) -> Load:
    rw, precondition = _LOADS[quantity]
    if sheet.has_slc_cache and quantity in OF_BURSTS:
        precondition = "fresh"
    family = Interface.parse(sheet.interface).family
    figure = stated(sheet, quantity)
    area = None if sheet.host_memory is None else min(_AREA, sheet.capacity)
    if quantity in LATENCIES:
        area = None if area is None else _SMALL_AREA
        return Load(rw, precondition, BLOCK, 1, max(0.05, 2e-9 * figure * 1000), area)
    if quantity in _SEEKS:
        return Load(rw, precondition, BLOCK, 1, _DISK_IOS * 0.013)
    if sheet.kind == "hdd":
        if "random" in quantity:
            return Load(rw, "fresh", BLOCK, 16, _DISK_IOS / figure)
        area = int(sheet.capacity * _OUTER) // _STREAM * _STREAM
        return Load(rw, "fresh", 8 * _STREAM, 4, 4.0, area)
    depth = DEPTHS[family]
    if quantity == "mixed_random":
        depth = min(depth, _MIXED_DEPTH)
    if "random" in quantity:
        return Load(rw, precondition, BLOCK, depth, _random_seconds(figure), area)
    return Load(
        rw, precondition, _STREAM, min(depth, 128), max(0.1, _ENOUGH_IOS * _STREAM / figure / 4)
    )


def _random_seconds(rate: float) -> float:
    return min(5.0, max(0.05, 3 * _ENOUGH_IOS / rate))


class Bench:
    """Measures drafts of one sheet's device; the same draft has the same figures."""

    def __init__(self, sheet: Sheet) -> None:
        self.sheet = sheet
        self._known: dict[tuple[str, str], float] = {}

    def measure(self, draft: Draft, quantity: str) -> float:
        """As the function `measure`, once for each draft."""
        key = (draft.to_toml(), quantity)
        if key not in self._known:
            self._known[key] = measure(self.sheet, draft, quantity)
        return self._known[key]


def _of_device(fault: Fault, file: Path) -> Fault:
    """A fault of the device that a sheet gives, as one of the sheet."""
    if fault.file not in ("", str(file)):
        return fault
    allowed = fault.allowed.replace(str(file), "the device of this sheet")
    return replace(fault, file="", key=f"the device's {fault.key}", allowed=allowed)


def measure(sheet: Sheet, draft: Draft, quantity: str) -> float:
    """A figure as the simulated drive has it, in base units.

    Raises:
        SpecError: The device cannot be.
    """
    load = load_of(sheet, quantity)
    if quantity == "average_seek_write":
        # A write cache would hide the seeks of most writes.
        cache = {**table_at(draft.values, "write_cache"), "enabled": False}
        draft = replace(draft, values=draft.values | {"write_cache": cache})
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{sheet.name}.toml"
        write_file(file, draft.to_toml())
        try:
            scenario = build_scenario(load.tree(file))
            (result,) = results_of([scenario], SEED, workers=1, heeds_past=False)
        except SpecError as error:
            # The file is ours: what is wrong is what the sheet gives.
            faults = [_of_device(fault, file) for fault in error.faults]
            raise SpecError(faults) from None
    row: Any = result.results[0]
    if quantity in LATENCIES:
        return float(row["latency_us"]["mean"]) * 1e3
    if quantity in _SEEKS:
        return float(row["breakdown_us"]["seek"]) * 1e3
    if "random" in quantity:
        return float(row["iops"])
    return float(row["mb_per_s"]) * 1e6
