"""What the costs of an answer have of energy, and whether what is not in them may change it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from raidlab.scenarios.capacity.candidates import Candidate
from raidlab.scenarios.capacity.question import Question


@dataclass(frozen=True)
class Uncounted:
    """Energy of the recommended candidate that is not in its cost, as nothing states the watts."""

    devices: tuple[str, ...]
    overtaken_by: str | None = None
    """The candidate that would be recommended instead; None if no energy changes the order."""
    above_watts: float | None = None
    """What `more` would have to draw together for that, beyond `instead`."""
    more: tuple[str, ...] = ()
    """Devices that the recommended one has more of than the other."""
    instead: tuple[str, ...] = ()
    """Devices of unknown watts that the other one has more of."""


def uncounted(
    question: Question, best: Candidate, fitting: Sequence[Candidate]
) -> Uncounted | None:
    """What is not in the cost of the recommended candidate; None if nothing is missing.

    Args:
        question: Prices and what is preferred.
        best: The recommended candidate.
        fitting: All that fit.
    """
    if not question.table.energy_price or not best.bill.unknown:
        return None
    found = Uncounted(tuple(best.bill.unknown))
    least = math.inf
    for other in fitting:
        more = Counter(best.bill.unknown) - Counter(other.bill.unknown)
        watts = _room(question, best, other)
        if other is not best and more and watts is not None and watts < least:
            least = watts
            instead = Counter(other.bill.unknown) - Counter(best.bill.unknown)
            found = Uncounted(
                found.devices, other.name, max(0.0, watts), tuple(more), tuple(instead)
            )
    return found


def _room(question: Question, best: Candidate, other: Candidate) -> float | None:
    """Watts more of the recommended candidate with which the other one is as good."""
    if best.cost is None or other.cost is None:
        return None
    match question.table.prefer:
        case "latency":
            return None
        case "rate per cost":
            if not best.iops or not other.iops:
                return None
            as_good = other.cost * best.iops / other.iops
        case _:
            as_good = other.cost
    return (as_good - best.cost) / best.bill.of_watt


def assumed(fitting: Sequence[Candidate]) -> list[str]:
    """Devices of candidates whose watts are those usual of their class."""
    return sorted(set[str]().union(*(each.bill.assumed for each in fitting)))
