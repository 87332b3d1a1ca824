"""Facts that are known of what was measured: they bind a fit, and say which kinds it can be.

A fact has a key in the device files of the kinds that have it, and no other kind can be meant:
whatever turns is a disk. Some facts have no key and exclude kinds alone: a virtual disk has neither
plates nor dies that a fit could find.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from raidlab.calibration.fitting.parameters.kinds import TABLE, VIRTUAL_DISK
from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.units import SIZE


class FactName(StrEnum):
    """What may be known."""

    RPM = "rpm"
    CAPACITY = "capacity"
    QUEUE_DEPTH = "queue_depth"
    LINK = "link"
    ROTATIONAL = "rotational"
    VIRTUAL = "virtual"


Known = str | int | bool


@dataclass(frozen=True)
class Fact:
    """Something known."""

    name: FactName
    value: Known


DRIVES: Final = ("hdd", "ssd", "nvme")
KINDS_OF: Final[Mapping[FactName, tuple[str, ...]]] = {
    FactName.RPM: ("hdd",),
    FactName.CAPACITY: (*DRIVES, "station", VIRTUAL_DISK, TABLE),
    FactName.QUEUE_DEPTH: DRIVES,
    FactName.LINK: DRIVES,
}
"""Kinds whose files have a fact; a fact that is missing here excludes by its value."""
_KEYS: Final[Mapping[FactName, str]] = {
    FactName.RPM: "speed",
    FactName.CAPACITY: "capacity",
    FactName.QUEUE_DEPTH: "queue_depth",
    FactName.LINK: "interface",
}
FACT_KEYS: Final = frozenset(_KEYS.values())
_LAWS: Final = (VIRTUAL_DISK, TABLE)
_BY_VALUE: Final[Mapping[tuple[FactName, bool], tuple[str, ...]]] = {
    (FactName.ROTATIONAL, True): ("hdd", *_LAWS),
    (FactName.ROTATIONAL, False): ("ssd", "nvme", "station", *_LAWS),
    (FactName.VIRTUAL, True): ("station", *_LAWS),
    (FactName.VIRTUAL, False): (*DRIVES, "station", *_LAWS),
}
"""Kinds that a fact without a key leaves. Hypervisors call a file on flash rotational, too."""
_ANSWERS: Final = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
_RPM: Final = (3600, 15_000)
_MOST_DEPTH: Final = 65_536


def facts_of(texts: Sequence[str]) -> tuple[Fact, ...]:
    """Facts as `rpm=7200`, `capacity=4 TB`, `queue_depth=32`, `link=sata-6g`, `virtual=yes`.

    Raises:
        SpecError: Every text that is none, a value that cannot be, a fact that is given twice.
    """
    found: dict[FactName, Fact] = {}
    faults: list[Fault] = []
    known = [str(name) for name in FactName]
    for text in texts:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not equals or name not in known:
            allowed = f"NAME=VALUE, NAME one of {', '.join(known)}"
            faults.append(Fault("--fact", name if equals else text, allowed, known))
            continue
        of = FactName(name)
        read = _value(of, value)
        if isinstance(read, Fault):
            faults.append(read)
        elif of in found and found[of].value != read:
            faults.append(Fault(f"--fact {name}", value, f"one value; {found[of].value} is given"))
        else:
            found[of] = Fact(of, read)
    if faults:
        raise SpecError(faults)
    return tuple(found.values())


def _value(name: FactName, text: str) -> Known | Fault:
    """What a text says, in the form that device files have it."""
    where = f"--fact {name}"
    if name in (FactName.ROTATIONAL, FactName.VIRTUAL):
        answer = _ANSWERS.get(text.lower())
        return Fault(where, text, "yes or no") if answer is None else answer
    if name is FactName.LINK:
        return text or Fault(where, text, "an interface: sata-6g, sas-12g, pcie-4.0-x4")
    if name is FactName.CAPACITY:
        try:
            return f"{round(SIZE.convert(text))} B"
        except ValueError as error:
            return Fault(where, text, str(error))
    low, high = _RPM if name is FactName.RPM else (1, _MOST_DEPTH)
    digits = text.lower().removesuffix("rpm").strip()
    if not digits.isdigit() or not low <= int(digits) <= high:
        return Fault(where, text, f"a whole number from {low} to {high}")
    return f"{int(digits)} rpm" if name is FactName.RPM else int(digits)


def kinds_with(fact: Fact) -> tuple[str, ...]:
    """Kinds whose devices can have a fact: a PCIe link leads to no disk."""
    if isinstance(fact.value, bool):
        return _BY_VALUE[fact.name, fact.value]
    if fact.name is FactName.LINK:
        return ("nvme",) if str(fact.value).startswith("pcie") else ("hdd", "ssd")
    return KINDS_OF[fact.name]


def bound(kind: str, facts: Sequence[Fact]) -> dict[str, Known]:
    """Values of the device file that facts set, by dotted key.

    Raises:
        SpecError: Facts that no device of the kind has, all at once.
    """
    faults = [
        Fault(
            f"--fact {fact.name}",
            str(fact.value),
            f"left out: no {kind} has it; of kinds that do: {', '.join(kinds_with(fact))}",
        )
        for fact in facts
        if kind not in kinds_with(fact)
    ]
    if faults:
        raise SpecError(faults)
    return {_KEYS[fact.name]: fact.value for fact in facts if fact.name in _KEYS}
