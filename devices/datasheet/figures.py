"""What a maker states of a drive: the keys of a sheet, each with its quantity."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from raidlab.devices.datasheet.nand import least_unit
from raidlab.devices.datasheet.priors import BLOCK
from raidlab.devices.links import InterfaceName
from raidlab.devices.power import PowerState
from raidlab.devices.schema import Table
from raidlab.devices.units import (
    DURATION,
    IO_RATE,
    POWER,
    RATE,
    SIZE,
    SPEED,
    Dimension,
    form_of,
)

BYTES = replace(
    RATE, example="6500 MB/s", units={name: RATE.units[name] for name in RATE.units if "B" in name}
)
_CAPACITY = replace(SIZE, example="960 GB")
_UP_TO = re.compile(r"\bup ?to\b|^\s*[<>≤≥~]|\bmax\b|\d\s*-\s*\d", re.IGNORECASE)
_BITS = re.compile(r"(?<![A-Za-z])[kMGT]?b(/s)?\s*$")
_NEARLY = 1.05


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
        if dimension in (BYTES, _CAPACITY) and _BITS.search(value):
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
_Rate = Annotated[int, BeforeValidator(_figure(BYTES)), WithJsonSchema(form_of(BYTES))]
_IoRate = Annotated[float, BeforeValidator(_figure(IO_RATE)), WithJsonSchema(form_of(IO_RATE))]
_Duration = Annotated[int, BeforeValidator(_figure(DURATION)), WithJsonSchema(form_of(DURATION))]
_Power = Annotated[float, BeforeValidator(_figure(POWER)), WithJsonSchema(form_of(POWER))]
_Speed = Annotated[
    float, BeforeValidator(_figure(SPEED, bare=True)), WithJsonSchema(form_of(SPEED, bare=True))
]


class Stated(Table):
    """Figures of one drive and one capacity."""

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
