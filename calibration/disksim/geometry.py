"""Zones of a DiskSim disk become the geometry of a device file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field

from raidlab.calibration.disksim.entries import Entries, number_of, one_of
from raidlab.calibration.disksim.syntax import Block, Word, fault
from raidlab.devices.trees import Tree

_SPARING = {1: "track", 3: "track-end", 7: "slip-only", 8: "range", 9: "zone"}
_ORDER = {0: "cylinder", 1: "serpentine"}
_CYLINDERS = 2**24 - 1
_UNLIMITED = 2**40


@dataclass
class _Zone:
    """`[[geometry.zones]]`, in the order of a device file."""

    first_cylinder: int
    last_cylinder: int
    sectors_per_track: int
    offset: int
    track_skew: int
    cylinder_skew: int
    empty: int
    spares: int = 0
    slips: list[int] = field(default_factory=list)
    defects: list[list[int]] = field(default_factory=list)

    @property
    def cylinders(self) -> int:
        """How many it has."""
        return self.last_cylinder + 1 - self.first_cylinder


@dataclass
class _Geometry:
    """`[geometry]`, in the order of a device file."""

    heads: int
    head_order: str
    sparing: str
    range_cylinders: int | None = None
    zones: list[_Zone] = field(default_factory=list)

    def tree(self) -> Tree:
        """As a device file has it."""
        return {key: value for key, value in asdict(self).items() if value is not None}


def geometry_of(mechanics: Entries, notes: list[str]) -> Tree:
    """`[geometry]` of a disk's mechanics; what has no counterpart is added to the notes."""
    layout = mechanics.child("Layout Model", "dm_layout_g1")
    sparing = one_of(layout, "Sparing scheme used", _SPARING)
    geometry = _Geometry(
        mechanics.whole("Number of data surfaces", None, (1, 255)),
        one_of(layout, "LBN-to-PBN mapping scheme", _ORDER, 0),
        sparing,
    )
    if sparing == "range":
        geometry.range_cylinders = layout.whole("Rangesize for sparing", None, (1, _CYLINDERS))
    if layout.has("Skew units"):
        units = layout.word("Skew units")
        if units.text.lower() != "sectors":
            raise fault(units, "Skew units", units.text, "sectors, or nothing")
    cylinder = 0
    for number, item in enumerate(layout.items("Zones")):
        if not isinstance(item, Block):
            raise fault(layout.block.at, "Zones", None, "blocks of type dm_layout_g1_zone")
        zone = _zone(Entries(item), cylinder, geometry, (number, notes))
        geometry.zones.append(zone)
        cylinder = zone.last_cylinder + 1
    if not geometry.zones:
        raise fault(layout.block.at, "Zones", "[]", "one zone or more")
    return geometry.tree()


def _zone(
    zone: Entries, cylinder: int, geometry: _Geometry, report: tuple[int, list[str]]
) -> _Zone:
    """A zone from `cylinder` on; its number and the notes are for what is left out."""
    number, notes = report
    first = zone.whole("First cylinder number", None, (cylinder, _CYLINDERS))
    last = zone.whole("Last cylinder number", None, (first, _CYLINDERS))
    per_track = zone.whole("Blocks per track", None, (1, 65_535))
    # A revolution more or less is the same angle.
    offset, track_skew, cylinder_skew = (
        zone.whole(theirs, 0) % per_track
        for theirs in (
            "Offset of first block", "Skew for track switch", "Skew for cylinder switch"
        )
    )  # fmt: skip
    tracks = (last + 1 - first) * geometry.heads
    empty = zone.whole("Empty space at zone front", 0, (0, tracks * per_track - 1))
    found = _Zone(first, last, per_track, offset, track_skew, cylinder_skew, empty)
    spares = zone.whole("Number of spares", 0, (0, _most_spares(found, geometry)))
    found.spares = 0 if geometry.sparing == "slip-only" else spares
    # Some drives' lists are not in order: a slip is a sector, wherever it is listed.
    slips = sorted({int(slip) for slip in zone.numbers("slips")})
    end = tracks if geometry.sparing == "track" else tracks * per_track
    inside = [slip for slip in slips if 0 <= slip < end]
    if len(inside) < len(slips):
        notes.append(f"zone {number}: {len(slips) - len(inside)} slips outside it, left out")
    found.slips = _fitting(inside, found, geometry, number, notes)
    found.defects = _defects(zone)
    return found


def _most_spares(zone: _Zone, geometry: _Geometry) -> int:
    """The largest `Number of spares` that leaves sectors in the zone and in each lot of it."""
    cylinders, heads, per_track = zone.cylinders, geometry.heads, zone.sectors_per_track
    size = geometry.range_cylinders or 1
    # Sectors that each spare takes from the zone, and sectors of a lot that has its own spares.
    each, lot = {
        "track": (per_track, _UNLIMITED),
        "track-end": (cylinders * heads, per_track),
        "slip-only": (0, _UNLIMITED),
        "range": (cylinders // size, size * heads * per_track),
        "zone": (1, _UNLIMITED),
    }[geometry.sparing]
    left = cylinders * heads * per_track - zone.empty - 1
    return min(left // each if each else _UNLIMITED, lot - 1)


def _fitting(
    slips: list[int],
    zone: _Zone,
    geometry: _Geometry,
    number: int,
    notes: list[str],
) -> list[int]:
    """The slips that the spares of their track, range or zone make up for."""
    left: Callable[[int], tuple[int, int]]
    if geometry.sparing == "range":
        size = geometry.range_cylinders or 1
        span = size * geometry.heads * zone.sectors_per_track
        whole = zone.cylinders // size

        def left(slip: int) -> tuple[int, int]:
            lot = slip // max(1, span)
            return lot, zone.spares if lot < whole else 0

    elif geometry.sparing == "slip-only":
        return slips
    else:
        # Spares at each track's end know no slips.
        spares_in_all = 0 if geometry.sparing == "track-end" else zone.spares

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
