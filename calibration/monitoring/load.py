"""A load from samples: rates over equal steps, sizes, waits, and open or closed with the evidence.

In a closed loop with a fixed number of requests in flight the rate is that number over the wait:
the queue stays the same, and rate and wait go against each other. Where arrivals do not wait, the
wait follows the rate. Between both the file does not say.
"""

from __future__ import annotations

import math

import numpy as np

from raidlab.calibration.monitoring import clock
from raidlab.calibration.monitoring.figures import weights
from raidlab.calibration.monitoring.importing import Imported
from raidlab.calibration.monitoring.samples import Array, DiskHistograms, Quantity, Series
from raidlab.devices.faults import Fault, SpecError
from raidlab.scenarios.spec.monitored import LoopEvidence, MonitoredLoad

Q = Quantity
_SAME_QUEUE = 0.1
_AGAINST = -0.8
_WITH = -0.3
_LEAST_STEPS = 8
_MOST_STEPS = 10_000_000
"""Four months of seconds: more are a clock that jumped."""
_SUMS = (Q.READS, Q.WRITES, Q.READ_BYTES, Q.WRITE_BYTES, Q.QUEUE)


def load_of(found: Imported) -> MonitoredLoad:
    """The load of the devices that are taken, together.

    Raises:
        SpecError: The files hold no rates over time, or no interval.
    """
    series = [found.capture.series[n] for n in found.default_devices if n in found.capture.series]
    if not series:
        return _of_histograms(found)
    series = [each for each in series if len(each)]
    if not series:
        why = "holds no sample of the devices that are taken"
        raise SpecError([Fault("", None, why, (), str(found.files[0]))])
    step = found.interval_s
    if step is None:
        allowed = 'is not in the file: --interval "10 s" says it'
        raise SpecError([Fault("interval", None, allowed, (), str(found.files[0]))])
    assumed: list[str] = []
    grids = [_on_grid(each, step, found, assumed) for each in series]
    grids = [grid for grid in grids if grid]
    count = max((len(next(iter(grid.values()))) for grid in grids), default=0)
    begin = min(float(each.at[0] - weights(each)[0]) for each in series if len(each))
    total = {q: _total(grids, q, count) for q in _SUMS}
    waits = {
        wait: _mean_wait(grids, rate, wait, count)
        for rate, wait in ((Q.READS, Q.R_AWAIT), (Q.WRITES, Q.W_AWAIT))
    }
    reads, writes = total[Q.READS], total[Q.WRITES]
    if reads is None or writes is None:
        why = "holds no rates of requests, and no sizes that would give them"
        raise SpecError([Fault("", None, why, (), str(found.files[0]))])
    zeros = np.zeros(count)
    return MonitoredLoad(
        source=found.capture.source,
        host=found.capture.host,
        devices=tuple(found.default_devices),
        start=clock.written(begin, found.capture.zone),
        step_s=step,
        read_iops=_steps(reads),
        write_iops=_steps(writes),
        read_bytes_per_s=_steps(_or(total[Q.READ_BYTES], zeros * np.nan)),
        write_bytes_per_s=_steps(_or(total[Q.WRITE_BYTES], zeros * np.nan)),
        read_await_ms=_optional(waits[Q.R_AWAIT]),
        write_await_ms=_optional(waits[Q.W_AWAIT]),
        queue=_optional(total[Q.QUEUE]),
        busy=_optional(_mean_busy(grids, count)),
        loop=loop_of(reads + writes, total[Q.QUEUE]),
        assumptions=tuple(assumed),
    )


def _or(column: Array | None, other: Array) -> Array:
    return other if column is None else column


def _steps(column: Array) -> tuple[float | None, ...]:
    return tuple(None if math.isnan(each) else float(each) for each in column)


def _optional(column: Array | None) -> tuple[float | None, ...]:
    return () if column is None else _steps(column)


def _split(series: Series, assumed: list[str]) -> dict[Quantity, Array]:
    """Reads and writes; where requests are not split, as their bytes are."""
    found = {
        q: c for q in (*_SUMS, Q.R_AWAIT, Q.W_AWAIT, Q.UTIL) if (c := series.column(q)) is not None
    }
    ios = series.column(Q.IOS)
    if (Q.READS in found and Q.WRITES in found) or ios is None:
        return found
    first, second = series.column(Q.READ_BYTES), series.column(Q.WRITE_BYTES)
    if first is not None and second is not None:
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(first + second > 0, first / (first + second), 0.5)
        text = "requests are not split in the file: reads and writes were taken to be of one size"
    else:
        share = np.full(len(ios), 0.5)
        text = "neither requests nor bytes are split in the file: half of them were taken as reads"
        moved = series.column(Q.BYTES)
        if moved is not None:
            found |= {Q.READ_BYTES: moved / 2, Q.WRITE_BYTES: moved / 2}
    if text not in assumed:
        assumed.append(text)
    found |= {Q.READS: ios * share, Q.WRITES: ios * (1 - share)}
    wait = series.column(Q.AWAIT)
    if wait is not None:
        found |= {Q.R_AWAIT: wait, Q.W_AWAIT: wait}
    return found


def _on_grid(
    series: Series, step: float, found: Imported, assumed: list[str]
) -> dict[Quantity, Array]:
    """Columns on equal steps from the first sample of the file; NaN in gaps."""
    columns = _split(series, assumed)
    if not len(series) or bool(np.isnan(series.at).any()):
        return columns
    length = weights(series)
    every = found.capture.series.values()
    origin = min(float(each.at[0] - weights(each)[0]) for each in every if len(each))
    end = max(float(each.at[-1]) for each in every if len(each))
    count = max(1, round((end - origin) / step))
    if count > _MOST_STEPS:
        why = f"has times {(end - origin) / 86_400:,.0f} days apart, in steps of {step:g} s"
        raise SpecError([Fault("", None, why, (), str(found.files[0]))])
    last = np.rint((series.at - origin) / step).astype(int)
    first = np.maximum(0, np.rint((series.at - length - origin) / step).astype(int))
    first = np.minimum(first, last - 1)
    of_step = np.full(count, -1)
    of_step[np.clip(last - 1, 0, count - 1)] = np.arange(len(series))
    for sample in np.flatnonzero(last - first > 1):
        # A sample that covers several steps.
        of_step[first[sample] : last[sample]] = sample
    if len(series) == count and bool((of_step == np.arange(count)).all()):
        # Even steps already: no copy of a day of seconds.
        return columns
    return {
        quantity: np.where(of_step >= 0, column[of_step], np.nan)
        for quantity, column in columns.items()
    }


def _total(grids: list[dict[Quantity, Array]], quantity: Quantity, count: int) -> Array | None:
    parts = [_long(grid[quantity], count) for grid in grids if quantity in grid]
    if not parts:
        return None
    known, total = np.zeros(count, dtype=bool), np.zeros(count)
    for part in parts:
        known |= ~np.isnan(part)
        total += np.nan_to_num(part)
    return np.where(known, total, np.nan)


def _mean_busy(grids: list[dict[Quantity, Array]], count: int) -> Array | None:
    """The share of each step in which a device had a request, 0 to 1: the mean over devices."""
    parts = [_long(grid[Q.UTIL], count) for grid in grids if Q.UTIL in grid]
    if not parts:
        return None
    devices, total = np.zeros(count), np.zeros(count)
    for part in parts:
        devices += ~np.isnan(part)
        total += np.nan_to_num(part)
    mean = total / 100 / np.maximum(1, devices)
    return np.where(devices > 0, np.minimum(1.0, mean), np.nan)


def _long(column: Array, count: int) -> Array:
    if len(column) == count:
        return column
    return np.concatenate([column, np.full(count - len(column), np.nan)])


def _mean_wait(
    grids: list[dict[Quantity, Array]], rate: Quantity, wait: Quantity, count: int
) -> Array | None:
    pairs = [
        (_long(grid[rate], count), _long(grid[wait], count))
        for grid in grids
        if rate in grid and wait in grid
    ]
    if not pairs:
        return None
    requests, inside = np.zeros(count), np.zeros(count)
    for r, w in pairs:
        requests += np.nan_to_num(np.where(np.isnan(w), np.nan, r))
        inside += np.nan_to_num(np.where(r > 0, r * w, 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(requests > 0, inside / requests, np.nan)


def loop_of(rate: Array, queue: Array | None) -> LoopEvidence:
    """Open or closed, by how rate, wait and queue go with each other over time."""
    if queue is None:
        return LoopEvidence(kind="unknown")
    known = ~np.isnan(rate) & ~np.isnan(queue) & (rate > 0) & (queue > 0)
    mean = float(np.mean(queue[known])) if known.any() else None
    if known.sum() < _LEAST_STEPS or mean is None:
        return LoopEvidence(kind="unknown", outstanding=_digits(mean))
    spread = float(np.std(queue[known])) / mean
    rates, waits = np.log(rate[known]), np.log(queue[known] / rate[known])
    if np.std(rates) < 1e-9 or np.std(waits) < 1e-9:
        return LoopEvidence(kind="unknown", outstanding=_digits(mean), queue_spread=_digits(spread))
    together = float(np.corrcoef(rates, waits)[0, 1])
    if spread < _SAME_QUEUE and together < _AGAINST and mean > 0.8:
        return LoopEvidence(
            kind="closed",
            outstanding=_digits(mean),
            queue_spread=_digits(spread),
            rate_against_wait=_digits(together),
        )
    return LoopEvidence(
        kind="open" if together > _WITH else "unknown",
        outstanding=_digits(mean),
        queue_spread=_digits(spread),
        rate_against_wait=_digits(together),
    )


def _digits(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.4g}")


def _of_histograms(found: Imported) -> MonitoredLoad:
    """A load of one rate, of the histograms of a virtual disk."""
    each = next(
        (h for n, h in found.capture.histograms.items() if n in found.default_devices),
        DiskHistograms(),
    )
    gap, reads, writes = each.gap_us, each.read_sizes, each.write_sizes
    if gap is None or not gap.mean or reads is None or writes is None:
        why = "holds no gaps between commands, or no sizes: nothing gives a rate"
        raise SpecError([Fault("", None, why, (), str(found.files[0]))])
    rate, count = 1e6 / gap.mean, reads.count + writes.count
    per_read, per_write = rate * reads.count / count, rate * writes.count / count
    return MonitoredLoad(
        source=found.capture.source,
        host=found.capture.host,
        devices=tuple(found.default_devices[:1]),
        step_s=max(1.0, count / rate),
        read_iops=(per_read,),
        write_iops=(per_write,),
        read_bytes_per_s=(per_read * (reads.mean or 0.0),),
        write_bytes_per_s=(per_write * (writes.mean or 0.0),),
        read_sizes={size: n for size, n in reads.buckets.items() if n},
        write_sizes={size: n for size, n in writes.buckets.items() if n},
        assumptions=("histograms hold no rates over time: one rate was taken",),
    )
