"""What every device file shares, and how any file is read: TOML, checked, all faults at once.

A kind of device is a pydantic model below `DeviceSpec` (or `DriveSpec` for what holds data).
Its fields are quantities of `units`, its `faults()` are the checks that look at more than one
field, its `to_plan()` is the flat form that the engine runs.
"""

from __future__ import annotations

import contextlib
import copy
import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from raidlab.devices import plan_bounds
from raidlab.devices.faults import Fault, Faults, faults_of
from raidlab.devices.links import Interface, InterfaceOrNone
from raidlab.devices.other_kind import of_another_form
from raidlab.devices.plan_types import DeviceParams, HistoryLoad, PauseParams
from raidlab.devices.reading import (
    DEEPEST_LEVEL,
    MIB,
    check_depth,
    check_keys,
    read_text,
    unreadable,
)
from raidlab.devices.trees import Tree
from raidlab.devices.units import Duration, Share

_LARGEST_FILE = 16 * MIB


class Table(BaseModel):
    """A table of a file: unknown keys are faults, values keep their types (no "5" for 5)."""

    # A command uses few of the tables: each is built when the first of it is read.
    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, allow_inf_nan=False, defer_build=True
    )

    renamed: ClassVar[Mapping[str, str]] = {}
    """Keys that have another name now: refused, with it."""
    elsewhere: ClassVar[Mapping[str, str]] = {}
    """What other programs call our keys, fio first: refused, with ours."""

    @classmethod
    def left_out(cls) -> Self:
        """The table of a file that does not have it; nothing is built to check it."""
        return cls.model_construct()

    def faults(self) -> Iterator[Fault]:
        """Faults that only several fields together show; keys relative to this table."""
        yield from ()


TableT = TypeVar("TableT", bound=Table)


@dataclass(frozen=True)
class PreconditioningLoad:
    """Writes that a drive has seen before the run."""

    access: Literal["sequential", "random"]
    start_bytes: int
    area_bytes: int
    block_bytes: int
    written_bytes: int
    """Altogether; 0 to go on until write amplification has settled."""
    ongoing: bool = False
    """True if it goes on until the run begins: what it wrote last still fills the buffer.
    Neighbours in a history that go on do so together."""
    weight: int = 1
    """Its part of the bytes that loads which go on together write."""
    then_rests: bool = False
    """True if the drive then had some minutes for collection in the background."""

    def to_plan(self) -> HistoryLoad:
        """`HistoryLoad` of the native models."""
        return {
            "access": self.access,
            "start_bytes": self.start_bytes,
            "area_bytes": self.area_bytes,
            "block_bytes": self.block_bytes,
            "written_bytes": self.written_bytes,
            "ongoing": self.ongoing,
            "weight": self.weight,
            "then_rests": self.then_rests,
        }


@dataclass(frozen=True)
class Bought:
    """What is bought of a cloud volume beyond what its device file has."""

    size: int | None = None
    """Bytes."""
    rate: float | None = None
    """I/Os a second."""
    throughput: float | None = None
    """Bytes a second."""


@dataclass(frozen=True)
class DriveOptions:
    """What a scenario asks of a drive beyond its data sheet; None leaves the drive's own.

    A drive kind names those that it understands in `DriveSpec.options`; to ask for another is a
    fault of the scenario.
    """

    write_cache: bool | None = None
    """The drive's volatile write cache on or off (a controller's `disk_cache`)."""
    format: str | None = None
    """One of the drive's formats, for drives that can be formatted to several capacities."""
    cooling: str | None = None
    """A cooling condition of the drive's file."""
    compressible: float | None = None
    """Share by which the data that it is given can be compressed, 0 to 1."""
    history: tuple[PreconditioningLoad, ...] | None = None
    """Loads before the run, in their order; none for a drive as it left the factory."""

    snapshot: str | None = None
    """A file with the state in which the drive begins, instead of a history."""
    bought: Bought | None = None
    """Size, rate and throughput of a cloud volume."""
    clock: float | None = None
    """Clock of the host's CPU in hertz: the map of some drives is kept there."""

    def given(self) -> Tree:
        """The options that are asked for."""
        return {name: value for name, value in vars(self).items() if value is not None}


class DeviceSpec(Table):
    """A device file, whatever its kind."""

    role: ClassVar[str] = "device"
    """What it is in a system, for messages."""

    kind: str
    name: str = Field(pattern=r"^[a-z0-9][a-z0-9.+-]*$")
    """Small letters, digits, dots and dashes: the name by which scenarios call it."""
    aliases: tuple[str, ...] = ()
    title: str = ""
    """Maker, model, what a person wants to read in a list."""
    fitted_behind: str = Field(default="", pattern=r"^([a-z0-9][a-z0-9.+-]*)?$")
    """Name of the host with which its numbers were fitted: with another one they predict less."""
    data_sheet: Mapping[str, str | float | bool] = {}
    """What the maker states, as the sheet has it; decides nothing by itself."""


class Pause(Table):
    """`[[pause]]`: one kind of pauses, in which a drive takes up no command."""

    every: Duration = Field(ge=plan_bounds.PauseParams.every_ns.least)
    """Mean time from the end of one to the next, exponentially distributed."""
    length: Duration = Field(ge=plan_bounds.PauseParams.length_ns.least)
    """Mean length, exponentially distributed."""

    def to_plan(self) -> PauseParams:
        """`PauseParams` of the native models."""
        return {"every_ns": self.every, "length_ns": self.length}


class DriveSpec(DeviceSpec):
    """A device that holds data."""

    role: ClassVar[str] = "drive"

    options: ClassVar[frozenset[str]] = frozenset()
    """Names of the `DriveOptions` that have an effect on this kind."""

    interface: InterfaceOrNone = "none"
    """The drive's own link; `none` moves data to its controller or host in no time."""
    link_payload: Share | None = Field(default=None, gt=0)
    """Share of its link's rate after the line code that data get; the interface's usual one if left
    out."""
    queue_depth: int = Field(default=0, ge=0, le=2**24)
    """Commands that the drive takes at once; 0 for no limit."""

    pause: tuple[Pause, ...] = Field(default=(), max_length=8)
    """When it takes up no command, for reasons of its own."""

    def link(self) -> Interface | None:
        """The drive's own link."""
        return None if self.interface == "none" else Interface.parse(self.interface)

    def option_faults(self, options: DriveOptions) -> Iterator[Fault]:
        """Options that this drive does not have; keys are the options' names."""
        for name, value in options.given().items():
            if name not in self.options:
                yield Fault(name, value, f"has no effect on {self.name} (kind {self.kind})")

    def beside(self, clock: float | None, options: DriveOptions) -> DriveOptions:
        """The options beside a host whose CPU runs at `clock` hertz; most drives do not care."""
        return replace(options, clock=clock) if "clock" in self.options else options

    def capacity_bytes(self, options: DriveOptions) -> int:
        """Bytes that a host can address under `options`."""
        raise NotImplementedError

    @property
    def compresses(self) -> bool:
        """True if it compresses what is written to it."""
        return False

    def volatile(self, options: DriveOptions) -> bool:
        """True if it acknowledges a write while only memory has it that forgets."""
        return False

    def to_plan(self, options: DriveOptions) -> DeviceParams:
        """The device's entry in the plan: `DeviceParams` of the native models."""
        raise NotImplementedError


def read_toml(path: Path) -> Tree:
    """The tree of a TOML file.

    Raises:
        SpecError: The file is missing, too large, not UTF-8 or not TOML; says where.
    """
    text = read_text(path, _LARGEST_FILE, "raidlab file")
    check_keys(text, path)
    try:
        tree = tomllib.loads(text)
    except RecursionError:
        raise unreadable(path, f"nested deeper than {DEEPEST_LEVEL} levels") from None
    except ValueError as error:
        twice = _table_twice(text)
        if twice is not None:
            raise unreadable(path, twice) from None
        other = of_another_form(path, {".toml"})
        # Beside what TOML forbids: numbers of thousands of digits.
        raise unreadable(path, f"not TOML: {error if other is None else other}") from None
    check_depth(tree, str(path))
    return tree


_HEAD = re.compile(r"^[ \t]*(\[\[?)[ \t]*([A-Za-z0-9_.-]+)[ \t]*\]", re.MULTILINE)
_SEVERAL = frozenset(
    {"array", "controller", "link", "workload", "event", "load", "candidates", "price"}
)
"""Tables of which a file may have several."""


def _table_twice(text: str) -> str | None:
    """What to do about a table that stands twice, or once as one and once as one of several."""
    seen: dict[str, str] = {}
    for match in _HEAD.finditer(text):
        brackets, name = match.groups()
        if brackets == "[[":
            # Each of several tables has tables of its own.
            seen = {key: value for key, value in seen.items() if not key.startswith(f"{name}.")}
        if name in seen and "[" in (brackets, seen[name]):
            line = text.count("\n", 0, match.end()) + 1
            several = f"several are written [[{name}]], each of them"
            one = f"a file has one [{name}]: put its keys together, or write a second file"
            return f"line {line}: [{name}] stands twice: {several if name in _SEVERAL else one}"
        seen[name] = brackets
    return None


def check(model: type[TableT], values: Mapping[str, object], faults: Faults) -> TableT | None:
    """`values` as a `model`, with everything that is wrong with it in `faults`.

    Keys at fault are left out, as far as the rest can stand without them, so that further checks
    can be made and named together.

    Returns:
        None if too little of it can be read.
    """
    check_depth(values, faults.file)
    faults.written = values
    faulty: set[str] = set()
    checked = None
    try:
        checked = _parse(model, values)
    except ValidationError as error:
        found = list(faults_of(error, model))
        faults.extend(found)
        faulty = {fault.key.rpartition(".")[0] for fault in found}
        remaining = copy.deepcopy(dict(values))
        for fault in found:
            _remove(remaining, fault.key.split("."))
        checked, shortened = _rest(model, remaining)
        faulty |= shortened
    for key, table in _tables(checked, ()):
        # A table that misses its faulty keys would seem to contradict itself.
        if key not in faulty:
            faults.extend(table.faults(), key)
    return checked


def _parse(model: type[TableT], values: Mapping[str, object]) -> TableT:
    # Through JSON: pydantic's strict mode then takes what TOML can say and nothing else.
    return model.model_validate_json(json.dumps(values, default=str, skipkeys=True))


def _rest(model: type[TableT], values: dict[str, object]) -> tuple[TableT | None, set[str]]:
    """What can be read of `values`, and the keys of tables that then lack a list.

    A list of tables is left out whole if one of them cannot stand without its faulty keys.
    """
    shortened: set[str] = set()
    try:
        return _parse(model, values), shortened
    except ValidationError as error:
        for fault in faults_of(error, model):
            path = fault.key.split(".")
            to_list = path[: next((at for at, part in enumerate(path) if part.isdigit()), 0)]
            _remove(values, to_list)
            shortened.add(".".join(to_list[:-1]))
    with contextlib.suppress(ValidationError):
        return _parse(model, values), shortened
    return None, shortened


def _remove(tree: Any, path: list[str]) -> None:
    """Takes the key at `path` away, or the nearest one above it that is not in a list."""
    for at in range(len(path) - 1, -1, -1):
        parent = tree
        for part in path[:at]:
            if isinstance(parent, dict):
                parent = parent.get(part)
            elif isinstance(parent, list) and part.isdigit() and int(part) < len(parent):
                parent = parent[int(part)]
        if isinstance(parent, dict):
            parent.pop(path[at], None)
            return


def _tables(value: Any, path: tuple[str, ...]) -> Iterator[tuple[str, Table]]:
    """`value` and every table in it, with its key."""
    if isinstance(value, Table):
        yield ".".join(path), value
        for name in type(value).model_fields:
            yield from _tables(getattr(value, name), (*path, name))
    elif isinstance(value, list | tuple):
        for at, item in enumerate(value):
            yield from _tables(item, (*path, str(at)))
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _tables(item, (*path, str(key)))
