"""A trace on a drive or a system: what `raidlab replay` does.

The engine reads the trace twice, line by line: once to check it, once to replay it. Neither the
trace nor its response times are kept, so memory does not grow with its length.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from raidlab.calibration.traces.cdf import rms_distance_of_counts_ms
from raidlab.calibration.traces.doubts import doubts, overload
from raidlab.calibration.traces.formats import Beyond, TraceFile, faults_of, notes, opened, watching
from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.schema import DriveOptions, DriveSpec, PreconditioningLoad
from raidlab.scenarios import _engine
from raidlab.scenarios.planning.arrays import usable_bytes
from raidlab.scenarios.planning.scenario import Scenario
from raidlab.scenarios.results.result import Result, make_row
from raidlab.scenarios.running.engine_faults import capacities, plan_faults
from raidlab.scenarios.running.simulate import Progress

Precondition = Literal["fresh", "filled", "steady-state"]
_FILL_BLOCK = 128 * 1024
_SETTLED_BLOCK = 4096
MOST_OUTSTANDING = 65_536


@dataclass(frozen=True)
class Target:
    """What a trace is replayed on: an array of a plan without a load of its own."""

    name: str
    plan: Mapping[str, Any]
    array: int
    capacity: int
    """Bytes that it offers."""
    seed: int = 1
    devices: tuple[Mapping[str, str], ...] = ()
    """Name, kind and fingerprint of its device files."""
    remedy: str = "--precondition filled"
    """What writes its drives before the trace."""
    warnings: tuple[str, ...] = ()

    @staticmethod
    def of_drive(spec: DriveSpec, seed: int = 1, precondition: Precondition = "fresh") -> Target:
        """One drive with nothing before it: no host, no link.

        Args:
            spec: The drive.
            seed: Of the random numbers.
            precondition: What was written before: nothing, all of it once, or random writes of
                4 KiB over all of it until nothing changes any more.

        Raises:
            SpecError: The drive keeps no state that could be preconditioned.
        """
        plan = _plan(spec, DriveOptions(), seed)
        size = capacities(plan)[0]
        if precondition != "fresh":
            if spec.kind != "ssd":
                allowed = f"an SSD: a drive of kind {spec.kind} does not remember what was written"
                raise SpecError([Fault("--precondition", precondition, allowed)])
            history = _history(size, precondition)
            plan = _plan(spec, DriveOptions(history=history), seed)
        return Target(spec.name, plan, 0, size, seed)

    @staticmethod
    def of_scenario(
        scenario: Scenario, array: str | None = None, seed: int | None = None
    ) -> Target:
        """An array of a scenario behind its host; the scenario's own loads do not run.

        Raises:
            SpecError: There is no such array, or the engine refuses the plan.
        """
        plan = {**scenario.plan(0, 0, seed), "workloads": []}
        names = [one["name"] for one in plan["arrays"]]
        if array is not None and array not in names:
            allowed = f"an array of the scenario: {', '.join(names)}"
            raise SpecError([Fault("--array", array, allowed, names, scenario.path)])
        index = 0 if array is None else names.index(array)
        sizes = capacities(plan, scenario)
        chosen = plan["arrays"][index]
        drives = [sizes[drive] for drive in chosen["drives"]]
        size = usable_bytes(chosen["level"], chosen["stripe_unit_bytes"], drives)
        return Target(
            f"{names[index]} of {scenario.title}",
            plan,
            index,
            size,
            scenario.seed if seed is None else seed,
            tuple(
                {"name": each.spec.name, "kind": each.spec.kind, "fingerprint": each.fingerprint}
                for each in scenario.devices
            ),
            'run.precondition = "filled"',
            scenario.warnings,
        )


@dataclass(frozen=True)
class Timing:
    """When requests are issued, and where."""

    outstanding: int = 0
    """Requests in flight of a closed loop; 0 for the trace's own times."""
    pauses: bool = True
    """Whether a closed loop keeps the trace's pauses between a completion and the next request."""
    slower: float = 1.0
    """Times between requests, times this."""
    beyond: Beyond = "refuse"
    """What becomes of requests that end beyond the device."""

    def placement(self, capacity: int, *, closed: bool) -> dict[str, Any]:
        """How the engine reads the trace."""
        keeps = self.pauses or not self.outstanding
        return {
            "capacity": capacity,
            "beyond": self.beyond,
            "slower": self.slower if keeps else 0.0,
            "pauses": bool(self.outstanding) and not closed,
        }


AS_TIMED = Timing()


@dataclass(frozen=True)
class Replayed:
    """What a replay gave, with what was measured beside it."""

    result: Result
    """What a run gives."""
    found: Mapping[str, Any] = field(repr=False)
    """What the engine gives besides."""
    simulated_us: NDArray[np.float64] = field(repr=False)
    """Response time of each request, if it was asked for."""

    def to_dict(self) -> dict[str, Any]:
        """The document of `raidlab replay --json`; measured fields are null without a measurement.

        Where only some requests were measured, those alone are compared.
        """
        requests = self.found["requests"]
        document: dict[str, Any] = {
            "requests": requests,
            "measured_requests": 0,
            "measured_mean_us": None,
            "simulated_mean_us": self.found["simulated_sum_ns"] / 1000 / requests,
            "rms_ms": None,
            "rms_pct_of_mean": None,
            "latency_us": self.result.results[0]["latency_us"],
            "measured_latency_us": self.found["measured_latency_us"],
        }
        both = self.found["comparison"]
        if both is not None:
            rms = rms_distance_of_counts_ms(both["simulated"], both["measured"])
            mean = both["measured_sum_us"] / both["requests"]
            document |= {
                "measured_requests": both["requests"],
                "measured_mean_us": mean,
                "rms_ms": rms,
                "rms_pct_of_mean": 100 * rms * 1000 / mean if mean > 0 else None,
            }
        return document | {"errors": []} | self.result.to_dict()


def replay(
    trace: TraceFile,
    target: Target,
    timing: Timing = AS_TIMED,
    *,
    each: bool = False,
    progress: Progress | None = None,
) -> Replayed:
    """Replays a trace.

    Args:
        trace: The file.
        target: The drive or the system.
        timing: When requests are issued, and where.
        each: Whether the response time of every request is kept.
        progress: Called now and then with the requests so far and all of them.

    Raises:
        SpecError: Lines are at fault, requests do not fit, or the target's plan is at fault.
        KeyboardInterrupt: Ctrl-C.
    """
    with opened(trace) as file:
        closed = file.form == "disksim-validate"
        placement = timing.placement(target.capacity, closed=closed)
        outstanding = timing.outstanding or int(closed)
        options = {
            "trace": file.options(**placement),
            "array": target.array,
            "outstanding": outstanding,
            "each": each,
        }
        try:
            with faults_of(trace):
                text, responses = _engine.replay(
                    json.dumps(target.plan), json.dumps(options), watching(progress)
                )
        except _engine.PlanError as error:
            raise SpecError(plan_faults(error, plan=target.plan)) from None
    found = json.loads(text)
    held = found["scan"]
    warnings = [*target.warnings, *notes(held), *_outside(held, timing.beyond)]
    warnings += doubts(found, held, target.plan, target.array, target.remedy)
    if not outstanding:
        warnings += overload(found, held["length_ns"] * timing.slower / 1e9)
    result = _result(found["run"], trace, target, outstanding, warnings)
    return Replayed(result, found, np.frombuffer(responses, dtype="<u8") / 1000.0)


def _outside(held: Mapping[str, Any], beyond: Beyond) -> list[str]:
    become = {"wrap": "taken modulo its size", "skip": "left out"}.get(beyond)
    if beyond == "scale":
        return ["addresses are spread over the device, or drawn together, by pieces of 1 MiB"]
    if not held["outside"] or become is None:
        return []
    how = f"lie beyond the device: {become}"
    return [f"{held['outside']:,} of {held['requests']:,} requests {how}"]


def _result(
    run: Mapping[str, Any],
    trace: TraceFile,
    target: Target,
    outstanding: int,
    warnings: list[str],
) -> Result:
    row = make_row(
        run,
        (0,),
        name="trace",
        target=run["workloads"][0]["target"],
        point=0,
        outstanding=outstanding,
        replication=0,
    )
    happened = {"point": 0, "replication": 0}
    return Result(
        title=f"{trace.path.name} on {target.name}",
        seed=target.seed,
        version=_engine.version(),
        results=(row | {"replications": 1},),
        warnings=tuple(dict.fromkeys(warnings)),
        breaches=tuple(run["breaches"]),
        events=tuple(happened | entry for entry in run["log"]),
        data=run["data"],
        devices=target.devices,
    )


def _history(size: int, precondition: Precondition) -> tuple[PreconditioningLoad, ...]:
    filled = PreconditioningLoad("sequential", 0, size, _FILL_BLOCK, size)
    if precondition == "filled":
        return (filled,)
    return filled, PreconditioningLoad("random", 0, size, _SETTLED_BLOCK, 0, ongoing=True)


def _plan(spec: DriveSpec, options: DriveOptions, seed: int) -> dict[str, Any]:
    """One drive and nothing else."""
    return {
        "seed": seed,
        "warm_up_ns": 0,
        "duration_ns": 0,
        "host": {"submit_ns": 0, "complete_ns": 0, "raid_command_ns": 0},
        "links": [],
        "controllers": [],
        "devices": [spec.to_plan(options)],
        "drives": [{"name": spec.name, "device": 0, "queue_depth": spec.queue_depth, "path": []}],
        "arrays": [
            {
                "name": spec.name,
                "level": "jbod",
                "stripe_unit_bytes": 65536,
                "drives": [0],
                "controller": None,
                "software": False,
            }
        ],
        "workloads": [],
    }
