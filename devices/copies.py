"""Where Linux md puts the copies of RAID 10: its layouts near, far and offset.

Near writes each unit as often as there are copies, one after the other over the drives. Far is
RAID 0 over the first part of every drive, and each further part holds all of it again, one drive
on. Offset writes each row as often as there are copies, each time one drive on. Source: md(4),
"RAID10"; drivers/md/raid10.c. docs/explanation/md.md
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import gcd
from typing import Final, Literal

from raidlab.devices.plan_types import ArrayPlan, CopiesPlan

Arrangement = Literal["near", "far", "offset"]

_FORM: Final = re.compile(r"(n|near|f|far|o|offset)\s*[=_-]?\s*(\d{1,2})?")
_BY_LETTER: Final[Mapping[str, Arrangement]] = {"n": "near", "f": "far", "o": "offset"}
_USUAL_COPIES: Final = 2
_MOST_COPIES: Final = 16


@dataclass(frozen=True)
class CopyLayout:
    """A layout of md's RAID 10."""

    arrangement: Arrangement = "near"
    copies: int = _USUAL_COPIES

    @classmethod
    def parse(cls, text: str) -> CopyLayout | None:
        """Of `n2`, `near=2`, `far2` or `offset`, as mdadm and /proc/mdstat write it; else None."""
        match = _FORM.fullmatch(text.strip().lower())
        copies = int(match[2] or _USUAL_COPIES) if match else 0
        if match is None or not _USUAL_COPIES <= copies <= _MOST_COPIES:
            return None
        return cls(_BY_LETTER[match[1][0]], copies)

    @classmethod
    def of_plan(cls, array: ArrayPlan) -> CopyLayout | None:
        """That of an array of a plan; None for mirrored pairs and levels without copies."""
        plan = array.get("copies")
        if plan is None:
            return None
        return cls(plan["arrangement"], plan["copies"])

    def __str__(self) -> str:
        return f"{self.arrangement}{self.copies}"

    def is_of_pairs(self, drives: int) -> bool:
        """Whether it is striped pairs of drives."""
        return self == CopyLayout() and drives >= 2 * self.copies and drives % self.copies == 0

    def units_of_data(self, drives: int, rows: int) -> int:
        """Units of data in this many rows of units on each drive."""
        if self.arrangement != "near":
            return rows // self.copies * drives
        common = gcd(drives, self.copies)
        return rows // (self.copies // common) * (drives // common)

    def to_plan(self) -> CopiesPlan:
        """`CopiesPlan` of the native engine."""
        return {"arrangement": self.arrangement, "copies": self.copies}
