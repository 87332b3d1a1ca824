"""The distance of two distributions, against what can be said without the code."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from raidlab.calibration.traces.cdf import bucket_edges, rms_distance_ms


def test_edges_start_a_microsecond_wide_and_widen_by_a_hundredth() -> None:
    edges = bucket_edges()
    assert edges.size == 1750
    assert edges[:3].tolist() == [0, 1, 2]
    at = int(np.searchsorted(edges, 200))
    assert edges[at + 1] - edges[at] == 1 + edges[at] // 100


def test_a_sample_lies_at_no_distance_from_itself() -> None:
    sample = np.random.default_rng(1).uniform(100, 20_000, 5000)
    assert rms_distance_ms(sample, sample) == 0.0


def test_a_shift_is_its_own_distance() -> None:
    sample = np.random.default_rng(2).uniform(1000, 20_000, 20_000)
    # Buckets are up to 200 us wide here, and interpolation inside them is nearly exact.
    assert rms_distance_ms(sample, sample + 500) == pytest.approx(0.5, rel=0.01)


def test_two_constants() -> None:
    # 100 us lies in the bucket from 100 to 102, 300 us in that from 299 to 302: each inverts to
    # a straight line over its bucket.
    first, second = (np.full(10, value) for value in (100.0, 300.0))
    edges = bucket_edges()
    low = [int(edges[np.searchsorted(edges, value, side="right") - 1]) for value in (100, 300)]
    high = [int(edges[np.searchsorted(edges, value, side="right")]) for value in (100, 300)]
    p = np.arange(1, 10_001) / 10_000
    lines = [a + p * (b - a) for a, b in zip(low, high, strict=True)]
    expected = float(np.sqrt(np.mean((lines[1] - lines[0]) ** 2))) / 1000
    assert rms_distance_ms(first, second) == pytest.approx(expected, rel=1e-9)


@given(
    st.lists(st.floats(0, 1e5), min_size=1, max_size=50),
    st.lists(st.floats(0, 1e5), min_size=1, max_size=50),
)
def test_the_distance_is_symmetric_and_not_negative(
    first: list[float], second: list[float]
) -> None:
    there, back = rms_distance_ms(first, second), rms_distance_ms(second, first)
    assert there == back >= 0


def test_an_empty_sample_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one"):
        rms_distance_ms([], [1.0])
