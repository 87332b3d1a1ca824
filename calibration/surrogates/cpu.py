"""The CPU time of an I/O's thread, as fio counted it: measured, not fitted.

fio states user and system time of each job as a share of the run. Divided by the rate of a job that
is the CPU time of an I/O: a time of each command, one of each page, both besides of a write, and
one of a completion whose thread slept, which with `d` outstanding is one in `d` at most. They are
the non-negative least squares of all points, each weighted by its size (Lawson and Hanson 1974).

A disk that is memory has done an I/O when it is issued: its thread is busy all the time, and so are
as many hardware threads as there are jobs. Then the rate alone says what an I/O takes.

**Example.** 100,000 reads a second by four jobs on two hardware threads take 20 us each.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from scipy.optimize import nnls

from raidlab.calibration.measurements.measurement import Point
from raidlab.calibration.surrogates.laws import HostTimes
from raidlab.calibration.surrogates.loads import loads_of

_LEAST_SHARE: Final = 0.005
"""Share of a CPU below which fio's percents say too little."""


def host_times(
    points: Sequence[Point], threads: int = 0, *, always_busy: bool = False
) -> HostTimes | None:
    """CPU times of an I/O; None where fio counted none.

    Args:
        points: With their `cpu_share`.
        threads: Hardware threads of the host; 0 if they are not known.
        always_busy: True if an I/O is nothing but CPU time of its thread.
    """
    shares = [_share(point, threads, always_busy=always_busy) for point in points]
    known = [point for point, share in zip(points, shares, strict=True) if share >= _LEAST_SHARE]
    if not known:
        return None
    loads = loads_of(known)
    busy = np.array([share for share in shares if share >= _LEAST_SHARE])
    spent = busy * loads.jobs / np.array([point.iops for point in known])
    pages, writes = np.ceil(loads.block / 4096.0), 1.0 - loads.read_share
    each = [np.ones(len(known)), pages, writes, writes * pages, 1.0 / loads.depth]
    columns = np.stack(each, axis=1)
    times, _ = nnls(columns / spent[:, None], np.ones(len(known)))
    command, page, write, write_page, wake = map(float, times)
    return HostTimes(command, page, write, write_page, wake, threads)


def _share(point: Point, threads: int, *, always_busy: bool) -> float:
    """Share of a hardware thread that each job of a point takes."""
    if always_busy:
        return min(1.0, threads / point.numjobs) if threads else 1.0
    return point.cpu_share or 0.0
