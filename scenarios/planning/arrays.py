"""What an array needs and what it offers: drives, usable bytes."""

from __future__ import annotations

from collections.abc import Sequence

from raidlab.devices.copies import CopyLayout
from raidlab.devices.levels import facts


def wrong_count(
    level: str, drives: int, layout: CopyLayout | None = None, spans: int | None = None
) -> str | None:
    """What `level` wants if it cannot be made of `drives` drives."""
    wants = facts(level, layout, spans)
    return None if wants.fits(drives) else wants.wanted


def data_columns(level: str, drives: int, spans: int | None = None) -> int:
    """Stripe units that are written back together: those whose parity ties them, else one."""
    return facts(level, spans=spans).data_columns(drives)


def parts_of_jbod(stripe_unit: int, capacities: Sequence[int]) -> list[int]:
    """Bytes of each drive of a jbod: whole stripe units, of the last one all."""
    return [*(bytes_ - bytes_ % stripe_unit for bytes_ in capacities[:-1]), capacities[-1]]


def usable_bytes(
    level: str,
    stripe_unit: int,
    capacities: Sequence[int],
    layout: CopyLayout | None = None,
    spans: int | None = None,
) -> int:
    """Bytes that an array offers.

    A jbod uses of all drives but the last whole stripe units. Striped and mirrored levels use of
    every drive what the smallest has, in whole stripe units.
    """
    if level == "independent":
        return min(capacities)
    shape = facts(level, layout, spans)
    if not shape.striped:
        return sum(parts_of_jbod(stripe_unit, capacities))
    rows = min(capacities) // stripe_unit
    return shape.units_of_data(len(capacities), rows) * stripe_unit
