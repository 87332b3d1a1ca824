"""Pictures of a mechanism that move: shapes that stand, dots that move, and a caption a step.

The page draws them as SVG with a slider, one position a step, and a button that plays them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from raidlab.devices.trees import Document

_DIGITS = 2


@dataclass(frozen=True)
class Key:
    """Where a dot is at a time, and how it looks from then on."""

    t: float
    x: float
    y: float
    color: str = "#0072B2"
    hollow: bool = False


@dataclass(frozen=True)
class Dot:
    """Something that moves from key to key in straight lines."""

    name: str
    """What it is, on hovering."""
    keys: Sequence[Key]
    text: str = ""
    """On the dot: a number, at most two letters."""
    size: float = 9
    stays: bool = True
    """False if it is gone after its last key."""


@dataclass(frozen=True)
class Shape:
    """What stands still; with times it is seen from `begins` to `ends`.

    A rectangle with `grown` grows from nothing at `begins` to its width at `grown`.
    """

    kind: Literal["rect", "circle", "path", "text"]
    x: float = 0
    y: float = 0
    width: float = 0
    """Of a rectangle; the radius of a circle."""
    height: float = 0
    color: str = ""
    text: str = ""
    anchor: Literal["start", "middle", "end"] = "start"
    points: Sequence[tuple[float, float]] = ()
    """Of a path."""
    look: str = ""
    """Classes of the style sheet: soft, dashed, axis."""
    begins: float | None = None
    ends: float | None = None
    grown: float | None = None


@dataclass(frozen=True)
class Step:
    """A time at which the slider stops, and what is to be seen there."""

    t: float
    text: str


@dataclass(frozen=True)
class Scene:
    """A moving picture of a mechanism; lengths are those of its own grid."""

    seen: str
    drawn: str
    width: float
    height: float
    steps: Sequence[Step]
    """In the order of time; their texts together say what the picture shows."""
    shapes: Sequence[Shape] = ()
    dots: Sequence[Dot] = field(default_factory=tuple)
    wide: bool = True
    at: int = 0
    """The step that is shown first."""

    def plain(self) -> Document:
        """For the page's script, with as many digits as a screen shows."""
        found: Document = _rounded(asdict(self))
        return found | {"shapes": _said(self.shapes), "dots": _said(self.dots)}


def _said(parts: Sequence[Shape] | Sequence[Dot]) -> list[Document]:
    """What is said of some parts: what is not has the page's defaults."""
    rounded: list[Document] = [_rounded(asdict(part)) for part in parts]
    return [
        {key: value for key, value in each.items() if value is not None and value not in ("", [])}
        for each in rounded
    ]


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, _DIGITS)
    if isinstance(value, dict):
        return {key: _rounded(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(each) for each in value]
    return value


def label(x: float, y: float, text: str, anchor: Literal["start", "middle", "end"] = "start",
          look: str = "") -> Shape:  # fmt: skip
    """Words."""
    return Shape("text", x, y, text=text, anchor=anchor, look=look)


def path(*points: tuple[float, float], color: str = "", look: str = "axis") -> Shape:
    """A line through points."""
    return Shape("path", points=points, color=color, look=look)
