"""Callers that write and sync one after the other: the engine's latencies beside expected ones."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from raidlab.scenarios import _engine
from tests.reference.plans import closed_load

THINKS = [17_389, 23_011, 40_009, 61_027, 90_001, 131_071, 150_001]
"""Pauses of the callers between two calls, in ns: none divides another."""
SECOND = 10**9


def assert_as_expected(
    plan: dict[str, Any], expected: Sequence[Sequence[int]], *, times: bool, allocates: bool
) -> None:
    """A caller for each list of latencies, in ns, on the plan's array: counts and means agree."""
    plan["workloads"] = [
        closed_load(1, read_share=0.0)
        | {
            "name": f"caller {at}",
            "arrival": {"kind": "closed", "outstanding": 1, "think_ns": think},
            "sync": {"every": 1, "times": times, "allocates": allocates},
        }
        for at, think in enumerate(THINKS[: len(expected)])
    ]
    result = json.loads(_engine.run(json.dumps(plan)))
    assert not result["breaches"]
    for load, latencies in zip(result["workloads"], expected, strict=True):
        assert abs(load["ios"] - len(latencies)) <= 1
        mean = 1000 * load["write"]["latency_us"]["mean"]
        assert mean == pytest.approx(sum(latencies) / len(latencies), rel=2e-3)
