"""A tier of SSDs over time: how soon it pays, for hot spots of several sizes."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.levels import facts
from raidlab.devices.trees import Document
from raidlab.devices.units import SIZE
from raidlab.scenarios.planning.scenario import Scenario, build_scenario
from raidlab.scenarios.planning.ssd_cache import tier_name
from raidlab.scenarios.results.result import Result
from raidlab.scenarios.running.engine_faults import capacities
from raidlab.scenarios.running.simulate import Progress, results_of
from raidlab.scenarios.running.store import Store
from raidlab.scenarios.spec.schema import SECTOR
from raidlab.scenarios.spec.trees import RunTree, ScenarioTree
from raidlab.scenarios.spec.written import kept_run, scenario_tree, without_hot_spot

HOT_SPOTS = ("32 GB", "64 GB", "128 GB")
"""Sizes that are drawn if none are asked for: those of the 2013 report."""

_STEADY_RUN: Final[RunTree] = {"warm_up": "20 s", "duration": "40 s"}
"""Of disks and SSDs each on their own: nothing warms up there but memories."""


@dataclass(frozen=True)
class Warming:
    """The rate over time with one hot spot, beside what disks and SSDs give without each other."""

    hot_spot_bytes: int
    disks_iops: float
    """Of the array without its tier."""
    ssds_iops: float
    """Of the tier's SSDs as an array of their own."""
    t_s: tuple[float, ...]
    """Ends of steps, from the moment on at which the empty tier begins its life."""
    iops: tuple[float, ...]
    used: float
    """Share of the tier that holds data at the end."""

    def reaches(self, iops: float) -> float | None:
        """Seconds until a step's rate and the next one's are as high; None if they never are."""
        pairs = zip(self.t_s, self.iops, (*self.iops[1:], self.iops[-1]), strict=True)
        return next((t for t, now, then in pairs if min(now, then) >= iops), None)

    def to_dict(self) -> Document:
        """Plain data."""
        half_way = (self.disks_iops + self.ssds_iops) / 2
        return {**vars(self), "half_way_s": self.reaches(half_way)}


@dataclass(frozen=True)
class Warmings:
    """A scenario's tier with several hot spots."""

    title: str
    tier_bytes: int
    """What the tier holds."""
    time_lapse: int
    warmings: tuple[Warming, ...]
    warnings: tuple[str, ...]
    breaches: tuple[str, ...]
    seed: int

    def to_dict(self) -> Document:
        """Plain data."""
        return {**vars(self), "warmings": [each.to_dict() for each in self.warmings]}


def warmings(
    path: Path,
    hot_spots: Sequence[str] = HOT_SPOTS,
    *,
    workers: int | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
    store: Store | None = None,
) -> Warmings:
    """Runs a scenario with a `cache_tier`, once for each size of its hot spot.

    A workload without `hot_spot` spreads its accesses evenly over its area: the area is the hot
    spot then.

    Raises:
        SpecError: The scenario cannot be run, or has no tier.
    """
    tree = scenario_tree(path)
    sizes = [_bytes(size) for size in hot_spots]
    _check(build_scenario(tree, path), tree, str(path))
    with_tier = [build_scenario(_with_hot_spot(tree, size), path) for size in hot_spots]
    disks = [build_scenario(disks_alone(tree, size), path) for size in hot_spots]
    ssds = [build_scenario(ssds_alone(tree, size), path) for size in hot_spots]
    scenario = with_tier[0]
    own_seed = scenario.seed if seed is None else seed
    found = list(
        results_of(
            with_tier + disks + ssds,
            own_seed,
            workers=workers,
            progress=progress,
            store=store,
            heeds_past=False,
        )
    )
    count = len(hot_spots)
    runs = zip(found[:count], found[count : 2 * count], found[2 * count :], strict=True)
    begins = scenario.base["warm_up_ns"] / 1e9
    return Warmings(
        title=scenario.title,
        tier_bytes=_tier_bytes(scenario),
        time_lapse=int(scenario.base["time_lapse"]),
        warmings=tuple(_warming(size, run, begins) for size, run in zip(sizes, runs, strict=True)),
        warnings=scenario.warnings,
        breaches=tuple(sorted({breach for each in found for breach in each.breaches})),
        seed=own_seed,
    )


def _warming(hot_spot: int, runs: tuple[Result, Result, Result], begins: float) -> Warming:
    tiered, disks, ssds = (run.results[0] for run in runs)
    line = tiered["timeline"]
    steps = list(zip(line["t_s"], line["iops"], strict=True))
    # The step that ends when the tier's life begins belongs to the warm-up.
    recorded = [(t - begins, iops) for t, iops in steps if t > begins + 1e-6]
    return Warming(
        hot_spot_bytes=hot_spot,
        disks_iops=disks["iops"],
        ssds_iops=ssds["iops"],
        t_s=tuple(t for t, _ in recorded),
        iops=tuple(iops for _, iops in recorded),
        used=tiered["cache"]["tier"]["used_share"] or 0.0,
    )


def _bytes(size: str) -> int:
    try:
        found = int(SIZE.convert(size))
    except ValueError as error:
        raise SpecError([Fault("--hot-spots", size, str(error))]) from None
    if found == 0:
        raise SpecError([Fault("--hot-spots", size, "above 0 B")])
    return found


def _check(scenario: Scenario, tree: ScenarioTree, path: str) -> None:
    faults = []
    if len(tree["array"]) > 1 or "tier" not in scenario.base["arrays"][0]:
        faults.append(Fault("array", None, "one array with a `cache_tier`", (), path))
    if len(scenario.workloads) != 1:
        faults.append(Fault("workload", None, "one: its hot spot is what changes", (), path))
    if scenario.points > 1 or scenario.replications > 1:
        allowed = "one number and one replication: rates are drawn over time"
        faults.append(Fault("workload.0.outstanding", None, allowed, (), path))
    if faults:
        raise SpecError(faults)


def _with_hot_spot(tree: ScenarioTree, size: str) -> ScenarioTree:
    changed = copy.deepcopy(tree)
    load = changed["workload"][0]
    load["hot_spot" if "hot_spot" in load else "area"] = size
    return changed


def disks_alone(tree: ScenarioTree, size: str) -> ScenarioTree:
    """The array without its tier: nothing happens to a tier that is not there."""
    changed = _with_hot_spot(tree, size)
    array = changed["array"][0]
    del array["cache_tier"]
    tier = tier_name(array.get("name") or "array-0")
    changed["event"] = [event for event in changed.get("event", ()) if event.get("array") != tier]
    return _steady(changed)


def ssds_alone(tree: ScenarioTree, size: str) -> ScenarioTree:
    """The SSDs as an array of their own, loaded with the hot spot alone.

    Nothing happens to them: events name drives and hot spots of the whole system. Offsets are as on
    the disks.
    """
    changed = copy.deepcopy(tree)
    changed.pop("event", None)
    array = changed["array"][0]
    tier = array.pop("cache_tier")
    array["drives"], array["level"] = tier["drives"], tier.get("level", "raid0")
    load = without_hot_spot(changed["workload"][0])
    changed["workload"][0] = {"align": f"{SECTOR} B", **load, "area": size}
    return _steady(changed)


def _steady(tree: ScenarioTree) -> ScenarioTree:
    tree["run"] = {**kept_run(tree, ("precondition",)), **_STEADY_RUN}
    return tree


def _tier_bytes(scenario: Scenario) -> int:
    tier = scenario.base["arrays"][0].get("tier")
    if tier is None:
        raise AssertionError("the studied array has a tier")
    fast = scenario.base["arrays"][tier["array"]]
    sizes = capacities(scenario.plan(0, 0), scenario)
    each = min(int(sizes[drive]) for drive in fast["drives"])
    copies = facts(fast["level"]).copies or len(fast["drives"])
    return each * len(fast["drives"]) // copies
