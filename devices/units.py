"""Quantities as people write them: a number and its unit, stored in whole base units.

`"2.9 ms"` becomes 2 900 000 nanoseconds, `"64 KiB"` 65 536 bytes, `"6 Gb/s"` 6 000 000 000
bits a second. Decimal prefixes (k, M, G, T, P) are powers of 1000, binary ones (Ki, Mi, Gi, Ti,
Pi) powers of 1024, `b` is a bit and `B` is a byte. A bare number is never a quantity.

The types below are pydantic types: a model field declared as `Duration` takes `"2.9 ms"` and
holds an `int` of nanoseconds. Arithmetic is exact; only the last step rounds.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Annotated, Any, TypeVar

from pydantic import BeforeValidator, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from raidlab.devices.forms import Form

_QUANTITY = re.compile(
    r"\s*([+-]?(?:\d[\d_]*)(?:\.\d+)?(?:[eE][+-]?\d{1,2})?)\s*([^\d\s.+-][^\s]*)\s*"
)
_LARGEST_NUMBER = 2**63 - 1
_LONGEST_NS = 2**59
"""Nanoseconds, 18 years: sums of such durations have room in 64 bits."""
_ABSOLUTE_ZERO = -273.15
"""Degrees Celsius."""

_DECIMAL = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15}
_BINARY = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50}


@dataclass(frozen=True, eq=False)
class Dimension:
    """What a quantity measures: its name, an example, and its units in base units."""

    name: str
    example: str
    units: Mapping[str, Fraction]
    whole: bool = True
    """True if the base unit is counted in whole numbers (nanoseconds, bytes)."""
    offsets: Mapping[str, Fraction] = field(default_factory=dict)
    """For scales whose zeros differ (temperature): added after the unit's factor."""
    largest: int = _LARGEST_NUMBER
    """In base units."""
    bound: str = "less than 2^63 in base units"
    """The largest value, for messages."""

    @property
    def allowed(self) -> str:
        """What may be written, for messages."""
        return f'{self.name} such as "{self.example}" (units: {", ".join(self.units)})'

    def parse(self, text: str) -> Fraction:
        """The exact value of `text` in base units.

        Raises:
            ValueError: `text` is not a number followed by one of this dimension's units.
        """
        match = _QUANTITY.fullmatch(text)
        if match is None or match[2] not in self.units:
            raise ValueError(self.allowed + meant(text, self))
        value = Fraction(match[1].replace("_", "")) * self.units[match[2]]
        return value + self.offsets.get(match[2], Fraction(0))

    def convert(self, text: str) -> int | float:
        """The value of `text` in base units, rounded to a whole number where those are counted.

        Raises:
            ValueError: As `parse`; or the value is too large, or not zero and yet rounds to it.
        """
        return _converted(self, text)


@functools.lru_cache(maxsize=4096)
def _converted(dimension: Dimension, text: str) -> int | float:
    """As `Dimension.convert`: the files of a search differ in a few quantities alone."""
    exact = dimension.parse(text)
    if abs(exact) > dimension.largest:
        raise ValueError(f"{dimension.allowed}, {dimension.bound}")
    if not dimension.whole:
        return float(exact)
    rounded = round(exact)
    if rounded == 0 and exact != 0:
        raise ValueError(f"{dimension.allowed}, zero or at least 1 in the smallest unit")
    return rounded


_NAMES = {
    "iops": "IO/s", "ios/s": "IO/s", "kiops": "kIO/s", "sec": "s", "secs": "s", "second": "s",
    "seconds": "s", "msec": "ms", "usec": "us", "nsec": "ns", "mins": "min", "minute": "min",
    "minutes": "min", "hr": "h", "hour": "h", "hours": "h", "day": "d", "days": "d",
    "percent": "%", "c": "degC", "byte": "B", "bytes": "B", "watt": "W", "watts": "W",
}  # fmt: skip
"""Other names of units, in small letters."""


def meant(text: str, *dimensions: Dimension) -> str:
    """The end of a message: what a text may mean that is no quantity; empty if nobody knows.

    `meant("4K", SIZE)` is `; did you mean "4 KiB" (1024) or "4 kB" (1000)?`.
    """
    thousands = re.search(r"\d(,\d{3})+(?!\d)", text)
    if thousands:
        return "; write no comma: 1000 or 1.0, not 1,000 or 1,0"
    match = _QUANTITY.fullmatch(re.sub(r"(?<=\d),(?=\d)", ".", text))
    if match is None:
        return ""
    written = re.sub(r"(?i)ps$", "/s", match[2])
    folded = _NAMES.get(match[2].lower(), written).lower()
    # K, KB and Kb are written for 1024 and for 1000.
    loose = re.fullmatch(r"([kmgtp])b?(/s)?", folded)
    names = {folded} | ({f"{loose[1]}ib{loose[2] or ''}"} if loose else set())
    names |= {f"{loose[1]}b{loose[2] or ''}"} if loose else set()
    names |= {f"{name}/s" for name in names}
    found = {
        unit: f'"{match[1]} {unit}"' + (f" ({factor})" if loose and len(factor) < 5 else "")
        for dimension in dimensions
        for unit, value in dimension.units.items()
        if unit.lower() in names
        for factor in [str(value)]
    }
    exact = found.get(written) or found.get(f"{written}/s")
    options = [exact] if exact else sorted(found.values(), key=len, reverse=True)
    return f"; did you mean {' or '.join(options)}?" if options else ""


def _prefixed(unit: str, *prefixes: Mapping[str, int]) -> dict[str, Fraction]:
    return {
        prefix + unit: Fraction(factor) for table in prefixes for prefix, factor in table.items()
    }


def _bits(unit: str) -> dict[str, Fraction]:
    return {name: factor / 8 for name, factor in _prefixed(unit, _DECIMAL).items()}


DURATION = Dimension(
    "a duration",
    "2.9 ms",
    {
        "ns": Fraction(1),
        "us": Fraction(10**3),
        "µs": Fraction(10**3),
        "μs": Fraction(10**3),
        "ms": Fraction(10**6),
        "s": Fraction(10**9),
        "min": Fraction(60 * 10**9),
        "h": Fraction(3600 * 10**9),
        "d": Fraction(86400 * 10**9),
    },
    largest=_LONGEST_NS,
    bound="at most 18 years",
)
SIZE = Dimension("a size", "64 KiB", _prefixed("B", _DECIMAL, _BINARY))
RATE = Dimension(
    "a data rate", "150 MB/s", _prefixed("B/s", _DECIMAL, _BINARY) | _bits("b/s"), whole=True
)
BIT_RATE = Dimension("a line rate", "6 Gb/s", _prefixed("b/s", _DECIMAL))
TRANSFER_RATE = Dimension("a rate of transfers", "8 GT/s", _prefixed("T/s", _DECIMAL))
SPEED = Dimension("a speed of rotation", "7200 rpm", {"rpm": Fraction(1)}, whole=False)
FREQUENCY = Dimension("a frequency", "2.9 GHz", _prefixed("Hz", _DECIMAL), whole=False)
IO_RATE = Dimension(
    "a rate of I/Os", "5000 IO/s", {"IO/s": Fraction(1), "kIO/s": Fraction(1000)}, whole=False
)
POWER = Dimension(
    "a power",
    "15 W",
    {"mW": Fraction(1, 1000), "W": Fraction(1), "kW": Fraction(1000)},
    whole=False,
)
ENERGY = Dimension(
    "an energy",
    "30 uJ",
    {
        "nJ": Fraction(1, 10**9),
        "uJ": Fraction(1, 10**6),
        "mJ": Fraction(1, 1000),
        "J": Fraction(1),
        "kJ": Fraction(1000),
        "Wh": Fraction(3600),
    },
    whole=False,
)
TEMPERATURE = Dimension(
    "a temperature",
    "40 degC",
    {"degC": Fraction(1), "°C": Fraction(1), "K": Fraction(1)},
    whole=False,
    offsets={"K": Fraction(-27315, 100)},
)
TEMPERATURE_STEP = Dimension(
    "a difference of temperatures", "5 K", {"K": Fraction(1), "degC": Fraction(1)}, whole=False
)
THERMAL_RESISTANCE = Dimension(
    "a thermal resistance", "2.5 K/W", {"K/W": Fraction(1), "degC/W": Fraction(1)}, whole=False
)
HEAT_CAPACITY = Dimension(
    "a heat capacity", "80 J/K", {"J/K": Fraction(1), "J/degC": Fraction(1)}, whole=False
)
VOLTAGE = Dimension("a voltage", "12 V", {"mV": Fraction(1, 1000), "V": Fraction(1)}, whole=False)
PERCENT = Dimension("a share", "67 %", {"%": Fraction(1, 100)}, whole=False)

DIMENSIONS = (
    DURATION,
    SIZE,
    RATE,
    BIT_RATE,
    TRANSFER_RATE,
    SPEED,
    FREQUENCY,
    IO_RATE,
    POWER,
    ENERGY,
    TEMPERATURE,
    TEMPERATURE_STEP,
    THERMAL_RESISTANCE,
    HEAT_CAPACITY,
    VOLTAGE,
    PERCENT,
)


def is_quantity(text: str) -> bool:
    """True if `text` is a number followed by a unit of any dimension."""
    match = _QUANTITY.fullmatch(text)
    return match is not None and any(match[2] in dimension.units for dimension in DIMENSIONS)


def bound_like(text: str, bound: float) -> str | None:
    """A bound in base units as a quantity of the kind that `text` is; None if it is none.

    `bound_like("1 PB", 2**33)` is `"8 GiB"`: the unit in which the number is whole and shortest.
    """
    match = _QUANTITY.fullmatch(text)
    found = [d for d in DIMENSIONS if match is not None and match[2] in d.units]
    if match is None or not found:
        return None
    if found[0].offsets:
        return f"{float(Fraction(bound) - found[0].offsets.get(match[2], 0)):.6g} {match[2]}"
    written = {
        unit: f"{float(Fraction(bound) / factor):.6g}"
        for unit, factor in found[0].units.items()
        if (Fraction(bound) / factor).denominator == 1 or unit == match[2]
    }

    def length(unit: str) -> tuple[bool, int, bool]:
        return "e" in written[unit], len(written[unit]), unit != match[2]

    unit = min(written, key=length)
    return f"{written[unit]} {unit}"


def _validator(dimension: Dimension, lowest: float) -> Callable[[Any], int | float]:
    above = "not negative" if lowest == 0 else "not below absolute zero"
    allowed = f"{dimension.allowed}, {above}"

    def validate(value: Any) -> int | float:
        if isinstance(value, str):
            try:
                number = dimension.convert(value)
            except ValueError as error:
                raise _fault(str(error)) from None
            if number < lowest:
                raise _fault(allowed)
            return number
        if isinstance(value, int | float) and not isinstance(value, bool):
            raise _fault(f"a unit is missing: {allowed}")
        raise _fault(allowed)

    return validate


def _fault(allowed: str) -> PydanticCustomError:
    # The text is handed over as context, so that braces in it are not a template.
    return PydanticCustomError("quantity", "{allowed}", {"allowed": allowed})


DIMENSION = "x-dimension"
"""Key of a form that names what it measures."""


def form_of(dimension: Dimension, *, bare: bool = False) -> Form:
    """The JSON Schema of a quantity: text with a unit; `bare` allows a number in the first one."""
    units = "|".join(map(re.escape, dimension.units))
    text: Form = {
        "type": "string",
        "pattern": rf"^\s*[+-]?\d[\d_]*(\.\d+)?([eE][+-]?\d{{1,2}})?\s*({units})\s*$",
        "examples": [dimension.example],
        DIMENSION: dimension.name,
    }
    return {"anyOf": [text, {"type": "number"}]} if bare else text


Duration = Annotated[
    int, BeforeValidator(_validator(DURATION, 0)), WithJsonSchema(form_of(DURATION))
]
"""Whole nanoseconds, from `"2.9 ms"`."""
Size = Annotated[int, BeforeValidator(_validator(SIZE, 0)), WithJsonSchema(form_of(SIZE))]
"""Whole bytes, from `"64 KiB"` or `"1 TB"`."""
Rate = Annotated[int, BeforeValidator(_validator(RATE, 0)), WithJsonSchema(form_of(RATE))]
"""Whole bytes a second, from `"150 MB/s"` or, 8 bits to the byte, `"1.2 Gb/s"`."""
BitRate = Annotated[
    int, BeforeValidator(_validator(BIT_RATE, 0)), WithJsonSchema(form_of(BIT_RATE))
]
"""Whole bits a second on the line, coding included, from `"6 Gb/s"`."""
TransferRate = Annotated[
    int, BeforeValidator(_validator(TRANSFER_RATE, 0)), WithJsonSchema(form_of(TRANSFER_RATE))
]
"""Whole transfers a second (of a PCIe lane or a NAND bus pin), from `"8 GT/s"`."""
Speed = Annotated[float, BeforeValidator(_validator(SPEED, 0)), WithJsonSchema(form_of(SPEED))]
"""Revolutions a minute, from `"7200 rpm"`."""
Frequency = Annotated[
    float, BeforeValidator(_validator(FREQUENCY, 0)), WithJsonSchema(form_of(FREQUENCY))
]
"""Hertz, from `"2.9 GHz"`."""
io_rate = _validator(IO_RATE, 0)
"""I/Os a second from `"5000 IO/s"`; raises what pydantic makes a message of."""
IoRate = Annotated[float, BeforeValidator(io_rate), WithJsonSchema(form_of(IO_RATE))]
"""I/Os a second, from `"5000 IO/s"`."""
Power = Annotated[float, BeforeValidator(_validator(POWER, 0)), WithJsonSchema(form_of(POWER))]
"""Watts, from `"15 W"`."""
Energy = Annotated[float, BeforeValidator(_validator(ENERGY, 0)), WithJsonSchema(form_of(ENERGY))]
"""Joules, from `"30 uJ"`."""
Temperature = Annotated[
    float,
    BeforeValidator(_validator(TEMPERATURE, _ABSOLUTE_ZERO)),
    WithJsonSchema(form_of(TEMPERATURE)),
]
"""Degrees Celsius, from `"40 degC"`, `"40 °C"` or `"313.15 K"`."""
TemperatureStep = Annotated[
    float,
    BeforeValidator(_validator(TEMPERATURE_STEP, 0)),
    WithJsonSchema(form_of(TEMPERATURE_STEP)),
]
"""A difference of temperatures in kelvin, from `"5 K"` or `"5 degC"`, not negative."""
ThermalResistance = Annotated[
    float,
    BeforeValidator(_validator(THERMAL_RESISTANCE, 0)),
    WithJsonSchema(form_of(THERMAL_RESISTANCE)),
]
"""Kelvin a watt, from `"2.5 K/W"`."""
HeatCapacity = Annotated[
    float, BeforeValidator(_validator(HEAT_CAPACITY, 0)), WithJsonSchema(form_of(HEAT_CAPACITY))
]
"""Joules a kelvin, from `"80 J/K"`."""


def _share(value: Any) -> Any:
    fault = _fault('a share from 0 to 1, or from "0 %" to "100 %"')
    share = value
    if isinstance(value, str):
        try:
            share = PERCENT.convert(value)
        except ValueError:
            raise fault from None
    if isinstance(share, int | float) and not 0 <= share <= 1:
        raise fault
    return share


Share = Annotated[
    float,
    BeforeValidator(_share),
    Field(ge=0, le=1),
    WithJsonSchema({"anyOf": [{"type": "number", "minimum": 0, "maximum": 1}, form_of(PERCENT)]}),
]
"""A share from 0 to 1, from `0.67` or `"67 %"`: dimensionless, so a bare number is right."""

_Number = TypeVar("_Number", int, float)


def _scaled(value: _Number, steps: list[tuple[int, str]]) -> str:
    for factor, unit in reversed(steps):
        if abs(value) >= factor:
            return f"{value / factor:.6g} {unit}"
    return f"{value:.6g} {steps[0][1]}"


def format_duration(nanoseconds: int) -> str:
    """`2900000` as `"2.9 ms"`."""
    return _scaled(nanoseconds, [(1, "ns"), (10**3, "us"), (10**6, "ms"), (10**9, "s")])


def format_size(size: int) -> str:
    """`65536` as `"64 KiB"`: binary where that is whole and short, decimal otherwise."""
    for prefix, factor in reversed(_BINARY.items()):
        if size % factor == 0 and factor <= size < 10_000 * factor:
            return f"{size // factor} {prefix}B"
    return _scaled(size, [(factor, prefix + "B") for prefix, factor in _DECIMAL.items()])


def format_rate(bytes_per_s: float) -> str:
    """`150e6` as `"150 MB/s"`."""
    return _scaled(bytes_per_s, [(factor, prefix + "B/s") for prefix, factor in _DECIMAL.items()])
