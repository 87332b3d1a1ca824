"""What devices of a question cost, and the base that every candidate has."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Annotated

from pydantic import BeforeValidator, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from raidlab.devices.faults import Fault
from raidlab.devices.schema import Table
from raidlab.devices.units import PERCENT, Power


def in_a_year(name: str, least: float, most: float, allowed: str) -> Callable[[object], float]:
    """What reads a change in a year, a share or a text in percent.

    Args:
        name: Of the kind of fault.
        least: The smallest share.
        most: The largest.
        allowed: What a fault says.
    """

    def read(value: object) -> float:
        if isinstance(value, str):
            with suppress(ValueError):
                value = PERCENT.convert(value)
        if (
            isinstance(value, int | float)
            and not isinstance(value, bool)
            and least <= value <= most
        ):
            return float(value)
        raise PydanticCustomError(name, "{allowed}", {"allowed": allowed})

    return read


_trend = in_a_year(
    "trend", -0.9, 1, 'a change in a year, such as -0.2 or "-20 %", from -90 % to 100 %'
)
Trend = Annotated[
    float,
    BeforeValidator(_trend),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "number", "minimum": -0.9, "maximum": 1},
                {"type": "string", "examples": ["-20 %"]},
            ]
        }
    ),
]
MOST_COST = 1e12
"""Of a device, in any currency: sums of such costs stay finite."""


class Costs(Table):
    """What something costs once and month by month."""

    cost: float = Field(default=0.0, ge=0, le=MOST_COST)
    per_month: float = Field(default=0.0, ge=0, le=MOST_COST)
    """Such as a cloud volume, a lease or support."""

    def capital(self, years: float) -> float:
        """All of it over a horizon."""
        return self.cost + 12 * years * self.per_month


class PriceTable(Costs):
    """`[[price]]`: what one device costs and takes."""

    device: str
    per_gib_month: float = Field(default=0.0, ge=0, le=MOST_COST)
    """Of each GiB of a cloud volume, each month; so the next two, of what is provisioned."""
    per_iops_month: float = Field(default=0.0, ge=0, le=MOST_COST)
    """Of each I/O a second beyond `included_iops`."""
    per_mib_s_month: float = Field(default=0.0, ge=0, le=MOST_COST)
    """Of each MiB/s beyond `included_mib_s`."""
    included_iops: float = Field(default=0.0, ge=0)
    included_mib_s: float = Field(default=0.0, ge=0)
    owned: int = Field(default=0, ge=0, le=100_000)
    """How many of them are there already: a candidate pays `cost` for those beyond. What runs by
    the month, energy and rack units count for all."""
    trend: Trend = 0.0
    """By which share the price to buy it changes in a year: `"-20 %"`."""
    power: Power | None = None
    """Of a drive that says what it draws, by its activity under the load if left out."""
    rack_units: float | None = Field(default=None, ge=0)

    def faults(self) -> Iterator[Fault]:
        """A price of nothing that was not meant so."""
        if not {"cost", "per_month", "per_gib_month"} & self.model_fields_set:
            allowed = "is required: once as `cost`, or each month as `per_month` or `per_gib_month`"
            yield Fault("cost", None, allowed)

    def bought(self, count: int) -> int:
        """How many of this many are not owned yet."""
        return max(0, count - self.owned)

    def capital_of(self, count: int, years: float) -> float:
        """All of this many over a horizon."""
        return self.bought(count) * self.cost + 12 * years * count * self.per_month

    def volume_month(self, size: int, rate: float, throughput: float) -> float:
        """What a cloud volume costs a month beside `per_month`.

        Args:
            size: Bytes.
            rate: I/Os a second that are provisioned.
            throughput: Bytes a second.
        """
        return (
            self.per_gib_month * size / 2**30
            + self.per_iops_month * max(0.0, rate - self.included_iops)
            + self.per_mib_s_month * max(0.0, throughput / 2**20 - self.included_mib_s)
        )


class BaseTable(Costs):
    """`[base]`: what every candidate has beside its devices, such as the server."""

    power: Power = 0.0
    rack_units: float | None = Field(default=None, ge=0)
