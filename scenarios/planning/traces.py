"""A recorded trace as a load of a scenario: read and checked once, then planned."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.units import format_size
from raidlab.scenarios import _engine
from raidlab.scenarios.planning.builder import Parts
from raidlab.scenarios.planning.sharing import share_plan
from raidlab.scenarios.spec.schema import ScenarioTable, WorkloadTable
from raidlab.scenarios.spec.trace_columns import columns_of

_OPTIONS = {"--unit": "trace_volume", "--beyond": "trace_beyond", "--columns": "trace_columns"}
"""Keys of a workload for what the reader of traces calls options."""
_SECTOR = 512


@dataclass(frozen=True)
class TracePlan:
    """The parts of a workload's plan that a trace settles."""

    plan: dict[str, Any]
    length_ns: int
    """From its first request to its last one."""


def trace_plan(key: str, workload: WorkloadTable, parts: Parts, usable: int) -> TracePlan | None:
    """The load of a trace; None, and faults, if it cannot be read or does not fit.

    Args:
        key: Of the workload in the scenario.
        workload: Its table.
        parts: Takes faults and warnings; knows the folder of the scenario's file.
        usable: Bytes that the array offers.
    """
    path = (parts.folder or Path()) / str(workload.trace)
    try:
        options = _options(path, workload, usable)
        held = json.loads(_engine.scan_trace(json.dumps(options), None))
    except _engine.TraceError as error:
        for each in json.loads(error.args[0]):
            own = _OPTIONS.get(each["key"])
            allowed = each["allowed"].replace("--beyond", "trace_beyond")
            name = f"{key}.{own}" if own else each["key"] or f"{key}.trace"
            value = each["value"] if each["key"] else str(workload.trace)
            file = str(path) if each["key"] and not own else ""
            parts.faults.found.append(Fault(name, value, allowed, each["choices"], file))
        return None
    except SpecError as error:
        for fault in error.faults:
            own = _OPTIONS.get(fault.key, fault.key)
            parts.faults.add(f"{key}.{own}", fault.value, fault.allowed, fault.choices)
        return None
    if held["closed"]:
        allowed = "a trace with times; in this one each request waits for the one before it"
        parts.faults.add(f"{key}.trace", str(workload.trace), f"{allowed}: raidlab replay")
        return None
    parts.warnings += _notes(key, held, workload)
    share = held["reads"] / held["requests"]
    plan = {
        "hot_spot": None,
        "access": "random",
        "read_share": share,
        # Of what a trace asks for nothing is drawn.
        "block_bytes": _SECTOR,
        "align_bytes": _SECTOR,
        "area_start_bytes": 0,
        "area_bytes": usable,
        "arrival": {"kind": "traced", "trace": options},
        "passes": 0,
    }
    return TracePlan(plan, round(held["length_ns"] * workload.trace_slower))


def _options(path: Path, workload: WorkloadTable, usable: int) -> dict[str, Any]:
    """How the engine reads the trace."""
    form, columns = workload.trace_format, None
    if workload.trace_columns is not None:
        named = columns_of(workload.trace_columns)
        columns = {meaning: {"name": name, "unit": unit} for meaning, (name, unit) in named.items()}
        form = form or "csv"
    return {
        "path": str(path),
        "format": form or _engine.recognise_trace(path),
        "columns": columns,
        "unit": workload.trace_volume,
        "capacity": usable,
        "beyond": workload.trace_beyond,
        "slower": workload.trace_slower,
        "pauses": False,
    }


def _notes(key: str, held: Mapping[str, Any], workload: WorkloadTable) -> list[str]:
    found = []
    units = [each["name"] for each in held["units"]]
    if len(units) > 1:
        found.append(
            f"{key}.trace: its {len(units)} volumes ({', '.join(units[:10])}) lie one after the"
            f" other, {format_size(held['extent'])} in all; trace_volume chooses one"
        )
    if held["outside"]:
        become = {"wrap": "taken modulo its size", "skip": "left out"}
        how = become.get(workload.trace_beyond, "spread over it")
        found.append(
            f"{key}.trace: {held['outside']:,} of {held['requests']:,} requests lie beyond the"
            f" array: {how}"
        )
    return found


def traced_load(at: int, name: str, table: ScenarioTable, parts: Parts) -> dict[str, Any] | None:
    """The plan of a load that a trace has recorded; None, and a fault, if it cannot be."""
    key, workload = f"workload.{at}", table.workload[at]
    arrays, usable = parts.offered[table.target_name(at)]
    if len(arrays) > 1:
        allowed = "an array that is one device: drives of level independent are several"
        parts.faults.add(f"{key}.trace", workload.trace, allowed)
    if usable is None or len(arrays) != 1:
        return None
    found = trace_plan(key, workload, parts, usable)
    if found is None:
        return None
    parts.longest_trace_ns = max(parts.longest_trace_ns, found.length_ns)
    own = {"name": name, "array": arrays[0], "threads": workload.threads or table.host.threads}
    limits = {"limits": workload.limits} if workload.limit else {}
    return own | found.plan | limits | share_plan(table, at)


def times(table: ScenarioTable, longest_trace_ns: int) -> dict[str, int]:
    """When the recording begins and ends: with the traces, where the file does not say."""
    run, lapse = table.run, table.run.time_lapse
    warm_up, duration, most = run.least_warm_up, run.duration, run.most_warm_up
    if any(load.trace is not None for load in table.workload):
        most = 0
        if run.warm_up is None:
            warm_up = 0
        if "duration" not in run.model_fields_set:
            # The run is over with the last request, which may take its time.
            duration = longest_trace_ns + run.duration
    step = run.timeline_step or max(1, (warm_up + duration) // 50)
    return {
        "warm_up_ns": warm_up,
        "warm_up_most_ns": 0 if table.event else most,
        "duration_ns": duration // lapse,
        "timeline_step_ns": max(1, step // lapse),
    }
