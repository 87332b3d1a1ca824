"""Buy now or later: what a system costs if the present one serves for some months more.

Prices change by a share `r` in a year. With `m` months until the purchase, a horizon of `H` months,
the present system's `p` and the new one's `q` a month, energy included, and what devices cost once,
`c`, the sum over the horizon is

    C(m) = p m + sum of c (1 + r) ^ (m / 12) + q (H - m)

The purchase can wait for as long as the present system meets the goals of the growing load.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from raidlab.scenarios.capacity.bills import Bill
from raidlab.scenarios.capacity.candidates import Candidate
from raidlab.scenarios.capacity.question import Question
from raidlab.scenarios.capacity.until import MONTHS, lasting
from raidlab.scenarios.studies.running import Running


@dataclass(frozen=True)
class Purchase:
    """A system that is bought some months from now."""

    month: int
    total: float
    """Over the horizon, the present system until then included."""


@dataclass(frozen=True)
class Later:
    """The recommended system, bought now or later."""

    present: str
    """Name of the present system."""
    lasts: float | None
    """Months for which it meets the goals; None for longer than was searched."""
    ended_by: str
    """The goal that it misses then."""
    purchases: tuple[Purchase, ...]
    """Now, and in each month in which it is still possible."""

    @property
    def best(self) -> Purchase:
        """The cheapest; of equal ones the earliest."""
        return min(self.purchases, key=lambda each: (each.total, each.month))


def total(question: Question, candidate: Candidate, month: int) -> float:
    """What a candidate costs over the horizon if it is bought in this month."""
    table, bill = question.table, candidate.bill
    once = table.base.cost
    now = table.base.cost
    for name, count in candidate.devices.items():
        price = question.prices.get(name)
        if price is not None:
            now += price.bought(count) * price.cost
            once += price.bought(count) * price.cost * (1 + price.trend) ** (month / 12)
    months = 12 * table.horizon
    keep = 0.0 if table.present is None else table.present.per_month
    running = ((bill.capital or 0.0) - now + (bill.energy or 0.0)) / months
    return keep * month + once + running * (months - month)


def later_of(
    question: Question, best: Candidate, running: Running, seed: int, breaches: set[str]
) -> Later | None:
    """What waiting gives; None where no price has a trend.

    Raises:
        SpecError: The present system cannot be simulated under the load.
    """
    trends = [price.trend for name, price in question.prices.items() if name in best.devices]
    if question.present is None or best.cost is None or not any(trends):
        return None
    lasts, ended_by = _lasts(question, running, seed, breaches)
    most = min(12 * question.table.horizon, MONTHS if lasts is None else lasts)
    purchases = tuple(
        Purchase(month, total(question, best, month)) for month in range(int(most) + 1)
    )
    return Later(question.present.title, lasts, ended_by, purchases)


def _lasts(
    question: Question, running: Running, seed: int, breaches: set[str]
) -> tuple[float | None, str]:
    """Months for which the present system meets the goals, and which it misses then."""
    if question.present is None:
        return 0.0, ""
    scenario = question.present.loaded(question.table.loads, question.table.run_table)
    array = scenario.written["array"][0]
    count = sum(int(entry.get("count", 1)) for entry in array["drives"])
    model = str(array["drives"][0]["model"])
    today = Candidate(
        question.present.title, scenario.written, model, count,
        str(array.get("level", "jbod")), 0, Bill(), dict(Counter({model: count})), {},
        scenario=scenario,
    )  # fmt: skip
    for goal in question.goals:
        if goal.quantity == "usable" and today.usable_bytes < goal.bound:
            return 0.0, goal.text
    found = lasting(question, today, running, seed, breaches)
    if found.why_not:
        return 0.0, found.why_not
    if found.first is None:
        # Nothing grows: it serves as it does today.
        return None, ""
    return found.first.month, found.first.goal
