"""SimPy and the native engine under one clock, against pure SimPy models."""

import random
from collections.abc import Callable, Generator
from typing import Any

import pytest
import simpy

from raidlab.devices.faults import SpecError
from raidlab.scenarios.running.live import Command, LiveSystem
from raidlab.sim.environment import Environment
from tests.reference.models import FirstComeDisk, MirroredPair, Raid0
from tests.reference.plans import closed_load, station_plan

Access = Callable[[str, int, int], Generator[simpy.Event, Any, None]]
Request = tuple[int, str, int, int]


def arrivals(seed: int, n: int = 300) -> list[Request]:
    """(arrival ns, op, offset, size) of random requests, busy enough to queue."""
    draw = random.Random(seed)
    at, out = 0, []
    for _ in range(n):
        at += draw.randrange(0, 120_000)
        op = draw.choice(["read", "write"])
        size = draw.choice([512, 4096, 65536, 200_192])
        out.append((at, op, draw.randrange(0, 1 << 20, 512), size))
    return out


def native(plan: str, requests: list[Request]) -> list[int]:
    env = Environment()
    system = LiveSystem(env, plan)
    ends = [0] * len(requests)

    def one(index: int, request: Request) -> Generator[simpy.Event, Any, None]:
        at, op, offset, size = request
        yield env.timeout(at / 1e9)
        yield getattr(system, op)(offset, size)
        ends[index] = round(env.now * 1e9)

    for index, request in enumerate(requests):
        env.process(one(index, request))
    env.run()
    return ends


def reference(make: Callable[[simpy.Environment], Access], requests: list[Request]) -> list[int]:
    env = simpy.Environment()
    access = make(env)
    ends = [0] * len(requests)

    def one(index: int, request: Request) -> Generator[simpy.Event, Any, None]:
        at, op, offset, size = request
        yield env.timeout(at)
        yield env.process(access(op, offset, size))
        ends[index] = int(env.now)

    for index, request in enumerate(requests):
        env.process(one(index, request))
    env.run()
    return ends


def disks(env: simpy.Environment, n: int) -> list[FirstComeDisk]:
    return [FirstComeDisk(env, 100_000) for _ in range(n)]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_first_come_disk_is_met_exactly(seed: int) -> None:
    requests = arrivals(seed)
    expected = reference(lambda env: Raid0(env, disks(env, 1), 65536).access, requests)
    assert native(station_plan(), requests) == expected


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("drives", [2, 3, 8])
def test_raid0_over_fixed_time_drives_is_met_exactly(drives: int, seed: int) -> None:
    requests = arrivals(seed)
    expected = reference(lambda env: Raid0(env, disks(env, drives), 65536).access, requests)
    assert native(station_plan(drives, "raid0"), requests) == expected


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_mirrored_pair_is_met_exactly(seed: int) -> None:
    # Equal loads and equal positions: the native choice goes on to nearness, so the reference
    # is compared for one outstanding request at a time and for writes.
    requests = [(at * 10, op, offset, size) for at, op, offset, size in arrivals(seed)]
    writes = [(at, "write", offset, size) for at, _, offset, size in arrivals(seed)]
    for load in (requests, writes):
        expected = reference(lambda env: MirroredPair(env, disks(env, 2)).access, load)
        assert native(station_plan(2, "raid1"), load) == expected


def test_it_is_a_simpy_environment() -> None:
    env = Environment()
    assert isinstance(env, simpy.Environment)
    log = []

    def clock(name: str, tick: float) -> Generator[simpy.Event, Any, None]:
        while True:
            log.append((name, env.now))
            yield env.timeout(tick)

    env.process(clock("fast", 0.5))
    env.process(clock("slow", 1))
    env.run(until=1.75)
    assert log == [
        ("fast", 0), ("slow", 0), ("fast", 0.5), ("slow", 1), ("fast", 1.0), ("fast", 1.5),
    ]  # fmt: skip
    assert env.now == 1.75


def test_background_load_slows_a_process_down_and_does_not_keep_the_run_going() -> None:
    latencies = []
    for outstanding in (0, 4):
        workloads = [closed_load(outstanding)] if outstanding else []
        env = Environment()
        system = LiveSystem(env, station_plan(workloads=workloads))

        def reader(env: Environment = env, system: LiveSystem = system) -> Any:
            yield env.timeout(0.5)
            done = yield system.read(0, 4096)
            latencies.append(done.latency)

        env.process(reader())
        env.run()
    assert latencies[0] == pytest.approx(100e-6)
    # Four I/Os stand before it: one of them in service for the whole of its 100 us.
    assert latencies[1] == pytest.approx(500e-6)


def test_a_system_can_be_placed_when_the_clock_has_advanced() -> None:
    env = Environment(initial_time=3)

    def late() -> Any:
        yield env.timeout(2)
        system = LiveSystem(env, station_plan())
        done = yield system.write(4096, 512)
        return done.latency, env.now

    assert env.run(env.process(late())) == (pytest.approx(100e-6), pytest.approx(5.0001))


class SlowDrive:
    """A drive of one's own: 2 ms a command, one at a time."""

    def __init__(self, env: Environment) -> None:
        self.arm = simpy.Resource(env)
        self.log: list[Command] = []

    def serve(self, env: Environment, command: Command) -> Generator[simpy.Event, Any, None]:
        self.log.append(command)
        with self.arm.request() as granted:
            yield granted
            yield env.timeout(0.002)


def test_a_drive_of_ones_own_stands_in_a_mirror() -> None:
    env = Environment()
    slow = SlowDrive(env)
    system = LiveSystem(env, station_plan(2, "raid1"), {"drive 1": slow})

    def process() -> Any:
        write = yield system.write(8192, 4096)
        read = yield system.read(8192, 4096)
        return write.latency, read.latency

    write, read = env.run(env.process(process()))
    # A write waits for the slower copy, and shows how slow it is; the read goes to the other one.
    assert (write, read) == (pytest.approx(0.002), pytest.approx(100e-6))
    assert slow.log == [Command("write", 8192, 4096)]


def test_a_mirror_learns_how_fast_a_drive_of_ones_own_is() -> None:
    """Nothing is known of it before its first completion, so it serves the first read."""
    env = Environment()
    slow = SlowDrive(env)
    system = LiveSystem(env, station_plan(2, "raid1"), {"drive 1": slow})

    def process() -> Any:
        latencies = []
        for _ in range(5):
            latencies.append((yield system.read(8192, 4096)).latency)
        return latencies

    assert env.run(env.process(process())) == pytest.approx([0.002] + 4 * [100e-6])
    assert len(slow.log) == 1


def test_an_io_outside_the_array_is_refused() -> None:
    env = Environment()
    system = LiveSystem(env, station_plan())
    with pytest.raises(ValueError, match="the array holds 1073741824"):
        system.read(1 << 30, 512)
    with pytest.raises(ValueError, match="no array named 'dat'"):
        system.read(0, 512, target="dat")


def test_a_misspelt_drive_is_named_with_the_nearest_one() -> None:
    with pytest.raises(SpecError, match="drive 1"):
        LiveSystem(Environment(), station_plan(2, "raid1"), {"drive1": SlowDrive(Environment())})
