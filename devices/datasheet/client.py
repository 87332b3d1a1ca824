"""Client drives once their cache is full: what their sheets leave out.

A sheet of a client drive states bursts. Two things follow from its class instead: how fast all dies
together program with all bits of their cells, and what blocks in SLC mode take of the spare space.
docs/explanation/client-drives.md has the reports that the numbers come from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from raidlab.devices.datasheet.priors import SLC_FIXED_GB, Prior
from raidlab.devices.datasheet.sheet import Sheet
from raidlab.devices.links import Interface

_TB = 1e12


@dataclass(frozen=True)
class AfterCache:
    """Bytes a second of streams once the cache is full, of a class of drives."""

    per_tb: float
    """MB/s for each TB of capacity, while more dies help."""
    most: float
    """MB/s beyond which they do not: controller and power are the bound."""
    low: float
    """Slowest drive of the reports over the class's rate at its size."""
    high: float
    source: str

    def rate(self, capacity: int) -> Prior:
        """MB/s of a drive of `capacity` bytes."""
        best = min(self.per_tb * capacity / _TB, self.most)
        return Prior(round(self.low * best), round(best), round(self.high * best), self.source)


_REVIEWS = "reviews that fill the whole drive (TechPowerUp, AnandTech, PC Perspective)"
_CLASSES: Mapping[str, AfterCache] = MappingProxyType(
    {
        "pcie-tlc": AfterCache(
            1500, 1500, 0.33, 2.33, f"{_REVIEWS}: 0.5 to 3.5 GB/s of nine at 1 TB and 2 TB"
        ),
        "pcie-tlc-no-dram": AfterCache(
            480, 1000, 0.4, 1.8, f"{_REVIEWS}: 200 to 500 MB/s of five at 1 TB, 1.5 GB/s at 2 TB"
        ),
        "sata-tlc": AfterCache(
            1200, 500, 0.3, 1.06, f"{_REVIEWS}: 300 MB/s at 250 GB, the link's at 500 GB; 150 MB/s"
        ),
        "qlc": AfterCache(
            120, 160, 0.65, 2.0, f"{_REVIEWS}: 80 to 150 MB/s at 1 TB, 130 to 170 at 2 TB and more"
        ),
    }
)


def after_cache(sheet: Sheet) -> Prior | None:
    """MB/s that all dies of a client drive program together where its sheet states no such rate.

    None where the sheet states it, or is one of a drive for servers. A drive without an SLC cache
    has the rate of its stated stream: nothing but its cells takes that.
    """
    if not sheet.burst or sheet.sustained_write is not None:
        return None
    stream = sheet.sequential_write
    if sheet.cell in ("slc", "mlc"):
        return None if stream is None else _of_stream(stream)
    found = _CLASSES[_class(sheet)].rate(sheet.capacity)
    if stream is None:
        return found
    # No drive goes faster after its cache than in it.
    most = stream / 1e6
    return Prior(min(found.low, most), min(found.best, most), min(found.high, most), found.source)


def _of_stream(stream: int) -> Prior:
    rate = stream / 1e6
    return Prior(rate, rate, rate, "sequential_write: no SLC cache takes bursts")


def _class(sheet: Sheet) -> str:
    if sheet.cell in ("qlc", "plc"):
        return "qlc"
    if Interface.parse(sheet.interface).family != "pcie":
        return "sata-tlc"
    return "pcie-tlc" if sheet.host_memory is None else "pcie-tlc-no-dram"


def slc_blocks(sheet: Sheet, bits: int) -> float:
    """Share of the capacity that blocks take which are always in SLC mode.

    Their cells could hold `bits` bits: 6 GB in such blocks of TLC are 18 GB of spare space less.
    """
    if not sheet.has_slc_cache:
        return 0.0
    return bits * fixed_slc_bytes(sheet) / sheet.capacity


def fixed_slc_bytes(sheet: Sheet) -> int:
    """Host data that blocks hold which are always in SLC mode."""
    return SLC_FIXED_GB[sheet.capacity > 500e9] * 10**9
