"""The residuals of rates in one picture: what is left beside what counts as agreement."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from raidlab.calibration.fitting.comparison.compare import Compared
from raidlab.calibration.fitting.search.loss import rate_tolerance
from raidlab.scenarios.report.chart import chart, draw_curve
from raidlab.scenarios.report.look import BLUE, GREY, LINES, depth_axis
from raidlab.scenarios.report.page import Picture

_LEAST_POINTS: Final = 3
"""Points from which on a picture shows more than a table."""


def residual_of(row: Compared) -> float:
    """ln(simulated / measured) of the rate over the point's tolerance."""
    ratio = max(row.simulated.iops, 1e-9) / row.point.iops
    return math.log(ratio) / rate_tolerance(row.point)


def residual_pictures(rows: Sequence[Compared]) -> list[Picture]:
    """Residuals over outstanding I/Os, a colour for each direction; none of a few points."""
    if len(rows) < _LEAST_POINTS:
        return []
    drawn = chart(height=320, legend=40)
    for number, rw in enumerate(sorted({row.point.rw for row in rows})):
        own = [row for row in rows if row.point.rw == rw]
        seen = ["circle-open" if row.part == "train" else "circle" for row in own]
        draw_curve(
            drawn,
            rw,
            [row.point.outstanding for row in own],
            [residual_of(row) for row in own],
            texts=[row.point.label() for row in own],
            hover="%{text}: %{y:.1f} tolerances<extra></extra>",
            mode="markers",
            marker={"size": 7, "color": LINES[number % len(LINES)], "symbol": seen},
        )
    for level, colour in ((-1.0, GREY), (0.0, BLUE), (1.0, GREY)):
        drawn.add_hline(y=level, line={"color": colour, "width": 1})
    drawn.update_xaxes(depth_axis([row.point.outstanding for row in rows]))
    drawn.update_xaxes(title_text="outstanding I/Os, all jobs")
    drawn.update_yaxes(title_text="residual, tolerances")
    inside = sum(abs(residual_of(row)) <= 1.0 for row in rows)
    return [
        Picture(
            f"{inside} of {len(rows)} rates are within a tolerance",
            "ln(simulated / measured) over the point's tolerance: 3 %, and more where the rate"
            " varied over the run. A trend over depth is a mechanism that is missing.",
            drawn,
        )
    ]
