"""Tenants: which loads share an array by weights and priorities."""

from __future__ import annotations

from raidlab.devices.faults import Faults
from raidlab.devices.plan_types import SharePlan
from raidlab.scenarios.spec.findings import Code, Coded
from raidlab.scenarios.spec.schema import PRIORITIES, ScenarioTable, WorkloadTable

SHARED_DEPTH = 32
"""I/Os of tenants in an array at once, as in VMware's `SchedNumReqOutstanding`."""


def _says(load: WorkloadTable) -> bool:
    return load.weight is not None or load.priority is not None


def is_shared(table: ScenarioTable, array: str) -> bool:
    """True if a load on an array says its weight or priority."""
    own = (at for at in range(len(table.workload)) if table.target_name(at) == array)
    return any(_says(table.workload[at]) for at in own)


def share_plan(table: ScenarioTable, at: int) -> SharePlan | None:
    """A workload's share, where its array is shared."""
    load = table.workload[at]
    if not is_shared(table, table.target_name(at)):
        return None
    priority = PRIORITIES.index(load.priority or "normal")
    return {"weight": load.weight or 1, "priority": priority}


def check_sharing(table: ScenarioTable, faults: Faults) -> list[str]:
    """Faults of what has no effect; gives warnings of shares that nobody else has."""
    warnings: list[str] = []
    for at, array in enumerate(table.array):
        name = table.array_name(at)
        loads = [n for n in range(len(table.workload)) if table.target_name(n) == name]
        shared = [n for n in loads if _says(table.workload[n])]
        if array.shared_depth is not None and not shared:
            allowed = "left out: no workload on the array has a `weight` or a `priority`"
            faults.add(f"array.{at}.shared_depth", array.shared_depth, allowed)
        if not shared:
            continue
        for n in loads:
            if table.workload[n].buffered:
                allowed = "without `weight` and `priority` beside it: it takes no part in sharing"
                faults.add(f"workload.{n}", table.workload[n].name or f"workload-{n}", allowed)
        if len(loads) == 1:
            key = "weight" if table.workload[shared[0]].weight is not None else "priority"
            own = f"workload.{shared[0]}.{key}"
            text = f"{own}: no other workload shares {name} with it"
            warnings.append(Coded(text, Code.NO_EFFECT, own))
    return warnings
