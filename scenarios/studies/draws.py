"""What a scenario gives if what data sheets leave open is drawn: `raidlab run --draws N`.

Load and seed stay, so that the spread is that of the devices alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from raidlab.devices.draws import drawn, undrawn
from raidlab.devices.faults import Fault, SpecError
from raidlab.scenarios.planning.scenario import Scenario, build_scenario
from raidlab.scenarios.results.result import Result
from raidlab.scenarios.results.row import DIRECTIONS, Drawn, Rates, Row, figures_of, measured
from raidlab.scenarios.running.simulate import Progress, results_of
from raidlab.scenarios.running.store import Store

_OUTSIDE = 0.025
"""Share of draws beyond each end of an interval."""


def check_draws(scenario: Scenario) -> None:
    """Refuses draws where every one would be the same.

    Raises:
        SpecError: No device of the scenario has a number with bounds or a standard error.
    """
    if undrawn(scenario.models):
        allowed = "a scenario with a device whose numbers have a `range` or a `stderr`; none has"
        raise SpecError([Fault("--draws", None, allowed, (), scenario.path)])


def draws(
    scenario: Scenario,
    result: Result,
    count: int,
    *,
    workers: int | None = None,
    progress: Progress | None = None,
    store: Store | None = None,
) -> Result:
    """The result with the interval that holds 95 % of `count` draws in each row.

    Rows have `iops_draws95`, and `latency_us_draws95` with an interval for each latency.

    Raises:
        SpecError: No draw of a device can be.
        KeyboardInterrupt: Ctrl-C.
    """
    cases = []
    for at in range(count):
        own = {name: drawn(device, at, result.seed) for name, device in scenario.models.items()}
        cases.append(build_scenario(scenario.written, scenario.path or None, own))
    found = list(
        results_of(
            cases, result.seed, workers=workers, progress=progress, store=store, heeds_past=False
        )
    )
    rows = tuple(
        _spread(row, [outcome.results[at] for outcome in found])
        for at, row in enumerate(result.results)
    )
    return replace(result, results=rows)


def _spread(row: Row, others: Sequence[Row]) -> Row:
    spread: Row = {**row, **_drawn(row, others)}
    for side in DIRECTIONS:
        if row[side]["ios"]:
            spread[side] = {**row[side], **_drawn(row[side], [each[side] for each in others])}
    return spread


def _drawn(row: Rates, others: Sequence[Rates]) -> Drawn:
    latencies = {
        name: interval([figures_of(measured(each))[name] for each in others])
        for name in ({} if row["latency_us"] is None else figures_of(row["latency_us"]))
    }
    rates = interval([each["iops"] for each in others])
    return {"iops_draws95": rates, "latency_us_draws95": latencies}


def interval(values: Sequence[float | None]) -> list[float] | None:
    """The 2.5th and the 97.5th percentile, between neighbours linearly; None if one is unknown."""
    known = sorted(value for value in values if value is not None)
    if len(known) < len(values) or not known:
        return None
    return [_quantile(known, share) for share in (_OUTSIDE, 1 - _OUTSIDE)]


def _quantile(ordered: Sequence[float], share: float) -> float:
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)
