"""Ceilings of instances: what their volumes get together, from the providers' tables."""

from __future__ import annotations

import pytest

from raidlab import simulate
from raidlab.devices.faults import SpecError
from raidlab.devices.instances import Ceiling, instances
from raidlab.scenarios.planning.scenario import build_scenario
from raidlab.scenarios.spec.trees import ScenarioTree


def scenario(instance: str, *, count: int = 1, spent: bool = False) -> ScenarioTree:
    run = {"warm_up": "0.1 s", "duration": "0.5 s", "seed": 1}
    return {
        "host": {"model": "nvme", "threads": 8, "instance": instance},
        "array": [
            {
                "level": "raid0" if count > 1 else "jbod",
                **({"software_raid": "md"} if count > 1 else {}),
                "drives": [{"model": "aws-io2-64000", "count": count}],
            }
        ],
        "workload": [{"rw": "randread", "block_size": "4 KiB", "outstanding": 256}],
        "run": run | ({"precondition": "filled"} if spent else {}),
    }


@pytest.mark.parametrize(
    ("instance", "spent", "expected"),
    [("r5b.large", True, 5417), ("r5b.large", False, 43333), ("m5.8xlarge", False, 30000)],
)
def test_an_instance_bounds_its_volume(instance: str, spent: bool, expected: float) -> None:
    found = simulate(scenario(instance, spent=spent)).rows[0].iops
    assert found == pytest.approx(expected, rel=0.03)


def test_volumes_share_what_the_instance_passes() -> None:
    found = simulate(scenario("m5.8xlarge", count=2)).rows[0].iops
    assert found == pytest.approx(30000, rel=0.04)


def test_an_instance_that_is_not_known_names_the_nearest() -> None:
    with pytest.raises(SpecError, match=r"host.instance = .*r5b.large"):
        build_scenario(scenario("r5b.larg"))


def test_bursts_are_above_what_is_sustained() -> None:
    for name, each in instances().items():
        assert each.burst_rate in (0, max(each.burst_rate, each.rate)), name
        assert each.burst_throughput in (0, max(each.burst_throughput, each.throughput)), name


@pytest.mark.parametrize(
    ("instance", "expected"),
    [
        ("m5.large", Ceiling(3600, 81.25, 18750, 593.75)),
        ("c6i.8xlarge", Ceiling(40000, 1250)),
        ("t3.nano", Ceiling(250, 43 / 8, 11800, 2085 / 8)),
        ("Standard_D8s_v3", Ceiling(12800, 192, 16000, 400)),
        ("Standard_E96s_v5", Ceiling(80000, 2600, 0, 4000)),
        ("Standard_L80s_v3", Ceiling(80000, 2160, 0, 3000)),
    ],
)
def test_ceilings_are_those_of_the_providers_tables(instance: str, expected: Ceiling) -> None:
    assert instances()[instance] == expected


def test_another_providers_instance_says_what_to_write_instead() -> None:
    with pytest.raises(SpecError, match=r"host.instance = .*n2-standard-8.*`iops`"):
        build_scenario(scenario("n2-standard-8"))
