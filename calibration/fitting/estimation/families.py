"""Which kind of device was measured, where nobody says: families are tried on points left out.

Families are a station, a volume (a law: a virtual disk, else a table), a disk, an array of disks
behind a cache (`array_family`) and flash. Facts exclude families, and so do times that no device of
a family has. Each is fitted roughly to a dozen training points that
span the loads, then, from there, to all but a fourth of them, which it predicts. The error of a
prediction is

    mean of |ln(predicted / measured)|       of the rate, and of p50 and p99 of each direction

A family with fewer numbers is taken if it predicts as well as the best one. A bootstrap over the
points left out says in what share of samples no other family is clearly better. Source: leave-group
cross-validation (Stone 1974; Efron and Tibshirani, An Introduction to the Bootstrap, 1993).

**Example.** Errors of a disk 0.05, of a volume 0.20 at each of 12 points: the disk in all samples.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

import numpy as np
import numpy.typing as npt

from raidlab.calibration.fitting.bench.bench import Bench, Effort, Simulated
from raidlab.calibration.fitting.estimation.array_family import Candidate, candidates
from raidlab.calibration.fitting.estimation.by_law import (
    begun_with,
    capacity_of,
    fit_by_law,
    measured_host,
    selection_of,
)
from raidlab.calibration.fitting.estimation.stages import Settings, Task, settle
from raidlab.calibration.fitting.estimation.start import base_of, host_of, kind_for
from raidlab.calibration.fitting.parameters.facts import (
    Fact,
    bound,
    kinds_with,
)
from raidlab.calibration.fitting.parameters.kinds import TABLE, VIRTUAL_DISK, kind_of
from raidlab.calibration.fitting.parameters.parameter import Kind
from raidlab.calibration.fitting.search.loss import groups_of, total_percentile
from raidlab.calibration.fitting.search.minimise import Budget, Search, descend
from raidlab.calibration.measurements.distribution import percentile
from raidlab.calibration.measurements.measurement import Machine, Point
from raidlab.calibration.surrogates.left_out import (
    AS_WELL,
    LARGEST_ERROR,
    NO_DIFFERENCE,
    bounded,
    confidence,
    dealt,
)
from raidlab.calibration.surrogates.selection import percent_of
from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.trees import Document

Array = npt.NDArray[np.float64]


class Family(StrEnum):
    """What a device can be."""

    STATION = "station"
    VOLUME = "volume"
    DISK = "disk"
    ARRAY = "array behind a cache"
    FLASH = "flash"


_ORDER: Final = tuple(Family)
"""Those with fewer numbers first; a table has the most."""
_FEWEST: Final = 6
"""Loads below which nothing is left out."""
_MOST_POINTS: Final = 12
_DEEPEST_LOAD: Final = 64
"""I/Os outstanding beyond which a load tells nothing more of a family, and takes long."""
_PARTS: Final = 4
_GLANCE_EFFORT: Final = Effort(ios=800, ios_of_slow=300, rounds=1.5)
"""Of a simulation: families differ by tens of percent."""
_EVALUATIONS: Final = 400
"""Of the rough fit of a family, which decides how it works too."""
_DESCENT_STEPS: Final = 6
_FASTER: Final = 10.0
"""Times that a station's service may be below the least latency."""
_PERCENTS: Final = (50.0, 99.0)
_SMALL_BYTES: Final = 16 * 1024
_FASTEST_DISK_US: Final = 1000.0
"""Half a revolution at 15,000 rpm is 2 ms: half of that is no disk that seeks."""
_SLOWEST_FLASH_US: Final = 2500.0
"""A sense takes 0.4 ms at most, an adapter and a queue of its own no 2 ms."""
_FASTEST_DISK_RATE: Final = 600.0
"""Random reads a second that one disk reaches with a full queue at 15,000 rpm."""
_MOST_GAIN: Final = 4.0
"""Times as many random reads that one disk serves with a full queue as alone, at most."""
_SATA_BYTES: Final = 600e6
"""Bytes a second of SATA at 6 Gb/s."""
_SATA_RATE: Final = 120_000.0
"""I/Os a second that a SATA port completes."""


@dataclass(frozen=True)
class Tried:
    """A family, and how it predicts points left out."""

    family: Family
    kind: str
    """As `--kind` has it; of a volume the one that its law chooses."""
    errors: Array = field(repr=False)
    """Mean absolute logarithm of each point left out, shape (points,)."""
    rates: Array = field(repr=False)
    """Logarithms of predicted over measured rates, shape (points,)."""
    array: Candidate | None = None
    """Of arrays the nearest one."""

    @property
    def what(self) -> str:
        """The kind, or the array, in messages."""
        return self.kind if self.array is None else self.array.name

    @property
    def error(self) -> float:
        """Of all points."""
        return float(bounded(self.errors).mean())

    @property
    def rate_pct(self) -> float:
        """Median error of a rate in percent."""
        return percent_of(self.rates, 50.0)

    def to_dict(self) -> Document:
        """An entry of the document."""
        return {
            "family": self.family.value,
            "kind": self.kind,
            "array": None if self.array is None else self.array.to_dict(),
            "error": round(self.error, 4),
            "rate_median_abs_error_pct": round(self.rate_pct, 2),
        }


@dataclass(frozen=True)
class Excluded:
    """A family that was not tried."""

    family: Family
    why: str


@dataclass(frozen=True)
class FamilyChoice:
    """The family that was taken, what the others come to, and how sure that is."""

    taken: Tried | None
    """None where points were too few to leave any out."""
    tried: tuple[Tried, ...]
    """The best one first."""
    excluded: tuple[Excluded, ...]
    confidence: float
    only: str = ""
    """The kind of the only family that can be, which was not tried."""

    @property
    def kind(self) -> str:
        """What to fit; empty where laws are to say it."""
        if self.taken is None:
            return "" if self.only == VIRTUAL_DISK else self.only
        by_law = self.taken.family in (Family.VOLUME, Family.ARRAY)
        return "" if by_law else self.taken.kind

    def to_dict(self) -> Document:
        """The document's part."""
        return {
            "taken": None if self.taken is None else self.taken.family.value,
            "confidence": self.confidence,
            "tried": [each.to_dict() for each in self.tried],
            "excluded": {each.family.value: each.why for each in self.excluded},
        }

    def said(self) -> Iterator[str]:
        """In sentences."""
        because = "; ".join(f"no {each.family}: {each.why}" for each in self.excluded)
        if self.only:
            yield f"no --kind: {self.only} is the only one that can be ({because})"
            return
        if self.taken is None:
            yield f"no --kind: fewer than {_FEWEST} loads tell no family from another" + (
                f" ({because})" if because else ""
            )
            return
        others = ", ".join(
            f"{each.family} {100 * math.expm1(each.error):.0f} %"
            for each in self.tried
            if each is not self.taken
        )
        of = f"{100 * math.expm1(self.taken.error):.0f} %"
        text = (
            f"no --kind: {self.taken.family} ({self.taken.what}) predicts rates, p50 and p99 of"
            f" points left out {of} off on average"
        )
        text += f", {others}; sure to {100 * self.confidence:.0f} %" if others else ""
        yield text + (f" ({because})" if because else "")
        if self.taken.array is not None:
            yield (
                "a law stands in for the array: --system with a scenario of it fits its disks and"
                " its controller"
            )


def choose_family(
    points: Sequence[Point],
    machine: Machine | None,
    facts: Sequence[Fact],
    settings: Settings,
    progress: Callable[[int, int], None] = lambda done, steps: None,
) -> FamilyChoice:
    """Tries the families that can be.

    Args:
        points: The training points.
        machine: What a collector read of it.
        facts: What is known.
        settings: What the user says; its kind is empty.
        progress: Called with how many families were tried, and of how many.
    """
    kinds = {
        Family.STATION: "station", Family.VOLUME: VIRTUAL_DISK, Family.DISK: "hdd",
        Family.ARRAY: "hdd", Family.FLASH: _flash(points, machine, facts),
    }  # fmt: skip
    why = {family: _impossible(family, kinds[family], points, machine, facts) for family in _ORDER}
    excluded = tuple(Excluded(family, text) for family, text in why.items() if text)
    open_ = [family for family in _ORDER if not why[family]]
    if not set(open_) - {Family.ARRAY}:
        known = ", ".join(f"{fact.name}={fact.value}" for fact in facts)
        allowed = "; ".join(f"no {each.family}, as {each.why}" for each in excluded)
        raise SpecError([Fault("--fact", known or None, f"a device that can be: {allowed}")])
    chosen = _spanning(points)
    parts = _parts(chosen)
    if not parts or len(open_) == 1:
        only = kinds[open_[0]] if len(open_) == 1 else ""
        return FamilyChoice(None, (), excluded, float(bool(only)), only)
    tried: list[Tried] = []
    for number, family in enumerate(open_):
        progress(number, len(open_))
        try:
            tried.append(_try(family, kinds[family], chosen, parts, machine, facts, settings))
        except SpecError as error:
            text = f"its numbers fit no device: {error.faults[0].allowed}"
            excluded = (*excluded, Excluded(family, text))
    return _choice(tried, excluded)


def _choice(tried: Sequence[Tried], excluded: tuple[Excluded, ...]) -> FamilyChoice:
    least = min(each.error for each in tried)
    near = [each for each in tried if each.error <= AS_WELL * least + NO_DIFFERENCE]
    taken = min(near, key=lambda each: (each.kind == TABLE, _ORDER.index(each.family)))
    ordered = tuple(sorted(tried, key=lambda each: each.error))
    return FamilyChoice(taken, ordered, excluded, _confidence(taken, ordered))


def _confidence(taken: Tried, tried: Sequence[Tried]) -> float:
    """Share of bootstrap samples of the points in which no other family is clearly better.

    A table is no kind of device, so it does not count against one.
    """
    others = [each for each in tried if each is not taken and each.kind != TABLE]
    return confidence(
        bounded(taken.errors), [bounded(each.errors) for each in others], NO_DIFFERENCE
    )


def _impossible(
    family: Family, kind: str, points: Sequence[Point], machine: Machine | None,
    facts: Sequence[Fact],
) -> str:  # fmt: skip
    """Why a family cannot be what was measured; empty if it can."""
    for fact in facts:
        if kind not in kinds_with(fact):
            return f"{fact.name} = {str(fact.value).lower()} is known"
    device = (machine.device if machine is not None else None) or ""
    emulated = device.startswith(("vd", "xvd", "loop", "zram", "ram", "rbd", "nbd"))
    if emulated and family is not Family.VOLUME:
        return f"{device} is no drive of its own"
    if device.startswith("nvme") and family is Family.DISK:
        return f"{device} is behind NVMe"
    turning = None if machine is None else machine.rotational
    if turning is False and family is Family.DISK:
        return f"{device or 'the device'} does not turn, as the kernel says"
    alone = _alone_us(points)
    deep = max((p.iops for p in points if p.rw == "randread"), default=0.0)
    if alone is None:
        return ""
    if family is Family.DISK and alone < _FASTEST_DISK_US:
        return f"a random read alone takes {alone:.0f} us"
    if family is Family.FLASH and alone > _SLOWEST_FLASH_US:
        return f"a random read alone takes {alone / 1000.0:.1f} ms"
    if family is Family.DISK and deep > _FASTEST_DISK_RATE:
        return (
            f"reads alone are as long as a disk's, but {deep:,.0f} a second are more than one"
            " reaches: an array, which --system with its scenario fits"
        )
    if family is Family.ARRAY:
        return _no_array(points, alone, deep)
    return ""


def _no_array(points: Sequence[Point], alone: float, deep: float) -> str:
    """Why points are of no array of disks behind a cache; empty if they can be."""
    if alone < _FASTEST_DISK_US:
        return f"a random read alone takes {alone:.0f} us"
    if not any(point.write is not None for point in points):
        return "no writes were measured, which say the level"
    gain = deep * alone / 1e6
    if gain < _MOST_GAIN:
        return f"a full queue serves {gain:.1f} times as many reads as one alone, as a disk does"
    return ""


def _alone_us(points: Sequence[Point]) -> float | None:
    """The median of small random reads alone in microseconds; None if none were measured."""
    alone = [
        point.read.latency_mean_us
        for point in points
        if point.outstanding == 1 and point.rw.startswith("rand") and point.bs <= _SMALL_BYTES
        and point.read is not None
    ]  # fmt: skip
    return statistics.median(alone) if alone else None


def _flash(points: Sequence[Point], machine: Machine | None, facts: Sequence[Fact]) -> str:
    """`nvme` where it is called so, or faster than SATA lets a drive be; else `ssd`."""
    for fact in facts:
        kinds = set(kinds_with(fact)) & {"ssd", "nvme"}
        if len(kinds) == 1:
            return kinds.pop()
    device = (machine.device if machine is not None else None) or ""
    fast = any(p.iops > _SATA_RATE or p.iops * p.bs > _SATA_BYTES for p in points)
    return "nvme" if device.startswith("nvme") or fast else "ssd"


def _spanning(points: Sequence[Point]) -> list[Point]:
    """A dozen points that span the loads: each next one is the furthest from those taken."""
    shallow = [point for point in points if point.outstanding <= _DEEPEST_LOAD]
    points = shallow if len(shallow) >= _FEWEST else points
    if len(points) <= _MOST_POINTS:
        return list(points)
    rows = [
        (2.0 * p.read_share, math.log2(p.bs) / 4.0, math.log2(p.iodepth) / 2.0,
         math.log2(p.numjobs) / 2.0, 2.0 * (not p.rw.startswith("rand")))
        for p in points
    ]  # fmt: skip
    places = np.array(rows)
    taken = [min(range(len(points)), key=lambda at: points[at].outstanding)]
    while len(taken) < _MOST_POINTS:
        apart = np.linalg.norm(places[:, None] - places[taken][None], axis=2).min(axis=1)
        taken.append(int(np.argmax(apart)))
    return [points[at] for at in sorted(taken)]


def _parts(points: Sequence[Point]) -> list[list[int]]:
    """Points to leave out together; none of too few."""
    loads = ((p.rw, round(p.read_share, 2), p.bs, p.iodepth, p.numjobs) for p in points)
    return dealt(loads, _PARTS, _FEWEST)


def _try(
    family: Family, kind: str, points: Sequence[Point], parts: Sequence[Sequence[int]],
    machine: Machine | None, facts: Sequence[Fact], settings: Settings,
) -> Tried:  # fmt: skip
    """Fits a family without each part and predicts that.

    Raises:
        SpecError: No device of the family can be as the facts say.
    """
    values = dict(settings.overrides) | bound(kind, facts)
    settings = replace(settings, kind=kind, overrides=values)
    if family is Family.ARRAY:
        return _try_array(points, parts, settings)
    benches: Iterator[Bench]
    if family is Family.VOLUME:
        kind, benches = _volumes(points, parts, machine, settings)
    else:
        benches = _mechanical(family, points, parts, settings)
    errors, rates = np.zeros(len(points)), np.zeros(len(points))
    for part, bench in zip(parts, benches, strict=True):
        of = [points[at] for at in part]
        try:
            results = bench.run_all(of, _GLANCE_EFFORT, settings.workers)
        except SpecError:
            errors[part], rates[part] = LARGEST_ERROR, LARGEST_ERROR
            continue
        for at, point, result in zip(part, of, results, strict=True):
            errors[at], rates[at] = _error_of(point, result)
    return Tried(family, kind, errors, rates)


def _try_array(
    points: Sequence[Point], parts: Sequence[Sequence[int]], settings: Settings
) -> Tried:
    """Of each level the array that reads say; the level is taken by the points not left out."""
    arrays = list(candidates(points, settings.workers))
    found = np.array(
        [
            [_error_of(p, r) for p, r in zip(points, a.run(points, settings.workers), strict=True)]
            for a in arrays
        ]
    )
    errors, rates = np.zeros(len(points)), np.zeros(len(points))
    for part in parts:
        others = [at for at in range(len(points)) if at not in set(part)]
        best = int(np.argmin(found[:, others, 0].mean(axis=1)))
        errors[part], rates[part] = found[best, part, 0], found[best, part, 1]
    nearest = arrays[int(np.argmin(found[:, :, 0].mean(axis=1)))]
    return Tried(Family.ARRAY, "array", errors, rates, nearest)


def _error_of(point: Point, result: Simulated) -> tuple[float, float]:
    """Mean absolute logarithm of rate, p50 and p99; the logarithm of the rate's ratio."""
    rate = math.log(max(result.iops, 1e-9) / point.iops)
    logs = [rate]
    for name, side in point.sides():
        simulated = result.side(name)
        for percent in _PERCENTS:
            measured = total_percentile(point, side, percent)
            if not measured:
                continue
            of = (percentile(simulated, percent) if simulated else None) or 1e-9
            logs.append(math.log(of / measured))
    return float(bounded(np.array(logs)).mean()), rate


def _volumes(
    points: Sequence[Point], parts: Sequence[Sequence[int]], machine: Machine | None,
    settings: Settings,
) -> tuple[str, Iterator[Bench]]:  # fmt: skip
    """What laws make of all points (a virtual disk or a table), and benches without each part."""
    host = host_of(kind_of(VIRTUAL_DISK), settings, None)
    if not settings.host:
        host, _ = measured_host(host, points, machine)
    kind = TABLE if selection_of(points, host, machine).no_law else VIRTUAL_DISK
    tree, _ = base_of(kind_of(kind), replace(settings, kind=kind), "trial", None)
    if "capacity" not in settings.overrides:
        tree = begun_with(tree, capacity_of(points, machine))

    def benches() -> Iterator[Bench]:
        for part in parts:
            others = _without(points, part)
            selection = selection_of(others, host, machine)
            yield fit_by_law(kind, tree, host, others, selection, settings.workers).bench

    return kind, benches()


def _mechanical(
    family: Family, points: Sequence[Point], parts: Sequence[Sequence[int]], settings: Settings
) -> Iterator[Bench]:
    """Benches fitted roughly to all points, then without each part from there on."""
    kind = kind_for(settings)
    tree, _ = base_of(kind, settings, "trial", None)
    if family is Family.STATION:
        kind = _near_stations(kind, points)
    task = Task(kind, host_of(kind, settings, None), tuple(points), settings, rough=_GLANCE_EFFORT)
    settled = settle(task, tree, Budget(_EVALUATIONS), lambda done, steps: None)
    model, groups = settled.model, groups_of(points)
    evaluate = task.evaluator(model)
    for part in parts:
        left = set(part)
        seen = tuple(at for at in range(len(points)) if at not in left)
        endless = Budget(10 * _EVALUATIONS)
        search = Search(evaluate, settled.start, seen, endless, model.parameters, groups)

        def residuals(at: Array, search: Search = search, seen: tuple[int, ...] = seen) -> Array:
            return search.residuals(at, seen, rough=True)

        yield model.bench(descend(residuals, settled.place, model.parameters, _DESCENT_STEPS))


def _near_stations(kind: Kind, points: Sequence[Point]) -> Kind:
    """Stations that are not far faster than any I/O: a thousandfold rate takes long to simulate."""
    fastest = min(point.latency_mean_us for point in points) / _FASTER
    declared = tuple(
        replace(each, low=max(each.low, fastest)) if each.key == "service" else each
        for each in kind.declared
    )
    return replace(kind, declared=declared)


def _without(points: Sequence[Point], part: Sequence[int]) -> list[Point]:
    left = set(part)
    return [point for at, point in enumerate(points) if at not in left]
