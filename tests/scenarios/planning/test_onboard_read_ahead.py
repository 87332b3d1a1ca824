"""Read-ahead of a chipset's ports: their driver's, into memory of the host."""

from __future__ import annotations

from typing import Any

import pytest

from raidlab import simulate
from raidlab.devices.faults import SpecError
from raidlab.scenarios.planning.scenario import build_scenario

Tree = dict[str, Any]


def scenario(read_ahead: str | None, rw: str = "read", **array: Any) -> Tree:
    """64 KiB at one outstanding on a stripe of three disks of 7200 rpm."""
    drives = [{"model": "sata-6g-hdd", "count": 3}]
    own = {} if read_ahead is None else {"read_ahead": read_ahead}
    return {
        "host": {"model": "rx300-s7"},
        "controller": {"model": "cougar-point"},
        "array": [{"name": "data", "level": "raid0", "drives": drives} | own | array],
        "workload": [{"rw": rw, "block_size": "64 KiB", "outstanding": 1}],
        "run": {"duration": "3 s"},
    }


def rate(tree: Tree) -> float:
    return simulate(tree).rows[0].mb_per_s


def test_one_stream_has_the_rate_of_all_disks():
    """Outer tracks give 113 MB/s each; without read-ahead one disk is asked at a time."""
    assert rate(scenario("always")) == pytest.approx(3 * 113, rel=0.02)
    assert rate(scenario("none")) < 0.6 * 3 * 113


def test_random_reads_pay_for_it():
    """It reads on behind each of them: the report says that it always does."""
    assert rate(scenario("always", "randread")) < 0.8 * rate(scenario("none", "randread"))


def test_left_out_it_is_off_and_the_host_does_the_raid():
    left_out, none = (build_scenario(scenario(each)).base for each in (None, "none"))
    assert left_out == none
    assert left_out["arrays"][0]["software"]
    assert left_out["controllers"][0]["cache"] is None


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"read_ahead": "adaptive"}, "none or always: the driver of cougar-point"),
        ({"write": "write-back"}, "left out: cougar-point has no cache"),
        ({"io_cache": "cached"}, "left out: cougar-point has no cache"),
    ],
)
def test_it_is_all_that_such_ports_have(settings: Tree, said: str):
    with pytest.raises(SpecError) as raised:
        build_scenario(scenario(None) | {"array": [scenario(None)["array"][0] | settings]})
    assert said in str(raised.value)


def test_under_raid_of_the_operating_system_it_has_no_effect():
    built = build_scenario(scenario("always", software_raid="os"))
    assert any("array.0.read_ahead" in text for text in built.warnings)
