"""A trace on a drive or a system: what `raidlab replay` does.

A closed trace (`disksim-validate`) keeps one request outstanding: the next one arrives a pause
after the *simulated* completion of the one before. All others are issued at the trace's own times,
whether or not earlier requests have completed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raidlab.calibration.traces.cdf import rms_distance_ms
from raidlab.calibration.traces.doubts import doubts
from raidlab.calibration.traces.trace import Trace
from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.schema import DriveOptions, DriveSpec
from raidlab.scenarios import _engine
from raidlab.scenarios.planning.arrays import usable_bytes
from raidlab.scenarios.planning.scenario import Scenario
from raidlab.scenarios.running.engine_faults import capacities, plan_faults


@dataclass(frozen=True)
class Target:
    """What a trace is replayed on: an array of a plan without a load of its own."""

    name: str
    plan: Mapping[str, Any]
    array: int
    capacity: int
    """Bytes that it offers."""

    @staticmethod
    def of_drive(spec: DriveSpec, seed: int = 1) -> Target:
        """One drive with nothing before it: no host, no link."""
        plan = _plan(spec, DriveOptions(), seed)
        return Target(spec.name, plan, 0, capacities(plan)[0])

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
        return Target(f"{names[index]} of {scenario.title}", plan, index, size)


@dataclass(frozen=True)
class Replayed:
    """Simulated beside measured."""

    simulated_us: NDArray[np.float64]
    measured_us: NDArray[np.float64]
    """NaN where the trace has no response time."""
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The document of `raidlab replay --json`; measured fields are null without a measurement.

        Where only some requests were measured, those alone are compared.
        """
        known = ~np.isnan(self.measured_us)
        document: dict[str, Any] = {
            "requests": int(self.simulated_us.size),
            "measured_requests": int(known.sum()),
            "measured_mean_us": None,
            "simulated_mean_us": float(self.simulated_us.mean()),
            "rms_ms": None,
            "rms_pct_of_mean": None,
            "latency_us": _latency(self.simulated_us),
            "measured_latency_us": None,
            "errors": [],
            "warnings": list(self.notes),
        }
        if known.any():
            measured = self.measured_us[known]
            rms, mean = rms_distance_ms(self.simulated_us[known], measured), float(measured.mean())
            document |= {
                "measured_mean_us": mean,
                "rms_ms": rms,
                "rms_pct_of_mean": 100 * rms * 1000 / mean if mean > 0 else None,
                "measured_latency_us": _latency(measured),
            }
        return document


def replay(trace: Trace, target: Target, should_stop: Callable[[], bool] | None = None) -> Replayed:
    """Replays a trace whose requests lie within the target.

    Raises:
        SpecError: One does not, or the target's plan is at fault.
    """
    trace = trace.within(target.capacity, "refuse")
    try:
        responses = _engine.replay(
            json.dumps(target.plan),
            target.array,
            (
                trace.ops.astype("u1").tobytes(),
                trace.offsets.astype("<u8").tobytes(),
                trace.sizes.astype("<u8").tobytes(),
                trace.times_ns.astype("<u8").tobytes(),
            ),
            not trace.closed,
            should_stop,
        )
    except _engine.PlanError as error:
        raise SpecError(plan_faults(error, plan=target.plan)) from None
    simulated = np.frombuffer(responses, dtype="<u8") / 1000.0
    found = doubts(trace, target.plan, target.array, simulated)
    return Replayed(simulated, trace.measured_us, (*trace.notes, *found))


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


def _latency(sample_us: NDArray[np.float64]) -> dict[str, float]:
    names = {"p50": 50, "p90": 90, "p95": 95, "p99": 99, "p99_9": 99.9, "p99_99": 99.99}
    found = {"min": float(sample_us.min()), "mean": float(sample_us.mean())}
    found |= {name: float(np.percentile(sample_us, rank)) for name, rank in names.items()}
    return found | {"max": float(sample_us.max())}
