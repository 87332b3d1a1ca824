"""The sheet: what a maker states of a drive, checked whole (docs/reference/formats/datasheet.md).

Figures are those of one drive and one capacity. A quantity is text with its unit, as in all files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from raidlab.devices.datasheet.figures import BYTES, Stated
from raidlab.devices.datasheet.plausible import implausible
from raidlab.devices.datasheet.priors import BLOCK, CELLS
from raidlab.devices.faults import Fault, Faults
from raidlab.devices.links import Interface
from raidlab.devices.other_kind import Expected, refuse_other_kind
from raidlab.devices.power import state_faults
from raidlab.devices.schema import check, read_toml
from raidlab.devices.trees import Tree, Value
from raidlab.devices.units import (
    DURATION,
    IO_RATE,
    format_duration,
)

_WIDEST_LINK = "pcie-6.0-x16"
_UNITS = frozenset(512 << power for power in range(8))
MAP_ENTRY = 4
"""Bytes of the map for each unit."""
_LEAST_MAP = 1 << 16
_LEAST_LOG = 10**9
_XPOINT_READ_US = 2.0
"""A command, 4 KiB of 3D XPoint and an interrupt: what no read undercuts."""
_LEAST_WRITE_US = 2.0
_MOST_LATENCY_NS = 10_000_000
"""A command, its data and an interrupt over PCIe: what no write undercuts."""


class Sheet(Stated):
    """What a maker states of one drive."""

    def faults(self) -> Iterator[Fault]:
        """Another kind's keys, no rate, what link and medium do not allow."""
        others = _OF_DISKS if self.kind == "ssd" else _OF_SSDS
        written = [key for key in others if key in self.model_fields_set]
        given = [key for key in written if getattr(self, key) not in (None, False, ())]
        what = "disks" if self.kind == "ssd" else "SSDs"
        for key in given:
            allowed = f'nothing: a key of {what}, and kind = "{self.kind}"'
            yield Fault(key, getattr(self, key), allowed)
        if not 10**9 <= self.capacity <= 10**15:
            yield Fault("capacity", f"{self.capacity} B", "1 GB to 1 PB")
        if self.kind == "ssd" and all(getattr(self, key) is None for key in RATES):
            yield Fault("", None, f"one rate at least: {', '.join(RATES)}")
        unknown = [key for key in self.sources if key not in type(self).model_fields]
        for key in unknown:
            yield Fault(
                f"sources.{key}", None, "a key of this sheet", tuple(type(self).model_fields)
            )
        if self.active_power and self.idle_power and self.active_power < self.idle_power:
            allowed = f"at least the {self.idle_power:g} W of idle_power"
            yield Fault("active_power", f"{self.active_power:g} W", allowed)
        for key in ("read_latency", "write_latency"):
            latency = getattr(self, key)
            if latency is not None and latency > _MOST_LATENCY_NS:
                allowed = f"at most {format_duration(_MOST_LATENCY_NS)}: one 4 KiB I/O at depth 1"
                yield Fault(key, format_duration(latency), allowed)
        yield from spread_faults(self)
        yield from self._beyond_the_link()
        yield from self._ssd_faults() if self.kind == "ssd" else self._hdd_faults()
        yield from implausible(self)

    def _beyond_the_link(self) -> Iterator[Fault]:
        link = Interface.parse(self.interface)
        most = int(link.theoretical)
        for key in RATES:
            rate = getattr(self, key)
            if rate is None:
                continue
            size = BLOCK if "random" in key else 1
            if rate * size > most * (2 if key == "mixed_random" and link.full_duplex else 1):
                unit, factor = ("IO/s", 1) if size > 1 else ("MB/s", 10**6)
                allowed = (
                    f"at most {most / size / factor:,.0f} {unit}: {link.title} moves"
                    f" {most / 1e6:,.0f} MB/s after its line code{_both_ports(link)}"
                )
                yield Fault(key, f"{rate:g}", allowed)

    def _ssd_faults(self) -> Iterator[Fault]:
        least = _XPOINT_READ_US if self.is_xpoint else CELLS[self.cell or "tlc"].read_us.low
        if self.read_latency is not None and self.read_latency < 1e3 * least:
            name = (self.cell or "tlc").upper()
            allowed = f"at least {least:g} us: what a page of {name} takes to read; cell says which"
            yield Fault("read_latency", f"{self.read_latency} ns", allowed)
        if self.write_latency is not None and self.write_latency < 1e3 * _LEAST_WRITE_US:
            allowed = f"at least {_LEAST_WRITE_US:g} us: a command, its data and an interrupt"
            yield Fault("write_latency", f"{self.write_latency} ns", allowed)
        for key in ("flush_latency", "fua_latency"):
            time = getattr(self, key)
            if time is not None and time < 1e3 * _LEAST_WRITE_US:
                allowed = f"at least {_LEAST_WRITE_US:g} us: a command and an interrupt"
                yield Fault(key, f"{time} ns", allowed)
        if self.map_unit is not None and self.map_unit not in _UNITS:
            allowed = "512 B or 1, 2, 4, 8, 16, 32, 64 KiB"
            yield Fault("map_unit", f"{self.map_unit} B", allowed)
        yield from state_faults(self.power_states, self.idle_power, "power_states")
        if self.power_states and not self.interface.startswith("pcie"):
            allowed = "nothing: such states are those of NVMe, over PCIe"
            yield Fault("power_states", f"{len(self.power_states)} states", allowed)
        whole = self.capacity // self.unit * MAP_ENTRY
        if self.host_memory is not None and not _LEAST_MAP <= self.host_memory < whole:
            allowed = f"{_LEAST_MAP} B to less than {whole} B: the whole map; else leave it out"
            yield Fault("host_memory", f"{self.host_memory} B", allowed)
        for key in ("sustained_write", "slc_cache"):
            if getattr(self, key) is not None and not self.burst:
                yield Fault(key, f"{getattr(self, key)}", "nothing without burst = true")
        if self.slc_cache is not None and self.slc_cache > self.capacity:
            yield Fault("slc_cache", f"{self.slc_cache} B", f"at most {self.capacity} B")

    def _hdd_faults(self) -> Iterator[Fault]:
        if self.rpm is None:
            yield Fault("rpm", None, 'is required of a disk, such as "7200 rpm"')
        elif not 3600 <= self.rpm <= 20_000:
            yield Fault("rpm", f"{self.rpm:g} rpm", "3600 to 20000 rpm")
        if self.heads and self.platters and self.heads > 2 * self.platters:
            allowed = f"at most {2 * self.platters}: two for each of {self.platters} platters"
            yield Fault("heads", self.heads, allowed)
        if self.heads and self.platters and self.heads < self.platters:
            allowed = f"at least {self.platters}: one for each of {self.platters} platters"
            yield Fault("heads", self.heads, allowed)
        if self.media_cache is not None and not self.shingled:
            yield Fault("media_cache", f"{self.media_cache} B", "nothing without shingled = true")
        if self.media_cache is not None and not _LEAST_LOG <= self.media_cache < self.capacity:
            allowed = f"{_LEAST_LOG} B to less than the capacity of {self.capacity} B"
            yield Fault("media_cache", f"{self.media_cache} B", allowed)
        if self.physical_sector not in (None, 512, 4096):
            yield Fault("physical_sector", f"{self.physical_sector} B", "512 B or 4 KiB")
        if self.shingled and self.actuators == 2:
            yield Fault("actuators", 2, "1 of a shingled disk")
        for key in ("average_seek_read", "average_seek_write"):
            time = getattr(self, key)
            if time is not None and not 10**6 <= time <= 50 * 10**6:
                yield Fault(key, f"{time} ns", "1 ms to 50 ms")


def _both_ports(link: Interface) -> str:
    """How to write a drive that moves data through both of its ports."""
    if link.family != "sas" or link.lanes > 1:
        return ""
    return f'; of a drive stated with both ports write "{link.wide(2).name}"'


def spread_faults(sheet: Sheet) -> Iterator[Fault]:
    """Bounds that hold no stated figure, or cannot be read."""
    for key, bounds in sheet.spread.items():
        if key not in SPREADS:
            yield Fault(f"spread.{key}", None, f"one of {', '.join(SPREADS)}", SPREADS)
            continue
        figure = getattr(sheet, key)
        try:
            low, high = spread_of(key, bounds)
        except ValueError as error:
            yield Fault(f"spread.{key}", list(bounds), str(error))
            continue
        if figure is None or not 0 < low <= figure <= high:
            allowed = f"its least and most, around the {key} that the sheet states"
            yield Fault(f"spread.{key}", list(bounds), allowed)


def spread_of(key: str, bounds: tuple[str, str]) -> tuple[float, float]:
    """Bounds of a figure in its base unit.

    Raises:
        ValueError: One is no such quantity.
    """
    dimension = (
        IO_RATE if "random" in key else DURATION if "latency" in key or "seek" in key else BYTES
    )
    return float(dimension.convert(bounds[0])), float(dimension.convert(bounds[1]))


RATES = (
    "sequential_read",
    "sequential_write",
    "sustained_write",
    "random_read",
    "random_write",
    "mixed_random",
    "sustained_rate",
)
SPREADS = (
    *RATES[:5],
    "sustained_rate",
    "read_latency",
    "write_latency",
    "average_seek_read",
    "average_seek_write",
)
"""Figures that may have bounds."""
_OF_SSDS = (
    "sustained_write",
    "slc_cache",
    "mixed_random",
    "read_latency",
    "write_latency",
    "flush_latency",
    "fua_latency",
    "power_loss_protection",
    "cell",
    "map_unit",
    "power_states",
    "host_memory",
    "dwpd",
    "burst",
)
_OF_DISKS = (
    "rpm",
    "average_seek_read",
    "average_seek_write",
    "sustained_rate",
    "cache",
    "persistent_cache",
    "platters",
    "heads",
    "actuators",
    "shingled",
    "media_cache",
    "physical_sector",
)


@dataclass(frozen=True)
class Read:
    """A sheet that was read."""

    sheet: Sheet
    written: Mapping[str, Value]
    """Its values as they were written."""
    path: Path


def read_sheet(path: Path) -> Read:
    """Reads and checks a sheet.

    Raises:
        SpecError: Everything that is wrong with it.
    """
    tree = read_toml(path)
    refuse_other_kind(tree, Expected.SHEET, path)
    faults = Faults(str(path))
    sheet = check(Sheet, tree, faults)
    if faults.found:
        faults.extend(list(_besides(tree, faults)))
    faults.extend(_mixed(tree))
    faults.raise_if_any()
    if sheet is None:
        raise AssertionError("a sheet that cannot be read has faults")
    return Read(sheet, tree, path)


def _besides(tree: Mapping[str, Value], faults: Faults) -> Iterator[Fault]:
    """Faults that several keys show together, of a sheet of which other keys are at fault."""
    bad = {fault.key.partition(".")[0] for fault in faults.found}
    if "kind" in bad:
        if not any(key in tree for key in RATES):
            yield Fault("", None, f"one rate at least: {', '.join(RATES)}")
        return
    fillers: Tree = {"name": "x", "interface": _WIDEST_LINK, "capacity": "1 TB"}
    kept = {key: value for key, value in tree.items() if key not in bad}
    sheet = check(Sheet, fillers | kept, Faults())
    for fault in [] if sheet is None else sheet.faults():
        # A rate that cannot be read is one all the same.
        if fault.key not in bad and (fault.key or bad.isdisjoint(RATES)):
            yield fault


def _mixed(tree: Mapping[str, Value]) -> Iterator[Fault]:
    """Rates and capacity of which some are in binary and some in decimal units."""
    said = {
        key: value
        for key in ("capacity", *RATES)
        if "random" not in key and isinstance(value := tree.get(key), str)
    }
    binary = [key for key, text in said.items() if re.search(r"[KMGTP]iB", text)]
    decimal = [key for key, text in said.items() if re.search(r"\d\s*[kMGTP]?B", text)]
    if binary and decimal:
        for key in binary:
            allowed = (
                f'the units of {decimal[0]} ("{said[decimal[0]]}"): makers state powers of 1000'
                " (MB, GB), and MiB beside MB is mostly a slip"
            )
            yield Fault(key, said[key], allowed)
