"""What an array needs and what it offers: drives, usable bytes."""

from __future__ import annotations

from collections.abc import Sequence

from raidlab.devices.levels import LevelFacts


def wrong_count(wants: LevelFacts, drives: int) -> str | None:
    """What a level wants if it cannot be made of `drives` drives."""
    return None if wants.fits(drives) else wants.wanted


def parts_of_jbod(stripe_unit: int, capacities: Sequence[int]) -> list[int]:
    """Bytes of each drive of a jbod: whole stripe units, of the last one all."""
    return [*(bytes_ - bytes_ % stripe_unit for bytes_ in capacities[:-1]), capacities[-1]]


def usable_bytes(shape: LevelFacts, stripe_unit: int, capacities: Sequence[int]) -> int:
    """Bytes that an array offers; of drives that are loaded each by itself those of the smallest.

    A jbod uses of all drives but the last whole stripe units. Striped and mirrored levels use of
    every drive what the smallest has, in whole stripe units.
    """
    if shape.apart:
        return min(capacities)
    if not shape.striped:
        return sum(parts_of_jbod(stripe_unit, capacities))
    rows = min(capacities) // stripe_unit
    return shape.units_of_data(len(capacities), rows, stripe_unit) * stripe_unit
