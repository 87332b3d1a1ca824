"""A load of two disks that is known, and the figures that any capture of it must give."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np

START = datetime(2024, 3, 14, 10, 0, 0, tzinfo=UTC)
"""The first sample begins here; each is stamped with its end, as sampling tools do."""
KIB = 1024


@dataclass(frozen=True)
class Sample:
    """A disk in one interval."""

    reads: float
    """Per second, as `writes`."""
    writes: float
    read_kib: float
    """Mean size of a read in KiB."""
    write_kib: float
    r_ms: float
    """Mean time of a read in milliseconds."""
    w_ms: float

    @property
    def ios(self) -> float:
        return self.reads + self.writes

    @property
    def read_kibs(self) -> float:
        return self.reads * self.read_kib

    @property
    def write_kibs(self) -> float:
        return self.writes * self.write_kib

    @property
    def size_kib(self) -> float:
        return (self.read_kibs + self.write_kibs) / self.ios

    @property
    def wait_ms(self) -> float:
        return (self.reads * self.r_ms + self.writes * self.w_ms) / self.ios

    @property
    def queue(self) -> float:
        """By Little's law."""
        return self.ios * self.wait_ms / 1000

    @property
    def busy(self) -> float:
        return min(99.0, 40 * self.queue)


LOAD: dict[str, list[Sample]] = {
    "sda": [
        Sample(120, 40, 8, 16, 5, 2),
        Sample(200, 50, 16, 8, 6, 4),
        Sample(60, 140, 8, 32, 4, 8),
        Sample(300, 20, 32, 16, 8, 2),
        Sample(80, 80, 8, 8, 5, 3),
    ],
    "sdb": [
        Sample(20, 400, 64, 4, 10, 1),
        Sample(40, 600, 64, 4, 12, 2),
        Sample(10, 500, 128, 4, 8, 1),
        Sample(30, 200, 64, 8, 10, 3),
        Sample(50, 300, 32, 8, 9, 2),
    ],
}
BOOT = Sample(3, 5, 40, 20, 1, 1)
"""The mean since boot that some tools print first."""
COUNT = 5


def times(dt: float) -> list[datetime]:
    """The end of each sample."""
    return [START + timedelta(seconds=dt * (at + 1)) for at in range(COUNT)]


SPLIT = frozenset({"read_iops_mean", "write_iops_mean", "read_share"})
BYTES = frozenset({"read_bytes_per_s_mean", "write_bytes_per_s_mean"})
SIZES = frozenset({"read_size_mean", "write_size_mean"})
WAITS = frozenset({"r_await_ms", "w_await_ms"})
WAIT = frozenset({"await_ms"})
QUEUE = frozenset({"aqu_sz"})
SUM = frozenset({"iops_mean", "iops_peak"})
ALL = SPLIT | BYTES | SIZES | WAITS | WAIT | QUEUE | SUM


def expected(disk: str) -> dict[str, float]:
    """The figures of a disk, by the rules: means over time, latencies by requests."""
    every = LOAD[disk]
    reads = np.array([each.reads for each in every])
    writes = np.array([each.writes for each in every])
    read_kib = np.array([each.read_kib for each in every])
    write_kib = np.array([each.write_kib for each in every])
    r_ms = np.array([each.r_ms for each in every])
    w_ms = np.array([each.w_ms for each in every])
    ios = reads + writes
    return {
        "samples": COUNT,
        "read_iops_mean": float(reads.mean()),
        "write_iops_mean": float(writes.mean()),
        "iops_mean": float(ios.mean()),
        "iops_peak": float(ios.max()),
        "read_bytes_per_s_mean": float((reads * read_kib).mean() * KIB),
        "write_bytes_per_s_mean": float((writes * write_kib).mean() * KIB),
        "read_size_mean": float((reads * read_kib).sum() / reads.sum() * KIB),
        "write_size_mean": float((writes * write_kib).sum() / writes.sum() * KIB),
        "read_share": float(reads.sum() / ios.sum()),
        "r_await_ms": float((reads * r_ms).sum() / reads.sum()),
        "w_await_ms": float((writes * w_ms).sum() / writes.sum()),
        "await_ms": float((reads * r_ms + writes * w_ms).sum() / ios.sum()),
        "aqu_sz": float((reads * r_ms + writes * w_ms).mean() / 1000),
        "size_mean": float((reads * read_kib + writes * write_kib).sum() / ios.sum() * KIB),
    }
