"""Which failures an array bears: the drives whose loss would be one too many."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from raidlab.devices.copies import CopyLayout
from raidlab.devices.levels import LevelFacts, facts
from raidlab.scenarios.spec.trees import DeclusteredTree

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Redundancy:
    """Groups of drives that each bear this many failures, or a ring of neighbours."""

    drives: int
    tolerance: int
    """Failed drives of a group that cost no data."""
    groups: int = 1
    """Equal groups of neighbouring drives."""
    width: int | None = None
    """Drives of a stripe of a declustered array; None where it takes all of a group."""
    critical_first: bool = False
    """Of a declustered array: stripes that have lost most units are rebuilt before the others."""
    ring: bool = False
    """True if data are lost when two neighbours have failed, wherever they are."""

    @property
    def group_size(self) -> int:
        """Drives of a group."""
        return self.drives // self.groups

    @property
    def is_spread(self) -> bool:
        """True if it bears several failures, and failed drives share some stripes alone."""
        return self.width is not None and self.tolerance > 1

    @property
    def critical_share(self) -> float:
        """Share of a failed drive's stripes that are without redundancy when a second one fails."""
        if self.width is None or not self.is_spread or not self.critical_first:
            return 1.0
        return (self.width - 1) / (self.drives - 1)

    @property
    def read_by_rebuild(self) -> int:
        """Drives' worth that is read to rebuild one where no redundancy is left."""
        if self.ring:
            return 2
        return 1 if self._mirror else max(0, (self.width or self.group_size) - self.tolerance)

    @property
    def _mirror(self) -> bool:
        return self.tolerance == self.group_size - 1

    def fatal(self, failed: Flags) -> Flags:
        """For each drive, whether its failure beside those that have failed loses data.

        Args:
            failed: Histories x drives.
        """
        if self.ring:
            beside = np.roll(failed, 1, axis=1) | np.roll(failed, -1, axis=1)
            return beside & ~failed
        count = failed.reshape(len(failed), self.groups, self.group_size).sum(axis=2)
        full = np.repeat(count >= self.tolerance, self.group_size, axis=1)
        return full & ~failed

    def critical(self, failed: Flags, drive: npt.NDArray[np.intp]) -> Flags:
        """Whether nothing is left in the group of a drive that has just failed."""
        rows = np.arange(len(failed))
        if self.ring:
            return np.ones(len(failed), dtype=bool)
        count = failed.reshape(len(failed), self.groups, self.group_size).sum(axis=2)
        found: Flags = count[rows, drive // self.group_size] >= self.tolerance
        return found


def of_level(
    level: str,
    drives: int,
    layout: CopyLayout | None = None,
    spans: int | None = None,
    wide: DeclusteredTree | None = None,
) -> Redundancy:
    """What an array of a level bears.

    RAID 10 is pairs, RAID 50 and 60 are spans, RAID 1 copies everything to every drive; RAID 1E has
    the copy of each unit on the next drive. Of md's layouts `near` on whole groups of drives is
    groups of copies, and others with two copies are such rings. With more copies elsewhere any
    drives, as many as there are copies, count as a loss: that is more than is lost. So do any
    drives, one more than there are parities, of a declustered array.
    """
    found: LevelFacts = facts(level, spans=spans)
    if layout is not None:
        copies = layout.copies
        if layout.arrangement == "near" and drives % copies == 0:
            return Redundancy(drives, copies - 1, drives // copies)
        if drives == copies:
            return Redundancy(drives, copies - 1)
        return Redundancy(drives, copies - 1, ring=copies == 2)
    if found.staggered:
        return Redundancy(drives, 1, ring=True)
    if found.parities:
        width = wide["stripe_width"] if wide else None
        first = wide is not None and wide.get("rebuild") == "critical-first"
        return Redundancy(drives, found.parities, found.spans, width, first)
    if found.copies == 0:
        return Redundancy(drives, drives - 1)
    if found.copies == 2 and drives % 2:
        # md places the copies in turn: an odd number of drives makes every two neighbours a pair.
        return Redundancy(drives, 1, ring=True)
    if found.copies == 2:
        return Redundancy(drives, 1, drives // 2)
    return Redundancy(drives, 0)
