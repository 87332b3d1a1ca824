"""What jobs of fio write, for the state that they leave drives in before a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from raidlab.devices.faults import SpecError
from raidlab.scenarios.planning.preconditioning import Writes

if TYPE_CHECKING:
    from raidlab.devices.plan_types import JobPlan, Sizes
    from raidlab.scenarios.fio.jobfile import Section
    from raidlab.scenarios.spec.schema import WorkloadTable

_WRITE = 1
"""Of the three directions: reads, writes, trims."""
_SHARES = {"write": 1.0, "trim_write": 1.0}
"""Of a thread's I/Os that write."""


def variables_of(load: WorkloadTable) -> dict[str, str]:
    """What a workload says to its job file, beside the environment."""
    if load.fio is not None or load.rate is None:
        return {}
    return {"RATE": f"{load.rate[0]:.6f}"}


def compressed_to(
    load: WorkloadTable, folder: Path | None, sections: Sequence[Section] | None
) -> float | None:
    """How far the data of a workload's job file can be compressed, if all its jobs say the same.

    Args:
        load: A workload with a job file.
        folder: Of the scenario's file, from which the job file is named.
        sections: What the job file holds, if it was read.
    """
    from raidlab.scenarios.fio import jobfile
    from raidlab.scenarios.fio.reader import Findings, Reader
    from raidlab.scenarios.fio.sizes import compressed

    try:
        read = sections or jobfile.read((folder or Path()) / str(load.job_file))
    except SpecError:
        # Its faults are given where its jobs are planned.
        return None
    jobs = jobfile.jobs_of(read, "")
    found = {compressed(Reader(job.name, own, job, Findings(""))) for own, job in jobs}
    value = found.pop() if len(found) == 1 else None
    return None if value is None else value / 100


def job_writes(
    load: WorkloadTable,
    folder: Path | None,
    target: str,
    usable: int,
    sections: Sequence[Section] | None = None,
) -> list[Writes]:
    """What the job file of a workload writes to its array; nothing if it cannot be read.

    Skewed distributions are taken as uniform over their files. Jobs that wait for each other count
    as if they ran side by side.

    Args:
        load: A workload with a job file.
        folder: Of the scenario's file, from which the job file is named.
        target: The array's name.
        usable: Bytes that the array offers.
        sections: What the job file holds, if it was read.
    """
    from raidlab.scenarios.fio import jobfile
    from raidlab.scenarios.fio.places import Target
    from raidlab.scenarios.fio.resolve import resolve

    size = usable if load.area is None else min(load.area, usable)
    variables = variables_of(load)
    try:
        read = sections or jobfile.read((folder or Path()) / str(load.job_file))
        jobs = resolve(read, str(load.job_file), {target: Target(0, size)}, target, variables)
    except SpecError:
        # Its faults are given where its jobs are planned.
        return []
    return [writes for thread in jobs.threads for writes in _of_thread(thread)]


def _of_thread(thread: JobPlan) -> Iterator[Writes]:
    share = _SHARES.get(thread["direction"], 0.0)
    if thread["direction"] == "read_write":
        share = 1 - thread["read_percent"] / 100
    files = [file for file in thread["files"] if file["io_bytes"]]
    if not share or not files:
        return
    block = _block(thread["sizes"][_WRITE])
    places = tuple(
        (file["start_bytes"] + file["offset_bytes"], file["io_bytes"], 1 / len(files))
        for file in files
    )
    random = thread["random"] and thread["sizes"][_WRITE]["percent_random"] >= 50
    depth = float(thread["depth"]["depth"])
    yield Writes("random" if random else "sequential", places, block, share * block, None, depth)


def _block(sizes: Sizes) -> int:
    """The mean size of a block, in whole units of its alignment."""
    mean: float = (sizes["min"] + sizes["max"]) / 2
    if sizes["split"]:
        whole = sum(percent for _, percent in sizes["split"])
        mean = sum(size * percent for size, percent in sizes["split"]) / (whole or 1)
    unit: int = min(sizes["align"] or sizes["min"], sizes["min"])
    return max(1, round(mean / unit)) * unit
