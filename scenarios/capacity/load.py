"""What a plan was asked, in words: the load, its growth, and what the recommended system costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from raidlab.scenarios.capacity.candidates import Candidate
from raidlab.scenarios.capacity.question import Question, time_of
from raidlab.scenarios.results.look import figure


def load_of(question: Question) -> list[str]:
    """A line for each load, as the question states it, and one for growth."""
    table = question.table
    lines = [_line(at, load) for at, load in enumerate(table.load)]
    for what, rate in (("Rates", table.growth.rate), ("Capacity", table.growth.capacity)):
        if rate:
            lines.append(f"{what} grow{'s' * (what == 'Capacity')} by {100 * rate:g} % a year.")
    return lines


def _line(at: int, load: Mapping[str, Any]) -> str:
    stated = [
        f"{key} {_words(load[key])}"
        for key in (
            "profile", "fio", "trace", "rw", "read_share", "block_size", "rate", "outstanding",
            "threads", "area", "hot_spot", "arrivals",
        )
        if key in load
    ]  # fmt: skip
    return f"{load.get('name', f'load-{at}')}: {', '.join(stated)}."


def _words(value: Any) -> str:
    if isinstance(value, Mapping):
        return "(" + ", ".join(f"{key} {each}" for key, each in value.items()) + ")"
    return str(value)


def bill_of(question: Question, best: Candidate) -> list[str]:
    """Price of each device, the sum, and what a TB, an IO/s and a month cost."""
    if not question.prices or best.cost is None:
        return ["No prices are given."]
    return list(_bill(question, best, best.cost))


def _bill(question: Question, best: Candidate, cost: float) -> Iterator[str]:
    table, unit = question.table, question.table.currency
    if table.base.cost:
        yield f"Base: {question.amount(table.base.cost)}."
    for name, count in best.devices.items():
        price = question.prices.get(name)
        if price is None:
            yield f"{count} x {name}: no price is given, counted as nothing."
        else:
            each = question.amount(price.cost)
            yield f"{count} x {name}: {each} each, {question.amount(count * price.cost)}."
    if best.bill.energy:
        yield f"Energy over {time_of(table.horizon)}: {question.amount(best.bill.energy)}."
    yield f"Together: {question.amount(cost)} over {time_of(table.horizon)}."
    parts = [f"{cost / (12 * table.horizon):,.4g} {unit} a month".replace("  ", " ")]
    if best.usable_bytes:
        parts.append(f"{cost / (best.usable_bytes / 1e12):,.4g} {unit} a usable TB")
    loads = () if best.scenario is None else best.scenario.workloads
    rate = sum(load.arrives_per_s for load in loads) or best.iops
    if rate:
        parts.append(f"{cost / rate:,.3g} {unit} for each of {figure(rate, 'IO/s')}")
    yield f"That is {', '.join(parts)}."
