"""RAID levels: what each wants and offers. The one place in Python with all their names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, cast

from raidlab.devices.copies import CopyLayout
from raidlab.devices.declustered import Declustered
from raidlab.devices.plan_types import ArrayPlan

Level = Literal["jbod", "raid0", "raid1", "raid1e", "raid10", "raid5", "raid6", "raid50", "raid60"]
"""What an array of a controller or of the operating system can be."""

ArrayLevel = Literal["independent", Level]
"""A level, or drives that are loaded each on its own."""


@dataclass(frozen=True)
class LevelFacts:
    """What a level wants of its drives and makes of them."""

    least: int = 1
    """Drives at least."""
    multiple: int = 1
    """The number of drives is a multiple of this."""
    striped: bool = True
    """True if data are spread over drives, or copied, by stripe units."""
    copies: int = 1
    """Copies of a unit; 0 if each drive has one."""
    staggered: bool = False
    """True if a row of copies, one drive on, follows each row of data."""
    parities: int = 0
    """Parities of a stripe."""
    layout: CopyLayout | None = None
    """Where md puts the copies of RAID 10; None for what a level always has."""
    spans: int = 1
    """Groups of drives that each have stripes of their own."""
    apart: bool = False
    """True if each drive is loaded by itself."""
    declustered: Declustered | None = None
    """How stripes are spread over more drives than they are wide; None if they take all."""

    @property
    def is_redundant(self) -> bool:
        """Whether a lost drive's data can be had from others."""
        return self.parities > 0 or self.copies != 1

    def bears(self, drives: int) -> int:
        """Failed drives of this many that cost no data, whichever they are."""
        return self.parities or (self.copies or drives) - 1

    @property
    def wanted(self) -> str:
        """The number of drives in words."""
        drives = "drive" if self.least == 1 else "drives"
        multiples = {1: "", 2: ", an even number"}
        of = multiples.get(self.multiple, f", a multiple of {self.multiple}")
        return f"{self.least} {drives} or more{of}"

    def fits(self, drives: int) -> bool:
        """Whether it can be made of this many drives."""
        return drives >= self.least and drives % self.multiple == 0

    def data_columns(self, drives: int) -> int:
        """Stripe units that are written back together: those whose parity ties them, else one."""
        if self.declustered is not None:
            return self.declustered.width - self.parities
        return drives // self.spans - self.parities if self.parities else 1

    def units_of_data(self, drives: int, rows: int, unit: int) -> int:
        """Stripe units of data, of `unit` bytes, in this many rows of units on each drive."""
        if self.declustered is not None:
            return self.declustered.units_of_data(drives, rows, self.parities, unit)
        if self.layout is not None:
            return self.layout.units_of_data(drives, rows)
        if self.copies == 0:
            return rows
        if self.staggered:
            return rows // self.copies * drives
        return rows * (drives - self.spans * self.parities) // self.copies


LEVELS: Mapping[Level, LevelFacts] = {
    "jbod": LevelFacts(striped=False),
    "raid0": LevelFacts(),
    "raid1": LevelFacts(least=2, copies=0),
    "raid1e": LevelFacts(least=3, copies=2, staggered=True),
    "raid10": LevelFacts(least=4, multiple=2, copies=2),
    "raid5": LevelFacts(least=3, parities=1),
    "raid6": LevelFacts(least=4, parities=2),
    "raid50": LevelFacts(least=6, multiple=2, parities=1, spans=2),
    "raid60": LevelFacts(least=8, multiple=2, parities=2, spans=2),
}
"""Every level. The engine has the same, as `Level` in `scenarios/engine/src/plan/mod.rs`."""


def facts_of(array: ArrayPlan) -> LevelFacts:
    """What an array of a plan wants and offers."""
    spread = Declustered.of_plan(array)
    return facts(array["level"], CopyLayout.of_plan(array), array.get("spans"), spread)


def facts(
    level: str,
    layout: CopyLayout | None = None,
    spans: int | None = None,
    declustered: Declustered | None = None,
) -> LevelFacts:
    """What a level wants and offers; of independent drives what one of them does.

    Args:
        level: Its name.
        layout: Where md puts the copies of RAID 10; striped pairs if None.
        spans: Of RAID 50 and 60; two if None.
        declustered: Of RAID 5 and 6 whose stripes do not take all drives.
    """
    if level == "independent":
        return replace(LEVELS["jbod"], apart=True)
    found = LEVELS[cast(Level, level)]
    if declustered is not None:
        least = declustered.width + declustered.spares
        return replace(found, least=least, declustered=declustered)
    if spans is not None and found.spans > 1:
        each = found.least // found.spans
        return replace(found, least=spans * each, multiple=spans, spans=spans)
    if layout is None:
        return found
    copies = layout.copies
    return replace(found, least=copies, multiple=1, copies=copies, layout=layout)
