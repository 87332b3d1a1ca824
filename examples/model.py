"""What do users notice while a nightly backup reads the array? A SimPy model around raidlab.

$ python examples/model.py
"""

import random

import raidlab

PAGES, PAGE, CHUNK = 2_000_000, 8192, 1 << 20
SYSTEM = {
    "controller": {"model": "lsi2208-1g-3.0"},
    "array": [{"level": "raid10", "drives": [{"model": "generic-7200rpm", "count": 8}]}],
}


def users(env, system, latencies):
    """Read one page after the other, with a pause in between."""
    draw = random.Random(1)
    while True:
        done = yield system.read(draw.randrange(PAGES) * PAGE, PAGE)
        latencies.append((env.now, done.latency))
        yield env.timeout(draw.expovariate(1 / 0.005))


def backup(env, system, start):
    """Read the array from its first byte on, as fast as it goes."""
    yield env.timeout(start)
    offset = 0
    while True:
        yield system.read(offset, CHUNK)
        offset += CHUNK


env, latencies = raidlab.Environment(), []
system = raidlab.LiveSystem(env, SYSTEM)
env.process(users(env, system, latencies))
env.process(backup(env, system, start=20))
env.run(until=40)
for name, low, high in (("before", 0, 20), ("during", 20, 40)):
    times = [latency for at, latency in latencies if low <= at < high]
    print(f"{name} the backup: mean latency {1e3 * sum(times) / len(times):.1f} ms")

# Output, 80 columns wide:
#
#   before the backup: mean latency 5.3 ms
#   during the backup: mean latency 5.6 ms
