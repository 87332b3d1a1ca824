"""A database process on a RAID 10, and a nightly backup beside it.

Run it: python docs/examples/database_and_backup.py
"""

import random

import raidlab


def database(env, system, latencies):
    """One transaction after the other: read two pages, change one, wait for the log."""
    draw = random.Random(1)
    while True:
        for op in (system.read, system.read, system.write):
            done = yield op(draw.randrange(0, 4_000_000) * 8192, 8192)
            latencies.append((env.now, done.latency))
        yield env.timeout(draw.expovariate(1 / 0.005))


def backup(env, system, starts, length):
    """At its hour, read the array from the front as fast as it goes."""
    yield env.timeout(starts)
    offset = 0
    while env.now < starts + length:
        yield system.read(offset, 1 << 20)
        offset += 1 << 20


def run(scenario="docs/examples/database_on_raid10.toml"):
    """Give the mean transaction I/O latency in ms before and during the backup."""
    env, latencies = raidlab.Environment(), []
    system = raidlab.LiveSystem(env, scenario)
    env.process(database(env, system, latencies))
    env.process(backup(env, system, starts=60, length=60))
    env.run(until=120)
    before = [latency for at, latency in latencies if at < 60]
    during = [latency for at, latency in latencies if at >= 60]
    return sum(before) / len(before) * 1e3, sum(during) / len(during) * 1e3


if __name__ == "__main__":
    print("mean latency before {:.2f} ms, during the backup {:.2f} ms".format(*run()))
