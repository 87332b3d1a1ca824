"""Counters that only grow, as rates: wraps and resets.

A counter that falls was reset, and the interval is left out; but milliseconds are 32 bits wide in
the kernel, and where they alone fall by nearly 2^32 they have wrapped: 2^32 is added.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise

from raidlab.calibration.monitoring.samples import Capture, Quantity

Q = Quantity
_WRAP = 2.0**32
_NEARLY = 0.75
"""Share of 2^32 by which a counter falls when it wraps."""


class Counter(Enum):
    """A counter of a device, in base units."""

    READS = "reads"
    READ_BYTES = "bytes read"
    READ_MS = "ms of reads"
    WRITES = "writes"
    WRITE_BYTES = "bytes written"
    WRITE_MS = "ms of writes"
    BUSY_MS = "ms with a request in flight"
    WEIGHTED_MS = "ms times requests in flight"
    DISCARDS = "discards"
    DISCARD_BYTES = "bytes discarded"
    DISCARD_MS = "ms of discards"
    FLUSHES = "flushes"
    FLUSH_MS = "ms of flushes"


_MILLISECONDS = {
    Counter.READ_MS, Counter.WRITE_MS, Counter.BUSY_MS, Counter.WEIGHTED_MS, Counter.DISCARD_MS,
    Counter.FLUSH_MS,
}  # fmt: skip


@dataclass(frozen=True)
class Snapshot:
    """Counters of a device at one time."""

    at: float
    counts: Mapping[Counter, float]
    units: Mapping[Counter, float] | None = None
    """By how much one step of the raw counter raises it, where that is not 1: 512 for sectors."""


def deltas(
    device: str, before: Snapshot, after: Snapshot, capture: Capture
) -> dict[Counter, float] | None:
    """By how much each counter rose; None if the counters were reset in between."""
    found: dict[Counter, float] = {}
    wrapped: list[Counter] = []
    for counter in before.counts.keys() & after.counts.keys():
        unit = (after.units or {}).get(counter, 1.0)
        rise = after.counts[counter] - before.counts[counter]
        if rise < 0 and -rise >= _NEARLY * _WRAP * unit and before.counts[counter] < _WRAP * unit:
            wrapped.append(counter)
            rise += _WRAP * unit
        if rise < 0:
            capture.note(
                "reset", device, "its counters fell, so they were reset: that interval is left out"
            )
            return None
        found[counter] = rise
    if wrapped:
        if not _plausible(found, wrapped, after.at - before.at):
            capture.note("reset", device, "its counters fell: that interval is left out")
            return None
        names = ", ".join(sorted(counter.value for counter in wrapped))
        capture.note("wrap", device, f"32-bit counters wrapped ({names}): 2^32 was added")
    return found


def _plausible(rises: Mapping[Counter, float], wrapped: Sequence[Counter], elapsed: float) -> bool:
    """False if a rise that was made of a wrap cannot be."""
    if Counter.BUSY_MS in wrapped and elapsed > 0:
        return rises[Counter.BUSY_MS] <= 1000 * elapsed * 1.5 + 1000
    if all(counter in _MILLISECONDS for counter in wrapped):
        return True
    # Counts of 32 bits wrap one at a time; all at once is a restart.
    return len(wrapped) <= 2


def rates(rises: Mapping[Counter, float], elapsed: float) -> dict[Quantity, float]:
    """What a sample of `elapsed` seconds has."""
    found: dict[Quantity, float] = {}
    for counter, quantity in _PER_S.items():
        if counter in rises:
            found[quantity] = rises[counter] / elapsed
    for count, total, quantity in _PER_REQUEST:
        if count in rises and total in rises and rises[count] > 0:
            found[quantity] = rises[total] / rises[count]
    if Counter.WEIGHTED_MS in rises:
        found[Q.QUEUE] = rises[Counter.WEIGHTED_MS] / (1000 * elapsed)
    if Counter.BUSY_MS in rises:
        found[Q.UTIL] = rises[Counter.BUSY_MS] / (10 * elapsed)
    return found


_PER_S = {
    Counter.READS: Q.READS,
    Counter.WRITES: Q.WRITES,
    Counter.READ_BYTES: Q.READ_BYTES,
    Counter.WRITE_BYTES: Q.WRITE_BYTES,
    Counter.DISCARDS: Q.DISCARDS,
    Counter.DISCARD_BYTES: Q.DISCARD_BYTES,
    Counter.FLUSHES: Q.FLUSHES,
}
_PER_REQUEST = (
    (Counter.READS, Counter.READ_MS, Q.R_AWAIT),
    (Counter.WRITES, Counter.WRITE_MS, Q.W_AWAIT),
    (Counter.DISCARDS, Counter.DISCARD_MS, Q.D_AWAIT),
    (Counter.FLUSHES, Counter.FLUSH_MS, Q.F_AWAIT),
)


def sampled(
    capture: Capture, snapshots: Mapping[str, Sequence[Snapshot]]
) -> dict[str, tuple[list[tuple[float, float, dict[Quantity, float]]], int]]:
    """Samples of each device between its snapshots, and intervals that had to be left out."""
    found = {}
    for device, every in snapshots.items():
        rows: list[tuple[float, float, dict[Quantity, float]]] = []
        gaps = 0
        for before, after in pairwise(every):
            elapsed = after.at - before.at
            if elapsed <= 0:
                capture.note(
                    "clock", device, "the clock stood or went back: that interval is left out"
                )
                gaps += 1
                continue
            rises = deltas(device, before, after, capture)
            if rises is None:
                gaps += 1
                continue
            rows.append((after.at, elapsed, rates(rises, elapsed)))
        found[device] = (rows, gaps)
    return found
