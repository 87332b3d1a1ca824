"""The slowest I/Os of real systems: each with its cause, the same with any number of workers."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
import simpy

import raidlab
from raidlab.scenarios.planning.scenario import build_scenario
from raidlab.scenarios.results.slow_cause import cause
from raidlab.scenarios.spec.run_result import SlowIo

REBUILD = {
    "controller": {"model": "lsi2208-1g-3.0", "backup": "fbu"},
    "array": [
        {
            "level": "raid5",
            "drives": [{"model": "generic-15000rpm", "count": 5}],
            "used": "100 MB",
            "hot_spares": 1,
            "rebuild_rate": 0.5,
        }
    ],
    "workload": [{"profile": "database", "rate": "150 IO/s"}],
    "run": {"warm_up": "1 s", "duration": "8 s"},
    "event": [{"at": "4 s", "action": "fail-drive", "drive": 1}],
}


def _beside(slow: SlowIo) -> bool:
    return "rebuild" in slow["beside"]


def test_reads_that_wait_for_a_rebuild_say_so() -> None:
    (row,) = raidlab.simulate(REBUILD, slowest=100).results
    during = [slow for slow in row["slowest"] if _beside(slow)]
    assert len(during) > 50, "the tail is made during the rebuild"
    failed_ns = 4e9
    assert all(slow["issued_ns"] + 1e3 * slow["latency_us"] >= failed_ns for slow in during)
    assert not any(_beside(slow) for slow in row["slowest"] if slow["issued_ns"] < 3e9)
    assert "beside" in cause(during[0])
    assert all(
        sum(slow["breakdown_us"].values()) == pytest.approx(slow["latency_us"])
        for slow in row["slowest"]
    )


def test_writes_to_worn_flash_wait_for_a_collection() -> None:
    scenario = {
        "array": [{"drives": [{"model": "generic-sata-tlc", "count": 2}]}],
        "workload": [{"rw": "randwrite", "block_size": "4 KiB", "outstanding": 32}],
        "run": {"precondition": "steady-state", "warm_up": "100 ms", "duration": "400 ms"},
    }
    results = [
        raidlab.simulate(scenario, slowest=50, latency_map=True, workers=workers)
        for workers in (1, 2)
    ]
    assert results[0].to_json() == results[1].to_json()
    (row,) = results[0].results
    longest = [max(s["breakdown_us"], key=lambda p: s["breakdown_us"][p]) for s in row["slowest"]]
    waits = longest.count("garbage_collection") + longest.count("nand_program")
    assert waits > 25
    assert all(slow["drive"] for slow in row["slowest"])
    counted = sum(n for column in row["write"]["latency_map"]["columns"] for _, n in column)
    assert counted == row["write"]["ios"]
    (typed,) = results[0].rows
    assert typed.ios == row["ios"]


def test_far_reads_wait_for_the_arm() -> None:
    scenario = {
        "array": [{"drives": [{"model": "generic-7200rpm", "count": 1}]}],
        "workload": [{"rw": "randread", "block_size": "4 KiB"}],
        "run": {"duration": "20 s"},
    }
    (row,) = raidlab.simulate(scenario, slowest=20).results
    for slow in row["slowest"]:
        parts = slow["breakdown_us"]
        assert max(parts, key=parts.__getitem__) == "seek" and cause(slow).startswith("the arm")


def test_a_destage_that_ends_before_the_read_beside_it_is_named() -> None:
    """A read of 4 GiB takes seconds; the data of a write leave the cache meanwhile."""
    drives = [{"model": "generic-15000rpm", "count": 5}]
    tree = {"controller": REBUILD["controller"], "array": [{"level": "raid5", "drives": drives}]}
    env = raidlab.Environment()
    system = raidlab.LiveSystem(env, tree | {"workload": []}, slowest=10)
    taken: list[float] = []

    def process() -> Generator[simpy.Event, Any, None]:
        yield system.write(0, 4096)
        # Whatever the write set in motion is over long before the second read.
        for at in (4 << 30, 12 << 30):
            before = env.now
            yield system.read(at, 4 << 30)
            taken.append(env.now - before)
            yield env.timeout(60)

    env.run(env.process(process()))
    (row,) = system.result().results
    reads = sorted((s for s in row["slowest"] if s["op"] == "read"), key=lambda s: s["issued_ns"])
    assert min(taken) > 4
    assert ["destage" in slow["beside"] for slow in reads] == [True, False]


def test_jobs_of_fio_and_live_systems_have_their_tails(tmp_path: Path) -> None:
    """A job beside a rebuild, and a process: the slowest with what was in work beside them."""
    (tmp_path / "x.fio").write_text("[a]\nrw=randread\nbs=8k\nsize=50m\ntime_based\nruntime=8\n")
    own = {key: value for key, value in REBUILD.items() if key != "run"}
    tree = own | {"workload": [{"fio": "x.fio"}]}
    scenario = build_scenario(tree, tmp_path / "s.toml")
    result = raidlab.simulate(scenario, slowest=50, latency_map=True, trace_ios=5)
    (row,) = result.results
    assert sum(map(_beside, row["slowest"])) > 5
    assert not any(_beside(slow) for slow in row["slowest"] if slow["issued_ns"] < 3e9)
    assert row["read"]["latency_map"]["t_s"]
    assert result.ios is not None and len(result.ios) == 5
    for io in result.ios:
        critical = [s["end_ns"] - s["begin_ns"] for s in io["stages"] if s["critical"]]
        assert sum(critical) == io["latency_ns"]

    env = raidlab.Environment()
    system = raidlab.LiveSystem(env, own | {"workload": []}, slowest=10, latency_map=True)

    def process() -> Generator[simpy.Event, Any, None]:
        for at in range(2000):
            yield system.read(at * 7919 % 10_000 * 8192, 8192)

    env.run(env.process(process()))
    (row,) = system.result().results
    assert any(map(_beside, row["slowest"])) and len(row["slowest"]) == 10
    counted = [count for column in row["read"]["latency_map"]["columns"] for _, count in column]
    assert sum(counted) == 2000
