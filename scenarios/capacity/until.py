"""When growth ends each candidate: the month in which it first misses a goal, with an interval.

Loads grow by a share in a year, each by its own if it says one. The month is searched by simulation
of the load as it will be then, up to ten years, whatever the question's horizon. At a growth `g` a
year a factor `f` of today's rates is reached after

    12 ln(f) / ln(1 + g) months.

The interval takes the last month in which all goals surely hold and the first in which one is
surely missed (95 % each), rates that are off by the error of the models, and the ends of the growth
if the question gives them. What must be usable grows too; its month needs no simulation.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.trees import Document
from raidlab.scenarios import _engine
from raidlab.scenarios.capacity.bills import Bill
from raidlab.scenarios.capacity.candidates import Candidate, expand, judge_bill, refusal
from raidlab.scenarios.capacity.headroom import at_rates
from raidlab.scenarios.capacity.question import Question
from raidlab.scenarios.planning.scenario import Scenario
from raidlab.scenarios.results.goals import CLEAR, OF_A_RUN, Goal, Source
from raidlab.scenarios.running.simulate import results_of
from raidlab.scenarios.spec.trees import ScenarioTree
from raidlab.scenarios.studies.running import Running
from raidlab.scenarios.studies.size import Search, Tried, searched

MONTHS = 120
"""That are searched."""
MODEL_ERROR = 0.1
"""Share by which the rate that a system bears may be off (docs/evidence/validation.md)."""
_COARSE_MONTHS = 3
"""To which the month is searched of goals that are missed later than the first."""
_MOST_CANDIDATES = 40
"""Candidates of a question: each of them takes about a dozen simulations."""


@dataclass(frozen=True)
class AtMonth:
    """A month that was simulated."""

    month: int
    holds: bool
    p99_us: float | None
    """Of the slowest load; None where more arrives than is served."""


@dataclass(frozen=True)
class Miss:
    """The first month in which a candidate misses a goal."""

    goal: str
    month: float | None
    """None for none within what is searched."""
    low: float
    high: float | None
    """95 % interval; None for an end beyond what is searched."""
    limit: str = ""
    """What bounds the candidate then."""


@dataclass(frozen=True)
class Lasting:
    """A candidate, and when it misses what."""

    name: str
    cost: float | None
    misses: tuple[Miss, ...]
    """The first one first; empty where it cannot be built or simulated."""
    curve: tuple[AtMonth, ...]
    why_not: str = ""

    @property
    def first(self) -> Miss | None:
        """What ends it."""
        return self.misses[0] if self.misses else None

    @property
    def months(self) -> float:
        """Until it misses a goal: infinite beyond what is searched, -1 where it cannot be."""
        if self.first is None:
            return -1.0
        return math.inf if self.first.month is None else self.first.month


@dataclass(frozen=True)
class Until:
    """When growth ends each candidate of a question."""

    question: Question
    seed: int
    candidates: tuple[Lasting, ...]
    """The one that lasts longest first."""
    warnings: tuple[str, ...] = ()
    breaches: tuple[str, ...] = ()

    def to_dict(self) -> Document:
        """The document of `raidlab until --json`."""
        return {
            "title": self.question.title,
            "seed": self.seed,
            "version": _engine.version(),
            "goals": [goal.text for goal in self.question.goals],
            "months_searched": MONTHS,
            "candidates": [asdict(each) for each in self.candidates],
            "warnings": list(self.warnings),
            "breaches": list(self.breaches),
        }


def until(question: Question, *, seed: int = 1, running: Running | None = None) -> Until:
    """When each candidate of a question first misses a goal.

    Args:
        question: Load, growth, goals, candidates.
        seed: Seed of the random numbers.
        running: Workers, progress and store.

    Raises:
        SpecError: Nothing grows, there are too many candidates, or none can be built.
    """
    grows = [growth for growth in question.growths if growth]
    if not grows and not question.table.growth.capacity:
        path = str(question.path or "")
        raise SpecError([Fault("growth", None, 'a `rate` or a `capacity`: "20 %"', (), path)])
    candidates = expand(at_month(question, 0))
    if len(candidates) > _MOST_CANDIDATES:
        allowed = f"at most {_MOST_CANDIDATES} candidates, which `raidlab plan` narrows down"
        where = str(question.path or "")
        raise SpecError([Fault("candidates", f"{len(candidates)} candidates", allowed, (), where)])
    own = running or Running()
    found, breaches = [], set[str]()
    bills = bills_at_horizon(question, own, seed)
    for number, candidate in enumerate(candidates):
        # The month says what is outgrown: what is paid until then is the horizon's, as of `plan`.
        candidate.bill = bills.get(candidate.name, candidate.bill)
        judge_bill(question, candidate)
        found.append(lasting(question, candidate, replace(own, progress=None), seed, breaches))
        if own.progress is not None:
            own.progress(number + 1, len(candidates))
    found.sort(key=lambda each: (-each.months, each.cost or 0.0))
    left = [goal.text for goal in question.goals if goal.source in (Source.REBUILD, Source.RISK)]
    warnings = (f"not looked at over time: {', '.join(left)}",) if left else ()
    return Until(question, seed, tuple(found), warnings, tuple(sorted(breaches)))


def bills_at_horizon(question: Question, running: Running, seed: int) -> dict[str, Bill]:
    """What candidates cost over the horizon, their drives at the load of its end, as `plan` has it.

    Of one that cannot serve that load its drives are idle.
    """
    candidates = expand(question)
    drawing = [
        each for each in candidates
        if each.scenario is not None and each.bill.of_watt and each.bill.drives
    ]  # fmt: skip
    scenarios = [each.scenario for each in drawing if each.scenario is not None]
    refused: dict[int, list[Fault]] = {}
    results = list(results_of(
        scenarios, seed, workers=running.workers, store=running.store, refused=refused,
        heeds_past=False,
    ))  # fmt: skip
    run = [each for at, each in enumerate(drawing) if at not in refused]
    for each, result in zip(run, results, strict=True):
        each.bill.runs(result.summary()[0])
    return {each.name: each.bill for each in candidates}


def at_month(question: Question, month: float) -> Question:
    """The question whose horizon is this many months away."""
    return replace(question, table=question.table.model_copy(update={"horizon": month / 12}))


def lasting(
    question: Question, candidate: Candidate, running: Running, seed: int, breaches: set[str]
) -> Lasting:
    """When a candidate misses which goal; adds to `breaches` what its runs find wrong."""
    if candidate.scenario is None:
        return Lasting(candidate.name, candidate.cost, (), (), candidate.why_not)
    exact = [one for one in candidate.failing if one.measured.certain]
    if exact:
        said = "; ".join(f"{one.goal.text} is missed today" for one in exact)
        return Lasting(candidate.name, candidate.cost, (), (), said)
    misses = list(_capacity(question, candidate))
    curve: tuple[AtMonth, ...] = ()
    if any(question.growths) and not question.closed:
        try:
            search, own = _searched(question, candidate, running, seed)
        except SpecError as error:
            return Lasting(candidate.name, candidate.cost, (), (), refusal(error.faults))
        breaches |= search.breaches
        misses += own
        tried = sorted(search.tried.values(), key=lambda each: float(each.value))
        curve = tuple(
            AtMonth(each.value, each.holds, None if each.falls_behind else each.p99_us)
            for each in tried
        )
    misses.sort(key=lambda each: math.inf if each.month is None else each.month)
    return Lasting(candidate.name, candidate.cost, tuple(misses), curve)


def _capacity(question: Question, candidate: Candidate) -> list[Miss]:
    """When what must be usable is more than there is."""
    growth = question.table.growth
    found = []
    for goal in question.goals:
        if goal.quantity != "usable" or not goal.bound or not growth.capacity:
            continue
        room = candidate.usable_bytes / goal.bound
        month, low, high = (
            months_of(room, rate)
            for rate in (growth.capacity, growth.ends("capacity")[1], growth.ends("capacity")[0])
        )
        inside = month is not None and month <= MONTHS
        beyond = high is None or high > MONTHS
        found.append(Miss(
            goal.text, month if inside else None, min(low or 0.0, MONTHS),
            None if beyond else high, "capacity",
        ))  # fmt: skip
    return found


def months_of(factor: float, growth: float) -> float | None:
    """Months until a yearly growth has multiplied by a factor; None if it never does."""
    if factor <= 1:
        return 0.0
    return 12 * math.log(factor) / math.log1p(growth) if growth > 0 else None


def _searched(
    question: Question, candidate: Candidate, running: Running, seed: int
) -> tuple[Search, list[Miss]]:
    """The months that were simulated, and what is missed first of goals about the load."""
    goals = tuple(goal for goal in question.goals if goal.source in OF_A_RUN)
    values: dict[Any, tuple[ScenarioTree, Scenario]] = {}
    for month in range(MONTHS + 1):
        then = at_month(question, month)
        values[month] = at_rates(then, candidate, then.growth)
    search = Search(values, goals, question.path, running, seed)
    found, beyond = searched(search, list(range(MONTHS + 1))[::-1])
    tried = search.tried.values()
    if found is None:
        now = search.tried[0]
        first = Miss(_missed(now), 0.0, 0.0, 0.0, now.limit)
        return search, [first, *_later(question, search, goals, first)]
    surely = [each.value for each in tried if each.holds and each.confidence >= CLEAR]
    low = max((month for month in surely if month <= found), default=0)
    if beyond is None:
        low_end, _ = _ends(question, low, None)
        return search, [Miss("every goal of the load", None, low_end, None)]
    gone = [each.value for each in tried if not each.holds and each.confidence >= CLEAR]
    high = min((month for month in gone if month >= beyond), default=None)
    low_end, high_end = _ends(question, low, high)
    over = search.tried[beyond]
    first = Miss(_missed(over), float(beyond), low_end, high_end, over.limit)
    return search, [first, *_later(question, search, goals, first)]


def _later(
    question: Question, search: Search, goals: Sequence[Goal], first: Miss
) -> Iterator[Miss]:
    """When the other goals of the load are missed, to some months."""
    for at, goal in enumerate(goals):
        if goal.text == first.goal:
            continue

        def holds(month: int, at: int = at) -> bool:
            tried = search.tried[month]
            return tried.judged[at].holds and not tried.falls_behind

        while True:
            missed = min((each for each in search.tried if not holds(each)), default=None)
            last = MONTHS if missed is None else missed
            held = max((each for each in search.tried if each < last and holds(each)), default=0)
            if missed is None or missed - held <= _COARSE_MONTHS or not missed:
                break
            search.look([(missed + held) // 2])
        low, high = _ends(question, held, missed)
        then = "" if missed is None else search.tried[missed].limit
        yield Miss(goal.text, None if missed is None else float(missed), low, high, then)


def _ends(question: Question, low: float, high: float | None) -> tuple[float, float | None]:
    """Ends of the interval with the error of the models and that of the growth.

    The growth is that of the loads together: the one that multiplies their sum by as much.
    """
    rate = question.mean_growth
    slow, fast = question.growth_ends
    least = (1 + rate) ** (low / 12) * (1 - MODEL_ERROR)
    soonest = months_of(least, fast) or 0.0
    if high is None:
        return min(soonest, low), None
    most = (1 + rate) ** (high / 12) * (1 + MODEL_ERROR)
    latest = months_of(most, slow)
    return min(soonest, low), None if latest is None or latest > MONTHS else latest


def _missed(tried: Tried) -> str:
    """The first goal that is missed in a month."""
    if tried.falls_behind:
        return "the load's rate"
    for each in tried.judged:
        if not each.holds:
            return each.goal.text
    return tried.unsettled or "a settled run"


def curves(found: Sequence[Lasting]) -> list[Lasting]:
    """The candidates of which a curve can be drawn."""
    return [each for each in found if len([one for one in each.curve if one.p99_us]) > 1]
