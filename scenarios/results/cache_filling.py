"""Caches of controllers that still take in what their drives will have to write later."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from raidlab.scenarios.results.result import Row

__all__ = ["GATHERED", "points_still_filling", "still_filling"]

GATHERED = 0.1
"""Share of what is written that may stay in a controller's cache and be no matter."""


def still_filling(rows: Sequence[Row]) -> list[str]:
    """Controllers whose memory still holds much of what was written while a run was recorded.

    Args:
        rows: Those of one run, one for each workload.
    """
    written = sum(row["write"]["mib_per_s"] * row["duration_s"] * (1 << 20) for row in rows)
    return [
        cache["name"] for cache in rows[0]["caches"] if cache["gathered_bytes"] > GATHERED * written
    ]


def points_still_filling(rows: Iterable[Row]) -> Collection[int]:
    """Points of which a run ended with a cache that was still filling."""
    runs: dict[tuple[int, int], list[Row]] = {}
    for row in rows:
        runs.setdefault((row["point"], row["replication"]), []).append(row)
    return {point for (point, _), own in runs.items() if still_filling(own)}
