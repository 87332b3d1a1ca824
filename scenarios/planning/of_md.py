"""What Linux md adds to the plan of an array: bitmap, choice of copies, speed of rebuilds.

docs/explanation/md.md
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from raidlab.devices.plan_types import ArrayPlan, BitmapPlan, CopiesPlan, MdPlan
from raidlab.scenarios.planning.bitmap import bitmap_plan
from raidlab.scenarios.planning.md import has_flushes, md_plan, sync_speed
from raidlab.scenarios.planning.parts import Parts
from raidlab.scenarios.planning.read_balance import balanced_by_md, copies_plan
from raidlab.scenarios.spec.schema import ArrayTable


@dataclass(frozen=True)
class OfMd:
    """What Linux md adds to the plan of an array in the host."""

    bitmap: BitmapPlan | None
    balances: bool
    """True if it chooses the copy that serves a read."""
    copies: CopiesPlan | None
    md: MdPlan
    bytes_per_s: int | None
    """The pace of work in the background; none if it sets none."""

    @classmethod
    def of(
        cls, parts: Parts, key: str, name: str, table: ArrayTable, capacities: Sequence[int]
    ) -> OfMd:
        """That of an array; faults and warnings go to `parts`.

        Args:
            parts: Of the scenario, which says whether any drive has a volatile write cache.
            key: Of the array, such as `array.0`.
            name: Of the array.
            table: The array.
            capacities: Bytes of its drives that it uses.
        """
        faults, warnings, scenario = parts.faults, parts.warnings, parts.scenario
        volatile = name in parts.volatile
        return cls(
            bitmap_plan(key, name, table, capacities, faults, warnings, volatile=volatile),
            balanced_by_md(key, name, table, warnings),
            copies_plan(key, table, faults),
            md_plan(
                key,
                table,
                scenario,
                parts.host,
                faults,
                warnings,
                flushed=parts.outside or has_flushes(scenario),
            ),
            sync_speed(key, table, faults),
        )

    def put(self, plan: ArrayPlan) -> None:
        """Puts it into an array's plan, as far as there is any."""
        if self.bitmap is not None:
            plan["bitmap"] = self.bitmap
        if self.balances:
            plan["md_reads"] = True
        if self.copies is not None:
            plan["copies"] = self.copies
        if self.bytes_per_s is not None:
            plan["background_bytes_per_s"] = self.bytes_per_s
        if self.md:
            plan["md"] = self.md
