"""What a load asks for at a point: outstanding I/Os, or a rate at which they arrive."""

from __future__ import annotations

import math
from collections.abc import Sequence

from raidlab.scenarios.results.number_text import figure
from raidlab.scenarios.results.row import Row

_DEVIATIONS = 5
"""Standard deviations of Poisson arrivals that are no sign of anything."""
LEFT = 0.01
"""Share of the arrivals that may be under way at the end."""


def asked(row: Row) -> float:
    """Outstanding I/Os of a closed load, the rate of an open one."""
    return float(row.get("offered_iops") or row["outstanding"])


def in_words(row: Row) -> str:
    """`8 outstanding`, `open load of 1,000 IO/s`."""
    if row["outstanding"]:
        return f"{row['outstanding']} outstanding"
    rate = row.get("offered_iops")
    return f"open load of {figure(rate, 'IO/s')}" if rate else "open load"


def has_rates(rows: Sequence[Row]) -> bool:
    """True for an open load at several rates."""
    return len({row.get("offered_iops") for row in rows}) > 1


def queue_grows(arrived: float, served: int) -> bool:
    """True if more requests arrived than were served, by a number that chance does not explain."""
    return arrived - served > max(LEFT * arrived, _DEVIATIONS * math.sqrt(arrived))


def is_served(row: Row) -> bool:
    """True if an open load's I/Os are served as they arrive."""
    return not row.get("overloaded")
