"""Drives that became too warm and slowed down: what was recorded is not what a cool one does."""

from __future__ import annotations

from collections.abc import Iterator

from raidlab.scenarios.results.bottleneck import behind
from raidlab.scenarios.results.diagnostics.observed import Observed
from raidlab.scenarios.results.row import Row
from raidlab.scenarios.spec.findings import Code, Coded

_LEAST_SHARE = 0.001
"""Share of a run's time below which no figure differs."""


def throttled_drives(observed: Observed) -> Iterator[str]:
    """A warning for each array with drives that were slowed down: of the longest throttling."""
    longest: dict[str, tuple[float, str]] = {}
    for row in observed.rows:
        for found in _slowed(row):
            longest[row["target"]] = max(longest.get(row["target"], found), found)
    for array, (share, text) in longest.items():
        if share > _LEAST_SHARE:
            yield Coded(text, Code.THROTTLED, array)


def throttled_note(what: str, seconds: float, warmest: float, whole: float = 0.0) -> str:
    """That drives were slowed down, in words.

    Args:
        what: The array or the system that has them.
        seconds: How long they were.
        warmest: Their highest temperature in degrees Celsius.
        whole: Seconds that the run took; 0 if that is not known.
    """
    share = f" of {whole:.3g} s" if whole else ""
    return (
        f"{what}: drives were slowed down by their temperature, up to {warmest:.0f} degC, for"
        f" {seconds:.3g} s{share} (cooling of the drives, or a load that costs less power)"
    )


def _slowed(row: Row) -> Iterator[tuple[float, str]]:
    """The share of a run, warm-up included, in which each drive was slowed down; in words."""
    whole = row["warm_up_s"] + row["duration_s"]
    for each in behind(row["components"], row["target"], row["workload"]):
        figures = each.get("figures") or {}
        seconds = figures.get("throttled_s", 0.0)
        if seconds and whole:
            warmest = figures["temperature_c_max"]
            yield seconds / whole, throttled_note(f"array {row['target']}", seconds, warmest, whole)
