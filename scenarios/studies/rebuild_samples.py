"""Samples of a rebuild: short runs that begin at places all over what is rebuilt of a drive.

A rebuild of 8 TB takes hours to days; simulated whole it would take hours of computing. Its rate
changes slowly from the outer zones of disks to the inner ones, so it is measured at places. With
the rate `r(x)` at share `x` of the `C` bytes that the array uses of a drive

    hours = C / 3600 · mean over x of 1 / r(x)

One place is drawn in each of equal stretches. `1 / r` is nearly linear in `x`, so the mean is the
value in the middle of a line through the samples, and its interval is that of a linear regression
(Draper and Smith, "Applied Regression Analysis", 1998, section 1.4). Drives without an arm have one
rate everywhere: there the samples' mean is taken, with Student's interval. No further places are
measured once the interval is narrow.
"""

from __future__ import annotations

import copy
import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from raidlab.devices.levels import facts_of
from raidlab.devices.plan_types import ArrayPlan, HistoryLoad
from raidlab.scenarios.planning.scenario import Scenario, build_scenario
from raidlab.scenarios.results.result import Recorded, Result
from raidlab.scenarios.results.row import Row
from raidlab.scenarios.results.student import t_975
from raidlab.scenarios.spec.run_result import PeriodResult
from raidlab.scenarios.spec.trees import EventTree, ScenarioTree
from raidlab.scenarios.spec.written import kept_run
from raidlab.scenarios.studies.rebuild_limit import AT_PACE, Limit, limit_of
from raidlab.scenarios.studies.users_queue import UsersQueue

MOST_STEPS: Final = 2
"""Steps by which a sample becomes longer at most."""
_LONGER: Final = 4
"""Times as long as before that a step makes it."""
PACE: Final = "background_bytes_per_s"
"""The key of the plan's array for md's limit of a rebuild."""
STRETCHES = 12
"""Equal parts of what is rebuilt, each with one place that is measured at most."""
_NARROW_SHARE = 0.05
"""Half of the interval over the hours, at which no further place is measured."""
_KEPT_KEYS = ("precondition", "filled", "snapshot", "state", "time_lapse")
"""What a sample's `run` has of the scenario's."""


@dataclass(frozen=True)
class Lengths:
    """Simulated seconds of a sample."""

    warm_up: float
    """Under the load before the drive fails, or before anything is recorded."""
    before: float
    """Under the load with all drives."""
    settles: float
    """Of the rebuild, not recorded."""
    during: float
    """Of the rebuild, recorded."""
    fastest: float
    """Bytes a second that no rebuild of such drives exceeds: a sample stays in its stretch."""
    places: int
    """Places that are measured at least."""
    part: float = 1.0
    """Of the usual seconds, those for which a stretch has room at the fastest."""

    def longer(self, steps: int) -> Lengths:
        """By this many steps longer, but for what comes before the drive fails."""
        times = _LONGER**steps
        return replace(
            self, settles=times * self.settles, during=times * self.during, part=times * self.part
        )


ARMS = Lengths(2.0, 10.0, 4.0, 20.0, 300e6, 4)
"""Of disks: a slice of their rebuild takes a fifth of a second, its pause up to ten times that."""
NO_ARMS = Lengths(0.1, 2.0, 0.1, 1.0, 7e9, 3)
"""Of other drives, whose slices take milliseconds."""
_IOS = 50_000
"""I/Os of the users that are recorded of a sample at most, where slices are short."""
_SHORTEST_S = 0.1
"""Seconds that are recorded of a rebuild at least."""


def lengths_for(
    lengths: Lengths, bytes_used: int, iops: float | None, spread: float = 1.0
) -> Lengths:
    """The lengths of samples in stretches of a drive, under a load of this many I/Os a second.

    `spread` times as many drives as a stripe has serve a rebuild, which shows so much sooner.
    """
    during = lengths.during / spread
    if iops and lengths is NO_ARMS:
        during = min(max(_IOS / iops, _SHORTEST_S), during)
    stretch_s = bytes_used / lengths.fastest / STRETCHES
    part = min(1.0, stretch_s / (lengths.settles + during))
    return replace(lengths, settles=part * lengths.settles, during=part * during, part=part)


def is_sampled(lengths: Lengths, bytes_used: int) -> bool:
    """Whether samples are shorter than the whole rebuild at its fastest."""
    return bytes_used / lengths.fastest > _LEAST_S[lengths is ARMS]


_LEAST_S = (0.2, 10.0)
"""Seconds of a whole rebuild up to which it is simulated whole: without arms, with them."""


@dataclass(frozen=True)
class Sample:
    """A rebuild at one place."""

    place: float
    """Where it is, as a share of what the samples are of."""
    rate: float
    """Bytes of the drive a second; 0 if none came into place."""
    p99_us_during: float | None
    """Of the slowest load; so the next."""
    p99_9_us_during: float | None
    iops_during: float | None
    limit: Limit | None
    queue: UsersQueue
    """Of the users meanwhile."""
    is_short: bool = False
    """The users' queue remembers for longer than it was recorded: p99 is at least what it shows."""

    def wants_longer(self, lengths: Lengths, steps: int, stretch: float) -> bool:
        """Whether a place is measured once more, a step longer.

        It is if nothing was rebuilt, if its users' queue still remembers how it began, or if the
        sample is that much shorter than usual. An overload is looked at twice, lest a queue that
        only fills be taken for one; no third time, as it would grow for as long as anybody looks.

        Args:
            lengths: Of this sample.
            steps: By which it is longer than the first one.
            stretch: Bytes of the drive that a sample may go through.
        """
        if steps == MOST_STEPS or not self.rate:
            return steps < MOST_STEPS
        if self.queue.overloaded and steps:
            return False
        if _LONGER * self.rate * (lengths.settles + lengths.during) > stretch:
            return False
        return self.queue.is_short(lengths.during) or _LONGER * lengths.part <= 1


def order() -> list[int]:
    """The stretches in an order in which the first four lie in the four quarters of the drive."""
    return sorted(range(STRETCHES), key=lambda at: (at * 7 + 5) % STRETCHES)


def places(seed: int, begin: float = 0.0) -> Iterator[tuple[int, float]]:
    """A number and a place in each stretch of what lies behind `begin`, a share of the drive."""
    for at in order():
        within = (at + random.Random(f"{seed} {at}").random()) / STRETCHES
        yield at, begin + (1.0 - begin) * within


def whole(tree: ScenarioTree) -> ScenarioTree:
    """The scenario with all of its drives used."""
    changed = copy.deepcopy(tree)
    for array in changed.get("array", []):
        if isinstance(array, dict):
            array.pop("used", None)
    return changed


def failing(scenario: Scenario) -> int:
    """The index in the plan of the array of which a drive fails first."""
    fails = (event for event in scenario.base["events"] if event["action"] == "fail_drive")
    drive = next(fails)["drive"]
    arrays = enumerate(scenario.base["arrays"])
    return next(at for at, array in arrays if drive in [*array["drives"], *array["spares"]])


def before_scenario(
    tree: ScenarioTree, path: Path | None, lengths: Lengths, steps: int = 0
) -> Scenario:
    """The scenario with all drives, as long as its users need for a p99."""
    times = _LONGER**steps
    changed = _run(tree, lengths.warm_up, times * lengths.before)
    changed.pop("event", None)
    changed["run"]["max_ios"] = 2 * _IOS * times
    return _without_versions(build_scenario(changed, path))


@dataclass(frozen=True)
class Degraded:
    """Drives of an array that are missing while the first of them is rebuilt."""

    array: str
    """Name of the array."""
    drives: tuple[int, ...]
    """Their places in it."""

    def events(self, tree: ScenarioTree) -> list[EventTree]:
        """Their failures and then what replaces them, of the events of a scenario."""
        own = [each for each in tree["event"] if each.get("array") in (None, self.array)]
        fail, replace_ = (
            [
                next((e for e in own if _is(e, action) and e.get("drive", 0) == drive), None)
                for drive in self.drives
            ]
            for action in ("fail-drive", "replace-drive")
        )
        return [each.copy() for each in (*fail, *replace_) if each is not None]


def _is(event: EventTree, action: str) -> bool:
    return event.get("action") == action


def missing(scenario: Scenario) -> Degraded:
    """The drives that fail in the array of which one fails first, in their order.

    The first one alone where the level does not survive as many as fail.
    """
    array = scenario.base["arrays"][failing(scenario)]
    gone = [e["drive"] for e in scenario.base["events"] if e["action"] == "fail_drive"]
    first, *others = (
        at for at in dict.fromkeys(gone) if at in [*array["drives"], *array["spares"]]
    )
    places = [first, *(each for each in others if each in array["drives"])]
    bears = facts_of(array).bears(len(array["drives"]))
    if len(places) > bears or array.get("declustered"):
        places = [first]
    every = [*array["drives"], *array["spares"]]
    return Degraded(array["name"], tuple(every.index(each) for each in places))


def sampled_scenario(
    tree: ScenarioTree,
    path: Path | None,
    degraded: Degraded,
    rate: float,
    place: float,
    lengths: Lengths,
) -> Scenario:
    """The scenario at a place of its rebuild, recorded once that has settled."""
    warm_up = lengths.warm_up + lengths.settles
    changed = _run(tree, warm_up, lengths.during)
    changed["event"] = degraded.events(changed)
    for at, event in enumerate(changed["event"]):
        event["at"] = f"{lengths.warm_up + 1e-5 * at:.6f} s"
    for table in changed["array"]:
        table["rebuild_rate"] = rate
    scenario = build_scenario(changed, path)
    array = scenario.base["arrays"][failing(scenario)]
    array["rebuild_from"] = place
    if not scenario.base["workloads"]:
        # A recording of a second cannot show the mean of streams that sleep for half of one.
        array.pop("background_bytes_per_s", None)
    _write_up_to(scenario, array, place)
    # Versions of the data would miss what is taken to be in place.
    return _without_versions(scenario)


def whole_scenario(
    tree: ScenarioTree, path: Path | None, degraded: Degraded, rate: float, lengths: Lengths
) -> Scenario:
    """The scenario until its rebuild is done."""
    changed = _run(tree, 0.0, _LONGEST_S)
    changed["run"]["after_rebuild"] = "10 ms"
    changed["event"] = degraded.events(changed)
    for at, event in enumerate(changed["event"]):
        event["at"] = f"{lengths.warm_up + 1e-5 * at:.6f} s"
    for table in changed["array"]:
        table["rebuild_rate"] = rate
    return _without_versions(build_scenario(changed, path))


_LONGEST_S = 100_000.0
"""Seconds after which a rebuild that is simulated whole is given up."""


def _run(tree: ScenarioTree, warm_up: float, duration: float) -> ScenarioTree:
    changed = copy.deepcopy(tree)
    run = kept_run(changed, _KEPT_KEYS)
    run["warm_up"], run["duration"] = f"{warm_up:.6f} s", f"{duration:.6f} s"
    changed["run"] = run
    return changed


def _write_up_to(scenario: Scenario, array: ArrayPlan, place: float) -> None:
    """A flash drive that takes over has written what is in place: its SLC cache may be full."""
    drives, devices = scenario.base["drives"], scenario.base["devices"]
    if not array["spares"]:
        return
    drive = drives[array["spares"][0]]
    device = devices[drive["device"]]
    if device["kind"] != "ssd":
        return
    size = int(place * (array["used_bytes"] or device["capacity_bytes"])) // 4096 * 4096
    if not size:
        return
    written: HistoryLoad = {
        "access": "sequential", "area_bytes": size, "block_bytes": 131072, "ongoing": False,
        "start_bytes": 0, "then_rests": False, "weight": 1, "written_bytes": size,
    }  # fmt: skip
    taking_over = copy.deepcopy(device)
    taking_over["history"] = [written]
    devices.append(taking_over)
    drive["device"] = len(devices) - 1


def _without_versions(scenario: Scenario) -> Scenario:
    base = scenario.base
    if isinstance(base, dict):
        base["data"] = False
    return scenario


def sample_of(
    result: Result, scenario: Scenario, place: float, bytes_used: int, pace: int
) -> Sample:
    """What a run has measured at a place.

    Args:
        result: Of `sampled_scenario` or `whole_scenario`.
        scenario: The scenario.
        place: Share of what is rebuilt that was in place when it began.
        bytes_used: What is rebuilt of a drive.
        pace: Bytes a second that md lets it have, 0 for no limit.
    """
    (recorded,) = result.recorded
    rate = _rate(result, recorded, place, bytes_used)
    rows: Sequence[Row | PeriodResult] = result.results
    if not recorded.rebuilding_before:
        # All of the rebuild lies in the recording: users' I/Os of its own period count.
        rows = [_period_during(row, result) for row in result.results]
    latencies = [latency for row in rows if (latency := row["latency_us"])]
    queue = UsersQueue.of(result.results)
    in_part = bool(recorded.rebuilding_before) and not queue.overloaded
    return Sample(
        place,
        min(rate, pace) if pace else rate,
        max((latency["p99"] for latency in latencies), default=None),
        max((latency["p99_9"] for latency in latencies), default=None),
        sum(row["iops"] for row in rows) if rows else None,
        limit_of(recorded, scenario, failing(scenario), is_paced=0 < pace <= rate / AT_PACE),
        queue,
        in_part and queue.is_short(recorded.seconds),
    )


def _rate(result: Result, recorded: Recorded, place: float, bytes_used: int) -> float:
    if recorded.rebuilding_before and recorded.rebuilding:
        done = max(recorded.rebuilding) - max(recorded.rebuilding_before)
        return done * bytes_used / recorded.seconds
    begun, ended = when(result, "rebuild-begun"), when(result, "rebuild-done")
    if begun is None or ended is None or ended <= begun:
        return 0.0
    return (1.0 - place) * bytes_used / (ended - begun)


def _period_during(row: Row, result: Result) -> Row | PeriodResult:
    begun = when(result, "rebuild-begun")
    inside = [p for p in row["periods"] if begun is not None and p["from_s"] >= begun]
    return inside[0] if inside else row


def when(result: Result, kind: str) -> float | None:
    """Seconds into the run at which an event of a kind came first."""
    return next((event["t_s"] for event in result.events if event["kind"] == kind), None)


def _inverse(samples: Sequence[Sample]) -> tuple[float, float] | None:
    """The mean of 1 / rate and half of its 95 % interval; None if a place came no further."""
    if not samples or any(each.rate <= 0 for each in samples):
        return None
    count = len(samples)
    values = [1 / each.rate for each in samples]
    mean = math.fsum(values) / count
    if count < 2:
        return mean, math.inf
    places = [each.place for each in samples]
    middle = math.fsum(places) / count
    spread = math.fsum((place - middle) ** 2 for place in places)
    if count < ARMS.places or not spread:
        squares = math.fsum((value - mean) ** 2 for value in values)
        return mean, t_975(count - 1) * math.sqrt(squares / (count - 1) / count)
    deviations = [place - middle for place in places]
    slope = math.fsum(d * v for d, v in zip(deviations, values, strict=True)) / spread
    rest = [v - mean - slope * d for d, v in zip(deviations, values, strict=True)]
    off = 0.5 - middle
    error = math.fsum(each**2 for each in rest) / (count - 2) * (1 / count + off**2 / spread)
    return mean + slope * off, t_975(count - 2) * math.sqrt(error)


def hours(samples: Sequence[Sample], bytes_used: int) -> float | None:
    """Hours until all is rebuilt; None if a place came no further."""
    found = _inverse(samples)
    return None if found is None else bytes_used * found[0] / 3600


def hours_ci95(samples: Sequence[Sample], bytes_used: int) -> tuple[float, float] | None:
    """Their 95 % interval, of two places or more."""
    found = _inverse(samples)
    if found is None or not math.isfinite(found[1]):
        return None
    mean, half = (bytes_used * each / 3600 for each in found)
    return max(0.0, mean - half), mean + half


def hours_of_all(parts: Sequence[Sequence[Sample]], bytes_used: int) -> float | None:
    """Hours of rebuilds that follow each other; None if one came no further."""
    each = [hours(part, bytes_used) for part in parts]
    known = [value for value in each if value is not None]
    return math.fsum(known) if len(known) == len(each) else None


def ci95_of_all(parts: Sequence[Sequence[Sample]], bytes_used: int) -> tuple[float, float] | None:
    """Their 95 % interval: those of independent measurements add by their squares."""
    found = [_inverse(part) for part in parts]
    known = [each for each in found if each is not None and math.isfinite(each[1])]
    if len(known) < len(found):
        return None
    mean = bytes_used * math.fsum(each[0] for each in known) / 3600
    half = bytes_used * math.sqrt(math.fsum(each[1] ** 2 for each in known)) / 3600
    return max(0.0, mean - half), mean + half


def is_enough(samples: Sequence[Sample], least: int) -> bool:
    """Whether no further place is worth its run."""
    found = _inverse(samples)
    if len(samples) < least or found is None:
        return False
    return found[1] <= _NARROW_SHARE * found[0]


def mean(values: Sequence[float | None]) -> float | None:
    """The mean of those that are known."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
