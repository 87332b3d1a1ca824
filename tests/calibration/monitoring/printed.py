"""A capture of the known load, and what columns of sysstat hold of it.

Columns follow the sources of sysstat (`iostat.c`, `pr_stats.c`, `rndr_stats.c`, `json_stats.c`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from tests.calibration.monitoring.truth import (
    ALL,
    BOOT,
    Sample,
)


@dataclass(frozen=True)
class Printed:
    """A capture of the known load."""

    name: str
    text: str
    source: str
    holds: frozenset[str] = ALL
    """The figures that follow from it."""
    devices: dict[str, str] = field(default_factory=lambda: {"sda": "sda", "sdb": "sdb"})
    """The name of each disk in the file."""
    facts: dict[str, object] = field(default_factory=dict)
    """What else the document must say."""
    tolerance: float = 0.01
    suffix: str = ".txt"
    encoding: str = "utf-8"


Column = Callable[[Sample], float]


AMOUNTS = {"kB_read", "kB_wrtn", "Blk_read", "Blk_wrtn", "MB_read", "MB_wrtn"}
"""Columns that hold what passed in the interval: `COLUMNS` has them for 10 s."""


UPTIME = 86_400.0
"""Seconds that the first report covers."""


COLUMNS: dict[str, Column] = {
    "r/s": lambda s: s.reads,
    "w/s": lambda s: s.writes,
    "tps": lambda s: s.ios,
    "rkB/s": lambda s: s.read_kibs,
    "wkB/s": lambda s: s.write_kibs,
    "rMB/s": lambda s: s.read_kibs / 1024,
    "wMB/s": lambda s: s.write_kibs / 1024,
    "rsec/s": lambda s: 2 * s.read_kibs,
    "wsec/s": lambda s: 2 * s.write_kibs,
    "rd_sec/s": lambda s: 2 * s.read_kibs,
    "wr_sec/s": lambda s: 2 * s.write_kibs,
    "rd_sec": lambda s: 2 * s.read_kibs,
    "wr_sec": lambda s: 2 * s.write_kibs,
    "rkB": lambda s: s.read_kibs,
    "wkB": lambda s: s.write_kibs,
    "kB_read/s": lambda s: s.read_kibs,
    "kB_wrtn/s": lambda s: s.write_kibs,
    "MB_read/s": lambda s: s.read_kibs / 1024,
    "MB_wrtn/s": lambda s: s.write_kibs / 1024,
    "Blk_read/s": lambda s: 2 * s.read_kibs,
    "Blk_wrtn/s": lambda s: 2 * s.write_kibs,
    "kB_read": lambda s: 10 * s.read_kibs,
    "kB_wrtn": lambda s: 10 * s.write_kibs,
    "Blk_read": lambda s: 20 * s.read_kibs,
    "Blk_wrtn": lambda s: 20 * s.write_kibs,
    "MB_read": lambda s: s.read_kibs / 102.4,
    "MB_wrtn": lambda s: s.write_kibs / 102.4,
    "kB/s": lambda s: s.read_kibs + s.write_kibs,
    "r_await": lambda s: s.r_ms,
    "w_await": lambda s: s.w_ms,
    "await": lambda s: s.wait_ms,
    "rareq-sz": lambda s: s.read_kib,
    "wareq-sz": lambda s: s.write_kib,
    "areq-sz": lambda s: s.size_kib,
    "avgrq-sz": lambda s: 2 * s.size_kib,
    "aqu-sz": lambda s: s.queue,
    "avgqu-sz": lambda s: s.queue,
    "%util": lambda s: s.busy,
    "util": lambda s: s.busy,
    "util-percent": lambda s: s.busy,
    "svctm": lambda s: 0.5,
}
"""What a column prints; columns that are not here print zero."""


def cell(name: str, sample: Sample) -> float:
    """What a column prints."""
    if name not in COLUMNS:
        return 0.0
    return COLUMNS[name](sample) * (UPTIME / 10 if sample is BOOT and name in AMOUNTS else 1)


def number(value: float, decimals: int = 2, comma: bool = False) -> str:
    """As a tool prints it in its locale."""
    text = f"{value:.{decimals}f}"
    return text.replace(".", ",") if comma else text
