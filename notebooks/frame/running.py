"""Simulations for rooms, remembered, so that a slider moved back answers at once."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, partial
from typing import Any

import raidlab

_KEPT = 512
"""Results that a process remembers."""
_TRACES = 16
"""And traces, which are larger."""


def run(scenario: Mapping[str, Any], seed: int) -> raidlab.Result:
    """Simulates a scenario.

    Raises:
        SpecError: It cannot be run.
    """
    return _run(json.dumps(scenario, sort_keys=True), seed)


def run_all(scenarios: Sequence[Mapping[str, Any]], seed: int) -> list[raidlab.Result]:
    """Simulates several scenarios side by side.

    Raises:
        SpecError: One cannot be run.
    """
    with ThreadPoolExecutor() as pool:
        return list(pool.map(partial(run, seed=seed), scenarios))


def traced(scenario: Mapping[str, Any], seed: int, ios: int) -> Sequence[Mapping[str, Any]]:
    """The first I/Os of a simulation with their stages, as in `Result.ios`.

    Raises:
        SpecError: It cannot be run.
    """
    return _traced(json.dumps(scenario, sort_keys=True), seed, ios)


@lru_cache(maxsize=_TRACES)
def _traced(scenario: str, seed: int, ios: int) -> Sequence[Mapping[str, Any]]:
    return raidlab.simulate(json.loads(scenario), seed=seed, trace_ios=ios).ios or ()


@lru_cache(maxsize=_KEPT)
def _run(scenario: str, seed: int) -> raidlab.Result:
    return raidlab.simulate(json.loads(scenario), seed=seed)
