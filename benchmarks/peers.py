"""The benchmark's systems in pure SimPy: what a simulation without a native core costs.

Each builds the stages that an I/O of the system passes (host, link, drive) as SimPy resources
with the mean times of the native run, so that both do the same number of waits.
"""

from __future__ import annotations

import random
import time

import simpy


def closed_loop(
    outstanding: int,
    drives: int,
    drive_seconds: float,
    commands: int = 1,
    ios: int = 20_000,
) -> float:
    """I/Os a second of wall time: a host thread, `drives` first-come drives, a link."""
    env = simpy.Environment()
    host = simpy.Resource(env)
    link = simpy.Resource(env)
    arms = [simpy.Resource(env) for _ in range(drives)]
    draw = random.Random(1)
    done = 0

    def use(resource: simpy.Resource, seconds: float):
        with resource.request() as place:
            yield place
            yield env.timeout(seconds)

    def command(arm: simpy.Resource):
        yield from use(arm, drive_seconds * 2 * draw.random())
        yield from use(link, 1e-6)

    def slot():
        nonlocal done
        while done < ios:
            yield from use(host, 1e-6)
            chosen = [draw.choice(arms) for _ in range(commands)]
            if commands == 1:
                yield from command(chosen[0])
            else:
                yield env.all_of([env.process(command(arm)) for arm in chosen])
            done += 1

    for _ in range(outstanding):
        env.process(slot())
    start = time.perf_counter()
    env.run()
    return done / (time.perf_counter() - start)
