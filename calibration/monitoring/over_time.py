"""What samples say about time: peak, p95, busy hours, the pattern of day and week, growth."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from raidlab.calibration.monitoring.figures import weights
from raidlab.calibration.monitoring.samples import Array, Quantity, Series
from raidlab.scenarios.results.student import t_975

Q = Quantity
HOUR, DAY = 3600.0, 86_400.0
SUMMED = (Q.READS, Q.WRITES, Q.IOS, Q.READ_BYTES, Q.WRITE_BYTES, Q.BYTES, Q.QUEUE)
_LEAST_DAYS = 7
_THURSDAY = 3
"""Day of the week on which 1970 began, from Monday."""


@dataclass(frozen=True)
class Growth:
    """A straight line through the means of whole days, and an offset of each day of the week."""

    percent_per_month: float
    low: float
    high: float
    """95 % interval, if the days' deviations are independent."""
    days: int


@dataclass(frozen=True)
class OverTime:
    """What the devices that are taken did together."""

    seconds: float
    """Covered by samples."""
    iops_mean: float | None
    iops_p95: float | None
    iops_peak: float | None
    bytes_per_s_p95: float | None
    bytes_per_s_peak: float | None
    queue_p95: float | None
    queue_peak: float | None
    busiest: tuple[float, float, float] | None
    """Of the busiest hour: when it begins, its IO/s, and how much that is above the mean."""
    by_hour: Sequence[float | None]
    """IO/s in each hour of the day; empty if less than a day is covered."""
    by_weekday: Sequence[float | None]
    """IO/s on each day from Monday; empty if less than a week is covered."""
    growth: Growth | None


def together(series: Sequence[Series]) -> Series | None:
    """The sum of devices, on the times of the first; None without any."""
    if not series:
        return None
    first = max(series, key=len)
    columns: dict[Quantity, Array] = {}
    for quantity in SUMMED:
        total: Array | None = None
        for each in series:
            column = each.column(quantity)
            if column is None:
                continue
            placed = np.nan_to_num(
                column if len(each) == len(first) else _placed(each, column, first)
            )
            total = placed if total is None else total + placed
        if total is not None:
            columns[quantity] = total
    return Series(first.at, first.length, columns)


def _placed(series: Series, column: Array, on: Series) -> Array:
    """A column on other times: the value of the sample that covers them."""
    if np.isnan(on.at).any() or np.isnan(series.at).any() or not len(series):
        found = np.zeros(len(on))
        found[: len(column)] = column[: len(found)]
        return found
    places = np.clip(np.searchsorted(series.at, on.at), 0, len(series) - 1)
    covered = np.abs(series.at[places] - on.at) <= weights(series)[places]
    return np.where(covered, column[places], 0.0)


def quantile(values: Array, weight: Array, share: float) -> float | None:
    """The value below which a share of the time lies."""
    known = ~np.isnan(values)
    if not known.any():
        return None
    values, weight = values[known], weight[known]
    order = np.argsort(values, kind="stable")
    sums = np.cumsum(weight[order])
    place = int(np.searchsorted(sums, share * sums[-1]))
    return float(values[order][min(place, len(values) - 1)])


def over_time(series: Series) -> OverTime:
    """The figures over time of a device, or of several together."""
    weight = weights(series)
    rate = series.column(Q.IOS)
    if rate is None:
        rate = series.column(Q.READS)
    moved, queue = series.column(Q.BYTES), series.column(Q.QUEUE)
    timed = not bool(np.isnan(series.at).any()) and not bool(np.isnan(series.length).all())
    shown = rate if rate is not None else moved
    covered = float(weight.sum()) if timed or not np.isnan(series.length).all() else math.nan

    def most(column: Array | None) -> float | None:
        return None if column is None else float(np.nanmax(column))

    def p95(column: Array | None) -> float | None:
        return None if column is None else quantile(column, weight, 0.95)

    mean = None
    if rate is not None:
        known = ~np.isnan(rate) & (weight > 0)
        total = float(weight[known].sum())
        mean = float((rate[known] * weight[known]).sum()) / total if total else None
    by_hour: list[float | None] = []
    by_weekday: list[float | None] = []
    growth = busiest = None
    if timed and shown is not None and rate is not None:
        span = float(series.at[-1] - series.at[0])
        busiest = _busiest(series.at, rate, weight, mean or 0.0) if span >= HOUR else None
        if span >= 0.95 * DAY:
            by_hour = _grouped((series.at % DAY) // HOUR, rate, weight, 24)
        if span >= 0.95 * _LEAST_DAYS * DAY:
            days = (series.at // DAY + _THURSDAY) % 7
            by_weekday = _grouped(days, rate, weight, 7)
            growth = _growth(series.at, rate, weight)
    return OverTime(
        covered, mean, p95(rate), most(rate), p95(moved), most(moved), p95(queue), most(queue),
        busiest, by_hour, by_weekday, growth,
    )  # fmt: skip


def _grouped(group: Array, rate: Array, weight: Array, count: int) -> list[float | None]:
    known = ~np.isnan(rate)
    places = group[known].astype(int)
    total = np.bincount(places, rate[known] * weight[known], count)
    time = np.bincount(places, weight[known], count)
    return [float(a / b) if b > 0 else None for a, b in zip(total, time, strict=True)]


def _busiest(
    at: Array, rate: Array, weight: Array, mean: float
) -> tuple[float, float, float] | None:
    """The hour of samples with the highest mean; hours begin with samples."""
    moved = np.nan_to_num(rate) * weight
    sums, time = (
        np.concatenate([[0.0], np.cumsum(moved)]),
        np.concatenate([[0.0], np.cumsum(weight)]),
    )
    first = np.arange(len(at))
    last = np.searchsorted(at, at + HOUR - 0.5 * weight, side="left")
    with np.errstate(divide="ignore", invalid="ignore"):
        means = (sums[last] - sums[first]) / (time[last] - time[first])
    means[at + HOUR - weight > at[-1] + 0.5 * weight] = -1.0
    best = int(np.argmax(means))
    if means[best] <= 0:
        return None
    return (
        float(at[best] - weight[best]),
        float(means[best]),
        float(means[best] / mean if mean else 0),
    )


def _growth(at: Array, rate: Array, weight: Array) -> Growth | None:
    """Growth of the daily means, with its 95 % interval by Student's t.

    Least squares of `mean = a[day of the week] + slope * day`: a day is compared with the same day
    of other weeks, else a weekend at the end would pass for a fall. The slopes of a line and of
    offsets by group are those of deviations from each group's means (Frisch and Waugh 1933).

    **Example.** Two weeks of 100 IO/s, weekends of 25, and 7 more on every day of the second week:
    7 in 7 days, so 1 a day.
    """
    day = ((at - at[0]) // DAY).astype(int)
    count = int(day[-1] + 1)
    time = np.bincount(day, weight, count)
    means = np.bincount(day, np.nan_to_num(rate) * weight, count) / np.maximum(time, 1.0)
    whole = np.flatnonzero(time > 0.9 * DAY)
    weekday = whole % 7
    groups = len(set(weekday.tolist()))
    freedom = len(whole) - groups - 1
    mean = float(means[whole].mean()) if len(whole) else 0.0
    if freedom < 1 or mean <= 0.0:
        return None
    x, y = (_from_group_means(each, weekday) for each in (whole.astype(float), means[whole]))
    spread = float((x * x).sum())
    slope = float((x * y).sum()) / spread
    error = math.sqrt(float(((y - slope * x) ** 2).sum()) / freedom / spread)
    half, scale = t_975(freedom) * error, 100 * 30.4375 / mean
    return Growth(scale * slope, scale * (slope - half), scale * (slope + half), len(whole))


def _from_group_means(values: Array, group: NDArray[np.int_]) -> Array:
    """Values less the mean of their group."""
    counts = np.maximum(np.bincount(group, minlength=7), 1)
    found: Array = values - (np.bincount(group, values, 7) / counts)[group]
    return found
