"""Points left out of a fit: which go together, and how sure a choice by their errors is.

Measurements of one load go together: one of them would tell the fit what the other is. Where there
are many loads they are dealt to a few parts. Errors are logarithms of predicted over measured
figures. A bootstrap over the points says in what share of samples no other choice is clearly
better (Efron and Tibshirani, An Introduction to the Bootstrap, 1993).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from typing import Final

import numpy as np

from raidlab.calibration.surrogates.loads import Array

AS_WELL: Final = 1.1
"""Ratio of two errors up to which one predicts as well as the other."""
NO_DIFFERENCE: Final = 0.01
"""Difference of errors that is none: a percent of a rate."""
LARGEST_ERROR: Final = math.log(4.0)
"""Errors beyond a factor of 4 count as that."""
_DRAWS: Final = 400


def dealt(loads: Iterable[Hashable], parts: int, fewest: int, singly: int = 0) -> list[list[int]]:
    """Places of points to leave out together; none if there are too few loads.

    Args:
        loads: Of each point; those of equal loads go together.
        parts: To which many loads are dealt.
        fewest: Loads below which nothing is left out.
        singly: Loads up to which each is a part by itself.
    """
    groups: dict[Hashable, list[int]] = {}
    for at, load in enumerate(loads):
        groups.setdefault(load, []).append(at)
    found = list(groups.values())
    if len(found) < fewest:
        return []
    if len(found) <= singly:
        return found
    order = np.random.default_rng(1).permutation(len(found))
    return [[at for of in order[part::parts] for at in found[of]] for part in range(parts)]


def bounded(errors: Array) -> Array:
    """Absolute errors, those beyond the largest as that."""
    found: Array = np.minimum(np.abs(errors), LARGEST_ERROR)
    return found


def confidence(own: Array, others: Sequence[Array], margin: float = 0.0) -> float:
    """Share of bootstrap samples of the points in which no other choice is clearly better.

    Args:
        own: Bounded errors of what was chosen, shape (points,).
        others: Those of the rest.
        margin: Difference of errors that counts as none.
    """
    if not others:
        return 1.0
    draws = np.random.default_rng(1).integers(0, len(own), (_DRAWS, len(own)))
    least = np.min([each[draws].mean(axis=1) for each in others], axis=0)
    return float(np.mean(own[draws].mean(axis=1) <= AS_WELL * least + margin))
