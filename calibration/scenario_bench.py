"""A scenario as a bench: its one array under the loads of measured points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from raidlab.calibration.bench import Bench, Effort, workload_of
from raidlab.calibration.measurement import Point
from raidlab.devices.catalogue import Device
from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.host import HostSpec
from raidlab.devices.schema import DriveSpec
from raidlab.scenarios.system import Scenario, load_scenario


@dataclass(frozen=True)
class ScenarioBench(Bench):
    """Whatever stands in a scenario; its own workloads are replaced."""

    scenario: Scenario | None = None

    def plan(self, point: Point, effort: Effort) -> dict[str, Any]:
        """The scenario's plan with a measured point's load."""
        if self.scenario is None:
            raise AssertionError("a bench of a scenario has one")
        plan = self.scenario.plan(0, 0, effort.seed)
        ios = effort.ios_for(point, self.takes_turns(point))
        expected_ns = ios / point.iops * 1e9
        first = plan["workloads"][0]
        area = min(point.area_bytes or first["area_bytes"], first["area_bytes"])
        if area < point.bs * point.numjobs:
            allowed = f"at least {point.numjobs} blocks; the scenario's load has {area} B"
            raise SpecError([Fault("area_bytes", point.area_bytes, allowed, (), point.file)])
        return plan | {
            "warm_up_ns": int(0.2 * expected_ns + 3e9 * point.outstanding / point.iops),
            "duration_ns": int(3 * expected_ns) + 1,
            "max_ios": ios,
            "timeline_step_ns": 0,
            "workloads": [
                workload_of(point, area // point.bs * point.bs)
                | {"array": first["array"], "area_start_bytes": first["area_start_bytes"]}
            ],
        }


def bench_of_scenario(path: str) -> ScenarioBench:
    """The bench of a scenario file.

    Raises:
        SpecError: It cannot be run, or has more than one workload.
    """
    scenario = load_scenario(path)
    if len(scenario.base["workloads"]) != 1:
        count = len(scenario.base["workloads"])
        raise SpecError([Fault("workload", f"{count} loads", "one, which is replaced", (), path)])

    def of(kind: type[Any]) -> Any:
        found: list[Device] = [d for d in scenario.devices if isinstance(d.spec, kind)]
        return found[0].spec

    # Loads that repeat the state of the scenario keep it: the plan's devices stand as they are.
    return ScenarioBench({"kind": "scenario"}, of(DriveSpec), of(HostSpec), 0, 1.0, scenario)
