"""How many times as long I/Os take under the load as on the same system without one.

"Await doubles" is a goal: `slowdown < 2`. The slowdown of a load is its mean latency over that of
the same I/Os one at a time, 20 ms apart, on the same system, in the same state. Of an M/M/1 it is
`1 / (1 - utilization)`: 2 where half of the time is used (Kleinrock, "Queueing Systems", 1975).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

from raidlab.devices.faults import Fault, SpecError
from raidlab.scenarios.planning.scenario import Scenario, build_scenario
from raidlab.scenarios.results.goals import Goal, Measured, of_load
from raidlab.scenarios.results.row import Row
from raidlab.scenarios.running.simulate import results_of

_THINK_TIME: Final = "20 ms"
"""Between the end of an I/O and the next one: longer than an access of a disk."""
_RUN: Final = {"warm_up": "1 s", "duration": "8 s"}
_OF_LOADS: Final = frozenset({
    "rate", "outstanding", "threads", "limit", "burst", "arrivals", "on", "off", "per", "weight",
    "priority", "think", "think_time", "goal",
})  # fmt: skip
"""Keys of a load that say how much of it there is."""
_OF_RUNS: Final = frozenset({"warm_up", "duration", "precision", "max_ios", "replications", "seed"})
_RECORDED: Final = ("trace", "fio", "monitoring")
"""Keys of loads whose I/Os cannot be issued one at a time."""


def slowdown(goal: Goal, scenario: Scenario, rows: Sequence[Row]) -> Measured:
    """The slowdown of a run, the greatest of the loads that the goal is about.

    Args:
        goal: About `slowdown`.
        scenario: Of the run.
        rows: Its summary.

    Raises:
        SpecError: A load cannot be issued one at a time.
    """
    alone = unloaded_us(scenario, goal)
    found = []
    for row in rows:
        name = row["workload"]
        if name not in goal.loads([name]) or not alone.get(name):
            continue
        mean = of_load(Goal(goal.text, "mean", True, goal.bound, goal.side, name), [row])
        found.append(
            Measured(
                _over(mean.value, alone[name]),
                _over(mean.low, alone[name]),
                _over(mean.high, alone[name]),
            )
        )
    return max(found, key=lambda each: each.value or 0.0, default=Measured(None))


def _over(value: float | None, alone: float) -> float | None:
    return None if value is None else value / alone


def unloaded_us(scenario: Scenario, goal: Goal) -> dict[str, float]:
    """Mean latency of each load's I/Os, one at a time, in us.

    Raises:
        SpecError: A load cannot be issued so.
    """
    tree = scenario.written
    loads = [_alone(load, goal, scenario.path) for load in tree.get("workload", ())]
    run = {key: value for key, value in tree.get("run", {}).items() if key not in _OF_RUNS}
    rest = {key: value for key, value in tree.items() if key not in ("event", "workload", "run")}
    text = json.dumps(rest | {"workload": loads, "run": run | _RUN}, default=str, sort_keys=True)
    return dict(_means(text, scenario.path))


def _alone(load: Mapping[str, object], goal: Goal, file: str) -> dict[str, object]:
    for key in _RECORDED:
        if key in load:
            allowed = (
                f"a load by numbers or a profile, whose I/Os can be issued one at a time: {key}"
            )
            raise SpecError([Fault("goals", goal.text, f"{allowed} has its own", (), file)])
    kept = {key: value for key, value in load.items() if key not in _OF_LOADS}
    return kept | {"outstanding": 1, "think_time": _THINK_TIME}


@lru_cache(maxsize=256)
def _means(text: str, path: str) -> tuple[tuple[str, float], ...]:
    scenario = build_scenario(json.loads(text), path or None)
    (result,) = results_of([scenario], scenario.seed, heeds_past=False)
    rows = [row for row in result.summary() if row["latency_us"]]
    return tuple((row["workload"], of_load(_MEAN, [row]).value or 0.0) for row in rows)


_MEAN: Final = Goal("mean", "mean", True, 0.0)
