"""Flushes of an array as md passes them on: a worker before the members' flushes, one behind them.

After drivers/md/md.c: `md_flush_request`, `submit_flushes`, `md_submit_flush_data`. Times in whole
nanoseconds.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import simpy

from raidlab.devices.plan_types import FlushOrder
from tests.reference.models import Process

COMMAND_NS = 100_000
"""Of a write and of a member's flush, beside all others."""


@dataclass
class Array:
    """Flushes of an array in the host."""

    env: simpy.Environment
    order: FlushOrder
    hand_ns: int
    under_way: bool = False
    waiting: list[simpy.Event] = field(default_factory=list)

    def flush(self) -> Process:
        """A caller flushes the array."""
        if self.order == "together":
            yield self.env.timeout(COMMAND_NS + 2 * self.hand_ns)
            return
        if self.under_way:
            turn = self.env.event()
            self.waiting.append(turn)
            is_over = yield turn
            if is_over:
                return
        self.under_way = True
        yield self.env.timeout(self.hand_ns)
        riders: list[simpy.Event] = []
        if self.order == "batches":
            riders, self.waiting = self.waiting, []
        yield self.env.timeout(COMMAND_NS + self.hand_ns)
        self.under_way = False
        for rider in riders:
            rider.succeed(True)
        if self.waiting:
            self.under_way = True
            self.waiting.pop(0).succeed(False)

    def caller(self, think_ns: int, latencies: list[int]) -> Process:
        """Writes, flushes, thinks, for ever."""
        while True:
            begin = self.env.now
            yield self.env.timeout(COMMAND_NS)
            yield self.env.process(self.flush())
            latencies.append(int(self.env.now - begin))
            yield self.env.timeout(think_ns)


def callers(
    order: FlushOrder, hand_ns: int, thinks_ns: list[int], until_ns: int
) -> list[list[int]]:
    """Latencies in nanoseconds of each caller's writes that are durable before `until_ns`."""
    env = simpy.Environment()
    array = Array(env, order, hand_ns)
    found: list[list[int]] = [[] for _ in thinks_ns]
    for think, latencies in zip(thinks_ns, found, strict=True):
        env.process(array.caller(think, latencies))
    env.run(until_ns)
    return found
