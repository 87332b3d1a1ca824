"""The CPU time of an I/O's thread, as fio counted it: measured, not fitted.

fio states user and system time of each job as a share of the run. Divided by the rate of a job that
is the CPU time of an I/O: a time of each command, one of each page, both besides of a write, and
one of a completion whose thread slept, which with `d` outstanding is one in `d` at most. They are
the non-negative least squares of all points, each weighted by its size (Lawson and Hanson 1974).
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


def host_times(points: Sequence[Point], threads: int = 0) -> HostTimes | None:
    """CPU times of an I/O; None where fio counted none.

    Args:
        points: With their `cpu_share`.
        threads: Hardware threads of the host; 0 if they are not known.
    """
    known = [p for p in points if p.cpu_share is not None and p.cpu_share >= _LEAST_SHARE]
    if not known:
        return None
    loads = loads_of(known)
    spent = np.array([(p.cpu_share or 0.0) * p.numjobs / p.iops for p in known])
    pages, writes = np.ceil(loads.block / 4096.0), 1.0 - loads.read_share
    each = [np.ones(len(known)), pages, writes, writes * pages, 1.0 / loads.depth]
    columns = np.stack(each, axis=1)
    times, _ = nnls(columns / spent[:, None], np.ones(len(known)))
    command, page, write, write_page, wake = map(float, times)
    return HostTimes(command, page, write, write_page, wake, threads)
