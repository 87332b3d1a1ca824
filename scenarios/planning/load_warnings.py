"""What a user should know of a load's offsets and sizes."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from raidlab.devices.units import format_size
from raidlab.scenarios.spec.findings import Code, Coded
from raidlab.scenarios.spec.schema import WorkloadTable


def no_whole_sectors(key: str, workload: WorkloadTable) -> Iterator[str]:
    """Sizes of direct I/Os that no drive moves, such as 4 kB for 4 KiB."""
    for name in () if workload.buffered else ("block_size", "align"):
        size = getattr(workload, name) or 0
        if size % 512:
            nearest = next(
                (size // 1000**n * 1024**n for n in (3, 2, 1) if size % 1000**n == 0),
                -(-size // 512) * 512,
            )
            text = (
                f"{key}.{name}: {format_size(size)} is no multiple of 512 B, and direct I/O moves"
                f' whole sectors; did you mean "{format_size(nearest)}"?'
            )
            yield Coded(text, Code.PARTIAL_SECTORS, f"{key}.{name}")


def straddles(key: str, workload: WorkloadTable, mapping_units: Collection[int]) -> Iterator[str]:
    """Random I/Os of whole mapping units that straddle them because of where their area begins."""
    size = workload.block_size or 0
    said = workload.align is not None or workload.buffered
    if said or not size or workload.load().access != "random":
        return
    align = workload.alignment(whole_blocks=True)
    units = [unit for unit in mapping_units if size % unit == 0 and align % unit]
    if units:
        start = "area_start" if workload.area_start % size else "hot_start"
        text = (
            f"{key}.{start}: is no multiple of the block, so offsets are multiples of"
            f" {format_size(align)}, and nearly every I/O of {format_size(size)} touches"
            f" {size // max(units) + 1} of the drives' mapping units of {format_size(max(units))}"
            f" for {size // max(units)}"
        )
        yield Coded(text, Code.STRADDLED_UNITS, f"{key}.{start}")
