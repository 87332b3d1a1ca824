"""How much more load a candidate bears than today's, and when growth ends it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from raidlab.devices.units import DURATION, IO_RATE
from raidlab.scenarios.capacity.candidates import Candidate, scaled
from raidlab.scenarios.capacity.question import Question
from raidlab.scenarios.planning.scenario import Scenario, build_scenario
from raidlab.scenarios.spec.trees import ScenarioTree
from raidlab.scenarios.studies.running import Running
from raidlab.scenarios.studies.size import Search, Tried, searched

DURATION_DEFAULT = "10 s"
"""Of a run that says nothing of it."""
_SHORTEST_NS = 500_000_000
"""Below which a run is not cut; what the question asks for may be shorter."""
_ENOUGH_IOS = 500_000
"""I/Os of a run that is long enough, however short it is."""
_STEP, _RATE_STEPS = 1.05, 48
"""Of the loads' rates, where the headroom is searched: up to ten times."""


@dataclass(frozen=True)
class Step:
    """A load that was tried."""

    factor: float
    """Of today's rates."""
    iops: float
    """That arrive."""
    p99_us: float | None
    """Of the slowest load."""
    served: bool
    """False where I/Os arrive faster than they are served: latencies grow for ever."""


@dataclass(frozen=True)
class Headroom:
    """How much more the recommended candidate bears than it has today."""

    factor: float
    """Of today's rates, up to which the goals are met."""
    iops: float
    """More I/Os a second than today."""
    limit: str
    """What bounds the next step."""
    reason: str
    """Why the next step is one too many: not served, no settled run, or goals that are missed."""
    beyond_search: bool
    """True if it bears more than was searched."""
    curve: tuple[Step, ...] = ()
    """All loads that were tried, the least first."""


def headroom_of(
    question: Question, candidate: Candidate, running: Running, seed: int
) -> Headroom | None:
    """How far rates can grow until a latency goal is missed; None for loads without a rate."""
    if question.closed:
        return None
    values: dict[Any, tuple[ScenarioTree, Scenario]] = {}
    for step in range(_RATE_STEPS):
        factor = question.growth * _STEP**step
        values[factor] = at_rates(question, candidate, factor)
    goals = question.latency_goals
    # A step is 5 %: what one past of a drive does to its rate is less.
    search = Search(values, goals, question.path, running, seed, heeds_past=False)
    order = list(range(_RATE_STEPS))[::-1]
    found, beyond = searched(search, order)
    loads = () if candidate.scenario is None else candidate.scenario.workloads
    today = sum(load.arrives_per_s for load in loads) / question.growth
    if found is None:
        found, beyond = 0, None
    factor = search.values[found]
    limit = "" if beyond is None else search.tried[beyond].limit
    reason = "" if beyond is None else _reason(search.tried[beyond])
    tried = sorted(search.tried.values(), key=lambda each: float(each.value))
    curve = tuple(
        Step(each.value, each.value * today, each.p99_us, not each.falls_behind) for each in tried
    )
    return Headroom(factor, (factor - 1) * today, limit, reason, found == _RATE_STEPS - 1, curve)


def _reason(tried: Tried) -> str:
    if tried.falls_behind:
        return "more arrives than is served"
    missed = [each for each in tried.judged if not each.holds]
    said = [
        f"{each.goal.text} is missed, with {each.goal.shown(each.measured.value)}"
        for each in missed
    ]
    return ", ".join(said) or tried.unsettled


def at_rates(
    question: Question, candidate: Candidate, factor: float
) -> tuple[ScenarioTree, Scenario]:
    """A candidate with today's rates times a factor, its tree and scenario."""
    tree = scaled(question, candidate.tree, factor)
    tree = _as_many_ios(tree, factor / question.growth)
    return tree, build_scenario(tree, question.path)


def _as_many_ios(tree: ScenarioTree, factor: float) -> ScenarioTree:
    """A tree whose run is so much shorter: at that much higher rates it has as many I/Os."""
    run = tree["run"]
    rates = [float(IO_RATE.parse(str(load.get("rate", "0 IO/s")))) for load in tree["workload"]]
    if all(rates):
        run.setdefault("duration", DURATION_DEFAULT)
    shortest = min(_SHORTEST_NS, 1e9 * _ENOUGH_IOS / max(sum(rates), 1.0))
    for key in ("warm_up", "duration"):
        if run.get(key, "auto") != "auto":
            own = float(DURATION.parse(run[key]))
            run[key] = f"{round(max(min(shortest, own), own / factor))} ns"
    return tree


def ended(
    question: Question, candidate: Candidate | None, headroom: Headroom | None
) -> tuple[float | None, str]:
    """In how many months growth ends a candidate, and by what."""
    ends: list[tuple[float, str]] = []
    growth = question.table.growth
    if candidate is not None and headroom is not None and growth.rate:
        months = 12 * math.log(headroom.factor) / math.log1p(growth.rate)
        ends.append((months, headroom.limit or "the load's rate"))
    if candidate is not None and growth.capacity:
        for goal in question.goals:
            if goal.quantity == "usable" and goal.bound:
                room = candidate.usable_bytes / goal.bound
                ends.append((12 * math.log(room) / math.log1p(growth.capacity), "capacity"))
    return min(ends, default=(None, ""))
