"""What the drives of an array have been through before the run.

Flash remembers: how fast it writes depends on what was written before, and where. A scenario
says it with `precondition` of `[run]`, or in full with `history` of `[[array]]`; both are loads on
the array, of which each drive has seen its share.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from raidlab.devices.schema import PastLoad
from raidlab.scenarios.loads import RW
from raidlab.scenarios.schema import ArrayTable, PastTable, ScenarioTable, WorkloadTable

_FILL_BLOCK = 128 * 1024


def drive_histories(
    scenario: ScenarioTable,
    array: ArrayTable,
    loads: Sequence[WorkloadTable],
    usable: int,
    capacities: Sequence[int],
) -> list[tuple[PastLoad, ...]]:
    """The past of each drive of `array`, in their order; empty for drives out of the factory.

    Args:
        scenario: For `precondition`.
        array: Its drives and its own `history`.
        loads: The workloads on it.
        usable: Bytes that it offers; of each drive if they are loaded independently.
        capacities: Bytes of each drive.
    """
    past = [_stated(entry, usable) for entry in array.history]
    precondition = scenario.run.precondition
    if precondition != "fresh":
        fill = min(scenario.run.filled or usable, usable)
        past.insert(0, PastLoad("sequential", 0, fill, _FILL_BLOCK, fill))
    if precondition == "steady-state":
        past += _settled(loads, usable)
    histories, start = [], 0
    for capacity in capacities:
        if array.level == "jbod":
            shares = [_overlap(load, start, capacity) for load in past]
        else:
            shares = [_share(load, capacity / usable, array) for load in past]
        histories.append(tuple(share for share in shares if share is not None))
        start += capacity
    return histories


def _stated(entry: PastTable, usable: int) -> PastLoad:
    access, _ = RW[entry.rw]
    area = usable - entry.area_start if entry.area is None else entry.area
    return PastLoad(
        access,
        entry.area_start,
        area,
        entry.block_size,
        entry.written or 0,
        then_rests=entry.then_rests,
    )


def _settled(loads: Sequence[WorkloadTable], usable: int) -> Iterator[PastLoad]:
    """The measured loads' own writes, for so long that nothing changes any more."""
    for load in loads:
        wanted = load.load()
        if wanted.read_share < 1:
            area = usable - load.area_start if load.area is None else load.area
            # A sequential load has settled after one pass.
            written = area if wanted.access == "sequential" else 0
            yield PastLoad(
                wanted.access, load.area_start, area, wanted.block_bytes, written, ongoing=True
            )


def _overlap(load: PastLoad, start: int, capacity: int) -> PastLoad | None:
    """The part of a load that falls on a drive whose bytes begin at `start` of the array."""
    first = max(load.start_bytes, start)
    area = min(load.start_bytes + load.area_bytes, start + capacity) - first
    if area <= 0:
        return None
    written = load.written_bytes * area // load.area_bytes
    block = min(load.block_bytes, area)
    return replace(
        load, start_bytes=first - start, area_bytes=area, block_bytes=block, written_bytes=written
    )


def _share(load: PastLoad, scale: float, array: ArrayTable) -> PastLoad | None:
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
