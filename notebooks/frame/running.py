"""Simulations for rooms, remembered, so that a slider moved back answers at once."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from functools import partial
from typing import Any, Final

import raidlab
from raidlab.notebooks.frame.memory import Memory
from raidlab.scenarios.results.row import IoRow
from raidlab.scenarios.running.simulate import results_of

KEPT_RESULTS: Final = 512
"""Results that a process remembers."""
KEPT_TRACES: Final = 16
"""And traces, which are larger."""


class GivenUpError(Exception):
    """What was simulated ahead is not wanted any more."""


_wanted: ContextVar[Callable[[], bool] | None] = ContextVar("wanted", default=None)
_shown: ContextVar[Callable[[int, int], None]] = ContextVar("shown", default=lambda done, of: None)


def progress(done: int, of: int) -> None:
    """Shows a visitor who waits how many steps of a long answer are done."""
    _shown.get()(done, of)


@contextmanager
def showing(show: Callable[[int, int], None]) -> Iterator[None]:
    """Progress of what runs inside goes to `show`."""
    token = _shown.set(show)
    try:
        yield
    finally:
        _shown.reset(token)


@contextmanager
def in_background(wanted: Callable[[], bool]) -> Iterator[None]:
    """What runs inside takes one core, and is given up between two runs once it is not wanted.

    Raises:
        GivenUpError: It is not wanted.
    """
    token = _wanted.set(wanted)
    try:
        yield
    finally:
        _wanted.reset(token)


def workers() -> int | None:
    """Threads that a simulation may have now: None for one a core."""
    wanted = _wanted.get()
    if wanted is None:
        return None
    if not wanted():
        raise GivenUpError
    return 1


def run(scenario: Mapping[str, object], seed: int) -> raidlab.Result:
    """Simulates a scenario.

    Raises:
        SpecError: It cannot be run.
    """
    key = json.dumps(scenario, sort_keys=True)
    return _results.of((key, seed), partial(_simulated, key, seed))


def run_all(scenarios: Sequence[Mapping[str, object]], seed: int) -> list[raidlab.Result]:
    """Simulates several scenarios side by side.

    Raises:
        SpecError: One cannot be run.
    """
    return at_once(*(partial(run, scenario, seed) for scenario in scenarios))


def at_once(*jobs: Callable[[], Any]) -> list[Any]:
    """Answers of several functions that run side by side.

    Raises:
        SpecError: One cannot be answered.
    """
    with ThreadPoolExecutor(workers()) as pool:
        # Each thread knows what this one does: whose progress is shown, and who waits.
        return [each.result() for each in [pool.submit(copy_context().run, job) for job in jobs]]


def traced(scenario: Mapping[str, object], seed: int, ios: int) -> Sequence[IoRow]:
    """The first I/Os of a simulation with their stages, as in `Result.ios`.

    Raises:
        SpecError: It cannot be run.
    """
    return recorded(scenario, seed, ios).ios or ()


def recorded(scenario: Mapping[str, object], seed: int, ios: int) -> raidlab.Result:
    """Simulates a scenario and follows its first I/Os: the rows are those of `run`.

    Raises:
        SpecError: It cannot be run.
    """
    key = json.dumps(scenario, sort_keys=True)
    return _traces.of((key, seed, ios), partial(_simulated, key, seed, trace_ios=ios))


_results: Memory[raidlab.Result] = Memory(KEPT_RESULTS)
_traces: Memory[raidlab.Result] = Memory(KEPT_TRACES)


def _simulated(scenario: str, seed: int, trace_ios: int = 0) -> raidlab.Result:
    written = json.loads(scenario)
    if trace_ios:
        return raidlab.simulate(written, seed=seed, workers=workers(), trace_ios=trace_ios)
    # No room shows intervals: SSDs with a past take half of the time without theirs.
    built = [raidlab.build_scenario(written)]
    (result,) = results_of(built, seed, workers=workers(), heeds_past=False)
    return result
