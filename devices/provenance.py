"""Where each number of a device came from.

In a device file a number states its source in one of two places: in place,

    settle = { value = "1.1 ms", source = "assumed", note = "as the 2.5-inch sibling" }

or in a table `[sources]`, which names a key or a whole table of keys (the longest match counts,
`all` matches every number):

    [sources]
    all = "data-sheet"
    "seek.settle" = { source = "assumed", note = "as the 2.5-inch sibling" }

See docs/reference/device/index.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import PydanticCustomError

from raidlab.devices.faults import Faults, faults_of
from raidlab.devices.forms import also
from raidlab.devices.trees import Tree, Value
from raidlab.devices.units import is_quantity

SOURCES = "sources"
ALL = "all"
_INLINE = frozenset({"value", "source", "note", "stderr", "measurement", "range", "correlations"})
# Names, not figures, even where they look like one ("2.5 s" may well be a drive's title).
_NAMES = frozenset({"kind", "name", "aliases", "title", "like", "fitted_behind"})


def _error_quantity(value: Any) -> str:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number and not (isinstance(value, str) and is_quantity(value)):
        raise PydanticCustomError("stderr", 'a number, or a quantity such as "0.1 ms" or "3 %"')
    return str(value)


class Source(BaseModel):
    """Where a number came from."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    source: Literal["data-sheet", "published", "measured", "fitted", "derived", "assumed"]
    note: str = ""
    stderr: Annotated[str, BeforeValidator(_error_quantity), also({"type": "number"})] = ""
    """Standard error of a fitted number."""
    measurement: str = ""
    """Name of the measurement that it was measured in or fitted to."""
    range: tuple[str, str] | None = None
    """Bounds of an assumed number, as quantities."""
    correlations: dict[str, Annotated[float, Field(ge=-1, le=1)]] = Field(default_factory=dict)
    """Of the error of a number with those of others, by their keys: of the same fit, or assumed."""

    def __str__(self) -> str:
        """For people: `fitted ± 3 % (S4610 on AHCI): both directions together`."""
        error = f" ± {self.stderr}" if self.stderr else ""
        measurement = f" ({self.measurement})" if self.measurement else ""
        bounds = "" if self.range is None else f" {self.range[0]} to {self.range[1]}"
        note = f": {self.note}" if self.note else ""
        return f"{self.source}{bounds}{error}{measurement}{note}"


def take_sources(tree: Mapping[str, Value], faults: Faults) -> tuple[Tree, dict[str, Source]]:
    """Parts a device file into its plain values and the sources stated for its keys.

    Returns:
        The values, with `{ value = ..., source = ... }` replaced by the value, and the source of
        each key or table of keys for which one is stated.
    """
    stated: dict[str, Source] = {}
    table = tree.get(SOURCES, {})
    if isinstance(table, dict):
        for key, written in table.items():
            source = _read_source(f"{SOURCES}.{key}", written, faults)
            if source is not None:
                stated[key] = source
    else:
        faults.add(SOURCES, table, 'a table of keys and sources: "seek.settle" = "assumed"')
    values = _unwrap(
        {key: value for key, value in tree.items() if key != SOURCES}, (), stated, faults
    )
    return values, stated


def unstated(values: Mapping[str, Value], stated: Mapping[str, Source]) -> list[str]:
    """Keys of the numbers in `values` of which `stated` says no source."""
    return [key for key, _ in _numbers(values, ()) if _key_of(key, stated) is None]


def needed(values: Mapping[str, Value], stated: Mapping[str, Source]) -> set[str | None]:
    """The keys in `stated` that name the source of a number in `values`; None for no source."""
    return {_key_of(key, stated) for key, _ in _numbers(values, ())}


def check_sources(
    values: Mapping[str, Value], stated: Mapping[str, Source], faults: Faults
) -> dict[str, Source]:
    """The source of every number in `values`, by its dotted key.

    A number without a source is a fault, and so is a source for something that is no number.
    Numbers of a list share the key of the list.
    """
    found: dict[str, Source] = {}
    numbers = dict(_numbers(values, ()))
    reported = {fault.key for fault in faults.found}
    for key, value in numbers.items():
        if key in reported:
            continue
        match = _key_of(key, stated)
        if match is None:
            faults.add(
                key,
                value,
                f"has no source; write {{ value = ..., source = ... }} or name it in [{SOURCES}]"
                " (data-sheet, published, measured, fitted, derived, assumed)",
            )
        else:
            found[key] = stated[match]
    _check_correlations(found, faults)
    # A number that is wrong has a source all the same.
    used = needed(values, stated)
    for key in stated:
        if key not in used and not (key == ALL and numbers):
            allowed = "names no number of this file, or each has a nearer source"
            faults.add(f"{SOURCES}.{key}", None, allowed, numbers)
    return found


def _check_correlations(found: Mapping[str, Source], faults: Faults) -> None:
    """Errors go together with those of other numbers that are drawn."""
    drawn = tuple(
        key
        for key, source in found.items()
        if source.source == "fitted" or source.range is not None
    )
    for key, source in found.items():
        for other in source.correlations:
            where = f"{SOURCES}.{key}.correlations"
            if key not in drawn:
                allowed = "left out: only a fitted number, or one with a range, has correlations"
                faults.add(where, other, allowed)
            elif other == key or other not in drawn:
                faults.add(
                    where, other, "another number of this file, fitted or with a range", drawn
                )


def _key_of(key: str, stated: Mapping[str, Source]) -> str | None:
    """Of what a number's source is stated: itself, the innermost table around it, or all."""
    prefixes = (key.rsplit(".", cut)[0] for cut in range(key.count(".") + 1))
    return next((prefix for prefix in (*prefixes, ALL) if prefix in stated), None)


def _read_source(key: str, written: Any, faults: Faults) -> Source | None:
    try:
        source = Source.model_validate({"source": written} if isinstance(written, str) else written)
    except ValidationError as error:
        faults.extend(faults_of(error, Source), key)
        return None
    if source.source == "fitted" and not (source.stderr and source.measurement):
        faults.add(
            key, "fitted", "a fitted number states stderr (standard error) and measurement (name)"
        )
    return source


def _unwrap(value: Any, path: tuple[str, ...], stated: dict[str, Source], faults: Faults) -> Any:
    if isinstance(value, list):
        return [_unwrap(item, (*path, str(at)), stated, faults) for at, item in enumerate(value)]
    if not isinstance(value, dict):
        return value
    if "value" in value and "source" in value and set(value) <= _INLINE:
        key = ".".join(path)
        source = _read_source(
            key, {name: part for name, part in value.items() if name != "value"}, faults
        )
        if source is not None:
            stated[key] = source
        return value["value"]
    return {key: _unwrap(item, (*path, key), stated, faults) for key, item in value.items()}


def _numbers(value: Any, path: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    """Every number with its key; a list of plain values counts as one number."""
    if isinstance(value, dict):
        for key, item in value.items():
            if path or key not in _NAMES:
                yield from _numbers(item, (*path, key))
    elif isinstance(value, list):
        if any(isinstance(item, dict) for item in value):
            for at, item in enumerate(value):
                yield from _numbers(item, (*path, str(at)))
        elif any(True for item in value for _ in _numbers(item, path)):
            yield ".".join(path), value
    elif (isinstance(value, int | float) and not isinstance(value, bool)) or (
        isinstance(value, str) and is_quantity(value)
    ):
        yield ".".join(path), value
