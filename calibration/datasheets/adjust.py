"""Closes the loop: each stated figure moves the one parameter that bounds it.

Steps are proportional, since each figure is (nearly) inverse to its parameter; two passes, because
parameters of reads and writes meet in dies and cores.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from raidlab.calibration.datasheets.points import OF_BURSTS, Bench, quantities, stated
from raidlab.devices.datasheet import priors
from raidlab.devices.datasheet.disk import MOST_SECTORS, Disk
from raidlab.devices.datasheet.disk import device as disk_device
from raidlab.devices.datasheet.flash import LEAST_US, Flash
from raidlab.devices.datasheet.flash_device import device
from raidlab.devices.datasheet.nand import spare_for
from raidlab.devices.datasheet.sheet import Read
from raidlab.devices.faults import Fault, SpecError

CLOSE_ERROR = 0.01
"""Relative error at which a figure needs no further step."""
_MOST_STEPS = 5
_PASSES = 2
_LEAST_CORE = 0.4
"""Part of `cores / rate` below which core times are not what bounds reads."""


Tell = Callable[[int, int], None]
"""Is called with how many figures are done, of how many."""


def silent(done: int, total: int) -> None:
    """Says nothing of progress."""


def adjust_disk(read: Read, disk: Disk, tell: Tell = silent) -> tuple[Disk, dict[str, float]]:
    """The disk whose simulated figures are the stated ones; see `adjust`."""
    bench = Bench(read.sheet)
    found: dict[str, float] = {}
    names = quantities(read.sheet)
    for at, quantity in enumerate(names):
        tell(at, len(names))
        figure = stated(read.sheet, quantity)
        for _ in range(_MOST_STEPS):
            found[quantity] = bench.measure(disk_device(disk, read), quantity)
            moved = _moved_disk(disk, quantity, figure, found[quantity])
            if abs(found[quantity] / figure - 1) < CLOSE_ERROR or moved == disk:
                break
            disk = moved
    tell(len(names), len(names))
    return disk, found


def _moved_disk(disk: Disk, quantity: str, figure: float, simulated: float) -> Disk:
    if quantity in _STREAMS:
        sectors = round(disk.outer_sectors * figure / simulated)
        return replace(disk, outer_sectors=min(MOST_SECTORS, sectors))
    off = (figure - simulated) / 1e6
    if quantity == "average_seek_read":
        return replace(disk, seek_read_ms=max(0.5, disk.seek_read_ms + off))
    if quantity == "average_seek_write":
        return replace(disk, seek_write_ms=max(0.5, disk.seek_write_ms + off))
    if quantity == "random_write" and disk.caches_writes:
        runs = round(disk.write_runs * (figure / simulated) ** _RUNS_FOR_RATE)
        return replace(disk, write_runs=min(max(runs, _FEWEST_RUNS), _MOST_RUNS))
    return disk


_STREAMS = ("sustained_rate", "sequential_read")
_RUNS_FOR_RATE = 6
"""Exponent: among twice as many writes the next is about an eighth faster."""
_FEWEST_RUNS, _MOST_RUNS = 16, 8192


def adjust(read: Read, flash: Flash, tell: Tell = silent) -> tuple[Flash, dict[str, float]]:
    """The drive whose simulated figures are the stated ones, as far as its parameters allow.

    Args:
        read: The sheet.
        flash: The drive by closed forms.
        tell: Called with progress.

    Returns:
        The drive, and each figure as simulated, in base units.

    Raises:
        SpecError: The engine refuses a device.
    """
    bench = Bench(read.sheet)
    names = quantities(read.sheet)
    total = _PASSES * len(names)
    for number in range(_PASSES):
        worst = 0.0
        for at, quantity in enumerate(names, number * len(names)):
            tell(at, total)
            if quantity not in _STEP or _outruns(bench, read, flash, quantity):
                continue
            before = flash
            flash = _one(bench, read, flash, quantity)
            worst = max(worst, 0.0 if flash == before else 1.0)
        if not worst:
            break
    draft = device(flash, read)
    found = {name: bench.measure(draft, name) for name in names}
    tell(total, total)
    return flash, found


def _one(bench: Bench, read: Read, flash: Flash, quantity: str) -> Flash:
    """The drive after steps towards one figure; the best one of those tried."""
    figure = stated(read.sheet, quantity)
    best, least = flash, float("inf")
    for _ in range(_MOST_STEPS):
        simulated = bench.measure(device(flash, read), quantity)
        if not simulated:
            allowed = "a figure with which I/Os complete while it is measured; the others make none"
            raise SpecError([Fault(quantity, f"{figure:g}", allowed, (), str(read.path))])
        error = abs(simulated / figure - 1)
        if error < least:
            best, least = flash, error
        if error < CLOSE_ERROR:
            break
        moved = _STEP[quantity](flash, figure, simulated)
        if moved == flash:
            break
        flash = moved
    return best


def _outruns(bench: Bench, read: Read, flash: Flash, quantity: str) -> bool:
    """True of a burst into a cache that is not modelled, unless the steady state is faster yet."""
    sheet = read.sheet
    if not sheet.burst or sheet.has_slc_cache or quantity not in OF_BURSTS:
        return False
    return bench.measure(device(flash, read), quantity) <= (1 + CLOSE_ERROR) * stated(
        sheet, quantity
    )


def _burst(flash: Flash, figure: float, simulated: float) -> Flash:
    factor = simulated / figure
    slower = priors.SLC_PROGRAM_US.clamp(flash.slc_program_us * factor)
    moved = replace(flash, slc_program_us=slower)
    if moved != flash or factor < 1:
        return moved
    full = flash.cores * flash.sheet.unit / figure * 1e6
    return replace(flash, write_unit_us=flash.write_unit_us * factor or full)


def _sequential_write(flash: Flash, figure: float, simulated: float) -> Flash:
    factor = simulated / figure
    if flash.programs_bound:
        return _program(flash, factor)
    if not flash.write_unit_us:
        # Not bound by cores yet: their time for each unit is what is left to say it.
        full = flash.cores * flash.sheet.unit / figure * 1e6
        return replace(flash, write_unit_us=full if factor > 1 else 0.0)
    return replace(flash, write_unit_us=flash.write_unit_us * factor)


def _program(flash: Flash, factor: float) -> Flash:
    return replace(flash, program_us=flash.cell.program_us.clamp(flash.program_us * factor))


def _random_write(flash: Flash, figure: float, simulated: float) -> Flash:
    factor = simulated / figure
    if flash.sheet.burst:
        return replace(flash, write_core_us=max(LEAST_US, flash.write_core_us * factor))
    moved = _program(flash, factor)
    # Dies at their slowest that are too fast yet have less spare space than usual.
    if flash.spare_fitted or (moved == flash and factor > 1):
        wanted = max(1.001, flash.write_amplification * factor)
        spare = priors.SPARE.clamp(spare_for(wanted))
        moved = flash if spare == flash.spare else replace(flash, spare=spare, spare_fitted=True)
    if moved != flash or factor < 1:
        return moved
    # Slower than any dies and spare space: what is left are the cores.
    core = 1e6 * flash.cores / figure - flash.write_unit_us
    return replace(flash, write_core_us=max(flash.write_core_us * factor, core))


def _random_read(flash: Flash, figure: float, simulated: float) -> Flash:
    core = 1e6 * flash.cores / figure
    wanted = flash.read_core_us * simulated / figure
    if wanted >= _LEAST_CORE * core or simulated > figure:
        moved = replace(flash, read_core_us=min(wanted, 1.1 * core))
        # What a core no longer takes of a stated latency, another part does.
        latency = flash.sheet.read_latency
        return moved if latency is None else moved.with_latency(latency / 1e3)
    faster = flash.reading(flash.stated_read_us * simulated / figure)
    gained = flash.stated_read_us - faster.stated_read_us if flash.sheet.read_latency else 0.0
    return replace(faster, read_wait_us=flash.read_wait_us + gained)


def _sequential_read(flash: Flash, figure: float, simulated: float) -> Flash:
    if flash.payload is None:
        return flash
    return replace(flash, payload=min(1.0, flash.payload * figure / simulated))


def _read_latency(flash: Flash, figure: float, simulated: float) -> Flash:
    return flash.with_latency(flash.latency_us() + (figure - simulated) / 1e3)


def _write_latency(flash: Flash, figure: float, simulated: float) -> Flash:
    return replace(flash, write_wait_us=max(0.0, flash.write_wait_us + (figure - simulated) / 1e3))


def _either_write(flash: Flash, figure: float, simulated: float) -> Flash:
    return (_burst if flash.sheet.has_slc_cache else _sequential_write)(flash, figure, simulated)


_STEP: dict[str, Callable[[Flash, float, float], Flash]] = {
    "sequential_read": _sequential_read,
    "sequential_write": _either_write,
    "sustained_write": _sequential_write,
    "random_read": _random_read,
    "random_write": _random_write,
    "read_latency": _read_latency,
    "write_latency": _write_latency,
}
