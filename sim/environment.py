"""SimPy's clock and the native one as one.

`Environment` is a `simpy.Environment` whose time is in seconds. Native systems that are attached
to it keep their own calendars in whole nanoseconds; each step handles whichever event is due
next, native ones first among equals. While no SimPy event is due, a native system runs at
full speed, with the interpreter lock released.

A SimPy time counts as the nearest nanosecond. SimPy's clock is a double of seconds: it tells every
nanosecond from its neighbours up to 2**22 s, which is 48.5 days of simulated time.
"""

from __future__ import annotations

import atexit
from collections.abc import Callable, Generator
from contextlib import suppress
from typing import Any, NamedTuple, Protocol
from weakref import WeakSet

import simpy
from simpy.core import EmptySchedule, Infinity
from simpy.rt import RealtimeEnvironment as SimpyRealtime

__all__ = ["Back", "Environment", "NativeEngine", "RealtimeEnvironment", "to_nanoseconds"]

#: Native time that is run between two looks at Ctrl-C, in nanoseconds.
SLICE = 1_000_000_000


class Back(NamedTuple):
    """What a native engine hands back to SimPy."""

    io: int
    """The engine's number of the I/O."""
    drive: int | None
    """The drive whose outside model must serve it; None if it is complete."""
    op: int
    """0 read, 1 write, 2 trim, 3 flush."""
    offset: int
    """First byte."""
    size: int
    """Number of bytes."""
    mark: int
    """The caller's own number of an I/O that it submitted."""
    at: int
    """When it happened, ns."""
    issued: int
    """When the I/O was issued, ns."""
    outcome: int
    """0 done, 1 refused, 2 cut off by a power failure."""


class NativeEngine(Protocol):
    """What the environment needs of a native engine; all times in nanoseconds."""

    @property
    def now(self) -> int:
        """The engine's clock."""

    def peek(self) -> int | None:
        """When something is due next."""

    def advance(
        self, limit: int
    ) -> tuple[int, int | None, int, int, int, int, int, int, int] | None:
        """Go on until something comes back or the clock reaches `limit`."""


class Attachment(NamedTuple):
    """An attached engine and what its owner wants to know and report."""

    engine: NativeEngine
    on_back: Callable[[Back], None]
    awaited: Callable[[], bool]


def to_nanoseconds(seconds: float) -> int:
    """Give the whole nanosecond nearest to a SimPy time."""
    return round(seconds * 1e9)


_processes: WeakSet[Generator[simpy.Event, Any, Any]] = WeakSet()
"""Of all environments, those that have not ended."""


@atexit.register
def _close() -> None:
    """Ends processes with the program, while it can still import and print.

    Python does it otherwise, when modules are half gone: what a process does in `finally` or
    `except` fails then, with a traceback.
    """
    for process in list(_processes):
        with suppress(Exception):
            process.close()


class Environment(simpy.Environment):
    """A SimPy environment, in seconds, that also advances native systems.

    Without native systems it behaves exactly as `simpy.Environment` does. Processes that have not
    ended are closed when the program ends: `GeneratorExit` is raised where they wait.
    """

    def __init__(self, initial_time: float = 0) -> None:
        simpy.Environment.__init__(self, initial_time)
        self._attached: list[Attachment] = []

    def process(self, generator: Generator[simpy.Event, Any, Any]) -> simpy.Process:
        """Begin a process."""
        process = simpy.Process(self, generator)
        _processes.add(generator)
        return process

    def attach(
        self,
        engine: NativeEngine,
        on_back: Callable[[Back], None],
        awaited: Callable[[], bool],
    ) -> None:
        """Let this environment's clock drive `engine`.

        `on_back` is called with whatever the engine hands back, with the clock at that time.
        `awaited` says whether a process still waits for the engine: background load alone
        does not keep a simulation going, as an idle process does not keep SimPy's.
        """
        self._attached.append(Attachment(engine, on_back, awaited))

    def _native_due(self) -> tuple[int, Attachment] | None:
        due = None
        for attached in self._attached:
            at = attached.engine.peek()
            if at is not None and (due is None or at < due[0]):
                due = (at, attached)
        return due

    def peek(self) -> float:
        """Give the time of the next event, SimPy's or native, in seconds."""
        due = self._native_due()
        native = Infinity if due is None else due[0] / 1e9
        return float(min(super().peek(), native))

    def step(self) -> None:
        """Handle the next SimPy event, or let a native system go on until then.

        Raises `simpy.core.EmptySchedule` if no SimPy event is due and no process waits for a
        native system.
        """
        simpy_at = super().peek()
        due = self._native_due()
        if due is None or (simpy_at != Infinity and due[0] > to_nanoseconds(simpy_at)):
            super().step()
            return
        if simpy_at == Infinity and not any(a.awaited() for a in self._attached):
            raise EmptySchedule
        at, attached = due
        limit = at + SLICE
        if simpy_at != Infinity:
            limit = min(limit, to_nanoseconds(simpy_at))
        for other in self._attached:
            if other is not attached and (next_at := other.engine.peek()) is not None:
                limit = min(limit, next_at)
        back = attached.engine.advance(limit)
        if back is None:
            return
        handed = Back(*back)
        self._now = max(self._now, min(handed.at / 1e9, simpy_at))
        attached.on_back(handed)


class RealtimeEnvironment(Environment, SimpyRealtime):
    """An `Environment` that runs in step with the clock on the wall.

    Events of SimPy wait for their time; a native system computes ahead of it, at most up to the
    next of them, and what it completes is handed to processes at its time.

    Args:
        initial_time: Seconds of simulated time at the start.
        factor: Seconds on the wall for a simulated one.
        strict: True to raise RuntimeError when the simulation is late by more than `factor`.
    """

    def __init__(
        self, initial_time: float = 0, factor: float = 1.0, *, strict: bool = True
    ) -> None:
        SimpyRealtime.__init__(self, initial_time, factor, strict)
        self._attached = []
