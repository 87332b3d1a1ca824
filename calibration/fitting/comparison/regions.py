"""Where a point lies on its curve: alone, at the ceiling, or in the knee between.

At a ceiling one number, such as a link's bandwidth, gives every rate: points there flatter a fit.
What it knows of a drive shows at one outstanding and in the knee. So errors are stated apart.

A point is at the ceiling of its load (direction, block size, share of reads) if its rate is within
3 % of the greatest one, and that of another number of outstanding I/Os is too.

**Example.** Rates of 10, 19, 20 and 20 at 1, 2, 4 and 8 outstanding: alone, knee, ceiling, ceiling.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Final

from raidlab.calibration.fitting.comparison.baseline import against_lines
from raidlab.calibration.fitting.comparison.compare import Compared, Summary, summary
from raidlab.calibration.measurements.measurement import Point

_NEAR: Final = 0.97
"""Share of the greatest rate from which on a point is at the ceiling."""


class Region(StrEnum):
    """Where on its curve a point lies; the hard ones first."""

    ALONE = "alone"
    KNEE = "knee"
    CEILING = "ceiling"


NAMES: Final = {
    Region.ALONE: "one outstanding",
    Region.KNEE: "between",
    Region.CEILING: "at the ceiling",
}


def regions_of(points: Sequence[Point]) -> list[Region]:
    """The region of each point, in their order."""
    high: dict[tuple[object, ...], float] = {}
    for point in points:
        high[point.load] = max(high.get(point.load, 0.0), point.iops)
    depths: dict[tuple[object, ...], set[int]] = {}
    for point in points:
        if point.iops >= _NEAR * high[point.load]:
            depths.setdefault(point.load, set()).add(point.outstanding)
    found = []
    for point in points:
        near = point.iops >= _NEAR * high[point.load] and len(depths[point.load]) > 1
        if near:
            found.append(Region.CEILING)
        else:
            found.append(Region.ALONE if point.outstanding == 1 else Region.KNEE)
    return found


class RegionSummary(Summary):
    """Errors in a region, and how much better than lines they are."""

    skill: float | None
    skill_p90: float | None


def by_region(rows: Sequence[Compared]) -> dict[str, RegionSummary]:
    """Errors by region, of unseen points where there are any; regions without points are left out.

    Args:
        rows: Points with their `part`; lines go through those of `train`.
    """
    training = [row for row in rows if row.part == "train"]
    judged = [row for row in rows if row.part == "test"] or list(rows)
    places = {
        id(row): at for row, at in zip(rows, regions_of([r.point for r in rows]), strict=True)
    }
    found: dict[str, RegionSummary] = {}
    for region in Region:
        of = [row for row in judged if places[id(row)] is region]
        if of:
            unseen = [row for row in of if row.part == "test"]
            lines = against_lines([*training, *unseen])
            found[region.value] = {
                **summary(of),
                "skill": lines["skill"],
                "skill_p90": lines["skill_p90"],
            }
    return found
