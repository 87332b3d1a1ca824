"""What the drives of an array have been through before the run.

Flash remembers: how fast it writes depends on what was written before, and where. A scenario
says it with `precondition` of `[run]`, or in full with `history` of `[[array]]`; both are loads on
the array, of which each drive has seen its share.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from raidlab.devices.faults import Fault
from raidlab.devices.plan_types import DeviceParams
from raidlab.devices.schema import PreconditioningLoad
from raidlab.devices.units import format_size
from raidlab.scenarios.planning.arrays import parts_of_jbod
from raidlab.scenarios.spec.loads import HOT_SHARE, RW
from raidlab.scenarios.spec.schema import (
    ArrayTable,
    PreconditioningTable,
    ScenarioTable,
    WorkloadTable,
)

_FILL_BLOCK = 128 * 1024
_SETTLED_BLOCK = 4096
"""Of writes that are not known one by one."""
_ALL = 1_000_000
"""The weights of loads that go on together, summed up."""
_MOST_TIMES = 1000
"""How often preconditioning may write the array: long before, nothing changes any more."""


def beyond_array(entry: PreconditioningTable, usable: int) -> Iterator[Fault]:
    """Faults of a stated history that an array of `usable` bytes has no space or no time for."""
    space = usable - entry.area_start
    if space <= 0:
        allowed = f"below {usable} B ({format_size(usable)}), what the array holds"
        yield Fault("area_start", format_size(entry.area_start), allowed)
        return
    area = space if entry.area is None else entry.area
    if entry.block_size > area > 0 and "block_size" in entry.model_fields_set:
        yield Fault("block_size", format_size(entry.block_size), f"at most the area of {area} B")
    if area > space:
        allowed = (
            f"at most {space} B ({format_size(space)}), what the array holds behind area_start"
        )
        yield Fault("area", format_size(area), allowed)
    if entry.written is not None and entry.written > _MOST_TIMES * usable:
        allowed = (
            f"at most {_MOST_TIMES} times what the array holds, {format_size(usable)}; left out:"
            " until nothing changes any more"
        )
        yield Fault("written", format_size(entry.written), allowed)


def drive_histories(
    scenario: ScenarioTable,
    array: ArrayTable,
    loads: Sequence[Writes],
    usable: int,
    capacities: Sequence[int],
) -> list[tuple[PreconditioningLoad, ...]]:
    """The history of each drive of `array`, in their order; empty for drives out of the factory.

    Args:
        scenario: For `precondition`.
        array: Its drives and its own `history`.
        loads: What the workloads on it write.
        usable: Bytes that it offers; of each drive if they are loaded independently.
        capacities: Bytes of each drive that it may use.
    """
    history = [_stated(entry, usable) for entry in array.history]
    precondition = scenario.run.begins
    if precondition != "fresh":
        fill = min(scenario.run.filled or usable, usable)
        history.insert(0, PreconditioningLoad("sequential", 0, fill, _FILL_BLOCK, fill))
    if precondition == "steady-state":
        history += _settled(loads)
    # One after the other all of each drive is used, side by side what the smallest has.
    scale = min(capacities) / usable
    histories, start = [], 0
    parts = parts_of_jbod(array.stripe_unit, capacities)
    for capacity, part in zip(capacities, parts, strict=True):
        if array.level == "jbod":
            shares = [_overlap(load, start, capacity) for load in history]
        else:
            shares = [_share(load, scale, array) for load in history]
        histories.append(tuple(share for share in shares if share is not None))
        start += part
    return histories


def _stated(entry: PreconditioningTable, usable: int) -> PreconditioningLoad:
    access, _ = RW[entry.rw]
    area = usable - entry.area_start if entry.area is None else entry.area
    return PreconditioningLoad(
        access,
        entry.area_start,
        area,
        entry.block_size,
        entry.written or 0,
        then_rests=entry.then_rests,
    )


@dataclass(frozen=True)
class Writes:
    """What a load writes, as far as it is known before the run."""

    access: Literal["sequential", "random"]
    places: tuple[tuple[int, int, float], ...]
    """Where: first byte, bytes, share of the writes."""
    block_bytes: int
    bytes_of_io: float
    """Bytes that it writes with each of its I/Os, on average."""
    rate: float | None
    """I/Os a second of an open load."""
    outstanding: float
    """Of a closed one."""


def writes_of(load: WorkloadTable, usable: int) -> Writes:
    """What a load of a scenario writes."""
    wanted = load.load()
    return Writes(
        wanted.access,
        tuple(_places(load, usable)),
        wanted.block_bytes,
        (1 - wanted.read_share) * wanted.block_bytes,
        None if load.rate is None else load.rate[0],
        float((load.outstanding or (1,))[0]),
    )


def unknown_writes(usable: int) -> Writes:
    """What a load that is not known before the run wrote: taken as random over the whole array."""
    return Writes(
        "random", ((0, usable, 1.0),), _SETTLED_BLOCK, float(_SETTLED_BLOCK), None, outstanding=1.0
    )


def _settled(loads: Sequence[Writes]) -> Iterator[PreconditioningLoad]:
    """The measured loads' own writes, side by side until nothing changes any more."""
    writing = [load for load in loads if load.bytes_of_io]
    bytes_of = [
        each * load.bytes_of_io for each, load in zip(_rates(writing), writing, strict=True)
    ]
    for load, written in zip(writing, bytes_of, strict=True):
        for start, area, share in load.places:
            yield PreconditioningLoad(
                load.access,
                start,
                area,
                load.block_bytes,
                # A sequential load has settled after one pass.
                area if load.access == "sequential" else 0,
                ongoing=True,
                weight=max(1, round(_ALL * share * written / sum(bytes_of))),
            )


def _rates(loads: Sequence[Writes]) -> list[float]:
    """How many I/Os each of the loads makes beside the others, as far as they say."""
    if all(load.rate is not None for load in loads):
        return [load.rate or 0.0 for load in loads]
    if all(load.rate is None for load in loads):
        return [load.outstanding for load in loads]
    return [1.0 for _ in loads]


def _places(load: WorkloadTable, usable: int) -> Iterator[tuple[int, int, float]]:
    """Where a load's writes go: first byte, bytes, share of the writes."""
    share = 0.0
    area = load.area_bytes(usable)
    if load.hot_spot is not None:
        share = HOT_SHARE if load.hot_share is None else load.hot_share
        yield load.area_start + load.hot_start, load.hot_bytes(area), share
    if share < 1:
        yield load.area_start, area, 1 - share


def _overlap(load: PreconditioningLoad, start: int, capacity: int) -> PreconditioningLoad | None:
    """The part of a load that falls on a drive whose bytes begin at `start` of the array."""
    first = max(load.start_bytes, start)
    area = min(load.start_bytes + load.area_bytes, start + capacity) - first
    if area <= 0:
        return None
    written = load.written_bytes * area // load.area_bytes
    return replace(
        load,
        start_bytes=first - start,
        area_bytes=area,
        block_bytes=min(load.block_bytes, area),
        written_bytes=written,
        weight=max(1, load.weight * area // load.area_bytes),
    )


def _share(
    load: PreconditioningLoad, scale: float, array: ArrayTable
) -> PreconditioningLoad | None:
    """A load's share of a drive of a striped array, where every drive is used alike."""
    unit = 4096
    area = int(load.area_bytes * scale) // unit * unit
    if area <= 0:
        return None
    block = load.block_bytes
    if array.level != "independent":
        block = min(block, array.stripe_unit)
    start = int(load.start_bytes * scale) // unit * unit
    written = int(load.written_bytes * scale)
    return replace(
        load,
        start_bytes=start,
        area_bytes=area,
        block_bytes=min(block, area),
        written_bytes=written,
    )


def snapshot_digest(devices: Sequence[DeviceParams]) -> str:
    """Of the file with the state of the drives, as hex digits; empty if it cannot be read."""
    flash = (plan for plan in devices if plan["kind"] == "ssd")
    file = next((plan["snapshot"] for plan in flash if "snapshot" in plan), None)
    try:
        return "" if file is None else hashlib.sha256(Path(file).read_bytes()).hexdigest()
    except OSError:
        return ""
