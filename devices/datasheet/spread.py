"""Bounds of stated figures become bounds of the parameters that they decide.

A class of drives has figures between those of its members. One drive's figure is what its maker
measured; what others measure of it lies around it. A parameter that a figure decides moves as the
figure's closed form says (see `flash` and `disk`), all others staying where they are.
`raidlab run --draws` then draws it between both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from raidlab.devices.datasheet import priors
from raidlab.devices.datasheet.disk import MOST_SECTORS, Disk
from raidlab.devices.datasheet.draft import Draft, Origin, quantity
from raidlab.devices.datasheet.flash import Flash, steady_write
from raidlab.devices.datasheet.nand import spare_for
from raidlab.devices.datasheet.sheet import Sheet, spread_of

Moved = tuple[str, float, str] | None
"""A parameter's key, value and unit; None if the figure decides none."""
_LEAST_WA = 1.02
MEASURED = (0.7, 1.25)
"""What others measure of a drive's speed over what its maker states, least and most: see
docs/explanation/data-sheets.md."""
_FASTEST_WRITE: Final = 2.0
"""As `MEASURED`, of a write alone: 1.67 of a micron-7450-pro-960 (9 us for 15), 1.25 of a P3700."""
_Bounds = Mapping[str, tuple[tuple[float, float], str]]
"""Least and most of figures, with whose they are."""


def widen(draft: Draft, flash: Flash) -> None:
    """Adds bounds of what `flash`'s stated figures decide to its device file."""
    sheet = flash.sheet
    stated = {key: float(figure) for key in _FLASH if (figure := getattr(sheet, key)) is not None}
    bounds = {
        key: (_measured(key, figure), "as others measure it") for key, figure in stated.items()
    }
    bounds.update(_of_class(sheet))
    _widen(draft, sheet, bounds, lambda key, end: _FLASH[key](flash, end))


def widen_disk(draft: Draft, disk: Disk) -> None:
    """Adds the bounds of `disk`'s class to its device file."""
    _widen(draft, disk.sheet, _of_class(disk.sheet), lambda key, end: _disk(disk, key, end))


def _of_class(sheet: Sheet) -> _Bounds:
    return {key: (spread_of(key, ends), "of the class") for key, ends in sheet.spread.items()}


def _measured(key: str, figure: float) -> tuple[float, float]:
    slow, fast = MEASURED
    if key == "write_latency":
        fast = _FASTEST_WRITE
    return (figure / fast, figure / slow) if "latency" in key else (figure * slow, figure * fast)


def _widen(
    draft: Draft, sheet: Sheet, bounds: _Bounds, moved: Callable[[str, float], Moved]
) -> None:
    for key, (figures, whose) in bounds.items():
        if key == "random_write" and sheet.burst:
            continue
        ends = [end for figure in figures if (end := moved(key, figure))]
        if len(ends) < len(figures) or ends[0][0] not in draft.origins:
            continue
        name, _, unit = ends[0]
        low, high = (_text(value, unit) for value in sorted(end[1] for end in ends))
        origin = draft.origins[name]
        if low != high:
            note = f"{origin.note}; bounds: {key} {whose}"
            draft.origins[name] = Origin(origin.word, note, low, high)


def _text(value: float, unit: str) -> str:
    return quantity(value, unit) if unit else f"{value:.5g}"


def _programs(flash: Flash, share: float) -> Moved:
    """With dies that write `share` times as fast, erases included."""
    erase = 1000 * flash.cell.erase_ms.best / flash.cell.pages_per_block
    time = (flash.program_us + erase) / share - erase
    return "nand.program", flash.cell.program_us.clamp(time), "us"


def _burst(flash: Flash, figure: float) -> Moved:
    share = figure / (flash.sheet.sequential_write or 1)
    return "nand.slc_cache.program", flash.slc_program_us / share, "us"


def _sequential_write(flash: Flash, figure: float) -> Moved:
    return (_burst if flash.sheet.has_slc_cache else _stream_write)(flash, figure)


def _stream_write(flash: Flash, figure: float) -> Moved:
    # A burst is all that is stated of some client drives; it then decides the same parameters.
    share = figure / (steady_write(flash.sheet) or flash.sheet.sequential_write or figure)
    if flash.programs_bound:
        return _programs(flash, share)
    if flash.write_unit_us:
        return "firmware.write_unit", flash.write_unit_us / share, "us"
    return None


def _random_write(flash: Flash, figure: float) -> Moved:
    share = figure / (flash.sheet.random_write or 1)
    if not flash.spare_fitted:
        return _programs(flash, share)
    wanted = max(_LEAST_WA, flash.write_amplification / share)
    moved = replace(flash, spare=priors.SPARE.clamp(spare_for(wanted)))
    return "nand.blocks_per_plane", moved.blocks, ""


def _stream_read(flash: Flash, figure: float) -> Moved:
    if flash.payload is None:
        return None
    share = figure / (flash.sheet.sequential_read or 1)
    return "link_payload", min(1.0, flash.payload * share), ""


def _random_read(flash: Flash, figure: float) -> Moved:
    share = figure / (flash.sheet.random_read or 1)
    return "firmware.read", flash.read_core_us / share, "us"


def _read_latency(flash: Flash, figure: float) -> Moved:
    moved = flash.with_latency(figure / 1e3)
    if flash.sheet.has_slc_cache:
        return "nand.slc_cache.read", moved.slc_read_us, "us"
    return "nand.read", moved.read_us, "us"


def _write_latency(flash: Flash, figure: float) -> Moved:
    return "firmware.write_latency", flash.with_write_latency(figure / 1e3).write_wait_us, "us"


_FLASH: Mapping[str, Callable[[Flash, float], Moved]] = {
    "sequential_read": _stream_read,
    "sequential_write": _sequential_write,
    "sustained_write": _stream_write,
    "random_read": _random_read,
    "random_write": _random_write,
    "read_latency": _read_latency,
    "write_latency": _write_latency,
}


def _disk(disk: Disk, key: str, figure: float) -> Moved:
    sheet = disk.sheet
    if key == "average_seek_read" and sheet.average_seek_read:
        return "seek.read.average", disk.seek_read_ms * figure / sheet.average_seek_read, "ms"
    if key == "average_seek_write" and sheet.average_seek_write:
        return "seek.write.average", disk.seek_write_ms * figure / sheet.average_seek_write, "ms"
    if key in ("sustained_rate", "sequential_read") and sheet.media_rate:
        sectors = round(disk.outer_sectors * figure / sheet.media_rate)
        return "geometry.outer_sectors", min(MOST_SECTORS, sectors), ""
    return None
