"""What monitoring leaves open of a load, fitted to the waits of the present system.

Order, locality and bursts below the sampling interval are in no file, but the present system's
waits depend on them: at low rates on order and locality, at high rates on bursts too. Choices of
all of it are simulated on the present system, first evenly spread, then around the nearest ones.
Those whose waits are as monitored, within a tolerance, are kept: approximate Bayesian computation
by rejection (Pritchard et al., 1999; Beaumont, 2010). Where different choices give the same waits,
all of them are kept, so that another system is simulated with each.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.trees import Document
from raidlab.devices.units import SIZE
from raidlab.scenarios import _engine
from raidlab.scenarios.results.number_text import digits, percent
from raidlab.scenarios.running.simulate import results_of
from raidlab.scenarios.spec.monitored import Fit, MonitoredLoad, Openness
from raidlab.scenarios.studies.one_cause import Cause, Point, causes
from raidlab.scenarios.studies.present import Present, System, Windows, beside
from raidlab.scenarios.studies.running import Running

TOLERANCE = 0.15
"""Root mean square of the waits' errors up to which a choice gives what was monitored."""
_WINDOWS = 8
_SPREAD = 48
"""Choices that are spread evenly, and those of each round around the nearest ones."""
_ROUNDS = (20, 16, 12)
_BASES = 8
"""Choices under which the used part of the system is followed."""
_PARENTS = 6
_ALIKE_SHARE = 0.3
"""Distance of two choices, in shares of the ranges, up to which they are refined as one."""
_STEP = 0.25
"""Standard deviation of the first round's steps, in shares of each range; then half of it."""
_MEMBERS = 24
"""A new draw lies within the range of n others with probability (n - 1) / (n + 1): 92 %."""
_BEYOND_BEST = 0.08
"""Error beside the least one, in quadrature, of choices that are kept too: that of the models."""
_IOS, _SURE_IOS = 30_000.0, 200_000.0
"""Of a choice that is tried, and of one of the nearest that is simulated again."""
_SURE_RUNS = 32
_BURSTS = (1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 12.0, 16.0)
_LEAST_HOT = 16 << 20
_LEAST_PART = 1e-4
"""Of the system that is used."""
_DIMENSIONS = 6
OPEN = ("sequential_read", "sequential_write", "hot_share", "bursts")
"""What is given hour by hour, as `Openness` calls it."""


@dataclass(frozen=True)
class HourFit:
    """What a window says of what is open, by the nearest choices."""

    at_s: float
    """Since the file's begin."""
    monitored_ms: float | None
    """Mean wait."""
    low_ms: float
    """Least and greatest simulated mean wait of the choices that are kept."""
    high_ms: float
    choices: tuple[Openness, ...]
    """Those of the nearest that give the window's mean wait within the tolerance."""

    def span(self, name: str) -> tuple[float, float] | None:
        """Least and greatest value of an open quantity; None where no choice gives the wait."""
        values = [float(getattr(each, name)) for each in self.choices]
        return (min(values), max(values)) if values else None

    def to_dict(self) -> Document:
        """Plain data."""
        return {
            "at_s": self.at_s,
            "monitored_ms": self.monitored_ms,
            "simulated_ms": [self.low_ms, self.high_ms],
            "choices": len(self.choices),
            **{name: list(found) if (found := self.span(name)) else None for name in OPEN},
        }


@dataclass(frozen=True)
class Fitted:
    """A load whose open parts were fitted, and the system beside it."""

    load: MonitoredLoad
    present: Present
    tried: int
    warnings: tuple[str, ...] = ()
    breaches: tuple[str, ...] = ()
    hours: tuple[HourFit, ...] = ()
    """Window by window."""

    def to_dict(self) -> Document:
        """The document of `raidlab fit-load --json`."""
        return {
            "title": self.present.system,
            "version": _engine.version(),
            **self.fit.model_dump(mode="json"),
            "tried": self.tried,
            "present": self.present.to_dict(),
            "hours": [each.to_dict() for each in self.hours],
            "warnings": list(self.warnings),
            "breaches": list(self.breaches),
        }

    @property
    def fit(self) -> Fit:
        """What was chosen."""
        if self.load.fit is None:
            raise ValueError("a fitted load has a fit")
        return self.load.fit


def fit_open(system: System, load: MonitoredLoad, running: Running, seed: int) -> Fitted:
    """Fits what a monitored load leaves open to the waits of the present system.

    Args:
        system: The present system.
        load: What was monitored of it.
        running: Workers, store and progress.
        seed: Seed of the random numbers: the same gives the same fit.

    Raises:
        SpecError: The file has no waits, or the system cannot be.
    """
    every = Windows(load, _IOS)
    windows = every.only(every.some(_WINDOWS))
    usable = system.loaded([{"rw": "randread", "block_size": "4 KiB"}], {}).usable_bytes
    area = str(system.load_place.get("area", "whole"))
    held = usable if area == "whole" else min(usable, int(SIZE.convert(area)))
    if usable < 2 * _LEAST_HOT:
        allowed = f"a system with at least {2 * _LEAST_HOT >> 20} MiB"
        raise SpecError([Fault("array", usable, allowed, (), str(system.path or ""))])
    search = _Search(system, windows, held, running, seed)
    search.try_all(_spread(search.causes, seed))
    for at, count in enumerate(_ROUNDS):
        alone = list(search.alone())
        search.try_all([*alone, *search.around(count - len(alone), _STEP / 2**at, at)])
    search.confirm(Windows(load, _SURE_IOS))
    tolerance = math.hypot(TOLERANCE, search.noise)
    members = search.members(tolerance)
    fit = Fit(
        system=system.title, system_bytes=held, seed=seed, tolerance_pct=round(100 * tolerance, 2),
        holds=members[0].error_pct <= 100 * tolerance, members=tuple(members),
    )  # fmt: skip
    fitted = load.model_copy(update={"fit": fit})
    silent = replace(running, progress=None)
    present = beside(system, fitted, silent, seed)
    tried = _SPREAD + sum(_ROUNDS)
    said = (*_layers(system, load), *another_system(present, fit, search.noise))
    return Fitted(fitted, present, tried, said, hours=tuple(search.hours(members, tolerance)))


def another_system(present: Present, fit: Fit, noise: float) -> Iterator[str]:
    """Why the system may not be what was monitored, where no choice is near: which waits are off.

    Models of real systems err as well, so a choice within the tolerance is a doubt, no refusal.

    Args:
        present: The system under the nearest choice, beside what was monitored.
        fit: What came out.
        noise: What another seed changes of the waits, as a share.
    """
    error_pct, explained_pct = fit.members[0].error_pct, 100 * math.hypot(_BEYOND_BEST, noise)
    if error_pct <= explained_pct:
        return
    text = (
        f"the nearest choice is {error_pct:.0f} % off, where models and chance explain"
        f" {explained_pct:.0f} %"
    )
    if (worst := _furthest(present)) is not None:
        text += f": {worst}"
    yield f"{text}; another drive, level or count of drives, or another load on them?"


def _furthest(present: Present) -> str | None:
    """Which waits are furthest off: of reads or writes, in the quiet windows or the busy ones."""
    order = sorted(present.hours, key=lambda each: each.monitored.iops)
    half = (len(order) + 1) // 2
    found: list[tuple[float, str]] = []
    for name, windows in (("quietest", order[:half]), ("busiest", order[-half:])):
        for side in ("read", "write"):
            logs = [
                math.log(simulated / monitored)
                for each in windows
                if (simulated := getattr(each.simulated, f"{side}_ms"))
                and (monitored := getattr(each.monitored, f"{side}_ms"))
            ]
            if logs:
                mean = sum(logs) / len(logs)
                word = "longer" if mean > 0 else "shorter"
                by = f"{100 * abs(math.expm1(mean)):.0f} %"
                text = (
                    f"simulated {side}s wait {by} {word} than monitored in the {len(logs)} {name}"
                    " windows"
                )
                found.append((abs(mean), text))
    return max(found)[1] if found else None


def _layers(system: System, load: MonitoredLoad) -> Iterator[str]:
    """Doubts about whether the file's devices are what the system's loads see."""
    arrays = system.tree.get("array")
    md = isinstance(arrays, Sequence) and any(
        isinstance(each, Mapping) and each.get("software_raid") == "os" for each in arrays
    )
    if md and len(load.devices) > 1:
        yield (
            f"the load is that of {len(load.devices)} devices: if they are the members of RAID in"
            " the host, RAID's own I/Os are in it; `import monitoring --device md0` takes the array"
        )


def _cube(count: int, seed: int) -> list[Point]:
    """A Latin hypercube."""
    from scipy.stats import qmc

    found = qmc.LatinHypercube(d=_DIMENSIONS, seed=seed).random(count)
    return [tuple(float(each) for each in point) for point in found]


def _bases(seed: int) -> list[Point]:
    """Under which the part of the system is followed: half of them without bursts."""
    points = _cube(_BASES, seed + 1)
    return [(*point[:4], 0.0 if at % 2 else point[4], point[5]) for at, point in enumerate(points)]


def _spread(causes: Sequence[Cause], seed: int) -> list[Point]:
    """What is tried of each cause, corners that people would name first, a Latin hypercube."""
    alone = (point for cause in causes for point in cause.tried.values())
    corners = list(
        dict.fromkeys((*alone, (0.0, 1.0, 0.0, 0.5, 0.0, 1.0), (0.0, 0.0, 0.85, 0.5, 0.0, 1.0)))
    )
    return [*corners, *_cube(_SPREAD - len(corners), seed)]


class _Search:
    """Choices that were simulated, with their errors."""

    def __init__(
        self, system: System, windows: Windows, held: int, running: Running, seed: int
    ) -> None:
        self.system, self.windows, self.held = system, windows, held
        self.running, self.seed = running, seed
        self.tried: dict[Point, float] = {}
        self.presents: dict[Point, Present] = {}
        self.causes = causes(_bases(seed))
        self.noise = 0.0
        """What another seed changes of the waits: root mean square, as a share."""
        self.total = _SPREAD + sum(_ROUNDS) + _SURE_RUNS + 1

    def openness(self, point: Point, error: float = 0.0) -> Openness:
        """A choice with its units."""
        read, write, share, size, bursts, part = point
        used = min(self.held, max(2 * _LEAST_HOT, self.held * _LEAST_PART ** (1 - part)))
        hot = _LEAST_HOT * (used / _LEAST_HOT) ** size
        return Openness(
            sequential_read=round(read, 3),
            sequential_write=round(write, 3),
            hot_share=round(share, 3),
            hot_bytes=max(_LEAST_HOT, int(hot) >> 20 << 20),
            used_bytes=0 if part == 1 else int(used) >> 20 << 20,
            bursts=_BURSTS[min(len(_BURSTS) - 1, int(bursts * len(_BURSTS)))],
            error_pct=round(100 * min(error, 1e6), 2),
        )

    def try_all(self, points: Sequence[Point]) -> None:
        """Simulates choices."""
        scenarios = [self.windows.scenario(self.system, self.openness(each)) for each in points]
        before, progress = len(self.tried), self.running.progress
        refused: dict[int, list[Fault]] = {}
        results = results_of(
            scenarios, self.seed, workers=self.running.workers, store=self.running.store,
            progress=None if progress is None
            else lambda done, _: progress(before + done, self.total),
            refused=refused, heeds_past=False,
        )  # fmt: skip
        found = list(results)
        run = [at for at in range(len(points)) if at not in refused]
        for at, result in zip(run, found, strict=True):
            present = self.windows.beside(self.system, scenarios[at], result)
            self.tried[points[at]] = present.error
            self.presents[points[at]] = present
        for at in refused:
            # More waits than this machine can hold: a choice that is far off.
            self.tried[points[at]] = math.inf

    def confirm(self, windows: Windows) -> None:
        """Simulates the nearest choices again, longer and with another seed; others are dropped.

        The nearest of many that were tried shortly owes some of that to chance.
        """
        nearest = self.best()[:_SURE_RUNS]
        self.windows, self.tried, self.presents, self.seed = windows, {}, {}, self.seed + 1
        self.total = len(nearest) + 1
        self.try_all(nearest)
        nearest = self.best()[:1]
        scenario = windows.scenario(self.system, self.openness(nearest[0]))
        one, two = (
            windows.beside(self.system, scenario, result)
            for seed in (self.seed, self.seed + 1)
            for result in results_of(
                [scenario], seed, workers=self.running.workers, store=self.running.store,
                heeds_past=False,
            )
        )  # fmt: skip
        self.noise = one.apart(two)

    def best(self) -> list[Point]:
        """The nearest first."""
        return sorted(self.tried, key=lambda each: (self.tried[each], each))

    def parents(self) -> list[Point]:
        """The nearest choices that are not alike: different causes may give the same waits."""
        order = self.best()
        found: list[Point] = []
        for each in order:
            if len(found) < _PARENTS and all(
                _distance(each, other) > _ALIKE_SHARE for other in found
            ):
                found.append(each)
        return found

    def alone(self) -> Iterator[Point]:
        """The next choice of each cause that alone may give the monitored waits."""

        def off(point: Point) -> float | None:
            present = self.presents.get(point)
            errors = [] if present is None else present.whole.errors
            return sum(errors) / len(errors) if errors else None

        for cause in self.causes:
            value = cause.next_value(off)
            if value is not None:
                yield cause.at(value)

    def around(self, count: int, step: float, number: int) -> list[Point]:
        """New choices around the nearest ones, each with some of its numbers changed."""
        import numpy as np

        random = np.random.default_rng([self.seed, number])
        parents = self.parents()
        found = []
        for at in range(count):
            parent = parents[at % len(parents)]
            change = random.normal(0.0, step, _DIMENSIONS) * (random.random(_DIMENSIONS) < 0.6)
            moved = [min(1.0, max(0.0, a + float(b))) for a, b in zip(parent, change, strict=True)]
            found.append(tuple(moved))
        return found

    def hours(self, members: Sequence[Openness], tolerance: float) -> Iterator[HourFit]:
        """Each window by itself: which of the nearest choices give its mean wait."""
        kept = [(self.openness(at, self.tried[at]), each) for at, each in self.presents.items()]
        taken = [present for openness, present in kept if openness in members]
        for at, window in enumerate(self.windows.windows):
            monitored = self.windows.monitored[at].mean_ms
            waits = [each.hours[at].simulated.mean_ms or math.nan for each in taken]
            waits = [each for each in waits if not math.isnan(each)]
            if not waits:
                continue
            near = tuple(
                openness
                for openness, present in kept
                if monitored
                and (wait := present.hours[at].simulated.mean_ms)
                and abs(math.log(wait / monitored)) <= math.log1p(tolerance)
            )
            begin = window.first * self.windows.load.step_s
            yield HourFit(begin, monitored, min(waits), max(waits), near)

    def members(self, tolerance: float) -> list[Openness]:
        """The choices that are kept: the nearest, then those that differ most from those kept."""
        order = self.best()
        least = self.tried[order[0]]
        bound = min(tolerance, math.hypot(least, _BEYOND_BEST, self.noise))
        near = [each for each in order if self.tried[each] <= bound]
        kept = order[:1]
        rest = [each for each in near if each not in kept]
        while rest and len(kept) < _MEMBERS:
            far = max(rest, key=lambda each: min(_distance(each, other) for other in kept))
            kept.append(far)
            rest.remove(far)
        return [self.openness(each, self.tried[each]) for each in kept]


def _distance(one: Point, other: Point) -> float:
    return math.dist(one, other)


def off(error: float) -> str:
    """An error of waits: in percent, or as a factor beyond a double."""
    return percent(error) if error <= 1 else f"a factor of {digits(1 + error)}"


def doubt(found: Present, tolerance: float = TOLERANCE) -> str:
    """What follows where both differ by more than the tolerance; empty if they do not."""
    if found.error <= tolerance:
        return ""
    if not math.isfinite(found.error):
        return f"{found.system} was not checked against what was monitored"
    return (
        f"{found.system} is off by {off(found.error)} from what was monitored: the system is"
        " not what its file says, or the load is not; what follows rests on it"
    )
