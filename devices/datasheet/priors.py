"""What a sheet does not say: ranges by class of drive, with their sources.

A prior is a best guess between two bounds. Bounds are those of drives in the catalogue that are
calibrated, and of published chips; docs/explanation/data-sheets.md has the tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, hypot, log, sqrt
from statistics import fmean, stdev
from types import MappingProxyType

_PULSE = "MQSim (FAST 2018): 100 us until a program is suspended"
_ONE_BIT = "no drive is published: a bit more costs as from TLC to QLC, half to twice that"
_WHOLE_PAGE = "no suspension at all: a whole page"
_CHIPS = "chips shown at ISSCC 2018 to 2021 (AnandTech 16491)"


@dataclass(frozen=True)
class Prior:
    """A best guess between two bounds, and where they come from."""

    low: float
    best: float
    high: float
    source: str

    def clamp(self, value: float) -> float:
        """`value`, or the bound that it is beyond."""
        return min(max(value, self.low), self.high)

    def times(self, other: Prior) -> Prior:
        """The product with a prior that does not depend on this one: widths add as squares."""
        low, high = (
            exp(hypot(log(getattr(self, end) / self.best), log(getattr(other, end) / other.best)))
            for end in ("low", "high")
        )
        best = self.best * other.best
        return Prior(best / low, best, best * high, other.source)

    def shared_with(self, other: Prior) -> float:
        """Correlation of this one's logarithm with that of its product with `other`."""
        own, its = log(self.high / self.low), log(other.high / other.low)
        return own / hypot(own, its)


@dataclass(frozen=True)
class Cell:
    """NAND by bits of a cell."""

    page_types: int
    read_shape: tuple[float, ...]
    """Time to read each type of page over their mean."""
    read_us: Prior
    """Mean time to read a page."""
    program_us: Prior
    """Mean time to program a page of every plane."""
    erase_ms: Prior
    die_gbit: tuple[int, ...]
    """Capacities of dies, the most usual first."""
    planes: tuple[int, ...]
    pages_per_block: int
    cycles: Prior
    pulse_us: Prior
    """Time of a program's pulse with its verify, at whose end a read can interrupt it."""
    suspends: bool
    """True if such dies usually interrupt a program for a read."""


CELLS: Mapping[str, Cell] = MappingProxyType(
    {
        "slc": Cell(
            1,
            (1.0,),
            Prior(10, 25, 35, "p320h-700; fast SLC from 10 us"),
            Prior(75, 200, 400, "p320h-700: 230 us; fast SLC from 75 us"),
            Prior(0.7, 3, 5, "p320h-700"),
            (128, 256, 512),
            (2, 4),
            512,
            Prior(30_000, 60_000, 100_000, "p320h-700; data sheets"),
            Prior(20, 40, 400, f"a program in some five pulses; {_WHOLE_PAGE}"),
            True,
        ),
        "mlc": Cell(
            2,
            (0.75, 1.25),
            Prior(26, 60, 96, "p3700-800: 35 us mean to sas12g-ssd-400gb: 77 us"),
            Prior(500, 1200, 1750, "sata-ssd-64gb: 0.8 ms mean to sas12g-ssd-400gb: 1.7 ms"),
            Prior(3, 3, 10, "p3700-800, sas12g-ssd-400gb"),
            (128, 256, 64),
            (2, 4),
            512,
            Prior(5_000, 10_000, 20_000, "drives of the catalogue"),
            Prior(30, 100, 1750, f"{_PULSE}; {_WHOLE_PAGE}"),
            False,
        ),
        "tlc": Cell(
            3,
            (0.79, 0.95, 1.26),
            Prior(
                35, 48, 90, f"data sheets of 12 data-centre drives: 38 to 83 us; {_CHIPS}: 40 to 58"
            ),
            Prior(340, 600, 1400, f"s4610-480: 1 ms; {_CHIPS}: 0.36 to 0.58 ms"),
            Prior(3, 8, 15, "s4610-480: 10 ms"),
            (512, 1024, 256),
            (4, 2),
            1344,
            Prior(3_000, 7_000, 10_000, "s4610-480"),
            Prior(30, 100, 600, f"{_PULSE}; {_WHOLE_PAGE}"),
            True,
        ),
        "qlc": Cell(
            4,
            (0.7, 0.9, 1.1, 1.3),
            Prior(60, 110, 180, "published chips of 96 to 176 layers"),
            Prior(1200, 2000, 4000, "4 planes of 16 KiB at 30 MB/s: 2.2 ms (ISSCC 2020, 13.2)"),
            Prior(5, 15, 25, "as the TLC chips', with their ratio of program times"),
            (1024, 2048),
            (4, 2),
            2048,
            Prior(1_000, 1_500, 3_000, "data sheets"),
            Prior(30, 100, 2000, f"{_PULSE}; {_WHOLE_PAGE}"),
            True,
        ),
        "plc": Cell(
            5,
            (0.6, 0.8, 1.0, 1.2, 1.4),
            Prior(110, 240, 420, f"QLC times 2.3; {_ONE_BIT}"),
            Prior(2500, 6600, 13_000, f"QLC times 3.3; {_ONE_BIT}"),
            Prior(5, 20, 40, "as QLC or longer"),
            (2048, 1024),
            (4, 2),
            2560,
            Prior(150, 320, 1_000, f"QLC times 0.2; {_ONE_BIT}"),
            Prior(30, 100, 6600, f"{_PULSE}; {_WHOLE_PAGE}"),
            True,
        ),
    }
)

SPARE = Prior(
    0.03, 0.11, 0.60, "of the capacity: 0.10 to 0.15 at one drive write a day, 0.30 at three"
)
"""Blocks for data beyond the capacity."""
LARGE_UNITS = (16384, 65536)
"""Mapping units beyond 4 KiB of drives with four bits a cell or more (P5336, P5316)."""
SLC_PROGRAM_US = Prior(75, 200, 600, "as SLC: p320h-700: 230 us; fast SLC from 75 us")
SLC_SHARE = Prior(
    0.018, 0.05, 0.33, "970 EVO: 36 GB of 1 TB, 870 QVO: 72 GB of 4 TB; at most all cells"
)
"""Dynamic SLC cache of client drives, as a share of the capacity."""
SLC_FIXED_GB = (4, 6)
"""What is always in SLC mode: of drives up to 500 GB, of others (970 EVO, 870 QVO)."""
SLC_IDLE_S = Prior(0.1, 1, 30, "no sheet says it")
CHANNEL_MB_S = Prior(533, 1200, 2000, f"a bus of 8 bits: {_CHIPS}")
COMMAND_US = Prior(0.5, 1.0, 3.0, "p3700-800, s4610-480: 1 us")
SUSPEND_US = Prior(5, 20, 50, "s4610-480: 20 us")
"""From the end of a pulse until a read can begin."""
RESUME_US = Prior(0, 20, 60, "as to give way; at most 64 KiB to the die's registers once more")
"""From the end of the reads until a program goes on."""
READ_LATENCY_US: Mapping[str, Prior] = MappingProxyType(
    {
        "pcie": Prior(0, 12, 35, "p3700-800: 35 us, iodrive2-1.2tb: 0"),
        "sas": Prior(20, 40, 200, "sas2-ssd-400gb: 31 us, sas12g-ssd-400gb: 202 us"),
        "sata": Prior(0, 21, 40, "s4610-480: 4 us, sandforce-1222-64gb: 21 us"),
    }
)
"""What a read waits for besides core, die, channel and link."""
WRITE_LATENCY_US: Mapping[str, Prior] = MappingProxyType(
    {
        "pcie": Prior(0, 8, 20, "p3700-800: 9.5 us, sheets: 2 to 10 us less the core's time"),
        "sas": Prior(20, 40, 96, "sas2-ssd-400gb: 23 us, sas12g-ssd-400gb: 96 us"),
        "sata": Prior(5, 23, 50, "s4610-480: 23 us, sandforce-1222-64gb: 5 us"),
    }
)
FLUSHES_MS: Mapping[str, float] = MappingProxyType(
    {
        "980": 1.72,
        "990 PRO": 1.64,
        "iomap's author's (3460cac1ca76)": 2.24,
        "KC3000": 0.4,
        "PM9A1": 2.3,
        "950 PRO": 1.3,
        "860 EVO": 2.8,
        "Micron 1100": 0.75,
        "850 PRO": 1.1,
    }
)
"""A flush behind a small write, of each client drive of which one is published.

The first three are raw or by fdatasync. The others are shares of a longer call: of an fsync on a
file (KC3000, PM9A1; Micron 1100 and 850 PRO have two flushes), of O_SYNC on a raw 950 PRO, of 1 MiB
with O_DSYNC on an 860 EVO."""
_STUDENT_95 = 2.306
"""Student's t for 95 % and eight degrees of freedom: nine drives."""


_DRAWN_95 = 1 - sqrt(2 * 0.025)
"""Share of the way from a best guess to a bound that 95 % of draws keep to, on either side: the
2.5th percentile of two right triangles with half of the draws each (devices/draws.py)."""
DRAWN_50 = 1 - sqrt(2 * 0.25)
"""As far as half of the draws keep to."""


def _of_drives(values: Mapping[str, float]) -> tuple[float, float, float]:
    """Geometric mean, and the bounds of draws of which 95 % lie where a tenth drive does.

    A tenth drive lies 95 times in 100 within t s sqrt(1 + 1/9) of the logarithms' mean.
    """
    logs = [log(value) for value in values.values()]
    wide = _STUDENT_95 * stdev(logs) * sqrt(1 + 1 / len(logs)) / _DRAWN_95
    low, best, high = (exp(fmean(logs) + side * wide) for side in (-1, 0, 1))
    return round(low, 2), round(best, 2), round(high, 2)


FLUSH_MS = Prior(
    *_of_drives(FLUSHES_MS),
    "geometric mean of nine client drives; 95 % of draws lie where a tenth does: "
    + ", ".join(f"{drive} {ms:g}" for drive, ms in FLUSHES_MS.items()),
)
"""A flush behind a small write, of drives without power-loss protection: those over SATA are no
slower than the others (geometric means 1.3 and 1.4 ms)."""
PROTECTED_FLUSH_US = Prior(
    0,
    0,
    180,
    "PM863 13 us with the way to it and back, a mirror of DC600M 195 us (centminmod-sysbench)",
)
"""What a flush of a protected SATA or SAS drive takes beside its command; NVMe sends them none."""
FUA_OVER_FLUSH = Prior(
    1.0,
    1.6,
    2.5,
    "1.06 (Linux 3460cac1ca76: 420 writes a second with FUA, 370 with a flush behind each),"
    " 2.4 (990 PRO: 4.0 and 1.64 ms)",
)
"""A write with FUA over a flush behind a small write: the root of the product of both drives."""
STATED_WRITE_US: Mapping[str, float] = MappingProxyType({"3.0": 18.9, "4.0": 15, "5.0": 15})
"""Medians of the write latencies that sheets of PCIe drives state: 16.7 to 21 us of eleven
with PCIe 3.0, 14 or 15 us of nine with PCIe 4.0 and 5.0."""
MEASURED_WRITE_US: Mapping[str, float] = MappingProxyType({"4.0": 9.5, "5.0": 9.5})
"""A write of a protected drive as others measured it, host included: medians of 9 us of a
micron-7450-pro-960, whose sheet states 15, and 10 us of a pe8110-960 (SSD-iq, 2025). None is
published of PCIe 5.0: as of 4.0, as in sheets."""
BUFFER_MIB = Prior(10, 64, 1024, "p3700-800, s4610-480: 64 MiB, sata-ssd-64gb: 10 MiB")
_TAILS = "median of 60 loads on three SATA drives behind four hosts, a tenth left out at each end"
PAUSE_EVERY_MS = Prior(100, 600, 1250, _TAILS)
"""Between two pauses in which a SATA or SAS drive takes up no command; over PCIe none is known."""
PAUSE_MS = Prior(0.12, 0.91, 3.4, _TAILS)
"""How long such a pause is."""
QUEUES: Mapping[str, int] = MappingProxyType({"pcie": 0, "sas": 128, "sata": 32})
"""Commands that a drive takes at once; 0 for no limit."""
BLOCK = 4096
"""Bytes of a random access on a sheet."""
DEPTHS: Mapping[str, int] = MappingProxyType({"pcie": 512, "sas": 128, "sata": 32})
"""I/Os in flight at which makers state random rates of data-centre drives."""
CORES: Mapping[str, Prior] = MappingProxyType(
    {
        "pcie": Prior(1, 4, 8, "controllers' briefs name 3 to 16 cores, not all on commands"),
        "sas": Prior(1, 2, 4, "as PCIe, with fewer I/Os"),
        "sata": Prior(1, 1, 2, "s4610-480"),
    }
)


BAND_MIB = Prior(15, 28, 40, "Aghayev et al. (FAST 2015): 15 to 40 MB")
"""Band of a drive-managed shingled disk."""
MEDIA_CACHE_GB = Prior(20, 25, 100, "Aghayev et al. (FAST 2015): 25 GB; a review: almost 20 GB")
LOG_RECORDS = Prior(100_000, 250_000, 1_000_000, "no sheet says it; a map of some MB")
"""Writes that the map of the media cache has room for."""
MERGE_AFTER_S = Prior(0.2, 1, 10, "no sheet says it")


@dataclass(frozen=True)
class Watts:
    """Usual power of a class: idle, and at work."""

    idle: float
    active: float
    source: str


ARRAY_W = Prior(0.02, 0.08, 0.3, "25 mA at 3.3 V, as data sheets of chips state (ICC1, ICC2)")
"""Power of a die while it reads, programs or erases."""
FLASH_WATTS: Mapping[str, Watts] = MappingProxyType(
    {
        "pcie": Watts(5.0, 20.0, "PM1725a, P5500, P5600, 7400: 20 to 23 W, idle 5 to 8 W"),
        "sas": Watts(4.0, 12.0, "between drives on SATA and on PCIe"),
        "sata": Watts(1.2, 4.3, "S4500 to S4620, DC600M: 3.6 to 5.6 W, idle 1.0 to 1.4 W"),
    }
)
"""Of drives for servers, by interface."""
CLIENT_WATTS = Watts(0.04, 5.5, "960 PRO, 970 EVO Plus, 980: 5 to 6 W, idle 0.03 to 0.045 W")
DISK_WATTS: Mapping[int, Watts] = MappingProxyType(
    {
        7200: Watts(6.0, 9.3, "MG09, MG10, HC560: 8.3 to 9.3 W; 6 TB of 2014: 11.9 and 8.0 W"),
        10_000: Watts(4.0, 7.0, "idle as of MK3001GRRB; the arm's part as of larger disks"),
        15_000: Watts(4.0, 7.0, "MK3001GRRB: 4 W idle; the arm's part as of larger disks"),
    }
)


@dataclass(frozen=True)
class Spindle:
    """Disks by speed of rotation."""

    seek_read_ms: Prior
    write_extra_ms: float
    """What seeks before writes take longer: the settle time."""
    single_ms: Prior
    full_over_average: float
    head_switch_ms: float
    skew_ms: float
    inner_over_outer: Prior
    platters_per_root: float
    """Platters over the root of the capacity in TB: 10 at 20 to 24 TB, 9 at 18 TB, 4 at 4 TB."""
    spread_ms: float
    """Most by which a seek takes longer, as fitted to drives of the catalogue."""


_INNER = "sata-6g-hdd: 0.51, generic-7200rpm: 0.47, sas12g-hdd-450gb-15k: 0.65"
SPINDLES: Mapping[int, Spindle] = MappingProxyType(
    {
        7200: Spindle(
            Prior(7.4, 8.2, 9.5, "data sheets: 7.4 to 8.2 ms; sata-6g-hdd: 7.5 ms"),
            1.0,
            Prior(0.2, 0.3, 0.6, "sata-6g-hdd, HC310's specification"),
            2.1,
            0.6,
            0.7,
            Prior(0.44, 0.49, 0.56, _INNER),
            2.1,
            1.4,
        ),
        10_000: Spindle(
            Prior(3.4, 3.8, 4.6, "data sheets of 2.5-inch disks"),
            0.5,
            Prior(0.2, 0.25, 0.4, "between both neighbours"),
            2.1,
            0.4,
            0.45,
            Prior(0.5, 0.6, 0.7, _INNER),
            3.5,
            0.8,
        ),
        15_000: Spindle(
            Prior(2.7, 2.9, 3.6, "data sheets; sas12g-hdd-450gb-15k: 2.7 ms"),
            0.4,
            Prior(0.15, 0.2, 0.3, "drives of the catalogue"),
            2.1,
            0.3,
            0.45,
            Prior(0.55, 0.65, 0.75, _INNER),
            5.2,
            0.55,
        ),
    }
)


OUTER_MB_S = Prior(0.85, 1.0, 1.15, "200 MB/s at 1 TB a platter and 7200 rpm; 285 at 2.4 TB")
"""Rate of the outer tracks over 200 MB/s * (TB of a platter)^0.42 * rpm / 7200."""
CACHE_MIB: Mapping[int, Prior] = MappingProxyType(
    {
        7200: Prior(64, 256, 512, "data sheets of 4 TB to 24 TB"),
        10_000: Prior(32, 128, 256, "data sheets of 2.5-inch disks"),
        15_000: Prior(16, 128, 256, "data sheets of 300 to 900 GB"),
    }
)


def outer_rate(rpm: float, capacity: int, heads: int) -> float:
    """Bytes a second of the outer tracks where no sheet says them."""
    platter_tb = capacity / 1e12 / max(1.0, heads / 2)
    return float(200e6 * platter_tb**0.42 * rpm / 7200)


def speed_class(rpm: float) -> int:
    """The nearest speed that there are priors for."""
    return min(SPINDLES, key=lambda speed: abs(speed - rpm))


def spindle(rpm: float) -> Spindle:
    """The class of a disk's speed: the nearest one."""
    return SPINDLES[speed_class(rpm)]
