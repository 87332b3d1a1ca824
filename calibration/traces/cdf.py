"""How far two distributions of response times lie apart.

The figure of merit of Ruemmler and Wilkes (1994) for disk models: the root mean square of the
horizontal distance between two cumulative distributions. Bucket edges, resolution and quantiles
are those with which the drives of `measurements/disksim` were judged, so figures compare.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

_EDGES = 1750
_QUANTILES = 10_000


def bucket_edges() -> NDArray[np.int64]:
    """Edges in microseconds: 1 us wide at first, then 1 % of the edge and 1 us more."""
    edges = np.zeros(_EDGES, dtype=np.int64)
    for index in range(1, _EDGES):
        edges[index] = edges[index - 1] + 1 + edges[index - 1] // 100
    return edges


def rms_distance_ms(first_us: ArrayLike, second_us: ArrayLike) -> float:
    """Root mean square horizontal distance of two distributions.

    Args:
        first_us: One sample of response times in microseconds, shape (n,).
        second_us: The other, shape (m,).

    Returns:
        Milliseconds.

    Raises:
        ValueError: A sample is empty.
    """
    first, second = (_counts(sample) for sample in (first_us, second_us))
    return rms_distance_of_counts_ms(first, second)


def rms_distance_of_counts_ms(first: ArrayLike, second: ArrayLike) -> float:
    """As `rms_distance_ms`, of counts from each of `bucket_edges` to the next, shape (1750,)."""
    probabilities = np.arange(1, _QUANTILES + 1) / _QUANTILES
    one, other = (_quantiles(counts, probabilities) for counts in (first, second))
    return float(np.sqrt(np.mean((one - other) ** 2)) / 1000)


def _counts(sample_us: ArrayLike) -> NDArray[np.int64]:
    sample = np.asarray(sample_us, dtype=np.float64).astype(np.int64)
    if sample.size == 0:
        raise ValueError("a distribution needs at least one value")
    bucket = np.searchsorted(bucket_edges(), sample, side="right") - 1
    return np.bincount(bucket, minlength=_EDGES)


def _quantiles(counts: ArrayLike, probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """The distribution in buckets, inverted by straight lines between edges."""
    edges = bucket_edges()
    counted = np.asarray(counts, dtype=np.int64)
    lower = np.concatenate([[0], np.cumsum(counted)[:-1]])
    below = np.round(lower / counted.sum(), 6)
    whole = np.flatnonzero(below >= 1)
    if whole.size:
        edges, below = edges[: whole[0] + 1], below[: whole[0] + 1]
    right = np.minimum(np.searchsorted(below, probabilities, side="left"), below.size - 1)
    left = np.maximum(right - 1, 0)
    span = np.where(below[right] > below[left], below[right] - below[left], 1.0)
    share = np.clip((probabilities - below[left]) / span, 0.0, 1.0)
    return np.asarray(edges[left] + share * (edges[right] - edges[left]), dtype=np.float64)
