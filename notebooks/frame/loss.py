"""The probability that an array loses data, as `raidlab risk` finds it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from raidlab.scenarios.risk.assess import Question, assess


@dataclass(frozen=True)
class Losses:
    """Of a scenario's first array; shares of 1."""

    loss: float
    by_drives: float
    """If every sector could be read: failures of drives alone."""
    closed_form: float
    """As `by_drives`, by the Markov chain."""
    unreadable: float
    """Probability that a rebuild without redundancy meets an unreadable sector."""
    failures_per_year: float


def losses(
    scenario: Mapping[str, object], years: float, rebuild_h: float, uber: float, seed: int
) -> Losses:
    """Draws histories of the array until the standard error is 2 %.

    Args:
        scenario: With one array.
        years: That are asked about.
        rebuild_h: Hours of a rebuild; a failed drive is replaced at once.
        uber: Unreadable sectors for each bit that is read.
        seed: Of the histories.

    Raises:
        SpecError: The scenario or a number cannot be.
    """
    return _losses(json.dumps(scenario, sort_keys=True), years, rebuild_h, uber, seed)


@lru_cache(maxsize=128)
def _losses(scenario: str, years: float, rebuild_h: float, uber: float, seed: int) -> Losses:
    asked, question = json.loads(scenario), Question(years=years, rebuild_h=rebuild_h, replace_h=0)
    (array,) = assess(asked, None, replace(question, uber=uber), seed=seed).arrays
    # Not those among the losses that drives caused: a sector often comes before the second drive.
    (readable,) = assess(asked, None, replace(question, uber=0.0), seed=seed).arrays
    return Losses(
        array.found.loss,
        readable.found.loss,
        array.closed_form or 0.0,
        array.unreadable,
        array.found.failures_per_year,
    )
