"""Counts facts that are right: what a reader got beside what it should have got.

Keys that an expectation lacks are not compared, null must come out unknown, lists of parts are
compared as sets, by slot or name where parts have one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

NOT_FACTS = {"notes", "warnings", "bytes_rel_tol", "refused", "reason", "repaired", "note"}
IDENTITY = ("slot", "name", "os_name", "address", "index", "model")


@dataclass(frozen=True)
class Compared:
    """One fact."""

    key: str
    expected: Any
    got: Any
    right: bool


def compare(expected: Mapping[str, object], got: Mapping[str, object]) -> list[Compared]:
    """Every fact of an expectation."""
    tolerance = float(expected.get("bytes_rel_tol", 0.0))
    return [
        each
        for key, value in expected.items()
        if key not in NOT_FACTS
        for each in _compare(key, value, got.get(key), tolerance)
    ]


def _compare(key: str, expected: Any, got: Any, tolerance: float) -> Iterator[Compared]:
    if isinstance(expected, list) and expected and isinstance(expected[0], dict):
        others = list(got or [])
        for place, part in enumerate(expected):
            other = _partner(part, others, place)
            if other in others:
                others.remove(other)
            label = next(
                (str(part[name]) for name in IDENTITY if part.get(name) is not None), place
            )
            yield from _compare(f"{key}[{label}]", part, other or {}, tolerance)
        yield Compared(f"{key}: number", len(expected), len(got or []), not others)
    elif isinstance(expected, dict):
        for name, value in expected.items():
            if name not in NOT_FACTS:
                inner = got.get(name) if isinstance(got, dict) else None
                yield from _compare(f"{key}.{name}", value, inner, tolerance)
    else:
        yield Compared(key, expected, got, _equal(key, expected, got, tolerance))


def _partner(part: Mapping[str, object], others: list[Any], place: int) -> Any:
    for name in IDENTITY:
        wanted = part.get(name)
        if wanted is None:
            continue
        same = [each for each in others if each.get(name) == wanted]
        if same:
            return max(same, key=lambda each: sum(each.get(k) == v for k, v in part.items()))
        if name in ("slot", "name") and any(each.get(name) for each in others) and wanted:
            return None
    if not others:
        return None
    return max(others, key=lambda each: sum(each.get(k) == v for k, v in part.items()))


def _equal(key: str, expected: Any, got: Any, tolerance: float) -> bool:
    if expected is None:
        return got is None
    if isinstance(expected, bool) or isinstance(got, bool):
        return expected is got
    if isinstance(expected, int | float) and isinstance(got, int | float):
        name = key.rpartition(".")[2]
        allowed = tolerance if "bytes" in name else 1e-4 if isinstance(expected, float) else 0.0
        return math.isclose(expected, got, rel_tol=allowed or 1e-12)
    if isinstance(expected, list) and isinstance(got, list):
        return sorted(map(str, expected)) == sorted(map(str, got))
    return bool(expected == got)
