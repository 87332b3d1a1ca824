"""How wide a twin's rates are: half widths from loads that no fit had seen."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from raidlab.calibration.twin.loop import Twin

_COVERAGE: Final = 0.95


def interval_pct(twin: Twin) -> float | None:
    """Percent by which a rate is off at most, of 95 % of all loads; None of too few points.

    Of n loads that no fit had seen (points left out and loads kept back) the error of rank
    0.95 (n + 1) holds the next load's in 95 % of cases, whatever errors are distributed like, if
    the next load is drawn as they were. Source: Vovk, Gammerman and Shafer, Algorithmic Learning in
    a Random World, 2005 (split conformal prediction); for points left out it holds about.

    **Example.** Of 40 errors the 39th counts: 0.95 x 41 = 38.95.
    """
    selection = twin.result.selection
    left = [] if selection is None else [abs(float(each)) for each in selection.left_out]
    kept = [abs(math.log1p(row.error_pct / 100.0)) for row in twin.result.part("test")]
    return conformal_pct([*left, *kept])


def conformal_pct(errors: Sequence[float]) -> float | None:
    """The interval's half width of absolute logarithms of rates, in percent."""
    rank = math.ceil(_COVERAGE * (len(errors) + 1))
    if rank > len(errors):
        return None
    return 100.0 * math.expm1(sorted(errors)[rank - 1])
