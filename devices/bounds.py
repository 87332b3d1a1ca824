"""What a number may be: the ends of its range, as the engine states them for its plan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import Field

Number = TypeVar("Number", int, float)


@dataclass(frozen=True)
class Bounds(Generic[Number]):
    """From the least to the most, both allowed."""

    least: Number
    most: Number


@dataclass(frozen=True)
class LowerBound(Generic[Number]):
    """The least that is allowed; there is no most."""

    least: Number


def within(bounds: Bounds[Number]) -> Any:
    """What stands in the `Annotated` type of a key whose number has these bounds."""
    return Field(ge=bounds.least, le=bounds.most)
