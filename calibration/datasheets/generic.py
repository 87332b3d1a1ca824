"""Generic drives by class: sheets whose figures are the medians of the drives of the class.

`make datasheets` writes them beside the others, then makes devices of all. A figure that two
members or half of them state is stated, with the least and most of the members as its `spread`.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from raidlab.devices.classes import hdd_class, ssd_class
from raidlab.devices.datasheet.priors import BLOCK
from raidlab.devices.datasheet.sheet import SPREADS, Sheet, read_sheet
from raidlab.devices.links import Interface
from raidlab.devices.spec_writer import SHEET_SCHEMA, toml_value, with_schema

PREFIX = "generic-"
_TB = 10**12


@dataclass(frozen=True)
class Generic:
    """A drive of a class, and which sheets are its members."""

    name: str
    title: str
    of: str
    """Class of its members."""
    capacity: float | None = None
    """TB; that of the middle member if None."""
    least: float = 0.0
    most: float = 1000.0
    """TB of its members."""


GENERICS = (
    Generic("nvme-gen3-tlc", "Generic NVMe SSD, PCIe 3.0, TLC", "nvme-gen3-tlc"),
    Generic("nvme-gen4-tlc", "Generic NVMe SSD, PCIe 4.0, TLC", "nvme-gen4-tlc"),
    Generic("nvme-gen5-tlc", "Generic NVMe SSD, PCIe 5.0, TLC", "nvme-gen5-tlc"),
    Generic("nvme-gen4-qlc", "Generic NVMe SSD, PCIe 4.0, QLC", "nvme-gen4-qlc", 30.72),
    Generic("nvme-gen3-tlc-client", "Generic client SSD, PCIe 3.0, TLC", "nvme-gen3-tlc-client"),
    Generic("nvme-gen4-tlc-client", "Generic client SSD, PCIe 4.0, TLC", "nvme-gen4-tlc-client"),
    Generic("sata-tlc", "Generic SATA SSD, TLC", "sata-tlc"),
    Generic("sata-tlc-client", "Generic client SATA SSD, TLC", "sata-tlc-client"),
    Generic("sas-ssd", "Generic SAS SSD, TLC", "sas-tlc"),
    Generic("nl-sas-16tb", "Generic 7200 rpm SAS disk", "nl-sas", 16, 14, 18),
    Generic("nl-sas-20tb", "Generic 7200 rpm SAS disk", "nl-sas", 20, 19, 21),
    Generic("nl-sas-24tb", "Generic 7200 rpm SAS disk", "nl-sas", 24, 23, 25),
    Generic("sata-20tb", "Generic 7200 rpm SATA disk", "sata-hdd", 20, 18, 22),
    Generic("sata-nas-8tb", "Generic SATA disk for NAS", "sata-hdd", 8, 7, 10),
    Generic("sas-10k", "Generic 10000 rpm SAS disk", "sas-10k"),
)
_STEPPED_KEYS = ("rpm", "cache")
"""Of which no drive has values between two drives'."""
_QUANTITIES: Mapping[str, tuple[str, float]] = {
    "rpm": ("rpm", 1),
    "sequential_read": ("MB/s", 1e6),
    "sequential_write": ("MB/s", 1e6),
    "sustained_write": ("MB/s", 1e6),
    "random_read": ("IO/s", 1),
    "random_write": ("IO/s", 1),
    "read_latency": ("us", 1e3),
    "write_latency": ("us", 1e3),
    "sustained_rate": ("MB/s", 1e6),
    "average_seek_read": ("ms", 1e6),
    "average_seek_write": ("ms", 1e6),
    "cache": ("MB", 1e6),
    "active_power": ("W", 1),
    "idle_power": ("W", 1),
}
"""Figures with their unit; of endurance only drive writes a day, which no capacity scales."""


def members(generic: Generic, sheets: Sequence[Sheet]) -> list[Sheet]:
    """The drives that a generic one stands for."""
    return [
        sheet
        for sheet in sheets
        if _class(sheet) == generic.of
        and generic.least <= sheet.capacity / _TB <= generic.most
        and not sheet.name.startswith(PREFIX)
    ]


def _class(sheet: Sheet) -> str:
    if sheet.kind == "hdd":
        # Stated figures are those of two arms: no median of drives with one.
        arms = "" if sheet.actuators == 1 else "-dual"
        return hdd_class(sheet.interface, sheet.rpm or 7200, shingled=sheet.shingled) + arms
    return ssd_class(sheet.interface, sheet.cell or "tlc", client=sheet.burst)


def sheet_of(generic: Generic, sheets: Sequence[Sheet]) -> str:
    """The sheet of a generic drive, as TOML.

    Raises:
        ValueError: No sheet is of its class.
    """
    found = members(generic, sheets)
    if not found:
        raise ValueError(f"{generic.name}: no sheet of class {generic.of}")
    capacity = generic.capacity or statistics.median_low(each.capacity for each in found) / _TB
    first = min(found, key=lambda sheet: abs(sheet.capacity / _TB - capacity))
    names = ", ".join(sheet.name for sheet in found)
    size = f"{capacity:g} TB" if capacity >= 1 else f"{1000 * capacity:g} GB"
    lines = [
        f'name = "{PREFIX}{generic.name}"',
        f'kind = "{first.kind}"',
        f'title = "{generic.title}, {size}"',
        f"source = {toml_value(f'medians of the data sheets of {names}')}",
        f'capacity = "{size}"',
        f'interface = "{_interface(found)}"',
    ]
    spread = []
    for key, low, middle, high in _figures(found):
        unit, scale = _QUANTITIES[key]
        lines.append(f'{key} = "{_digits(middle / scale)} {unit}"')
        if key in SPREADS and low < high:
            bounds = ", ".join(f'"{_digits(each / scale)} {unit}"' for each in (low, high))
            spread.append(f"{key} = [{bounds}]")
    lines += _words(found)
    return "\n".join([*lines, *(["", "[spread]", *spread] if spread else [])]) + "\n"


def _figures(found: Sequence[Sheet]) -> Iterator[tuple[str, float, float, float]]:
    """Key, least, median and most of what enough members state."""
    for key in _QUANTITIES:
        values = [float(value) for sheet in found if (value := getattr(sheet, key)) is not None]
        if len(values) < 2 and 2 * len(values) < len(found):
            continue
        middle = statistics.median_low if key in _STEPPED_KEYS else statistics.median
        figure = middle(values)
        if key == "random_write" and found[0].burst:
            figure = min(figure, _burst_limit(found))
        yield key, min(figure, *values), figure, max(values)


def _burst_limit(found: Sequence[Sheet]) -> float:
    """Writes of 4 KiB a second of a burst that the class's stream allows.

    Not all members state both. The median of one may then contradict that of the other: a cache
    takes random writes no faster than a stream. Members that state both say how near they come.
    """
    streams = [sheet.sequential_write for sheet in found if sheet.sequential_write]
    shares = [
        sheet.random_write * BLOCK / sheet.sequential_write
        for sheet in found
        if sheet.has_slc_cache and sheet.random_write and sheet.sequential_write
    ]
    if not streams or not shares or len(shares) == len(found):
        return math.inf
    return statistics.median(shares) * statistics.median(streams) / BLOCK


def _interface(found: Sequence[Sheet]) -> str:
    """The most usual one; of equals the fastest."""
    usual = statistics.multimode(sheet.interface for sheet in found)
    return max(usual, key=lambda name: Interface.parse(name).theoretical)


def _words(found: Sequence[Sheet]) -> list[str]:
    lines = []
    if found[0].kind == "ssd":
        lines.append(f'cell = "{found[0].cell or "tlc"}"')
        units = [sheet.map_unit for sheet in found if sheet.map_unit]
        if units:
            lines.append(f'map_unit = "{statistics.mode(units) // 1024} KiB"')
        writes = [sheet.dwpd for sheet in found if sheet.dwpd]
        if writes:
            lines.append(f"dwpd = {statistics.median(writes):g}")
        if found[0].burst:
            lines.append("burst = true")
    platters = [sheet.platters for sheet in found if sheet.platters]
    if platters:
        lines.append(f"platters = {round(statistics.median(platters))}")
    return lines


def _digits(value: float) -> str:
    return f"{value:.0f}" if value >= 1000 else f"{value:.4g}"


def generic_sheets(folder: Path) -> dict[Path, str]:
    """The sheets of all generic drives, made of the others in `folder`.

    Raises:
        SpecError: A sheet has faults.
    """
    others = sorted(each for each in folder.glob("*.toml") if not each.name.startswith(PREFIX))
    sheets = [read_sheet(path).sheet for path in others]
    texts = {folder / f"{PREFIX}{each.name}.toml": sheet_of(each, sheets) for each in GENERICS}
    return {file: with_schema(text, file, SHEET_SCHEMA) for file, text in texts.items()}
