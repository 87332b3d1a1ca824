"""How the I/Os of an open load arrive: at one rate or several, evenly, at random or in bursts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from raidlab.devices.faults import Fault
from raidlab.devices.forms import also, one_or_several, word
from raidlab.devices.plan_types import Arrival, Pattern
from raidlab.devices.schema import Table
from raidlab.devices.units import (
    IO_RATE,
    Duration,
    Share,
    form_of,
    format_duration,
    io_rate,
)

MOST_RATE = 10**8
"""I/Os a second."""
_HOUR = 3600 * 10**9
_LEAST_PHASE, _LONGEST_PHASE = 1000, 240 * _HOUR
_MOST_STEPS = 10_000


def _rates(value: Any) -> tuple[float, ...]:
    rates = tuple(io_rate(each) for each in (value if isinstance(value, list) else [value]))
    if not rates:
        allowed = 'a rate such as "5000 IO/s", or a list of rates (one run each)'
        raise PydanticCustomError("rate", "{allowed}", {"allowed": allowed})
    return rates


Rates = Annotated[
    tuple[float, ...],
    BeforeValidator(_rates),
    WithJsonSchema(one_or_several(form_of(IO_RATE))),
]
"""I/Os a second: one rate, or a list (one run each)."""


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


class PatternTable(Table):
    """`arrivals`: a table, or its kind alone."""

    kind: Literal["poisson", "constant", "on-off", "self-similar", "daily"]
    on: Duration | None = None
    off: Duration | None = None
    """Of `on-off` and `self-similar`: mean lengths of the phases."""
    off_rate: Share | None = None
    """Of `on-off`: the rate in `off` phases as a share of that in `on` phases."""
    hurst: float | None = None
    sources: int | None = Field(default=None, ge=1, le=10_000)
    shares: Annotated[tuple[float, ...] | None, BeforeValidator(_tuple)] = None
    """Of `daily`: rates of equal steps of a day, in any unit."""
    day: Duration | None = None
    """Of `daily`: how long a day is; shorter than 24 h to see all of it."""

    def faults(self) -> Iterator[Fault]:
        """Keys of other kinds, phases and shares that cannot be."""
        known = _KEYS[self.kind]
        for key in self.model_fields_set - known - {"kind"}:
            allowed = f"left out: {self.kind} has {', '.join(sorted(known)) or 'no other key'}"
            yield Fault(key, None, allowed)
        for key in ("on", "off", "day"):
            length = getattr(self, key)
            if key in known and length is not None:
                if not _LEAST_PHASE <= length <= _LONGEST_PHASE:
                    yield Fault(key, format_duration(length), "1 us to 10 d")
            elif key in known and key != "day":
                yield Fault(key, None, f'is required of {self.kind}: a mean length such as "1 s"')
        if self.kind == "self-similar" and not 0.5 < (self.hurst or 0.0) < 1:
            yield Fault(
                "hurst", self.hurst, "above 0.5 (no long memory), below 1; often 0.7 to 0.9"
            )
        if self.kind == "daily":
            shares = self.shares or ()
            right = all(0 <= share <= 1e9 for share in shares) and sum(shares) > 0
            if not right or len(shares) > _MOST_STEPS:
                allowed = "rates of equal steps of the day, such as 24, none negative, one above 0"
                yield Fault("shares", None if self.shares is None else list(shares), allowed)

    def to_plan(self) -> Pattern:
        """The plan's `pattern`, of a table without faults that is not `poisson`."""
        if self.kind == "constant":
            return {"kind": "even"}
        if self.kind == "daily":
            shares = self.shares or (1.0,)
            step = (24 * _HOUR if self.day is None else self.day) // len(shares)
            return {"kind": "daily", "step_ns": max(_LEAST_PHASE, step), "shares": list(shares)}
        on, off = self.on or 0, self.off or 0
        if self.kind == "on-off":
            return {"kind": "on_off", "on_ns": on, "off_ns": off, "off_rate": self.off_rate or 0.0}
        return {
            "kind": "self_similar",
            "on_ns": on,
            "off_ns": off,
            "hurst": self.hurst or 0.0,
            "sources": 32 if self.sources is None else self.sources,
        }


_KEYS: dict[str, set[str]] = {
    "poisson": set(),
    "constant": set(),
    "on-off": {"on", "off", "off_rate"},
    "self-similar": {"on", "off", "hurst", "sources"},
    "daily": {"shares", "day"},
}


def _kind(value: Any) -> Any:
    return {"kind": value} if isinstance(value, str) else value


Arrivals = Annotated[PatternTable, BeforeValidator(_kind), also(word("poisson", "constant"))]


def arrival_plan(per_s: float, arrivals: PatternTable | None) -> Arrival:
    """The plan's `arrival` of an open load."""
    if arrivals is None or arrivals.kind == "poisson":
        return {"kind": "poisson", "per_s": per_s}
    return {"kind": "patterned", "per_s": per_s, "pattern": arrivals.to_plan()}
