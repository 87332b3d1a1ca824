"""Writes that wait for md's write-intent bitmap: how much of their time, and what lessens it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from raidlab.devices.units import format_size
from raidlab.scenarios.results.diagnostics.observed import Observed
from raidlab.scenarios.results.number_text import figure
from raidlab.scenarios.results.row import Row, measured
from raidlab.scenarios.spec.findings import Code, Coded

_LEAST_SHARE = 0.1
"""Share of writes' time below which the bitmap hardly shows."""


def bitmap_waits(observed: Observed) -> Iterator[str]:
    """A warning for each array whose bitmap takes much of the writes' time: of the worst point.

    By Little's law the writes that wait on average, over writes a second, are the mean wait.
    """
    scenario = observed.scenario
    for array in () if scenario is None else scenario.base["arrays"]:
        bitmap = array.get("bitmap")
        if bitmap is None:
            continue
        name, chunk = array["name"], format_size(bitmap["chunk_bytes"])
        share, times = max((_share(run, name) for run in observed.runs()), default=(0.0, ""))
        if share < _LEAST_SHARE:
            continue
        yield Coded(
            f"array {name}: writes wait for its write-intent bitmap, {times} on average: regions of"
            f" {chunk} are written less often than their bits are cleared, every 5 to 10 s"
            ' (bitmap = "none", after which a crash costs a whole resync; a smaller area; or a'
            " larger bitmap_chunk)",
            Code.BITMAP_WAITS,
            name,
        )


def _share(run: Sequence[Row], array: str) -> tuple[float, str]:
    """The wait for an array's bitmap as a share of its writes' time; both in words."""
    waiting = next(
        (
            each["queue_mean"] or 0.0
            for each in run[0]["components"]
            if (each["kind"], each["name"]) == ("bitmap", f"{array} bitmap")
        ),
        0.0,
    )
    sides = [row["write"] for row in run if row["target"] == array and row["write"]["ios"]]
    rate = sum(side["iops"] for side in sides)
    if not rate:
        return 0.0, ""
    mean_us = sum(side["iops"] * measured(side)["mean"] for side in sides) / rate
    wait_us = min(1e6 * waiting / rate, mean_us)
    return wait_us / mean_us, f"{figure(wait_us, 'us')} of {figure(mean_us, 'us')}"
