"""Tenants with weights and priorities."""

import pytest

from raidlab.devices.faults import SpecError
from raidlab.scenarios.planning.scenario import build_scenario
from raidlab.scenarios.running.simulate import simulate


def scenario(drives, *loads, **array):
    return {
        "array": [{"name": "data", "drives": [{"model": str(drives / "sas.toml")}]} | array],
        "workload": [
            {"rw": "randread", "block_size": "4 KiB", "area": "32 GB", "outstanding": 64} | load
            for load in loads
        ],
        "run": {"warm_up": "1 s", "duration": "10 s"},
    }


def test_weights_divide_what_the_drive_gives(drives):
    """The drive serves 1000 a second: 600, 200 and 200 by weights of 3, 1 and none."""
    loads = ({"name": "gold", "weight": 3}, {"name": "iron", "weight": 1}, {"name": "none"})
    result = simulate(build_scenario(scenario(drives, *loads)))
    rates = [row["iops"] for row in result.results]
    assert rates == [pytest.approx(rate, rel=0.02) for rate in (598, 199, 199)]
    assert all(row["breakdown_us"]["share_wait"] > 0 for row in result.results)


def test_a_high_priority_goes_first_and_a_shallow_array_makes_it_fast(drives):
    """Few I/Os of the one at 10 a second wait for one I/O in service each, or for all 32."""
    loads = (
        {"name": "first", "priority": "high", "rate": "10 IO/s", "outstanding": None},
        {"name": "rest", "priority": "low"},
    )
    loads = [{key: value for key, value in load.items() if value is not None} for load in loads]

    def mean(depth):
        tree = scenario(drives, *loads, shared_depth=depth)
        del tree["workload"][0]["outstanding"]
        return simulate(build_scenario(tree)).results[0]["latency_us"]["mean"]

    assert mean(1) == pytest.approx(1500, rel=0.15)
    assert mean(32) == pytest.approx(32_500, rel=0.1)


@pytest.mark.parametrize(
    ("load", "array", "key", "said"),
    [
        ({"weight": 0}, {}, "workload.0.weight", "1"),
        ({"weight": 20_000}, {}, "workload.0.weight", "10000"),
        ({"priority": "hihg"}, {}, "workload.0.priority", "high"),
        ({}, {"shared_depth": 8}, "array.0.shared_depth", "no workload on the array"),
        ({"weight": 2}, {"shared_depth": 0}, "array.0.shared_depth", "1"),
        ({"weight": 2, "buffered": True}, {}, "workload.0.weight", "page cache"),
    ],
)
def test_mistakes_are_named(drives, load, array, key, said):
    with pytest.raises(SpecError) as caught:
        build_scenario(scenario(drives, load, {"name": "b"}, **array))
    assert said in {fault.key: fault.allowed for fault in caught.value.faults}[key]


def test_a_share_that_nobody_else_has_is_said(drives):
    found = build_scenario(scenario(drives, {"weight": 2}))
    assert "workload.0.weight: no other workload shares data with it" in found.warnings


def test_plans_without_shares_are_as_they_were(drives):
    plan = build_scenario(scenario(drives, {})).base
    assert "share" not in plan["workloads"][0]
    assert "shared_depth" not in plan["arrays"][0]
