"""Caches of controllers that still take in what their drives will have to write later."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from raidlab.scenarios.results.diagnostics.observed import Observed
from raidlab.scenarios.results.row import Row
from raidlab.scenarios.spec.findings import Code, Coded
from raidlab.scenarios.spec.sustained import GATHERED

__all__ = ["cache_filling", "points_still_filling", "still_filling"]


def still_filling(rows: Sequence[Row]) -> list[str]:
    """Controllers whose memory still holds much of what was written while a run was recorded.

    Args:
        rows: Those of one run, one for each workload.
    """
    written = sum(row["write"]["mib_per_s"] * row["duration_s"] * (1 << 20) for row in rows)
    return [
        cache["name"] for cache in rows[0]["caches"] if cache["gathered_bytes"] > GATHERED * written
    ]


def points_still_filling(rows: Sequence[Row]) -> Collection[int]:
    """Points of which a run ended with a cache that was still filling."""
    return {own[0]["point"] for own in Observed(rows).runs() if still_filling(own)}


def cache_filling(observed: Observed) -> Iterator[str]:
    """A warning for each controller whose cache was not full yet, at any point."""
    gathered: dict[str, list[int]] = {}
    for own in observed.runs():
        for name in still_filling(own):
            gathered.setdefault(name, []).append(own[0]["outstanding"])
    for name, outstanding in gathered.items():
        steps = ", ".join(str(step) for step in dict.fromkeys(outstanding) if step)
        where = f" at {steps} outstanding" if steps else ""
        text = (
            f"the cache of {name} was not full yet{where}: it held more than {GATHERED:.0%} of"
            " what was written meanwhile, so rates are the cache's and not the drives';"
            f" {_remedy(observed)} fills it first"
        )
        yield Coded(text, Code.CACHE_FILLING, name)


def _remedy(observed: Observed) -> str:
    """A run with events does not wait for full caches, whatever its state."""
    run = {} if observed.scenario is None else observed.scenario.written.get("run", {})
    return "a longer run.warm_up" if run.get("state") == "sustained" else 'run.state = "sustained"'
