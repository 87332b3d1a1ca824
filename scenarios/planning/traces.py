"""A recorded trace as a load: read and checked once, then planned."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.plan_types import Filling, Plan, TracedArrival, WorkloadPlan
from raidlab.scenarios.planning.parts import Parts
from raidlab.scenarios.planning.sharing import share_plan
from raidlab.scenarios.planning.trace_files import Timing, TraceFile, notes, scan
from raidlab.scenarios.spec.findings import Code, Coded
from raidlab.scenarios.spec.schema import ScenarioTable, WorkloadTable
from raidlab.scenarios.spec.sustained import filling_plan

_OPTIONS = {
    "--format": "trace_format",
    "--unit": "trace_volume",
    "--beyond": "trace_beyond",
    "--columns": "trace_columns",
}
"""Keys of a workload for what the reader of traces calls options."""
_SECTOR = 512
UNTIL_OVER_NS = 1 << 59
"""Of a plan: the recording ends with the loads that have an end."""
_PROGRESS_STEPS = 50
_FIRST_STEP_NS = 1_000_000
"""Of the timeline where nobody knows how long the run is; the engine makes steps longer."""


@dataclass(frozen=True)
class TracePlan:
    """The load of a trace on an array."""

    arrival: TracedArrival
    read_share: float
    usable: int
    """Bytes that the array offers."""
    outstanding: int
    """Requests in flight of a closed loop; 0 where they come at their times."""
    length_ns: int
    """From its first request to its last one; 0 for a closed loop, of which nobody knows."""
    per_s: float
    """The mean of its requests a second; 0 for a closed loop."""
    notes: tuple[str, ...]
    """What a user should know of where its requests lie."""

    def workload(self, name: str, array: int, threads: int = 1) -> WorkloadPlan:
        """`WorkloadPlan` of the native engine; of what a trace asks for nothing is drawn."""
        return {
            "name": name,
            "array": array,
            "threads": threads,
            "hot_spot": None,
            "access": "random",
            "read_share": self.read_share,
            "block_bytes": _SECTOR,
            "align_bytes": _SECTOR,
            "area_start_bytes": 0,
            "area_bytes": self.usable,
            "arrival": self.arrival,
            "passes": 0,
        }


def trace_plan(
    trace: TraceFile,
    timing: Timing,
    usable: int,
    *,
    each: bool = False,
    trims: bool = True,
    chosen_by: str = "--unit",
) -> TracePlan:
    """The load of a trace.

    Args:
        trace: A file that can be read twice, with its format.
        timing: When its requests are issued, and where.
        usable: Bytes that the array offers.
        each: Whether the engine gives the response time of every request.
        trims: Whether the array takes trims; they are left out where it does not.
        chosen_by: The option or key that chooses one disk of several.

    Raises:
        SpecError: Lines are at fault: all of them, up to twenty; or requests do not fit.
    """
    timing = timing.of(trace)
    placement = timing.placement(usable, trace)
    if not trims:
        placement["without_trims"] = True
    held = scan(trace, **placement)
    arrival: TracedArrival = {
        "kind": "traced",
        "trace": trace.options(**placement),
        "outstanding": timing.outstanding,
    }
    if each:
        arrival["each"] = True
    read_share = held["reads"] / held["requests"]
    length = 0 if timing.outstanding else round(held["length_ns"] * timing.slower)
    per_s = held["requests"] / length * 1e9 if length else 0.0
    found = notes(held, timing.beyond, chosen_by)
    if held["trims"] and not trims:
        of = f"{held['trims']:,} of {held['requests'] + held['trims']:,} requests"
        found += (f"{of} are left out: trims, which the array's hard disks do not have",)
    return TracePlan(arrival, read_share, usable, timing.outstanding, length, per_s, found)


def traced_load(
    at: int, name: str, table: ScenarioTable, parts: Parts
) -> tuple[WorkloadPlan, int, float] | None:
    """The plan of a load that a trace has recorded, and its requests in flight; 0 if open.

    Then the mean of its requests a second; 0 if it is a loop.

    None, and a fault, if it cannot be.
    """
    key, workload = f"workload.{at}", table.workload[at]
    arrays, usable = parts.offered[table.target_name(at)]
    if len(arrays) > 1:
        allowed = "an array that is one device: drives of level independent are several"
        parts.faults.add(f"{key}.trace", workload.trace, allowed)
    if usable is None or len(arrays) != 1:
        return None
    found = _planned(key, workload, parts, usable, trims=parts.takes_trim(arrays[0]))
    if found is None:
        return None
    parts.trace_lengths_ns.append(found.length_ns)
    parts.warnings += [
        Coded(f"{key}.trace: {note}", Code.TRACE_NOTE, f"{key}.trace") for note in found.notes
    ]
    plan = found.workload(name, arrays[0], workload.threads or table.host.threads)
    if workload.limit:
        plan["limits"] = workload.limits
    if (share := share_plan(table, at)) is not None:
        plan["share"] = share
    return plan, found.outstanding, found.per_s


def _planned(
    key: str, workload: WorkloadTable, parts: Parts, usable: int, *, trims: bool
) -> TracePlan | None:
    path = (parts.folder or Path()) / str(workload.trace)
    trace = TraceFile(
        path,
        workload.trace_format or "",
        workload.trace_columns or "",
        workload.trace_volume,
    )
    if trace.is_pipe:
        parts.faults.add(f"{key}.trace", workload.trace, "a file: it is read twice")
        return None
    try:
        trace = trace.known()
        timing = timing_of(workload)
        return trace_plan(trace, timing, usable, trims=trims, chosen_by="trace_volume")
    except SpecError as error:
        for fault in error.faults:
            own = _OPTIONS.get(fault.key)
            parts.faults.extend([
                replace(
                    fault,
                    key=f"{key}.{own}" if own else fault.key or f"{key}.trace",
                    value=fault.value if fault.key else str(workload.trace),
                    allowed=_allowed(fault, path),
                    file=fault.file if fault.key and not own else "",
                )
            ])  # fmt: skip
        return None


def _allowed(fault: Fault, path: Path) -> str:
    """What is allowed, in the scenario's words; of a file that cannot be read, which that is."""
    if not fault.key:
        return f"a trace that can be read; {path}: {fault.allowed}"
    return fault.allowed.replace("--beyond", "trace_beyond")


def timing_of(workload: WorkloadTable) -> Timing:
    """When the requests of a workload's trace are issued."""
    places = workload.outstanding or (1,)
    return Timing(
        0 if workload.trace_timing == "trace" else places[0],
        workload.trace_timing != "full-speed",
        workload.trace_slower,
        workload.trace_beyond,
    )


@dataclass(frozen=True)
class RunTimes:
    """When a recording begins and ends, in nanoseconds."""

    warm_up: int
    warm_up_most: int
    duration: int
    timeline_step: int
    filling: Filling | None = None

    def put(self, plan: Plan) -> None:
        """Puts them into a plan."""
        plan["warm_up_ns"] = self.warm_up
        plan["warm_up_most_ns"] = self.warm_up_most
        plan["duration_ns"] = self.duration
        plan["timeline_step_ns"] = self.timeline_step
        if self.filling is not None:
            plan["filling"] = self.filling


def run_times(table: ScenarioTable, trace_lengths_ns: list[int]) -> RunTimes:
    """When the recording begins and ends: with the traces, where the file does not say."""
    run, lapse = table.run, table.run.time_lapse
    warm_up, duration, most = run.least_warm_up, run.duration, run.most_warm_up
    if not any(load.trace is not None for load in table.workload):
        step = run.timeline_step or max(1, (warm_up + duration) // _PROGRESS_STEPS)
    else:
        most = 0
        if run.warm_up is None:
            warm_up = 0
        step = run.timeline_step or timeline_step(trace_lengths_ns)
        if "duration" not in run.model_fields_set:
            return until_over(warm_up, max(1, step // lapse))
    return RunTimes(
        warm_up,
        0 if table.event else most,
        duration // lapse,
        max(1, step // lapse),
        _filling(table, warm_up, duration),
    )


def _filling(table: ScenarioTable, warm_up: int, duration: int) -> Filling | None:
    """Whether the warm-up waits for full caches: not where events have their times, or traces."""
    waits = table.run.state == "sustained" and not table.event and table.run.time_lapse == 1
    traced = any(load.trace is not None for load in table.workload)
    return filling_plan(warm_up, duration) if waits and not traced else None


def timeline_step(trace_lengths_ns: list[int]) -> int:
    """Length of the timeline's steps, in nanoseconds, for traces of these lengths."""
    if not trace_lengths_ns or 0 in trace_lengths_ns:
        return _FIRST_STEP_NS
    return max(1, max(trace_lengths_ns) // _PROGRESS_STEPS)


def until_over(warm_up_ns: int, step_ns: int) -> RunTimes:
    """Times of a plan whose recording is over with its traces."""
    return RunTimes(warm_up_ns, 0, UNTIL_OVER_NS, step_ns)
