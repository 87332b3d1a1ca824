"""A disk as DiskSim 4's files describe it: where sectors lie, how long the arm and platter take.

Written from the rules alone, without a look at the importer or the engine. Times in ms. Source:
Bucy et al., DiskSim 4.0 reference manual; the rules of each scheme are in
docs/reference/formats/disksim.md.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from raidlab.calibration.disksim.syntax import Block, Value, Word, read_parameters

ALMOST = 1e-9
"""Of a revolution or a sector: what rounding may leave."""


def number(block: Block, key: str, otherwise: float = 0.0) -> float:
    value = block.entries.get(key)
    return float(value.text) if isinstance(value, Word) else otherwise


def numbers(value: Value | None) -> list[float]:
    assert value is None or isinstance(value, list)
    return [float(each.text) for each in value or [] if isinstance(each, Word)]


def inner(block: Block, key: str) -> Block:
    value = block.entries[key]
    assert isinstance(value, Block)
    return value


class Files(NamedTuple):
    """The blocks of a drive's files that matter."""

    disk: Block
    layout: Block
    mechanics: Block
    curve: list[tuple[float, float]]
    bus_ms: dict[str, float]

    @classmethod
    def read(cls, parv: Path) -> Files:
        found = read_parameters(parv)
        disk = next(block for block in found.blocks if block.type == "disksim_disk")
        bus = [b for b in found.blocks if b.type == "disksim_bus" and b.name.lower() == "bus1"]
        model = inner(disk, "model")
        mechanics = inner(model, "mechanical model")
        curve = []
        named = mechanics.entries.get("full seek curve")
        kind = mechanics.entries["seek type"]
        if isinstance(named, Word) and isinstance(kind, Word) and kind.text == "extracted":
            lines = (named.file.parent / named.text).read_text().splitlines()[1:]
            split = [line.replace(",", " ").split() for line in lines if line.strip()]
            curve = [(float(line[0]), float(line[1])) for line in split]
        bulk = number(disk, "bulk sector transfer time")
        bus_ms = {
            way: max([bulk, *(number(each, f"{name} block transfer time") for each in bus)])
            for way, name in (("R", "read"), ("W", "write"))
        }
        return cls(disk, inner(model, "layout model"), mechanics, curve, bus_ms)


class Place(NamedTuple):
    """Where a sector is."""

    cylinder: int
    head: int
    angle: float
    """Of its start, in revolutions."""
    sector_share: float
    """What it takes of a revolution."""


class Zone:
    """Cylinders with equally many sectors a track."""

    def __init__(self, block: Block, layout: Block, surfaces: int) -> None:
        self.first = int(number(block, "first cylinder number"))
        self.count = int(number(block, "last cylinder number")) - self.first + 1
        self.surfaces = surfaces
        self.sectors = int(number(block, "blocks per track"))
        self.offset = number(block, "offset of first block")
        self.empty = int(number(block, "empty space at zone front"))
        self.track_skew = number(block, "skew for track switch")
        self.cylinder_skew = number(block, "skew for cylinder switch")
        self.spares = int(number(block, "number of spares"))
        self.slips = [int(slip) for slip in numbers(block.entries.get("slips"))]
        self.scheme = int(number(layout, "sparing scheme used"))
        self.range = int(number(layout, "rangesize for sparing", 1))
        self.turned = int(number(layout, "lbn-to-pbn mapping scheme")) == 1
        tracks = self.count * surfaces
        reserve = {
            1: self.spares * self.sectors,
            3: self.spares * tracks,
            7: len(self.slips),
            8: self.spares * (self.count // self.range),
            9: self.spares,
        }[self.scheme]
        self.blocks = tracks * self.sectors - self.empty - reserve

    def indices(self, block: int) -> tuple[int, int, int]:
        """Relative cylinder, order in the cylinder and sector of a block of the zone."""
        at, sectors, cylinder = block + self.empty, self.sectors, self.surfaces * self.sectors
        if self.scheme == 1:
            track, sector = divmod(at, sectors)
            for slip in self.slips:
                track += slip <= track
            return (*divmod(track, self.surfaces), sector)
        if self.scheme == 3:
            track, sector = divmod(at, sectors - self.spares)
            return (*divmod(track, self.surfaces), sector)
        if self.scheme == 7:
            start = at - at % cylinder
            at += sum(slip < start for slip in self.slips) + self._slipped(at, start, cylinder)
        elif self.scheme == 8:
            size = self.range * cylinder
            which, rest = divmod(at, size - self.spares)
            start = which * size
            at = start + rest + self._slipped(start + rest, start, size)
        else:
            at += self._slipped(at, 0, self.count * cylinder)
        relative, rest = divmod(at, cylinder)
        return (relative, *divmod(rest, sectors))

    def _slipped(self, at: int, start: int, size: int) -> int:
        found = 0
        for slip in self.slips:
            found += start <= slip < start + size and slip <= at + found
        return found

    def place(self, block: int) -> Place:
        cylinder, order, sector = self.indices(block)
        skewed = (
            self.offset
            + (order + (self.surfaces - 1) * cylinder) * self.track_skew
            + cylinder * self.cylinder_skew
            + sector
        )
        head = self.surfaces - 1 - order if self.turned and cylinder % 2 else order
        angle = skewed % self.sectors / self.sectors
        return Place(self.first + cylinder, head, angle, 1 / self.sectors)


class Track(NamedTuple):
    """Blocks that lie on one track."""

    first: int
    end: int
    sectors: int


class Drive:
    """Blocks, the arm and the platter."""

    def __init__(self, files: Files, surfaces: int, *, slips_pass: bool) -> None:
        self.slips_pass = slips_pass
        zones = files.layout.entries["zones"]
        assert isinstance(zones, list)
        self.zones = [Zone(z, files.layout, surfaces) for z in zones if isinstance(z, Block)]
        self.starts = [0]
        for zone in self.zones:
            self.starts.append(self.starts[-1] + zone.blocks)
        self.capacity = self.starts[-1]
        mechanics = files.mechanics
        self.period_ms = 60_000 / number(mechanics, "rotation speed (in rpms)")
        self.switch_ms = number(mechanics, "head switch time")
        self.settle_ms = number(mechanics, "add. write settling delay")
        self.hpl = numbers(mechanics.entries.get("hpl seek equation values"))
        self.first_ten = numbers(mechanics.entries.get("first ten seek times"))
        self.points = [(0.0, 0.0), *files.curve] if files.curve else []
        self.place = lru_cache(1 << 18)(self._place)
        self.track = lru_cache(1 << 18)(self._track)
        self.run = lru_cache(1 << 18)(self._run)
        """One beyond the last block that passes without a gap."""

    def _place(self, block: int) -> Place:
        zone = bisect_right(self.starts, block) - 1
        return self.zones[zone].place(block - self.starts[zone])

    def _track(self, block: int) -> Track:
        at = bisect_right(self.starts, block) - 1
        zone, where = self.zones[at], self.place(block)[:2]
        sector = zone.indices(block - self.starts[at])[2]
        end = min(self.starts[at + 1], block + zone.sectors - sector)
        while self.place(end - 1)[:2] != where:
            end -= 1
        first = max(self.starts[at], block - sector)
        while self.place(first)[:2] != where:
            first += 1
        return Track(first, end, zone.sectors)

    def _run(self, block: int) -> int:
        at = bisect_right(self.starts, block) - 1
        zone, end = self.zones[at], self.track(block).end
        if not self.slips_pass:
            return end
        sector = zone.indices(block - self.starts[at])[2]

        def beyond_gap(found: int) -> bool:
            return zone.indices(found - self.starts[at])[2] != sector + found - block

        # Along a track sectors only rise: what is beyond a gap stays so.
        after = range(block + 1, end)
        return block + 1 + bisect_left(after, True, key=beyond_gap)

    def curve(self, distance: int) -> float:
        if distance == 0:
            return 0.0
        if not self.points:
            if distance <= 10:
                return self.first_ten[distance - 1]
            limit, fixed, root, far, slope = self.hpl[:5]
            return (
                fixed + root * math.sqrt(distance) if distance < limit else far + slope * distance
            )
        beyond = bisect_left(self.points, (distance, 0.0))
        last = min(beyond, len(self.points) - 1)
        (x0, y0), (x1, y1) = self.points[last - 1], self.points[last]
        return y0 + (y1 - y0) * (distance - x0) / (x1 - x0)

    def seek(self, arm: tuple[int, int], to: Place, *, writes: bool) -> float:
        switch = self.switch_ms if arm[1] != to.head else 0.0
        found = max(self.curve(abs(arm[0] - to.cylinder)), switch)
        return found + self.settle_ms if writes and found else found

    def latency(self, at_ms: float, angle: float) -> float:
        wait = (angle - at_ms / self.period_ms) % 1.0
        return 0.0 if wait > 1 - ALMOST else wait * self.period_ms
