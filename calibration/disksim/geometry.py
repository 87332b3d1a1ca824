"""Zones of a DiskSim disk become the geometry of a device file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from raidlab.calibration.disksim.entries import Entries, number_of, one_of
from raidlab.calibration.disksim.syntax import Block, Word, fault

_SPARING = {1: "track", 3: "track-end", 7: "slip-only", 8: "range", 9: "zone"}
_ORDER = {0: "cylinder", 1: "serpentine"}
_CYLINDERS = 2**24 - 1
_UNLIMITED = 2**40


def geometry_of(mechanics: Entries, notes: list[str]) -> dict[str, Any]:
    """`[geometry]` of a disk's mechanics; what has no counterpart is added to the notes."""
    layout = mechanics.child("Layout Model", "dm_layout_g1")
    sparing = one_of(layout, "Sparing scheme used", _SPARING)
    geometry: dict[str, Any] = {
        "heads": mechanics.whole("Number of data surfaces", None, (1, 255)),
        "head_order": one_of(layout, "LBN-to-PBN mapping scheme", _ORDER, 0),
        "sparing": sparing,
    }
    if sparing == "range":
        geometry["range_cylinders"] = layout.whole("Rangesize for sparing", None, (1, _CYLINDERS))
    if layout.has("Skew units"):
        units = layout.word("Skew units")
        if units.text.lower() != "sectors":
            raise fault(units, "Skew units", units.text, "sectors, or nothing")
    zones: list[dict[str, Any]] = []
    cylinder = 0
    for number, item in enumerate(layout.items("Zones")):
        if not isinstance(item, Block):
            raise fault(layout.block.at, "Zones", None, "blocks of type dm_layout_g1_zone")
        zones.append(_zone(Entries(item), cylinder, geometry, (number, notes)))
        cylinder = zones[-1]["last_cylinder"] + 1
    if not zones:
        raise fault(layout.block.at, "Zones", "[]", "one zone or more")
    geometry["zones"] = zones
    return geometry


def _zone(
    zone: Entries, cylinder: int, geometry: dict[str, Any], report: tuple[int, list[str]]
) -> dict[str, Any]:
    """A zone from `cylinder` on; its number and the notes are for what is left out."""
    number, notes = report
    first = zone.whole("First cylinder number", None, (cylinder, _CYLINDERS))
    last = zone.whole("Last cylinder number", None, (first, _CYLINDERS))
    per_track = zone.whole("Blocks per track", None, (1, 65_535))
    values: dict[str, Any] = {
        "first_cylinder": first,
        "last_cylinder": last,
        "sectors_per_track": per_track,
    }
    for key, theirs in (
        ("offset", "Offset of first block"),
        ("track_skew", "Skew for track switch"),
        ("cylinder_skew", "Skew for cylinder switch"),
    ):
        # A revolution more or less is the same angle.
        values[key] = zone.whole(theirs, 0) % per_track
    tracks = (last + 1 - first) * geometry["heads"]
    values["empty"] = zone.whole("Empty space at zone front", 0, (0, tracks * per_track - 1))
    most = _most_spares(values, geometry)
    spares = zone.whole("Number of spares", 0, (0, most))
    values["spares"] = 0 if geometry["sparing"] == "slip-only" else spares
    # Some drives' lists are not in order: a slip is a sector, wherever it is listed.
    slips = sorted({int(slip) for slip in zone.numbers("slips")})
    end = tracks if geometry["sparing"] == "track" else tracks * per_track
    inside = [slip for slip in slips if 0 <= slip < end]
    if len(inside) < len(slips):
        notes.append(f"zone {number}: {len(slips) - len(inside)} slips outside it, left out")
    values["slips"] = _fitting(inside, values, geometry, number, notes)
    values["defects"] = _defects(zone)
    return values


def _most_spares(zone: dict[str, Any], geometry: dict[str, Any]) -> int:
    """The largest `Number of spares` that leaves sectors in the zone and in each lot of it."""
    cylinders: int = zone["last_cylinder"] + 1 - zone["first_cylinder"]
    heads: int = geometry["heads"]
    per_track: int = zone["sectors_per_track"]
    size: int = geometry.get("range_cylinders", 1)
    # Sectors that each spare takes from the zone, and sectors of a lot that has its own spares.
    each, lot = {
        "track": (per_track, _UNLIMITED),
        "track-end": (cylinders * heads, per_track),
        "slip-only": (0, _UNLIMITED),
        "range": (cylinders // size, size * heads * per_track),
        "zone": (1, _UNLIMITED),
    }[geometry["sparing"]]
    left = cylinders * heads * per_track - int(zone["empty"]) - 1
    return min(left // each if each else _UNLIMITED, lot - 1)


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
