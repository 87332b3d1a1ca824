"""Zones of a DiskSim disk become the geometry of a device file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from raidlab.calibration.disksim.entries import Entries, number_of, one_of
from raidlab.calibration.disksim.syntax import Block, Word, fault

_SPARING = {1: "track", 3: "track-end", 7: "slip-only", 8: "range", 9: "zone"}
_ORDER = {0: "cylinder", 1: "serpentine"}


def geometry_of(mechanics: Entries, notes: list[str]) -> dict[str, Any]:
    """`[geometry]` of a disk's mechanics; what has no counterpart is added to the notes."""
    layout = mechanics.child("Layout Model", "dm_layout_g1")
    sparing = one_of(layout, "Sparing scheme used", _SPARING)
    geometry: dict[str, Any] = {
        "heads": mechanics.whole("Number of data surfaces"),
        "head_order": one_of(layout, "LBN-to-PBN mapping scheme", _ORDER, 0),
        "sparing": sparing,
    }
    if sparing == "range":
        geometry["range_cylinders"] = layout.whole("Rangesize for sparing")
    if layout.has("Skew units"):
        units = layout.word("Skew units")
        raise fault(units, "Skew units", units.text, "nothing: skews are read as sectors")
    zones = []
    for number, item in enumerate(layout.items("Zones")):
        if not isinstance(item, Block):
            raise fault(layout.block.at, "Zones", None, "blocks of type dm_layout_g1_zone")
        zones.append(_zone(Entries(item), number, geometry, notes))
    geometry["zones"] = zones
    return geometry


def _zone(zone: Entries, number: int, geometry: dict[str, Any], notes: list[str]) -> dict[str, Any]:
    values: dict[str, Any] = {
        "first_cylinder": zone.whole("First cylinder number"),
        "last_cylinder": zone.whole("Last cylinder number"),
        "sectors_per_track": zone.whole("Blocks per track"),
    }
    per_track = max(1, values["sectors_per_track"])
    for key, theirs in (
        ("offset", "Offset of first block"),
        ("track_skew", "Skew for track switch"),
        ("cylinder_skew", "Skew for cylinder switch"),
    ):
        # A revolution more or less is the same angle.
        values[key] = zone.whole(theirs, 0) % per_track
    values["empty"] = zone.whole("Empty space at zone front", 0)
    spares = zone.whole("Number of spares", 0)
    values["spares"] = 0 if geometry["sparing"] == "slip-only" else spares
    # Some drives' lists are not in order: a slip is a sector, wherever it is listed.
    slips = sorted({int(slip) for slip in zone.numbers("slips")})
    values["slips"] = _fitting(slips, values, geometry, number, notes)
    values["defects"] = _defects(zone)
    return values


def _fitting(
    slips: list[int],
    zone: dict[str, Any],
    geometry: dict[str, Any],
    number: int,
    notes: list[str],
) -> list[int]:
    """The slips that the spares of their track, range or zone make up for."""
    left: Callable[[int], tuple[int, int]]
    if geometry["sparing"] == "range":
        span = geometry["range_cylinders"] * geometry["heads"] * zone["sectors_per_track"]
        cylinders = zone["last_cylinder"] - zone["first_cylinder"] + 1
        whole = cylinders // max(1, geometry["range_cylinders"])

        def left(slip: int) -> tuple[int, int]:
            lot = slip // max(1, span)
            return lot, zone["spares"] if lot < whole else 0

    elif geometry["sparing"] == "slip-only":
        return slips
    else:
        # Spares at each track's end know no slips.
        spares_in_all = 0 if geometry["sparing"] == "track-end" else zone["spares"]

        def left(slip: int) -> tuple[int, int]:
            return 0, spares_in_all

    used: dict[int, int] = {}
    remaining = []
    for slip in slips:
        lot, spares = left(slip)
        if used.get(lot, 0) < spares:
            used[lot] = used.get(lot, 0) + 1
            remaining.append(slip)
    if len(remaining) < len(slips):
        lost = len(slips) - len(remaining)
        notes.append(f"zone {number}: {lost} slips beyond what its spares make up for, left out")
    return remaining


def _defects(zone: Entries) -> list[list[int]]:
    """Pairs of bad sector and replacement; one that is its own replacement has no effect."""
    numbers: list[int] = []
    for item in zone.items("defects"):
        for part in item if isinstance(item, list) else [item]:
            if not isinstance(part, Word):
                raise fault(zone.block.at, "defects", None, "pairs of numbers")
            numbers.append(int(number_of(part, "defects")))
    if len(numbers) % 2:
        raise fault(zone.block.at, "defects", f"{len(numbers)} numbers", "pairs of numbers")
    pairs = zip(numbers[::2], numbers[1::2], strict=True)
    return [[bad, replacement] for bad, replacement in pairs if bad != replacement]
