"""The result of a live system: what the engine recorded, as rows of a `Result`."""

from __future__ import annotations

from collections.abc import Sequence

from raidlab.devices.plan_types import WorkloadPlan
from raidlab.scenarios import _engine
from raidlab.scenarios.planning.scenario import Scenario
from raidlab.scenarios.results.diagnostics.judges import DRIVES, warnings_of
from raidlab.scenarios.results.diagnostics.observed import Observed
from raidlab.scenarios.results.diagnostics.statements import add_doubts
from raidlab.scenarios.results.result import Result, make_row
from raidlab.scenarios.results.row import Row
from raidlab.scenarios.running.details import counts_of
from raidlab.scenarios.running.simulate import rows_of
from raidlab.scenarios.spec.run_result import RunResult, WorkloadResult


def live_result(
    outcome: RunResult, loads: Sequence[WorkloadPlan], scenario: Scenario | None, seed: int
) -> Result:
    """The result of what the engine reports of a live system.

    Args:
        outcome: The engine's report.
        loads: Of the plan that it runs.
        scenario: What the plan was made of, if it was a scenario.
        seed: Of the system.
    """
    own = () if scenario is None else scenario.workloads
    rows = [] if scenario is None else rows_of(scenario, 0, 0, outcome)
    for row in rows:
        row["replications"] = 1
    done = {part for workload in own for part in workload.parts}
    others = [at for at in range(len(outcome["workloads"])) if at not in done]
    used = [at for at in others if _is_used(outcome["workloads"][at])]
    # Without any I/O all arrays are shown: their components have worked, or not.
    rows += [
        {**_row(outcome, loads, at), "replications": 1} for at in (used if rows or used else others)
    ]
    add_doubts(rows, scenario)
    seen = warnings_of(Observed(rows, scenario), DRIVES)
    return Result(
        title="" if scenario is None else scenario.title,
        seed=seed,
        version=_engine.version(),
        results=tuple(rows),
        warnings=(*(scenario.warnings if scenario else ()), *seen),
        breaches=tuple(outcome["breaches"]),
        events=tuple({"point": 0, "replication": 0, **entry} for entry in outcome["log"]),
        data=None if outcome["data"] is None else counts_of(outcome),
        devices=tuple(
            {"name": each.spec.name, "kind": each.spec.kind, "fingerprint": each.fingerprint}
            for each in (() if scenario is None else scenario.devices)
        ),
        fingerprint="" if scenario is None else scenario.fingerprint,
        written=None if scenario is None else scenario.written,
    )


def _is_used(load: WorkloadResult) -> bool:
    return bool(load["ios"] or load["errors"])


def _row(outcome: RunResult, loads: Sequence[WorkloadPlan], at: int) -> Row:
    load = outcome["workloads"][at]
    outstanding = 0
    if at < len(loads):
        arrival = loads[at]["arrival"]
        if arrival["kind"] in ("closed", "traced"):
            outstanding = arrival.get("outstanding", 0)
    return make_row(
        outcome,
        (at,),
        name=load["name"],
        target=load["target"],
        point=0,
        outstanding=outstanding,
        replication=0,
    )
