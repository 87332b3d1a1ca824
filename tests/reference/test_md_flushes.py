"""Callers that flush an array of md: the engine beside SimPy."""

import json

import pytest

from tests.reference.callers import SECOND, THINKS, assert_as_expected
from tests.reference.md_flushes import callers
from tests.reference.plans import station_plan


def test_flushes_by_hand():
    """A write, a worker, a flush, a worker: 220 us. Two in step wait for each other, or share."""
    (alone,) = callers("one_by_one", 10_000, [10_000], SECOND)
    assert set(alone) == {220_000}
    first, second = callers("one_by_one", 10_000, [0, 0], SECOND)
    assert first[:2] == [220_000, 240_000]
    assert second[:2] == [340_000, 240_000]
    assert callers("batches", 10_000, [0, 0], SECOND)[1][:2] == [220_000, 220_000]


@pytest.mark.parametrize("order", ["together", "one_by_one", "batches"])
@pytest.mark.parametrize("hand_ns", [0, 7_001])
@pytest.mark.parametrize("count", [1, 2, 7])
def test_several_callers_flush_as_in_simpy(order, hand_ns, count):
    expected = callers(order, hand_ns, THINKS[:count], SECOND)
    plan = json.loads(station_plan(drives=2, level="raid1"))
    plan["devices"][0]["servers"] = 64
    plan["arrays"][0]["software"] = True
    plan["arrays"][0]["md"] = {"flush_order": order, "flush_hand_ns": hand_ns}
    assert_as_expected(plan, expected, times=False, allocates=False)
