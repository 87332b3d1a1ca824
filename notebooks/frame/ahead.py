"""Answers that a visitor may ask for next, made while the present one is looked at."""

from __future__ import annotations

import atexit
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from threading import Condition, Thread
from typing import Final

from raidlab.notebooks.frame.room import FOLDER, Control, Room, Value, Values
from raidlab.notebooks.frame.running import in_background

PATIENCE_S: Final = 8.0
"""For so long after a question its neighbours are simulated."""
LEAVES_S: Final = 2.0
"""That a program which ends waits for a run under way."""
Job = Callable[[], object]


def neighbours(room: Room, values: Values, before: Values | None) -> Iterator[dict[str, Value]]:
    """Settings that differ from this one in one control, the likeliest first.

    The control that was moved last goes on as it went; then the nearest positions of all, then
    the settings that answer the questions of "what to notice", and the rest of each slider.

    Args:
        room: The room.
        values: The setting that is looked at.
        before: The one that was looked at before it.
    """
    moved = [
        each
        for each in room.controls
        if before is not None and before.get(each.name) != values[each.name]
    ]
    ahead = [
        (control, at + (1 if at > _place(control, before) else -1))
        for control in moved
        for at in [_place(control, values)]
        if before is not None
    ]
    steps = [
        (control, _place(control, values) + sign * distance)
        for distance in range(1, max(len(each.values) for each in room.controls))
        for control in [*moved, *(each for each in room.controls if each not in moved)]
        for sign in (1, -1)
    ]
    near = 2 * len(room.controls)
    yield from _set(values, ahead + steps[:near])
    yield from (room.start | dict(claim.at) for claim in room.notice)
    yield from _set(values, steps[near:])


def _place(control: Control, values: Values) -> int:
    return list(control.values).index(values[control.name])


def _set(values: Values, steps: Sequence[tuple[Control, int]]) -> Iterator[dict[str, Value]]:
    for control, at in steps:
        if 0 <= at < len(control.values):
            yield dict(values) | {control.name: control.values[at]}


class Ahead:
    """One thread that does what may be asked for next; a new list replaces the old one."""

    def __init__(self) -> None:
        self._change = Condition()
        self._jobs: Iterator[Job] = iter(())
        self._until = 0.0
        self._round = 0
        self._thread: Thread | None = None

    def look(self, jobs: Iterable[Job], patience_s: float = PATIENCE_S) -> None:
        """Does these jobs in their order, for as long as nobody stops it."""
        with self._change:
            self._round += 1
            self._jobs, self._until = iter(jobs), time.monotonic() + patience_s
            if self._thread is None:
                self._thread = Thread(target=self._work, name="raidlab-ahead", daemon=True)
                self._thread.start()
                atexit.register(self._leave)
            self._change.notify()

    def stop(self) -> None:
        """A visitor waits: what is under way ends with its present run, the rest is dropped."""
        self.look(())

    def _leave(self) -> None:
        with self._change:
            self._until = -1.0
            self._jobs, thread = iter(()), self._thread
            self._round += 1
            self._change.notify()
        if thread is not None:
            thread.join(LEAVES_S)

    def _work(self) -> None:
        while True:
            with self._change:
                job, own = next(self._jobs, None), self._round
                if job is None or time.monotonic() > self._until:
                    if self._until < 0:
                        return
                    self._jobs = iter(())
                    self._change.wait()
                    continue
            self._do(job, own)

    def _do(self, job: Job, own: int) -> None:
        def wanted() -> bool:
            return own == self._round

        try:
            with in_background(wanted):
                job()
        except Exception:
            # Who asks for it hears of it.
            pass


AHEAD: Final = Ahead()
"""Of this process."""


def may_be_kept(values: Mapping[str, Value]) -> bool:
    """False where an answer depends on files, which may change."""
    return not values.get(FOLDER)
