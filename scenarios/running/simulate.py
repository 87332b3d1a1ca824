"""Runs a scenario: every point, every replication, on as many threads as there are cores."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Unpack

from raidlab.devices.faults import Fault, Faults, SpecError
from raidlab.devices.files import unwritable, whole
from raidlab.scenarios import _engine
from raidlab.scenarios.planning.fio import failed_jobs
from raidlab.scenarios.planning.scenario import Scenario, scenario_of
from raidlab.scenarios.results.diagnostics.judges import warnings_of
from raidlab.scenarios.results.diagnostics.observed import Observed
from raidlab.scenarios.results.diagnostics.overload import of_rate, with_traces
from raidlab.scenarios.results.diagnostics.statements import add_doubts
from raidlab.scenarios.results.result import Recorded, Result, make_row
from raidlab.scenarios.results.row import IoRow, Row, RunEvent, TraceFound
from raidlab.scenarios.results.within import goals_of_loads, with_goals
from raidlab.scenarios.running.details import (
    Details,
    counts_of,
    plan_of,
    traced_of,
    traced_parts,
    traces_of,
)
from raidlab.scenarios.running.engine_faults import RefusedError, other_engine, plan_faults
from raidlab.scenarios.running.pool import Progress as Progress
from raidlab.scenarios.running.pool import outcomes
from raidlab.scenarios.running.store import Store, run_key
from raidlab.scenarios.spec.run_result import RunResult

HEEDS_PAST = {"heeds_past": True}
"""Of plans whose intervals hold what the one past of flash drives adds: they take longer."""


class Interrupted(KeyboardInterrupt):
    """The user stopped a simulation; `result` holds the rows that were finished."""

    def __init__(self, result: Result) -> None:
        super().__init__()
        self.result = result


class UnsavedError(SpecError):
    """The state that was to be saved could not be; `result` holds what was simulated."""

    def __init__(self, faults: Sequence[Fault], result: Result) -> None:
        super().__init__(faults)
        self.result = result


def simulate(
    scenario: Scenario | Mapping[str, object] | str | Path,
    *,
    workers: int | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
    store: Store | None = None,
    save_state: Path | None = None,
    **details: Unpack[Details],
) -> Result:
    """Simulates a scenario.

    Args:
        scenario: A loaded scenario, the path of its file, or what such a file holds.
        workers: Threads; the number of cores if None. The result does not depend on it.
        seed: Replaces the scenario's own seed; from 0 to 2^63 - 1.
        progress: Called with the finished runs and all of them after every one; where the only run
            is that of recorded traces, with their requests.
        store: Finds finished runs again, and stores new ones.
        save_state: A file for the state of the flash drives at the end, of a scenario with a single
            run; docs/reference/formats/state.md.
        details: What is recorded beyond rates and latencies, by the names of `Details`:
            `trace_ios`, `trace_from_s`.

    Raises:
        SpecError: The scenario cannot be run as it stands, or an argument cannot be.
        UnsavedError: The state could not be written; carries the result.
        Interrupted: Ctrl-C; carries the rows that were finished.
    """
    _check_numbers(workers, seed)
    scenario = scenario_of(scenario)
    goals = goals_of_loads(scenario.goals, scenario.path)
    asked = plan_of(**(details | ({"latency_map": True} if goals else {})))

    def plan_for(run: tuple[int, int], save_state: str | None = None) -> str:
        plan = scenario.plan(*run, seed)
        plan["heeds_past"] = True
        if asked:
            plan["details"] = asked
        if save_state is not None:
            plan["save_state"] = save_state
        return json.dumps(plan)

    if not scenario.workloads:
        allowed = "at least one: without a load there is nothing to simulate"
        raise SpecError([Fault("workload", None, allowed, (), scenario.path)])
    runs = runs_of(scenario)
    plans = [plan_for(run) for run in runs]
    finished: dict[int, str] = {}
    alone = len(runs) == 1 and any(True for _ in traced_parts(scenario))
    by_run, by_request = (None, progress) if alone else (progress, None)
    try:
        if save_state is None:
            run_plans(
                plans, finished, workers=workers, progress=by_run, store=store, requests=by_request
            )
        else:
            _check_saves(scenario, len(runs), save_state)
            with whole(save_state) as file:
                plans = [plan_for(runs[0], str(file))]
                # Without a store: a run that is found again would save nothing.
                run_plans(plans, finished, workers=workers, progress=by_run, requests=by_request)
                unsaved = json.loads(finished[0])["unsaved"]
                if unsaved is not None:
                    raise unwritable(save_state, unsaved)
    except SpecError as error:
        if not finished:
            raise
        raise UnsavedError(error.faults, result_of(scenario, runs, finished, seed)) from None
    except KeyboardInterrupt:
        raise Interrupted(result_of(scenario, runs, finished, seed)) from None
    except RefusedError as refused:
        raise SpecError(plan_faults(refused.error, scenario)) from None
    return with_goals(result_of(scenario, runs, finished, seed), goals)


def _check_saves(scenario: Scenario, runs: int, save_state: Path) -> None:
    allowed = []
    if runs > 1:
        allowed.append(f"one number of outstanding I/Os and one replication, not {runs} runs")
    if all(device["kind"] != "ssd" for device in scenario.base["devices"]):
        allowed.append("a system with an SSD: other drives keep no state")
    if allowed:
        path, written = scenario.path, str(save_state)
        raise SpecError([Fault("--save-state", written, each, (), path) for each in allowed])


def _check_numbers(workers: int | None, seed: int | None) -> None:
    faults = Faults("")
    if workers is not None and not (_is_whole(workers) and workers >= 1):
        faults.add("workers", workers, "a whole number from 1 on")
    if seed is not None and not (_is_whole(seed) and 0 <= seed < 1 << 63):
        faults.add("seed", seed, "a whole number from 0 to 2^63 - 1")
    faults.raise_if_any()


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def results_of(
    scenarios: Sequence[Scenario],
    seed: int,
    *,
    workers: int | None = None,
    progress: Progress | None = None,
    store: Store | None = None,
    refused: dict[int, list[Fault]] | None = None,
    heeds_past: bool = True,
) -> Iterator[Result]:
    """The results of several scenarios, whose runs share the workers, in their order.

    Faults that the engine finds in a scenario go into `refused`, by its position, if it is given;
    such a scenario has no result. Where only the figures count and not their intervals, without
    `heeds_past` runs on flash with a past take half of the time.

    Raises:
        SpecError: The engine refused a plan, and `refused` is not given.
        KeyboardInterrupt: Ctrl-C.
    """
    plans: list[str] = []
    runs: list[list[tuple[int, int]]] = []
    for scenario in scenarios:
        runs.append(runs_of(scenario))
        more = HEEDS_PAST if heeds_past else {}
        plans += [json.dumps(scenario.plan(*run, seed) | more) for run in runs[-1]]
    finished: dict[int, str] = {}
    errors: dict[int, _engine.PlanError] = {}
    ends = list(itertools.accumulate(map(len, runs)))
    try:
        run_plans(
            plans, finished, workers=workers, progress=progress, store=store,
            refused=None if refused is None else errors,
        )  # fmt: skip
    except RefusedError as error:
        which = next(at for at, end in enumerate(ends) if error.at < end)
        raise SpecError(plan_faults(error.error, scenarios[which])) from None
    for at, (scenario, own, end) in enumerate(zip(scenarios, runs, ends, strict=True)):
        first = end - len(own)
        own_errors = [errors[place] for place in range(first, end) if place in errors]
        if own_errors and refused is not None:
            found = [fault for error in own_errors for fault in plan_faults(error, scenario)]
            refused[at] = list(dict.fromkeys(found))
        else:
            yield result_of(scenario, own, {n: finished[first + n] for n in range(len(own))}, seed)


def runs_of(scenario: Scenario) -> list[tuple[int, int]]:
    """Point and replication of every run of a scenario."""
    return [
        (point, replication)
        for point in range(scenario.points)
        for replication in range(scenario.replications)
    ]


def run_plans(
    plans: Sequence[str],
    finished: dict[int, str],
    *,
    workers: int | None = None,
    progress: Progress | None = None,
    store: Store | None = None,
    refused: dict[int, _engine.PlanError] | None = None,
    requests: Progress | None = None,
) -> None:
    """Runs the engine on every plan and puts its results into `finished`, by position.

    When it is interrupted, `finished` holds what was done. What the engine refuses goes into
    `refused`, if it is given; `requests` is that of `pool.outcomes`.

    Raises:
        RefusedError: A plan has faults, and `refused` is not given.
    """
    for at, plan in enumerate(plans):
        known = None if store is None else store.get(run_key(plan))
        if known is not None:
            finished[at] = known
    done = len(finished)
    if progress is not None:
        progress(done, len(plans))
    # The store has none of these: they were looked up above. Equal plans are run once.
    left: dict[str, list[int]] = {}
    for at, plan in enumerate(plans):
        if at not in finished:
            left.setdefault(plan, []).append(at)
    asked = list(left)
    with closing(outcomes(iter(asked), workers=workers, requests=requests)) as coming:
        for place, outcome in coming:
            own = left[asked[place]]
            if isinstance(outcome, str):
                finished.update(dict.fromkeys(own, outcome))
                if store is not None:
                    store.put(run_key(asked[place]), outcome)
            elif refused is None:
                raise RefusedError(own[0], outcome) from None
            else:
                refused.update(dict.fromkeys(own, outcome))
            done += len(own)
            if progress is not None:
                progress(done, len(plans))


def run_stored(plan: str, store: Store | None) -> str:
    """The result of one run, found again or stored where there is a store.

    Raises:
        PlanError: The plan has faults.
    """
    if store is None:
        return _engine.run(plan)
    key = run_key(plan)
    found = store.get(key)
    if found is None:
        found = _engine.run(plan)
        store.put(key, found)
    return found


def rows_of(scenario: Scenario, point: int, replication: int, outcome: RunResult) -> list[Row]:
    """The rows of one run: one for each workload of the scenario.

    Raises:
        SpecError: The result lacks what this code reads: the engine is an older one.
    """
    try:
        rows = [
            make_row(
                outcome,
                workload.parts,
                name=workload.name,
                target=workload.target,
                point=point,
                outstanding=workload.outstanding[point],
                replication=replication,
            )
            | {"replications": scenario.replications}
            | ({"offered_iops": workload.rates[point]} if workload.rates else {})
            for workload in scenario.workloads
        ]
        for workload, row in zip(scenario.workloads, rows, strict=True):
            if workload.rates:
                row["overloaded"] = of_rate(scenario, workload, row)
        return rows
    except KeyError as missing:
        why = f"its result has no {missing.args[0]!r}"
        raise SpecError([other_engine(why, scenario.path)]) from missing


def result_of(
    scenario: Scenario,
    runs: Sequence[tuple[int, int]],
    finished: Mapping[int, str],
    seed: int | None,
) -> Result:
    """What the finished runs of a scenario have found.

    Args:
        scenario: Of which the runs are.
        runs: Point and replication of each.
        finished: What the engine gave, by position in `runs`; some may be missing.
        seed: Replaces the scenario's.
    """
    rows: list[Row] = []
    breaches: list[str] = []
    events: list[RunEvent] = []
    data: dict[str, int] = {}
    traced: list[IoRow] | None = None
    failed: list[str] = []
    traces: list[TraceFound] = []
    recorded: list[Recorded] = []
    for at, (point, replication) in enumerate(runs):
        if at in finished:
            outcome: RunResult = json.loads(finished[at])
            recorded.append(Recorded.of(outcome))
            where = f"point {point}, replication {replication}"
            events += [
                {"point": point, "replication": replication, **entry} for entry in outcome["log"]
            ]
            for what, count in counts_of(outcome).items():
                data[what] = data.get(what, 0) + count
            breaches += [f"{where}: {breach}" for breach in outcome["breaches"]]
            failed += failed_jobs(scenario.base, outcome.get("threads", ()))
            own = rows_of(scenario, point, replication, outcome)
            rows += own
            found = traced_of(scenario, point, replication, outcome)
            traced = traced if found is None else (traced or []) + found
            traces += traces_of(scenario, point, replication, outcome)
    with_traces(scenario, rows, traces)
    add_doubts(rows, scenario)
    observed = Observed(rows, scenario, traces, events, data, failed)
    return Result(
        title=scenario.title,
        seed=scenario.seed if seed is None else seed,
        version=_engine.version(),
        results=tuple(rows),
        warnings=(*scenario.warnings, *warnings_of(observed)),
        breaches=tuple(breaches),
        events=tuple(events),
        data=data or None,
        devices=tuple(
            {
                "name": device.spec.name,
                "kind": device.spec.kind,
                "fingerprint": device.fingerprint,
            }
            for device in scenario.devices
        ),
        fingerprint=scenario.fingerprint,
        interrupted=len(finished) < len(runs),
        written=scenario.written,
        ios=None if traced is None else tuple(traced),
        traces=tuple(traces),
        recorded=tuple(recorded),
    )
