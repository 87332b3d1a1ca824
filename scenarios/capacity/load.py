"""What a plan was asked, in words: the load, its growth, and what the recommended system costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal

from raidlab.scenarios.capacity.candidates import Candidate, volumes_month
from raidlab.scenarios.capacity.prices import PriceTable
from raidlab.scenarios.capacity.question import Question, time_of
from raidlab.scenarios.results.number_text import figure
from raidlab.scenarios.spec.loads import RW
from raidlab.scenarios.spec.trees import WorkloadTree


def asked_of(question: Question) -> list[str]:
    """The question whole: loads, growth, goals, what can be bought, and prices."""
    table = question.table
    lines = [*load_of(question), f"Goals: {', '.join(goal.text for goal in question.goals)}."]
    for each in table.candidates:
        counts = f"{min(each.counts)} to {max(each.counts)}"
        if len(each.counts) == 1:
            counts = str(each.counts[0])
        of = ", ".join((*each.levels, *(name for name in each.controllers if name != "none")))
        lines.append(f"Candidates: {counts} x {' or '.join(each.drives)}; {of}.")
    if question.prices:
        stated = [_priced(question, name, price) for name, price in question.prices.items()]
        lines.append(f"Prices: {', '.join(stated)}.")
    return lines


def _priced(question: Question, name: str, price: PriceTable) -> str:
    parts = [question.amount(price.cost)] if price.cost or not price.per_month else []
    if price.per_month:
        parts.append(f"{question.amount(price.per_month)} a month")
    owned = f" ({price.owned} owned)" if price.owned else ""
    return f"{name} {' and '.join(parts)}{owned}"


def load_of(question: Question) -> list[str]:
    """A line for each load, as the question states it, and one for growth."""
    table = question.table
    lines = [_line(at, load) for at, load in enumerate(table.loads)]
    for what, rate in (("Rates", table.growth.rate), ("Capacity", table.growth.capacity)):
        if rate:
            lines.append(f"{what} grow{'s' * (what == 'Capacity')} by {100 * rate:g} % a year.")
    return lines


def _line(at: int, load: WorkloadTree) -> str:
    named = f"{load.get('name', f'load-{at}')}: "
    stated = [*_access(load)]
    for key, word in _KEYS.items():
        if key in load:
            stated.append(f"{word} {_words(load[key])}".strip())
    return f"{named}{', '.join(stated)}."


_Key = Literal[
    "profile", "fio", "trace", "block_size", "rate", "outstanding", "threads", "area", "hot_spot",
    "arrivals",
]  # fmt: skip
_KEYS: Final[Mapping[_Key, str]] = {
    "profile": "profile", "fio": "job file", "trace": "trace", "block_size": "", "rate": "",
    "outstanding": "queue depth", "threads": "threads", "area": "in", "hot_spot": "hot spot",
    "arrivals": "arrivals",
}  # fmt: skip
"""Keys of a load in the order in which they are said, and the word before each."""


_NUMBERS_SAID: Final = 6
"""Numbers of a list that are said one by one; of more it is said how many there are."""


def _access(load: WorkloadTree) -> Iterator[str]:
    """Order and share of reads, as storage people say it: `random, 67 % reads`."""
    if "rw" not in load:
        return
    order, known = RW[load["rw"]]
    yield order
    share = load.get("read_share", 0.5) if known is None else known
    if isinstance(share, int | float):
        yield {1.0: "reads", 0.0: "writes"}.get(share, f"{100 * share:.3g} % reads")
    else:
        yield f"{share} reads"


def _words(value: Any) -> str:
    if isinstance(value, list) and len(value) > _NUMBERS_SAID:
        return f"{len(value)} values"
    if isinstance(value, Mapping):
        return "(" + ", ".join(f"{key} {_words(each)}" for key, each in value.items()) + ")"
    return str(value)


def sum_of(question: Question, best: Candidate) -> list[str]:
    """The sum over the horizon, and what each TB, IO/s and month of it costs."""
    return bill_of(question, best)[-2:]


def bill_of(question: Question, best: Candidate) -> list[str]:
    """Price of each device, the sum, and what a TB, an IO/s and a month cost."""
    if not question.prices or best.cost is None:
        return ["No prices are given."]
    return list(_bill(question, best, best.cost))


def unit_costs(question: Question, best: Candidate) -> dict[str, float]:
    """Cost over the horizon for each month, usable TB, IO/s that is asked, and what shares it.

    Those of what shares it are for a month.
    """
    cost = best.cost
    if cost is None:
        return {}
    months = 12 * question.table.horizon
    found = {"month": cost / months}
    if best.usable_bytes:
        found["usable TB"] = cost / (best.usable_bytes / 1e12)
        found["usable TB a month"] = found["usable TB"] / months
    rate = rate_of(best)
    if rate:
        found["IO/s"] = cost / rate
    for name, count in question.table.shared_by.items():
        found[f"{name} a month"] = cost / months / count
    return found


def rate_of(best: Candidate) -> float | None:
    """I/Os a second that arrive at the end of the horizon, or that a closed load makes."""
    loads = () if best.scenario is None else best.scenario.workloads
    return sum(load.arrives_per_s for load in loads) or best.iops


def _bill(question: Question, best: Candidate, cost: float) -> Iterator[str]:
    table, unit = question.table, question.table.currency
    if table.base.capital(table.horizon):
        yield f"Base: {question.amount(table.base.capital(table.horizon))}."
    for name, count in best.devices.items():
        price = question.prices.get(name)
        if price is None:
            is_host = question.device(name).spec.kind == "host"
            if not (is_host and table.base.capital(table.horizon)):
                yield f"{count} x {name}: no price is given, counted as nothing."
            continue
        parts = [f"{question.amount(price.cost)} each"] if price.cost else []
        if price.per_month:
            parts.append(f"{price.per_month:,.4g} {unit} each a month".replace("  ", " "))
        if price.owned:
            parts.append(f"{min(count, price.owned)} owned")
        whole = price.capital_of(count, table.horizon)
        if name == best.drive:
            bought = best.tree["array"][0]["drives"][0]
            month = volumes_month(question, name, count, bought)
            whole += 12 * table.horizon * month
            each = f"{month / count:,.4g} {unit} each a month for what is provisioned"
            parts += [each.replace("  ", " ")] if month else []
        together = question.amount(whole)
        yield f"{count} x {name}: {' and '.join(parts) or 'free'}, {together}."
    if best.bill.energy:
        names = ", ".join(best.bill.assumed)
        usual = f", with usual watts of {names}" if names else ""
        rest = f", without {', '.join(best.bill.unknown)}" if best.bill.unknown else ""
        amount = question.amount(best.bill.energy)
        yield f"Energy over {time_of(table.horizon)}: {amount}{usual}{rest}."
    yield f"Together: {question.amount(cost)} over {time_of(table.horizon)}."
    costs = unit_costs(question, best)
    parts = []
    for name, value in costs.items():
        if name == "month":
            parts.append(f"{value:,.4g} {unit} a month".replace("  ", " "))
        elif name == "IO/s":
            parts.append(f"{value:,.3g} {unit} for each of {figure(rate_of(best), 'IO/s')}")
        elif name != "usable TB a month":
            parts.append(f"{value:,.4g} {unit} a {name}")
    yield f"That is {', '.join(parts)}."
