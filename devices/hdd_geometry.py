"""Where a hard disk's sectors lie: zones written out, or made from what data sheets say.

A data sheet names heads, capacity, and the media rate or sectors of the outermost and the
innermost track. The zones between them fall evenly, as constant bit density makes them: a
track's length, and with it its sectors, shrinks linearly from the outer to the inner radius. The
number of cylinders follows from the capacity unless it is known.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Annotated, Literal, cast

from pydantic import Field

from raidlab.devices import plan_bounds, plan_types
from raidlab.devices.bounds import within
from raidlab.devices.faults import Fault
from raidlab.devices.plan_types import GeometryParams
from raidlab.devices.schema import Table
from raidlab.devices.units import Duration

SECTOR = 512
"""Bytes of a sector on the medium."""

Sparing = Literal["track", "track-end", "slip-only", "range", "zone"]


CYLINDERS = plan_bounds.ZoneParams.last_cylinder.most + 1
"""A disk has at most this many cylinders."""

SectorsPerTrack = Annotated[int, within(plan_bounds.ZoneParams.sectors_per_track)]

SectorOfZone = Annotated[int, Field(ge=0, lt=2**40)]
"""A sector, or a track, counted from the first one of a zone."""


class Zone(Table):
    """Cylinders with equally many sectors on each track."""

    first_cylinder: int = Field(ge=0, lt=CYLINDERS)
    last_cylinder: int = Field(ge=0, lt=CYLINDERS)
    sectors_per_track: SectorsPerTrack
    offset: int = Field(default=0, ge=0, le=2**31)
    """Angle of the zone's first sector, in sectors."""
    empty: int = Field(default=0, ge=0, le=2**40)
    """Unused sectors before the zone's first logical one."""
    track_skew: int = Field(default=0, ge=0, le=2**20)
    """Sectors that the next track of a cylinder is skewed by."""
    cylinder_skew: int = Field(default=0, ge=0, le=2**20)
    """Sectors that the next cylinder is skewed by."""
    spares: int = Field(default=0, ge=0, le=2**40)
    """Spare sectors of each track, range or zone; spare tracks of the zone for `track`."""
    slips: tuple[SectorOfZone, ...] = ()
    """Slipped sectors (tracks for `track`), ascending, counted from the zone's first one."""
    defects: tuple[tuple[SectorOfZone, SectorOfZone], ...] = ()
    """Remapped sectors: (bad, replacement), counted likewise."""

    def faults(self) -> Iterator[Fault]:
        """Lists out of order."""
        if self.last_cylinder < self.first_cylinder:
            allowed = f"{self.first_cylinder} or more"
            yield Fault("last_cylinder", self.last_cylinder, allowed)
        if any(a >= b for a, b in pairwise(self.slips)) or any(slip < 0 for slip in self.slips):
            yield Fault("slips", str(list(self.slips)), "ascending, from 0 on")

    @property
    def cylinders(self) -> int:
        """How many cylinders it has."""
        return self.last_cylinder - self.first_cylinder + 1


class Geometry(Table):
    """Where sectors lie."""

    heads: Annotated[int, within(plan_bounds.GeometryParams.heads)]
    """Data surfaces."""
    head_order: Literal["cylinder", "serpentine"] = "cylinder"
    """Head 0 first in every cylinder, or ascending and descending alternately."""
    sparing: Sparing = "zone"
    range_cylinders: int = Field(default=0, ge=0, lt=CYLINDERS)
    """Cylinders of a range, for `sparing = "range"`."""
    zones: tuple[Zone, ...] = ()
    """All zones, from the first logical sector on; or else the four below."""
    outer_sectors: SectorsPerTrack | None = None
    """Sectors on the outermost track."""
    inner_sectors: SectorsPerTrack | None = None
    """Sectors on the innermost track."""
    zone_count: int = Field(default=16, ge=1, le=256)
    """Zones to divide the cylinders into."""
    cylinders: int | None = Field(default=None, ge=1, lt=CYLINDERS)
    """Tracks on a surface; what the capacity needs if absent."""
    track_skew: Duration | None = None
    """Time that the next track of a cylinder is skewed by."""
    cylinder_skew: Duration | None = None
    """Time that the next cylinder is skewed by."""

    def faults(self) -> Iterator[Fault]:
        """Neither zones nor the figures to make them from, or zones that cannot be."""
        short = (self.outer_sectors, self.inner_sectors, self.track_skew, self.cylinder_skew)
        if self.zones and (any(figure is not None for figure in short) or self.cylinders):
            allowed = "nothing beside zones that are written out"
            yield Fault("outer_sectors", self.outer_sectors, allowed)
        if not self.zones and None in short:
            allowed = "[[geometry.zones]], or outer_sectors, inner_sectors and both skews"
            yield Fault("zones", None, allowed)
        if (self.sparing == "range") != (self.range_cylinders > 0):
            allowed = "1 or more with sparing = range, 0 otherwise"
            yield Fault("range_cylinders", self.range_cylinders, allowed)
        for at, (before, after) in enumerate(pairwise(self.zones)):
            if after.first_cylinder <= before.last_cylinder:
                allowed = f"{before.last_cylinder + 1} or more: beyond the zone before"
                yield Fault(f"zones.{at + 1}.first_cylinder", after.first_cylinder, allowed)
        for at, zone in enumerate(self.zones):
            if self.zone_sectors(zone) <= 0:
                allowed = "spares, slips and empty sectors that leave some of the zone"
                yield Fault(f"zones.{at}.spares", zone.spares, allowed)
        if self.outer_sectors and self.inner_sectors and self.inner_sectors > self.outer_sectors:
            allowed = f"at most outer_sectors = {self.outer_sectors}"
            yield Fault("inner_sectors", self.inner_sectors, allowed)

    def zone_sectors(self, zone: Zone) -> int:
        """Logical sectors of a zone."""
        tracks = zone.cylinders * self.heads
        lost = {
            "track": zone.spares * zone.sectors_per_track,
            "track-end": zone.spares * tracks,
            "slip-only": len(zone.slips),
            "range": zone.spares * (zone.cylinders // max(self.range_cylinders, 1)),
            "zone": zone.spares,
        }[self.sparing]
        return tracks * zone.sectors_per_track - zone.empty - lost

    def sectors(self, capacity: int) -> int:
        """Logical sectors of a drive that is to offer `capacity` bytes."""
        return sum(self.zone_sectors(zone) for zone in self.laid_out(capacity, 60e9))

    def laid_out(self, capacity: int, period_ns: float) -> tuple[Zone, ...]:
        """The zones, made from the figures of the data sheet if they are not written out.

        Args:
            capacity: Bytes that the drive is to offer.
            period_ns: Time of a revolution.
        """
        return self.zones or _laid_out(self, capacity, period_ns)

    def _made(self, capacity: int, period_ns: float) -> tuple[Zone, ...]:
        """The zones that a data sheet's figures make."""
        outer, inner = self.outer_sectors or 1, self.inner_sectors or 1
        count = self.zone_count
        share = [(at + 0.5) / count for at in range(count)]
        per_track = [max(1, round(outer - (outer - inner) * at)) for at in share]
        if count > 1:
            per_track[0], per_track[-1] = outer, inner
        cylinders = self.cylinders
        if cylinders is None:
            mean = sum(per_track) / count
            cylinders = int(-(-capacity // SECTOR) / (mean * self.heads)) + count
        edges = [round(cylinders * at / count) for at in range(count + 1)]
        return tuple(
            Zone(
                first_cylinder=first,
                last_cylinder=end - 1,
                sectors_per_track=sectors,
                track_skew=_skew(self.track_skew, sectors, period_ns),
                cylinder_skew=_skew(self.cylinder_skew, sectors, period_ns),
            )
            for (first, end), sectors in zip(pairwise(edges), per_track, strict=True)
            if end > first
        )

    def to_plan(self, capacity: int, speed: float) -> GeometryParams:
        """`GeometryParams` of the native models.

        Args:
            capacity: Bytes that the drive is to offer.
            speed: Revolutions a minute of the fastest such drive: at any lower speed a skew lasts
                longer.
        """
        return {
            "heads": self.heads,
            "head_order": self.head_order,
            "sparing": cast(plan_types.Sparing, self.sparing.replace("-", "_")),
            "range_cylinders": self.range_cylinders,
            "zones": [
                {
                    "first_cylinder": zone.first_cylinder,
                    "last_cylinder": zone.last_cylinder,
                    "sectors_per_track": zone.sectors_per_track,
                    "offset_sectors": zone.offset,
                    "empty_sectors": zone.empty,
                    "track_skew_sectors": zone.track_skew,
                    "cylinder_skew_sectors": zone.cylinder_skew,
                    "spares": zone.spares,
                    "slips": list(zone.slips),
                    "defects": list(zone.defects),
                }
                for zone in self.laid_out(capacity, 60e9 / speed)
            ],
        }


@lru_cache(maxsize=256)
def _laid_out(geometry: Geometry, capacity: int, period_ns: float) -> tuple[Zone, ...]:
    """Zones made once: a plan of many candidates has the same drives over and over."""
    return geometry._made(capacity, period_ns)


def _skew(time: int | None, sectors: int, period_ns: float) -> int:
    """A skew in whole sectors, longer than `time`: a head has arrived before its sector does."""
    return int(time * sectors // period_ns) + 1 if time else 0
