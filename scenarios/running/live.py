"""A storage system inside a SimPy environment.

Processes yield on `read`, `write`, `trim` and `flush`; a drive written in SimPy can stand in the
system among native ones.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping
from itertools import count
from numbers import Integral, Real
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import simpy

from raidlab.devices.faults import Faults
from raidlab.devices.plan_types import Plan
from raidlab.scenarios import _engine
from raidlab.scenarios.planning.events import ACTIONS, Event, drives_of, plan_actions
from raidlab.scenarios.planning.scenario import Scenario, scenario_of
from raidlab.scenarios.planning.traces import UNTIL_OVER_NS
from raidlab.scenarios.results.result import Result
from raidlab.scenarios.running.details import plan_of
from raidlab.scenarios.running.live_result import live_result
from raidlab.scenarios.spec.run_result import LogEntry
from raidlab.scenarios.spec.schema import SECTOR
from raidlab.sim.environment import Back, Environment, to_nanoseconds

__all__ = ["Command", "Completion", "EraseBlocks", "LiveSystem", "OutsideDrive", "StorageError"]

_OPS = ("read", "write", "trim", "flush")
_WHY = (
    "",
    "refused, since what it wants is lost or cannot be stored",
    "the power failed while it was in flight",
)


_TEN_YEARS = 10 * 365 * 86400
_SECONDS = "a number of seconds, 0 or more, at most ten years"


def _record_all(plan: Plan) -> None:
    """The environment says when a live system ends: everything is recorded."""
    plan["warm_up_ns"] = 0
    plan["duration_ns"] = UNTIL_OVER_NS
    plan["timeline_step_ns"] = 0
    plan["max_ios"] = 0
    plan["precision"] = 0.0
    plan["after_rebuild_ns"] = 0


class Command(NamedTuple):
    """A command that a drive written in SimPy has to serve."""

    op: str
    """read, write, trim or flush."""
    offset: int
    """First byte on the drive."""
    size: int
    """Number of bytes."""


class Completion(NamedTuple):
    """What a process gets when its I/O is complete."""

    op: str
    """read, write, trim or flush."""
    offset: int
    """First byte on the array."""
    size: int
    """Number of bytes."""
    latency: float
    """Seconds from issue to completion."""


class EraseBlocks(NamedTuple):
    """The erase blocks of an SSD at one instant: die by die, the blocks of a die side by side."""

    dies: int
    """Number of dies; each has the same number of blocks."""
    units: int
    """Mapping units that a block holds."""
    states: tuple[str, ...]
    """Of each block: free (erased), open (new data go there), closed (full; some of its data may be
    out of date) or emptying (garbage collection moves what is valid)."""
    valid: tuple[int, ...]
    """Mapping units of each block whose data are up to date."""
    erases: tuple[int, ...]
    """Of each block so far."""


class StorageError(Exception):
    """An I/O that failed; raised in the process that waits for it."""

    def __init__(self, completion: Completion, why: str) -> None:
        super().__init__(completion, why)
        self.completion = completion
        """What was asked, and how long it took to fail."""
        self.cut_off = why == _WHY[2]
        """True if the power failed: a write may have happened, or a part of it."""
        self._why = why

    def __str__(self) -> str:
        asked = self.completion
        return f"{asked.op} of {asked.size} bytes at {asked.offset}: {self._why}"


class OutsideDrive(Protocol):
    """A drive written in SimPy."""

    def serve(self, env: Environment, command: Command) -> Generator[simpy.Event, Any, Any]:
        """Serve a command: a SimPy process that ends when the command is done."""


class LiveSystem:
    """A system placed in an environment.

    Args:
        env: The environment whose clock drives the system, from its present time on.
        system: A scenario, the path of its file or what such a file holds, or a plan of the engine
            (JSON). Its workloads, if it has any, run as background load.
        drives: Drives written in SimPy, by the name of the native drive that each replaces, for
            example `data/generic-7200rpm.1`: second drive of the array `data`.
        follow_data: True to follow the versions of the data, so that things can fail (`happen`) and
            `data` says what became of them. A scenario with events does so anyway.
        seed: Replaces the scenario's own seed; from 0 to 2^63 - 1.
        slowest: This many of the slowest I/Os of each row of `result` are noted, up to 10,000.
        latency_map: Latencies over time: `latency_map` of `read` and `write` of each row.

    Recording begins at once: there is no warm-up, and no end but that of the environment.

    Raises:
        SpecError: Everything that is wrong with the scenario, or a drive name that is not in it.
        PlanError: Everything that is wrong with a plan.
        ValueError: `env` is another kind of environment, or the seed cannot be.
    """

    def __init__(
        self,
        env: Environment,
        system: Scenario | Mapping[str, object] | str | Path,
        drives: Mapping[str, OutsideDrive] | None = None,
        *,
        follow_data: bool = False,
        seed: int | None = None,
        slowest: int = 0,
        latency_map: bool = False,
    ) -> None:
        allowed = "a raidlab.Environment or raidlab.RealtimeEnvironment"
        _check("env", env, isinstance(env, Environment), allowed)
        may_be = seed is None or (_is_whole(seed) and int(seed) < 1 << 63)
        _check("seed", seed, may_be, "a whole number from 0 to 2^63 - 1")
        self.env = env
        self._scenario, plan = _plan(system, seed)
        if asked := plan_of(slowest=slowest, latency_map=latency_map):
            plan["details"] = asked
        _record_all(plan)
        plan, self._drives = _with_outside_drives(plan, drives or {})
        if follow_data:
            plan["data"] = True
        self._seed = int(plan["seed"]) if seed is None else int(seed)
        self._loads = plan["workloads"]
        self._arrays = plan["arrays"]
        self._plan = json.dumps(plan)
        self._engine = _engine.Simulation(self._plan)
        self._start = to_nanoseconds(env.now)
        self._waiting: dict[int, simpy.Event] = {}
        self._being_served = 0
        self._marks = count()
        env.attach(_Shifted(self._engine, self._start), self._on_back, self._is_awaited)

    def capacity(self, target: int | str = 0) -> int:
        """Bytes that an array offers."""
        return self._engine.capacity(self._array(target))

    def read(self, offset: int, size: int, target: int | str = 0) -> simpy.Event:
        """Read `size` bytes at `offset`; the event's value is a `Completion`.

        Raises:
            ValueError: They are no whole sectors of 512 bytes: I/Os are direct.
        """
        return self._submit(0, offset, size, target)

    def write(self, offset: int, size: int, target: int | str = 0) -> simpy.Event:
        """Write `size` bytes at `offset`; the event's value is a `Completion`.

        Raises:
            ValueError: They are no whole sectors of 512 bytes: I/Os are direct.
        """
        return self._submit(1, offset, size, target)

    def trim(self, offset: int, size: int, target: int | str = 0) -> simpy.Event:
        """Report that `size` bytes at `offset` are not needed any more.

        Raises:
            ValueError: The array has hard disks, which have no such command; no whole sectors.
        """
        return self._submit(2, offset, size, target)

    def flush(self, target: int | str = 0) -> simpy.Event:
        """Bring everything written so far to stable media."""
        return self._submit(3, 0, 0, target)

    def happen(
        self,
        action: str,
        target: int | str = 0,
        drive: int = 0,
        *,
        extra: float = 0.01,
        offset: int = 0,
        size: int = 4096,
        lasts: float = 60,
    ) -> None:
        """Let something happen now, as an event of a scenario would.

        Args:
            action: What, by its name in a scenario: fail-drive, slow-drive, unreadable-sectors,
                replace-drive, patrol-read, consistency-check, power-fail, battery-learn.
            target: The array, by name or number.
            drive: Which of its drives; spares are behind the others.
            extra: Of `slow-drive`: this many seconds longer for each command.
            offset: Of `unreadable-sectors`: first byte on the drive, whole sectors of 512.
            size: Of `unreadable-sectors`: number of bytes, whole sectors of 512.
            lasts: Of `power-fail` and `battery-learn`: for this many seconds.

        Raises:
            ValueError: It cannot happen in this system; what is allowed is named.
        """
        _check("action", action, action in ACTIONS, ", ".join(ACTIONS))
        array = self._array(target)
        drives = drives_of(self._arrays[array])
        last = len(drives) - 1
        there = _is_whole(drive) and drive <= last
        _check("drive", drive, there, f"0 to {last}, spares behind the others")
        _check("offset", offset, _is_whole(offset), "whole bytes, 0 or more")
        _check("size", size, _is_whole(size) and size > 0, "whole bytes, more than 0")
        if action == "unreadable-sectors":
            for name, value in (("offset", offset), ("size", size)):
                _check(name, value, value % 512 == 0, "a multiple of 512: whole sectors")
            end = json.loads(_engine.capacities(self._plan))[drives[drive]]
            _check("offset", offset, offset < end, f"0 to below {end}, on the drive")
        if action == "battery-learn":
            has_cache = any(array.get("cache") for array in self._arrays)
            _check("action", action, has_cache, "that of a controller whose cache is used")
        _check("extra", extra, _is_time(extra), _SECONDS)
        _check("lasts", lasts, _is_time(lasts), _SECONDS)
        event = Event(
            action,
            array,
            int(drive),
            to_nanoseconds(extra),
            int(offset),
            int(size),
            to_nanoseconds(lasts),
        )
        for what in plan_actions(event, self._arrays):
            if what["at_ns"]:
                later = self.env.timeout(what["at_ns"] / 1e9, json.dumps(what))
                later.callbacks.append(lambda event: self._act(event.value))
            else:
                self._act(json.dumps(what))

    def _act(self, action: str) -> None:
        self._catch_up()
        self._engine.act(action)

    def data(self) -> dict[str, int] | None:
        """What became of the data so far; None if the system does not follow them."""
        self._catch_up()
        data = self._engine.data()
        return None if data is None else json.loads(data)

    def erase_blocks(self, target: int | str = 0, drive: int = 0) -> EraseBlocks:
        """The erase blocks of an SSD as they are now.

        Looking costs the simulation nothing: nothing is recorded for it.

        Args:
            target: The array, by name or number.
            drive: Which of its drives; spares are behind the others.

        Raises:
            ValueError: There is no such drive, or it is no SSD of the engine's own.
        """
        drives = drives_of(self._arrays[self._array(target)])
        there = _is_whole(drive) and drive < len(drives)
        _check("drive", drive, there, f"0 to {len(drives) - 1}, spares behind the others")
        self._catch_up()
        found = self._engine.erase_blocks(drives[drive])
        if found is None:
            raise ValueError(f"drive = {drive!r}: allowed is an SSD; this drive has no blocks")
        blocks = json.loads(found)
        lists = (tuple(blocks[key]) for key in ("states", "valid", "erases"))
        return EraseBlocks(blocks["dies"], blocks["units"], *lists)

    def result(self) -> Result:
        """The outcome so far, as that of `simulate`: rates, utilisation, bottleneck, events.

        Rows are the scenario's workloads, if it has any, and `processes`: the I/Os of SimPy
        processes that are complete, one row for each array that had some. `outstanding` of these
        is 0, as of an open load. Times count from when the system was placed.
        """
        self._catch_up()
        outcome = json.loads(self._engine.report())
        return live_result(outcome, self._loads, self._scenario, self._seed)

    def rebuilding(self) -> list[float]:
        """Progress of the rebuilds that are under way: the share that is done, 0 to 1."""
        self._catch_up()
        shares: list[float] = json.loads(self._engine.report())["rebuilding"]
        return shares

    def events(self) -> list[LogEntry]:
        """What has happened so far: `t_s` (from the system's start) and `what`."""
        events: list[LogEntry] = json.loads(self._engine.log())
        return events

    def _catch_up(self) -> None:
        """The engine goes on to the environment's present time."""
        now = to_nanoseconds(self.env.now) - self._start
        while (back := self._engine.advance(now)) is not None:
            self._on_back(Back(*back))

    def _array(self, target: int | str) -> int:
        if isinstance(target, int):
            arrays = len(self._arrays)
            _check("target", target, target in range(arrays), f"0 to {arrays - 1}, or a name")
            return target
        _check("target", target, isinstance(target, str), "an array's name or number")
        index = self._engine.array(target)
        if index is None:
            names = ", ".join(array["name"] for array in self._arrays)
            raise ValueError(f"no array named {target!r} in this system: it has {names}")
        return index

    def _submit(self, op: int, offset: int, size: int, target: int | str) -> simpy.Event:
        array = self._array(target)
        for name, value in (("offset", offset), ("size", size)):
            may_be = _is_whole(value) and value < 1 << 63
            _check(name, value, may_be, "whole bytes, 0 or more, below 2^63")
            in_sectors = int(value) % SECTOR == 0
            _check(name, value, in_sectors, "whole sectors of 512 bytes: I/Os are direct")
        self._catch_up()
        mark = next(self._marks) % (1 << 31)
        event = self.env.event()
        self._engine.submit(array, op, offset, size, mark)
        self._waiting[mark] = event
        return event

    def _is_awaited(self) -> bool:
        return bool(self._waiting) or self._being_served > 0

    def _on_back(self, back: Back) -> None:
        if back.drive is not None:
            self._being_served += 1
            self.env.process(self._serve(back, back.drive))
            return
        latency = (back.at - back.issued) / 1e9
        completion = Completion(_OPS[back.op], back.offset, back.size, latency)
        waiting = self._waiting.pop(back.mark)
        if back.outcome:
            waiting.fail(StorageError(completion, _WHY[back.outcome]))
        else:
            waiting.succeed(completion)

    def _serve(self, back: Back, drive: int) -> Generator[simpy.Event, Any, None]:
        command = Command(_OPS[back.op], back.offset, back.size)
        yield from self._drives[drive].serve(self.env, command)
        self._catch_up()
        self._being_served -= 1
        self._engine.served(back.io)


def _check(name: str, value: object, holds: bool, allowed: str) -> None:  # noqa: FBT001
    """Raises ValueError for an argument with a value that is not allowed."""
    if not holds:
        raise ValueError(f"{name} = {value!r}: allowed is {allowed}")


def _is_whole(value: object) -> bool:
    """A count that is not negative; numpy's, too."""
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 0


def _is_time(value: object) -> bool:
    """Seconds that the engine's clock can count."""
    return isinstance(value, Real) and 0 <= float(value) <= _TEN_YEARS


def _plan(
    system: Scenario | Mapping[str, object] | str | Path, seed: int | None
) -> tuple[Scenario | None, Plan]:
    """The scenario, if it is one, and the plan of its first point."""
    if isinstance(system, str) and system.lstrip().startswith("{"):
        # Everything that is wrong with it is reported here, before anything of it is used.
        _engine.capacities(system)
        plan: Plan = json.loads(system)
        return None, plan if seed is None else {**plan, "seed": seed}
    scenario = scenario_of(system, outside=True)
    return scenario, scenario.plan(0, 0, seed)


def _with_outside_drives(
    plan: Plan, drives: Mapping[str, OutsideDrive]
) -> tuple[Plan, dict[int, OutsideDrive]]:
    """The plan with drives replaced by outside ones of the same size, and those by index."""
    names = [drive["name"] for drive in plan["drives"]]
    faults = Faults("")
    served = {}
    # The sizes of the drives that are replaced, from the models that they had.
    sizes = json.loads(_engine.capacities(json.dumps(plan))) if drives else []
    for name, drive in drives.items():
        if name not in names:
            faults.add("drives", name, f"a drive of the system: {', '.join(names)}", names)
            continue
        index = names.index(name)
        served[index] = drive
        plan["drives"][index]["device"] = len(plan["devices"])
        plan["devices"].append({"kind": "external", "capacity_bytes": sizes[index]})
    faults.raise_if_any()
    return plan, served


class _Shifted:
    """An engine that was started when the environment's clock stood at `start` ns."""

    def __init__(self, engine: _engine.Simulation, start: int) -> None:
        self._engine = engine
        self._start = start

    @property
    def now(self) -> int:
        return self._engine.now + self._start

    def peek(self) -> int | None:
        at = self._engine.peek()
        return None if at is None else at + self._start

    def advance(
        self, limit: int
    ) -> tuple[int, int | None, int, int, int, int, int, int, int] | None:
        back = self._engine.advance(limit - self._start)
        if back is None:
            return None
        io, drive, op, offset, size, mark, at, issued, outcome = back
        at, issued = at + self._start, issued + self._start
        return (io, drive, op, offset, size, mark, at, issued, outcome)
