"""What answers and tables read of a result, without what makes one."""

from __future__ import annotations

from typing import Protocol

from raidlab.scenarios.results.row import Change, Row
from raidlab.scenarios.spec.trees import ScenarioTree


class Outcome(Protocol):
    """The part of `Result` that is shown."""

    @property
    def title(self) -> str:
        """Of the scenario."""
        ...

    @property
    def seed(self) -> int:
        """Of the random numbers."""
        ...

    @property
    def version(self) -> str:
        """Of raidlab."""
        ...

    @property
    def results(self) -> tuple[Row, ...]:
        """Rows by point, replication and workload."""
        ...

    @property
    def warnings(self) -> tuple[str, ...]:
        """What makes rows doubtful, in words."""
        ...

    @property
    def breaches(self) -> tuple[str, ...]:
        """What the engine's own checks found wrong."""
        ...

    @property
    def interrupted(self) -> bool:
        """True if rows are missing because the run was stopped."""
        ...

    @property
    def written(self) -> ScenarioTree | None:
        """The scenario as it was written."""
        ...

    @property
    def what_if(self) -> tuple[Change, ...] | None:
        """What twice of something would give; None if it was not asked."""
        ...

    def summary(self) -> list[Row]:
        """Rows over all replications."""
        ...
