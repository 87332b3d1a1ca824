"""Which single change of the recommended system helps it most.

A change is another candidate that differs in one thing: more drives, another controller, an SSD
cache. Ever higher loads are simulated until one change alone still meets the goals of latency; of
loads without a rate it is the one with the highest rate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from raidlab.devices.faults import Fault
from raidlab.scenarios.capacity.candidates import Candidate
from raidlab.scenarios.capacity.headroom import Headroom, at_rates
from raidlab.scenarios.capacity.question import Question
from raidlab.scenarios.results.bottleneck import limits
from raidlab.scenarios.running.simulate import results_of
from raidlab.scenarios.studies.running import Running
from raidlab.scenarios.studies.size import meets

_MORE = (1.05, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0)
"""Times what the recommended one bears, at which changes are tried."""
_LEAST_FACTOR = 1.02
"""Of a factor that counts as more."""
_MOST_CHANGES = 12
"""Changes that are tried: those that cost least."""


@dataclass(frozen=True)
class Upgrade:
    """A change, and what it gives."""

    change: str
    """In words: `controller lsi2208 instead of lsi2108`."""
    candidate: str
    cost: float | None
    """More than the recommended one; None without prices."""
    factor: float
    """Of today's rates, up to which goals were met where it was tried; of loads without a rate,
    its rate over that of the recommended one."""
    limit: str
    """What bounds it there."""


def changes_of(best: Candidate, candidates: Sequence[Candidate]) -> list[tuple[str, Candidate]]:
    """The candidates that differ from the recommended one in one thing, in words."""
    found: list[tuple[str, Candidate]] = []
    more: dict[int, Candidate] = {}
    for each in candidates:
        differ = [key for key, value in each.choices.items() if value != best.choices[key]]
        certain = [one for one in each.failing if one.measured.certain]
        if len(differ) != 1 or each.scenario is None or each.why_not or certain:
            continue
        (key,) = differ
        if key != "drives":
            found.append((f"{key} {each.choices[key]} instead of {best.choices[key]}", each))
        elif each.count > best.count:
            more[each.count] = each
    # Of numbers of drives, the next one and the one nearest to twice as many.
    picked = {min(more), min(more, key=lambda count: abs(count - 2 * best.count))} if more else ()
    found += [(f"{count} drives instead of {best.count}", more[count]) for count in picked]
    found.sort(key=lambda each: (each[1].cost or 0.0, each[1].name))
    return found[:_MOST_CHANGES]


def upgrades(
    question: Question,
    best: Candidate,
    headroom: Headroom | None,
    candidates: Sequence[Candidate],
    running: Running,
    seed: int,
) -> list[Upgrade]:
    """What each change gives that gives more, the best first.

    None where the recommended one bears more than was searched.

    Args:
        question: The question.
        best: The recommended candidate.
        headroom: Its own; None for loads without a rate.
        candidates: All of the question.
        running: Workers and store.
        seed: Seed of the random numbers.
    """
    if headroom is not None and headroom.beyond_search:
        return []
    tries = changes_of(best, candidates)
    found: dict[str, Upgrade] = {}
    start = question.growth if headroom is None else headroom.factor
    for step in _MORE if headroom is not None else (1.0,):
        factor = start * step
        scenarios = [at_rates(question, each, factor)[1] for _, each in tries]
        refused: dict[int, list[Fault]] = {}
        results = results_of(
            scenarios, seed, workers=running.workers, store=running.store,
            progress=running.progress, refused=refused, heeds_past=False,
        )  # fmt: skip
        found_of = list(results)
        run = [at for at in range(len(tries)) if at not in refused]
        left = []
        for at, result in zip(run, found_of, strict=True):
            (change, each), scenario = tries[at], scenarios[at]
            rows = result.summary()
            if headroom is None:
                if not meets(question.goals, scenario, result):
                    continue
                served = sum(row["iops"] for row in rows) / (best.iops or 1.0)
                found[each.name] = _upgrade(change, each, best, served, limits(rows[0]))
                continue
            if meets(question.latency_goals, scenario, result):
                left.append((change, each))
                found[each.name] = _upgrade(change, each, best, factor, limits(rows[0]))
        tries = left
        if not tries:
            break
    better = [each for each in found.values() if each.factor > _LEAST_FACTOR]
    return sorted(better, key=lambda each: (-each.factor, each.cost or 0.0))


def _upgrade(change: str, each: Candidate, best: Candidate, factor: float, limit: str) -> Upgrade:
    cost = None if each.cost is None or best.cost is None else each.cost - best.cost
    return Upgrade(change, each.name, cost, factor, limit)
