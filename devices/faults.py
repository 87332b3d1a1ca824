"""What is wrong in a file that a person wrote: every fault at once, each with what is allowed.

A fault names the file, the key, the value that stands there and what may stand there; for a
name that does not exist it adds the nearest one that does.
"""

from __future__ import annotations

import difflib
import types
import typing
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from raidlab.devices.trees import get
from raidlab.devices.units import bound_like
from raidlab.devices.words import folded, level_meant, nearest_to, value_meant


class About(StrEnum):
    """What a fault is about, where a program must know."""

    VALUE = "value"
    BACKLOG = "backlog"
    """More I/Os arrive than are served, until no memory is left."""
    MEMORY = "memory"
    """The machine has less memory, or fewer addresses, than the run needs."""


@dataclass(frozen=True)
class Fault:
    """One fault."""

    key: str
    """Where, with dots between levels: `array.0.stripe_unit`; empty for the whole file."""
    value: Any
    """What stands there; None if nothing does."""
    allowed: str
    """What may stand there."""
    choices: Sequence[str] = ()
    """Valid names, of which the nearest is suggested."""
    file: str = ""
    """The file's path."""
    bound: float | None = None
    """The number at the end of `allowed`, in base units, where the value passed one."""
    about: About = About.VALUE

    @property
    def nearest(self) -> str | None:
        """The valid name most like the one that was written, if any is like it.

        Names that begin with what was written come first: `lsi2208` lacks its ending.
        """
        written = self.value if isinstance(self.value, str) else self.key.rpartition(".")[2]
        folded = {choice.lower(): choice for choice in self.choices}
        whole = [name for name in folded if written and name.startswith(written.lower())]
        close = difflib.get_close_matches(written.lower(), list(folded), n=1, cutoff=0.55)
        names = sorted(whole, key=len) or close
        return folded[names[0]] if names else None

    def __str__(self) -> str:
        """One line: file, key, value, what is allowed, the nearest name."""
        where = ": ".join(part for part in (self.file, self.key) if part)
        equals = " = " if where else ""
        value = "" if self.value is None else f"{equals}{_shown(self.value)}"
        hint = "" if self.nearest is None else f'; did you mean "{self.nearest}"?'
        return f"{where}{value}: {self.allowed}{hint}"


class SpecError(ValueError):
    """A file cannot be used as it stands; `faults` says everything that is wrong with it."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        # What several drives share is one fault.
        self.faults = list({str(fault): fault for fault in faults}.values())
        super().__init__("\n".join(str(fault) for fault in self.faults))


@dataclass
class Faults:
    """Collects faults, to report them all at the end."""

    file: str = ""
    found: list[Fault] = field(default_factory=list)
    written: Mapping[str, object] = field(default_factory=dict)
    """The file's tree: a value is reported as it is written there, units and all."""

    def add(self, key: str, value: Any, allowed: str, choices: Iterable[str] = ()) -> None:
        """Notes a fault at `key`."""
        self.extend([Fault(key, value, allowed, tuple(choices))])

    def extend(self, faults: Iterable[Fault], prefix: str = "") -> None:
        """Notes faults found by others, their keys below `prefix`."""
        for fault in faults:
            key = ".".join(part for part in (prefix, fault.key) if part)
            value = fault.value if fault.file else self._as_written(key, fault.value)
            file = fault.file or self.file
            allowed = _with_unit(fault, value)
            self.found.append(replace(fault, key=key, value=value, file=file, allowed=allowed))

    def has(self, key: str) -> bool:
        """True if there is a fault at `key` or below it."""
        return any(f"{fault.key}.".startswith(f"{key}.") for fault in self.found)

    def _as_written(self, key: str, value: Any) -> Any:
        """What the file has at `key`, if that is one value; else `value`."""
        at = get(self.written, key)
        return at if value is not None and isinstance(at, str | int | float) else value

    def raise_if_any(self) -> None:
        """Reports what was found.

        Raises:
            SpecError: Anything was.
        """
        if self.found:
            raise SpecError(self.found)


def few_of_each(faults: Iterable[Fault], most: int = 3) -> list[Fault]:
    """The first faults of each kind, where many values of a field break the same rule.

    The last of them says how many there are beyond.
    """
    kinds: dict[tuple[str, str, str], dict[str, Fault]] = {}
    for fault in faults:
        same = kinds.setdefault((fault.file, fault.key, fault.allowed), {})
        same.setdefault(str(fault.value), fault)
    found = []
    for every in map(list, map(dict.values, kinds.values())):
        shown, beyond = every[:most], len(every) - most
        if beyond > 0:
            again = f"{shown[-1].allowed} (and {beyond:,} values more)"
            shown[-1] = replace(shown[-1], allowed=again)
        found += shown
    return found


def _with_unit(fault: Fault, written: Any) -> str:
    """What is allowed, with the bound in a unit if the value was written with one."""
    if fault.bound is None or not isinstance(written, str):
        return fault.allowed
    bound = bound_like(written, fault.bound)
    return fault.allowed if bound is None else f"{fault.allowed.rpartition(' ')[0]} {bound}"


def _shown(value: Any) -> str:
    """A value as it stands in TOML, cut where it is long."""
    text = _toml(value)
    return text if len(text) <= 80 else text[:77] + "..."


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        entries = ", ".join(f"{key} = {_toml(item)}" for key, item in value.items())
        return f"{{ {entries} }}" if entries else "{}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml, value))}]"
    return f'"{value}"' if isinstance(value, str) else str(value)


def faults_of(error: ValidationError, model: type[BaseModel]) -> Iterator[Fault]:
    """What pydantic found in data for `model`, in our words."""
    details = error.errors(include_url=False)
    listed: set[tuple[int | str, ...]] = set()
    for detail in details:
        # A list whose items are at fault also counts as short of items.
        depth = len(detail["loc"])
        within = [other for other in details if other["loc"][:depth] == detail["loc"]]
        if detail["type"] != "too_short" or len(within) == 1:
            fault, table = _translate(detail, model), detail["loc"][:-1]
            if detail["type"] == "extra_forbidden" and fault.choices:
                # The keys of a table are listed once, and not where one of them is meant.
                if fault.nearest is not None or table in listed:
                    fault = replace(fault, allowed="unknown key")
                else:
                    listed.add(table)
            yield fault


def _translate(detail: ErrorDetails, model: type[BaseModel]) -> Fault:
    loc = detail["loc"]
    # A union's member or validator stands in the location as text that is no key of the file.
    key = ".".join(str(part) for part in loc if "[" not in str(part))
    context = detail.get("ctx", {})
    match detail["type"]:
        case "extra_forbidden":
            for other_names, when in (("renamed", "now"), ("elsewhere", "here")):
                name = _names_at(model, loc[:-1], other_names).get(folded(str(loc[-1])))
                if name is not None:
                    said = nearest_to(str(detail["input"]))
                    return Fault(key, None, f"is named {name} {when}{said}")
            said = nearest_to(str(loc[-1])) or nearest_to(str(detail["input"]))
            known = sorted(_keys_at(model, loc[:-1]))
            if said:
                return Fault(key, None, f"unknown key{said}")
            return Fault(key, None, f"unknown key; known are {', '.join(known)}", known)
        case "missing":
            return Fault(key, None, "is required and missing")
        case "literal_error":
            choices = [part.strip().strip("'") for part in _literals(str(context["expected"]))]
            written = str(detail["input"])
            meant = level_meant(written) if loc[-1] == "level" else nearest_to(written)
            meant = meant or value_meant(str(loc[-1]), written)
            if meant:
                return Fault(key, detail["input"], f"one of {', '.join(choices)}{meant}")
            return Fault(key, detail["input"], f"one of {', '.join(choices)}", choices)
        case "model_type" if isinstance(detail["input"], str) and "model" in _keys_at(model, loc):
            return Fault(key, detail["input"], f"a table: {_toml({'model': detail['input']})}")
        case "model_type":
            return Fault(key, detail["input"], "a table" + f": [{key}]" * (len(loc) == 1))
        case "tuple_type" if _keys_at(model, loc):
            written = f": [[{key}]]" * (len(loc) == 1)
            return Fault(key, detail["input"], f"a list of tables{written}")
        case "tuple_type" if not isinstance(detail["input"], dict):
            return Fault(key, detail["input"], f"a list, such as [{_shown(detail['input'])}]")
    message = detail["msg"].removeprefix("Input should be ").removeprefix("Value error, ")
    if detail["type"] == "too_short":
        message = f"at least {context['min_length']} entries"
    elif detail["type"] == "string_pattern_mismatch":
        message = f"text of the form {context['pattern']}"
    bounds = [context[name] for name in ("le", "lt", "ge", "gt") if name in context]
    return Fault(key, detail["input"], message, bound=bounds[0] if bounds else None)


def _literals(expected: str) -> list[str]:
    return expected.replace(" or ", ", ").split(", ")


def _keys_at(model: type[BaseModel], loc: Sequence[int | str]) -> set[str]:
    """The keys that models of `model` may have at `loc`."""
    return {name for inner in _models_at(model, loc) for name in inner.model_fields}


def _names_at(model: type[BaseModel], loc: Sequence[int | str], other_names: str) -> dict[str, str]:
    """The keys at `loc` that have another name, folded, and ours; a field of tables has them."""
    found: dict[str, str] = {}
    for inner in _models_at(model, loc):
        found |= {folded(key): ours for key, ours in getattr(inner, other_names, {}).items()}
    return found


def _models_at(model: type[BaseModel], loc: Sequence[int | str]) -> list[type[BaseModel]]:
    """The models that may stand at `loc` of `model`."""
    at: list[Any] = [model]
    for part in loc:
        if isinstance(part, int):
            continue
        at = [
            inner.model_fields[part].annotation
            for inner in _models(at)
            if part in inner.model_fields
        ]
    return list(_models(at))


def _models(annotations: Iterable[Any]) -> Iterator[type[BaseModel]]:
    """Every model named in `annotations`, through lists, unions and Annotated."""
    for annotation in annotations:
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            yield annotation
        elif get_origin(annotation) in (types.UnionType, typing.Union, list, dict, tuple) or (
            get_origin(annotation) is typing.Annotated
        ):
            yield from _models(get_args(annotation))
