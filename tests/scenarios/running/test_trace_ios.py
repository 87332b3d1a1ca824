"""Single I/Os of real systems: their stages add up, and tracing them changes no figure."""

from __future__ import annotations

from typing import Any

import pytest

import raidlab
from raidlab.scenarios.spec.run_result import Stage
from raidlab.scenarios.spec.trees import ScenarioTree


def _scenario(level: str, model: str, count: int, **workload: Any) -> ScenarioTree:
    manager = {} if level == "jbod" else {"software_raid": "os"}
    return {
        "array": [{"level": level, "drives": [{"model": model, "count": count}]} | manager],
        "workload": [{"block_size": "16 KiB", "outstanding": 8} | workload],
        "run": {"duration": "300 ms", "warm_up": "100 ms"},
    }


def _critical(io: Stage) -> list[Stage]:
    return [stage for stage in io["stages"] if stage["critical"]]


def _with_controller(scenario: ScenarioTree) -> ScenarioTree:
    array = {key: value for key, value in scenario["array"][0].items() if key != "software_raid"}
    return scenario | {"array": [array], "controller": {"model": "lsi2208-1g-3.0"}}


SYSTEMS = {
    "disk": _scenario("jbod", "generic-15000rpm", 1, rw="randrw"),
    "mirror of SSDs": _scenario("raid1", "generic-sata-tlc", 2, rw="randrw"),
    "RAID 5 in the host": _scenario("raid5", "generic-15000rpm", 4, rw="randrw"),
    "RAID 6 behind a cache": _with_controller(
        _scenario("raid6", "generic-15000rpm", 6, rw="randrw")
    ),
    "stripes of NVMe": _scenario(
        "raid0", "generic-nvme-gen4-tlc", 2, rw="randread", block_size="256 KiB"
    ),
}


@pytest.mark.parametrize("scenario", SYSTEMS.values(), ids=SYSTEMS)
def test_critical_stages_add_up_to_the_latency(scenario: ScenarioTree) -> None:
    traced = raidlab.simulate(scenario, trace_ios=40)
    assert traced.ios is not None and len(traced.ios) == 40
    for io in traced.ios:
        at = io["issued_ns"]
        for stage in _critical(io):
            assert stage["begin_ns"] == at
            at = stage["end_ns"]
        assert at - io["issued_ns"] == io["latency_ns"]
    plain = raidlab.simulate(scenario)
    assert plain.ios is None
    assert traced.to_dict() == plain.to_dict() | {"ios": list(traced.ios)}


def test_a_flash_read_waits_for_its_channel_behind_the_sense() -> None:
    scenario = _scenario("jbod", "generic-sata-tlc", 1, rw="randread", outstanding=32)
    scenario["run"]["precondition"] = "steady-state"
    result = raidlab.simulate(scenario, trace_ios=200)
    order = [[stage["stage"] for stage in _critical(io)] for io in result.ios or ()]
    assert all(stages[0] in ("host", "host_wait") and stages[-1] == "host" for stages in order)
    sensed = [stages[stages.index("nand_read") :] for stages in order if "nand_read" in stages]
    behind = [stages for stages in sensed if "queue" in stages]
    assert sensed
    assert behind, "with 32 reads outstanding some wait for a channel"


def test_the_first_ios_behind_a_stated_time() -> None:
    scenario = SYSTEMS["disk"]
    (first, *_) = raidlab.simulate(scenario, trace_ios=5, trace_from_s=0.25).ios or ()
    assert 250_000_000 <= first["issued_ns"] < 300_000_000


@pytest.mark.parametrize(
    ("asked", "key"),
    [({"trace_ios": 10_001}, "trace_ios"), ({"trace_ios": -1}, "trace_ios"),
     ({"trace_ios": True}, "trace_ios"), ({"trace_from_s": float("nan")}, "trace_from_s")],
)  # fmt: skip
def test_what_cannot_be_traced_is_refused_by_name(asked: dict[str, object], key: str) -> None:
    with pytest.raises(raidlab.SpecError) as refused:
        raidlab.simulate(SYSTEMS["disk"], **asked)
    assert [fault.key for fault in refused.value.faults] == [key]
