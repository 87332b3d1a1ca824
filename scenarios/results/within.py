"""How much of the I/Os, and of the time, meets a goal: the report of a service level."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from raidlab.devices.faults import Fault, SpecError
from raidlab.scenarios.results.goals import Goal, Source, goals_of, judged, of_load, workload_faults
from raidlab.scenarios.results.latency_map import mean_us, percentile_us, share_below
from raidlab.scenarios.results.merging import merged_maps
from raidlab.scenarios.results.result import Result
from raidlab.scenarios.results.row import DIRECTIONS, GoalRow, Row, side_of
from raidlab.scenarios.spec.run_result import MapReport

_LEAST_IOS = 100
"""I/Os that a step of time has at least: fewer say nothing of a p99."""
_SHARES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p99.9": 0.999, "p99.99": 0.9999}


def goals_of_run(texts: Sequence[str], option: str, workloads: Sequence[str]) -> list[Goal]:
    """Goals of which a run says how much meets them.

    Raises:
        SpecError: Everything that is wrong with them: one that is no latency or rate, or is about a
            workload that is not there.
    """
    goals = goals_of(texts, option)
    allowed = "a latency or a rate, such as p99 < 20 ms or rate > 5000 IO/s"
    faults = [
        Fault(option, goal.text, allowed)
        for goal in goals
        if goal.source not in (Source.LATENCY, Source.RATE)
    ]
    faults += workload_faults(goals, workloads, option)
    if faults:
        raise SpecError(faults)
    return goals


def goals_of_loads(written: Iterable[tuple[str, str, Sequence[str]]], file: str = "") -> list[Goal]:
    """The goals that workloads have in their scenario.

    Args:
        written: Key, workload, goals.
        file: Of the scenario.

    Raises:
        SpecError: Everything that is wrong with them.
    """
    goals: list[Goal] = []
    faults: list[Fault] = []
    for key, workload, texts in written:
        try:
            found = goals_of_run(texts, key, [workload])
        except SpecError as error:
            faults += [replace(fault, file=file) for fault in error.faults]
        else:
            goals += [replace(goal, workload=workload) for goal in found]
    if faults:
        raise SpecError(faults)
    return goals


def with_goals(result: Result, goals: Sequence[Goal]) -> Result:
    """The result with what each goal found, by workload and point, behind those it has already."""
    rows = result.summary()
    found = [
        _found(replace(goal, workload=row["workload"]), row, result)
        for goal in goals
        for row in rows
        if not goal.is_sum and goal.loads([row["workload"]])
    ]
    found += [each for goal in goals if goal.is_sum for each in _of_sum(goal, rows)]
    return replace(result, goals=(*(result.goals or ()), *found)) if goals else result


def _of_sum(goal: Goal, rows: Sequence[Row]) -> Iterator[GoalRow]:
    """What a goal about several workloads together found, at each point."""
    for point in dict.fromkeys(row["point"] for row in rows):
        own = [row for row in rows if row["point"] == point]
        yield {
            **judged(goal, of_load(goal, own)).to_dict(),
            "workload": goal.workload,
            "point": point,
            "outstanding": own[0]["outstanding"],
            "ios_within": None,
            "time_within": None,
        }


def _found(goal: Goal, row: Row, result: Result) -> GoalRow:
    runs = [
        each
        for each in result.results
        if (each["workload"], each["point"]) == (row["workload"], row["point"])
    ]
    sides = [side_of(each, side) for each in runs for side in _sides(goal)]
    outcome = judged(goal, of_load(goal, [row]))
    latency = goal.source is Source.LATENCY
    bins = [bin for side in sides for bin in side["bins"]]
    return {
        **outcome.to_dict(),
        "workload": row["workload"],
        "point": row["point"],
        "outstanding": row["outstanding"],
        "ios_within": share_below(bins, 1e3 * goal.bound) if latency else None,
        "time_within": _time_within(goal, runs),
    }


def _sides(goal: Goal) -> Sequence[str]:
    return [goal.side] if goal.side else DIRECTIONS


def _time_within(goal: Goal, runs: Sequence[Row]) -> float | None:
    """The share of the recorded time in which the goal was met, of what can be said of.

    Steps are columns of the latencies over time, put together until they have enough I/Os.
    """
    met, known = 0.0, 0.0
    for run in runs:
        over_time = merged_maps([side_of(run, side) for side in _sides(goal)])
        if over_time is None:
            return None
        for length, column in _steps(over_time, run["warm_up_s"]):
            value = _value(goal, column, length, run)
            if value is not None:
                known += length
                holds = value < goal.bound if goal.at_most else value > goal.bound
                met += length * (holds or ("=" in goal.text and value == goal.bound))
    return met / known if known else None


def _steps(over_time: MapReport, begin: float) -> list[tuple[float, list[list[int]]]]:
    """Length and content of each step of time that has enough I/Os."""
    steps: list[tuple[float, list[list[int]]]] = []
    total: dict[int, int] = {}
    since = begin
    for end, column in zip(over_time["t_s"], over_time["columns"], strict=True):
        for at, count in column:
            total[at] = total.get(at, 0) + count
        if sum(total.values()) >= _LEAST_IOS:
            steps.append((end - since, [list(each) for each in sorted(total.items())]))
            since, total = end, {}
    if total and not steps:
        ends = over_time["t_s"]
        steps.append((ends[-1] - begin, [list(each) for each in sorted(total.items())]))
    return steps


def _value(goal: Goal, column: list[list[int]], length: float, run: Row) -> float | None:
    count = sum(each for _, each in column)
    if goal.quantity == "rate":
        return count / length if length else None
    if goal.quantity == "throughput":
        share = run["mb_per_s"] * 1e6 / run["iops"] if run["iops"] else 0.0
        return count * share / length if length else None
    if goal.quantity == "mean":
        return mean_us(column)
    return percentile_us(column, _SHARES.get(goal.quantity, 1.0))
