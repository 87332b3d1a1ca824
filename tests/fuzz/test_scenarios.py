"""Mutated scenarios: a scenario whose plan the engine takes, or faults by file, key and value."""

from __future__ import annotations

import contextlib
import json
import time
from unittest import SkipTest

from hypothesis import HealthCheck, Phase, given, seed, settings

from raidlab.devices.faults import SpecError
from raidlab.scenarios import _engine
from raidlab.scenarios.planning.scenario import build_scenario
from tests.fuzz.mutations import SECONDS, SEED, scenarios

LONGEST_S = 5.0
"""Wall seconds that one input may take."""
AT_ONCE = 1000
"""Inputs between two looks at the time."""
TREES = 600
"""Inputs in the test suite."""
BEGUN: list[float] = []
"""When the test, and then each input, was begun."""


def test_a_mutated_scenario_runs_or_has_faults():
    trials = settings(
        max_examples=AT_ONCE if SECONDS else TREES,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )(given(case=scenarios())(_try))
    BEGUN.clear()
    BEGUN.append(time.monotonic())
    rounds = 0
    while rounds == 0 or BEGUN[-1] - BEGUN[0] < SECONDS:
        with contextlib.suppress(SkipTest):
            seed(SEED + 1000 * rounds)(trials)()
        rounds += 1
    print(f"scenarios: {len(BEGUN) - 1} trees")


def _try(case):
    begun = time.monotonic()
    if SECONDS and begun - BEGUN[0] > SECONDS:
        # This ends Hypothesis at once, without inputs that nobody tries.
        raise SkipTest
    BEGUN.append(begun)
    path, tree = case
    try:
        scenario = build_scenario(tree, path=path)
        plan = scenario.plan(0, 0)
    except SpecError as error:
        assert error.faults
        assert all(fault.key or fault.allowed for fault in error.faults)
        assert str(error)
        return
    finally:
        assert time.monotonic() - BEGUN[-1] < LONGEST_S
    plan |= {"max_ios": 20, "duration_ns": min(plan["duration_ns"], 10**7), "warm_up_ns": 0}
    if any(device.get("history") for device in plan["devices"]):
        # Preconditioning takes its time; the drives themselves are tried elsewhere.
        return
    try:
        result = json.loads(_engine.run(json.dumps(plan), Stop()))
    except (_engine.PlanError, KeyboardInterrupt):
        return
    assert not result["breaches"]


class Stop:
    """Asks a run to stop once it has taken too long for one input."""

    def __init__(self) -> None:
        self.end = time.monotonic() + LONGEST_S / 2

    def __call__(self, so_far: int, requests: int) -> bool:
        return time.monotonic() > self.end
