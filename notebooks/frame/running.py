"""Simulations for rooms, remembered, so that a slider moved back answers at once."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache, partial
from typing import Any

import raidlab
from raidlab.scenarios.results.row import IoRow

_KEPT_RESULTS = 512
"""Results that a process remembers."""
_TRACES = 16
"""And traces, which are larger."""


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


def run(scenario: Mapping[str, object], seed: int) -> raidlab.Result:
    """Simulates a scenario.

    Raises:
        SpecError: It cannot be run.
    """
    return _run(json.dumps(scenario, sort_keys=True), seed)


def run_all(scenarios: Sequence[Mapping[str, object]], seed: int) -> list[raidlab.Result]:
    """Simulates several scenarios side by side.

    Raises:
        SpecError: One cannot be run.
    """
    with ThreadPoolExecutor() as pool:
        return list(pool.map(partial(run, seed=seed), scenarios))


def at_once(*jobs: Callable[[], Any]) -> list[Any]:
    """Answers of several functions that run side by side.

    Raises:
        SpecError: One cannot be answered.
    """
    with ThreadPoolExecutor() as pool:
        return [each.result() for each in [pool.submit(job) for job in jobs]]


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
    return _recorded(json.dumps(scenario, sort_keys=True), seed, ios)


@lru_cache(maxsize=_TRACES)
def _recorded(scenario: str, seed: int, ios: int) -> raidlab.Result:
    return raidlab.simulate(json.loads(scenario), seed=seed, trace_ios=ios)


@lru_cache(maxsize=_KEPT_RESULTS)
def _run(scenario: str, seed: int) -> raidlab.Result:
    return raidlab.simulate(json.loads(scenario), seed=seed)
