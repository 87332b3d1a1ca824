"""Which copy of a mirror in the host serves a read, and what that makes of a stream."""

import pytest

from raidlab.scenarios.planning.scenario import build_scenario
from raidlab.scenarios.running.simulate import simulate

MEDIUM = 209.7
"""MiB/s that pass under the head of a `sas-6g-hdd` on its outer tracks."""


def scenario(level, count, *, model="sas-6g-hdd", outstanding=1, block_size="1 MiB", **keys):
    drives = [{"model": model, "count": count}]
    array = {"level": level, "drives": drives, "software_raid": "os", **keys}
    load = {"rw": "read", "block_size": block_size, "outstanding": outstanding}
    run = {"warm_up": "500 ms", "duration": "1 s"}
    return {"host": {"model": "generic"}, "array": [array], "workload": [load], "run": run}


def rate(*given, **keys):
    return simulate(scenario(*given, **keys)).rows[0].mib_per_s


@pytest.mark.parametrize("outstanding", [1, 4, 64])
def test_a_stream_has_one_disk_of_raid_1_and_half_of_those_of_raid_1e(outstanding):
    assert rate("raid1", 2, outstanding=outstanding) == pytest.approx(MEDIUM, rel=0.01)
    assert rate("raid1e", 4, outstanding=outstanding) == pytest.approx(2 * MEDIUM, rel=0.01)


def test_a_deeper_stream_has_more_of_raid_10():
    rates = [rate("raid10", 4, outstanding=depth) for depth in (1, 4, 16, 64)]
    assert rates == sorted(rates)
    assert rates[0] == pytest.approx(2 * MEDIUM, rel=0.01)
    assert 3.5 * MEDIUM < rates[-1] < 4 * MEDIUM


def test_a_stream_has_one_ssd_of_raid_1_unless_queues_decide():
    one, two = (
        rate("raid1", 2, model="sas-6g-ssd", outstanding=8, block_size="64 KiB", read_balance=by)
        for by in ("md", "shortest-queue")
    )
    assert two == pytest.approx(2 * one, rel=0.1)


def test_the_plan_says_whose_choice_it_is():
    def of(*given, **keys):
        built = build_scenario(scenario(*given, **keys))
        said = [warning for warning in built.warnings if "read_balance" in warning]
        return built.plan(0, 0)["arrays"][0].get("md_reads", False), said

    assert of("raid10", 4) == (True, [])
    assert of("raid1", 2, read_balance="shortest-queue") == (False, [])
    assert of("raid5", 4) == (False, [])
    made, said = of("raid0", 2, read_balance="md")
    assert not made
    assert len(said) == 1
    assert said[0].startswith("array.0.read_balance: has no effect")
