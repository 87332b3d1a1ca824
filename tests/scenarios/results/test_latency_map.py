"""Latencies over time, by hand."""

import pytest

from raidlab.scenarios.results.latency_map import (
    bin_end,
    mean_us,
    merge_maps,
    percentile_us,
    share_below,
    with_columns,
)


def test_bins_are_four_of_fios_buckets():
    # 16 to a power of two: 1,024 to 2,048 ns in steps of 64 ns.
    assert [bin_end(1024), bin_end(1088), bin_end(1984)] == [1088, 1152, 2048]
    assert [bin_end(0), bin_end(124), bin_end(128)] == [4, 128, 136]


def test_percentiles_lie_within_their_bin():
    column = [[1024, 50], [2048, 50]]
    assert percentile_us(column, 0.25) == pytest.approx(1.056)
    assert percentile_us(column, 0.75) == pytest.approx(2.112)
    assert mean_us(column) == pytest.approx((1.056 + 2.112) / 2)
    assert percentile_us([], 0.5) is None


def test_the_share_below_a_bound_takes_a_part_of_its_bucket():
    # fio's buckets of 1,024 to 2,048 ns are 16 ns wide and stand for their middle.
    bins = [[1032, 60], [1048, 40]]
    assert share_below(bins, 1024) == 0.0
    assert share_below(bins, 1032) == pytest.approx(0.3)
    assert share_below(bins, 1040) == pytest.approx(0.6)
    assert share_below(bins, 5000) == 1.0
    assert share_below([], 1.0) is None


def test_fewer_columns_have_the_same_ios():
    narrow = {"t_s": [1.0, 2.0, 3.0], "columns": [[[8, 1]], [[8, 2]], [[12, 4]]]}
    assert with_columns(narrow, 3) is narrow
    assert with_columns(narrow, 2) == {"t_s": [2.0, 4.0], "columns": [[[8, 3]], [[12, 4]]]}


def test_maps_of_other_columns_are_put_together_at_the_wider_ones():
    narrow = {"t_s": [1.0, 2.0, 3.0, 4.0], "columns": [[[8, 1]], [[8, 2], [12, 1]], [], [[8, 4]]]}
    wide = {"t_s": [2.0, 4.0], "columns": [[[12, 5]], []]}
    both = {"t_s": [2.0, 4.0], "columns": [[[8, 3], [12, 6]], [[8, 4]]]}
    assert merge_maps([narrow, wide]) == both
    assert merge_maps([wide, narrow]) == both
    assert merge_maps([None, wide]) == wide
    assert merge_maps([None]) is None
