"""Callers of fsync and fdatasync that share a journal: the engine beside SimPy."""

import json

import pytest

from tests.reference.callers import SECOND, THINKS, assert_as_expected
from tests.reference.plans import station_plan
from tests.reference.sync_writes import callers


def test_one_caller_by_hand():
    """Data and the four commands of a commit of 100 us each, then 17.389 us of thought."""
    (latencies,) = callers("ext4", THINKS[:1], SECOND, times=False, allocates=True)
    assert set(latencies) == {500_000}
    assert len(latencies) == pytest.approx(1e9 / 517_389, abs=1)
    (latencies,) = callers("xfs", THINKS[:1], SECOND, times=False, allocates=True)
    assert set(latencies) == {400_000}


@pytest.mark.parametrize("kind", ["ext4", "xfs"])
@pytest.mark.parametrize(("times", "allocates"), [(False, True), (True, True), (True, False)])
@pytest.mark.parametrize("count", [1, 2, 7])
def test_several_callers_share_commits_as_in_simpy(kind, times, allocates, count):
    expected = callers(kind, THINKS[:count], SECOND, times=times, allocates=allocates)
    plan = json.loads(station_plan())
    plan["devices"][0]["servers"] = 64
    plan["arrays"][0]["file_system"] = {
        "journal": kind,
        "start_bytes": 1 << 29,
        "bytes": 1 << 24,
        "tick_ns": 4_000_000,
        "flushes": True,
        "async_commit": False,
        "wake_ns": 0,
    }
    assert_as_expected(plan, expected, times=times, allocates=allocates)
