"""Fields of a scenario that take several values: what is varied, and the points of a design.

An axis is written `PATH=VALUES`. The path has dots between its parts, lists by index. Values are

    1,2,4                 each of them; text, numbers, true and false as in TOML
    2:24                  every whole number, or anything between (not in a grid)
    2:24:2                in steps
    1:512:x2              by a factor
    1000:5000:500 IO/s    the same with a unit
    16,64,256 KiB         the last one's unit holds for all
"""

from __future__ import annotations

import copy
import itertools
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.trees import put

MOST_POINTS = 100_000
"""Points of a design at most."""
_ALLOWED = 'PATH=VALUES, such as "array.0.drives.0.count=2:24:2" or "array.0.level=raid5,raid6"'
_NUMBER = r"[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?"
_RANGE = re.compile(rf"({_NUMBER}):({_NUMBER})(?::(x?)({_NUMBER}))?(?:\s*([^\d\s:.,][^\s:,]*))?")
_BARE = re.compile(_NUMBER)
_QUANTITY = re.compile(rf"({_NUMBER})\s*([A-Za-z%µμ°][^\s:,]*)")
_ITEM = re.compile(r'(?:"[^"]*"|\[[^\]]*\]|[^,"\[])+')


class Design(StrEnum):
    """How points are placed."""

    GRID = "grid"
    """Every combination of the values."""
    LATIN_HYPERCUBE = "latin-hypercube"
    """Each axis in as many equal parts as there are points, each part used once."""
    SOBOL = "sobol"
    """A scrambled Sobol sequence: 2^m points."""


@dataclass(frozen=True)
class Span:
    """All values between two."""

    low: float
    high: float
    unit: str = ""
    whole: bool = False

    def value(self, share: float) -> Any:
        """The value at a share, from 0 to below 1, of the way."""
        if self.whole:
            number: float = int(self.low + share * (self.high - self.low + 1))
        else:
            number = float(f"{self.low + share * (self.high - self.low):.6g}")
        return _with_unit(number, self.unit)


@dataclass(frozen=True)
class Axis:
    """A field and the values that it takes: a list, or all between two."""

    path: str
    values: tuple[Any, ...]
    span: Span | None = None

    def value(self, share: float) -> Any:
        """The value at a share, from 0 to below 1, of the axis."""
        if self.span is not None:
            return self.span.value(share)
        return self.values[int(share * len(self.values))]


def axes_of(texts: Sequence[str], option: str = "--vary") -> list[Axis]:
    """The axes that are asked for.

    Raises:
        SpecError: Everything that is wrong with them.
    """
    found: list[Axis] = []
    faults: list[Fault] = []
    for text in texts:
        path, equals, values = text.partition("=")
        if not equals or not path.strip() or not values.strip():
            faults.append(Fault(option, text, _ALLOWED))
            continue
        try:
            found.append(_axis(path.strip(), values.strip()))
        except ValueError as error:
            faults.append(Fault(f"{option} {path.strip()}", values, str(error)))
    for path in {axis.path for axis in found}:
        if sum(axis.path == path for axis in found) > 1:
            faults.append(Fault(f"{option} {path}", None, "given once, with all of its values"))
    if not texts:
        faults.append(Fault(option, None, _ALLOWED))
    if faults:
        raise SpecError(faults)
    return found


def _axis(path: str, text: str) -> Axis:
    match = _RANGE.fullmatch(text)
    if match is None:
        items = _with_last_unit([each.strip() for each in _ITEM.findall(text)])
        values = [value for item in items for value in _item(item)]
        return Axis(path, tuple(dict.fromkeys(values)))
    low, high = float(match[1]), float(match[2])
    unit = match[5] or ""
    if low > high:
        raise ValueError("the lower end first")
    whole = not unit and not set(match[1] + match[2]) & set(".eE")
    span = Span(low, high, unit, whole)
    if match[4] is None:
        if whole and high - low >= MOST_POINTS:
            raise ValueError(f"at most {MOST_POINTS:,} values: give a step, such as 2:24:2")
        values = range(int(low), int(high) + 1) if whole else ()  # type: ignore[assignment]
        return Axis(path, tuple(values), span)
    return Axis(path, tuple(_steps(span, float(match[4]), factor=match[3] == "x")))


def _with_last_unit(items: list[str]) -> list[str]:
    """The values of a list whose last one alone has a unit, which then holds for all."""
    last = _QUANTITY.fullmatch(items[-1]) if items else None
    if last is None or not all(_BARE.fullmatch(each) for each in items[:-1]):
        return items
    return [*(f"{each} {last[2]}" for each in items[:-1]), items[-1]]


def _item(text: str) -> Iterator[Any]:
    """One value, or those of a range that stands in a list."""
    match = _RANGE.fullmatch(text)
    if match is not None:
        yield from _axis("", text).values
        return
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        value = text
    # Lists cannot be compared by value as keys: they stay what they are, hashable.
    yield tuple(value) if isinstance(value, list) else value


def _steps(span: Span, step: float, *, factor: bool) -> Iterator[Any]:
    if step <= (1 if factor else 0) or (factor and span.low <= 0):
        raise ValueError("a step above 0, or a factor above x1 from above 0 on")
    for at in range(MOST_POINTS):
        number = span.low * step**at if factor else span.low + at * step
        if number > span.high * (1 + 1e-9):
            return
        whole = span.whole and float(number).is_integer()
        yield _with_unit(int(number) if whole else float(f"{number:.12g}"), span.unit)
    raise ValueError(f"at most {MOST_POINTS:,} values")


def _with_unit(number: float, unit: str) -> Any:
    return f"{number:g} {unit}" if unit and abs(number) < 1e6 else (
        f"{number:.12g} {unit}" if unit else number
    )  # fmt: skip


def points(
    axes: Sequence[Axis], design: Design = Design.GRID, count: int | None = None, seed: int = 1
) -> list[dict[str, Any]]:
    """The points of a design: the value of each path.

    Args:
        axes: What is varied.
        design: How points are placed.
        count: How many; only of designs that are no grid.
        seed: Of designs that are drawn.

    Raises:
        SpecError: Axes, design and count do not fit together.
    """
    if design is Design.GRID:
        faults = [
            Fault(axis.path, None, "a step in a grid, such as 1000:5000:500 IO/s")
            for axis in axes
            if not axis.values
        ]
        if count is not None:
            faults.append(Fault("--points", count, "left out: a grid has every combination"))
        total = 1
        for axis in axes:
            total *= len(axis.values)
        if total > MOST_POINTS:
            faults.append(
                Fault("--vary", None, f"at most {MOST_POINTS:,} points; these are {total:,}")
            )
        if faults:
            raise SpecError(faults)
        paths = [axis.path for axis in axes]
        every = itertools.product(*(axis.values for axis in axes))
        return [dict(zip(paths, each, strict=True)) for each in every]
    if count is None or not 1 <= count <= MOST_POINTS:
        raise SpecError([Fault("--points", count, f"1 to {MOST_POINTS:,} for --design {design}")])
    if design is Design.SOBOL and count & (count - 1):
        nearest = 1 << (count.bit_length() - 1)
        allowed = f"a power of 2, such as {nearest} or {2 * nearest}: others lose the balance"
        raise SpecError([Fault("--points", count, allowed)])
    from scipy.stats import qmc

    kind = qmc.Sobol if design is Design.SOBOL else qmc.LatinHypercube
    shares = kind(len(axes), rng=seed).random(count)
    return [
        {axis.path: axis.value(float(share)) for axis, share in zip(axes, row, strict=True)}
        for row in shares
    ]


def with_values(tree: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """The tree of a scenario with other values.

    Raises:
        SpecError: A path leads nowhere: an index beyond a list, a value that has no parts.
    """
    changed = copy.deepcopy(dict(tree))
    faults = []
    for path, value in values.items():
        try:
            put(changed, path, list(value) if isinstance(value, tuple) else value)
        except (ValueError, IndexError, TypeError, AttributeError):
            allowed = "a field of the scenario, lists by index from 0, such as array.0.level"
            faults.append(Fault(path, value, allowed))
    if faults:
        raise SpecError(faults)
    return changed
