"""What drives can do at best: candidates that cannot serve their load need no simulation.

A drive alone, with a deep queue over the smallest part of it that the load could touch, takes `r`
seconds for a read and `w` for a write. A small write costs a level some reads and writes of
drives: 0 and 2 for mirrors, 2 and 2 with one parity, 3 and 3 with two. So `n` drives are busy for

    rate (share_read r + share_write (a r + b w)) / n

seconds each second. That is a bound from below but for caches, which put writes together: only what
is beyond twice the drives' time is left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from raidlab.devices.levels import LEVELS, facts
from raidlab.devices.units import IO_RATE, SIZE
from raidlab.scenarios.capacity.candidates import Candidate, is_flash
from raidlab.scenarios.capacity.question import Question
from raidlab.scenarios.planning.scenario import Scenario, build_scenario
from raidlab.scenarios.results.number_text import times
from raidlab.scenarios.running.simulate import results_of
from raidlab.scenarios.spec.loads import Rw
from raidlab.scenarios.spec.schema import WorkloadTable
from raidlab.scenarios.spec.trees import RunTree, ScenarioTree, WorkloadTree
from raidlab.scenarios.studies.running import Running

SLACK = 2.0
"""Times the drives' time from which on a load is beyond them."""
_DEPTH = 64
_RUN: Final[RunTree] = {"warm_up": "1 s", "duration": "1 s"}
_STREAM_DEPTH = 4


_WAYS: Final[tuple[Rw, ...]] = ("randread", "randwrite")


@dataclass(frozen=True)
class Drive:
    """What one drive does alone."""

    read_s: tuple[float, ...]
    """Seconds of a read, for each load."""
    write_s: tuple[float, ...]
    stream: float
    """Bytes a second that are written to it in sequence, half way."""
    bytes: int


def small_write(level: str) -> tuple[int, int]:
    """Reads and writes of drives that a small write costs."""
    found = facts(level) if level in LEVELS else facts("jbod")
    if found.parities:
        return 1 + found.parities, 1 + found.parities
    return 0, max(1, found.copies) if found.copies else 2


def drives_alone(
    question: Question, candidates: Sequence[Candidate], running: Running, seed: int
) -> dict[str, Drive]:
    """Every drive that candidates have, simulated on its own."""
    found: dict[str, Drive] = {}
    for name in dict.fromkeys(each.drive for each in candidates if each.scenario is not None):
        most = max(each.count for each in candidates if each.drive == name)
        size = _alone(question, name, {"rw": "read", "block_size": "4 KiB"}).usable_bytes
        scenarios = [_alone(question, name, _stream(size))]
        for load in question.table.loads:
            area = min(_area(load, size) // most, size) // 4096 * 4096
            for rw in _WAYS:
                block = f"{_block(load)} B"
                own: WorkloadTree = {"rw": rw, "block_size": block, "outstanding": _DEPTH}
                if area > 4 * _block(load):
                    own["area"] = f"{area} B"
                scenarios.append(_alone(question, name, own))
        results = results_of(
            scenarios, seed, workers=running.workers, store=running.store,
            progress=running.progress, heeds_past=False,
        )  # fmt: skip
        first, *others = [result.results[0] for result in results]
        seconds = [1 / row["iops"] if row["iops"] else 0.0 for row in others]
        rate = first["mb_per_s"] * 1e6
        found[name] = Drive(tuple(seconds[::2]), tuple(seconds[1::2]), rate, size)
    return found


def _alone(question: Question, name: str, load: WorkloadTree) -> Scenario:
    run = _RUN.copy()
    if is_flash(name, question):
        run["precondition"] = "steady-state"
    tree: ScenarioTree = {
        "array": [{"drives": [{"model": name}]}],
        "workload": [load],
        "run": run,
    }
    return build_scenario(tree, question.path)


def _stream(size: int) -> WorkloadTree:
    start = size // 2 // (1 << 20) * (1 << 20)
    return {
        "rw": "write", "block_size": "1 MiB", "outstanding": _STREAM_DEPTH,
        "area_start": f"{start} B", "align": "1 MiB",
    }  # fmt: skip


def _table(load: WorkloadTree) -> WorkloadTable | None:
    """The load's table; None if it has faults, or is a job of fio or a trace."""
    try:
        table = WorkloadTable.model_validate_json(_json(load))
    except ValueError:
        return None
    return None if table.job_file is not None or table.trace is not None else table


def _json(load: WorkloadTree) -> str:
    import json

    return json.dumps(load, default=str)


def _block(load: WorkloadTree) -> int:
    table = _table(load)
    return 4096 if table is None else table.load().block_bytes


def _area(load: WorkloadTree, size: int) -> int:
    area = load.get("area")
    return size if area in (None, "whole") else int(SIZE.convert(str(area)))


def busy(question: Question, candidate: Candidate, drive: Drive) -> float | None:
    """The least share of its time that each drive is busy; None where no bound is known."""
    array = candidate.tree["array"][0]
    if "cache_tier" in array or set(array["drives"][0]) - {"model", "count"}:
        # A cache puts writes together; a volume that is bought larger is no longer the file's.
        return None
    reads, writes = small_write(candidate.level)
    total = 0.0
    for at, load in enumerate(question.table.loads):
        table = _table(load)
        if table is None or table.rate is None or table.load().access != "random":
            return None
        if table.hot_spot is not None or table.load().block_bytes > 64 * 1024:
            return None
        rate = question.growth * float(IO_RATE.parse(str(load["rate"])))
        share = table.load().read_share
        write = reads * drive.read_s[at] + writes * drive.write_s[at]
        total += rate * (share * drive.read_s[at] + (1 - share) * write)
    return total / candidate.count


def prune(question: Question, candidates: Sequence[Candidate], drives: Mapping[str, Drive]) -> None:
    """Marks candidates whose drives cannot serve the load."""
    for candidate in candidates:
        if candidate.scenario is None:
            continue
        share = busy(question, candidate, drives[candidate.drive])
        if share is not None and share > SLACK:
            limit = f"drives: {times(share)} their time at least, by a bound"
            candidate.serves(candidate.asked / share, limit)
