"""A tenant's limits: what may be written, what a run says of them."""

import json

import pytest

from raidlab.devices.faults import SpecError
from raidlab.scenarios.planning.scenario import build_scenario
from raidlab.scenarios.running.simulate import simulate


def scenario(drives, *loads, **run):
    return {
        "array": [{"name": "data", "drives": [{"model": str(drives / "sas.toml")}]}],
        "workload": [
            {"rw": "randread", "block_size": "4 KiB", "area": "32 GB"} | load for load in loads
        ],
        "run": {"warm_up": "1 s", "duration": "2 s"} | run,
    }


def faults_of(tree):
    with pytest.raises(SpecError) as caught:
        build_scenario(tree)
    return {fault.key: fault.allowed for fault in caught.value.faults}


@pytest.mark.parametrize(
    ("load", "key", "said"),
    [
        ({"limit": "5000"}, "limit", "a rate of I/Os such as"),
        ({"limit": 5000}, "limit", "a rate of I/Os such as"),
        ({"limit": "0 IO/s"}, "limit", "0.001 IO/s to 10^8 IO/s"),
        ({"limit": "-5 IO/s"}, "limit", "0.001 IO/s to 10^8 IO/s"),
        ({"limit": "0 MB/s"}, "limit", "at least 1 B/s"),
        ({"limit": "200 MB"}, "limit", "a data rate such as"),
        ({"limit": []}, "limit", "a list of one of each"),
        ({"limit": ["5 IO/s", "6 IO/s"]}, "limit", "a list of one of each"),
        ({"limit": ["5 IO/s", "fast"]}, "limit", "a list of one of each"),
        ({"burst": "1 s"}, "burst", "without `limit`"),
        ({"limit": "5 IO/s", "burst": "20 IO/s"}, "burst", "a duration"),
        ({"limit": "5 IO/s", "burst": "-1 s"}, "burst", "not negative"),
        ({"limit": "5 IO/s", "burst": "11 d"}, "burst", "at most 10 d"),
        ({"limit": "5 IO/s", "buffered": True}, "limit", "page cache"),
    ],
)
def test_mistakes_are_named(drives, load, key, said):
    assert said in faults_of(scenario(drives, load))[f"workload.0.{key}"]


def test_a_limit_is_the_bottleneck_of_its_own_load_alone(drives):
    """The drive takes 1 ms: the tenant has 100 of 1000 I/Os a second, its neighbour the others."""
    tenant = {"name": "tenant", "outstanding": 4, "limit": "100 IO/s"}
    result = simulate(build_scenario(scenario(drives, tenant, {"name": "other"})))
    first, second = result.results
    assert first["iops"] == pytest.approx(100, abs=1)
    assert first["latency_us"]["mean"] == pytest.approx(40_000, rel=1e-3)
    assert first["bottleneck"] == "tenant IOPS limit at 100 %"
    assert "limit" not in f"{second['bottleneck']}{second['runner_up']}"
    assert "waiting" not in second["breakdown_us"]
    assert result.warnings == ()


def test_bytes_count_where_they_are_fewer(drives):
    load = {"outstanding": 4, "limit": ["1 kIO/s", "204.8 kB/s"], "burst": "0 s"}
    row = simulate(build_scenario(scenario(drives, load))).results[0]
    assert row["iops"] == pytest.approx(50, abs=1)
    assert row["bottleneck"] == "workload-0 bandwidth limit at 100 %"


def test_what_a_limit_cannot_serve_or_never_meets_is_said(drives):
    loads = [
        {"name": "more", "rate": "200 IO/s", "limit": "100 IO/s"},
        {"name": "less", "rate": "20 IO/s", "limit": "400 IO/s"},
    ]
    warnings = simulate(build_scenario(scenario(drives, *loads))).warnings
    assert any("more: arrives at 200 IO/s, more than its limit" in each for each in warnings)
    assert "less: its limit is never reached, no I/O waited for it" in warnings


def test_plans_without_limits_are_as_they_were(drives):
    assert "limit" not in json.dumps(build_scenario(scenario(drives, {})).base)
