"""The figures of a device: means over time, weighted as each quantity asks for.

Rates and the queue are means over time. A size is all bytes over all requests. A latency is
weighted with the requests of each sample.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from raidlab.calibration.monitoring.samples import Array, DiskHistograms, Quantity, Series
from raidlab.devices.trees import Document

Q = Quantity


@dataclass(frozen=True)
class Figures:
    """Means of a device; None is what the file does not hold."""

    samples: int
    gaps: int
    read_iops_mean: float | None
    write_iops_mean: float | None
    iops_mean: float | None
    iops_peak: float | None
    read_bytes_per_s_mean: float | None
    write_bytes_per_s_mean: float | None
    bytes_per_s_mean: float | None
    read_size_mean: float | None
    write_size_mean: float | None
    size_mean: float | None
    read_share: float | None
    await_ms: float | None
    r_await_ms: float | None
    w_await_ms: float | None
    aqu_sz: float | None
    util_pct: float | None
    flush_per_s_mean: float | None
    discard_per_s_mean: float | None
    discard_bytes_per_s_mean: float | None
    guest_await_ms: float | None
    queue_limit: float | None

    def to_dict(self) -> Document:
        """Plain data."""
        return asdict(self)


_PRESENT = (Q.READS, Q.WRITES, Q.IOS, Q.READ_BYTES, Q.WRITE_BYTES, Q.BYTES, Q.AWAIT, Q.QUEUE,
            Q.R_AWAIT, Q.W_AWAIT)  # fmt: skip


def present(series: Series) -> Array:
    """1 for each sample that holds anything, 0 for a gap."""
    seen = np.zeros(len(series), dtype=bool)
    for quantity in _PRESENT:
        column = series.columns.get(quantity)
        if column is not None:
            seen |= ~np.isnan(column)
    return seen.astype(np.float64)


def weights(series: Series) -> Array:
    """Seconds of each sample; alike where the file has no times."""
    length = series.length
    known = length[~np.isnan(length)]
    if not len(known):
        return np.ones(len(series))
    return np.where(np.isnan(length), float(np.median(known)), length)


def figures(series: Series) -> Figures:
    """The means of a device."""
    weight = weights(series)

    def over_time(quantity: Quantity) -> float | None:
        return _mean(series.column(quantity), weight)

    def total(quantity: Quantity, beside: Quantity) -> float | None:
        """Means of a quantity over the samples that hold another one, too."""
        column, other = series.column(quantity), series.column(beside)
        if column is None or other is None:
            return None
        return _mean(np.where(np.isnan(other), np.nan, column), weight)

    def size(rate: Quantity, amount: Quantity, direct: Quantity) -> float | None:
        requests, moved = total(rate, amount), total(amount, rate)
        if requests and moved is not None:
            # Bytes that round to nothing, such as 0.00 MB/s, say no size.
            return moved / requests if moved else None
        return _mean(series.column(direct), weight) if requests is None else None

    def wait(rate: Quantity, latency: Quantity) -> float | None:
        rates, each = series.column(rate), series.column(latency)
        if each is None:
            return None
        return _mean(each, weight if rates is None else weight * np.nan_to_num(rates))

    reads, writes = over_time(Q.READS), over_time(Q.WRITES)
    ios = series.column(Q.IOS)
    both = (reads or 0.0) + (writes or 0.0)
    limit = series.column(Q.QUEUE_LIMIT)
    return Figures(
        samples=int(present(series).sum()),
        gaps=series.gaps,
        read_iops_mean=reads,
        write_iops_mean=writes,
        iops_mean=over_time(Q.IOS),
        iops_peak=None if ios is None else float(np.nanmax(ios)),
        read_bytes_per_s_mean=over_time(Q.READ_BYTES),
        write_bytes_per_s_mean=over_time(Q.WRITE_BYTES),
        bytes_per_s_mean=over_time(Q.BYTES),
        read_size_mean=size(Q.READS, Q.READ_BYTES, Q.READ_SIZE),
        write_size_mean=size(Q.WRITES, Q.WRITE_BYTES, Q.WRITE_SIZE),
        size_mean=size(Q.IOS, Q.BYTES, Q.SIZE),
        read_share=reads / both if reads is not None and writes is not None and both else None,
        await_ms=wait(Q.IOS, Q.AWAIT),
        r_await_ms=wait(Q.READS, Q.R_AWAIT),
        w_await_ms=wait(Q.WRITES, Q.W_AWAIT),
        aqu_sz=over_time(Q.QUEUE),
        util_pct=over_time(Q.UTIL),
        flush_per_s_mean=over_time(Q.FLUSHES),
        discard_per_s_mean=over_time(Q.DISCARDS),
        discard_bytes_per_s_mean=over_time(Q.DISCARD_BYTES),
        guest_await_ms=wait(Q.IOS, Q.GUEST_AWAIT),
        queue_limit=None if limit is None else float(np.nanmax(limit)),
    )


def _mean(column: Array | None, weight: Array) -> float | None:
    if column is None:
        return None
    known = ~np.isnan(column) & (weight > 0)
    total = float(weight[known].sum())
    if total <= 0:
        return None
    value = float((column[known] * weight[known]).sum() / total)
    return value if math.isfinite(value) else None


def histogram_figures(found: DiskHistograms) -> dict[str, object]:
    """The figures of a virtual disk's histograms."""
    reads = found.read_sizes.count if found.read_sizes else None
    writes = found.write_sizes.count if found.write_sizes else None
    sizes = found.sizes
    count = sizes.count if sizes else (reads or 0) + (writes or 0) or None
    if count is None and found.latency_us:
        count = found.latency_us.count
    distance, gap = found.distance, found.gap_us
    sequential = None
    if distance and distance.count and 1 in distance.buckets:
        sequential = distance.buckets[1] / distance.count
    rate = 1e6 / gap.mean if gap and gap.mean else None
    share = reads / (reads + writes) if reads is not None and writes is not None else None

    def nonzero(buckets: Any) -> dict[str, int] | None:
        if buckets is None:
            return None
        return {str(size): number for size, number in buckets.buckets.items() if number}

    return {
        "samples": None,
        "count": count,
        "read_share": share,
        "read_size_mean": found.read_sizes.mean if found.read_sizes else None,
        "write_size_mean": found.write_sizes.mean if found.write_sizes else None,
        "size_mean": sizes.mean if sizes else None,
        "read_sizes": nonzero(found.read_sizes),
        "write_sizes": nonzero(found.write_sizes),
        "sequential_share": sequential,
        "latency_ms_mean_tool": found.latency_us.mean / 1000
        if found.latency_us and found.latency_us.mean is not None
        else None,
        "outstanding_mean_tool": found.outstanding.mean if found.outstanding else None,
        "iops_mean": rate,
        "read_iops_mean": None,
        "write_iops_mean": None,
    }
