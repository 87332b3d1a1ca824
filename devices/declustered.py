"""Declustered RAID: stripes narrower than the array, spread over all drives, with spare space.

Rows of chunks hold groups of `width` chunks; a *slice* is as many rows as hold a whole number of
groups. The last `spares` chunks of each row are spare. Sources: Holland and Gibson, "Parity
declustering for continuous operation in redundant disk arrays" (ASPLOS 1992); OpenZFS,
`module/zfs/vdev_draid.c`. The engine's arithmetic is `scenarios/engine/src/layout/declustered.rs`.
docs/explanation/declustered.md
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd
from typing import Final

from raidlab.devices.plan_types import ArrayPlan, DeclusteredPlan

CHUNK_BYTES: Final = 16 << 20
"""Bytes of a chunk of OpenZFS's dRAID (`VDEV_DRAID_ROWHEIGHT`)."""


@dataclass(frozen=True)
class Declustered:
    """How an array of RAID 5 or 6 is spread."""

    width: int
    """Drives of a stripe, those of its parities included."""
    spares: int
    """Drives' worth of spare space."""
    chunk_bytes: int = CHUNK_BYTES
    """Bytes of a drive before the layout goes on elsewhere."""

    @classmethod
    def of_plan(cls, array: ArrayPlan) -> Declustered | None:
        """That of an array of a plan; None for one whose stripes take all of its drives."""
        plan = array.get("declustered")
        if plan is None:
            return None
        return cls(plan["width"], plan["spares"], plan["chunk_bytes"])

    @property
    def plan(self) -> DeclusteredPlan:
        """As the plan has it."""
        return {"width": self.width, "spares": self.spares, "chunk_bytes": self.chunk_bytes}

    def units_of_data(self, drives: int, rows: int, parities: int, unit: int) -> int:
        """Stripe units of data in this many rows of units on each drive.

        Args:
            drives: Drives of the array.
            rows: Rows of units on each of them.
            parities: Parities of a stripe.
            unit: Bytes of a stripe unit.
        """
        working = drives - self.spares
        each = self.width // gcd(self.width, working)
        height = self.chunk_bytes // unit
        groups = rows // (each * height) * (each * working // self.width)
        return groups * height * (self.width - parities)
