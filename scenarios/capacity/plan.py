"""The answer to a question: which candidates fit, which is the cheapest, how long it lasts.

Closed forms come first: what cannot be built, is too small or too dear, or whose drives alone
cannot serve the load. The rest is simulated by successive halving (Jamieson and Talwalkar, 2016):
all of them shortly, then longer those that may fit and that no other beats in everything.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.units import DURATION
from raidlab.scenarios.capacity.answer import Answer, confirmed, price
from raidlab.scenarios.capacity.assumptions import REBUILD_SHARE
from raidlab.scenarios.capacity.bounds import Drive, busy, drives_alone, prune
from raidlab.scenarios.capacity.candidates import Candidate, expand, is_flash, judge_bill, refusal
from raidlab.scenarios.capacity.doubt import Drawn, check_draws, draws_of
from raidlab.scenarios.capacity.headroom import DURATION_DEFAULT, Headroom, ended, headroom_of
from raidlab.scenarios.capacity.later import Later, later_of
from raidlab.scenarios.capacity.migration import migration_of
from raidlab.scenarios.capacity.monitoring import (
    doubts_of,
    open_parts,
    present_of,
)
from raidlab.scenarios.capacity.overload import at_lower_rates, served_of
from raidlab.scenarios.capacity.question import Question
from raidlab.scenarios.capacity.ranking import (
    beats,
    clearly_out,
    front_of,
    hopeless,
    is_clear,
    is_near,
    misses,
    preference,
    surely,
)
from raidlab.scenarios.capacity.search import Judge, cheapest
from raidlab.scenarios.capacity.upgrades import Upgrade, upgrades
from raidlab.scenarios.planning.scenario import Scenario, build_scenario
from raidlab.scenarios.results.bottleneck import limits
from raidlab.scenarios.results.diagnostics.statements import why_not
from raidlab.scenarios.results.goals import (
    OF_A_RUN,
    UNWORN_YEARS,
    Measured,
    Source,
    without_effect,
)
from raidlab.scenarios.results.result import Result
from raidlab.scenarios.results.row import Row
from raidlab.scenarios.risk.assess import Question as RiskQuestion
from raidlab.scenarios.risk.assess import assess, rebuilt_bytes
from raidlab.scenarios.running.simulate import results_of
from raidlab.scenarios.studies.running import Running
from raidlab.scenarios.studies.size import (
    falls_behind,
    is_backlog,
    judged_by_run,
    life_of,
    rebuilt,
    slowest_p99,
)

RUNGS = ((1 / 8, 0.25), (1 / 2, 0.08), (1.0, 0.0))
"""Shares of the run, and by how much a goal may be missed there and be met at the end."""
_OF_RUN = ("an eighth of the run", "half of the run", "the whole run")
"""`RUNGS` in words."""
MANY_CANDIDATES = 400
"""Candidates that closed forms leave, beyond which not every number of drives is simulated."""
MANY_OF_FLASH = 12
"""Candidates of SSDs beyond which it is the same: each costs the preconditioning of its drives."""
_LEAST_CANDIDATES = 12
"""Candidates that go on, if at least that number may fit."""
_NEAREST = 3
"""Candidates that go on where none may fit."""
_SHORT_RUN_IOS = 20_000
"""I/Os of a run up to which it is not cut into parts: they take less than the preconditioning."""
_SHORT_CANDIDATES = 48
"""Candidates up to which whole short runs of all take seconds."""
_REPLICATIONS = (4, 16)
"""Of the cheapest ones, until it is clear whether they fit."""
_CLEARED = 4
_SERVED = OF_A_RUN
"""Of goals that a change was tried for."""


class _Steps:
    """What hears of runs in steps, each of which counts for itself."""

    def __init__(self, running: Running) -> None:
        self._running = running
        self._before = self._last = 0
        self._is_open = False

    def begin(self, name: str, *, is_open: bool = False) -> None:
        """The next runs are for this.

        Args:
            name: What they are for.
            is_open: True if nobody knows how many they will be.
        """
        self._before, self._last, self._is_open = 0, 0, is_open
        if self._running.step is not None:
            self._running.step(name)

    def __call__(self, done: int, total: int) -> None:
        """Hears how many of the runs that were last asked for are done."""
        if done < self._last:
            self._before += self._last
        self._last = done
        if self._running.progress is not None:
            own = 0 if self._is_open else self._before + total
            self._running.progress(self._before + done, own)


class _Planning:
    """A question being answered."""

    def __init__(self, question: Question, running: Running, seed: int) -> None:
        self.question = question
        self.steps = _Steps(running)
        self.running = replace(running, progress=self.steps)
        self.seed = seed
        self.candidates = expand(question)
        self.drives: dict[str, Drive] = {}
        built = next(each.scenario for each in self.candidates if each.scenario is not None)
        self.asked = sum(load.arrives_per_s for load in built.workloads)
        self.simulated = 0
        self.refused: list[Fault] = []
        self.rows: dict[str, list[Row]] = {}
        self.warnings: dict[str, tuple[str, ...]] = {}
        self.breaches: set[str] = set()
        self.losses: dict[tuple[tuple[str, ...], str, float], Measured] = {}

    def closed_forms(self) -> list[Candidate]:
        """The candidates that closed forms leave."""
        built = [each for each in self.candidates if each.scenario is not None]
        self.steps.begin("drives alone", is_open=True)
        self.drives = drives_alone(self.question, built, self.running, self.seed)
        prune(self.question, built, self.drives)
        return [each for each in built if not each.out]

    def halve(self, alive: list[Candidate]) -> list[Candidate]:
        """Simulates ever fewer for ever longer; gives those that went to the end."""
        alive = self.thin(alive)
        for rung, (share, slack) in enumerate(RUNGS):
            if share < 1 and (
                self.question.traced or self.is_short(alive) or not saves(alive, share)
            ):
                # A part of a trace says nothing certain of the rest; of a short run it saves
                # nothing, as what drives and caches have seen before it takes longer.
                continue
            self.steps.begin(f"candidates, {_OF_RUN[rung]}")
            self.simulate([each for each in alive if each.rung < rung], share, 1)
            alive = [each for each in alive if not each.why_not]
            for each in alive:
                each.rung = max(each.rung, rung)
            if rung == len(RUNGS) - 1:
                return alive
            may = [each for each in alive if not hopeless(each, slack)]
            if not may:
                alive = sorted(alive, key=misses)[:_NEAREST]
                continue
            for each in may:
                if each.out:
                    continue
                better = (o for o in may if surely(o, slack) and beats(o, each, slack))
                each.dominated_by = next((other.name for other in better), "")
            on = [each for each in may if not each.dominated_by]
            keep = max(_LEAST_CANDIDATES, len(alive) // 2)
            if len(on) > keep:
                # Those that miss little count while they would be the cheapest.
                least = min((price(each) for each in on if not each.out), default=(math.inf, 0))
                dear = {each.name: each.out and price(each) > least for each in on}
                on = sorted(on, key=lambda each: (dear[each.name], price(each)))[:keep]
            alive = on
        return alive

    def is_short(self, alive: Sequence[Candidate]) -> bool:
        """Whether whole runs of all candidates cost hardly more than parts of them."""
        seconds = max((_whole_run(each) for each in alive), default=0) / 1e9
        few = len(alive) <= _SHORT_CANDIDATES
        return few and 0 < self.asked * seconds <= _SHORT_RUN_IOS

    def thin(self, alive: list[Candidate]) -> list[Candidate]:
        """Of very many candidates those that may be the cheapest of their kind; see `search`."""
        flash = sum(is_flash(each.drive, self.question) for each in alive)
        if len(alive) <= MANY_CANDIDATES and flash <= MANY_OF_FLASH:
            return alive
        self.steps.begin("search for the cheapest of each kind", is_open=True)
        if self.question.table.prefer != "cost" or Source.REBUILD in self.sources:
            # What has the lowest latency, or is rebuilt soonest, may be any number of drives.
            return self.every_nth(alive) if len(alive) > MANY_CANDIDATES else alive
        tried: list[Candidate] = []

        def simulate(which: list[Candidate]) -> None:
            for rung in (0, len(RUNGS) - 1):
                own = [each for each in which if self.first_rung(each) == rung]
                self.simulate(own, RUNGS[rung][0], 1)
                for each in own:
                    each.rung = -1 if each.why_not else rung
            tried.extend(each for each in which if not each.why_not)

        def busy_of(each: Candidate) -> float:
            return busy(self.question, each, self.drives[each.drive]) or 0.0

        judge = Judge(
            price=price,
            hopeless=lambda each: hopeless(each, RUNGS[each.rung][1]),
            busy=busy_of,
            surely=lambda each: surely(each, RUNGS[each.rung][1]),
        )
        found = cheapest(alive, judge, simulate)
        return found or sorted(tried, key=misses)[:_NEAREST]

    def first_rung(self, each: Candidate) -> int:
        """How long a candidate is simulated first: flash costs its preconditioning, not its run."""
        whole = self.question.traced or is_flash(each.drive, self.question)
        return len(RUNGS) - 1 if whole else 0

    @property
    def sources(self) -> set[Source]:
        """Where the goals' quantities are found."""
        return {goal.source for goal in self.question.goals}

    def every_nth(self, alive: list[Candidate]) -> list[Candidate]:
        """Of very many candidates every nth number of drives of a family, in a short run each.

        Those between one that fails and the next one that fits, which could be the cheapest, are
        added: more drives of the same family do not make it worse.
        """
        stride = -(-len(alive) // MANY_CANDIDATES)
        families: dict[tuple[str, ...], list[Candidate]] = {}
        for each in alive:
            families.setdefault(each.family, []).append(each)
        picked: list[Candidate] = []
        gaps: list[tuple[Candidate, list[Candidate], Candidate]] = []
        for family in families.values():
            family.sort(key=lambda each: each.count)
            places = [*range(0, len(family) - 1, stride), len(family) - 1]
            picked += [family[at] for at in places]
            gaps += [
                (family[a], family[a + 1 : b], family[b]) for a, b in pairwise(places) if b > a + 1
            ]
        self.simulate(picked, RUNGS[0][0], 1)
        least = min((price(each) for each in picked if not each.out), default=(math.inf, 0))
        more = [
            each
            for below, between, above in gaps
            for each in between
            if below.out and not above.out and price(each) < least
        ]
        self.simulate(more, RUNGS[0][0], 1)
        run = [each for each in (*picked, *more) if not each.why_not]
        for each in run:
            each.rung = 0
        return run

    def simulate(self, which: Sequence[Candidate], share: float, replications: int) -> None:
        """Simulates candidates for a share of the run, and judges what that shows.

        A whole run near a goal's bound is made once more for what the past of its flash drives
        adds to its intervals.
        """
        if self.question.traced:
            share = 1.0
        self._simulate(which, share, replications, heeds_past=False)
        if share == 1.0:
            near = [each for each in which if not each.why_not and is_near(each)]
            self._simulate(near, share, replications, heeds_past=True, again=True)

    def _simulate(
        self, which: Sequence[Candidate], share: float, replications: int, *,
        heeds_past: bool, again: bool = False,
    ) -> None:  # fmt: skip
        if not which:
            return
        scenarios = [
            replace(_shortened(each, share, self.question), replications=replications)
            for each in which
        ]
        refused: dict[int, list[Fault]] = {}
        results = results_of(
            scenarios, self.seed, workers=self.running.workers, store=self.running.store,
            progress=self.running.progress, refused=refused, heeds_past=heeds_past,
        )  # fmt: skip
        found = list(results)
        run = [at for at in range(len(which)) if at not in refused]
        for at, result in zip(run, found, strict=True):
            self.judge(which[at], scenarios[at], result)
            self.simulated += not again
        for at, faults in refused.items():
            which[at].falls_behind = is_backlog(faults)
            if which[at].falls_behind:
                which[at].limit = "more I/Os wait than memory holds"
                continue
            which[at].why_not = refusal(faults)
            self.refused += faults
        behind = [which[at] for at in refused if which[at].falls_behind]
        at_lower_rates(self.question, behind, self.running, self.seed)

    def judge(self, candidate: Candidate, scenario: Scenario, result: Result) -> None:
        """Notes what a result shows of a candidate."""
        rows = result.summary()
        self.warnings[candidate.name] = result.warnings
        self.breaches |= set(result.breaches)
        candidate.falls_behind = falls_behind(scenario, rows)
        # A short run of the first rungs may well be too short for a statement.
        whole = scenario.base["duration_ns"] == _whole_run(candidate)
        candidate.unsettled = why_not(rows) if whole and not candidate.falls_behind else ""
        served = sum(row["iops"] for row in rows)
        candidate.iops = served
        candidate.served = served_of(scenario, rows) if candidate.falls_behind else None
        candidate.limit = limits(rows[0])
        candidate.p99_us = slowest_p99(rows)
        self.rows[candidate.name] = rows
        life = life_of(result).value
        candidate.life_years = None if life == UNWORN_YEARS else life
        candidate.bill.runs(rows[0])
        judge_bill(self.question, candidate)
        for each in judged_by_run(self.question.goals, scenario, result):
            candidate.judged[each.goal.text] = each

    def clear(self, finals: Sequence[Candidate]) -> None:
        """Simulates the cheapest ones again until it is clear whether they fit."""
        for replications in _REPLICATIONS:
            first = [each for each in sorted(finals, key=price) if not clearly_out(each)]
            unclear = [each for each in first[:_CLEARED] if not is_clear(each)]
            if not unclear:
                return
            self.steps.begin(f"the cheapest, {replications} times")
            # What is known to be near is made with another past at once.
            near = [each for each in unclear if is_near(each)]
            rest = [each for each in unclear if not is_near(each)]
            self._simulate(near, 1.0, replications, heeds_past=True)
            self.simulate(rest, 1.0, replications)

    def rebuilds_and_risks(self, finals: Sequence[Candidate]) -> None:
        """Judges goals about rebuilds and losses of those that meet all others."""
        for each in sorted(finals, key=price):
            if not each.out:
                self.try_failures_of(each)

    def try_failures_of(self, candidate: Candidate) -> None:
        """`failures_of`; a candidate that this machine cannot simulate is set aside by name."""
        try:
            self.failures_of(candidate)
        except SpecError as error:
            candidate.why_not = refusal(error.faults)

    def failures_of(self, candidate: Candidate) -> None:
        """Judges goals about rebuilds and losses of a candidate."""
        hours = None
        if Source.REBUILD in self.sources:
            self.steps.begin(f"rebuild of {candidate.name}", is_open=True)
            found = rebuilt(candidate.tree, self.question.path, self.running, self.seed)
            hours = found["rebuild"].value
            for goal in self.question.goals:
                if goal.source is Source.REBUILD:
                    candidate.judge(goal, found[goal.quantity])
        candidate.loss = self._loss(candidate, hours)
        for goal in self.question.goals:
            if goal.source is Source.RISK:
                candidate.judge(goal, candidate.loss)

    def helpful(self, best: Candidate, headroom: Headroom | None) -> list[Upgrade]:
        """Single changes that help, without those that miss a goal of another kind."""
        every, running = self.candidates, self.running
        self.steps.begin("what would help", is_open=True)
        changes = upgrades(self.question, best, headroom, every, running, self.seed)
        by_name = {each.name: each for each in every}
        failures = {Source.REBUILD, Source.RISK} & self.sources
        found = []
        for change in changes:
            changed = by_name[change.candidate]
            if failures and changed.loss.value is None:
                self.try_failures_of(changed)
            if not changed.why_not and not any(
                one.goal.source not in _SERVED for one in changed.failing
            ):
                found.append(change)
        return found

    def _loss(self, candidate: Candidate, hours: float | None) -> Measured:
        drive = self.drives[candidate.drive]
        if hours is None:
            size = rebuilt_bytes(candidate.tree["array"][0], drive.bytes)
            hours = size / max(drive.stream * REBUILD_SHARE, 1.0) / 3600
        # Which controller has them changes nothing of how drives fail.
        key = (candidate.kind, repr(candidate.tree["array"][0]["drives"]), hours)
        if key not in self.losses:
            self.losses[key] = self._assessed(candidate, hours)
        return self.losses[key]

    def _assessed(self, candidate: Candidate, hours: float) -> Measured:
        table = self.question.table
        question = RiskQuestion(
            years=table.horizon, afr=table.afr, rebuild_h=hours, replace_h=table.replace_hours,
            error=0.05,
        )  # fmt: skip
        found = assess(candidate.tree, self.question.path, question, seed=self.seed)
        return Measured(found.loss, *found.ci95)


def saves(alive: Sequence[Candidate], share: float) -> bool:
    """Whether this share of the runs of a few candidates takes half of their time at most.

    Each share begins with the warm-up, and with the caches that are to be full.
    """
    if len(alive) > _LEAST_CANDIDATES:
        return True
    runs = [each.scenario for each in alive if each.scenario is not None]
    begins = sum(warming_s(run) for run in runs)
    recorded = sum(run.base["duration_ns"] / 1e9 for run in runs)
    return begins + share * recorded <= (begins + recorded) / 2


def warming_s(run: Scenario) -> float:
    """Simulated seconds before a recording: the warm-up, and until open loads fill caches."""
    warm_up, filling = run.base["warm_up_ns"] / 1e9, run.base["filling"]
    # Jobs of fio follow the workloads: none of them arrives at a rate that is known before.
    loads = zip(run.workloads, run.base["workloads"], strict=False)
    written = sum(
        load.arrives_per_s * (1 - plan["read_share"]) * plan["block_bytes"] for load, plan in loads
    )
    if filling is None or not written:
        return warm_up
    caches = [each["cache"] for each in run.base["controllers"]]
    dirty = sum(cache["bytes"] * cache["dirty_share"] for cache in caches if cache is not None)
    return warm_up + min(dirty / written, filling["most_ns"] / 1e9)


def _whole_run(candidate: Candidate) -> int:
    """Nanoseconds that the run of a candidate records."""
    return 0 if candidate.scenario is None else int(candidate.scenario.base["duration_ns"])


def _shortened(candidate: Candidate, share: float, question: Question) -> Scenario:
    if share == 1 and candidate.scenario is not None:
        return candidate.scenario
    run = candidate.tree.get("run", {}).copy()
    duration = float(DURATION.parse(str(run.get("duration", DURATION_DEFAULT))))
    run["duration"] = f"{max(1, round(duration * share))} ns"
    return build_scenario({**candidate.tree, "run": run}, question.path)


def _first_of_each(faults: Sequence[Fault]) -> list[Fault]:
    """The first fault of each key: other candidates have it with other numbers."""
    keys: dict[str, list[Fault]] = {}
    for fault in faults:
        keys.setdefault(fault.key, []).append(fault)
    found = []
    for first, *others in keys.values():
        more = f" (and {len(others):,} more candidate{'s' * (len(others) > 1)})" if others else ""
        found.append(replace(first, allowed=first.allowed + more))
    return found


def plan(
    question: Question, *, seed: int = 1, draws: int = 0, running: Running | None = None
) -> Answer:
    """Answers a question.

    Args:
        question: Load, goals, candidates, prices.
        seed: Seed of the random numbers: the same gives the same answer, whatever the workers.
        draws: Of what data sheets leave open, for the candidates of the front.
        running: Workers, progress and store.

    Raises:
        SpecError: No candidate can be built or simulated, a load cannot be, or nothing is there
            to draw.
        KeyboardInterrupt: Ctrl-C. What was simulated is in the store.
    """
    present = present_of(question, running or Running(), seed)
    planning = _Planning(question, running or Running(), seed)
    if draws:
        check_draws(planning.candidates)
    finals = planning.halve(planning.closed_forms())
    if planning.refused and not planning.simulated:
        raise SpecError(_first_of_each(planning.refused))
    planning.clear(finals)
    planning.rebuilds_and_risks(finals)
    fitting = sorted((each for each in finals if confirmed(each)), key=price)
    front = front_of(fitting)
    recommended = min(front, key=lambda each: preference(question, each), default=None)
    headroom, more, drawn, unknown = None, list[Upgrade](), list[Drawn](), list[str]()
    later: Later | None = None
    if recommended is not None:
        own = planning.running
        try:
            planning.steps.begin("headroom", is_open=True)
            headroom = headroom_of(question, recommended, own, seed)
            more = planning.helpful(recommended, headroom)
            planning.steps.begin("how long the present system lasts", is_open=True)
            later = later_of(question, recommended, own, seed, planning.breaches)
        except SpecError as error:
            unknown.append(f"{recommended.name}: headroom is not known: {refusal(error.faults)}")
        first = [recommended, *(each for each in front if each is not recommended)]
        planning.steps.begin("draws")
        drawn = draws_of(question, first, draws, own, seed) if draws else []
    planning.steps.begin("moving the data", is_open=True)
    moved = (
        None if recommended is None else migration_of(question, recommended, planning.running, seed)
    )
    opened = None if recommended is None else open_parts(question, recommended, running, seed)
    months, ended_by = ended(question, recommended, headroom)
    # Of what was not simulated it is not known how far it is from its goals.
    known = [each for each in planning.candidates if each.rung >= 0 or each.out]
    last = min(known, key=misses, default=None) if recommended is None else None
    shown = recommended or last
    return Answer(
        question=question,
        seed=seed,
        candidates=tuple(planning.candidates),
        recommended=recommended,
        front=tuple(front),
        nearest=last,
        headroom=headroom,
        rows=() if recommended is None else tuple(planning.rows[recommended.name]),
        months=months,
        ended_by=ended_by,
        simulated=planning.simulated,
        upgrades=tuple(more),
        drawn=tuple(drawn),
        present=present,
        later=later,
        migration=moved,
        open_parts=opened,
        warnings=(
            *doubts_of(question, present),
            *without_effect(question.goals),
            *question.unnamed_currency(),
            *unknown,
            *(() if shown is None else planning.warnings.get(shown.name, ())),
        ),
        breaches=tuple(sorted(planning.breaches)),
    )
