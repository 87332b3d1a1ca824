"""A scenario as a bench: its one array under the loads of measured points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from raidlab.calibration.fitting.bench import Bench, Effort, workload_of
from raidlab.calibration.measurements.measurement import WINDOWS, Point, seconds_of
from raidlab.devices.catalogue import Device
from raidlab.devices.faults import Fault, Faults, SpecError
from raidlab.devices.host import HostSpec
from raidlab.devices.schema import DriveSpec
from raidlab.scenarios.planning.scenario import Scenario, load_scenario


@dataclass(frozen=True)
class ScenarioBench(Bench):
    """Whatever stands in a scenario; its own workloads are replaced."""

    scenario: Scenario | None = None
    over_time: bool = False
    """True if points that say how their rates went are simulated from the beginning on."""

    def plan(self, point: Point, effort: Effort) -> dict[str, Any]:
        """The scenario's plan with a measured point's load."""
        if self.scenario is None:
            raise AssertionError("a bench of a scenario has one")
        plan = self.scenario.plan(0, 0, effort.seed)
        first = plan["workloads"][0]
        area = min(point.area_bytes or self.capacity, self.capacity)
        if area < point.bs * point.numjobs:
            allowed = f"at least {point.numjobs} blocks; the scenario's load has {self.capacity} B"
            raise SpecError([Fault("area_bytes", point.area_bytes, allowed, (), point.file)])
        load = workload_of(point, area // point.bs * point.bs)
        common = {key: first[key] for key in ("array", "area_start_bytes", "hot_spot")}
        over_time = self.over_time and bool(point.timeline)
        length = self._whole(plan, point) if over_time else self._steady(plan, point, effort)
        return plan | length | {"workloads": [load | common]}

    def _steady(self, plan: dict[str, Any], point: Point, effort: Effort) -> dict[str, Any]:
        """As many I/Os as the rate needs; before them a cache that takes writes fills up."""
        ios = effort.ios_for(point, self.shares_time(point))
        expected_ns = ios / point.iops * 1e9
        warm_up = int(0.2 * expected_ns + 3e9 * point.outstanding / point.iops)
        cache = plan["arrays"][plan["workloads"][0]["array"]].get("cache")
        if cache is not None and cache["write"] != "write_through":
            warm_up = max(warm_up, plan["warm_up_ns"])
        return {
            "warm_up_ns": warm_up,
            "duration_ns": int(3 * expected_ns) + 1,
            "max_ios": ios,
            "timeline_step_ns": 0,
        }

    def _whole(self, plan: dict[str, Any], point: Point) -> dict[str, Any]:
        """As long as it was measured, in a few steps, from the warm-up on that the file names."""
        step = round(seconds_of(point) * 1e9 / WINDOWS / plan["time_lapse"])
        named = self.scenario is not None and "warm_up" in self.scenario.written.get("run", {})
        # Recording begins where a step does.
        begin = -(-plan["warm_up_ns"] // step) * step if named else 0
        return {
            "warm_up_ns": begin,
            "duration_ns": WINDOWS * step,
            "max_ios": 0,
            "precision": 0.0,
            "timeline_step_ns": step,
        }


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
        faults.add("workload", f"{loads} loads", "one, which is replaced")
    if events:
        allowed = "none: each point is simulated as long as it takes, whatever happens when"
        faults.add("event", f"{events} of them", allowed)
    faults.raise_if_any()


def bench_of(scenario: Scenario, over_time: bool = False) -> ScenarioBench:
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
        {"kind": "scenario"}, drive, host, area, scenario=scenario, over_time=over_time
    )
