"""How long a recording must be for the queue of an open load to say what it is in the long run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from raidlab.scenarios.results.row import Row, latency_at

_FILLING_SHARE: Final = 0.1
"""Share of the arrivals that a queue which only fills may take in while it is recorded."""


@dataclass(frozen=True)
class UsersQueue:
    """The users' queue while it was recorded."""

    overloaded: bool
    """More I/Os of an open load arrived than were served."""
    relaxes_s: float
    """Seconds in which it forgets how it began; 0 of loads that keep theirs full."""
    loads: tuple[tuple[int, int], ...] = ()
    """I/Os that arrived and that were served, of each open load."""

    @staticmethod
    def of(rows: Sequence[Row]) -> UsersQueue:
        """The queue of all open loads of a run.

        A diffusion of drift `-m` and variance `v` a second has `N = v / 2 m` I/Os in its queue on
        average, and its unit of time is `v / m² = 4 N² / v` (Abate and Whitt, "Transient behavior
        of regulated Brownian motion", 1987). Poisson arrivals alone have a variance of their rate
        `x`, so `4 N² / x` is the longest it may be. By hand: 10 IO/s of 0.1 s each are one I/O
        in the queue, which forgets in 0.4 s.
        """
        opened = [row for row in rows if row.get("offered_iops") and row["latency_us"]]
        rate = math.fsum(row["iops"] for row in opened)
        inside = math.fsum(row["iops"] * (latency_at(row, "mean") or 0.0) for row in opened) / 1e6
        return UsersQueue(
            any(row.get("overloaded") for row in rows),
            4.0 * inside**2 / rate if rate else 0.0,
            tuple((row["arrived"]["requests"], row["ios"] + row["errors"]) for row in opened),
        )

    @property
    def fills(self) -> bool:
        """So few were not served that the queue may only fill, if nobody looks for longer."""
        lacks = [1.0 - served / max(arrived, 1) for arrived, served in self.loads]
        return max(lacks, default=1.0) < _FILLING_SHARE

    def is_short(self, seconds: float) -> bool:
        """Whether a recording of these seconds says too little of it."""
        return self.fills if self.overloaded else self.relaxes_s > seconds
