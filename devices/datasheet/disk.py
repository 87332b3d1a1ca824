"""A hard disk from its sheet: geometry from speed, capacity, sustained rate and heads.

A stream passes a track and one skew a revolution, so with T the time of a revolution

    sustained rate = sectors of the outer track * 512 / (T + skew)

The inner track has about half as many sectors; capacity and heads then give the cylinders. The
stated average seek includes what seeks vary by.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

from raidlab.devices.datasheet import priors
from raidlab.devices.datasheet.draft import Draft, Origin, assumed, quantity
from raidlab.devices.datasheet.power import put_disk_power
from raidlab.devices.datasheet.sheet import Read, Sheet
from raidlab.devices.hdd_geometry import SECTOR
from raidlab.devices.links import Interface

_MIB = 1 << 20
_SEGMENTS = 32
_QUEUES = {"sata": 32, "sas": 128, "pcie": 128}
_OVERHEAD_US = {"sata": 100, "sas": 70, "pcie": 70}
MOST_SECTORS = 65_535
_LAST_SMALL_SECTORS = 4 * 10**12
"""Bytes of the largest disks that came with sectors of 512 bytes on the medium."""


@dataclass(frozen=True)
class Disk:
    """The parameters that a sheet decides, or a prior."""

    sheet: Sheet
    heads: int
    outer_sectors: int
    seek_read_ms: float
    seek_write_ms: float
    caches_writes: bool
    """True if the write cache is on, as delivered or as the stated rates need it."""
    write_runs: int = 64
    """Separate writes among which the cache chooses the next."""

    @property
    def rpm(self) -> float:
        """Revolutions a minute."""
        return self.sheet.rpm or 7200.0

    @property
    def spindle(self) -> priors.Spindle:
        """Priors of its speed."""
        return priors.spindle(self.rpm)

    @property
    def inner_sectors(self) -> int:
        """Sectors of the innermost track."""
        return round(self.outer_sectors * self.spindle.inner_over_outer.best)


def sectors(rate: float, rpm: float, skew_ms: float) -> int:
    """Sectors of a track that is read at `rate` bytes a second, skews included."""
    return min(MOST_SECTORS, max(1, round(rate * (60 / rpm + skew_ms / 1e3) / SECTOR)))


def first(sheet: Sheet) -> Disk:
    """The disk by closed forms alone."""
    rpm = sheet.rpm or 7200.0
    spindle = priors.spindle(rpm)
    heads = sheet.heads or 2 * (sheet.platters or _platters(sheet, spindle))
    rate = sheet.media_rate or priors.outer_rate(rpm, sheet.capacity, heads)
    read, write = sheet.average_seek_read, sheet.average_seek_write
    read_ms = read / 1e6 if read else spindle.seek_read_ms.best
    if read is None and write is not None:
        read_ms = write / 1e6 - spindle.write_extra_ms
    write_ms = write / 1e6 if write else read_ms + spindle.write_extra_ms
    varies = spindle.spread_ms / 2
    outer = sectors(rate, rpm, spindle.skew_ms)
    cached = _is_sata(sheet) or sheet.persistent_cache or writes_beat_reads(sheet)
    return Disk(sheet, heads, outer, read_ms - varies, write_ms - varies, cached)


def _is_sata(sheet: Sheet) -> bool:
    return Interface.parse(sheet.interface).family == "sata"


def writes_beat_reads(sheet: Sheet) -> bool:
    """True if random writes are faster than reads, which only a write cache explains.

    A write seeks for no less time, and the cache chooses among more than the host has in flight.
    """
    return (sheet.random_write or 0.0) > (sheet.random_read or float("inf"))


def _platters(sheet: Sheet, spindle: priors.Spindle) -> int:
    return max(1, min(12, round(spindle.platters_per_root * sqrt(sheet.capacity / 1e12))))


def device(disk: Disk, read: Read) -> Draft:
    """The device file of `disk`, every number with its origin."""
    draft = Draft()
    sheet, spindle = disk.sheet, disk.spindle
    family = Interface.parse(sheet.interface).family
    draft.head(read)
    # Whole sectors: sheets round.
    draft.put("capacity", f"{sheet.capacity // SECTOR * SECTOR} B", draft.origins["capacity"])
    queue = Origin("assumed", f"usual for {family.upper()}")
    draft.put("queue_depth", _QUEUES[family], queue)
    draft.put("speed", f"{disk.rpm:g} rpm", Origin("data-sheet"))
    if not sheet.shingled:
        large = sheet.capacity > _LAST_SMALL_SECTORS
        size = sheet.physical_sector or (4096 if large else SECTOR)
        usual = Origin("assumed", "4 KiB of disks beyond 4 TB, as 512e")
        sector = usual if sheet.physical_sector is None else Origin("data-sheet")
        draft.put("physical_sector", f"{size} B", sector)
    _geometry(draft, disk)
    draft.put("seek.head_switch", f"{spindle.head_switch_ms} ms", _USUAL)
    spread = Origin("assumed", "as fitted to drives of the catalogue of this speed")
    draft.put("seek.spread", f"{spindle.spread_ms} ms", spread)
    for which, average in (("read", disk.seek_read_ms), ("write", disk.seek_write_ms)):
        _seek(draft, disk, which, average)
    _memory(draft, disk)
    draft.put("scheduler.policy", "shortest-access")
    draft.put("scheduler.ageing", 0.001, Origin("assumed", "as drives of the catalogue"))
    for which in ("read", "write"):
        draft.put(f"overhead.{which}", f"{_OVERHEAD_US[family]} us", _USUAL)
    if sheet.shingled:
        _shingled(draft, sheet)
    put_disk_power(draft, sheet)
    return draft


def _shingled(draft: Draft, sheet: Sheet) -> None:
    band, log = priors.BAND_MIB, priors.MEDIA_CACHE_GB
    draft.put("shingled.band", f"{band.best:g} MiB", assumed(band, "MiB"))
    stated = sheet.media_cache
    whole = None if stated is None else f"{stated // SECTOR * SECTOR} B"
    origin = assumed(log, "GB") if stated is None else Origin("data-sheet")
    draft.put("shingled.media_cache", whole or f"{log.best:g} GB", origin)
    records, idle = priors.LOG_RECORDS, priors.MERGE_AFTER_S
    draft.put("shingled.records", round(records.best), assumed(records))
    draft.put("shingled.merge_after_idle", f"{idle.best:g} s", assumed(idle, "s"))


_USUAL = Origin("assumed", "usual for disks of its speed and interface")


def _geometry(draft: Draft, disk: Disk) -> None:
    sheet, spindle = disk.sheet, disk.spindle
    how = Origin("assumed", "platters over the root of the capacity, as of data sheets")
    if sheet.heads:
        how = Origin("data-sheet")
    elif sheet.platters:
        how = Origin("derived", "two for each platter")
    draft.put("geometry.heads", disk.heads, how)
    draft.put("geometry.head_order", "serpentine")
    origin = Origin("derived", "sustained rate over a revolution and a skew")
    if sheet.media_rate is None:
        share = priors.OUTER_MB_S
        low, high = (f"{round(disk.outer_sectors * end)}" for end in (share.low, share.high))
        origin = Origin("assumed", share.source, low, high)
    draft.put("geometry.outer_sectors", disk.outer_sectors, origin)
    ratio = spindle.inner_over_outer
    low, high = (f"{round(disk.outer_sectors * share)}" for share in (ratio.low, ratio.high))
    inner = Origin("assumed", f"of the outer track: {ratio.source}", low, high)
    draft.put("geometry.inner_sectors", disk.inner_sectors, inner)
    draft.put("geometry.zone_count", 24, Origin("assumed", "a usual number"))
    skew = Origin("assumed", "covers a head switch")
    draft.put("geometry.track_skew", f"{spindle.skew_ms} ms", skew)
    draft.put("geometry.cylinder_skew", f"{spindle.skew_ms} ms", skew)


def _seek(draft: Draft, disk: Disk, which: str, average: float) -> None:
    spindle, key = disk.spindle, f"seek.{which}"
    extra = 0.2 if which == "write" else 0.0
    single = min(spindle.single_ms.best + extra, average / 2)
    draft.put(f"{key}.single", quantity(single, "ms"), assumed(spindle.single_ms, "ms"))
    given = getattr(disk.sheet, f"average_seek_{which}")
    origin = Origin("derived", f"average_seek_{which}, less the mean of seek.spread")
    if given is None:
        other = disk.sheet.average_seek_read or disk.sheet.average_seek_write
        origin = assumed(spindle.seek_read_ms, "ms")
        if other is not None:
            origin = Origin("assumed", f"{spindle.write_extra_ms} ms between reads and writes")
    draft.put(f"{key}.average", quantity(average, "ms"), origin)
    full = Origin("assumed", f"{spindle.full_over_average} times the average")
    draft.put(f"{key}.full", quantity(average * spindle.full_over_average, "ms"), full)


def _memory(draft: Draft, disk: Disk) -> None:
    sheet = disk.sheet
    prior = priors.CACHE_MIB[priors.speed_class(sheet.rpm or 7200.0)]
    mib = prior.best if sheet.cache is None else sheet.cache / _MIB
    segment = max(64, int(mib * 1024 / 4 / _SEGMENTS))
    share = Origin("assumed", "a quarter of the cache in 32 segments; reading ahead over one")
    draft.put("buffer.segments", _SEGMENTS, share)
    draft.put("buffer.segment", f"{segment} KiB", share)
    draft.put("buffer.read_ahead", "fixed")
    draft.put("buffer.read_ahead_limit", f"{min(segment, 2048)} KiB", share)
    draft.put("buffer.read_on_arrival", True)
    draft.put("buffer.write_on_arrival", True)
    quarter = Origin("assumed", "a quarter of the cache; on over SATA, off over SAS, as they come")
    draft.put("write_cache.enabled", disk.caches_writes)
    if sheet.persistent_cache:
        draft.put("write_cache.persistent", True)
    draft.put("write_cache.size", f"{max(1, int(mib / 4))} MiB", quarter)
    runs = quarter
    if sheet.random_write is not None and disk.caches_writes:
        runs = Origin("derived", "random_write: the more to choose from, the shorter the ways")
    draft.put("write_cache.extents", disk.write_runs, runs)
    draft.put("write_cache.extent", "1 MiB", quarter)
    draft.put("write_cache.flush_above", 0.9, quarter)
    draft.put("write_cache.flush_after_idle", "100 ms", quarter)
