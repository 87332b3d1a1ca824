"""Tenants of one server in SimPy: token buckets, then start-time fair queueing with a depth.

Times are whole nanoseconds. The rules are those of the textbooks, by other means than the engine's:
a bucket keeps its level and is filled at every look; requests get their tags as they arrive.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import simpy

Process = Generator[simpy.Event, Any, None]


def poisson(seed: int, per_s: float, count: int) -> list[int]:
    """Arrivals in nanoseconds, exponential gaps."""
    draws = np.random.default_rng(seed)
    return [int(at) for at in np.cumsum(draws.exponential(1e9 / per_s, count))]


def on_off(seed: int, per_s: float, on_ns: float, off_ns: float, count: int) -> list[int]:
    """A Poisson stream that is on and off for exponential times; `per_s` while it is on."""
    draws, found, begin = np.random.default_rng(seed), list[int](), 0.0
    while len(found) < count:
        end, at = begin + draws.exponential(on_ns), begin
        while (at := at + draws.exponential(1e9 / per_s)) < end:
            found.append(int(at))
        begin = end + draws.exponential(off_ns)
    return found[:count]


@dataclass
class Bucket:
    """Tokens flow in at one each `gap_ns`, up to `most`; full at first."""

    env: simpy.Environment
    gap_ns: int
    most: int
    level: Fraction = field(init=False)
    seen: int = 0

    def __post_init__(self) -> None:
        self.level = Fraction(self.most)

    def take(self) -> Process:
        """One token, when it is there. Callers come one after the other."""
        while True:
            now = int(self.env.now)
            flown = Fraction(now - self.seen, self.gap_ns)
            self.level, self.seen = min(Fraction(self.most), self.level + flown), now
            if self.level >= 1:
                self.level -= 1
                return
            yield self.env.timeout(-(-(1 - self.level) * self.gap_ns // 1))


@dataclass
class FairQueue:
    """SFQ(D) of Jin, Chase and Kaur (2004): virtual time is the last dispatched start tag.

    Behind an idle time it is the last finish tag (Goyal, Vin and Cheng, 1996).
    """

    env: simpy.Environment
    weights: Sequence[int]
    depth: int
    server: simpy.Resource = field(init=False)
    virtual: Fraction = Fraction(0)
    inside: int = 0

    def __post_init__(self) -> None:
        self.server = simpy.Resource(self.env, capacity=1)
        self.finish = [Fraction(0) for _ in self.weights]
        self.waiting: list[tuple[Fraction, int, int, simpy.Event]] = []
        self.arrived = 0

    def serve(self, tenant: int, service_ns: int) -> Process:
        if not self.waiting and not self.inside:
            self.virtual = max(self.finish)
        start = max(self.virtual, self.finish[tenant])
        self.finish[tenant] = start + Fraction(1, self.weights[tenant])
        entered = self.env.event()
        self.arrived += 1
        self.waiting.append((start, tenant, self.arrived, entered))
        self.dispatch()
        yield entered
        with self.server.request() as place:
            yield place
            yield self.env.timeout(service_ns)
        self.inside -= 1
        self.dispatch()

    def dispatch(self) -> None:
        while self.waiting and self.inside < self.depth:
            first = min(self.waiting)
            self.waiting.remove(first)
            self.virtual = first[0]
            self.inside += 1
            first[3].succeed()


def limited(arrivals: Sequence[int], gap_ns: int, most: int, service_ns: int) -> list[int]:
    """Response times of requests that pass a bucket in their order, then one server."""
    env = simpy.Environment()
    bucket, server = Bucket(env, gap_ns, most), simpy.Resource(env, capacity=1)
    door, took = simpy.Resource(env, capacity=1), [0] * len(arrivals)

    def request(at: int, number: int) -> Process:
        yield env.timeout(at)
        with door.request() as first:
            yield first
            yield from bucket.take()
        with server.request() as place:
            yield place
            yield env.timeout(service_ns)
        took[number] = int(env.now) - at

    for number, at in enumerate(arrivals):
        env.process(request(at, number))
    env.run()
    return took


def shared(
    arrivals: Sequence[Sequence[int]], weights: Sequence[int], depth: int, service_ns: int
) -> list[list[int]]:
    """Response times of the requests of each tenant of one server."""
    env = simpy.Environment()
    queue = FairQueue(env, weights, depth)
    took = [[0] * len(own) for own in arrivals]

    def request(tenant: int, number: int, at: int) -> Process:
        yield env.timeout(at)
        yield from queue.serve(tenant, service_ns)
        took[tenant][number] = int(env.now) - at

    for tenant, own in enumerate(arrivals):
        for number, at in enumerate(own):
            env.process(request(tenant, number, at))
    env.run()
    return took
