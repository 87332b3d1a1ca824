"""What a fit must beat: straight lines between the same training points.

Between two training points of one load the rate is taken to go straight in the logarithms of the
rate and of the outstanding I/Os (depth times jobs); beyond the first and the last it stays. A load
that no training point has takes planes over size and depth (`surrogates.laws.LinesLaw`). That
knows nothing of drives, and is good where curves are smooth and flat at their ends. A model earns
its place where it is better:

    skill = 1 - error of the model / error of the lines

over the points that both predict: 1 is without error, 0 no better than the lines, less is worse.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import TypedDict

import numpy as np

from raidlab.calibration.fitting.comparison.compare import Compared, p90
from raidlab.calibration.measurements.measurement import Point
from raidlab.calibration.surrogates.laws import FittedLaw, LinesLaw, fit_law
from raidlab.calibration.surrogates.loads import loads_of, measured


def interpolated(training: Sequence[Point], point: Point) -> float | None:
    """The rate of a point in IO/s by straight lines between training points.

    Args:
        training: The points that may be seen; those of the same direction and block size count.
        point: What is predicted.

    Returns:
        None if no training point has that load.
    """
    curve: dict[int, list[float]] = {}
    for seen in training:
        if seen.load == point.load:
            curve.setdefault(seen.outstanding, []).append(math.log(seen.iops))
    if not curve:
        return None
    depths = sorted(curve)
    rates = [statistics.fmean(curve[depth]) for depth in depths]
    at = np.interp(math.log(point.outstanding), np.log(depths), rates)
    return math.exp(float(at))


class BesideLines(TypedDict):
    """Errors in percent of lines and of a model over the same points; None where none is unseen."""

    points: int
    median_abs_error_pct: float | None
    p90_abs_error_pct: float | None
    model_median_abs_error_pct: float | None
    model_p90_abs_error_pct: float | None
    skill: float | None
    """By the median."""
    skill_p90: float | None


def against_lines(rows: Sequence[Compared]) -> BesideLines:
    """Errors of the lines beside those of a fit, over the unseen points that both predict.

    Args:
        rows: Points with their `part`: `train` is what lines go through.
    """
    training = [row.point for row in rows if row.part == "train"]
    tested = [row for row in rows if row.part == "test"]
    planes = _planes(training) if tested and training else None
    lines, model = [], []
    for row in tested:
        rate = interpolated(training, row.point)
        if rate is None and planes is not None and _was_seen(training, row.point):
            rate = float(planes.rates(loads_of([row.point]))[0])
        if rate is not None:
            lines.append(100.0 * abs(rate / row.point.iops - 1.0))
            model.append(abs(row.error_pct))
    median, ninth = (f(lines) if lines else None for f in (statistics.median, p90))
    own, own_ninth = (f(model) if model else None for f in (statistics.median, p90))
    return {
        "points": len(lines),
        "median_abs_error_pct": median,
        "p90_abs_error_pct": ninth,
        "model_median_abs_error_pct": own,
        "model_p90_abs_error_pct": own_ninth,
        "skill": skill(own, median),
        "skill_p90": skill(own_ninth, ninth),
    }


def _planes(training: Sequence[Point]) -> FittedLaw:
    seen = measured(training)
    return fit_law(LinesLaw.over(seen.loads), seen)


def _was_seen(training: Sequence[Point], point: Point) -> bool:
    """True if the directions of a point are among the training points."""
    seen = {name for each in training for name, _ in each.sides()}
    return all(name in seen for name, _ in point.sides())


def skill(model: float | None, lines: float | None) -> float | None:
    """1 - the error of a model over that of the lines; None if the lines have none."""
    return None if model is None or not lines else 1.0 - model / lines
