"""Things that fail while SimPy processes work with a system."""

import numpy as np
import pytest
import simpy

import raidlab
from raidlab.scenarios import _engine
from raidlab.scenarios.planning.scenario import build_scenario
from raidlab.scenarios.running.live import LiveSystem, StorageError
from raidlab.sim.environment import Environment
from tests.scenarios.planning.test_events import tree

KIB = 1024


def placed(drive, level="raid5", spares=0, **settings):
    """A system without a load of its own, and its environment."""
    scenario = tree(drive, level=level, spares=spares, **settings)
    del scenario["workload"], scenario["event"]
    env = Environment()
    return env, LiveSystem(env, build_scenario(scenario), follow_data=True)


@pytest.mark.parametrize("plan", ["{}", '{"drives": 3}', "{broken"])
def test_a_plan_that_is_none_is_reported(plan):
    with pytest.raises(_engine.PlanError, match="plan"):
        LiveSystem(Environment(), plan)


def test_an_operator_pulls_two_drives_and_the_database_is_reported(drives):
    env, system = placed(drives / "sas.toml", write="write-through")
    reported = []

    def database():
        for at in range(40):
            try:
                yield system.write(at * 64 * KIB, 8 * KIB)
                yield system.read(at * 64 * KIB, 8 * KIB)
            except StorageError as error:
                reported.append((at, error.cut_off))
                yield env.timeout(0.001)

    def operator():
        yield env.timeout(0.05)
        system.happen("fail-drive", "data", 1)
        yield env.timeout(0.05)
        system.happen("fail-drive", "data", 2)

    env.process(operator())
    env.run(env.process(database()))
    assert reported
    assert not any(cut_off for _, cut_off in reported)
    data = system.data()
    assert data["lost_writes"] > 0
    assert data["stale_reads"] == 0
    assert [event["what"] for event in system.events()][-1].startswith("array data offline")


def test_an_io_that_the_power_failure_cuts_off_raises(drives):
    env, system = placed(drives / "sas.toml", write="write-through")
    ends = []

    def writer():
        try:
            yield system.write(0, 8 * KIB)
        except raidlab.StorageError as error:
            ends.append((round(env.now, 6), error.cut_off, "the power failed" in str(error)))
        yield env.timeout(2)
        done = yield system.read(0, 8 * KIB)
        ends.append(done.op)

    def grid():
        yield env.timeout(0.0005)
        system.happen("power-fail", lasts=1)

    env.process(grid())
    env.run(env.process(writer()))
    assert ends == [(0.0005, True, True), "read"]
    assert system.data()["stale_reads"] == 0
    assert [event["what"] for event in system.events()] == ["power failed", "power back"]


def test_an_io_waits_while_the_power_is_off(drives):
    env, system = placed(drives / "sas.toml", write="write-through")
    ends = []

    def writer():
        yield env.timeout(1)
        system.happen("power-fail", lasts=2)
        yield env.timeout(0.5)
        for ask in (system.write, system.read):
            done = yield ask(0, 8 * KIB)
            ends.append((round(env.now, 1), round(done.latency, 1)))

    env.run(env.process(writer()))
    assert ends == [(3.0, 1.5), (3.0, 0.0)]
    assert system.data()["acknowledged_writes"] == 1


def test_a_spare_takes_over_and_the_new_drive_gets_its_data_back(drives):
    env, system = placed(drives / "small.toml", spares=1, write="write-through")

    def life():
        for at in range(16):
            yield system.write(at * 64 * KIB, 64 * KIB)
        system.happen("fail-drive", drive=2)
        yield env.timeout(2)
        system.happen("replace-drive", drive=2)
        yield env.timeout(2)
        system.happen("unreadable-sectors", drive=0, size=8192)
        system.happen("patrol-read")
        yield env.timeout(2)
        system.happen("consistency-check")
        yield env.timeout(2)
        system.happen("slow-drive", drive=0, extra=0.05)
        done = yield system.read(0, 1024 * KIB)
        assert done.latency > 0.05

    env.run(env.process(life()))
    reported = " | ".join(event["what"] for event in system.events())
    for what in ("rebuild done", "copyback done", "patrol read done", "consistency check done"):
        assert what in reported
    assert "is slow" in reported
    data = system.data()
    assert (data["lost_writes"], data["stale_reads"], data["corrupt_stripes"]) == (0, 0, 0)


def test_a_learning_battery_makes_writes_wait_for_the_drives(drives):
    env, system = placed(drives / "sas.toml", write="write-back")
    latencies = []

    def writer():
        for at in range(3):
            done = yield system.write(at * 4096, 4096)
            latencies.append(done.latency)
            if at == 0:
                system.happen("battery-learn", lasts=0.1)
            if at == 1:
                yield env.timeout(0.2)

    env.run(env.process(writer()))
    assert latencies[0] < 0.001 < latencies[1]
    assert latencies[2] < 0.001


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ({"action": "explode"}, "action = 'explode': allowed is fail-drive"),
        (
            {"action": "fail-drive", "drive": 9},
            "drive = 9: allowed is 0 to .*, spares behind the others",
        ),
        ({"action": "fail-drive", "drive": -1}, "drive = -1"),
        ({"action": "fail-drive", "target": "dat"}, "no array named 'dat'"),
        ({"action": "patrol-read", "target": 1}, "target = 1: allowed is 0 to 0"),
        ({"action": "slow-drive", "extra": -1}, "extra = -1"),
        ({"action": "power-fail", "lasts": -1}, "lasts = -1"),
        ({"action": "unreadable-sectors", "offset": 10**15}, "offset = .* on the drive"),
        ({"action": "unreadable-sectors", "size": 0}, "size = 0"),
        ({"action": "unreadable-sectors", "size": 1000}, "size = 1000.*a multiple of 512"),
        ({"action": "unreadable-sectors", "offset": 8}, "offset = 8.*a multiple of 512"),
        ({"action": "unreadable-sectors", "offset": "4 KiB"}, "offset = '4 KiB'.*whole bytes"),
        ({"action": "unreadable-sectors", "size": 1.5}, "size = 1.5.*whole bytes"),
        ({"action": "slow-drive", "extra": "1 s"}, "extra = '1 s'.*a number of seconds"),
        ({"action": "slow-drive", "extra": float("inf")}, "extra = inf"),
        ({"action": "power-fail", "lasts": 1e12}, "lasts = 1000000000000.0.*at most ten years"),
        ({"action": "fail-drive", "drive": 1.0}, "drive = 1.0"),
        ({"action": "fail-drive", "target": None}, "target = None: allowed is an array's name"),
    ],
)
def test_what_cannot_happen_is_reported(drives, what, said):
    _, system = placed(drives / "sas.toml")
    with pytest.raises(ValueError, match=said):
        system.happen(**what)
    assert system.events() == []


def test_without_a_cache_no_battery_learns(drives):
    scenario = tree(drives / "sas.toml")
    del scenario["workload"], scenario["event"], scenario["controller"]
    scenario["array"][0]["software_raid"] = "os"
    system = LiveSystem(Environment(), build_scenario(scenario), follow_data=True)
    with pytest.raises(ValueError, match="a controller whose cache is used"):
        system.happen("battery-learn")


def test_a_system_that_does_not_follow_its_data_says_so(drives):
    scenario = tree(drives / "sas.toml")
    del scenario["workload"], scenario["event"]
    system = LiveSystem(Environment(), build_scenario(scenario))
    assert system.data() is None
    with pytest.raises(ValueError, match="does not follow its data"):
        system.happen("power-fail")


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ({"offset": -1, "size": 512}, "offset = -1"),
        ({"offset": "0", "size": 512}, "offset = '0'"),
        ({"offset": 0, "size": -5}, "size = -5"),
        ({"offset": 0, "size": "4 KiB"}, "size = '4 KiB'"),
        ({"offset": 0.5, "size": 512}, "offset = 0.5"),
        ({"offset": 1 << 70, "size": 512}, f"offset = {1 << 70}"),
    ],
)
def test_places_that_are_none_are_reported(drives, place, said):
    env, system = placed(drives / "sas.toml")
    for ask in (system.read, system.write):
        with pytest.raises(ValueError, match=rf"{said}.*whole bytes, 0 or more, below 2\^63"):
            ask(**place)
    done = env.run(system.write(np.int64(4096), np.uint32(512)))
    assert (done.offset, done.size) == (4096, 512)


def test_numbers_of_any_kind_will_do(drives):
    env, system = placed(drives / "sas.toml")
    system.happen(
        "unreadable-sectors", drive=np.int64(1), offset=np.uint32(512), size=np.int64(512)
    )
    system.happen("slow-drive", drive=np.int8(0), extra=np.float32(0.5))
    assert env.run(system.read(0, 512)).latency > 0.5


def test_another_environment_is_reported(drives):
    scenario = tree(drives / "sas.toml")
    del scenario["workload"], scenario["event"]
    with pytest.raises(ValueError, match=r"allowed is a raidlab\.Environment"):
        LiveSystem(simpy.Environment(), build_scenario(scenario))
