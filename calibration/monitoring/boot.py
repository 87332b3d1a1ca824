"""Whether the first report of iostat covers the time since boot, and leaving it out.

iostat's first report does unless it was started with `-y`, and its text does not say which. Three
things do: amounts beside rates give the seconds that a report covers; a first report that lies
outside the range of those after it is another kind of sample; and one of a long file changes no
mean. A first report within the range of the others is kept, with a note: if it was one since boot
after all, it is like the others and does little harm.
"""

from __future__ import annotations

from enum import StrEnum

import numpy as np

from raidlab.calibration.monitoring.samples import Boot, Capture, Quantity, Series

Q = Quantity
_LONG_SAMPLES = 30
"""Samples after which one less does not matter."""
_SLACK = 1.5
_OTHER_LENGTH = 3.0
_COMPARED = (Q.READS, Q.WRITES, Q.IOS, Q.READ_BYTES, Q.WRITE_BYTES)


class SinceBoot(StrEnum):
    """What is done with the first report of each run."""

    AUTO = "auto"
    KEEP = "keep"
    DROP = "drop"


def drop_since_boot(capture: Capture, asked: SinceBoot) -> bool:
    """Leaves out the samples since boot; true if there were any."""
    if capture.boot is not Boot.OPEN or not capture.series:
        return capture.boot is Boot.DROPPED
    if asked is SinceBoot.KEEP:
        return False
    several = len(capture.runs) > 1
    drop = asked is SinceBoot.DROP or several or _is_since_boot(capture)
    if not drop:
        capture.note(
            "since-boot",
            "",
            "the first report is like those after it, so it was kept as made with -y;"
            " --since-boot drop leaves it out",
        )
        return False
    for name, series in list(capture.series.items()):
        mask = np.ones(len(series), dtype=bool)
        for run in capture.runs:
            first = run.get(name)
            if first is not None and first < len(mask):
                mask[first] = False
        if not mask.any() and asked is SinceBoot.AUTO:
            capture.note("one-sample", name, "its only sample covers the time since boot")
        capture.series[name] = series.kept(mask)
    return True


def _is_since_boot(capture: Capture) -> bool:
    if capture.first_is_longer:
        return True
    every = [each for each in capture.series.values() if len(each) > 0]
    first = capture.runs[0] if capture.runs else {}
    lengths = [each.length for each in every if not np.isnan(each.length[0])]
    for length in lengths:
        others = length[1:][~np.isnan(length[1:])]
        if len(others):
            return bool(length[0] > _OTHER_LENGTH * float(np.median(others)))
    return any(
        _apart(capture.series[name], at)
        for name, at in first.items()
        if at < len(capture.series[name])
    )


def _apart(series: Series, at: int) -> bool:
    """True if a sample cannot be taken for one of the others."""
    others = len(series) - 1
    if others < 2 or others >= _LONG_SAMPLES:
        return True
    for quantity in _COMPARED:
        column = series.column(quantity)
        if column is None:
            continue
        value, rest = column[at], np.delete(column, at)
        rest = rest[~np.isnan(rest)]
        if not len(rest) or np.isnan(value):
            continue
        if not float(rest.min()) / _SLACK <= value <= float(rest.max()) * _SLACK:
            return True
    return False
