"""Files of another kind than the one that is read: one line says what they are."""

from __future__ import annotations

from collections.abc import Container, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Final

from raidlab.devices.faults import Fault, SpecError

JOB_ENDINGS: Final = frozenset({".fio", ".job", ".jobs", ".ini"})
"""Of job files of fio."""


class Expected(StrEnum):
    """What is read, in the words of a fault."""

    SCENARIO = "a scenario, with [[array]], is read here"
    QUESTION = "a question, with [[candidates]], is read here"
    DEVICE = "a device, with `kind`, is read here"
    SHEET = "a data sheet, with `kind`, is read here"


_DECIDE: Final = {
    "kind": (
        "a device or a data sheet, which `model` of a scenario's drives names",
        {Expected.DEVICE, Expected.SHEET},
    ),
    "like": ("a device, which `model` of a scenario's drives names", {Expected.DEVICE}),
    "candidates": ("a question, which `raidlab plan` answers", {Expected.QUESTION}),
    "array": ("a scenario, which `raidlab run` simulates", {Expected.SCENARIO}),
}
"""Keys that only one kind of file has: what it is, and where it is expected."""


def deciding_key(tree: Mapping[str, object]) -> str | None:
    """The key that shows of what kind a file is; None if none does."""
    return next((key for key in _DECIDE if key in tree), None)


def refuse_other_kind(tree: Mapping[str, object], expected: Expected, path: Path) -> None:
    """Refuses a file that another command reads, before each of its keys is a fault.

    Raises:
        SpecError: It is of another kind: which one, and what reads it.
    """
    if any(expected in kinds for key, (_, kinds) in _DECIDE.items() if key in tree):
        return
    key = deciding_key(tree)
    if key is not None:
        what, _ = _DECIDE[key]
        raise SpecError([Fault("", None, f"is {what}; {expected}", (), str(path))])


def of_another_form(path: Path, forms: Container[str]) -> str | None:
    """What a file is by its name, if that is none of these endings; None if that says nothing."""
    ending = path.suffix.lower()
    if ending in forms:
        return None
    if ending in JOB_ENDINGS:
        return "these are jobs of fio, which `raidlab fio --scenario S.toml JOBS` runs"
    return {".toml": "its name says TOML", ".json": "its name says JSON"}.get(ending)
