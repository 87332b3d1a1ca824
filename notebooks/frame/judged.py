"""What a row may say, judged where all pages ask: the busiest component, a best rate, doubts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from raidlab.scenarios.results.bottleneck import leader, leading, met_by
from raidlab.scenarios.results.diagnostics.statements import may_carry as may_carry
from raidlab.scenarios.results.diagnostics.statements import why_not
from raidlab.scenarios.results.row import Row

_ONE = {
    "drive": "a drive",
    "link": "a drive's link",
    "firmware": "a drive's firmware",
    "channels": "a drive's NAND channels",
    "correction": "a drive's error correction",
    "compressor": "a drive's compressor",
    "collection": "a drive's garbage collection",
}
"""What one of several alike is called, by kind."""
Rows = Sequence[Row]
"""Rows of a result as its document has them: `Result.results`."""


@dataclass(frozen=True)
class Busiest:
    """The component that holds a load up first."""

    name: str
    """As a visitor reads it: `a drive`, `host thread 0`."""
    kind: str
    """`drive`, `host`, `firmware`, `link` ...: that of a component of a result."""
    share: float
    """Of the recorded time, 0 to 1."""
    words: str
    """That share as pages write it."""


def busiest(row: Row) -> Busiest | None:
    """The busiest component that a row's load can meet; None if nothing worked."""
    named = leader(row)
    if named is None:
        return None
    found = leading(met_by(row))[0]
    name = _ONE.get(found["kind"], named.name.rpartition("/")[2])
    return Busiest(name, found["kind"], found["utilization"], named.share)


def best_rate(rows: Rows) -> float:
    """The highest rate (IO/s) of the rows that may carry a statement; 0 if none may."""
    return max((row["iops"] for row in rows if may_carry(row)), default=0.0)


def doubted(rows: Rows, what: str) -> list[str]:
    """A warning if a row may not carry a statement; none otherwise.

    Args:
        rows: Of one system.
        what: What they are rows of, as the page calls it.
    """
    found = why_not(rows)
    return [f"{what}: {found}."] if found else []
