"""Names of columns in tables of iostat, sar and their kin, with what they hold.

One name has one sense in all of these tools but for sizes: `avgrq-sz` counts sectors in sysstat
and KiB in pcp's iostat. Sectors are 512 bytes, kB are 1,024 bytes and MB are 1,024 kB.
"""

from __future__ import annotations

from dataclasses import dataclass

from raidlab.calibration.monitoring.numbers import KIB, MIB
from raidlab.calibration.monitoring.samples import Quantity

Q = Quantity
SECTOR = 512.0


@dataclass(frozen=True)
class Meaning:
    """What a column holds, and what its values are multiplied by to be in base units."""

    quantity: Quantity
    scale: float = 1.0
    adds: bool = False
    """True if several columns of a table make up the quantity."""


def _rates(quantity: Quantity, *stems: str) -> dict[str, Meaning]:
    units = {"k": KIB, "kb": KIB, "m": MIB, "mb": MIB, "g": KIB * MIB, "gb": KIB * MIB}
    return {
        stem.replace("@", unit): Meaning(quantity, scale)
        for stem in stems
        for unit, scale in units.items()
    }


SYSSTAT: dict[str, Meaning] = {
    "r/s": Meaning(Q.READS),
    "w/s": Meaning(Q.WRITES),
    "d/s": Meaning(Q.DISCARDS),
    "f/s": Meaning(Q.FLUSHES),
    "tps": Meaning(Q.IOS),
    "rsec/s": Meaning(Q.READ_BYTES, SECTOR),
    "wsec/s": Meaning(Q.WRITE_BYTES, SECTOR),
    "dsec/s": Meaning(Q.DISCARD_BYTES, SECTOR),
    "rd_sec/s": Meaning(Q.READ_BYTES, SECTOR),
    "wr_sec/s": Meaning(Q.WRITE_BYTES, SECTOR),
    "rd_sec": Meaning(Q.READ_BYTES, SECTOR),
    "wr_sec": Meaning(Q.WRITE_BYTES, SECTOR),
    "blk_read/s": Meaning(Q.READ_BYTES, SECTOR),
    "blk_wrtn/s": Meaning(Q.WRITE_BYTES, SECTOR),
    "blk_dscd/s": Meaning(Q.DISCARD_BYTES, SECTOR),
    **_rates(Q.READ_BYTES, "r@/s", "@_read/s", "r@", "@_r/s"),
    **_rates(Q.WRITE_BYTES, "w@/s", "@_wrtn/s", "w@", "@_w/s"),
    **_rates(Q.DISCARD_BYTES, "d@/s", "@_dscd/s", "d@"),
    "kb/s": Meaning(Q.BYTES, KIB),
    "mb/s": Meaning(Q.BYTES, MIB),
    "kr/s": Meaning(Q.READ_BYTES, KIB),
    "kw/s": Meaning(Q.WRITE_BYTES, KIB),
    "mr/s": Meaning(Q.READ_BYTES, MIB),
    "mw/s": Meaning(Q.WRITE_BYTES, MIB),
    "kbps": Meaning(Q.BYTES, KIB),
    "sec/s": Meaning(Q.BYTES, SECTOR),
    "avgrq-sz": Meaning(Q.SIZE, SECTOR),
    "areq-sz": Meaning(Q.SIZE, KIB),
    "rareq-sz": Meaning(Q.READ_SIZE, KIB),
    "wareq-sz": Meaning(Q.WRITE_SIZE, KIB),
    "avgqu-sz": Meaning(Q.QUEUE),
    "aqu-sz": Meaning(Q.QUEUE),
    "await": Meaning(Q.AWAIT),
    "r_await": Meaning(Q.R_AWAIT),
    "w_await": Meaning(Q.W_AWAIT),
    "d_await": Meaning(Q.D_AWAIT),
    "f_await": Meaning(Q.F_AWAIT),
    "%util": Meaning(Q.UTIL),
    "util": Meaning(Q.UTIL),
    "util-percent": Meaning(Q.UTIL),
    "%b": Meaning(Q.UTIL),
    "%tm_act": Meaning(Q.UTIL),
    "ms/r": Meaning(Q.R_AWAIT),
    "ms/w": Meaning(Q.W_AWAIT),
    "ms/t": Meaning(Q.AWAIT),
    "qlen": Meaning(Q.QUEUE),
    "l(q)": Meaning(Q.QUEUE),
    "ops/s": Meaning(Q.IOS),
    "%busy": Meaning(Q.UTIL),
    "ms/d": Meaning(Q.D_AWAIT),
    "actv": Meaning(Q.QUEUE, adds=True),
    "wait": Meaning(Q.QUEUE, adds=True),
    "asvc_t": Meaning(Q.AWAIT, adds=True),
    "wsvc_t": Meaning(Q.AWAIT, adds=True),
    "svc_t": Meaning(Q.AWAIT),
}
"""In small letters."""

AMOUNTS: dict[str, Meaning] = {
    f"{unit}_{what}": Meaning(quantity, scale)
    for unit, scale in (("blk", SECTOR), ("kb", KIB), ("mb", MIB), ("gb", KIB * MIB))
    for what, quantity in (("read", Q.READ_BYTES), ("wrtn", Q.WRITE_BYTES))
}
"""Columns with the bytes of a whole report: with the rate beside them they give its length."""

SILENT = {
    "svctm", "rrqm/s", "wrqm/s", "drqm/s", "frqm/s", "rqm/s", "%rrqm", "%wrqm", "%drqm", "%frqm",
    "rrqm", "wrqm", "drqm", "dareq-sz", "kb_read", "kb_wrtn", "kb_dscd", "mb_read", "mb_wrtn",
    "mb_dscd", "blk_read", "blk_wrtn", "blk_dscd", "%w", "ms/o", "gb_read", "gb_wrtn", "sps",
    "%rqm", "svt",
}  # fmt: skip
"""Columns that are known and not used."""


def meaning(name: str) -> Meaning | None:
    """What a column holds; None if it is not used."""
    return SYSSTAT.get(name.strip().rstrip(":").lower())


def is_column(name: str) -> bool:
    """True for a name that some tool of this kind gives to a column."""
    low = name.strip().rstrip(":").lower()
    return low in SYSSTAT or low in SILENT
