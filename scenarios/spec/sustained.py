"""The sustained state: what a system does for hours, with caches full and SSDs worn in."""

from __future__ import annotations

from raidlab.devices.plan_types import Filling

GATHERED = 0.1
"""Share of what is written that may stay in a controller's cache and be no matter."""
MOST_DURATIONS = 100
"""Durations of a recording for which the warm-up waits for caches at most. A cache that takes in
more than a tenth of what is written is full after ten times its size was written."""


def filling_plan(least_warm_up_ns: int, duration_ns: int) -> Filling:
    """What has the warm-up wait until controllers' caches are full."""
    return {"share": GATHERED, "most_ns": least_warm_up_ns + MOST_DURATIONS * duration_ns}
