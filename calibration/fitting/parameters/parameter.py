"""Parameters that a fit may change: their place in a device file, bounds, unit, scale.

Which parameters a kind has is declared in `kinds`; here is what any of them is. Numbers are stored
in the unit's own scale (microseconds, bytes a second); device files hold them as text with units.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any, Final, Literal

from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.trees import Value
from raidlab.devices.units import DIMENSIONS, DURATION

DETERMINED_WITHIN: Final = 0.3
"""A value of which ratios matter is determined if its standard error is at most this share of
it."""
_UNITS = {name: factor for dimension in DIMENSIONS for name, factor in dimension.units.items()}


@dataclass(frozen=True)
class Parameter:
    """Something that a fit may change.

    Attributes:
        key: In the device file, dotted; `host.` before keys of the host, `state.` before what is
            neither the drive's nor the host's but the measurement's.
        unit: As files write it; empty for plain numbers and shares.
        low: Least value that is looked at.
        high: Largest one.
        scale: `log` where ratios matter, `linear` where differences do.
        speaks: Which measurements determine it.
        side: The direction that determines it: `read`, `write` or `both`. A parameter of
            a direction that was not measured is left as it is.
        of: Another key, if the value is this many times the value there.
        along: Keys that keep their ratio to this one.
        whole: True for counts.
        pull: How strongly it is pulled to where the file has it, times the usual: for what the file
            knows well, and for what the measurement may leave open to one side, such as the core
            time of a drive that is never the bottleneck.
        limits: True for a time, a rate or a number of places that shows where it is the
            bottleneck and nowhere else.
        needs: How the system around a component must work for it to show (`system.System.has`), or
            what must have been measured (`staging.Task.has`).
    """

    key: str
    unit: str
    low: float
    high: float
    scale: Literal["log", "linear"]
    speaks: str
    side: Literal["read", "write", "both"] = "both"
    of: str = ""
    along: tuple[str, ...] = ()
    whole: bool = False
    pull: float = 1.0
    limits: bool = False
    needs: str = ""

    @property
    def tight(self) -> float:
        """The place at which it limits most: long times do, and low rates and few places."""
        return 1.0 if self.unit in DURATION.units else 0.0

    def value(self, at: float) -> float:
        """The value at a place between 0 (low) and 1 (high)."""
        at = min(1.0, max(0.0, at))
        if self.scale == "log":
            found = self.low * (self.high / self.low) ** at
        else:
            found = self.low + (self.high - self.low) * at
        return float(round(found)) if self.whole else found

    def place(self, value: float) -> float:
        """Where a value lies between low and high, 0 to 1."""
        value = min(self.high, max(self.low, value))
        if self.scale == "log":
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def settled(self, at: float) -> float:
        """The place of the value that a place stands for: many stand for one whole number."""
        return self.place(self.value(at)) if self.whole else min(1.0, max(0.0, at))

    @property
    def may_be_none(self) -> bool:
        """True for what only some devices have, the others with zero."""
        return bool(self.needs) and self.low == 0.0

    def is_least(self, at: float) -> bool:
        """True where the value is the least that can be at all: one, of what is counted."""
        return self.whole and self.low == self.value(at) == 1.0

    def slope(self, at: float) -> float:
        """Change of the value for a change of its place."""
        if self.scale == "log":
            return self.value(at) * math.log(self.high / self.low)
        return self.high - self.low

    def text(self, value: float) -> str | float | int:
        """The value as a device file holds it."""
        if self.whole:
            return int(value)
        rounded = float(f"{value:.5g}")
        return f"{rounded:g} {self.unit}" if self.unit else rounded


@dataclass(frozen=True)
class Option:
    """One mode of operation."""

    values: Mapping[str, Value]
    """Of the device file, by dotted key: not varied."""
    usual: Mapping[str, Value] = field(default_factory=dict)
    """What drives that work so usually have: where what is varied begins, and is pulled to."""
    preferred: bool = False
    """Chosen before others that fit about as well; of those without, the first is."""


@dataclass(frozen=True)
class Mode:
    """A mode of operation, or what comes in steps: options that are tried one by one."""

    name: str
    side: Literal["read", "write"]
    """The direction that determines it."""
    options: tuple[Option, ...]
    decides: tuple[str, ...] = ()
    """Parameters that are determined only once it is: others would be found under another
    option."""


@dataclass(frozen=True)
class Kind:
    """A kind of component that can be fitted."""

    name: str
    """Of its device files."""
    template: Path
    host: str
    """Of the catalogue, if the user names none: the usual one."""
    declared: tuple[Parameter, ...]
    extra: tuple[Parameter, ...] = ()
    modes: tuple[Mode, ...] = ()
    apart: bool = False
    """True if reads do not depend on what writes determine, nor writes on what reads determine."""
    needs: str = ""
    """How a system must work for it to show; empty for drives, which need no system."""
    side: Literal["", "read", "write"] = ""
    """The direction without which nothing of it shows."""
    hosts: tuple[str, ...] = ()
    """Others of the catalogue that are tried if the user names none."""
    over_time: bool = False
    """True if its state changes for as long as a measurement lasts: rates are compared over time,
    from the beginning on."""


@dataclass(frozen=True)
class Choice:
    """What the user says of parameters: fixed, freed, tied."""

    fix: Mapping[str, float]
    free: frozenset[str]
    tie: Mapping[str, str]
    """From a parameter to the one whose place between its bounds it takes."""

    @property
    def options(self) -> dict[str, Collection[str]]:
        """The parameters that each option of the command is about, in a fixed order."""
        return {"--fix": [*self.fix], "--free": sorted(self.free), "--tie": [*self.tie]}


def choose(
    declared: Sequence[Parameter],
    extra: Sequence[Parameter],
    choice: Choice,
    given: Collection[str] = (),
) -> tuple[list[Parameter], dict[str, float]]:
    """The parameters to fit, and those that are fixed to a value.

    Args:
        declared: Those that are fitted unless the user says otherwise.
        extra: Those that are fitted only if the user frees them.
        choice: What the user says.
        given: Keys of the device file to which the user gives a value.

    Raises:
        SpecError: Names that no parameter has, two options for one parameter, or ties in a circle
            or a chain.
    """
    known = {parameter.key: parameter for parameter in (*declared, *extra)}
    faults = [
        *_unknown(choice, known, given),
        *_contradictions(choice, given),
        *_wrong_ties(choice.tie, known),
    ]
    if faults:
        raise SpecError(faults)
    free = [*declared, *(parameter for parameter in extra if parameter.key in choice.free)]
    remaining = [p for p in free if p.key not in choice.fix and p.key not in choice.tie]
    return remaining, dict(choice.fix)


def _unknown(choice: Choice, known: Mapping[str, Parameter], given: Collection[str]) -> list[Fault]:
    """What is given is not varied, and has a fault of its own."""
    named = [
        (option, name)
        for option, names in choice.options.items()
        for name in names
        if name not in given
    ]
    named += [("--tie", to) for to in choice.tie.values()]
    allowed = f"one of {', '.join(known)}"
    return [
        Fault(option, name, allowed, tuple(known)) for option, name in named if name not in known
    ]


def _contradictions(choice: Choice, given: Collection[str]) -> list[Fault]:
    """Each parameter is the business of one option."""
    options = {"--set": given} | choice.options
    allowed = "one of the two: a parameter is set, fixed, freed or tied"
    return [
        Fault(f"{one} and {other}", name, allowed)
        for (one, names), (other, others) in combinations(options.items(), 2)
        for name in sorted({*names} & {*others})
    ]


def _wrong_ties(ties: Mapping[str, str], known: Mapping[str, Parameter]) -> list[Fault]:
    faults = []
    for name, to in ties.items():
        ends = [known[end] for end in (name, to) if end in known]
        if len({(end.unit, bool(end.of)) for end in ends}) > 1:
            faults.append(Fault("--tie", f"{name}={to}", "parameters of the same unit"))
        if to in ties:
            faults.append(Fault("--tie", f"{name}={to}", "a parameter that is not tied itself"))
    return faults


def number_of(value: Any) -> float:
    """A value of a device file in base units: nanoseconds, bytes, bytes a second; 0 for none."""
    if isinstance(value, str):
        number, _, unit = value.partition(" ")
        return float(number) * float(_UNITS.get(unit, 1))
    return float(value or 0.0)
