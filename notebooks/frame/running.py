"""Simulations for rooms, remembered, so that a slider moved back answers at once."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import raidlab

_KEPT = 512
"""Results that a process remembers."""


def run(scenario: Mapping[str, Any], seed: int) -> raidlab.Result:
    """Simulates a scenario.

    Raises:
        SpecError: It cannot be run.
    """
    return _run(json.dumps(scenario, sort_keys=True), seed)


@lru_cache(maxsize=_KEPT)
def _run(scenario: str, seed: int) -> raidlab.Result:
    return raidlab.simulate(json.loads(scenario), seed=seed)
