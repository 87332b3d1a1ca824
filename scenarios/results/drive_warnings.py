"""What a user should know of the drives of a run, on every path that runs one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from raidlab.scenarios.planning.scenario import Scenario
from raidlab.scenarios.results.throttled import throttled_drives
from raidlab.scenarios.results.unwritten import unwritten_reads


def drive_warnings(scenario: Scenario | None, rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Reads of what was never written, and drives that became too warm.

    Args:
        scenario: Of which the rows are; None for a live system made of a plan.
        rows: Of any points and replications.
    """
    return [*unwritten_reads(scenario, rows), *throttled_drives(rows)]
