"""What no drive of a sheet's kind does, before any run: unit slips and figures of another drive.

Lower bounds are those of one die that does nothing else, at the slowest that chips of the cell are
known to be; a whole drive is faster. A slip of units is a factor of 8 (bits for bytes) or of 1000.
"""

from __future__ import annotations

from collections.abc import Iterator

from raidlab.devices.datasheet import priors
from raidlab.devices.datasheet.figures import Stated
from raidlab.devices.datasheet.nand import PAGE, amplification, program_rate
from raidlab.devices.datasheet.priors import BLOCK, CELLS
from raidlab.devices.faults import Fault
from raidlab.devices.links import Interface

_SLIP = 4.0
"""Ratio of two rates of a sheet beyond which one has a wrong unit: half of bits for bytes."""
_AROUND_READ_US = 100.0
"""Most that core, channel, link and host add to a read of 4 KiB."""
_DISK_DEPTH = 16
_LONGEST_SEEK_S = 0.05
_MOST_TRACKS = 2_000_000
"""Tracks of a surface: three times those of disks of 24 TB with 20 heads and 300 MB/s."""
_MOST_HEADS = 24


def implausible(sheet: Stated) -> Iterator[Fault]:
    """Figures that no drive of the sheet's kind and cell has, with the bound that each breaks."""
    if sheet.kind == "hdd":
        yield from _of_disk(sheet)
        return
    slow = [] if sheet.is_xpoint else list(_below_one_die(sheet))
    yield from slow
    yield from _below_one_read(sheet)
    named = {fault.key for fault in slow}
    yield from (fault for fault in _below_random(sheet) if fault.key not in named)


def _below_one_die(sheet: Stated) -> Iterator[Fault]:
    name, cell = (sheet.cell or "tlc").upper(), CELLS[sheet.cell or "tlc"]
    program = cell.program_us.high
    write = program_rate(cell, 1, min(cell.planes), program)
    read = PAGE / cell.read_us.high * 1e6
    does = f"programs, at {program:g} us a page"
    for key, least, what in (
        ("sequential_write", write, does),
        ("sustained_write", write, does),
        ("sequential_read", read, f"reads, at {cell.read_us.high:g} us a page"),
    ):
        rate = getattr(sheet, key)
        if rate is not None and rate < least:
            allowed = f"at least {least / 1e6:,.0f} MB/s: what one die of {name} {what}"
            yield Fault(key, f"{rate} B/s", allowed)
    unit = max(sheet.unit, BLOCK)
    random = write / unit / amplification(priors.SPARE.low)
    if sheet.random_write is not None and sheet.random_write < random:
        allowed = (
            f"at least {random:,.0f} IO/s: what one die of {name} programs, at {program:g} us a"
            f" page and {100 * priors.SPARE.low:g} % of spare space"
        )
        yield Fault("random_write", f"{sheet.random_write:g} IO/s", allowed)


def _below_one_read(sheet: Stated) -> Iterator[Fault]:
    if sheet.random_read is None:
        return
    latency, why = sheet.read_latency, "read_latency"
    if latency is None and not sheet.is_xpoint:
        cell = CELLS[sheet.cell or "tlc"]
        wait = priors.READ_LATENCY_US[Interface.parse(sheet.interface).family].high
        latency, why = int(1e3 * (cell.read_us.high + wait + _AROUND_READ_US)), "the slowest read"
    if latency is not None and sheet.random_read < 1e9 / latency:
        allowed = (
            f"at least {1e9 / latency:,.0f} IO/s: what a single read in flight does, at"
            f" {latency / 1e3:,.6g} us ({why})"
        )
        yield Fault("random_read", f"{sheet.random_read:g} IO/s", allowed)


def _below_random(sheet: Stated) -> Iterator[Fault]:
    """Streams far slower than random I/Os of the same direction."""
    for key, other in (("sequential_read", "random_read"), ("sequential_write", "random_write")):
        stream, random = getattr(sheet, key), getattr(sheet, other)
        if stream is None or random is None or random * BLOCK <= _SLIP * stream:
            continue
        allowed = (
            f"at least {random * BLOCK / _SLIP / 1e6:,.0f} MB/s: {other} of {random:,.0f} IO/s"
            f" moves {random * BLOCK / 1e6:,.0f} MB/s, and a stream is not {_SLIP:g} times slower"
        )
        yield Fault(key, f"{stream} B/s", allowed)


def _of_disk(sheet: Stated) -> Iterator[Fault]:
    revolution = 60 / sheet.rpm if sheet.rpm else 60 / 7200
    heads = sheet.heads or 2 * (sheet.platters or 0) or _MOST_HEADS
    # A rate is that of the outer tracks, which no others exceed.
    least = sheet.capacity / heads / _MOST_TRACKS / revolution
    # What `Stated.media_rate` takes for the rate of the medium.
    named = ("sustained_rate", "sequential_read", "sequential_write")
    key = next((each for each in named if getattr(sheet, each) is not None), "")
    if key and getattr(sheet, key) < least:
        allowed = (
            f"at least {least / 1e6:,.0f} MB/s: less puts {sheet.capacity / 1e12:,.3g} TB on more"
            f" than {_MOST_TRACKS:,} tracks of each of {heads} surfaces"
        )
        yield Fault(key, f"{getattr(sheet, key)} B/s", allowed)
    most = sheet.actuators * (_DISK_DEPTH + 1) / revolution
    slowest = 1 / (_LONGEST_SEEK_S + revolution)
    for key in ("random_read", "random_write"):
        rate = getattr(sheet, key)
        if rate is None:
            continue
        # A cache chooses among more writes than the host has in flight.
        if key == "random_read" and rate > most:
            allowed = (
                f"at most {most:,.0f} IO/s: of {_DISK_DEPTH} in flight one passes a head each"
                f" {_DISK_DEPTH + 1}th of a revolution, without any seek"
            )
            yield Fault(key, f"{rate:g} IO/s", allowed)
        if rate < slowest and not sheet.shingled:
            allowed = f"at least {slowest:.0f} IO/s: a seek of 50 ms and a revolution for each"
            yield Fault(key, f"{rate:g} IO/s", allowed)
