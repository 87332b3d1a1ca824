"""Where one number explains monitored waits: order, a part of the system, or bursts.

What monitoring leaves open has six numbers. Choices that are spread over all of them seldom meet
the simplest explanation: of a load in 500 GB of 8 TB, mixtures of sequential I/Os and small hot
spots give a disk's waits within 3 %, and another system's p99 twice too high. So each cause is
followed by itself: waits rise or fall with its number, and between one choice that gives too short
waits and one that gives too long ones lies the right one (regula falsi).
The part is followed under choices of the other five too: whatever those are, some part of the
system may give the monitored waits, and each such choice has its own tail elsewhere.

**Example.** Waits 20 % too short in a part of 0.7 and 10 % too long in one of 0.85, in logarithms
-0.223 and 0.095: next comes 0.7 + 0.15 x 0.223 / 0.318 = 0.805.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

Point = tuple[float, ...]
"""A choice as six numbers from 0 to 1: sequential reads and writes, share and size of the hot
spot, bursts, part of the system that is used."""
ANYWHERE: Point = (0.0, 0.0, 0.0, 0.5, 0.0, 1.0)
"""At random over the whole system, independent arrivals."""
_LEAST_DISTANCE = 0.01
"""Distance of two choices below which none is tried between them."""
_LEAST_SHARE = 0.1
"""Part of that distance by which the next choice stays away from both."""


@dataclass
class Cause:
    """Choices that differ in one cause."""

    places: tuple[int, ...]
    """Which of the numbers it is."""
    base: Point
    tried: dict[float, Point] = field(default_factory=dict)

    def at(self, value: float) -> Point:
        """The choice with a value of the cause, from now on one that was tried."""
        point = tuple(value if at in self.places else own for at, own in enumerate(self.base))
        return self.tried.setdefault(value, point)

    def next_value(self, off: Callable[[Point], float | None]) -> float | None:
        """Where the waits are right by a straight line; None if no two choices enclose it.

        Args:
            off: ln(simulated / monitored wait) of a choice; None where it is not known.
        """
        known = [(at, error) for at, point in sorted(self.tried.items())
                 if (error := off(point)) is not None]  # fmt: skip
        spans = [(b - a, a, low, high) for (a, low), (b, high) in pairwise(known)
                 if low * high < 0 and b - a > _LEAST_DISTANCE]  # fmt: skip
        if not spans:
            return None
        width, begin, low, high = min(spans)
        return begin + width * min(1 - _LEAST_SHARE, max(_LEAST_SHARE, low / (low - high)))


def causes(bases: Sequence[Point] = ()) -> tuple[Cause, ...]:
    """Order, a part of the system, bursts alone, and the part under each base.

    Each is tried at some values in any case.
    """
    order, bursts = Cause((0, 1), ANYWHERE), Cause((4,), ANYWHERE)
    part = Cause((5,), ANYWHERE)
    values = {0: (0.0, 1.0), 1: (0.0, 0.5, 0.75, 1.0), 2: (0.0, 0.5)}
    for number, cause in enumerate((order, part, bursts)):
        for value in values[number]:
            cause.at(value)
    under = tuple(Cause((5,), base) for base in bases)
    for cause in under:
        for value in (0.0, 1.0):
            cause.at(value)
    return order, part, bursts, *under
