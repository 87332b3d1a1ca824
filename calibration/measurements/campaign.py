"""A campaign: points measured one after the other on one drive, whose state goes on.

What one point writes is there when the next one begins. Random writes of W bytes over a drive of C
leave a share of it untouched: each block is missed by each of W/b writes with probability 1 - b/C,

    untouched = (1 - b/C)^(W/b) = e^(-W/C)

and a stream of W bytes covers W/C of it, as it begins at the same place every time. Reads of what
nobody wrote touch no NAND, so a drive measured from its first day on reads slower from point to
point, whatever the points' order in a list.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from raidlab.calibration.measurements.measurement import Before, Point


def in_order(points: Sequence[Point]) -> list[Point]:
    """The points with what those measured before them had written, in their own order.

    Args:
        points: Of one drive. Nothing is known where one of them does not say when it ended.
    """
    if any(point.ended_s is None for point in points):
        return list(points)
    found: dict[int, Point] = {}
    random, sequential = 0, 0
    for at in sorted(range(len(points)), key=lambda at: (points[at].ended_s, at)):
        point = points[at]
        before = Before(random_bytes=random, sequential_bytes=sequential)
        found[at] = point.model_copy(update={"before": before})
        if point.write is None:
            continue
        written = point.write.ios * point.bs
        if point.rw.startswith("rand"):
            random += written
        else:
            sequential = max(sequential, min(written, point.area_bytes or written))
    return [found[at] for at in range(len(points))]


def mapped_before(point: Point, mapped: float, capacity: int) -> float:
    """The share of a drive that contained data when a point began.

    Args:
        point: One of a campaign.
        mapped: The share before its first point.
        capacity: Bytes of the drive.
    """
    before = point.before
    if before is None:
        return mapped
    area = min(point.area_bytes or capacity, capacity)
    streamed = max(mapped, min(1.0, before.sequential_bytes / area))
    return 1.0 - (1.0 - streamed) * math.exp(-before.random_bytes / area)
