"""`declustered` of an array: stripes narrower than the array, and spare space on all drives."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal

from pydantic import Field

from raidlab.devices.declustered import CHUNK_BYTES, Declustered
from raidlab.devices.faults import Fault
from raidlab.devices.levels import facts
from raidlab.devices.schema import Table
from raidlab.devices.units import Size, format_size

MOST_DRIVES: Final = 1024
"""Drives of a declustered array at most."""


class DeclusteredTable(Table):
    """`declustered`."""

    stripe_width: int = Field(ge=2, le=256)
    """Drives of a stripe, those of its parities included."""
    spares: int = Field(default=1, ge=0, le=64)
    """Drives' worth of spare space, spread over all drives."""
    chunk: Size = Field(default=CHUNK_BYTES, gt=0)
    """Bytes of a drive before the layout goes on elsewhere."""

    rebuild: Literal["in-order", "critical-first"] = "in-order"
    """Which stripes are rebuilt first when a second drive fails: in order from the beginning, as
    OpenZFS does, or those that have lost two units, as IBM Storage Scale RAID does."""

    @property
    def layout(self) -> Declustered:
        """As levels know it."""
        return Declustered(self.stripe_width, self.spares, self.chunk)

    def faults_on(self, level: str, drives: int, stripe_unit: int) -> Iterator[Fault]:
        """What does not fit an array of a level, of this many drives, with this stripe unit."""
        parities = facts(level).parities
        if level not in ("raid5", "raid6"):
            levels = ("raid5", "raid6")
            yield Fault("level", level, "raid5 or raid6 beside declustered", levels)
            return
        if self.stripe_width <= parities + 1:
            allowed = f"{parities + 2} or more: a stripe of {level} has {parities} of parity"
            yield Fault("declustered.stripe_width", self.stripe_width, allowed)
        if parities == 1 and self.rebuild == "critical-first":
            allowed = "left out: a stripe of raid5 that has lost two units is lost"
            yield Fault("declustered.rebuild", self.rebuild, allowed)
        if not self.spares:
            allowed = "1 or more: without spare space on the drives nothing is rebuilt onto them"
            yield Fault("declustered.spares", 0, allowed)
        most = drives - self.spares
        if self.stripe_width > most:
            allowed = (
                f"at most {max(most, 0)}, the {drives} drives without {self.spares} of spare space:"
                " fewer spares, narrower stripes or more drives"
            )
            yield Fault("declustered.stripe_width", self.stripe_width, allowed)
        if drives > MOST_DRIVES:
            yield Fault("drives", f"{drives} drives", f"at most {MOST_DRIVES} beside declustered")
        if stripe_unit and self.chunk % stripe_unit:
            allowed = f"a multiple of the stripe unit, {format_size(stripe_unit)}"
            yield Fault("declustered.chunk", format_size(self.chunk), allowed)
