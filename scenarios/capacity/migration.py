"""Moving data to the recommended system: for how long, and what users of the old one feel.

The present system goes on to serve its loads, at today's rates, while a copier reads it in order,
as `pvmove` or a hypervisor's storage migration does: four reads of 1 MiB at a time. What users
write meanwhile goes to both systems (mirrored writes), so nothing is copied twice. With `B` bytes
to be moved, `r` bytes a second that the old system gives the copier beside its users, and `w` that
the new one takes in sequence,

    hours = B / min(r, w) / 3600

A copier can be throttled: it is also simulated at parts of its full rate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from raidlab.scenarios.capacity.candidates import Candidate
from raidlab.scenarios.capacity.question import Question
from raidlab.scenarios.planning.scenario import Scenario, build_scenario
from raidlab.scenarios.results.row import Row
from raidlab.scenarios.running.simulate import results_of
from raidlab.scenarios.spec.trees import WorkloadTree
from raidlab.scenarios.studies.running import Running
from raidlab.scenarios.studies.size import slowest_p99

_BLOCK: Final = "1 MiB"
_OUTSTANDING: Final = 4
_PARTS: Final = (0.5, 0.25, 0.125)
"""Of the copier's full rate, at which it is throttled."""
_ALONE: Final = {"warm_up": "2 s", "duration": "5 s"}
"""The run in which the new system is written alone."""


@dataclass(frozen=True)
class Copying:
    """The copier at one rate."""

    part: float
    """Of its full rate: 1 if it is not throttled."""
    bytes_per_s: float
    hours: float
    p99_us: float | None
    """Of the slowest of the users' loads meanwhile; None if nothing of them was completed."""
    iops: float
    """Of the users together."""


@dataclass(frozen=True)
class Migration:
    """Data moved from the present system to the recommended one."""

    present: str
    """Name of the present system."""
    moves: int
    """Bytes."""
    takes: float
    """Bytes a second that the new system takes."""
    p99_us_before: float | None
    iops_before: float
    copies: tuple[Copying, ...]
    """Unthrottled first."""

    @property
    def limited_by_new(self) -> bool:
        """Whether the new system, not the old one, ends the copier's full rate."""
        return self.copies[0].bytes_per_s >= self.takes


def migration_of(
    question: Question, best: Candidate, running: Running, seed: int
) -> Migration | None:
    """What moving to the recommended system takes; None where nothing is said to move.

    Raises:
        SpecError: One of the systems cannot be simulated.
    """
    table = question.table.present
    if table is None or table.moves is None or question.present is None:
        return None
    study = _Study(question, running, seed)
    takes = study.written(best)
    before = study.users(None)
    full = study.users(_copier(question, table.moves, None))
    rate = min(study.copied(full), takes)
    if not rate:
        return None
    copies = [study.copying(1.0, full, rate, table.moves)]
    for part in _PARTS:
        rows = study.users(_copier(question, table.moves, part * rate))
        copies.append(study.copying(part, rows, min(study.copied(rows), takes), table.moves))
    return Migration(
        question.present.title, table.moves, takes, slowest_p99(before),
        sum(row["iops"] for row in before), tuple(copies),
    )  # fmt: skip


def _copier(question: Question, moves: int, rate: float | None) -> WorkloadTree:
    names = [load.get("name") for load in question.table.load]
    found: WorkloadTree = {
        "name": next(name for name in ("copy", "migration", "copier") if name not in names),
        "rw": "read", "block_size": _BLOCK, "outstanding": _OUTSTANDING, "area": f"{moves} B",
    }  # fmt: skip
    if rate is not None:
        found["limit"] = f"{rate:.0f} B/s"
    return found


class _Study:
    """Runs of the present system, and one of the new one."""

    def __init__(self, question: Question, running: Running, seed: int) -> None:
        self.question, self.running, self.seed = question, running, seed

    def users(self, copier: WorkloadTree | None) -> list[Row]:
        """Rows of the present system under its loads, that of the copier last if there is one."""
        present = self.question.present
        if present is None:
            return []
        table = self.question.table
        loads = [*table.loads, *([] if copier is None else [copier])]
        scenario = present.loaded(loads, table.run_table)
        return self._rows(scenario)

    def _rows(self, scenario: Scenario) -> list[Row]:
        running = self.running
        (result,) = results_of(
            [scenario], self.seed, workers=running.workers, store=running.store,
            progress=running.progress, heeds_past=False,
        )  # fmt: skip
        return result.summary()

    def written(self, best: Candidate) -> float:
        """Bytes a second that the new system takes while nobody else uses it."""
        load = {"rw": "write", "block_size": _BLOCK, "outstanding": _OUTSTANDING}
        tree = best.tree | {"workload": [load], "run": {**best.tree["run"], **_ALONE}}
        return 1e6 * self._rows(build_scenario(tree, self.question.path))[0]["mb_per_s"]

    @staticmethod
    def copied(rows: Sequence[Row]) -> float:
        """Bytes a second of the copier."""
        return 1e6 * rows[-1]["mb_per_s"]

    @staticmethod
    def copying(part: float, rows: Sequence[Row], rate: float, moves: int) -> Copying:
        """What a run of users and copier says."""
        users = rows[:-1]
        served = sum(row["iops"] for row in users)
        return Copying(part, rate, moves / rate / 3600, slowest_p99(users), served)
