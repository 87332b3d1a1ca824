"""What a live system has to say at its end."""

import math

import pytest
import simpy.rt

import raidlab
from raidlab.scenarios.planning.scenario import build_scenario
from raidlab.scenarios.running.live import LiveSystem
from raidlab.sim.environment import Environment, RealtimeEnvironment
from tests.reference.plans import station_plan
from tests.scenarios.planning.test_events import tree

KIB = 1024
DISK = {"array": [{"name": "data", "drives": [{"model": "generic-15000rpm"}]}]}
LOADED = DISK | {
    "title": "Beside a load",
    "workload": [{"name": "batch", "rw": "randread", "block_size": "4 KiB", "outstanding": 2}],
}


def reads(env, system, count, pause=0.0):
    for at in range(count):
        yield system.read(at * 4096, 4096)
        if pause:
            yield env.timeout(pause)


def test_rates_and_utilisation_of_a_server_of_fixed_time_by_hand():
    """Ten reads of 100 us, one at a time with pauses of 100 us: 2 ms, half of it busy."""
    env = Environment()
    system = LiveSystem(env, station_plan())
    env.run(env.process(reads(env, system, 10, pause=100e-6)))
    assert env.now == pytest.approx(2e-3)
    result = system.result()
    (row,) = result.rows
    assert (row.workload, row.ios, row.errors) == ("processes", 10, 0)
    assert row.iops == pytest.approx(5000)
    assert row.mb_per_s == pytest.approx(5000 * 4096 / 1e6)
    assert row.latency_us.mean == pytest.approx(100)
    assert sum(row.breakdown_us.values()) == pytest.approx(100)
    drive = next(each for each in row.components if each.kind == "drive")
    assert drive.utilization == pytest.approx(0.5)
    assert row.bottleneck.endswith("at 50 %")
    assert row.duration_s == pytest.approx(2e-3)
    assert result.breaches == ()


def test_a_system_placed_later_counts_from_then():
    env = Environment(initial_time=5)
    system = LiveSystem(env, station_plan())
    env.run(env.process(reads(env, system, 10)))
    assert system.result().rows[0].iops == pytest.approx(10_000)


def test_loads_of_the_scenario_and_processes_stand_side_by_side():
    env = Environment()
    system = LiveSystem(env, LOADED)
    env.process(reads(env, system, 50))
    env.run(until=3)
    result = system.result()
    assert [row.workload for row in result.rows] == ["batch", "processes"]
    batch, processes = result.rows
    assert processes.ios == 50
    assert batch.outstanding == 2
    assert batch.ios > 300
    assert batch.duration_s == 3
    assert "generic-15000rpm" in batch.bottleneck
    assert result.breaches == ()
    assert "Beside a load" in repr(result)
    assert "processes: open load" in repr(result)
    # Nothing is left out as a warm-up, and nothing ends with the scenario's own duration.
    env.run(until=60)
    assert system.result().rows[0].ios > 15 * batch.ios


def test_a_system_in_which_nothing_ran_shows_its_components():
    env = Environment()
    system = LiveSystem(env, DISK)
    env.run(until=1)
    (row,) = system.result().rows
    assert (row.ios, row.latency_us) == (0, None)
    assert all(component.utilization == 0 for component in row.components)


FLASH = {
    "array": [
        {
            "level": "raid5",
            "software_raid": "os",
            "drives": [{"model": "p3700-800", "count": 3}],
        }
    ],
    "workload": [{"rw": "randwrite", "block_size": "4 KiB", "outstanding": 4, "area": "1 GB"}],
}


@pytest.mark.parametrize("system", ["two-loads", "raid5-rebuild", "expander", FLASH])
def test_the_engines_own_checks_hold_at_any_instant(system):
    env = Environment()
    where = f"scenarios/library/{system}.toml" if isinstance(system, str) else system
    live = LiveSystem(env, where, seed=3)

    def process():
        for at in range(1000):
            yield live.write(at * 64 * KIB, 8 * KIB)
            yield live.read(at * 64 * KIB, 8 * KIB)

    env.process(process())
    for until in (0.0001, 0.00123, 0.0177, 0.05):
        env.run(until=until)
        result = live.result()
        assert result.breaches == ()
        assert all(0 <= each.utilization <= 1 for each in result.rows[0].components)
    assert result.rows[-1].ios > 0


def drawn(seed):
    env = Environment()
    system = LiveSystem(env, LOADED, seed=seed)
    env.run(until=1)
    return system.result()


def test_the_seed_changes_the_draws_and_repeats_them():
    first, again, other = drawn(7), drawn(7), drawn(8)
    assert first.seed == 7
    assert first.to_json() == again.to_json()
    assert first.results[0]["iops"] != other.results[0]["iops"]


def test_the_seed_of_the_scenario_is_the_default():
    assert drawn(None).to_json() == drawn(1).to_json()


@pytest.mark.parametrize("seed", [-1, 1.5, "7", True, 1 << 63])
def test_a_seed_that_cannot_be_is_refused(seed):
    with pytest.raises(ValueError, match=r"seed = .*: allowed is a whole number from 0"):
        LiveSystem(Environment(), DISK, seed=seed)


def test_events_data_and_the_progress_of_a_rebuild(drives):
    scenario = tree(drives / "small.toml", level="raid5", spares=1, write="write-through")
    del scenario["workload"], scenario["event"]
    env = Environment()
    system = LiveSystem(env, build_scenario(scenario), follow_data=True)
    env.run(env.process(reads(env, system, 4)))
    assert system.rebuilding() == []
    system.happen("fail-drive", drive=1)
    shares = []
    while not any("rebuild done" in event["what"] for event in system.events()):
        env.run(until=env.now + 0.002)
        shares += system.rebuilding()
        assert env.now < 60, system.events()
    assert shares == sorted(shares)
    assert len(set(shares)) > 2
    assert 0 <= shares[0] < shares[-1] < 1
    result = system.result()
    assert any("rebuild done" in event["what"] for event in result.events)
    assert result.data["lost_writes"] == 0
    assert result.rows[0].rebuilding == ()


def test_what_fails_is_counted_as_an_error(drives):
    scenario = tree(drives / "sas.toml", level="raid0", write="write-through")
    del scenario["workload"], scenario["event"]
    env = Environment()
    system = LiveSystem(env, build_scenario(scenario), follow_data=True)
    system.happen("fail-drive")

    def reader():
        with pytest.raises(raidlab.StorageError):
            yield system.read(0, 4 * KIB)

    env.run(env.process(reader()))
    (row,) = system.result().rows
    assert (row.ios, row.errors) == (0, 1)


def test_a_realtime_environment_keeps_step_with_the_wall(monkeypatch):
    """A clock of its own stands for the wall: sleeping moves it."""
    wall = [100.0]
    slept = []

    def sleep(seconds):
        slept.append(seconds)
        wall[0] += seconds

    monkeypatch.setattr(simpy.rt, "monotonic", lambda: wall[0])
    monkeypatch.setattr(simpy.rt, "sleep", sleep)
    env = RealtimeEnvironment(factor=0.5)
    assert isinstance(env, simpy.rt.RealtimeEnvironment)
    system = LiveSystem(env, station_plan())
    seen = []

    def reader():
        for _ in range(3):
            yield env.timeout(1)
            yield system.read(0, 4096)
            seen.append((env.now, wall[0]))

    env.run(env.process(reader()))
    for number, (now, at) in enumerate(seen, 1):
        assert now == pytest.approx(number * (1 + 100e-6))
        assert at == pytest.approx(100 + 0.5 * now)
    assert system.result().rows[0].ios == 3


def test_a_realtime_environment_that_is_late_raises_when_strict(monkeypatch):
    wall = [0.0]

    def monotonic():
        wall[0] += 1
        return wall[0]

    monkeypatch.setattr(simpy.rt, "monotonic", monotonic)
    env = RealtimeEnvironment(factor=0.001)
    system = LiveSystem(env, station_plan())
    with pytest.raises(RuntimeError, match="too slow"):
        env.run(system.read(0, 4096))


def test_other_environments_are_refused_by_name():
    with pytest.raises(ValueError, match=r"RealtimeEnvironment"):
        LiveSystem(simpy.rt.RealtimeEnvironment(), DISK)


def test_erase_blocks_of_a_drive_that_is_written():
    """Uniform writes: of w units written, U (1 - exp(-w / U)) differ (the collector's problem)."""
    env = raidlab.Environment()
    live = raidlab.LiveSystem(
        env,
        {
            "array": [
                {"name": "ssd", "drives": [{"model": "teaching-ssd"}]},
                {"name": "disk", "drives": [{"model": "five"}]},
            ],
            "workload": [
                {"target": "ssd", "rw": "randwrite", "block_size": "4 KiB", "outstanding": 32}
            ],
        },
    )
    fresh = live.erase_blocks()
    assert fresh.states == ("free",) * 1024 and sum(fresh.valid) == 0
    env.run(until=0.5)
    now = live.erase_blocks(0, 0)
    written = live.result().rows[0].iops * 0.5
    units = 501747712 // 4096
    assert sum(now.valid) == pytest.approx(units * (1 - math.exp(-written / units)), rel=0.01)
    assert now.states.count("open") == now.dies == 8 and now.units == 128
    assert all(
        valid == 0 for state, valid in zip(now.states, now.valid, strict=True) if state == "free"
    )
    with pytest.raises(ValueError, match="no blocks"):
        live.erase_blocks(1)
    with pytest.raises(ValueError, match="0 to 0"):
        live.erase_blocks(0, 1)


def test_loads_beside_a_program_do_not_decide_how_its_flushes_go():
    """Linux sends none to a protected NVMe drive: a flush is the host's 4.5 us alone."""
    load = {"rw": "randread", "block_size": "4 KiB", "outstanding": 1, "area": "1 GB"}
    for loads in ([], [load]):
        env = Environment()
        drives = {"drives": [{"model": "p3700-800"}]}
        system = LiveSystem(env, {"array": [drives], "workload": loads})
        env.run(until=system.flush())
        assert env.now == pytest.approx(4.5e-6, abs=1e-9)
