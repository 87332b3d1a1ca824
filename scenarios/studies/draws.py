"""What a scenario gives if what data sheets leave open is drawn: `raidlab run --draws N`.

Load and seed stay, so that the spread is that of the devices alone. Tails of drives made of data
sheets have besides what such drives differ by and no mechanism explains: each draw has a factor.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import exp
from random import Random
from statistics import NormalDist
from typing import Final

from raidlab.devices.datasheet.tail_spread import SHEETS, TailSpread
from raidlab.devices.draws import drawn, undrawn
from raidlab.devices.faults import Fault, SpecError
from raidlab.scenarios.planning.scenario import Scenario, build_scenario
from raidlab.scenarios.results.result import Result
from raidlab.scenarios.results.row import DIRECTIONS, Drawn, Rates, Row, figures_of, latency_at
from raidlab.scenarios.running.simulate import Progress, results_of
from raidlab.scenarios.running.store import Store

_OUTSIDE = 0.025
"""Share of draws beyond each end of an interval."""
_TAILS: Final = ("p99", "p99_9", "p99_99", "p99_999")
"""Percentiles that firmware decides which nobody states."""


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
    tails: TailSpread | None = None,
) -> Result:
    """The result with the interval that holds 95 % of `count` draws in each row.

    Rows have `iops_draws95`, and `latency_us_draws95` with an interval for each latency.

    Args:
        scenario: Whose devices are drawn.
        result: Of the scenario itself.
        count: Draws.
        workers: Threads that simulate.
        progress: Reports what is done.
        store: Of finished runs.
        tails: How far tails of its drives lie apart beyond the model; if left out, as learned
            where a drive is made of a data sheet, else not at all.

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
    spread = _TailDraws(_tails_of(scenario) if tails is None else tails, count, result.seed)
    rows = tuple(
        _spread(row, [outcome.results[at] for outcome in found], spread)
        for at, row in enumerate(result.results)
    )
    return replace(result, results=rows)


def _tails_of(scenario: Scenario) -> TailSpread | None:
    """How far tails lie apart, of a scenario with a drive that a data sheet decides."""
    from raidlab.devices.ssd import SsdSpec

    specs = [device.spec for device in scenario.models.values()]
    of_sheets = any(isinstance(spec, SsdSpec) and spec.data_sheet for spec in specs)
    return SHEETS if of_sheets else None


class _TailDraws:
    """A factor on the tails of each draw.

    They are the middles of equal shares of a log-normal distribution, in an order of their own.
    """

    def __init__(self, spread: TailSpread | None, count: int, seed: int) -> None:
        self._spread = spread
        normal = NormalDist()
        self._normals = [normal.inv_cdf((at + 0.5) / count) for at in range(count)]
        Random(f"{seed} tails").shuffle(self._normals)

    def factors(self, *, reads: bool, writes: bool) -> list[float]:
        """One for each draw."""
        spread = self._spread
        sigma = 0.0 if spread is None else spread.of(reads=reads, writes=writes)
        return [exp(sigma * normal) for normal in self._normals]


def _spread(row: Row, others: Sequence[Row], tails: _TailDraws) -> Row:
    sides = {side: bool(row[side]["ios"]) for side in DIRECTIONS}
    both = tails.factors(reads=sides["read"], writes=sides["write"])
    spread: Row = {**row, **_of_side(row, others, both)}
    for side in DIRECTIONS:
        if sides[side]:
            own = tails.factors(reads=side == "read", writes=side == "write")
            found = [each[side] for each in others]
            spread[side] = {**row[side], **_of_side(row[side], found, own)}
    return spread


def _of_side(row: Rates, others: Sequence[Rates], tails: Sequence[float]) -> Drawn:
    latencies = {
        name: interval(
            _times(
                [latency_at(each, name) for each in others],
                tails if name in _TAILS else [1.0] * len(others),
            )
        )
        for name in ({} if row["latency_us"] is None else figures_of(row["latency_us"]))
    }
    rates = interval([each["iops"] for each in others])
    return {"iops_draws95": rates, "latency_us_draws95": latencies}


def _times(values: Sequence[float | None], factors: Sequence[float]) -> list[float | None]:
    pairs = zip(values, factors, strict=True)
    return [None if value is None else value * factor for value, factor in pairs]


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
