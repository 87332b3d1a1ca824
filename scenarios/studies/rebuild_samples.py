"""Samples of a rebuild of whole drives: short runs that begin at places all over the drive.

A rebuild of 8 TB takes hours to days; simulated whole it would take hours of computing. Its rate
changes slowly from the outer zones to the inner ones, so it is measured at places. With the rate
`r(x)` at share `x` of a drive of `C` bytes

    hours = C / 3600 · mean over x of 1 / r(x)

The rate at a place is that between two instants well after the rebuild has begun there: two runs of
the same seed, one of which ends earlier, say how far it was. From the first slice on it would count
a slice without its pause, and rows under way as missing.

One place is drawn in each of equal stretches of the drive. The interval comes from the differences
between neighbouring stretches, which contain both chance and the trend between them (successive
differences; Wolter, "Introduction to Variance Estimation", 2007).
"""

from __future__ import annotations

import copy
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from raidlab.scenarios.planning.scenario import Scenario, build_scenario
from raidlab.scenarios.results.result import Result

STRETCHES = 12
"""Equal parts of a drive, each with one place that is measured."""
_WARM_UP_S = 2.0
_BEFORE_S = 10.0
"""Seconds under the load before the drive fails."""
_SETTLES_S = 6.0
"""Seconds of the rebuild that do not count."""
_DURING_S = 20.0
"""Seconds of the rebuild that count; fewer of both where a whole stretch takes less."""
_FASTEST = 300e6
"""Bytes a second that no disk's rebuild exceeds: a sample of a small drive stays in its stretch."""


@dataclass(frozen=True)
class Sample:
    """A rebuild at one place."""

    place: float
    """Share of the drive that was in place when it began."""
    rate: float
    """Bytes of the drive a second; 0 if none came into place."""
    p99_us_before: float | None
    """Of the slowest load."""
    p99_us_during: float | None
    iops_before: float | None
    iops_during: float | None


def order() -> list[int]:
    """The stretches in an order in which the first few lie all over the drive."""
    return sorted(range(STRETCHES), key=lambda at: (at * 5 + 2) % STRETCHES)


def sampled_scenarios(
    tree: Mapping[str, Any],
    path: Path | None,
    bytes_of_drive: int,
    rates: Sequence[float],
    seed: int,
) -> Iterator[tuple[int, list[Scenario]]]:
    """The seed and the scenarios of the sample in each stretch, two for each rate.

    The first of two ends when the rebuild has settled.
    """
    stretch_s = max(1.0, bytes_of_drive / _FASTEST / STRETCHES)
    part = min(1.0, stretch_s / (_SETTLES_S + _DURING_S))
    ends = part * _SETTLES_S, part * (_SETTLES_S + _DURING_S)
    for at in order():
        place = (at + random.Random(f"{seed} {at}").random()) / STRETCHES
        each = [_sampled(tree, path, rate, place, end) for rate in rates for end in ends]
        yield seed + at, each


def whole(tree: Mapping[str, Any]) -> dict[str, Any]:
    """The scenario with all of its drives used."""
    changed = copy.deepcopy(dict(tree))
    for array in changed.get("array", []):
        if isinstance(array, dict):
            array.pop("used", None)
    return changed


def _sampled(
    tree: Mapping[str, Any], path: Path | None, rate: float, place: float, during: float
) -> Scenario:
    changed = whole(tree)
    fails = _WARM_UP_S + _BEFORE_S
    changed["run"] = {"warm_up": f"{_WARM_UP_S} s", "duration": f"{_BEFORE_S + during} s"}
    changed["event"] = [dict(event) for event in _first_failure(changed["event"])]
    for at, event in enumerate(changed["event"]):
        event["at"] = f"{fails + 0.001 * at} s"
    for array in changed["array"]:
        array["rebuild_rate"] = rate
    scenario = build_scenario(changed, path)
    for array in scenario.base["arrays"]:
        array["rebuild_from"] = place
    # Versions of the data would miss what is taken to be in place.
    return _without_versions(scenario)


def _without_versions(scenario: Scenario) -> Scenario:
    base = scenario.base
    if isinstance(base, dict):
        base["data"] = False
    return scenario


def _first_failure(events: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The first drive that fails and, where it is replaced, its replacement."""
    first = next(event for event in events if event.get("action") == "fail-drive")
    same = [
        event
        for event in events
        if event.get("action") == "replace-drive" and event.get("drive") == first.get("drive")
    ]
    return [first, *same[:1]]


def samples_of(
    results: Sequence[Result], scenarios: Sequence[Scenario], bytes_of_drive: int
) -> list[Sample]:
    """What the runs of a stretch have measured: a sample for each two of them."""
    pairs = zip(
        zip(results[::2], scenarios[::2], strict=True),
        zip(results[1::2], scenarios[1::2], strict=True),
        strict=True,
    )
    return [_sample(settled, ended, bytes_of_drive) for settled, ended in pairs]


def _sample(
    settled: tuple[Result, Scenario], ended: tuple[Result, Scenario], bytes_of_drive: int
) -> Sample:
    result, scenario = ended
    place = float(scenario.base["arrays"][0]["rebuild_from"])
    begun = _when(result, "rebuild on ")
    done = _when(result, "rebuild done")
    loads = [row["periods"] for row in result.results]
    before = [[p for p in load if begun is None or p["from_s"] < begun][:1] for load in loads]
    during = [[p for p in load if begun is not None and p["from_s"] >= begun][:1] for load in loads]
    rate = 0.0
    if begun is not None and done is not None:
        rate = (1.0 - place) * bytes_of_drive / (done - begun)
    elif begun is not None:
        (first, early), (last, late) = (
            (_share(each[0], place), _end_s(each[1])) for each in (settled, ended)
        )
        rate = (last - first) * bytes_of_drive / (late - early)
    return Sample(place, rate, _p99(before), _p99(during), _iops(before), _iops(during))


def _share(result: Result, place: float) -> float:
    """Share of the drive that was in place at the end of a run."""
    return float(max(result.results[0]["rebuilding"], default=place))


def _end_s(scenario: Scenario) -> float:
    return float(scenario.base["duration_ns"]) / 1e9


def _when(result: Result, what: str) -> float | None:
    return next((event["t_s"] for event in result.events if event["what"].startswith(what)), None)


def _p99(loads: Sequence[Sequence[Mapping[str, Any]]]) -> float | None:
    """Of the load that is slowest, in a period of each load."""
    found = [each["latency_us"]["p99"] for own in loads for each in own if each["latency_us"]]
    return max(found, default=None)


def _iops(loads: Sequence[Sequence[Mapping[str, Any]]]) -> float | None:
    """Of all loads together, in a period of each load."""
    found = [each["iops"] for own in loads for each in own]
    return sum(found) if found else None


def hours(samples: Sequence[Sample], bytes_of_drive: int) -> float | None:
    """Hours until whole drives are rebuilt; None if a place came no further."""
    if not samples or any(each.rate <= 0 for each in samples):
        return None
    inverse = [1 / each.rate for each in samples]
    return bytes_of_drive * sum(inverse) / len(inverse) / 3600


def hours_ci95(samples: Sequence[Sample], bytes_of_drive: int) -> tuple[float, float] | None:
    """Their 95 % interval, of two places or more."""
    middle = hours(samples, bytes_of_drive)
    count = len(samples)
    if middle is None or count < 2:
        return None
    by_place = sorted(samples, key=lambda each: each.place)
    each = [bytes_of_drive / one.rate / 3600 for one in by_place]
    squares = sum((b - a) ** 2 for a, b in pairwise(each))
    error = math.sqrt(squares / (2 * (count - 1) * count))
    from scipy.stats import t

    half = float(t.ppf(0.975, count - 1)) * error
    return max(0.0, middle - half), middle + half


def mean(values: Sequence[float | None]) -> float | None:
    """The mean of those that are known."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
