"""What instances of AWS and Azure let through to their volumes, as the providers publish it.

A volume is bounded by what was bought for it and by the machine that it is attached to. Smaller
instances pass more for half an hour a day, out of credit.

Sources: Amazon EC2 user guide, "Amazon EBS-optimized instances" (I/Os of 16 KiB, 128 KiB for
throughput; edition of May 2023); Microsoft Azure, sizes of virtual machines, series Dsv3 to Dsv5,
Esv3 to Esv5, Ebsv5, Fsv2, Lsv3 and those of AMD: uncached disks (editions of 2021 to 2023). Made
from these tables: `instances.csv`, a row for all instances with the same ceilings.
docs/explanation/cloud-volumes.md
"""

from __future__ import annotations

import csv
import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Final

from raidlab.devices.plan_types import Counted, LimitParams

CREDIT_S: Final = 1800
"""Seconds for which a full credit lasts at the rates of a burst: 30 minutes a day at least."""
_PEAK_NS: Final = 10_000_000
"""What flows into a bucket without credit within this time passes at once, as with volumes."""
_MB: Final = 10**6


@dataclass(frozen=True)
class Ceiling:
    """What an instance passes to all its volumes together, in a second."""

    rate: int
    """I/Os, sustained."""
    throughput: float
    """Megabytes, sustained."""
    burst_rate: int = 0
    """I/Os in a burst; 0 where there is none."""
    burst_throughput: float = 0

    def limits(self, volumes: int) -> Iterator[LimitParams]:
        """`LimitParams` of the native models for one of this many volumes: equal parts."""
        directions: tuple[tuple[Counted, float, float], ...] = (
            ("ios", float(self.rate), float(self.burst_rate)),
            ("bytes", self.throughput * _MB, self.burst_throughput * _MB),
        )
        for counts, base, peak in directions:
            own = base / volumes
            if peak > base:
                most = peak / volumes
                yield {"counts": counts, "milli_per_s": round(1000 * most), "burst_ns": _PEAK_NS}
                credit = round(CREDIT_S * 1e9 * (peak - base) / base)
                yield {"counts": counts, "milli_per_s": round(1000 * own), "burst_ns": credit}
            else:
                yield {"counts": counts, "milli_per_s": round(1000 * own), "burst_ns": _PEAK_NS}


@functools.cache
def instances() -> Mapping[str, Ceiling]:
    """Every instance whose ceilings are known, by the provider's name."""
    text = resources.files(__package__ or "").joinpath("instances.csv").read_text("utf-8")
    found: dict[str, Ceiling] = {}
    for row in csv.DictReader(text.splitlines()):
        ceiling = Ceiling(
            int(row["rate"]),
            float(row["throughput"]),
            int(row["burst_rate"]),
            float(row["burst_throughput"]),
        )
        found |= dict.fromkeys(row["instances"].split(), ceiling)
    return found
