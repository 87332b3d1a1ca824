"""Jobs that errors ended, drives that nobody replaces, writes and data that are lost."""

from __future__ import annotations

from collections.abc import Iterator

from raidlab.scenarios.results.diagnostics.observed import Observed
from raidlab.scenarios.spec.findings import Code, Coded


def failed_jobs(observed: Observed) -> Iterator[str]:
    """Jobs of fio that an error ended."""
    yield from observed.failed


def unrebuilt(observed: Observed) -> Iterator[str]:
    """A warning for each drive that nobody replaces, and each array for which it is too late."""
    offline = {
        event["subject"] for event in observed.events if event.get("kind") == "array-offline"
    }
    planned = {} if observed.scenario is None else observed.scenario.unrebuilt
    for name, warnings in planned.items():
        if name in offline:
            text = (
                f"array {name}: its data are lost, more drives failed at a time than it survives; a"
                " spare that is not rebuilt by then, or a new drive, does not bring them back"
            )
            yield Coded(text, Code.DATA_LOST, name)
        else:
            yield from warnings


def lost_writes(observed: Observed) -> Iterator[str]:
    """Acknowledged writes that were in drives' own caches when the power failed."""
    count = observed.data.get("lost_in_drive_caches", 0)
    if count:
        text = (
            f"{count} acknowledged writes were lost in the drives' own caches when the power failed"
        )
        yield Coded(text, Code.DATA_LOST, "")
