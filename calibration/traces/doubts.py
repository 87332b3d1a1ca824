"""What a user should know of a replay: reads of what was never written, a queue that grows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raidlab.calibration.traces.trace import READ, WRITE, Trace
from raidlab.scenarios.results.warnings import has_fresh_ssds, queue_grows

LACKS = (
    "A replay gives response times: it has no precondition of its own, does not split reads from"
    " writes, names no bottleneck and has no page."
)
_UNIT = 4096
"""Bytes by which what was written is compared."""
_SEEN = 20_000
"""Requests in which reads of what was never written are looked for."""
_LONGEST = 4096
"""Units of a write that count: 16 MiB."""
_NEVER = np.iinfo(np.int64).max


def doubts(
    trace: Trace, plan: Mapping[str, Any], array: int, simulated_us: NDArray[np.float64]
) -> Iterator[str]:
    """Warnings of what makes the response times too short or without meaning.

    Args:
        trace: What was replayed.
        plan: Of the target.
        array: The array in it.
        simulated_us: Response time of each request.
    """
    if has_fresh_ssds(plan, array):
        yield from _unwritten(trace)
    if not trace.closed and len(trace):
        yield from _overload(trace, simulated_us)


def _unwritten(trace: Trace) -> Iterator[str]:
    seen = min(len(trace), _SEEN)
    reads = np.flatnonzero(trace.ops[:seen] == READ)
    count = int(np.count_nonzero(_first_written(trace, seen)[reads] > reads))
    if count:
        of = f"{reads.size:,} reads" + (
            f" among the first {seen:,} requests" if len(trace) > _SEEN else ""
        )
        yield (
            f"{count:,} of {of} are of what was never written, and SSDs answer that without NAND: a"
            ' --scenario with run.precondition = "filled" writes it first'
        )


def _first_written(trace: Trace, seen: int) -> NDArray[np.int64]:
    """For each of the first requests, the first one that writes to where it begins."""
    begins = (trace.offsets[:seen] // _UNIT).astype(np.int64)
    ends = ((trace.offsets[:seen] + trace.sizes[:seen]) // _UNIT).astype(np.int64)
    writes = np.flatnonzero(trace.ops[:seen] == WRITE)
    counts = np.clip(ends - begins, 1, _LONGEST)[writes]
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    # In the order of the trace, so the first of equal units is the first write.
    known, at = np.unique(np.repeat(begins[writes], counts) + within, return_index=True)
    found = np.full(seen, _NEVER, dtype=np.int64)
    if known.size:
        place = np.minimum(np.searchsorted(known, begins), known.size - 1)
        there = known[place] == begins
        found[there] = np.repeat(writes, counts)[at][place[there]]
    return found


def _overload(trace: Trace, simulated_us: NDArray[np.float64]) -> Iterator[str]:
    arrivals_s = trace.times_ns.astype(np.float64) / 1e9
    seconds = float(arrivals_s[-1] - arrivals_s[0])
    served = int(np.count_nonzero(arrivals_s + simulated_us / 1e6 <= arrivals_s[-1]))
    if seconds > 0 and queue_grows(len(trace), served):
        waiting = len(trace) - served
        yield (
            f"arrives at {len(trace) / seconds:,.4g} IO/s, more than is served: {waiting:,} of"
            f" {len(trace):,} requests are under way when the last one arrives, so latencies grow"
            " with the length of the trace (--slower)"
        )
