"""Numbers as rooms write them: microseconds as µs, spans of several seeds with two digits."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from raidlab.scenarios.report.page import Box as PageBox
from raidlab.scenarios.results import number_text


def figure(value: float, unit: str = "") -> str:
    """A number with its unit: `4,107 IO/s`, `870 µs`."""
    text = number_text.figure(value, unit)
    return f"{text[:-2]}µs" if text.endswith(" us") else text


@dataclass(frozen=True)
class Box(PageBox):
    """One of the figures that stand out; with its number, runs of several seeds give a span."""

    number: float | None = None
    unit: str = ""


def measured(number: float, unit: str, text: str) -> Box:
    """A box whose number changes with the seed."""
    return Box(figure(number, unit), text, number, unit)


def spanned(numbers: Sequence[float], unit: str) -> str:
    """The least and the largest of some numbers, with two digits: `11 to 14 ms`."""
    low, high = (_two(value) for value in (min(numbers), max(numbers)))
    if low == high:
        return figure(high, unit).replace(number_text.digits(high), f"{high:,g}")
    # A prefix of the unit is that of the larger number.
    scale, name = number_text.shown_unit(high, unit)
    return f"{low / scale:,.6g} to {high / scale:,.6g} {name}".rstrip()


def _two(value: float) -> float:
    return float(f"{value:.2g}")


def along(x: Sequence[float], y: Sequence[float], at: Sequence[float]) -> list[float]:
    """The values of a curve at some places, straight between its points and flat beyond its ends.

    Args:
        x: Places of its points, growing.
        y: Their values.
        at: Where it is wanted.
    """
    found = []
    for place in at:
        after = bisect_left(x, place)
        if after in (0, len(x)):
            found.append(float(y[min(after, len(x) - 1)]))
            continue
        share = (place - x[after - 1]) / (x[after] - x[after - 1])
        found.append(y[after - 1] + share * (y[after] - y[after - 1]))
    return found
