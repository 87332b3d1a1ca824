"""Distributions of latency: merged, read at any percentile, compared.

A distribution is known from fio's bins or from percentiles. Between the known points its
cumulative share is taken as linear in the logarithm of the latency.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Final, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from raidlab.calibration.measurements.measurement import SAME_PERCENT, Latency

Array = npt.NDArray[np.float64]
Key = TypeVar("Key")
Made = TypeVar("Made")
_LEAST_US = 1e-3
_LEAST_KNOWN = 2
"""Percentiles that make a distribution."""


class Once(Generic[Key, Made]):
    """What is made of objects that never change: once for each, for as long as it lives.

    A fit reads each distribution at many percentiles.
    """

    def __init__(self, make: Callable[[Key], Made]) -> None:
        """Of what `make` makes."""
        self._make = make
        self._known: dict[int, tuple[weakref.ref[Key], Made]] = {}

    def __call__(self, of: Key) -> Made:
        """What was made of an object, by its identity."""
        key = id(of)
        if (known := self._known.get(key)) is not None and known[0]() is of:
            return known[1]
        made = self._make(of)
        self._known[key] = (weakref.ref(of, lambda gone: self._forget(key, gone)), made)
        return made

    def _forget(self, key: int, gone: weakref.ref[Key]) -> None:
        """Leaves alone what another object has stored at this address meanwhile."""
        if (known := self._known.get(key)) is not None and known[0] is gone:
            del self._known[key]


def curve(latency: Latency) -> tuple[Array, Array]:
    """Latencies in microseconds, ascending, and the share of I/Os up to each; empty if unknown.

    Both are read-only: they are made once for as long as the distribution lives.
    """
    return _CURVES(latency)


def _read_only(latency: Latency) -> tuple[Array, Array]:
    at, shares = _drawn(latency)
    at.flags.writeable = shares.flags.writeable = False
    return at, shares


_CURVES: Final = Once(_read_only)


def _drawn(latency: Latency) -> tuple[Array, Array]:
    if latency.bins_ns:
        flat = chain.from_iterable(latency.bins_ns)
        pairs = np.fromiter(flat, float, 2 * len(latency.bins_ns))
        at, counts = pairs[::2], pairs[1::2]
        return np.maximum(at / 1e3, _LEAST_US), np.cumsum(counts) / counts.sum()
    known = sorted((float(key), value) for key, value in latency.percentiles_us.items())
    if not known:
        return np.empty(0), np.empty(0)
    shares = np.array([0.0, *(percent / 100 for percent, _ in known), 1.0])
    least = latency.min_us or known[0][1]
    most = max(latency.max_us, known[-1][1])
    at = np.array([least, *(value for _, value in known), most])
    return np.maximum.accumulate(np.maximum(at, _LEAST_US)), shares


def share_up_to(latency: Latency, at_us: Array) -> Array:
    """Share of I/Os that took at most `at_us` microseconds."""
    at, shares = curve(latency)
    if not len(at):
        return np.full(at_us.shape, np.nan)
    return np.interp(np.log(np.maximum(at_us, _LEAST_US)), np.log(at), shares, left=0.0, right=1.0)


def percentile(latency: Latency, percent: float) -> float | None:
    """The latency in microseconds that `percent` of the I/Os do not exceed.

    None where nothing is known of it: of percentiles alone, below the least and above the greatest.
    A 99th percentile says nothing of the median.
    """
    known = latency.percentile(percent)
    if known is not None:
        return known
    if not latency.bins_ns:
        stated = [float(each) for each in latency.percentiles_us]
        if not stated or not min(stated) <= percent <= max(stated):
            return None
    at, shares = curve(latency)
    if not len(at):
        return None
    if latency.bins_ns:
        return float(at[min(int(np.searchsorted(shares, percent / 100)), len(at) - 1)])
    return float(np.exp(np.interp(percent / 100, shares, np.log(at))))


def percentiles(latency: Latency, percents: Array) -> list[float | None]:
    """As `percentile`, of several percents; shape (k,)."""
    if not latency.bins_ns:
        return [percentile(latency, percent) for percent in percents.tolist()]
    at, shares = curve(latency)
    found = at[np.minimum(np.searchsorted(shares, percents / 100), len(at) - 1)]
    for percent, known in latency.percentiles_us.items():
        found[np.abs(percents - float(percent)) < SAME_PERCENT] = known
    return list(found.tolist())


def kolmogorov(one: Latency, other: Latency) -> float | None:
    """Largest distance between the cumulative distributions: 0 for equal, 1 for disjoint.

    None where one of them is known from less than bins or two percentiles.
    """
    if any(not each.bins_ns and len(each.percentiles_us) < _LEAST_KNOWN for each in (one, other)):
        return None
    points = [curve(latency)[0] for latency in (one, other)]
    if not all(len(at) for at in points):
        return None
    at = np.unique(np.concatenate(points))
    return float(np.max(np.abs(share_up_to(one, at) - share_up_to(other, at))))


def merge(parts: Sequence[Latency], weights: Sequence[float]) -> Latency:
    """The distribution of all I/Os of `parts`, each with its share of them.

    Exact where all parts have bins; where they have percentiles only, the mixture's percentiles
    are read off the weighted sum of their curves.
    """
    if len(parts) == 1:
        return parts[0]
    mean = sum(w * part.mean_us for w, part in zip(weights, parts, strict=True))
    square = sum(
        w * (part.stddev_us**2 + part.mean_us**2) for w, part in zip(weights, parts, strict=True)
    )
    common = set.intersection(*(set(part.percentiles_us) for part in parts))
    merged = Latency(
        mean_us=mean,
        stddev_us=max(0.0, square - mean**2) ** 0.5,
        min_us=min(part.min_us for part in parts),
        max_us=max(part.max_us for part in parts),
        bins_ns=_merged_bins(parts),
    )
    if merged.bins_ns:
        at, shares = curve(merged)
    else:
        at = np.unique(np.concatenate([curve(part)[0] for part in parts]))
        each = [w * share_up_to(p, at) for w, p in zip(weights, parts, strict=True)]
        shares = np.sum(each, axis=0) if len(at) else at
    percentiles = {}
    for key in sorted(common, key=float):
        index = int(np.searchsorted(shares, float(key) / 100 - 1e-12))
        percentiles[key] = float(at[min(index, len(at) - 1)])
    return merged.model_copy(update={"percentiles_us": percentiles})


def _merged_bins(parts: Sequence[Latency]) -> tuple[tuple[int, int], ...]:
    if not all(part.bins_ns for part in parts):
        return ()
    counts: dict[int, int] = {}
    for part in parts:
        for at, count in part.bins_ns:
            counts[at] = counts.get(at, 0) + count
    return tuple(sorted(counts.items()))
