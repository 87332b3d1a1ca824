"""Rebuilds: how long they take, what limits them, what the users feel, over their rate limit."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.plan_types import ArrayPlan
from raidlab.devices.trees import Document
from raidlab.scenarios.planning.scenario import Scenario, build_scenario
from raidlab.scenarios.results.diagnostics.losses import unrebuilt
from raidlab.scenarios.results.diagnostics.observed import Observed
from raidlab.scenarios.results.result import Result
from raidlab.scenarios.running.engine_faults import capacities
from raidlab.scenarios.running.simulate import Progress, results_of
from raidlab.scenarios.running.store import Store
from raidlab.scenarios.spec.findings import Code, Coded, code_of
from raidlab.scenarios.spec.run_result import PeriodResult
from raidlab.scenarios.spec.trees import EventTree, ScenarioTree
from raidlab.scenarios.spec.written import scenario_tree
from raidlab.scenarios.studies import rebuild_samples as sampling
from raidlab.scenarios.studies.rebuild_limit import Cause, Limit
from raidlab.scenarios.studies.rebuild_samples import Degraded, Lengths, Sample
from raidlab.scenarios.studies.users_queue import UsersQueue

RATES = (0.1, 0.2, 0.3, 0.5, 0.8, 0.9, 0.95, 1.0)
"""Rebuild rates that are drawn if none are asked for."""

PHASES = ("before", "during", "after")


@dataclass(frozen=True)
class Phase:
    """The load before, during or after a rebuild."""

    p99_ms: float
    mean_ms: float
    iops: float


@dataclass(frozen=True)
class Rebuild:
    """A rebuild at one rate limit."""

    rate: float
    """Share of the time that the rebuild may have while the host wants the drives."""
    hours: float | None
    """Hours until all that the array uses of a drive is rebuilt; None if a place did not end."""
    hours_ci95: tuple[float, float] | None
    mb_per_s: float | None
    """Bytes of the drive in 10^6 a second, the mean over all of it."""
    limit: Limit | None
    """What ends the rate at most places."""
    p99_us_before: float | None
    """Of the slowest load; None without a load."""
    p99_us_during: float | None
    p99_9_us_during: float | None
    """Both are least values where `p99_at_least`."""
    iops_before: float | None
    """Of all loads together."""
    iops_during: float | None
    samples: int
    """Places of the drive that were measured."""
    overloaded: bool = False
    """More I/Os arrive than are served meanwhile: users' latencies grow without end."""
    p99_at_least: bool = False
    """At some place users' queues remember for longer than the longest sample there lasts."""
    all_hours: float | None = None
    """Hours until all drives are rebuilt that fail; those of one where one fails."""
    all_hours_ci95: tuple[float, float] | None = None
    whole_drive_s: float | None = None
    """Seconds for all of a drive, as if the array used it; None if that was not asked."""
    rebuild_s: float | None = None
    """Seconds of the scenario's own run from begin to end; None where that has not all of it."""
    phases: Mapping[str, Phase] = field(default_factory=dict)
    """The first workload `before`, `during` and `after` in that run."""
    lost_writes: int = 0
    """In that run."""

    def to_dict(self) -> Document:
        """Plain data."""
        phases = {name: vars(phase) for name, phase in self.phases.items()}
        limit = None if self.limit is None else self.limit.to_dict()
        return {**vars(self), "phases": phases, "limit": limit}


@dataclass(frozen=True)
class Rebuilds:
    """A scenario's rebuild at several rate limits; at one if it has no load."""

    title: str
    used_bytes: int
    """What is rebuilt of each drive."""
    drive_bytes: int
    """What a whole drive holds."""
    rebuilds: tuple[Rebuild, ...]
    warnings: tuple[str, ...]
    breaches: tuple[str, ...]
    seed: int
    idle: bool = False
    """There is no load: the rebuild rate limits nothing."""
    open: bool = False
    """All loads come at rates of their own."""
    failed: int = 1
    """Drives that fail, and that are missing while the first of them is rebuilt."""
    one_pass: bool = False
    """Several drives are rebuilt in one pass, as md does; else one after the other."""
    interrupted: bool = False
    """Ctrl-C came: fewer places were measured than wanted."""

    def whole_drive_s(self, rebuild: Rebuild) -> float | None:
        """Seconds until whole drives are rebuilt; None if they were not measured."""
        if self.used_bytes < self.drive_bytes or rebuild.hours is None:
            return rebuild.whole_drive_s
        return rebuild.hours * 3600

    def to_dict(self) -> Document:
        """Plain data."""
        each = [r.to_dict() | {"whole_drive_s": self.whole_drive_s(r)} for r in self.rebuilds]
        return {**vars(self), "rebuilds": each}


@dataclass(frozen=True)
class Runs:
    """How runs are done: threads, their store, who hears of progress."""

    workers: int | None = None
    store: Store | None = None
    progress: Progress | None = None


def rebuilds(
    path: Path,
    rates: Sequence[float] = RATES,
    *,
    workers: int | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
    store: Store | None = None,
) -> Rebuilds:
    """Measures the rebuild of a scenario in which a drive fails, at each rebuild rate.

    Args:
        path: The scenario's file.
        rates: Shares of the time that the rebuild may have; the first one alone without a load.
        workers: Threads; the number of cores if None.
        seed: Replaces the scenario's.
        progress: Called after every finished run.
        store: Finds finished runs again, and stores new ones.

    Raises:
        SpecError: The scenario cannot be run, or nothing is rebuilt in it.
        KeyboardInterrupt: Ctrl-C, before anything was measured. After that the result says so.
    """
    runs = Runs(workers, store, progress)
    return rebuilds_of(scenario_tree(path), path, rates, runs, seed=seed, whole=True)


def with_failure(tree: ScenarioTree) -> ScenarioTree:
    """The tree of a scenario in which the first drive of the first array fails, and is rebuilt.

    Without a spare a new drive stands in its place at once: the time until somebody replaces it is
    no time of a rebuild, and a spare would want a port of its own.
    """
    changed = copy.deepcopy(tree)
    array = changed["array"][0]
    fails: EventTree = {"at": "1 s", "action": "fail-drive", "drive": 0}
    replaced: EventTree = {"at": "1.001 s", "action": "replace-drive", "drive": 0}
    if name := array.get("name"):
        fails["array"] = replaced["array"] = name
    has_spare = array.get("hot_spares") or array.get("declustered")
    changed["event"] = [fails] if has_spare else [fails, replaced]
    return changed


def rebuilds_of(
    tree: ScenarioTree,
    path: Path | None,
    rates: Sequence[float],
    runs: Runs,
    *,
    seed: int | None = None,
    whole: bool = False,
) -> Rebuilds:
    """`rebuilds` of what a scenario's file holds.

    Args:
        tree: The scenario.
        path: Where names of files are relative to.
        rates: Shares of the time that the rebuild may have.
        runs: How runs are done.
        seed: Replaces the scenario's.
        whole: Also whole drives, and the scenario's own run, where the array uses a part of each.

    Raises:
        SpecError: As `rebuilds`.
        KeyboardInterrupt: As `rebuilds`.
    """
    scenario = build_scenario(_at_rate(tree, rates[0]), path)
    _check(scenario)
    idle = not scenario.base["workloads"]
    study = _Study(
        tree, path, scenario.seed if seed is None else seed, runs,
        tuple(dict.fromkeys(rates[:1] if idle else rates)),
    )  # fmt: skip
    used = int(_array(scenario)["used_bytes"]) or study.drive_bytes
    interrupted, found, own = False, {}, []
    try:
        before = None if idle else study.before()
        found = study.measure(used, before)
        found = study.with_others(found, used, before)
        if whole and used < study.drive_bytes:
            found = study.with_whole(found, used, before)
            own = study.own_runs(found)
    except KeyboardInterrupt:
        found = study.so_far(used)
        if not found:
            raise
        interrupted = True
    observed = [Observed((), scenario, events=result.events) for result in own]
    after = [warning for each in observed for warning in unrebuilt(each)]
    return Rebuilds(
        title=scenario.title,
        used_bytes=used,
        drive_bytes=study.drive_bytes,
        rebuilds=tuple(found[rate] for rate in study.rates),
        warnings=tuple(
            dict.fromkeys([*scenario.warnings, *several_fail(scenario), *study.warnings, *after])
        ),
        breaches=tuple(sorted({breach for result in own for breach in result.breaches})),
        seed=study.seed,
        idle=idle,
        open=not idle and all(load.arrives_per_s for load in scenario.workloads),
        failed=len(study.degraded.drives),
        one_pass=study.one_pass,
        interrupted=interrupted,
    )


def several_fail(scenario: Scenario) -> Iterator[Coded]:
    """A warning of the array of which more drives fail than it survives, whichever they are."""
    array = _array(scenario)
    events = scenario.base["events"]
    gone = {event["drive"] for event in events if event["action"] == "fail_drive"}
    several = len(gone.intersection(array["drives"]))
    if several > 1 and len(sampling.missing(scenario).drives) == 1:
        text = (
            f"array {array['name']}: {several} drives fail, and {array['level']} survives fewer"
            " at a time; the hours are those of one"
        )
        yield Coded(text, Code.REBUILDS_FOLLOW, array["name"])


@dataclass(frozen=True)
class _Before:
    """The load with all drives."""

    p99_us: float | None
    """None of an overload, whose latencies grow as long as it lasts."""
    iops: float
    overloaded: bool


@dataclass(frozen=True)
class _Part:
    """What is measured by samples: drives behind `begin`, a share of each."""

    tree: ScenarioTree
    degraded: Degraded
    size: int
    """Bytes of the drive that the shares are of."""
    begin: float = 0.0


class _Study:
    """The runs of a study, and what they have measured so far."""

    def __init__(
        self,
        tree: ScenarioTree,
        path: Path | None,
        seed: int,
        runs: Runs,
        rates: tuple[float, ...],
    ) -> None:
        self.tree, self.path, self.seed, self.runs = tree, path, seed, runs
        self.rates = rates
        whole = build_scenario(sampling.whole(tree), path)
        drives = _array(whole)["drives"]
        sizes = capacities(whole.plan(0, 0), whole)
        self.drive_bytes = min(int(sizes[drive]) for drive in drives)
        devices = [whole.base["devices"][whole.base["drives"][drive]["device"]] for drive in drives]
        arms = any(device["kind"] == "hdd" for device in devices)
        self.lengths = sampling.ARMS if arms else sampling.NO_ARMS
        self.pace = int(_array(whole).get(sampling.PACE, 0))
        self.degraded = sampling.missing(whole)
        array = _array(whole)
        wide = array.get("declustered")
        self.spread = len(array["drives"]) / wide["width"] if wide else 1.0
        self.one_pass = len(self.degraded.drives) > 1 and bool(_array(whole)["software"])
        self.load: _Before | None = None
        self.warnings: list[str] = []
        self.samples: dict[float, list[Sample]] = {rate: [] for rate in rates}
        self.done = 0

    def _lengths(self, size: int, before: _Before | None) -> Lengths:
        """Of samples of this many bytes of a drive."""
        iops = before.iops if before else None
        return sampling.lengths_for(self.lengths, size, iops, self.spread)

    def before(self) -> _Before:
        """Measures the load with all drives."""
        for steps in range(sampling.MOST_STEPS + 1):
            scenario = sampling.before_scenario(self.tree, self.path, self.lengths, steps)
            (result,) = self._run([scenario], self.seed)
            rows = result.results
            queue = UsersQueue.of(rows)
            if (queue.overloaded and steps) or not queue.is_short(result.recorded[0].seconds):
                break
        self.warnings = [text for text in result.warnings if code_of(text) in _OF_LOAD]
        overloaded = any(row.get("overloaded") for row in rows)
        p99s = [row["latency_us"]["p99"] for row in rows if row["latency_us"] and not overloaded]
        self.load = _Before(max(p99s, default=None), sum(row["iops"] for row in rows), overloaded)
        return self.load

    def measure(self, used: int, before: _Before | None) -> dict[float, Rebuild]:
        """The rebuild of what the array uses, at each rate."""
        lengths = self._lengths(used, before)
        self._measure(self.degraded, used, lengths, self.samples)
        return self.so_far(used)

    def _measure(
        self, degraded: Degraded, used: int, lengths: Lengths, into: Mapping[float, list[Sample]]
    ) -> None:
        """Measures the rebuild of the first of the missing drives."""
        if sampling.is_sampled(self.lengths, used):
            self._sample(_Part(self.tree, degraded, used), lengths, into)
        else:
            self._simulate_whole(degraded, used, into)

    def with_others(
        self, found: Mapping[float, Rebuild], used: int, before: _Before | None
    ) -> dict[float, Rebuild]:
        """As `_rebuild`, with hours until the other missing drives are rebuilt, too.

        A controller rebuilds one drive after the other ("MegaRAID SAS Software User Guide", section
        2.5.6), each with one drive fewer missing. md reads what is left once and writes all new
        drives (`md_do_sync`; N. Brown, "md: restart recovery cleanly after device failure").
        """
        lengths = self._lengths(used, before)
        parts = [self.samples]
        for at in range(1, 1 if self.one_pass else len(self.degraded.drives)):
            left = replace(self.degraded, drives=self.degraded.drives[at:])
            into: dict[float, list[Sample]] = {rate: [] for rate in self.rates}
            self._measure(left, used, lengths, into)
            parts.append(into)
        return {
            rate: replace(
                each,
                all_hours=sampling.hours_of_all([part[rate] for part in parts], used),
                all_hours_ci95=sampling.ci95_of_all([part[rate] for part in parts], used),
            )
            for rate, each in found.items()
        }

    def so_far(self, used: int) -> dict[float, Rebuild]:
        """What is known of the rebuild at each rate; nothing if at one of them nothing is."""
        if not all(self.samples.values()):
            return {}
        return {rate: self._rebuild(rate, taken, used) for rate, taken in self.samples.items()}

    def _rebuild(self, rate: float, taken: Sequence[Sample], used: int) -> Rebuild:
        hours = sampling.hours(taken, used)
        begun = self.load is not None and self.load.overloaded
        overloaded = begun or any(each.queue.overloaded for each in taken)
        served = () if overloaded else taken
        return Rebuild(
            rate=rate,
            hours=hours,
            hours_ci95=sampling.hours_ci95(taken, used),
            mb_per_s=None if not hours else used / hours / 3600 / 1e6,
            limit=_usual(taken),
            p99_us_before=None if self.load is None else self.load.p99_us,
            p99_us_during=sampling.mean([each.p99_us_during for each in served]),
            p99_9_us_during=sampling.mean([each.p99_9_us_during for each in served]),
            iops_before=None if self.load is None else self.load.iops,
            iops_during=sampling.mean([each.iops_during for each in taken]),
            samples=len(taken),
            overloaded=overloaded,
            p99_at_least=any(each.is_short for each in served),
        )

    def with_whole(
        self, found: Mapping[float, Rebuild], used: int, before: _Before | None
    ) -> dict[float, Rebuild]:
        """As `_rebuild`, with seconds for whole drives: what is not used is measured as well."""
        rest = self.drive_bytes - used
        seconds: dict[float, float | None] = {}
        if self.lengths is sampling.ARMS:
            behind: dict[float, list[Sample]] = {rate: [] for rate in self.rates}
            lengths = self._lengths(rest, before)
            tree = sampling.whole(self.tree)
            part = _Part(tree, self.degraded, self.drive_bytes, used / self.drive_bytes)
            self._sample(part, lengths, behind)
            seconds = {rate: _seconds(sampling.hours(behind[rate], rest)) for rate in self.rates}
        for rate, rebuild in found.items():
            own, more = _seconds(rebuild.hours), seconds.get(rate)
            if own is not None and self.lengths is not sampling.ARMS:
                more = own * rest / used
            both = None if own is None or more is None else own + more
            found = {**found, rate: replace(rebuild, whole_drive_s=both)}
        return dict(found)

    def own_runs(self, found: dict[float, Rebuild]) -> list[Result]:
        """The scenario's own runs, as far as they are long enough for their rebuild.

        Puts what they have measured into `found`.
        """
        runs = []
        for rate, rebuild in found.items():
            scenario = build_scenario(_at_rate(self.tree, rate), self.path)
            end = scenario.base["warm_up_ns"] + scenario.base["duration_ns"]
            fails = next(e for e in scenario.base["events"] if e["action"] == "fail_drive")
            left = (end - fails["at_ns"]) / 1e9
            if rebuild.hours is not None and rebuild.hours * 3600 <= left and rebuild.iops_before:
                runs.append((rate, scenario))
        results = self._run([scenario for _, scenario in runs], self.seed) if runs else []
        for (rate, _), result in zip(runs, results, strict=True):
            found[rate] = _with_own_run(found[rate], result)
        return results

    def _sample(self, part: _Part, lengths: Lengths, into: Mapping[float, list[Sample]]) -> None:
        """Measures places in what is rebuilt, as many as each rate needs."""
        begin = part.begin
        stretch = (1.0 - begin) * part.size / sampling.STRETCHES
        steps = dict.fromkeys(self.rates, 0)
        for at, place in sampling.places(self.seed, begin):
            left = [
                rate for rate in self.rates if not sampling.is_enough(into[rate], lengths.places)
            ]
            found: dict[float, Sample] = {}
            while left:
                tried = {rate: lengths.longer(steps[rate]) for rate in left}
                scenarios = [
                    sampling.sampled_scenario(
                        part.tree, self.path, part.degraded, rate, place, tried[rate]
                    )
                    for rate in left
                ]
                results = self._run(scenarios, self.seed + at)
                for rate, scenario, result in zip(left, scenarios, results, strict=True):
                    found[rate] = sampling.sample_of(result, scenario, place, part.size, self.pace)
                left = [
                    rate
                    for rate in left
                    if found[rate].wants_longer(tried[rate], steps[rate], stretch)
                ]
                for rate in left:
                    steps[rate] += 1
            for rate, sample in found.items():
                into[rate].append(replace(sample, place=(place - begin) / (1.0 - begin)))

    def _simulate_whole(
        self, degraded: Degraded, used: int, into: Mapping[float, list[Sample]]
    ) -> None:
        """Rebuilds that are short, from their begin to their end, of other seeds each."""
        for number in range(_SEEDS):
            scenarios = [
                sampling.whole_scenario(self.tree, self.path, degraded, rate, self.lengths)
                for rate in self.rates
            ]
            results = self._run(scenarios, self.seed + number)
            for rate, scenario, result in zip(self.rates, scenarios, results, strict=True):
                sample = sampling.sample_of(result, scenario, 0.0, used, self.pace)
                into[rate].append(sample)

    def _run(self, scenarios: Sequence[Scenario], seed: int) -> list[Result]:
        progress, before = self.runs.progress, self.done
        most = len(self.rates) * sampling.STRETCHES + 1

        def tell(done: int, _: int) -> None:
            if progress is not None:
                progress(min(before + done, most), most)

        results = list(
            results_of(
                scenarios, seed, workers=self.runs.workers, progress=tell,
                store=self.runs.store, heeds_past=False,
            )
        )  # fmt: skip
        self.done += len(scenarios)
        return results


def _usual(taken: Sequence[Sample]) -> Limit | None:
    """The limit that the rebuild has for the longest time."""
    spent: dict[Cause, float] = {}
    for each in taken:
        if each.limit is not None and each.rate > 0:
            spent[each.limit.cause] = spent.get(each.limit.cause, 0.0) + 1 / each.rate
    longest = max(spent, key=lambda cause: spent[cause], default=None)
    of_it = (each.limit for each in taken if each.limit is not None)
    return next((limit for limit in of_it if limit.cause is longest), None)


_OF_LOAD = (Code.OVERLOAD, Code.CACHE_FILLING, Code.UNWRITTEN_FLASH)
"""Warnings of the load with all drives that hold of its rebuilds."""
_SEEDS = 3
"""Runs of a rebuild that is simulated whole."""


def _seconds(hours: float | None) -> float | None:
    return None if hours is None else 3600 * hours


def _array(scenario: Scenario) -> ArrayPlan:
    """The plan's array whose drive fails."""
    return scenario.base["arrays"][sampling.failing(scenario)]


def _at_rate(tree: ScenarioTree, rate: float) -> ScenarioTree:
    changed = copy.deepcopy(tree)
    for array in changed.get("array", []):
        if isinstance(array, dict):
            array["rebuild_rate"] = rate
    return changed


def _check(scenario: Scenario) -> None:
    path = scenario.path
    fails = [event for event in scenario.base["events"] if event["action"] == "fail_drive"]
    if not fails:
        allowed = 'an event with action = "fail-drive": without it nothing is rebuilt'
        raise SpecError([Fault("event", None, allowed, (), path)])
    if scenario.points > 1:
        allowed = "one number: rebuilds are drawn against their rate"
        raise SpecError([Fault("workload.0.outstanding", None, allowed, (), path)])
    arrays = scenario.base["arrays"]
    new = [e["drive"] for e in scenario.base["events"] if e["action"] == "replace_drive"]
    if not any(it.get("spares") or it.get("declustered") for it in arrays) and not new:
        allowed = "1 or more (or an event replace-drive): without a spare nothing is rebuilt"
        raise SpecError([Fault("array.0.hot_spares", 0, allowed, (), path)])


def _with_own_run(rebuild: Rebuild, result: Result) -> Rebuild:
    """As `_check`, with what the scenario's own run says of the rebuild."""
    begun, ended = (sampling.when(result, kind) for kind in ("rebuild-begun", "rebuild-done"))
    phases = {}
    for name in PHASES:
        own = result.results[0]["periods"]
        periods = [p for p in own if _phase(p, begun, ended) == name and p["latency_us"]]
        # The longest stands for its phase: an event in its midst divides it.
        longest = max(periods, key=lambda period: period["to_s"] - period["from_s"], default=None)
        if longest is not None and (latency := longest["latency_us"]) is not None:
            phases[name] = Phase(latency["p99"] / 1e3, latency["mean"] / 1e3, longest["iops"])
    return replace(
        rebuild,
        rebuild_s=None if begun is None or ended is None else ended - begun,
        phases=phases,
        lost_writes=(result.data or {}).get("lost_writes", 0),
    )


def _phase(period: PeriodResult, begun: float | None, ended: float | None) -> str:
    if begun is None or period["from_s"] < begun:
        return "before"
    return "during" if ended is None or period["from_s"] < ended else "after"
