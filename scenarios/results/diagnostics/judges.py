"""All judges of rows, in the order in which their warnings are shown."""

from __future__ import annotations

from collections.abc import Sequence

from raidlab.scenarios.results.diagnostics.assumed_rate import assumed_rates
from raidlab.scenarios.results.diagnostics.bitmap_waits import bitmap_waits
from raidlab.scenarios.results.diagnostics.cache_filling import cache_filling
from raidlab.scenarios.results.diagnostics.losses import failed_jobs, lost_writes, unrebuilt
from raidlab.scenarios.results.diagnostics.observed import Judge, Observed
from raidlab.scenarios.results.diagnostics.partial_stripes import partial_stripes
from raidlab.scenarios.results.diagnostics.short_runs import too_short
from raidlab.scenarios.results.diagnostics.throttled import throttled_drives
from raidlab.scenarios.results.diagnostics.traces import trace_doubts
from raidlab.scenarios.results.diagnostics.unwritten import unwritten_reads
from raidlab.scenarios.results.diagnostics.workloads import of_loads, overloads, unused_limits

DRIVES: tuple[Judge, ...] = (unwritten_reads, throttled_drives)
"""Of the drives alone: on every path that runs some."""
ALL: tuple[Judge, ...] = (
    cache_filling,
    *DRIVES,
    assumed_rates,
    of_loads,
    overloads,
    unused_limits,
    partial_stripes,
    bitmap_waits,
    too_short,
    trace_doubts,
    failed_jobs,
    unrebuilt,
    lost_writes,
)


def warnings_of(observed: Observed, judges: Sequence[Judge] = ALL) -> list[str]:
    """What judges say of what was recorded, each once."""
    return list(dict.fromkeys(text for judge in judges for text in judge(observed)))
