"""What runs say of candidates beside goals and beside each other.

What is found is final when no longer run, no other history of the drives and no more replications
would change it. Of the candidates that fit, those form the front that no other beats in everything.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from raidlab.scenarios.capacity.answer import price
from raidlab.scenarios.capacity.candidates import Candidate
from raidlab.scenarios.capacity.question import Question
from raidlab.scenarios.results.goals import CLEAR, OF_A_RUN

_NEAR_FACTOR = 2.0
"""How many times a goal's bound, and what part of it, another history of SSDs may still reach."""


def is_near(each: Candidate) -> bool:
    """Whether another history of its SSDs may change which goals it meets.

    An overload has no interval, and what is certain does not depend on a history.
    """
    if each.scenario is None or each.falls_behind:
        return False
    histories = (device.get("history") for device in each.scenario.base["devices"])
    found = [one for one in each.judged.values() if one.goal.source in OF_A_RUN]
    values = ((one.measured, one.goal.bound) for one in found if not one.measured.certain)
    return any(histories) and any(
        measured.value is not None and bound / _NEAR_FACTOR < measured.value < bound * _NEAR_FACTOR
        for measured, bound in values
    )


def is_clear(each: Candidate) -> bool:
    """Whether all that goals say of it is so with near certainty."""
    return all(one.confidence >= CLEAR for one in each.judged.values())


def clearly_out(each: Candidate) -> bool:
    """Whether it misses a goal, or its load, with near certainty."""
    return each.falls_behind or any(one.confidence >= CLEAR for one in each.failing)


def hopeless(each: Candidate, slack: float) -> bool:
    """Whether it misses a goal by so much, and so surely, that a longer run changes nothing."""
    return each.falls_behind or any(
        one.confidence >= CLEAR and (one.by or 0.0) > slack for one in each.failing
    )


def surely(each: Candidate, slack: float) -> bool:
    """Whether it meets every goal by so much that a longer run changes nothing."""
    return not each.out and all(
        one.measured.certain or (one.confidence >= CLEAR and (one.by or 0.0) < -slack)
        for one in each.judged.values()
    )


def misses(each: Candidate) -> tuple[bool, int, float]:
    """What candidates that do not fit are ordered by: the nearest first.

    One that serves its load is nearer than one that does not: a latency it has at all. Of those
    that do not, what was simulated is nearer than what a bound from above says.
    """
    beyond = max((one.by or 0.0 for one in each.failing), default=0.0)
    short = 0.0 if each.too_small is None else each.too_small.short
    unknown = bool(each.why_not) and each.too_small is None
    overload = math.inf if each.overload is None else each.overload
    return unknown, each.falls_behind + each.is_bounded, max(beyond, overload, short)


def _measures(each: Candidate) -> tuple[float, ...]:
    """Cost, latency, power, and what is better if it is more: all the less the better."""
    # The rate of an open load is no merit: it is that of its arrivals.
    closed = each.scenario is None or any(
        not load.arrives_per_s for load in each.scenario.workloads
    )
    return (
        price(each)[0],
        math.inf if each.p99_us is None else each.p99_us,
        each.bill.watts or 0.0,
        -float(each.usable_bytes),
        -float(each.survives),
        each.loss.value or 0.0,
        -(each.iops or 0.0) if closed else 0.0,
    )


def preferred(question: Question, each: Candidate) -> float:
    """What the recommended candidate has the least of."""
    match question.table.prefer:
        case "latency":
            return math.inf if each.p99_us is None else each.p99_us
        case "rate per cost":
            return -(each.iops or 0.0) / max(price(each)[0], 1e-9)
    return price(each)[0]


def preference(question: Question, each: Candidate) -> tuple[float, tuple[float, int], float]:
    """As `preferred`; of a tie the one of the lowest price, then of the lowest p99."""
    p99 = math.inf if each.p99_us is None else each.p99_us
    return preferred(question, each), price(each), p99


def beats(one: Candidate, other: Candidate, slack: float) -> bool:
    """Whether it is as good in everything and better in something, its latency by `slack`."""
    ours, theirs = list(_measures(one)), list(_measures(other))
    ours[1] *= 1 + slack
    return all(a <= b for a, b in zip(ours, theirs, strict=True)) and ours != theirs


def front_of(fitting: Sequence[Candidate]) -> list[Candidate]:
    """Those that no other beats in everything; notes of each of the rest which one does."""
    for each in fitting:
        better = (o.name for o in fitting if o is not each and beats(o, each, 0.0))
        each.dominated_by = next(better, "")
    return [each for each in fitting if not each.dominated_by]
