"""Which kind of file a file is, by what it holds."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from enum import StrEnum
from pathlib import Path

from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.other_kind import JOB_ENDINGS, deciding_key
from raidlab.devices.schema import read_toml


class SchemaOf(StrEnum):
    """Kinds of files that have a JSON Schema."""

    SCENARIO = "scenario"
    DEVICE = "device"
    SHEET = "sheet"
    QUESTION = "question"


class WrittenKind(StrEnum):
    """Kinds of files that people write."""

    SCENARIO = "scenario"
    DEVICE = "device"
    SHEET = "sheet"
    QUESTION = "question"
    JOBS = "jobs"


_OF_QUESTIONS = ("candidates", "goals", "load", "price", "growth")
_OF_SCENARIOS = ("array", "workload", "controller", "event", "host", "run")
_ALLOWED = (
    "a file of raidlab: a scenario has [[array]], a question [[candidates]], a device or a sheet"
    " `kind`; --as says which it is meant to be"
)


def kind_of(path: Path) -> WrittenKind:
    """What a file is.

    A name that ends as fio's do has jobs; other files are TOML, and their tables show it.

    Raises:
        SpecError: It cannot be read, or is none of them.
    """
    if path.suffix.lower() in JOB_ENDINGS:
        return WrittenKind.JOBS
    found = kind_of_tree(read_toml(path))
    if found is None:
        raise SpecError([Fault("", None, _ALLOWED, (), str(path))])
    return found


def kind_of_tree(tree: Mapping[str, object]) -> WrittenKind | None:
    """What a TOML file with this tree is; None if nothing shows it."""
    match deciding_key(tree):
        case "kind" | "like":
            return WrittenKind.SHEET if _is_sheet(tree) else WrittenKind.DEVICE
        case "candidates":
            return WrittenKind.QUESTION
        case "array":
            return WrittenKind.SCENARIO
    # A slip in the word that decides: the other tables do.
    questions, scenarios = _likeness(tree, _OF_QUESTIONS), _likeness(tree, _OF_SCENARIOS)
    if questions == scenarios:
        return None
    return WrittenKind.QUESTION if questions > scenarios else WrittenKind.SCENARIO


def _likeness(tree: Iterable[str], names: Iterable[str]) -> int:
    """How many keys of a tree are, but for slips, among these names."""
    names = tuple(names)
    return sum(bool(difflib.get_close_matches(key, names, n=1, cutoff=0.75)) for key in tree)


def _is_sheet(tree: Mapping[str, object]) -> bool:
    """Whether more of its keys are a sheet's than a device's of its kind."""
    from raidlab.devices.catalogue import KINDS
    from raidlab.devices.datasheet.controller import ControllerSheet
    from raidlab.devices.datasheet.sheet import Sheet

    kind = tree.get("kind")
    if "like" in tree or not isinstance(kind, str) or kind not in KINDS:
        return False
    sheet = ControllerSheet if kind == "controller" else Sheet
    own = KINDS[kind].model_fields
    stated = sum(key in sheet.model_fields and key not in own for key in tree)
    described = sum(key in own and key not in sheet.model_fields for key in tree)
    return stated > described
