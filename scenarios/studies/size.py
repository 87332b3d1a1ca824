"""The least or the most of something with which a system meets its goals.

The values are searched in two steps: a few all over the range, then bisection between the last one
that fails and the first one from which all that were tried hold. Where the end of the range fails,
the last one that holds takes its place. What lies on the wrong side of the answer is reported: then
the goals are not monotone in what varies.

Results are estimates. A value whose figure is too near to its bound is simulated again with more
replications, so that its side is clear (95 %). The confidence of the answer is the probability that
it holds and that its neighbour does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from raidlab.devices.faults import About, Fault, SpecError, few_of_each
from raidlab.devices.trees import Document
from raidlab.scenarios import _engine
from raidlab.scenarios.planning.scenario import Scenario, build_scenario
from raidlab.scenarios.results.bottleneck import limits
from raidlab.scenarios.results.diagnostics.statements import why_not
from raidlab.scenarios.results.endurance import endurance
from raidlab.scenarios.results.goals import (
    CLEAR,
    OF_A_RUN,
    UNWORN_YEARS,
    Goal,
    Judged,
    Measured,
    Source,
    check_workloads,
    judged,
    of_load,
)
from raidlab.scenarios.results.result import Result
from raidlab.scenarios.results.row import Row
from raidlab.scenarios.running.simulate import results_of
from raidlab.scenarios.spec.trees import ScenarioTree
from raidlab.scenarios.studies import rebuild
from raidlab.scenarios.studies.present import Present
from raidlab.scenarios.studies.running import Running
from raidlab.scenarios.studies.unloaded import slowdown
from raidlab.scenarios.studies.vary import Axis, Span, with_values

_COARSE = 5
"""Values that are tried first."""
_RANGE_VALUES = 128
"""Values of a range without a step."""
_REPLICATIONS = (1, 4, 16)
"""Of a value, until its side is clear."""
_LOADS = ("rate", "outstanding", "area", "hot_spot", "block_size", "threads", "used")
"""Last words of paths of which one asks for the most."""
_ALLOWED = ("the load's latencies", "its rates", "usable", "rebuild", "rebuild p99",
    "rebuild p99.9", "life", "utilization", "slowdown",
)  # fmt: skip


class Find(StrEnum):
    """Which end of the values that meet the goals."""

    LEAST = "least"
    MOST = "most"


@dataclass(frozen=True)
class Tried:
    """A value, and what was found there."""

    value: Any
    judged: tuple[Judged, ...]
    replications: int
    falls_behind: bool = False
    """An open load is not served as fast as it comes, so its latencies grow for ever."""
    unsettled: str = ""
    """Why the run carries no statement about latencies and rates; empty if it does."""
    limit: str = ""
    """What bounds the rate."""
    p99_us: float | None = None
    """Of the slowest load."""

    @property
    def holds(self) -> bool:
        """Whether it meets every goal."""
        settled = not self.falls_behind and not self.unsettled
        return settled and all(each.holds for each in self.judged)

    @property
    def confidence(self) -> float:
        """Probability that `holds` is right: of all goals, or of the surest one that fails."""
        if self.falls_behind:
            return 1.0
        if self.unsettled and all(each.holds for each in self.judged):
            return 1.0
        if not self.holds:
            return max(each.confidence for each in self.judged if not each.holds)
        product = 1.0
        for each in self.judged:
            product *= each.confidence
        return product

    def to_dict(self) -> Document:
        """Plain data."""
        return {
            "value": self.value,
            "holds": self.holds,
            "confidence": self.confidence,
            "falls_behind": self.falls_behind,
            "unsettled": self.unsettled,
            "replications": self.replications,
            "limit": self.limit,
            "goals": [each.to_dict() for each in self.judged],
        }


@dataclass(frozen=True)
class Sized:
    """The answer, and every value that was tried."""

    title: str
    seed: int
    path: str
    """Of what varies."""
    find: Find
    goals: tuple[Goal, ...]
    answer: Any
    """A value as it stands in the scenario; None if none meets the goals."""
    neighbour: Any
    """The next value beyond the answer, which does not meet them; None if there is none."""
    confidence: float
    tried: tuple[Tried, ...]
    """By value."""
    not_monotone: tuple[Any, ...]
    """Values that lie on the wrong side of the answer."""
    unbuilt: tuple[tuple[Any, tuple[Fault, ...]], ...] = ()
    """Values that the scenario cannot be built with, and why."""
    present: Present | None = None
    """The scenario as it stands beside what was monitored of it, if its load was monitored."""
    warnings: tuple[str, ...] = ()
    breaches: tuple[str, ...] = ()

    @property
    def unit(self) -> str:
        """Of the answer: what stands behind its number, or what is counted."""
        if isinstance(self.answer, str):
            return self.answer.partition(" ")[2]
        return self.path.split(".")[-3] if self.path.endswith(".count") else ""

    def at(self, value: Any) -> Tried:
        """What was found at a value that was tried."""
        return next(each for each in self.tried if each.value == value)

    def to_dict(self) -> Document:
        """The document of `raidlab size --json`."""
        number = self.answer
        if isinstance(number, str):
            first = number.partition(" ")[0]
            number = float(first) if first.replace(".", "", 1).isdigit() else number
        return {
            "title": self.title,
            "seed": self.seed,
            "version": _engine.version(),
            "vary": self.path,
            "find": str(self.find),
            "goals": [goal.text for goal in self.goals],
            "answer": number,
            "unit": self.unit,
            "neighbour": self.neighbour,
            "confidence": self.confidence,
            "monotone": not self.not_monotone,
            "not_monotone": list(self.not_monotone),
            "tried": [each.to_dict() for each in self.tried],
            "present": None if self.present is None else self.present.to_dict(),
            "unbuilt": [
                {"value": value, "why_not": "; ".join(map(str, why))} for value, why in self.unbuilt
            ],
            "warnings": list(self.warnings),
            "breaches": list(self.breaches),
        }


def size(
    tree: ScenarioTree,
    path: Path | None,
    axis: Axis,
    goals: Sequence[Goal],
    *,
    find: Find | None = None,
    seed: int | None = None,
    running: Running | None = None,
) -> Sized:
    """Finds the least or the most of a field with which a scenario meets its goals.

    Args:
        tree: What the scenario's file holds.
        path: The file: names of device files are relative to it.
        axis: The field, and its values in the order in which they grow.
        goals: What is to be met.
        find: Which end; by default the most of a load, the least of everything else.
        seed: Replaces the scenario's.
        running: Workers, progress and store.

    Raises:
        SpecError: No value can be built, or a goal cannot be measured.
        KeyboardInterrupt: Ctrl-C.
    """
    find = find or (Find.MOST if axis.path.rpartition(".")[2] in _LOADS else Find.LEAST)
    faults = [
        Fault("--goal", goal.text, f"about {', '.join(_ALLOWED)}")
        for goal in goals
        if goal.source is Source.RISK
        or goal.quantity in ("cost", "power", "rack units", "survives")
    ]
    if faults:
        raise SpecError(faults)
    candidates, unbuilt = _candidates(tree, path, axis)
    search = Search(candidates, tuple(goals), path, running or Running(), seed)
    _, built = search.candidates[search.values[0]]
    check_workloads(goals, [load.name for load in built.workloads])
    # From the side that fails to the side that holds.
    order = list(range(len(search.values)))
    if find is Find.MOST:
        order.reverse()
    answer, beyond = searched(search, order)
    first = search.candidates[search.values[0]][1]
    tried = tuple(search.tried[at] for at in sorted(search.tried))
    confidence = 0.0
    if answer is not None:
        confidence = search.tried[answer].confidence
        confidence *= 1.0 if beyond is None else search.tried[beyond].confidence
    elif tried:
        confidence = min(each.confidence for each in tried)
    place = 0 if answer is None else order.index(answer)
    odd = [
        at
        for step, at in enumerate(order)
        if answer is not None and at in search.tried
        if search.tried[at].holds == (step < place)
    ]
    return Sized(
        title=first.title,
        seed=first.seed if seed is None else seed,
        path=axis.path,
        find=find,
        goals=tuple(goals),
        answer=None if answer is None else search.values[answer],
        neighbour=None if beyond is None else search.values[beyond],
        confidence=confidence,
        tried=tried,
        not_monotone=tuple(search.values[at] for at in sorted(odd)),
        unbuilt=tuple(unbuilt.items()),
        warnings=() if answer is None else search.warnings[answer],
        breaches=tuple(sorted(search.breaches)),
    )


def _candidates(
    tree: ScenarioTree, path: Path | None, axis: Axis
) -> tuple[dict[Any, tuple[ScenarioTree, Scenario]], dict[Any, tuple[Fault, ...]]]:
    """The values that a scenario can be built with, and why it cannot be with others."""
    found: dict[Any, tuple[ScenarioTree, Scenario]] = {}
    unbuilt: dict[Any, tuple[Fault, ...]] = {}
    faults: list[Fault] = []
    for value in axis.values or _spread(axis.span):
        try:
            changed = with_values(tree, axis.settings(value))
            scenario = build_scenario(changed, path)
        except SpecError as error:
            faults += error.faults
            unbuilt[value] = tuple(replace(each, file="") for each in error.faults)
            continue
        if scenario.points != 1 or not scenario.workloads:
            allowed = "one number: a size is found for one load"
            fault = Fault("workload.0.outstanding", None, allowed, (), scenario.path)
            raise SpecError([fault])
        found[value] = changed, scenario
    if not found:
        raise SpecError(few_of_each(faults))
    return found, unbuilt


def _spread(span: Span | None) -> tuple[Any, ...]:
    """Values of a range without a step: equal factors over a decade and more, else equal steps."""
    if span is None:
        return ()
    if span.low > 0 and span.high > 10 * span.low:
        factor = (span.high / span.low) ** (1 / _RANGE_VALUES)
        numbers = [span.low * factor**at for at in range(_RANGE_VALUES + 1)]
    else:
        numbers = [
            span.low + (span.high - span.low) * at / _RANGE_VALUES
            for at in range(_RANGE_VALUES + 1)
        ]
    texts = [f"{number:.4g}" for number in numbers]
    each = [f"{float(text):.10g} {span.unit}" if span.unit else float(text) for text in texts]
    return tuple(dict.fromkeys(each))


class Search:
    """Values that were tried so far."""

    def __init__(
        self,
        candidates: dict[Any, tuple[ScenarioTree, Scenario]],
        goals: tuple[Goal, ...],
        path: Path | None,
        running: Running,
        seed: int | None,
        *,
        heeds_past: bool = True,
    ) -> None:
        """Nothing is tried yet; without `heeds_past` intervals leave out the drives' past."""
        self.candidates = candidates
        self.values = list(candidates)
        self.tried: dict[int, Tried] = {}
        self.warnings: dict[int, tuple[str, ...]] = {}
        self.breaches: set[str] = set()
        self._goals = goals
        self._path = path
        self._running = running
        self._seed = seed
        self._heeds_past = heeds_past
        self._rebuilds: dict[int, dict[str, Measured]] = {}
        self._done = 0

    def look(self, places: Sequence[int], replications: int = _REPLICATIONS[0]) -> None:
        """Simulates values with this many replications; what was found before is replaced."""
        new = [
            at
            for at in dict.fromkeys(places)
            if at not in self.tried or self.tried[at].replications < replications
        ]
        if not new:
            return
        scenarios = [
            replace(self.candidates[self.values[at]][1], replications=replications) for at in new
        ]
        seed = scenarios[0].seed if self._seed is None else self._seed
        running = self._running
        refused: dict[int, list[Fault]] = {}
        found = list(
            results_of(
                scenarios,
                seed,
                workers=running.workers,
                store=running.store,
                refused=refused,
                heeds_past=self._heeds_past,
            )
        )
        run = [place for place in range(len(new)) if place not in refused]
        for place, result in zip(run, found, strict=True):
            at = new[place]
            self.tried[at] = self._judged(at, scenarios[place], result)
            self.warnings[at] = result.warnings
            self.breaches |= set(result.breaches)
        for place, faults in refused.items():
            self.tried[new[place]] = self._behind(new[place], faults)
        for _ in new:
            self._done += 1
            if running.progress is not None:
                # Bisection of what is left takes about this many more.
                left = len(self.values).bit_length() + 2
                running.progress(self._done, max(self._done, _COARSE + left))

    def clear(self, places: Sequence[int]) -> None:
        """Simulates values with more replications until their side is clear."""
        for replications in _REPLICATIONS[1:]:
            unclear = [at for at in places if self.tried[at].confidence < CLEAR]
            self.look(unclear, replications)

    def _behind(self, at: int, faults: list[Fault]) -> Tried:
        """What is known of a value whose load is so far beyond it that memory did not last."""
        if not is_backlog(faults):
            raise SpecError(faults)
        unknown = tuple(judged(goal, Measured(None)) for goal in self._goals)
        return Tried(self.values[at], unknown, _REPLICATIONS[-1], falls_behind=True)

    def _judged(self, at: int, scenario: Scenario, result: Result) -> Tried:
        rows = result.summary()
        each = tuple(judged(goal, self._measured(goal, at, rows, result)) for goal in self._goals)
        behind = falls_behind(scenario, rows)
        by_run = any(goal.source in OF_A_RUN for goal in self._goals)
        return Tried(
            self.values[at],
            each,
            scenario.replications,
            falls_behind=behind,
            unsettled=why_not(rows) if by_run and not behind else "",
            limit=limits(rows[0]),
            p99_us=slowest_p99(rows),
        )

    def _measured(self, goal: Goal, at: int, rows: Sequence[Row], result: Result) -> Measured:
        if goal.source in OF_A_RUN:
            return _of_run(goal, self.candidates[self.values[at]][1], rows)
        if goal.source is Source.LIFE:
            return life_of(result)
        if goal.source is Source.SYSTEM:
            usable = self.candidates[self.values[at]][1].usable_bytes
            return Measured(float(usable), certain=True)
        if at not in self._rebuilds:
            tree = self.candidates[self.values[at]][0]
            self._rebuilds[at] = rebuilt(tree, self._path, self._running, self._seed)
        return self._rebuilds[at][goal.quantity]


def asked_rate(goal: Goal, scenario: Scenario) -> float | None:
    """The I/Os a second that loads ask for which a goal is about; None if they are not all open."""
    names = goal.loads([load.name for load in scenario.workloads])
    rates = [load.arrives_per_s for load in scenario.workloads if load.name in names]
    if goal.quantity != "rate" or goal.side or not rates or not all(rates):
        return None
    if goal.is_sum:
        return sum(rates)
    return max(rates) if goal.at_most else min(rates)


def asked_throughput(goal: Goal, scenario: Scenario) -> float | None:
    """The bytes a second that loads ask for which a goal is about, as `asked_rate`.

    None of traces and jobs of fio, whose requests have several sizes.
    """
    names = goal.loads([load.name for load in scenario.workloads])
    # Jobs of fio stand behind the plan's own workloads.
    loads = [load for load in scenario.workloads if load.name in names]
    if goal.quantity != "throughput" or not loads:
        return None
    if any(load.is_fio or not load.rates or not load.parts for load in loads):
        return None
    plans = scenario.base["workloads"]
    asked = []
    for load in loads:
        plan = plans[load.parts[0]]
        share = {"read": plan["read_share"], "write": 1 - plan["read_share"]}.get(goal.side, 1.0)
        asked.append(load.arrives_per_s * plan["block_bytes"] * share)
    if goal.is_sum:
        return sum(asked)
    return max(asked) if goal.at_most else min(asked)


def _of_run(goal: Goal, scenario: Scenario, rows: Sequence[Row]) -> Measured:
    """A latency or rate; that of an open load which is served is what it asks for."""
    if goal.source is Source.SLOWDOWN:
        return slowdown(goal, scenario, rows)
    asked = asked_rate(goal, scenario)
    if asked is not None and not falls_behind(scenario, rows):
        return Measured(asked, certain=True)
    return of_load(goal, rows)


def slowest_p99(rows: Sequence[Row]) -> float | None:
    """The p99 of the slowest load, in us; None if nothing was completed."""
    known = (row["latency_us"]["p99"] for row in rows if row["latency_us"])
    return max(known, default=None)


def slowest_p99_ci95(rows: Sequence[Row]) -> tuple[float, float] | None:
    """The 95 % interval of the slowest load's p99, in us; None if nothing was completed.

    A load whose run is too short for an interval counts with its p99 alone.
    """
    found: tuple[float, float, float] | None = None
    for row in rows:
        if row["latency_us"] is None:
            continue
        own = row["latency_us"]["p99"]
        low, high = row["latency_ci95_us"].get("p99") or (None, None)
        ends = own if low is None else min(own, low), own if high is None else max(own, high)
        if found is None or own > found[0]:
            found = (own, *ends)
    return None if found is None else found[1:]


def judged_by_run(goals: Sequence[Goal], scenario: Scenario, result: Result) -> list[Judged]:
    """What a run alone says of goals: those about latencies, rates and wear."""
    rows = result.summary()
    found = []
    for goal in goals:
        if goal.source in OF_A_RUN:
            found.append(judged(goal, _of_run(goal, scenario, rows)))
        elif goal.source is Source.LIFE:
            found.append(judged(goal, life_of(result)))
    return found


def meets(goals: Sequence[Goal], scenario: Scenario, result: Result) -> bool:
    """Whether a run serves its load, and all that it says of goals holds."""
    served = not falls_behind(scenario, result.summary())
    return served and all(each.holds for each in judged_by_run(goals, scenario, result))


def life_of(result: Result) -> Measured:
    """Years until the first drives are worn out under the load; unlimited where none wears."""
    lives = [line["life_years"] for line in endurance(result)]
    known = [life for life in lives if life is not None]
    return Measured(min(known, default=UNWORN_YEARS if not lives else None), certain=True)


def rebuilt(
    tree: ScenarioTree, path: Path | None, running: Running, seed: int | None
) -> dict[str, Measured]:
    """By quantity: hours of a rebuild under the load, percentiles in microseconds meanwhile."""
    rate = float(tree["array"][0].get("rebuild_rate", 0.3))
    runs = rebuild.Runs(running.workers, running.store)
    failing = rebuild.with_failure(tree)
    found = rebuild.rebuilds_of(failing, path, [rate], runs, seed=seed).rebuilds[0]
    low, high = found.hours_ci95 or (None, None)
    return {
        "rebuild": Measured(found.hours, low, high),
        "rebuild p99": Measured(found.p99_us_during),
        "rebuild p99.9": Measured(found.p99_9_us_during),
    }


def is_backlog(faults: Sequence[Fault]) -> bool:
    """Whether a run ended for lack of memory, as I/Os of an open load waited."""
    return any(fault.about is About.BACKLOG for fault in faults)


def falls_behind(scenario: Scenario, rows: Sequence[Row]) -> bool:
    """Whether more of an open load arrived than was served."""
    loads = zip(scenario.workloads, rows, strict=True)
    return any(load.arrives_per_s and row.get("overloaded") for load, row in loads)


def searched(search: Search, order: Sequence[int]) -> tuple[int | None, int | None]:
    """The answer's place and its neighbour's, in an order from what fails to what holds."""
    last = len(order) - 1
    steps = sorted({round(at * last / (_COARSE - 1)) for at in range(_COARSE)})
    search.look([order[at] for at in steps])
    search.clear([order[last]])

    def holds(at: int) -> bool:
        return search.tried[order[at]].holds

    if not holds(last):
        # Not as it should be, or nothing holds: which do is to be sure.
        search.clear([order[at] for at in steps])
        last = max((at for at in steps if holds(at)), default=-1)
        if last < 0:
            return None, None
    while True:
        known = [at for at in range(last + 1) if order[at] in search.tried]
        fails = max((at for at in known if not holds(at)), default=-1)
        least = min(at for at in known if at > fails)
        if least - fails > 1:
            middle = (least + fails) // 2 if fails >= 0 else least // 2
            search.look([order[middle]])
            continue
        ends = [order[at] for at in (fails, least) if at >= 0]
        before = [search.tried[at].holds for at in ends]
        search.clear(ends)
        if [search.tried[at].holds for at in ends] == before:
            return order[least], order[fails] if fails >= 0 else None
