"""Workloads that job files of fio say: their threads in the engine's plan."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.plan_types import (
    Cap,
    Extent,
    JobPlan,
    JobsPlan,
    LimitParams,
    Plan,
    SharePlan,
    Start,
    TenantPlan,
)
from raidlab.scenarios.planning.job_writes import variables_of
from raidlab.scenarios.planning.parts import Parts
from raidlab.scenarios.planning.sharing import share_plan
from raidlab.scenarios.spec.findings import Code, Coded
from raidlab.scenarios.spec.run_result import ThreadResult
from raidlab.scenarios.spec.schema import ScenarioTable, WorkloadTable

if TYPE_CHECKING:
    from raidlab.scenarios.fio.jobfile import Section
    from raidlab.scenarios.fio.places import Target
    from raidlab.scenarios.fio.resolve import Jobs

_HELD = frozenset({"limit", "burst", "weight", "priority"})
"""What makes a tenant of a load, wherever its load is described."""
_ALLOWED = frozenset({"name", "target", "fio", "compressible", "goal", "file_system"}) | _HELD
"""Keys of a workload beside `fio`."""
_TIMED_OUT = 110
"""fio's number of the error, ETIMEDOUT."""
_OF_PROFILE = _ALLOWED - {"fio"} | {"profile", "rate", "area"}
"""Keys of a workload whose profile is a job file."""


@dataclass(frozen=True)
class FioWorkload:
    """A workload that a job file says."""

    name: str
    target: str
    array: int
    jobs: Jobs
    limits: tuple[LimitParams, ...] = ()
    """What its I/Os wait for before they go in."""
    share: SharePlan | None = None

    def names(self) -> list[str]:
        """The workload's name, and that of the job where there are several."""
        loads = self.jobs.loads
        return [self.name] if len(loads) == 1 else [f"{self.name}.{load}" for load in loads]


def fio_faults(workload: WorkloadTable) -> Iterator[Fault]:
    """Keys that a job file settles."""
    allowed = _ALLOWED if workload.fio is not None else _OF_PROFILE
    for key in sorted(workload.model_fields_set - allowed):
        yield Fault(key, None, "is settled by the job file: leave it out")


def fio_workload(
    at: int,
    name: str,
    table: ScenarioTable,
    parts: Parts,
    folder: Path | None,
    sections: Sequence[Section] | None = None,
) -> FioWorkload | None:
    """The threads of a workload's job file; None, and faults, if it cannot be run.

    Args:
        at: The workload's place in the scenario.
        name: Its name.
        table: The scenario.
        parts: What is known of its arrays; takes faults and warnings.
        folder: Of the scenario's file, from which the job file is named.
        sections: What the job file holds, if it was read.
    """
    from raidlab.scenarios.fio import jobfile
    from raidlab.scenarios.fio.places import Target
    from raidlab.scenarios.fio.resolve import resolve

    workload = table.workload[at]
    target = table.target_name(at)
    for number, other in enumerate(table.workload):
        if other.name.startswith(f"{name}."):
            allowed = f"a name that does not begin with {name}., as its jobs' do"
            parts.faults.add(f"workload.{number}.name", other.name, allowed)
    arrays, usable = parts.offered[target]
    if usable is None or len(arrays) != 1:
        if len(arrays) > 1:
            allowed = "an array that is one device: drives of level independent are several"
            parts.faults.add(f"workload.{at}.fio", workload.job_file, allowed)
        return None
    offered = {
        array: Target(indices[0], bytes_, parts.takes_trim(indices[0]))
        for array, (indices, bytes_) in parts.offered.items()
        if bytes_ is not None and len(indices) == 1
    }
    file = str(workload.job_file)
    if workload.fio is None:
        offered[target] = _area(at, workload, offered[target], parts)
    try:
        if sections is None:
            file = str((folder or Path()) / file)
            sections = jobfile.read(file)
        capped = any("${RATE}" in (value or "") for each in sections for _, value in each.options)
        if workload.fio is None and capped != (workload.rate is not None):
            allowed = (
                'the I/Os a second of the whole profile, such as "5000 IO/s"'
                if capped
                else "left out: the profile goes as fast as it can"
            )
            parts.faults.add(f"workload.{at}.rate", list(workload.rate or ()) or None, allowed)
            return None
        jobs = resolve(sections, file, offered, target, variables_of(workload))
    except SpecError as error:
        for fault in error.faults:
            if fault.file == file and not fault.key and fault.value is None:
                # The file itself, which the scenario names.
                allowed = f"a job file that can be read; {file}: {fault.allowed}"
                parts.faults.add(f"workload.{at}.fio", workload.fio, allowed)
            else:
                parts.faults.extend([fault])
        return None
    if workload.fio is None:
        jobs = _without_end(jobs, table.run.least_warm_up)
    parts.warnings += [
        Coded(f"{Path(file).name}: {note}", Code.FIO_NOTE, name)
        for note in (*jobs.notes, *_uncompressed(workload, target, jobs, parts))
    ]
    jobs = _on_files(jobs, parts)
    limits = tuple(workload.limits) if workload.limit else ()
    return FioWorkload(name, target, arrays[0], jobs, limits, share_plan(table, at))


def _uncompressed(workload: WorkloadTable, target: str, jobs: Jobs, parts: Parts) -> Iterator[str]:
    """Why `buffer_compress_percentage` has no effect, where it has none."""
    said = {each.compressed for each in jobs.reports}
    option = "buffer_compress_percentage has no effect"
    if said == {None}:
        return
    if target not in parts.compressing:
        yield f"{option}: no drive of {target} compresses"
    elif workload.compressible is not None:
        yield f"{option}: the workload says `compressible`"
    elif len(said) > 1:
        yield f"{option}: not all jobs say the same; `compressible` beside `fio` holds for all"


def _on_files(jobs: Jobs, parts: Parts) -> Jobs:
    """These jobs: whether writes allocate blocks is said on file systems alone."""
    threads: list[JobPlan] = []
    for each in jobs.threads:
        syncs = each["syncs"].copy()
        if "file_system" not in parts.arrays[each["array"]]:
            del syncs["allocates"]
        threads.append({**each, "syncs": syncs})
    return replace(jobs, threads=tuple(threads))


def _area(at: int, workload: WorkloadTable, target: Target, parts: Parts) -> Target:
    """The part of the array that a profile loads."""
    if workload.area is None:
        return target
    if not 0 < workload.area <= target.size_bytes:
        allowed = f"above 0, at most {target.size_bytes} B, what the array holds"
        parts.faults.add(f"workload.{at}.area", f"{workload.area} B", allowed)
        return target
    return replace(target, size_bytes=workload.area)


def _without_end(jobs: Jobs, warm_up_ns: int) -> Jobs:
    """These jobs for as long as the run lasts, recorded behind its warm-up, at exact rates."""

    def without_end(thread: JobPlan) -> JobPlan:
        extent: Extent = {
            **thread["extent"],
            "time_based": True,
            "runtime_ns": 0,
            "ramp_ns": warm_up_ns,
        }
        caps: list[Cap] = [{**cap, "exact": True} for cap in thread["caps"]]
        return {**thread, "extent": extent, "caps": caps}

    return replace(jobs, threads=tuple(without_end(thread) for thread in jobs.threads))


def run_faults(table: ScenarioTable) -> Iterator[Fault]:
    """Keys of `[run]` that jobs of fio ignore."""
    for key in ("max_ios", "precision", "after_rebuild", "time_lapse"):
        if key in table.run.model_fields_set:
            allowed = "left out: a run with jobs of fio ends with them, or after its duration"
            yield Fault(f"run.{key}", getattr(table.run, key), allowed)


def failed_jobs(plan: Plan, threads: Sequence[ThreadResult]) -> list[str]:
    """A warning for each job that an error ended."""
    jobs = jobs_of(plan)
    found = {}
    for asked, thread in zip(jobs["threads"], threads, strict=False):
        if thread["error"]:
            name = jobs["loads"][asked["load"]]
            why = "an I/O took longer than max_latency"
            why = why if thread["error"] == _TIMED_OUT else "an I/O failed"
            found[name] = f"{name}: {why}, and its job ended at {thread['ended_ns'] / 1e9:.3g} s"
    return list(found.values())


def put_jobs(plan: Plan, workloads: Sequence[FioWorkload], until_ns: int) -> None:
    """Puts all job files into a plan, if there are any."""
    if not workloads:
        return
    threads: list[JobPlan] = []
    loads: list[str] = []
    tenants: list[TenantPlan] = []
    for file, workload in enumerate(workloads):
        if workload.limits or workload.share is not None:
            tenants.append(_tenant(workload, len(threads)))
        for thread in workload.jobs.threads:
            start: Start = {**thread["start"], "file": file}
            if start["after"] is not None:
                start["after"] += len(loads)
            threads.append({**thread, "load": len(loads) + thread["load"], "start": start})
        loads += workload.names()
    plan["outside_threads"] = len(threads)
    plan["jobs"] = {"threads": threads, "loads": loads, "until_ns": until_ns}
    if tenants:
        plan["tenants"] = tenants


def jobs_of(plan: Plan) -> JobsPlan:
    """The jobs of a plan; none if it has none."""
    jobs = plan.get("jobs")
    return {"threads": [], "loads": []} if jobs is None else jobs


def _tenant(workload: FioWorkload, first_thread: int) -> TenantPlan:
    plan: TenantPlan = {
        "name": workload.name,
        "array": workload.array,
        "first_thread": first_thread,
        "threads": len(workload.jobs.threads),
    }
    if workload.limits:
        plan["limits"] = list(workload.limits)
    if workload.share is not None:
        plan["share"] = workload.share
    return plan


def seeded(jobs: JobsPlan, seed: int, replication: int) -> JobsPlan:
    """These jobs with seeds where they name none; further replications have their own."""
    from raidlab.scenarios.fio.resolve import UNSEEDED

    threads: list[JobPlan] = []
    for at, thread in enumerate(jobs["threads"]):
        seeds = thread["seeds"]
        if seeds["seed"] == UNSEEDED or replication:
            digest = hashlib.sha256(f"{seed} fio {replication} {at}".encode()).digest()
            seeds = {
                "seed": int.from_bytes(digest[:8], "little"),
                "repeat_offsets": False,
                "repeat_passes": False,
                "repeat_all": False,
            }
        threads.append({**thread, "seeds": seeds})
    return {**jobs, "threads": threads}
