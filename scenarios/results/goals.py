"""What a system is to reach: `p99 < 20 ms`, `rate >= 5000 IO/s`, `usable > 10 TB`.

A goal is a quantity, a comparison and a bound. A latency or rate may be that of `read` or `write`,
and of one workload: `write p99 < 5 ms`, `mail: p99 < 20 ms`. Without a workload it is every one's.
`vm-*: rate >= 9000 IO/s` is the sum of a group of workloads, `total: rate ...` that of all.
"""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from fnmatch import fnmatchcase
from typing import Final

from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.units import DURATION, IO_RATE, PERCENT, POWER, RATE, SIZE
from raidlab.scenarios.results.number_text import figure
from raidlab.scenarios.results.row import GoalData, Rates, Row, latency_at, side_of

TOTAL: Final = "total"
"""What stands for all workloads together before a rate."""
CLEAR = 0.95
"""Confidence from which on a comparison is clear."""
_Z95 = 1.959964
UNWORN_YEARS = 1000.0
NO_WEAR: Final = "no wear"
"""A life that nothing ends, in words."""
"""The life of drives that do not wear."""
_STRIPES = 1e-4
"""Share of a capacity that whole stripes may lack."""
_GOAL = re.compile(r"(?:([A-Za-z0-9_.+*-]+)\s*:)?\s*(read\s+|write\s+)?([a-z][a-z0-9_. -]*?)\s*"
                   r"(<=?|>=?)\s*(\S.*)")  # fmt: skip
_NAME = re.compile(r"(?:([A-Za-z0-9_.+*-]+)\s*:)?\s*(read\s+|write\s+)?([a-z][a-z0-9_. -]*)")
_NUMBER = re.compile(r"([+]?\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?)\s*(.*)")


class Source(Enum):
    """Where a quantity is found."""

    LATENCY = "the load's latencies"
    RATE = "the load's rates"
    BUSY = "how busy its components are"
    SLOWDOWN = "the load's latencies, over those without a load"
    SYSTEM = "the system itself"
    REBUILD = "a rebuild under the load"
    LIFE = "the wear under the load"
    RISK = "random failures"


OF_A_RUN = (Source.LATENCY, Source.RATE, Source.BUSY, Source.SLOWDOWN)
"""What a run of the load shows."""


def _duration_us(text: str) -> float:
    return float(DURATION.parse(text)) / 1e3


def _hours(text: str) -> float:
    return float(DURATION.parse(text)) / 3600e9


def _rate(text: str) -> float:
    bare = _NUMBER.fullmatch(text)
    return float(bare[1]) if bare and not bare[2] else float(IO_RATE.parse(text))


def _years(text: str) -> float:
    match = _NUMBER.fullmatch(text)
    if match is None or match[2] not in ("year", "years", "a"):
        raise ValueError('a time such as "5 years"')
    return float(match[1])


def _plain(text: str) -> float:
    match = _NUMBER.fullmatch(text)
    if match is None or match[2]:
        raise ValueError('a number such as "1e-4"')
    return float(match[1].replace("_", ""))


def _multiple(text: str) -> float:
    """A number above 1, with or without an `x`."""
    found = _plain(text.rstrip().removesuffix("x").rstrip())
    if found <= 1:
        raise ValueError('a number above 1, such as "2"')
    return found


def _money(text: str) -> float:
    match = _NUMBER.fullmatch(text)
    if match is None or not re.fullmatch(r"[A-Za-z€$£]*", match[2]):
        raise ValueError('an amount such as "20000" or "20000 EUR"')
    return float(match[1].replace("_", ""))


def _share(text: str) -> float:
    return float(PERCENT.parse(text)) if text.rstrip().endswith("%") else _plain(text)


def _utilization(text: str) -> float:
    """A share in percent."""
    share = _share(text)
    if not 0 < share <= 1:
        raise ValueError('a share such as "70 %"')
    return 100 * share


@dataclass(frozen=True)
class Quantity:
    """Something that can be a goal."""

    source: Source
    parse: Callable[[str], float]
    unit: str
    example: str


_LATENCY = Quantity(Source.LATENCY, _duration_us, "us", "< 20 ms")
_SIDED: Final = (Source.LATENCY, Source.RATE, Source.SLOWDOWN)
"""Sources of what reads and writes have each for themselves."""
QUANTITIES: Mapping[str, Quantity] = {
    **dict.fromkeys(("mean", "p50", "p90", "p95", "p99", "p99.9", "p99.99", "max"), _LATENCY),
    "rate": Quantity(Source.RATE, _rate, "IO/s", ">= 5000 IO/s"),
    "throughput": Quantity(Source.RATE, lambda text: float(RATE.parse(text)), "B/s", "> 1 GB/s"),
    "utilization": Quantity(Source.BUSY, _utilization, "%", "< 70 %"),
    "slowdown": Quantity(Source.SLOWDOWN, _multiple, "x", "< 2"),
    "usable": Quantity(Source.SYSTEM, lambda text: float(SIZE.parse(text)), "B", ">= 10 TB"),
    "cost": Quantity(Source.SYSTEM, _money, "", "< 20000"),
    "power": Quantity(Source.SYSTEM, lambda text: float(POWER.parse(text)), "W", "< 500 W"),
    "rack units": Quantity(Source.SYSTEM, _plain, "U", "<= 4"),
    "survives": Quantity(Source.SYSTEM, _plain, "drives", ">= 2"),
    "rebuild": Quantity(Source.REBUILD, _hours, "h", "< 24 h"),
    "rebuild p99": Quantity(Source.REBUILD, _duration_us, "us", "< 40 ms"),
    "rebuild p99.9": Quantity(Source.REBUILD, _duration_us, "us", "< 100 ms"),
    "life": Quantity(Source.LIFE, _years, "years", ">= 5 years"),
    "loss": Quantity(Source.RISK, _share, "", "< 0.01 %"),
}
"""Every quantity by name. `loss` is the probability of data loss within the horizon."""
_SYNONYMS = {
    "util": "utilization",
    "utilisation": "utilization",
    "iops": "rate",
    "capacity": "usable",
    "watts": "power",
    "latency": "mean",
}


@dataclass(frozen=True)
class Goal:
    """A bound of a quantity."""

    text: str
    """As it was written."""
    quantity: str
    at_most: bool
    bound: float
    """In the quantity's unit."""
    side: str = ""
    """`read`, `write`, or both."""
    workload: str = ""
    """Empty for every one."""

    @property
    def is_sum(self) -> bool:
        """Whether it is about the sum of several workloads, not about each of them."""
        return self.source is Source.RATE and (self.workload == TOTAL or "*" in self.workload)

    def loads(self, names: Sequence[str]) -> list[str]:
        """The workloads that it is about, of those that there are."""
        if not self.workload or (self.workload == TOTAL and self.is_sum):
            return list(names)
        if self.workload in names:
            return [self.workload]
        return [name for name in names if "*" in self.workload and fnmatchcase(name, self.workload)]

    @property
    def source(self) -> Source:
        """Where it is found."""
        return QUANTITIES[self.quantity].source

    @property
    def unit(self) -> str:
        """Of bound and values."""
        return QUANTITIES[self.quantity].unit

    @property
    def name(self) -> str:
        """The quantity in words: `mail: write p99`."""
        workload = f"{self.workload}:" if self.workload else ""
        return " ".join(word for word in (workload, self.side, self.quantity) if word)

    def shown(self, value: float | None) -> str:
        """A value of its quantity with its unit."""
        if self.quantity == "loss":
            return "–" if value is None else f"{value:.2g}"
        if self.quantity == "survives" and value is not None:
            return f"{value:.0f} drive{'s' * (value != 1)}"
        if self.unit == "B/s":
            return "–" if value is None else figure(value / 1e6, "MB/s")
        if self.quantity == "life" and value is not None and value >= UNWORN_YEARS:
            return NO_WEAR
        return figure(value, self.unit)


@dataclass(frozen=True)
class Measured:
    """A value with the ends of its 95 % interval; None where they are not known."""

    value: float | None
    low: float | None = None
    high: float | None = None
    certain: bool = False
    """True for what is no estimate, such as a capacity."""

    @property
    def ci95(self) -> list[float | None] | None:
        """Both ends; None if neither is known."""
        return None if self.low is None and self.high is None else [self.low, self.high]


@dataclass(frozen=True)
class Judged:
    """A goal and what was found."""

    goal: Goal
    measured: Measured
    holds: bool
    confidence: float
    """Probability that what `holds` says is so: half at the bound, 1 far from it."""

    @property
    def by(self) -> float | None:
        """How far the value is beyond the bound, as a share of it; negative where it holds."""
        if self.measured.value is None or not self.goal.bound:
            return None
        beyond = self.measured.value / self.goal.bound - 1
        return beyond if self.goal.at_most else -beyond

    def to_dict(self) -> GoalData:
        """Plain data."""
        measured = self.measured
        return {
            "goal": self.goal.text,
            "value": measured.value,
            "ci95": [measured.low, measured.high],
            "unit": self.goal.unit,
            "holds": self.holds,
            "confidence": self.confidence,
            "by": self.by,
        }


def goals_of(texts: Sequence[str], option: str = "--goal", file: str = "") -> list[Goal]:
    """The goals that are asked for.

    Raises:
        SpecError: Everything that is wrong with them: an unknown quantity, a bound that is none,
            two that contradict each other.
    """
    found: list[Goal] = []
    faults: list[Fault] = []
    example = 'such as "p99 < 20 ms" or "usable >= 10 TB"'
    if not texts:
        faults.append(Fault(option, None, f"at least one goal, {example}", (), file))
    for text in texts:
        match = _GOAL.fullmatch(text.strip())
        if match is None:
            faults.append(Fault(option, text, f"QUANTITY < BOUND or > BOUND, {example}", (), file))
            continue
        workload, side, name, sign, bound = match.groups()
        name = _SYNONYMS.get(name, name.replace("_", " "))
        known = QUANTITIES.get(name)
        if known is None:
            faults.append(_unknown(option, name, file))
            continue
        try:
            value = known.parse(bound.strip())
        except (ValueError, OverflowError):
            faults.append(Fault(option, text, f'a bound as in "{name} {known.example}"', (), file))
            continue
        if workload == TOTAL and known.source is Source.LATENCY:
            allowed = (
                "rate or throughput: latencies have no sum; without a workload it is each one's"
            )
            faults.append(Fault(option, text, allowed, (), file))
        if side and known.source not in _SIDED:
            faults.append(Fault(option, text, f"{name} without {side.strip()}", (), file))
        found.append(
            Goal(text.strip(), name, sign[0] == "<", value, (side or "").strip(), workload or "")
        )
    faults += _contradictions(found, option, file)
    if faults:
        raise SpecError(faults)
    return found


def _unknown(option: str, name: str, file: str = "") -> Fault:
    choices = tuple(QUANTITIES)
    return Fault(option, name, f"one of {', '.join(choices)}", choices, file)


def quantity_of(text: str, option: str = "--of") -> Goal:
    """A quantity alone, such as `write p99`, as a goal whose bound has no meaning.

    Raises:
        SpecError: There is none of that name.
    """
    match = _NAME.fullmatch(text.strip())
    if match is None:
        raise SpecError([Fault(option, text, 'a quantity, such as "p99" or "mail: write mean"')])
    workload, side, name = match.groups()
    name = _SYNONYMS.get(name, name.replace("_", " "))
    if name not in QUANTITIES:
        raise SpecError([_unknown(option, name)])
    at_most = QUANTITIES[name].source in (Source.LATENCY, Source.BUSY)
    return Goal(text.strip(), name, at_most, 0.0, (side or "").strip(), workload or "")


_ORDER = ("p50", "p90", "p95", "p99", "p99.9", "p99.99", "max")
"""Percentiles: none is above those behind it. The mean is not above the maximum."""


def _is_below(one: Goal, other: Goal) -> bool:
    """True if the quantity of one goal is never above the other's, of the same load."""
    if one.side != other.side or other.quantity not in _ORDER:
        return False
    if one.quantity == "mean":
        return other.quantity == "max"
    return one.quantity in _ORDER and _ORDER.index(one.quantity) < _ORDER.index(other.quantity)


def without_effect(goals: Sequence[Goal]) -> list[str]:
    """Goals that others imply: p50 < 30 ms beside p99 < 20 ms; a warning for each."""
    found = []
    for goal in goals:
        for other in goals:
            wider = other.workload in ("", goal.workload)
            if goal.at_most:
                implied = _is_below(goal, other) and other.at_most and other.bound <= goal.bound
            else:
                implied = _is_below(other, goal) and not other.at_most
                implied = implied and other.bound >= goal.bound
            same = (goal.quantity, goal.side) == (other.quantity, other.side) and goal is not other
            if same and wider and goal.workload and not other.workload:
                strict = other.bound <= goal.bound if goal.at_most else other.bound >= goal.bound
                # Each below a bound leaves open what they are together.
                strict = strict and not (goal.is_sum and goal.at_most)
                implied = goal.at_most == other.at_most and strict
            if implied and wider:
                found.append(f'the goal "{goal.text}" has no effect: "{other.text}" implies it')
                break
    return found


def _contradictions(goals: Sequence[Goal], option: str, file: str) -> list[Fault]:
    faults = []
    for low in goals:
        for high in goals:
            both = "" in (low.workload, high.workload) or low.workload == high.workload
            crossed = _is_below(low, high) and not low.at_most and high.at_most and both
            if crossed and low.bound >= high.bound:
                below = f"{low.quantity} is never above {high.quantity}"
                why = f'no contradiction to "{high.text}": {below}'
                faults.append(Fault(option, low.text, why, (), file))
    for at, one in enumerate(goals):
        for other in goals[at + 1 :]:
            same = (one.name, one.workload) == (other.name, other.workload)
            if same and one.at_most == other.at_most:
                faults.append(Fault(option, other.text, f'one of it and "{one.text}"', (), file))
            elif same:
                low, high = (other, one) if one.at_most else (one, other)
                if low.bound >= high.bound:
                    why = f'no contradiction to "{one.text}": nothing can be both'
                    faults.append(Fault(option, other.text, why, (), file))
    return faults


def workload_faults(goals: Sequence[Goal], names: Sequence[str], option: str) -> list[Fault]:
    """Goals about workloads that there are none of, and the workloads that there are."""
    allowed = f"one of {', '.join(names)}; `{TOTAL}` or a group such as `vm-*` of their rates"
    return [
        Fault(option, goal.workload, allowed, (*names, TOTAL))
        for goal in goals
        if goal.workload and not goal.loads(names)
    ]


def check_workloads(goals: Sequence[Goal], names: Sequence[str], option: str = "--goal") -> None:
    """Refuses goals about workloads that there are none of.

    Raises:
        SpecError: Names each, and the workloads that there are.
    """
    faults = workload_faults(goals, names, option)
    if faults:
        raise SpecError(faults)


def judged(goal: Goal, measured: Measured) -> Judged:
    """Whether a value meets a goal, and how sure that is.

    The error of an estimate is taken to be normal, as wide as its interval on the bound's side.
    """
    if measured.value is None:
        return Judged(goal, measured, False, 1.0 if measured.certain else 0.5)
    distance = goal.bound - measured.value if goal.at_most else measured.value - goal.bound
    holds = distance > 0 or (distance == 0 and "=" in goal.text)
    if goal.quantity == "usable" and not goal.at_most and "=" in goal.text:
        # A capacity in whole stripes is a little less than that of its drives.
        holds = measured.value >= (1 - _STRIPES) * goal.bound
    if measured.certain:
        return Judged(goal, measured, holds, 1.0)
    upward = goal.bound > measured.value
    ends = [measured.high, measured.low] if upward else [measured.low, measured.high]
    halves = [abs(end - measured.value) for end in ends if end is not None]
    if not halves:
        return Judged(goal, measured, holds, 0.5)
    if halves[0] == 0:
        return Judged(goal, measured, holds, 1.0 if distance else 0.5)
    sure = statistics.NormalDist().cdf(abs(distance) / (halves[0] / _Z95))
    return Judged(goal, measured, holds, sure)


def of_load(goal: Goal, rows: Sequence[Row]) -> Measured:
    """A latency or rate in rows of a result's summary: the worst of the workloads it is about.

    Of a group's rates the sum, with the sum of the intervals: loads of one system are not
    independent of each other.

    Raises:
        SpecError: It is about a workload that there is none of.
    """
    names = [row["workload"] for row in rows]
    check_workloads([goal], names)
    about = goal.loads(names)
    found = [_of_row(goal, row) for row in rows if row["workload"] in about]
    if goal.is_sum:
        return Measured(
            _sum([each.value for each in found]),
            _sum([each.low for each in found]),
            _sum([each.high for each in found]),
        )
    worst = math.inf if goal.at_most else -math.inf
    return (max if goal.at_most else min)(
        found, key=lambda each: worst if each.value is None else each.value
    )


def _sum(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return math.fsum(known) if len(known) == len(values) else None


def _busiest(row: Row) -> Measured:
    """Utilization of the busiest component, in percent.

    Utilization is the rate times the service time (Denning and Buzen, 1978), so its interval is as
    wide, as a share, as that of the rate.
    """
    busiest = max((each["utilization"] for each in row["components"]), default=None)
    low, high = row["iops_ci95"]
    if busiest is None or low is None or high is None or not row["iops"]:
        return Measured(None if busiest is None else 100 * busiest)
    ends = [min(100.0, 100 * busiest * end / row["iops"]) for end in (low, high)]
    return Measured(100 * busiest, ends[0], ends[1])


def _of_row(goal: Goal, row: Row) -> Measured:
    if goal.source is Source.BUSY:
        return _busiest(row)
    side: Rates = side_of(row, goal.side) if goal.side else row
    if goal.source is Source.LATENCY:
        key = goal.quantity.replace(".", "_")
        # Of a side the interval is that of one replication: wider than that of all.
        low, high = side["latency_ci95_us"].get(key, (None, None))
        return Measured(latency_at(side, key), low, high)
    if goal.quantity == "throughput":
        factor = row["mb_per_s"] * 1e6 / row["iops"] if row["iops"] else 0.0
        value = side["mib_per_s"] * 2**20
    else:
        factor, value = 1.0, side["iops"]
    low, high = row["iops_ci95"]
    if goal.side or low is None or high is None:
        share = side["iops"] / row["iops"] if row["iops"] else 0.0
        half = None if low is None or high is None else (high - low) / 2 * factor * share
        return Measured(value, None if half is None else value - half,
                        None if half is None else value + half)  # fmt: skip
    return Measured(value, low * factor, high * factor)
