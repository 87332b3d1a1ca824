"""What judges of rows are given: all runs of a scenario, or of a live system."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from raidlab.scenarios.planning.scenario import Scenario
from raidlab.scenarios.results.row import Row, RunEvent, TraceFound


@dataclass(frozen=True)
class Observed:
    """What runs have recorded."""

    rows: Sequence[Row]
    """Of any points and replications."""
    scenario: Scenario | None = None
    """Of which the rows are; None for a live system made of a plan."""
    traces: Sequence[TraceFound] = ()
    """What the engine gave of each trace, as `Result.traces` has it."""
    events: Sequence[RunEvent] = ()
    data: Mapping[str, int] = field(default_factory=dict)
    """What became of the data, over all runs."""
    failed: Sequence[str] = ()
    """Warnings of jobs that an error ended."""

    def runs(self) -> Iterator[Sequence[Row]]:
        """The rows of each run: one for each workload."""
        found: dict[tuple[int, int], list[Row]] = {}
        for row in self.rows:
            found.setdefault((row["point"], row["replication"]), []).append(row)
        yield from found.values()

    def loads(self) -> Iterator[tuple[str, Sequence[Row]]]:
        """The rows of each workload."""
        for name in dict.fromkeys(row["workload"] for row in self.rows):
            yield name, [row for row in self.rows if row["workload"] == name]


Judge = Callable[[Observed], Iterable[str]]
"""Gives warnings, each with its code."""
