"""From a scenario file to the engine's plan: devices found, everything checked, nothing run."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from raidlab.devices.catalogue import Device
from raidlab.devices.faults import Fault, Faults, SpecError
from raidlab.devices.host import BlockLayer, HostSpec
from raidlab.devices.other_kind import Expected, refuse_other_kind
from raidlab.devices.plan_types import (
    Arrival,
    DrivePlan,
    HotSpotPlan,
    PageCacheParams,
    Plan,
    WorkloadPlan,
)
from raidlab.devices.schema import read_toml
from raidlab.devices.units import format_size
from raidlab.scenarios.planning.builder import Builder
from raidlab.scenarios.planning.caching import cache_faults
from raidlab.scenarios.planning.clients import add_clients, check_clients
from raidlab.scenarios.planning.controllers import (
    Behind,
    check_scenario,
    controller_of,
    controller_plans,
    find_controllers,
)
from raidlab.scenarios.planning.durability import add_file_systems, durable_writes
from raidlab.scenarios.planning.equal_arrays import expanded_arrays
from raidlab.scenarios.planning.events import plan_events
from raidlab.scenarios.planning.fio import (
    FioWorkload,
    fio_faults,
    fio_workload,
    jobs_of,
    put_jobs,
    run_faults,
    seeded,
)
from raidlab.scenarios.planning.host_warnings import host_warnings, without_threads
from raidlab.scenarios.planning.link_tree import unused_links
from raidlab.scenarios.planning.load_warnings import no_whole_sectors, straddles
from raidlab.scenarios.planning.md import md_host_warnings
from raidlab.scenarios.planning.monitored import planned_elsewhere
from raidlab.scenarios.planning.parts import Parts
from raidlab.scenarios.planning.preconditioning import snapshot_digest
from raidlab.scenarios.planning.sharing import check_sharing, share_plan
from raidlab.scenarios.planning.ssd_cache import check_time_lapse, follows_data
from raidlab.scenarios.planning.topology import Topology, connect
from raidlab.scenarios.planning.traces import run_times, traced_load
from raidlab.scenarios.spec.arrivals import arrival_plan
from raidlab.scenarios.spec.loads import HOT_SHARE
from raidlab.scenarios.spec.python_form import in_form_of_a_file
from raidlab.scenarios.spec.schema import ScenarioTable, WorkloadTable
from raidlab.scenarios.spec.trees import ScenarioTree
from raidlab.scenarios.spec.unsupported import not_yet

if TYPE_CHECKING:
    from raidlab.scenarios.fio.jobfile import Section
    from raidlab.scenarios.fio.resolve import Jobs

_LARGEST_FILE = 1 << 43
"""Bytes: the engine's page cache numbers pages of 4 KiB with 31 bits."""


@dataclass(frozen=True)
class Loaded:
    """A workload of the scenario, and the engine's workloads that it became."""

    name: str
    target: str
    outstanding: tuple[int, ...]
    """For each point; 0 for an open load."""
    parts: tuple[int, ...]
    """Indices of the engine's workloads: several where drives are loaded independently."""
    rates: tuple[float, ...] = ()
    """Of an open load, for each point: I/Os a second, of all its parts together."""
    is_fio: bool = False
    """True for a job of fio, which stands behind the plan's own workloads in the result."""
    traced_per_s: float = 0.0
    """Of a trace whose requests come at their own times: the mean of its requests a second."""

    @property
    def arrives_per_s(self) -> float:
        """I/Os that arrive in a second at the first point; 0 if the system sets the rate."""
        return self.rates[0] if self.rates else self.traced_per_s


@dataclass(frozen=True, repr=False)
class Scenario:
    """A scenario that can be run: checked, with all its devices."""

    title: str
    seed: int
    replications: int
    points: int
    """Number of runs of one replication: the length of the lists of `outstanding`."""
    workloads: tuple[Loaded, ...]
    models: Mapping[str, Device]
    """Every device in it, by the name that the file has for it."""
    warnings: tuple[str, ...]
    unrebuilt: Mapping[str, Sequence[str]]
    """Warnings of drives that nobody replaces, by array, for arrays that bear their failure."""
    base: Plan
    """The plan of the first point of the first replication."""
    written: ScenarioTree
    """The scenario as it was written."""
    usable_bytes: int = 0
    """What all arrays offer to hosts."""
    path: str = ""
    snapshot: str = ""
    """Digest of the file of `run.snapshot`, if there is one."""
    goals: tuple[tuple[str, str, tuple[str, ...]], ...] = ()
    """What workloads are to reach: key, workload, goals as they were written."""
    jobs: tuple[Jobs, ...] = ()
    """What job files of fio ask for, in the order of their threads in the plan."""
    written_by: str = 'run.precondition = "filled"'
    """What has its drives written before the run."""

    def __repr__(self) -> str:
        drives, loads = len(self.base["drives"]), len(self.workloads)
        of = f" of {self.path}" if self.path else ""
        return (
            f"<Scenario {self.title!r}{of}: drives {drives}, workloads {loads},"
            f" runs {self.points * self.replications}, seed {self.seed}>"
        )

    def plan(self, point: int, replication: int, seed: int | None = None) -> Plan:
        """The engine's plan of one run.

        Args:
            point: Which of `points`, from 0.
            replication: Which replication, from 0; each has its own random numbers.
            seed: Replaces the scenario's own.
        """
        plan = copy.deepcopy(self.base)
        seed = self.seed if seed is None else seed
        plan["seed"] = _own_seed(seed, replication, self.snapshot)
        if self.jobs:
            plan["jobs"] = seeded(jobs_of(plan), plan["seed"], replication)
        for workload in self.workloads:
            if workload.is_fio:
                continue
            for part in workload.parts:
                arrival = plan["workloads"][part]["arrival"]
                if arrival["kind"] == "closed":
                    arrival["outstanding"] = workload.outstanding[point]
                elif workload.rates and arrival["kind"] != "traced":
                    arrival["per_s"] = workload.rates[point] / len(workload.parts)
        return plan

    @property
    def devices(self) -> tuple[Device, ...]:
        """Every device in it, once."""
        return tuple(self.models.values())

    @property
    def fingerprint(self) -> str:
        """Twelve hex digits that change with anything that changes the result but the seed."""
        return fingerprint({**self.base, "seed": 0})


def fingerprint(plan: Plan) -> str:
    """Twelve hex digits of a plan."""
    return hashlib.sha256(json.dumps(plan, sort_keys=True).encode()).hexdigest()[:12]


def _own_seed(seed: int, replication: int, snapshot: str) -> int:
    """The seed of one run.

    With the seed of the run that has saved its snapshot it would write to the same places in the
    same order, and blocks filled side by side would become free side by side.
    """
    if replication == 0 and not snapshot:
        return seed
    text = f"{seed} replication {replication}{snapshot and f' from {snapshot}'}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little") >> 1


def _goals(
    table: ScenarioTable, fio: Sequence[FioWorkload]
) -> tuple[tuple[str, str, tuple[str, ...]], ...]:
    jobs = {each.name: each.names() for each in fio}
    return tuple(
        (f"workload.{at}.goal", row, workload.goal)
        for at, workload in enumerate(table.workload)
        if workload.goal
        for row in jobs.get(workload.name or f"workload-{at}", [workload.name or f"workload-{at}"])
    )


def load_scenario(path: str | Path, *, outside: bool = False) -> Scenario:
    """Reads a scenario file and everything it names; `outside` as `build_scenario` takes it.

    Raises:
        SpecError: Everything that is wrong with it.
    """
    path = Path(path)
    tree = read_toml(path)
    refuse_other_kind(tree, Expected.SCENARIO, path)
    return build_scenario(tree, path, outside=outside)


def scenario_of(
    given: Scenario | Mapping[str, object] | str | Path, *, outside: bool = False
) -> Scenario:
    """A scenario that is loaded, or given by the path of its file or by what such a file holds.

    With `outside` as `build_scenario` builds it, if it is not loaded yet.

    Raises:
        SpecError: Everything that is wrong with it, or it is none of these.
    """
    if isinstance(given, Scenario):
        return given
    if isinstance(given, Mapping):
        return build_scenario(given, outside=outside)
    if not isinstance(given, str | Path):
        allowed = "a scenario, the path of its file, or a dict of what such a file holds"
        raise SpecError([Fault("scenario", repr(given), allowed)])
    return load_scenario(given, outside=outside)


def build_scenario(
    tree: Mapping[str, object],
    path: str | Path | None = None,
    own: Mapping[str, Device] | None = None,
    sections: Sequence[Section] | None = None,
    *,
    outside: bool = False,
) -> Scenario:
    """A scenario from the tree of its file.

    Args:
        tree: What a scenario file holds; in a program also as `in_form_of_a_file` takes it.
        path: The file, for messages and for device files named relative to it.
        own: Devices by the name that the tree has for them, instead of those of that name.
        sections: What job files of its workloads hold, if they were read.
        outside: Whether a program drives it beside its loads or instead, and may flush its arrays.

    Raises:
        SpecError: Everything that is wrong with it.
    """
    tree, path = (in_form_of_a_file(tree), None) if path is None else (tree, Path(path))
    monitored, faults = expanded_arrays(tree, path)
    table = check_scenario(monitored.tree, faults)
    if table is None:
        raise SpecError(faults.found)
    faults.extend(not_yet(table))
    parts = Builder(table, faults, None if path is None else path.parent, own or {})
    parts.sections, parts.outside = sections, outside or not table.workload
    host = parts.find("host.model", table.host.model, HostSpec)
    parts.take_host(host)
    controllers = find_controllers(table, parts)
    _add_arrays(table, parts, controllers)
    workloads = _workloads(table, parts, host)
    parts.warnings += [*check_sharing(table, faults), *without_threads(table), *monitored.warnings]
    parts.warnings += unused_links(table.link, {drive.link for drive in parts.drives})
    fio = _fio_workloads(table, parts, None if path is None else path.parent, sections)
    check_time_lapse(table, faults)
    check_clients(table, host, faults)
    events = plan_events(table, parts)
    topology = None
    found = [(each.name, each.spec) for each in controllers if each.spec is not None]
    if host is not None and len(found) == len(controllers):
        topology = connect(host, found, parts.drives, faults, table.link)
        add_clients(table, host, topology, [(load.name, plans) for load, plans in workloads])
    faults.raise_if_any()
    if host is None or topology is None:
        raise AssertionError("a scenario whose devices are not found has faults")
    plan = _plan(table, parts, host, topology)
    plan["controllers"] = controller_plans(found, controllers, topology.to_host, parts.arrays)
    plan["workloads"] = [plan for _, plans in workloads for plan in plans]
    plan["events"] = events
    run_times(table, parts.trace_lengths_ns).put(plan)
    put_jobs(plan, fio, _jobs_until(table))
    durable_writes(plan, table, parts)
    points = max((len(loaded.outstanding) for loaded, _ in workloads), default=1)
    return Scenario(
        title=table.title or ("scenario" if path is None else path.stem),
        seed=table.run.seed,
        replications=table.run.replications,
        points=points,
        workloads=(
            *(loaded for loaded, _ in workloads),
            *_fio_loaded(fio, len(plan["workloads"]), points),
        ),
        models=parts.devices,
        warnings=(
            *parts.warnings,
            *md_host_warnings(table, parts.arrays, volumes=parts.has_volumes),
            *host_warnings(host, (device.spec for device in parts.devices.values()), parts.arrays),
        ),
        unrebuilt=parts.unrebuilt,
        base=plan,
        written=cast(ScenarioTree, dict(tree)),
        usable_bytes=sum(len(arrays) * (usable or 0) for arrays, usable in parts.offered.values()),
        path="" if path is None else str(path),
        snapshot=snapshot_digest(plan["devices"]),
        jobs=tuple(workload.jobs for workload in fio),
        goals=_goals(table, fio),
    )


def _add_arrays(table: ScenarioTable, parts: Builder, controllers: list[Behind]) -> None:
    """Lays out the arrays, each with its own settings of its controller's cache."""
    for at, array in enumerate(table.array):
        behind = controller_of(at, table, controllers, parts.faults)
        spec = None if behind is None else behind.spec
        parts.faults.extend(cache_faults(f"array.{at}", array, spec, behind=behind is not None))
        parts.add_array(at, behind)


def _plan(table: ScenarioTable, parts: Parts, host: HostSpec, topology: Topology) -> Plan:
    """Everything of the plan but its times, controllers, loads and events."""
    return {
        "seed": table.run.seed,
        "warm_up_ns": 0,
        "duration_ns": 0,
        "max_ios": table.run.max_ios,
        "precision": table.run.precision,
        "after_rebuild_ns": table.run.after_rebuild,
        "time_lapse": table.run.time_lapse,
        "host": host.to_plan(table.host.clock, table.host.sleeps),
        "links": topology.links,
        "controllers": [],
        "devices": parts.models,
        "drives": _drives(parts, topology, host.block_layer),
        "arrays": parts.arrays,
        "workloads": [],
        "data": follows_data(table),
    }


def _drives(parts: Parts, topology: Topology, of_host: BlockLayer) -> list[DrivePlan]:
    """The plan's drives."""
    plans: list[DrivePlan] = []
    for drive, model, path in zip(parts.drives, parts.model_of_drive, topology.paths, strict=True):
        plan: DrivePlan = {
            "name": drive.name,
            "device": model,
            "queue_depth": drive.queue_depth,
            "block_layer": (of_host if drive.controller is None else BlockLayer()).to_plan(),
            "path": path,
        }
        if drive.spec.pause:
            plan["pauses"] = [pause.to_plan() for pause in drive.spec.pause]
        plans.append(plan)
    return plans


def _workloads(
    table: ScenarioTable, parts: Parts, host: HostSpec | None
) -> list[tuple[Loaded, list[WorkloadPlan]]]:
    """Every workload of the scenario with its entries in the plan, and file systems for them."""
    add_file_systems(table, parts, host)
    loaded: list[tuple[Loaded, list[WorkloadPlan]]] = []
    names: set[str] = set()
    index = 0
    for at, workload in enumerate(table.workload):
        key, name = f"workload.{at}", workload.name or f"workload-{at}"
        if name in names:
            parts.faults.add(f"{key}.name", name, "a name that no other workload has")
        names.add(name)
        parts.warnings += no_whole_sectors(key, workload)
        target = table.target_name(at)
        if target not in parts.offered:
            allowed = f"the name of an array: {', '.join(parts.offered)}"
            parts.faults.add(f"{key}.target", target or None, allowed, parts.offered)
            continue
        if planned_elsewhere(workload) or any(True for _ in workload.faults()):
            continue
        arrays, usable = parts.offered[target]
        if workload.trace is not None:
            found = traced_load(at, name, table, parts)
            if found is not None:
                plan, places, per_s = found
                load = Loaded(name, target, (places,), (index,), traced_per_s=per_s)
                loaded.append((load, [plan]))
                index += 1
            continue
        area = _area(key, workload, usable, table.host.threads, parts.faults)
        if area is None:
            continue
        array = next(a for n, a in enumerate(table.array) if table.array_name(n) == target)
        level = array.level
        parts.faults.extend(_per_faults(workload, level), key)
        factor = array.drive_count if workload.per == "drive" and level != "independent" else 1
        outstanding = tuple(step * factor for step in workload.outstanding or (1,))
        if workload.rate is not None:
            outstanding = (0,) * len(workload.rate)
        parts.warnings += straddles(key, workload, parts.mapping_units(arrays))
        align = workload.alignment(
            whole_blocks=parts.aligns_blocks(arrays), sector=parts.sector(arrays)
        )
        plans = [
            _workload_plan(workload, f"{name}.{part}" if len(arrays) > 1 else name, array, area)
            for part, array in enumerate(arrays)
        ]
        page_cache = _page_cache(key, workload, table, parts.faults, host, area)
        share = share_plan(table, at)
        for plan in plans:
            plan["threads"] = workload.threads or table.host.threads
            plan["align_bytes"] = align
            if page_cache is not None:
                plan["page_cache"] = page_cache
            if share is not None:
                plan["share"] = share
        parts_of = tuple(range(index, index + len(plans)))
        index += len(plans)
        rates = tuple(rate * len(plans) for rate in workload.rate or ())
        loaded.append((Loaded(name, target, outstanding, parts_of, rates), plans))
    return _in_step(loaded, parts.faults)


def _per_faults(workload: WorkloadTable, level: str) -> Iterator[Fault]:
    """Of drives that are loaded independently nothing counts for all of them together."""
    if level == "independent" and "per" in workload.model_fields_set and workload.per == "system":
        allowed = '"drive", or left out: on independent drives `outstanding` counts per drive'
        yield Fault("per", workload.per, allowed)


def _fio_workloads(
    table: ScenarioTable, parts: Parts, folder: Path | None, sections: Sequence[Section] | None
) -> list[FioWorkload]:
    """Every workload that a job file says."""
    found = []
    for at, workload in enumerate(table.workload):
        if workload.job_file is None or table.target_name(at) not in parts.offered:
            continue
        parts.faults.extend(fio_faults(workload), f"workload.{at}")
        name = workload.name or f"workload-{at}"
        found.append(fio_workload(at, name, table, parts, folder, sections))
    if found:
        parts.faults.extend(run_faults(table))
    return [each for each in found if each is not None]


def _fio_loaded(workloads: Sequence[FioWorkload], first: int, points: int) -> Iterator[Loaded]:
    """Rows of the result: one for each job, behind those of the plan's own workloads."""
    for workload in workloads:
        for at, name in enumerate(workload.names()):
            depths = (
                thread["depth"]["depth"] for thread in workload.jobs.threads if thread["load"] == at
            )
            yield Loaded(name, workload.target, (sum(depths),) * points, (first,), is_fio=True)
            first += 1


def _jobs_until(table: ScenarioTable) -> int:
    """When jobs of fio are stopped: with the run, if it has an end of its own; else 0."""
    run = table.run
    only = all(load.fio is not None for load in table.workload)
    if only and not run.model_fields_set & {"duration", "warm_up"}:
        return 0
    return run.least_warm_up + run.duration


def _page_cache(
    key: str,
    workload: WorkloadTable,
    table: ScenarioTable,
    faults: Faults,
    host: HostSpec | None,
    area: int,
) -> PageCacheParams | None:
    """How a load goes through the host's page cache, if it does."""
    if not workload.buffered or host is None:
        return None
    if host.page_cache is None:
        faults.add(f"{key}.buffered", True, f"false: the host {host.name} has no [page_cache]")
        return None
    if table.event:
        faults.add(f"{key}.buffered", True, "false: the page cache follows no [[event]]")
    if area > _LARGEST_FILE:
        allowed = f"at most {format_size(_LARGEST_FILE)} of a buffered load, which is one file"
        faults.add(f"{key}.area", f"{area} B", allowed)
    threads = workload.threads or table.host.threads
    if any(step > threads for step in workload.outstanding or (1,)):
        allowed = f"at most {threads}: each of the {threads} threads sleeps in its one call"
        faults.add(f"{key}.outstanding", list(workload.outstanding or ()), allowed)
    scale = 1.0 if table.host.clock is None else host.clock / table.host.clock
    holds_end = table.run.begins != "fresh"
    return host.page_cache.to_plan(scale, holds_end=holds_end)


def _in_step(
    loaded: list[tuple[Loaded, list[WorkloadPlan]]], faults: Faults
) -> list[tuple[Loaded, list[WorkloadPlan]]]:
    """Lists of outstanding I/Os and of rates go in step; a single number stands for all points."""
    points = max((len(each.outstanding) for each, _ in loaded), default=1)
    in_step = []
    for at, (each, plans) in enumerate(loaded):
        if len(each.outstanding) not in (1, points):
            allowed = f"one number or, as in another workload, a list of {points}"
            key, values = "outstanding", list[float](each.outstanding)
            if each.rates:
                key, values = "rate", list(each.rates)
            faults.add(f"workload.{at}.{key}", values, allowed)
        times = points if len(each.outstanding) == 1 else 1
        repeated = replace(each, outstanding=each.outstanding * times, rates=each.rates * times)
        in_step.append((repeated, plans))
    return in_step


def _area(
    key: str, workload: WorkloadTable, usable: int | None, threads: int, faults: Faults
) -> int | None:
    """Bytes of the area; None, and a fault, if it does not fit."""
    if usable is None or workload.trace is not None:
        return None
    if workload.area == 0:
        faults.add(f"{key}.area", "0 B", 'above 0 B, or "whole"')
        return None
    space = usable - workload.area_start
    if space <= 0:
        allowed = f"below {usable} B ({format_size(usable)}), what the array holds"
        faults.add(f"{key}.area_start", f"{workload.area_start} B", allowed)
        return None
    area = workload.area_bytes(usable)
    if area > space:
        behind = " behind area_start" if workload.area_start else ""
        allowed = f"at most {space} B ({format_size(space)}), what the array holds{behind}"
        faults.add(f"{key}.area", f"{area} B", allowed)
        return None
    block = workload.load().block_bytes
    if workload.hot_spot is not None:
        if workload.load().access == "sequential":
            faults.add(f"{key}.hot_spot", None, "left out: it has no effect on a sequential load")
        elif not block <= workload.hot_bytes(area) <= area - workload.hot_start:
            allowed = f"a block of {block} B at least, at most what the area of {area} B holds"
            faults.add(f"{key}.hot_spot", f"{workload.hot_spot} B", allowed)
    align = workload.align or 0
    if align > area and workload.load().access == "random":
        faults.add(f"{key}.align", f"{align} B", f"at most the area of {area} B")
    least = block * (workload.threads or threads)
    if area < least:
        faults.add(f"{key}.area", f"{area} B", f"at least a block of {block} B for each thread")
        return None
    return area


def _workload_plan(workload: WorkloadTable, name: str, array: int, area: int) -> WorkloadPlan:
    load = workload.load()
    arrival: Arrival = {
        "kind": "closed",
        "outstanding": 1,
        "think_ns": workload.think_time,
        "exponential": workload.think == "exponential",
    }
    if workload.rate is not None:
        arrival = arrival_plan(workload.rate[0], workload.arrivals)
    hot_spot: HotSpotPlan | None = None
    if workload.hot_spot is not None:
        hot_spot = {
            "share": HOT_SHARE if workload.hot_share is None else workload.hot_share,
            "start_bytes": workload.area_start + workload.hot_start,
            "bytes": workload.hot_bytes(area),
        }
    plan: WorkloadPlan = {
        "name": name,
        "array": array,
        "threads": 1,
        "align_bytes": 1,
        "hot_spot": hot_spot,
        "access": load.access,
        "read_share": load.read_share,
        "block_bytes": load.block_bytes,
        "area_start_bytes": workload.area_start,
        "area_bytes": area,
        "arrival": arrival,
        "passes": workload.passes,
    }
    if workload.limit:
        plan["limits"] = workload.limits
    if workload.sync_plan is not None:
        plan["sync"] = workload.sync_plan
    return plan
