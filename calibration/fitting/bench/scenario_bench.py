"""A scenario as a bench: its one array under the loads of measured points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any, Final, NotRequired

from raidlab.calibration.fitting.bench import ssd_state
from raidlab.calibration.fitting.bench.bench import (
    Bench,
    Effort,
    Length,
    Simulated,
    area_start,
    length_of,
    warm_up_ns,
    workload_of,
)
from raidlab.calibration.measurements.measurement import WINDOWS, Point, rates_of, seconds_of
from raidlab.devices.catalogue import Device
from raidlab.devices.faults import Fault, Faults, SpecError
from raidlab.devices.host import HostSpec
from raidlab.devices.plan_types import DeviceParams, Plan, WorkloadPlan
from raidlab.devices.schema import DriveSpec
from raidlab.scenarios.planning.scenario import Scenario, load_scenario
from raidlab.scenarios.spec.trees import RunTree

_MOST_IOS_RATIO: Final = 3.0
"""I/Os of a run over time, as a multiple of the measured ones: beyond it a model is wrong."""


class _Length(Length):
    """How long a plan's run is."""

    warm_up_ns: int
    warm_up_most_ns: int
    timeline_step_ns: int
    precision: NotRequired[float]


@dataclass(frozen=True)
class ScenarioBench(Bench):
    """Whatever stands in a scenario; its own workloads are replaced."""

    scenario: Scenario | None = None
    over_time: bool = False
    """True if points that say how their rates went are simulated from the beginning on."""

    def plan(self, point: Point, effort: Effort) -> Plan:
        """The scenario's plan with a measured point's load."""
        if self.scenario is None:
            raise AssertionError("a bench of a scenario has one")
        plan = self.scenario.plan(0, 0, effort.seed)
        first = plan["workloads"][0]
        start = area_start(point, plan["devices"])
        area = min(point.area_bytes or self.capacity, self.capacity - start)
        if area < point.bs * point.numjobs:
            allowed = f"at least {point.numjobs} blocks; the scenario's load has {self.capacity} B"
            raise SpecError([Fault("area_bytes", point.area_bytes, allowed, (), point.file)])
        load: WorkloadPlan = {
            **workload_of(point, area // point.bs * point.bs),
            "array": first["array"],
            "area_start_bytes": first["area_start_bytes"] + start,
            "hot_spot": first.get("hot_spot"),
        }
        over_time = self.over_time and bool(point.timeline)
        if over_time:
            length = self._whole(plan, point)
        else:
            plan["devices"] = _with_full_buffers(plan, point, self._precondition)
            length = self._steady(plan, point, effort)
        return {**plan, **length, "workloads": [load]}

    def run(self, point: Point, effort: Effort) -> Simulated:
        """Simulates a point; a run over time that ends early would have gone on as before."""
        found = super().run(point, effort)
        missing = WINDOWS - len(found.rates)
        if not (self.over_time and point.timeline) or missing <= 0:
            return found
        return replace(found, rates=(*found.rates, *[found.iops] * missing))

    def _steady(self, plan: Plan, point: Point, effort: Effort) -> _Length:
        """As many I/Os as the rate needs, after what the scenario says of its warm-up.

        A cache that takes writes fills up before them in any case.
        """
        devices = [plan["devices"][device] for device in _ssds(plan)]
        programs = sum(ssd_state.ios_of_programs(device, point) for device in devices)
        ios = max(effort.ios_for(point), round(effort.programs * programs))
        warm_up = warm_up_ns(point, ios, devices)
        cache = plan["arrays"][plan["workloads"][0]["array"]].get("cache")
        if self._names_warm_up or (cache is not None and cache["write"] != "write_through"):
            warm_up = max(warm_up, plan["warm_up_ns"])
        length = length_of(point, ios, effort)
        return {
            "warm_up_ns": warm_up,
            "warm_up_most_ns": 0,
            "duration_ns": length["duration_ns"],
            "max_ios": ios,
            "balance": length["balance"],
            "timeline_step_ns": 0,
        }

    @property
    def has_unknown_past(self) -> bool:
        """False: the scenario says what its drives have been through."""
        return False

    def files(self) -> Sequence[Device]:
        """Those of the scenario."""
        return () if self.scenario is None else self.scenario.devices

    def doubts(self, points: Sequence[Point]) -> list[str]:
        """What a user should know of the scenario beside these points."""
        if self.scenario is None:
            return []
        found = list(self.scenario.warnings)
        if _ssds(self.scenario.base) and not self._states_past:
            found += _other_states(points, self._precondition)
        loaded = self.scenario.base["workloads"][0]["array"]
        reads = any(point.read_share > 0.0 for point in points)
        if reads and _has_fresh_ssds(self.scenario.base, loaded):
            found.append(
                "the points read what was never written, and SSDs answer that without NAND"
                ' (run.precondition = "filled" in the scenario writes it first)'
            )
        return found

    @property
    def _precondition(self) -> str:
        return self._run_table.get("precondition", "fresh")

    @property
    def _states_past(self) -> bool:
        """True if the scenario says more of the past than a precondition."""
        arrays = () if self.scenario is None else self.scenario.written["array"]
        return any("history" in array for array in arrays) or "snapshot" in self._run_table

    @property
    def _names_warm_up(self) -> bool:
        return "warm_up" in self._run_table

    @property
    def _run_table(self) -> RunTree:
        """`[run]` of the scenario."""
        return {} if self.scenario is None else self.scenario.written.get("run", {})

    def _whole(self, plan: Plan, point: Point) -> _Length:
        """As long as it was measured, in a few steps, from the warm-up on that the file names.

        A search tries caches that take in a hundred times what was measured; such a run ends at
        `_MOST_IOS_RATIO` times the I/Os. **Example.** 2,787 writes a second over 12 s: 100,000 of
        2.7 million that an endless cache takes at 222,000 a second.
        """
        step = round(seconds_of(point) * 1e9 / WINDOWS / plan.get("time_lapse", 1))
        measured = fmean(rates_of(point) or (0.0,)) * WINDOWS * step / 1e9
        # Recording begins where a step does.
        begin = -(-plan["warm_up_ns"] // step) * step if self._names_warm_up else 0
        return {
            "warm_up_ns": begin,
            "warm_up_most_ns": 0,
            "duration_ns": WINDOWS * step,
            "max_ios": round(_MOST_IOS_RATIO * measured),
            "balance": None,
            "precision": 0.0,
            "timeline_step_ns": step,
        }


def _other_states(points: Sequence[Point], precondition: str) -> list[str]:
    """That the measurement states another state of its drives than the scenario."""
    states = sorted({point.state for point in points if point.state} - {precondition})
    return [
        f"the measurement's drives were {state}, the scenario's are {precondition}"
        " (run.precondition)"
        for state in states
    ]


def _ssds(plan: Plan) -> list[int]:
    """The device of each solid-state drive of the loaded array, in the plan."""
    drives = plan["arrays"][plan["workloads"][0]["array"]]["drives"]
    found = [plan["drives"][drive]["device"] for drive in drives]
    return [device for device in found if plan["devices"][device]["kind"] == "ssd"]


def _has_fresh_ssds(plan: Plan, array: int) -> bool:
    """True if an array of a plan has SSDs to which nothing was written before the run."""
    devices = (
        plan["devices"][plan["drives"][drive]["device"]]
        for drive in plan["arrays"][array]["drives"]
    )
    return any(
        device["kind"] == "ssd" and not (device.get("history") or device.get("snapshot"))
        for device in devices
    )


def _with_full_buffers(plan: Plan, point: Point, precondition: str) -> list[DeviceParams]:
    """The plan's devices; the loaded SSDs have small buffers, full of what they hold already.

    A drive whose last load before the run goes on has a full buffer as it is. Where none does, as
    the scenario's load writes nothing, its steady state is that of the point's writes.
    """
    devices = list(plan["devices"])
    for at in set(_ssds(plan)) if point.read_share < 1.0 else ():
        device = devices[at]
        if device["kind"] != "ssd":
            continue
        device = ssd_state.with_small_buffer(device)
        history = list(device.get("history", ()))
        if "snapshot" not in device and not (history and history[-1].get("ongoing")):
            end = max((load["start_bytes"] + load["area_bytes"] for load in history), default=0)
            area = min(end or device["capacity_bytes"], device["capacity_bytes"])
            load = ssd_state.just_written(device, point, 0, area)
            if precondition == "steady-state":
                load["written_bytes"] = 0 if load["access"] == "random" else load["area_bytes"]
            device["history"] = [*history, load]
        devices[at] = device
    return devices


def bench_of_scenario(path: str) -> ScenarioBench:
    """The bench of a scenario file.

    Raises:
        SpecError: It cannot be run, or has events or more than one workload.
    """
    return bench_of(load_scenario(path))


def check_load(scenario: Scenario) -> None:
    """Refuses a scenario whose load cannot be replaced by measured ones.

    Raises:
        SpecError: It has events, or more or less than one workload.
    """
    faults = Faults(scenario.path)
    loads, events = len(scenario.base["workloads"]), len(scenario.written.get("event", ()))
    if loads != 1:
        faults.add("workload", f"{loads} loads", "exactly one: measured loads take its place")
    if events:
        allowed = "none: each point is simulated as long as it takes, whatever happens when"
        faults.add("event", f"{events} of them", allowed)
    faults.raise_if_any()


def bench_of(scenario: Scenario, *, over_time: bool = False) -> ScenarioBench:
    """The bench of a scenario.

    Raises:
        SpecError: It has events or more than one workload.
    """
    check_load(scenario)

    def of(kind: type[Any]) -> Any:
        found: list[Device] = [d for d in scenario.devices if isinstance(d.spec, kind)]
        return found[0].spec

    # Loads that repeat the state of the scenario keep it: the plan's devices stand as they are.
    drive, host = of(DriveSpec), of(HostSpec)
    area = int(scenario.base["workloads"][0]["area_bytes"])
    return ScenarioBench(
        scenario.base["devices"][0], drive, host, area, scenario=scenario, over_time=over_time
    )
