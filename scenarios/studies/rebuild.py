"""Rebuilds against their rate limit: how long they take, what the users feel meanwhile."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.schema import read_toml
from raidlab.scenarios.planning.scenario import Scenario, build_scenario
from raidlab.scenarios.results.diagnostics.losses import unrebuilt
from raidlab.scenarios.results.diagnostics.recorded import Recorded
from raidlab.scenarios.results.result import Result, Row
from raidlab.scenarios.running.engine_faults import capacities
from raidlab.scenarios.running.simulate import Progress, results_of
from raidlab.scenarios.running.store import Store
from raidlab.scenarios.studies import rebuild_samples
from raidlab.scenarios.studies.rebuild_samples import Sample

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
    rebuild_s: float | None
    """Seconds from its begin to its end; None if the run was too short."""
    done: float
    """Share of the array's rows that was rebuilt."""
    phases: Mapping[str, Phase]
    """The first workload `before`, `during` and `after`, as far as there was any load then."""
    lost_writes: int
    hours: float | None = None
    """Hours until whole drives are rebuilt under the load; None if a sample came no further."""
    hours_ci95: tuple[float, float] | None = None
    p99_us_before: float | None = None
    p99_us_during: float | None = None
    iops_before: float | None = None
    iops_during: float | None = None
    samples: int = 0
    """Places of the drive that were measured."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        phases = {name: vars(phase) for name, phase in self.phases.items()}
        return {**vars(self), "phases": phases}


@dataclass(frozen=True)
class Rebuilds:
    """A scenario's rebuild at several rate limits."""

    title: str
    used_bytes: int
    """What is rebuilt of each drive."""
    drive_bytes: int
    """What a whole drive holds."""
    rebuilds: tuple[Rebuild, ...]
    warnings: tuple[str, ...]
    breaches: tuple[str, ...]
    seed: int
    interrupted: bool = False
    """Ctrl-C came: fewer places were measured than wanted."""

    def whole_drive_s(self, rebuild: Rebuild) -> float | None:
        """Seconds until whole drives are rebuilt."""
        return None if rebuild.hours is None else rebuild.hours * 3600

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        each = [r.to_dict() | {"whole_drive_s": self.whole_drive_s(r)} for r in self.rebuilds]
        return {**vars(self), "rebuilds": each}


def rebuilds(
    path: Path,
    rates: Sequence[float] = RATES,
    *,
    workers: int | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
    store: Store | None = None,
) -> Rebuilds:
    """Runs a scenario in which a drive fails, once for each rebuild rate.

    Args:
        path: The scenario's file.
        rates: Shares of the time that the rebuild may have.
        workers: Threads; the number of cores if None.
        seed: Replaces the scenario's.
        progress: Called after every finished run.
        store: Finds finished runs again, and stores new ones.

    Raises:
        SpecError: The scenario cannot be run, or nothing is rebuilt in it.
        KeyboardInterrupt: Ctrl-C, before anything was measured. After that the result says so.
    """
    return rebuilds_of(
        read_toml(path), path, rates, workers=workers, seed=seed, progress=progress, store=store
    )


def with_failure(tree: Mapping[str, Any]) -> dict[str, Any]:
    """The tree of a scenario in which the first drive of the first array fails, and is rebuilt.

    Without a spare it gets one: the time until somebody replaces a drive is no time of a rebuild.
    """
    changed = copy.deepcopy(dict(tree))
    array = changed["array"][0]
    array["hot_spares"] = max(1, array.get("hot_spares", 0))
    at = {"array": array["name"]} if array.get("name") else {}
    changed["event"] = [{"at": "1 s", "action": "fail-drive", "drive": 0, **at}]
    return changed


def rebuilds_of(
    tree: Mapping[str, Any],
    path: Path | None,
    rates: Sequence[float],
    *,
    workers: int | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
    store: Store | None = None,
) -> Rebuilds:
    """`rebuilds` of what a scenario's file holds; `path` is where names of files are relative to.

    Raises:
        SpecError: As `rebuilds`.
        KeyboardInterrupt: As `rebuilds`.
    """
    scenarios = [build_scenario(_at_rate(tree, rate), path) for rate in rates]
    _check(scenarios[0], scenarios[0].path)
    own_seed = scenarios[0].seed if seed is None else seed
    runs_each = 2 * len(rates)
    total = rebuild_samples.STRETCHES * runs_each + len(rates)
    found: list[Result] = []
    samples: list[list[Sample]] = [[] for _ in rates]
    interrupted = False

    def tell(before: int) -> Progress | None:
        if progress is None:
            return None
        return lambda done, _: progress(before + done, total)

    size = _drive_bytes(build_scenario(rebuild_samples.whole(tree), path))
    each = rebuild_samples.sampled_scenarios(tree, path, size, rates, own_seed)
    try:
        for at, (its_seed, runs) in enumerate(each):
            shown = tell(at * runs_each)
            results = list(results_of(runs, its_seed, workers=workers, progress=shown, store=store))
            measured = rebuild_samples.samples_of(results, runs, size)
            for taken, sample in zip(samples, measured, strict=True):
                taken.append(sample)
        if int(scenarios[0].base["arrays"][0]["used_bytes"]):
            shown = tell(rebuild_samples.STRETCHES * runs_each)
            whole_runs = results_of(
                scenarios, own_seed, workers=workers, progress=shown, store=store
            )
            found = list(whole_runs)
    except KeyboardInterrupt:
        if not samples[0]:
            raise
        interrupted = True
    after = [
        warning
        for each in found
        for warning in unrebuilt(Recorded((), scenarios[0], events=each.events))
    ]
    whole = _drive_bytes(scenarios[0])
    used = int(scenarios[0].base["arrays"][0]["used_bytes"]) or whole
    return Rebuilds(
        title=scenarios[0].title,
        used_bytes=used,
        drive_bytes=whole,
        rebuilds=tuple(
            _sampled(_measured(found[at], rate) if found else _unmeasured(rate), samples[at], size)
            for at, rate in enumerate(rates)
        ),
        warnings=tuple(dict.fromkeys([*scenarios[0].warnings, *after])),
        seed=own_seed,
        breaches=tuple(sorted({breach for each in found for breach in each.breaches})),
        interrupted=interrupted,
    )


def _drive_bytes(scenario: Scenario) -> int:
    sizes = capacities(scenario.plan(0, 0), scenario)
    return min(int(sizes[drive]) for drive in scenario.base["arrays"][0]["drives"])


def _at_rate(tree: Mapping[str, Any], rate: float) -> dict[str, Any]:
    changed = copy.deepcopy(dict(tree))
    for array in changed.get("array", []):
        if isinstance(array, dict):
            array["rebuild_rate"] = rate
    return changed


def _check(scenario: Scenario, path: str) -> None:
    fails = [event for event in scenario.base["events"] if event["action"] == "fail_drive"]
    if not fails:
        allowed = 'an event with action = "fail-drive": without it nothing is rebuilt'
        raise SpecError([Fault("event", None, allowed, (), path)])
    if scenario.points > 1:
        allowed = "one number: rebuilds are drawn against their rate"
        raise SpecError([Fault("workload.0.outstanding", None, allowed, (), path)])
    arrays = scenario.base["arrays"]
    new = [e["drive"] for e in scenario.base["events"] if e["action"] == "replace_drive"]
    if not any(array.get("spares") for array in arrays) and not new:
        allowed = "1 or more (or an event replace-drive): without a spare nothing is rebuilt"
        raise SpecError([Fault("array.0.hot_spares", 0, allowed, (), path)])


def _measured(result: Result, rate: float) -> Rebuild:
    row = result.results[0]
    begun = _first(result, "rebuild on ")
    ended = _first(result, "rebuild done")
    phases = {}
    for name in PHASES:
        periods = [p for p in row["periods"] if _phase(p, begun, ended) == name and p["latency_us"]]
        if periods:
            # The longest stands for its phase: an event in its midst divides it.
            longest = max(periods, key=lambda period: period["to_s"] - period["from_s"])
            latency = longest["latency_us"]
            phases[name] = Phase(latency["p99"] / 1e3, latency["mean"] / 1e3, longest["iops"])
    took = None if begun is None or ended is None else ended - begun
    lost = (result.data or {}).get("lost_writes", 0)
    return Rebuild(rate, took, _done(row, took), phases, lost)


def _unmeasured(rate: float) -> Rebuild:
    """A rebuild of which only samples are known."""
    return Rebuild(rate, None, 0.0, {}, 0)


def _sampled(rebuild: Rebuild, samples: Sequence[Sample], size: int) -> Rebuild:
    mean = rebuild_samples.mean
    return replace(
        rebuild,
        hours=rebuild_samples.hours(samples, size),
        hours_ci95=rebuild_samples.hours_ci95(samples, size),
        p99_us_before=mean([each.p99_us_before for each in samples]),
        p99_us_during=mean([each.p99_us_during for each in samples]),
        iops_before=mean([each.iops_before for each in samples]),
        iops_during=mean([each.iops_during for each in samples]),
        samples=len(samples),
    )


def _first(result: Result, what: str) -> float | None:
    return next((event["t_s"] for event in result.events if event["what"].startswith(what)), None)


def _phase(period: Row, begun: float | None, ended: float | None) -> str:
    if begun is None or period["from_s"] < begun:
        return "before"
    return "during" if ended is None or period["from_s"] < ended else "after"


def _done(row: Row, took: float | None) -> float:
    return 1.0 if took is not None else max(row["rebuilding"], default=0.0)
