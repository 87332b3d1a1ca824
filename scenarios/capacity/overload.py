"""How much of a load a candidate serves that cannot serve all of it."""

from __future__ import annotations

from collections.abc import Sequence

from raidlab.devices.faults import Fault
from raidlab.scenarios.capacity.candidates import Candidate
from raidlab.scenarios.capacity.headroom import at_rates
from raidlab.scenarios.capacity.question import Question
from raidlab.scenarios.planning.scenario import Scenario
from raidlab.scenarios.results.bottleneck import limits
from raidlab.scenarios.results.row import Row
from raidlab.scenarios.running.simulate import results_of
from raidlab.scenarios.studies.running import Running
from raidlab.scenarios.studies.size import falls_behind

_PARTS = tuple(0.5**step for step in range(1, 8))
"""Of the rates, at which a run is tried whose backlog no memory held at the whole rates."""


def served_of(scenario: Scenario, rows: Sequence[Row]) -> float:
    """I/Os a second that are served of loads that arrive at a rate."""
    loads = zip(scenario.workloads, rows, strict=False)
    return sum(row["iops"] for load, row in loads if load.arrives_per_s)


def at_lower_rates(
    question: Question, refused: Sequence[Candidate], running: Running, seed: int
) -> None:
    """Notes what candidates serve whose runs end as more I/Os wait than memory holds.

    Each is simulated at halves of the rates until a run is complete: under a lower overload it
    serves as much.
    """
    left = list(refused)
    for part in _PARTS:
        if not left:
            return
        scenarios = [at_rates(question, each, question.growth * part)[1] for each in left]
        faults: dict[int, list[Fault]] = {}
        results = list(results_of(
            scenarios, seed, workers=running.workers, store=running.store,
            progress=running.progress, refused=faults, heeds_past=False,
        ))  # fmt: skip
        run = [at for at in range(len(left)) if at not in faults]
        for at, result in zip(run, results, strict=True):
            rows = result.summary()
            left[at].serves(served_of(scenarios[at], rows), limits(rows[0]))
            left[at].serves_more = not falls_behind(scenarios[at], rows)
            left[at].iops = sum(row["iops"] for row in rows)
            left[at].bill.runs(rows[0])
        left = [left[at] for at in faults]
