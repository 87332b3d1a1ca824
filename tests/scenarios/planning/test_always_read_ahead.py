"""`read_ahead = "always"` behind a cache: each read brings its stripe unit to the end."""

from __future__ import annotations

from typing import Any

import pytest

from raidlab import simulate


def row(read_ahead: str, rw: str, **load: Any):
    """8 KiB of the outer tracks of two disks of 113 MB/s, in units of 64 KiB."""
    return simulate(
        {
            "controller": {"model": "megaraid-9361-8i", "read_ahead": read_ahead},
            "array": [{"level": "raid0", "drives": [{"model": "sata-6g-hdd", "count": 2}]}],
            "workload": [{"rw": rw, "block_size": "8 KiB", "area": "200 GB"} | load],
            "run": {"duration": "2 min"},
        }
    ).rows[0]


def test_a_random_read_costs_the_rest_of_its_unit():
    """Seven places of eight have 8 to 56 KiB behind them, 28 KiB on average: 0.25 ms."""
    none, always = (1e3 / row(each, "randread", outstanding=1).iops for each in ("none", "always"))
    rest_ms = 28 * 1024 / 113e6 * 1e3
    assert always - none == pytest.approx(rest_ms, rel=0.25)


def test_at_depth_random_reads_lose_little():
    """One command of one drive for each, as without it; guides say that it helps little."""
    none, always = (row(each, "randread", outstanding=64).iops for each in ("none", "always"))
    assert 0.9 * none < always < none


def test_a_stream_is_read_ahead_at_any_depth():
    """Adaptive read-ahead leaves a stream of eight alone; the drives read ahead themselves."""
    rates = [row(each, "read", outstanding=8).mb_per_s for each in ("always", "adaptive")]
    assert rates[0] == pytest.approx(2 * 113, rel=0.03)
    assert rates[0] >= 0.98 * rates[1]
