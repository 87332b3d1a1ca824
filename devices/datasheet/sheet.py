"""The sheet: what a maker states of a drive, checked whole (docs/reference/formats/datasheet.md).

Figures are those of one drive and one capacity. A quantity is text with its unit, as in all files.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from raidlab.devices.datasheet.nand import least_unit
from raidlab.devices.datasheet.plausible import implausible
from raidlab.devices.datasheet.priors import BLOCK, CELLS
from raidlab.devices.faults import Fault, Faults
from raidlab.devices.links import Interface, InterfaceName
from raidlab.devices.power import PowerState, state_faults
from raidlab.devices.schema import Table, check, read_toml
from raidlab.devices.trees import Tree, Value
from raidlab.devices.units import (
    DURATION,
    IO_RATE,
    POWER,
    RATE,
    SIZE,
    SPEED,
    Dimension,
    form_of,
    format_duration,
)

_BYTES = replace(
    RATE, example="6500 MB/s", units={name: RATE.units[name] for name in RATE.units if "B" in name}
)
_CAPACITY = replace(SIZE, example="960 GB")
_UP_TO = re.compile(r"\bup ?to\b|^\s*[<>≤≥~]|\bmax\b|\d\s*-\s*\d", re.IGNORECASE)
_BITS = re.compile(r"(?<![A-Za-z])[kMGT]?b(/s)?\s*$")
_WIDEST_LINK = "pcie-6.0-x16"
_UNITS = frozenset(512 << power for power in range(8))
_NEARLY = 1.05
MAP_ENTRY = 4
"""Bytes of the map for each unit."""
_LEAST_MAP = 1 << 16
_LEAST_LOG = 10**9
_XPOINT_READ_US = 2.0
"""A command, 4 KiB of 3D XPoint and an interrupt: what no read undercuts."""
_LEAST_WRITE_US = 2.0
_MOST_LATENCY_NS = 10_000_000
"""A command, its data and an interrupt over PCIe: what no write undercuts."""


def _fault(allowed: str) -> PydanticCustomError:
    return PydanticCustomError("quantity", "{allowed}", {"allowed": allowed})


def _figure(dimension: Dimension, *, bare: bool = False) -> Callable[[Any], int | float]:
    """A validator of a stated figure: above zero, one figure and not a bound of several."""

    def validate(value: Any) -> int | float:
        if bare and isinstance(value, int | float) and not isinstance(value, bool):
            value = f"{value} {next(iter(dimension.units))}"
        if not isinstance(value, str):
            raise _fault(dimension.allowed)
        if _UP_TO.search(value):
            raise _fault(
                f"{dimension.allowed}, alone: a bound or a range is of a series or of a burst"
                " (burst = true)"
            )
        if dimension in (_BYTES, _CAPACITY) and _BITS.search(value):
            raise _fault(f"{dimension.allowed}, in bytes: b is a bit, B a byte of 8")
        try:
            number = dimension.convert(value)
        except ValueError as error:
            raise _fault(str(error)) from None
        if number <= 0:
            raise _fault(f"{dimension.allowed}, more than 0; leave out what is not stated")
        return number

    return validate


_Size = Annotated[int, BeforeValidator(_figure(_CAPACITY)), WithJsonSchema(form_of(_CAPACITY))]
_Rate = Annotated[int, BeforeValidator(_figure(_BYTES)), WithJsonSchema(form_of(_BYTES))]
_IoRate = Annotated[float, BeforeValidator(_figure(IO_RATE)), WithJsonSchema(form_of(IO_RATE))]
_Duration = Annotated[int, BeforeValidator(_figure(DURATION)), WithJsonSchema(form_of(DURATION))]
_Power = Annotated[float, BeforeValidator(_figure(POWER)), WithJsonSchema(form_of(POWER))]
_Speed = Annotated[
    float, BeforeValidator(_figure(SPEED, bare=True)), WithJsonSchema(form_of(SPEED, bare=True))
]


class Sheet(Table):
    """What a maker states of one drive."""

    kind: Literal["ssd", "hdd"]
    name: str = Field(pattern=r"^[a-z0-9][a-z0-9.+-]*$")
    title: str = ""
    year: int | None = Field(default=None, ge=1956, le=2100)
    """When it was announced; decides nothing."""
    source: str = ""
    """Where it was read."""
    sources: Mapping[str, str] = {}
    """Where single figures were read, by key, if elsewhere."""
    spread: Mapping[str, tuple[str, str]] = {}
    """Least and most of a figure where the sheet is that of a class of drives."""
    capacity: _Size
    interface: InterfaceName
    random_read: _IoRate | None = None
    """4 KiB: with a deep queue of an SSD, at depth 16 of a disk."""
    random_write: _IoRate | None = None
    """As `random_read`; of an SSD in steady state unless `burst`."""
    sequential_read: _Rate | None = None
    """128 KiB with a deep queue."""
    sequential_write: _Rate | None = None
    active_power: _Power | None = None
    idle_power: _Power | None = None
    rated_writes: _Size | None = None
    """Bytes over the warranty."""

    sustained_write: _Rate | None = None
    """Of an SSD: sequential writes once the cache of a burst is full."""
    slc_cache: _Size | None = None
    """Of an SSD: host data that this cache holds at most."""
    mixed_random: _IoRate | None = None
    """Of an SSD: 4 KiB, 70 % of them reads, in steady state."""
    read_latency: _Duration | None = None
    """4 KiB at depth 1."""
    write_latency: _Duration | None = None
    flush_latency: _Duration | None = None
    """Of an SSD: a flush behind a write of 4 KiB at depth 1."""
    fua_latency: _Duration | None = None
    """Of an SSD: a write of 4 KiB with FUA at depth 1."""
    power_loss_protection: bool | None = None
    """Of an SSD: whether its buffer outlives an outage; as drives for servers unless `burst`."""
    cell: Literal["slc", "mlc", "tlc", "qlc", "plc", "3d-xpoint"] | None = None
    map_unit: _Size | None = None
    power_states: tuple[PowerState, ...] = ()
    """Of an NVMe drive: as it lists them, from the one with the highest power down."""
    host_memory: _Size | None = None
    """Of a drive without DRAM: host memory that holds the part of its map which was used last."""
    dwpd: float | None = Field(default=None, gt=0, le=1000)
    burst: bool = False
    """True if the rates of writes are those into a cache of the drive's, as clients' are."""

    rpm: _Speed | None = None
    average_seek_read: _Duration | None = None
    average_seek_write: _Duration | None = None
    sustained_rate: _Rate | None = None
    """On the outer tracks."""
    cache: _Size | None = None
    persistent_cache: bool = False
    """Of a disk: true if its cache keeps what was written when the power fails."""
    actuators: Literal[1, 2] = 1
    """Of a disk: 2 if its heads are on two arms, each with half of the capacity."""
    shingled: bool = False
    """Of a disk: true if its tracks overlap and it manages that by itself."""
    media_cache: _Size | None = None
    """Of a shingled disk: the log on its platters for writes that are no stream."""
    physical_sector: _Size | None = None
    """Of a disk: 512 B, or 4 KiB of which it offers parts."""
    platters: int | None = Field(default=None, ge=1, le=32)
    heads: int | None = Field(default=None, ge=1, le=64)

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

    @property
    def has_slc_cache(self) -> bool:
        """True if bursts may be those into blocks with one bit a cell: of TLC and more bits.

        Such a cache takes random writes no faster than a stream.
        """
        random = (self.random_write or 0.0) * BLOCK
        stream = self.sequential_write or float("inf")
        return (
            self.burst
            and self.cell not in ("slc", "mlc", "3d-xpoint")
            and random <= _NEARLY * stream
        )

    @property
    def is_protected(self) -> bool:
        """True if its buffer outlives an outage."""
        stated = self.power_loss_protection
        return not self.burst if stated is None else stated

    @property
    def is_xpoint(self) -> bool:
        """True if its medium is written in place."""
        return self.cell == "3d-xpoint"

    @property
    def media_rate(self) -> int | None:
        """Bytes a second of a disk's outer tracks."""
        return self.sustained_rate or self.sequential_read or self.sequential_write

    @property
    def unit(self) -> int:
        """Bytes of a mapping unit: as stated, or what slow random writes of QLC tell of it."""
        known = self.map_unit is not None or self.cell not in ("qlc", "plc") or self.burst
        if known or not self.sequential_write or not self.random_write:
            return self.map_unit or BLOCK
        return least_unit(self.sequential_write, self.random_write)


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
        IO_RATE if "random" in key else DURATION if "latency" in key or "seek" in key else _BYTES
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
