"""Fields of a scenario that take several values: what is varied, and the points of a design.

An axis is written `PATH=VALUES`. The path has dots between its parts, lists by index. Values are

    1,2,4                 each of them; text, numbers, true and false as in TOML
    2:24                  every whole number, or anything between (not in a grid)
    2:24:2                in steps
    1:512:x2              by a factor
    1000:5000:500 IO/s    the same with a unit
    16,64,256 KiB         the last one's unit holds for all
    0.5,1,2 times         a multiple of what stands in the scenario

Fields that move together are one axis: `A,B=VALUES` gives both the same value, and
`A=VALUES; B=VALUES` the first ones, then the second ones, and so on.
"""

from __future__ import annotations

import copy
import itertools
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, cast

from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.trees import Tree, Value, get, put
from raidlab.scenarios.spec.trees import ScenarioTree

Line = dict[str, Any]
"""A row of a sweep: what varies by its path, figures by `COLUMNS`."""
MOST_POINTS = 100_000
"""Points of a design at most."""
_ALLOWED = 'PATH=VALUES, such as "array.0.drives.0.count=2:24:2" or "array.0.level=raid5,raid6"'
_NUMBER = r"[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?"
_RANGE = re.compile(rf"({_NUMBER}):({_NUMBER})(?::(x?)({_NUMBER}))?(?:\s*([^\d\s:.,][^\s:,]*))?")
_BARE = re.compile(_NUMBER)
_QUANTITY = re.compile(rf"({_NUMBER})\s*([A-Za-z%µμ°][^\s:,]*)")
_TIMES = re.compile(rf"({_NUMBER}) times")
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
    tied: tuple[tuple[str, tuple[Any, ...] | None], ...] = ()
    """Other paths that move with it, each with its own values; None for the same ones."""

    def settings(self, value: Any) -> Tree:
        """The value of each of its paths where its own is this one."""
        found = {self.path: value}
        for path, values in self.tied:
            found[path] = value if values is None else values[self.values.index(value)]
        return found

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
        parts: list[Axis] = []
        for part in text.split(";"):
            path, equals, values = part.partition("=")
            paths = [each.strip() for each in path.split(",")]
            if not equals or not all(paths) or not values.strip():
                faults.append(Fault(option, part.strip() or text, _ALLOWED))
                continue
            try:
                same = tuple((each, None) for each in paths[1:])
                parts.append(
                    replace(_axis(paths[0], values.strip(), repeats=bool(parts)), tied=same)
                )
            except ValueError as error:
                faults.append(Fault(f"{option} {path.strip()}", values, str(error)))
        if len(parts) == len(text.split(";")):
            faults += _untied(parts, option)
            found.append(_tied(parts))
    every = [path for axis in found for path in (axis.path, *(path for path, _ in axis.tied))]
    for path in dict.fromkeys(every):
        if every.count(path) > 1:
            faults.append(Fault(f"{option} {path}", None, "given once, with all of its values"))
    if not texts:
        faults.append(Fault(option, None, _ALLOWED))
    if faults:
        raise SpecError(faults)
    return found


def _untied(parts: Sequence[Axis], option: str) -> list[Fault]:
    """Axes that cannot move together: another number of values, or a range without a step."""
    if len(parts) == 1:
        return []
    first, found = parts[0], []
    for axis in parts:
        if not axis.values:
            allowed = "values or a step, such as 1000:5000:500 IO/s: it moves with others"
            found.append(Fault(f"{option} {axis.path}", None, allowed))
        elif len(axis.values) != len(first.values):
            allowed = f"as many values as {first.path} has different ones, {len(first.values)}"
            found.append(Fault(f"{option} {axis.path}", f"{len(axis.values)} values", allowed))
    return found


def _tied(parts: Sequence[Axis]) -> Axis:
    """One axis of several that move together."""
    first, *others = parts
    tied = list(first.tied)
    for axis in others:
        tied += [(axis.path, axis.values), *((path, axis.values) for path, _ in axis.tied)]
    return replace(first, span=None if others else first.span, tied=tuple(tied))


def _axis(path: str, text: str, *, repeats: bool = False) -> Axis:
    match = _RANGE.fullmatch(text)
    if match is None:
        items = _with_last_unit([each.strip() for each in _ITEM.findall(text)])
        values = [value for item in items for value in _item(item)]
        return Axis(path, tuple(values if repeats else dict.fromkeys(values)))
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
) -> list[Tree]:
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
        every = itertools.product(*(axis.values for axis in axes))
        return [_settings(axes, each) for each in every]
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
        _settings(axes, [axis.value(float(share)) for axis, share in zip(axes, row, strict=True)])
        for row in shares
    ]


def _settings(axes: Sequence[Axis], values: Sequence[Any]) -> Tree:
    """The value of each path at a point, those of tied ones behind their own."""
    found: Tree = {}
    for axis, value in zip(axes, values, strict=True):
        found |= axis.settings(value)
    return found


def with_values(tree: ScenarioTree, values: Mapping[str, Value]) -> ScenarioTree:
    """The tree of a scenario with other values.

    Raises:
        SpecError: A path leads nowhere: an index beyond a list, a value that has no parts.
    """
    changed = cast(Tree, copy.deepcopy(tree))
    faults = []
    for path, value in values.items():
        factor = _TIMES.fullmatch(value) if isinstance(value, str) else None
        try:
            if factor is not None:
                value = _multiple(get(tree, path), float(factor[1]))
                if value is None:
                    allowed = "a number in the scenario, of which it is a multiple"
                    faults.append(Fault(path, factor[0], allowed))
                    continue
            put(changed, path, list(value) if isinstance(value, tuple) else value)
        except (ValueError, IndexError, TypeError, AttributeError):
            allowed = "a field of the scenario, lists by index from 0, such as array.0.level"
            faults.append(Fault(path, value, allowed))
    if faults:
        raise SpecError(faults)
    return cast(ScenarioTree, changed)


def _multiple(stands: Any, factor: float) -> Any:
    """A multiple of what stands in a scenario, a number or one with a unit; None of all else."""
    if isinstance(stands, bool):
        return None
    if isinstance(stands, int | float):
        number = stands * factor
        return round(number) if isinstance(stands, int) else float(f"{number:.9g}")
    match = _QUANTITY.fullmatch(stands) if isinstance(stands, str) else None
    return None if match is None else f"{float(match[1]) * factor:.9g} {match[2]}"
