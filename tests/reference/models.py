"""Small SimPy models of single mechanisms, which the native engine must meet.

Times in whole nanoseconds, so that deterministic service can be compared exactly.
"""

from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any

import simpy

Process = Generator[simpy.Event, Any, None]


@dataclass
class FirstComeDisk:
    """One server, first come first served, a fixed time a command."""

    env: simpy.Environment
    service_ns: int
    arm: simpy.Resource = field(init=False)

    def __post_init__(self) -> None:
        self.arm = simpy.Resource(self.env, capacity=1)

    def serve(self) -> Process:
        with self.arm.request() as granted:
            yield granted
            yield self.env.timeout(self.service_ns)

    def load(self) -> int:
        return len(self.arm.users) + len(self.arm.queue)


@dataclass
class Raid0:
    """Stripe units over fixed-time drives; a request ends with its last command."""

    env: simpy.Environment
    drives: list[FirstComeDisk]
    unit: int

    def access(self, _op: str, offset: int, size: int) -> Process:
        first, last = offset // self.unit, (offset + size - 1) // self.unit
        touched = sorted({unit % len(self.drives) for unit in range(first, last + 1)})
        yield self.env.all_of([self.env.process(self.drives[drive].serve()) for drive in touched])


@dataclass
class MirroredPair:
    """A write goes to both drives, a read to the one with fewer commands, the first if equal."""

    env: simpy.Environment
    drives: list[FirstComeDisk]

    def access(self, op: str, _offset: int, _size: int) -> Process:
        if op == "write":
            yield self.env.all_of([self.env.process(d.serve()) for d in self.drives])
        else:
            yield self.env.process(min(self.drives, key=FirstComeDisk.load).serve())
