"""Streams of writes whose blocks do not fill stripes: drives read before they write."""

from __future__ import annotations

from collections.abc import Iterator

from raidlab.devices.levels import facts_of
from raidlab.devices.plan_types import ArrayPlan, WorkloadPlan
from raidlab.devices.units import format_size
from raidlab.scenarios.results.bottleneck import bound
from raidlab.scenarios.results.diagnostics.observed import Observed
from raidlab.scenarios.spec.findings import Code, Coded


def partial_stripes(observed: Observed) -> Iterator[str]:
    """A warning for each sequential load of an array with parity that drives hold up by it."""
    scenario = observed.scenario
    for load in () if scenario is None else scenario.workloads:
        if scenario is None or load.is_fio:
            continue
        plan = scenario.base["workloads"][load.parts[0]]
        stripe = _stripe(scenario.base["arrays"][plan["array"]])
        rows = [row for row in observed.rows if row["workload"] == load.name]
        if not stripe or not _writes_in_sequence(plan) or plan["block_bytes"] % stripe == 0:
            continue
        if any((found := bound(row)) and found.is_full and "drive" in found.kinds for row in rows):
            block, whole = format_size(plan["block_bytes"]), format_size(stripe)
            yield Coded(
                f"{load.name}: read-modify-write: the block of {block} is no multiple of the"
                f" stripe of {whole}, so drives read old data or parity before they write"
                f' (block_size = "{whole}" fills stripes)',
                Code.PARTIAL_STRIPE,
                load.name,
            )


def _writes_in_sequence(plan: WorkloadPlan) -> bool:
    return plan.get("access") == "sequential" and plan["read_share"] < 1


def _stripe(array: ArrayPlan) -> int:
    """Bytes of data in a stripe of parity whose controller gathers no writes; else 0."""
    of_level = facts_of(array)
    cache = array.get("cache")
    write_back = cache is not None and cache["write"] == "write_back"
    if not of_level.parities or write_back:
        return 0
    return of_level.data_columns(len(array["drives"])) * array["stripe_unit_bytes"]
