"""A trace on a drive or a system: what `raidlab replay` does.

A replay is the run of a system whose only load is the trace. The engine reads the trace twice, line
by line: once to check it, once to replay it. Neither the trace nor its response times are kept, so
memory does not grow with its length.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypedDict, Unpack

from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.levels import facts_of
from raidlab.devices.plan_types import DeviceParams, Plan
from raidlab.devices.schema import DriveOptions, DriveSpec, PreconditioningLoad
from raidlab.devices.trees import Document
from raidlab.scenarios.planning.arrays import usable_bytes
from raidlab.scenarios.planning.scenario import Loaded, Scenario
from raidlab.scenarios.planning.trace_files import Timing, TraceFile, opened
from raidlab.scenarios.planning.traces import TracePlan, timeline_step, trace_plan, until_over
from raidlab.scenarios.planning.trims import takes_trim
from raidlab.scenarios.results.result import Result
from raidlab.scenarios.running.details import Details
from raidlab.scenarios.running.engine_faults import capacities
from raidlab.scenarios.running.pool import Progress
from raidlab.scenarios.running.simulate import Interrupted, simulate
from raidlab.scenarios.running.store import Store
from raidlab.scenarios.spec.run_result import Latency, TraceReport

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Precondition = Literal["fresh", "filled", "steady-state"]
_FILL_BLOCK = 128 * 1024
_SETTLED_BLOCK = 4096
MOST_OUTSTANDING = 65_536
NAME = "trace"
"""Of the load, in rows and goals."""


@dataclass(frozen=True)
class Target:
    """What a trace is replayed on: an array of a system whose own loads do not run."""

    name: str
    scenario: Scenario
    array: int
    capacity: int
    """Bytes that the array offers."""

    @property
    def takes_trim(self) -> bool:
        """True if all drives of the array take trims."""
        base = self.scenario.base
        own = (base["drives"][drive]["device"] for drive in base["arrays"][self.array]["drives"])
        return takes_trim(base["devices"], own)

    @staticmethod
    def of_drive(spec: DriveSpec, seed: int = 1, precondition: Precondition = "fresh") -> Target:
        """One drive with nothing before it: no host, no link.

        Args:
            spec: The drive.
            seed: Seed of the random numbers.
            precondition: What was written before: nothing, all of it once, or random writes of
                4 KiB over all of it until nothing changes any more.

        Raises:
            SpecError: The drive keeps no state that could be preconditioned.
        """
        plan = _plan(spec.name, spec.to_plan(DriveOptions()), spec.queue_depth)
        size = capacities(plan)[0]
        if precondition != "fresh":
            if spec.kind != "ssd":
                allowed = f"an SSD: a drive of kind {spec.kind} does not remember what was written"
                raise SpecError([Fault("--precondition", precondition, allowed)])
            options = DriveOptions(history=_history(size, precondition))
            plan = _plan(spec.name, spec.to_plan(options), spec.queue_depth)
        return Target.of_plan(plan, size, seed)

    @staticmethod
    def of_plan(plan: Plan, capacity: int, seed: int = 1) -> Target:
        """The first array of an engine's plan without loads."""
        name = plan["arrays"][0]["name"]
        scenario = Scenario(
            title=name,
            seed=seed,
            replications=1,
            points=1,
            workloads=(),
            models={},
            warnings=(),
            unrebuilt={},
            base=plan,
            written={"array": []},
            written_by="--precondition filled",
        )
        return Target(name, scenario, 0, capacity)

    @staticmethod
    def of_scenario(
        scenario: Scenario, array: str | None = None, seed: int | None = None
    ) -> Target:
        """An array of a scenario behind its host; the scenario's own loads do not run.

        Raises:
            SpecError: There is no such array, or the engine refuses the plan.
        """
        base: Plan = {**scenario.base, "workloads": []}
        base.pop("jobs", None)
        base.pop("outside_threads", None)
        names = [one["name"] for one in base["arrays"]]
        if array is not None and array not in names:
            allowed = f"an array of the scenario: {', '.join(names)}"
            raise SpecError([Fault("--array", array, allowed, names, scenario.path)])
        index = 0 if array is None else names.index(array)
        sizes = capacities(base, scenario)
        chosen = base["arrays"][index]
        drives = [sizes[drive] for drive in chosen["drives"]]
        system = replace(
            scenario,
            seed=scenario.seed if seed is None else seed,
            replications=1,
            points=1,
            workloads=(),
            jobs=(),
            goals=(),
            base=base,
        )
        size = usable_bytes(facts_of(chosen), chosen["stripe_unit_bytes"], drives)
        return Target(f"{names[index]} of {scenario.title}", system, index, size)

    def under(self, load: TracePlan, title: str) -> Scenario:
        """The scenario with a trace as its only load."""
        base, array = self.scenario.base, self.scenario.base["arrays"][self.array]
        alone: Plan = {
            **base,
            "max_ios": 0,
            "precision": 0.0,
            "after_rebuild_ns": 0,
            "workloads": [load.workload(NAME, self.array)],
        }
        until_over(0, timeline_step([load.length_ns])).put(alone)
        return replace(
            self.scenario,
            title=title,
            workloads=(Loaded(NAME, array["name"], (load.outstanding,), (0,)),),
            base=alone,
            warnings=(*self.scenario.warnings, *load.notes),
        )


AS_TIMED = Timing()


class ReplayComparison(TypedDict):
    """Response times of a replay beside measured ones; `rms` is between the distributions."""

    requests: int
    measured_requests: int
    measured_mean_us: float | None
    simulated_mean_us: float
    rms_ms: float | None
    rms_pct_of_mean: float | None
    latency_us: Latency | None
    measured_latency_us: Latency | None


@dataclass(frozen=True)
class Replayed:
    """What a replay gave, with what was measured beside it."""

    result: Result
    """What a run gives."""

    @property
    def found(self) -> TraceReport:
        """What the engine gives besides."""
        return self.result.traces[0]

    @property
    def simulated_us(self) -> NDArray[np.float64]:
        """Response time of each request, shape (requests,), if it was asked for."""
        import numpy as np

        return np.array(self.found.get("each_ns") or (), dtype=np.float64) / 1000.0

    def comparison(self) -> ReplayComparison:
        """Simulated beside measured; measured fields are None without a measurement.

        Where only some requests were measured, those alone are compared.
        """
        requests = self.found["requests"]
        document: ReplayComparison = {
            "requests": requests,
            "measured_requests": 0,
            "measured_mean_us": None,
            "simulated_mean_us": self.found["simulated_sum_ns"] / 1000 / max(1, requests),
            "rms_ms": None,
            "rms_pct_of_mean": None,
            "latency_us": self.result.results[0]["latency_us"],
            "measured_latency_us": self.found["measured_latency_us"],
        }
        both = self.found["comparison"]
        if both is not None:
            # NumPy takes 12 MB, which a replay without a measurement does without.
            from raidlab.calibration.traces.cdf import rms_distance_of_counts_ms

            rms = rms_distance_of_counts_ms(both["simulated"], both["measured"])
            mean = both["measured_sum_us"] / both["requests"]
            document["measured_requests"] = both["requests"]
            document["measured_mean_us"] = mean
            document["rms_ms"] = rms
            document["rms_pct_of_mean"] = 100 * rms * 1000 / mean if mean > 0 else None
        return document

    def to_dict(self) -> Document:
        """The document of `raidlab replay --json`."""
        return {**self.comparison(), "errors": [], **self.result.to_dict()}


def replay(
    trace: TraceFile,
    target: Target,
    timing: Timing = AS_TIMED,
    *,
    each: bool = False,
    progress: Progress | None = None,
    store: Store | None = None,
    save_state: Path | None = None,
    **details: Unpack[Details],
) -> Replayed:
    """Replays a trace.

    Args:
        trace: The file.
        target: The drive or the system.
        timing: When requests are issued, and where.
        each: Whether the response time of every request is kept.
        progress: Called now and then with the requests so far and all of them.
        store: Finds a finished replay again, and stores a new one.
        save_state: A file for the state of the flash drives at the end.
        details: What is recorded besides, as of `simulate`.

    Raises:
        SpecError: Lines are at fault, requests do not fit, or the target's plan is at fault.
        KeyboardInterrupt: Ctrl-C.
    """
    with opened(trace) as file:
        load = trace_plan(file, timing, target.capacity, each=each, trims=target.takes_trim)
        scenario = target.under(load, f"{trace.path.name} on {target.name}")
        # What came from a pipe is not found again.
        store = None if trace.is_pipe else store
        try:
            result = simulate(
                scenario, progress=progress, store=store, save_state=save_state, **details
            )
        except Interrupted:
            # Half a trace is no trace.
            raise KeyboardInterrupt from None
    if trace.is_pipe:
        # The plan names a file that is gone.
        result = replace(result, fingerprint="")
    return Replayed(result)


def _history(size: int, precondition: Precondition) -> tuple[PreconditioningLoad, ...]:
    filled = PreconditioningLoad("sequential", 0, size, _FILL_BLOCK, size)
    if precondition == "filled":
        return (filled,)
    return filled, PreconditioningLoad("random", 0, size, _SETTLED_BLOCK, 0, ongoing=True)


def _plan(name: str, device: DeviceParams, queue_depth: int) -> Plan:
    """One drive and nothing else."""
    plan: Plan = {
        "host": {"submit_ns": 0, "complete_ns": 0, "raid_command_ns": 0},
        "seed": 1,
        "warm_up_ns": 0,
        "duration_ns": 0,
        "links": [],
        "controllers": [],
        "devices": [device],
        "drives": [{"name": name, "device": 0, "queue_depth": queue_depth, "path": []}],
        "arrays": [
            {
                "name": name,
                "level": "jbod",
                "stripe_unit_bytes": 65536,
                "drives": [0],
                "controller": None,
                "software": False,
            }
        ],
        "events": [],
        "workloads": [],
    }
    until_over(0, 1).put(plan)
    return plan
