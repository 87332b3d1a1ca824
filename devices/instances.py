"""What instances of AWS and Azure let through to their volumes, as the providers publish it.

A volume is bounded by what was bought for it and by the machine that it is attached to. Smaller
instances pass more for half an hour a day, out of credit.

Sources: Amazon EC2 user guide, "Amazon EBS-optimized instances" (16 KiB I/Os, 128 KiB for
throughput; edition of 2021); Microsoft, "Dv5 and Dsv5-series" and "Ev5 and Esv5-series", uncached
remote disks (editions of 2021 and 2023). Every figure was compared with these tables.
docs/explanation/cloud-volumes.md
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
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


INSTANCES: Final[Mapping[str, Ceiling]] = {
    "m5.large": Ceiling(3600, 81.25, 18750, 593.75),
    "m5.xlarge": Ceiling(6000, 143.75, 18750, 593.75),
    "m5.2xlarge": Ceiling(12000, 287.5, 18750, 593.75),
    "m5.4xlarge": Ceiling(18750, 593.75, 0, 0),
    "m5.8xlarge": Ceiling(30000, 850, 0, 0),
    "m5.12xlarge": Ceiling(40000, 1187.5, 0, 0),
    "m5.16xlarge": Ceiling(60000, 1700, 0, 0),
    "m5.24xlarge": Ceiling(80000, 2375, 0, 0),
    "r5.large": Ceiling(3600, 81.25, 18750, 593.75),
    "r5.xlarge": Ceiling(6000, 143.75, 18750, 593.75),
    "r5.2xlarge": Ceiling(12000, 287.5, 18750, 593.75),
    "r5.4xlarge": Ceiling(18750, 593.75, 0, 0),
    "r5.8xlarge": Ceiling(30000, 850, 0, 0),
    "r5.12xlarge": Ceiling(40000, 1187.5, 0, 0),
    "r5.16xlarge": Ceiling(60000, 1700, 0, 0),
    "r5.24xlarge": Ceiling(80000, 2375, 0, 0),
    "c5.large": Ceiling(4000, 81.25, 20000, 593.75),
    "c5.xlarge": Ceiling(6000, 143.75, 20000, 593.75),
    "c5.2xlarge": Ceiling(10000, 287.5, 20000, 593.75),
    "c5.4xlarge": Ceiling(20000, 593.75, 0, 0),
    "c5.9xlarge": Ceiling(40000, 1187.5, 0, 0),
    "c5.12xlarge": Ceiling(40000, 1187.5, 0, 0),
    "c5.18xlarge": Ceiling(80000, 2375, 0, 0),
    "c5.24xlarge": Ceiling(80000, 2375, 0, 0),
    "r5b.large": Ceiling(5417, 156.25, 43333, 1250),
    "r5b.xlarge": Ceiling(10833, 312.5, 43333, 1250),
    "r5b.2xlarge": Ceiling(21667, 625, 43333, 1250),
    "r5b.4xlarge": Ceiling(43333, 1250, 0, 0),
    "r5b.8xlarge": Ceiling(86667, 2500, 0, 0),
    "r5b.12xlarge": Ceiling(130000, 3750, 0, 0),
    "r5b.16xlarge": Ceiling(173333, 5000, 0, 0),
    "r5b.24xlarge": Ceiling(260000, 7500, 0, 0),
    "m6i.large": Ceiling(3600, 81.25, 40000, 1250),
    "m6i.xlarge": Ceiling(6000, 156.25, 40000, 1250),
    "m6i.2xlarge": Ceiling(12000, 312.5, 40000, 1250),
    "m6i.4xlarge": Ceiling(20000, 625, 40000, 1250),
    "m6i.8xlarge": Ceiling(40000, 1250, 0, 0),
    "m6i.12xlarge": Ceiling(60000, 1875, 0, 0),
    "m6i.16xlarge": Ceiling(80000, 2500, 0, 0),
    "m6i.24xlarge": Ceiling(120000, 3750, 0, 0),
    "m6i.32xlarge": Ceiling(160000, 5000, 0, 0),
    "m6g.large": Ceiling(3600, 78.75, 20000, 593.75),
    "m6g.xlarge": Ceiling(6000, 148.5, 20000, 593.75),
    "m6g.2xlarge": Ceiling(12000, 296.875, 20000, 593.75),
    "m6g.4xlarge": Ceiling(20000, 593.75, 0, 0),
    "m6g.8xlarge": Ceiling(40000, 1187.5, 0, 0),
    "m6g.12xlarge": Ceiling(50000, 1781.25, 0, 0),
    "m6g.16xlarge": Ceiling(80000, 2375, 0, 0),
    "c6g.large": Ceiling(3600, 78.75, 20000, 593.75),
    "c6g.xlarge": Ceiling(6000, 148.5, 20000, 593.75),
    "c6g.2xlarge": Ceiling(12000, 296.875, 20000, 593.75),
    "c6g.4xlarge": Ceiling(20000, 593.75, 0, 0),
    "c6g.8xlarge": Ceiling(40000, 1187.5, 0, 0),
    "c6g.12xlarge": Ceiling(50000, 1781.25, 0, 0),
    "c6g.16xlarge": Ceiling(80000, 2375, 0, 0),
    "m5a.large": Ceiling(3600, 81.25, 16000, 360),
    "m5a.xlarge": Ceiling(6000, 135.63, 16000, 360),
    "m5a.2xlarge": Ceiling(8333, 197.5, 16000, 360),
    "m5a.4xlarge": Ceiling(16000, 360, 0, 0),
    "m5a.8xlarge": Ceiling(20000, 593.75, 0, 0),
    "m5a.12xlarge": Ceiling(30000, 847.5, 0, 0),
    "m5a.16xlarge": Ceiling(40000, 1187.5, 0, 0),
    "m5a.24xlarge": Ceiling(60000, 1696.25, 0, 0),
    "r5a.large": Ceiling(3600, 81.25, 16000, 360),
    "r5a.xlarge": Ceiling(6000, 135.63, 16000, 360),
    "r5a.2xlarge": Ceiling(8333, 197.5, 16000, 360),
    "r5a.4xlarge": Ceiling(16000, 360, 0, 0),
    "r5a.8xlarge": Ceiling(20000, 593.75, 0, 0),
    "r5a.12xlarge": Ceiling(30000, 847.5, 0, 0),
    "r5a.16xlarge": Ceiling(40000, 1187.5, 0, 0),
    "r5a.24xlarge": Ceiling(60000, 1696.25, 0, 0),
    "Standard_D2s_v5": Ceiling(3750, 85, 10000, 1200),
    "Standard_D4s_v5": Ceiling(6400, 145, 20000, 1200),
    "Standard_D8s_v5": Ceiling(12800, 290, 20000, 1200),
    "Standard_D16s_v5": Ceiling(25600, 600, 40000, 1200),
    "Standard_D32s_v5": Ceiling(51200, 865, 80000, 2000),
    "Standard_D48s_v5": Ceiling(76800, 1315, 80000, 3000),
    "Standard_D64s_v5": Ceiling(80000, 1735, 0, 3000),
    "Standard_D96s_v5": Ceiling(80000, 2600, 0, 4000),
    "Standard_E2s_v5": Ceiling(3750, 85, 10000, 1200),
    "Standard_E4s_v5": Ceiling(6400, 145, 20000, 1200),
    "Standard_E8s_v5": Ceiling(12800, 290, 20000, 1200),
    "Standard_E16s_v5": Ceiling(25600, 600, 40000, 1200),
    "Standard_E20s_v5": Ceiling(32000, 750, 64000, 1600),
    "Standard_E32s_v5": Ceiling(51200, 865, 80000, 2000),
    "Standard_E48s_v5": Ceiling(76800, 1315, 80000, 3000),
    "Standard_E64s_v5": Ceiling(80000, 1735, 0, 3000),
    "Standard_E96s_v5": Ceiling(80000, 2600, 0, 4000),
    "Standard_E104is_v5": Ceiling(120000, 4000, 0, 0),
}
"""By the provider's name."""
