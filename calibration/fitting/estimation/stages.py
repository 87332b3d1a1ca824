"""The order of a fit: options and what one direction determines first, then all together.

Each mode of operation (`kinds.Mode`) is decided on the points that show it, by a search of that
direction's parameters under each of its options; what remains are numbers, and a joint fit of them
on all points begins where these searches ended.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from raidlab.calibration.fitting.bench.bench import Bench, Effort
from raidlab.calibration.fitting.bench.system import System
from raidlab.calibration.fitting.certainty.replicates import scaled_by_replicates
from raidlab.calibration.fitting.estimation.decision import Decision, decided
from raidlab.calibration.fitting.estimation.fit import Fit, Residuals, Schedule, fit
from raidlab.calibration.fitting.estimation.model import FitModel, alone
from raidlab.calibration.fitting.parameters.facts import Fact
from raidlab.calibration.fitting.parameters.kinds import ALONE_AND_BESIDE, declared_for, that_apply
from raidlab.calibration.fitting.parameters.parameter import (
    Choice,
    Kind,
    Mode,
    Option,
    Parameter,
    choose,
)
from raidlab.calibration.fitting.parameters.system_kinds import CONTROLLER_TABLE
from raidlab.calibration.fitting.points.saturation import at_limit
from raidlab.calibration.fitting.search.checkpoint import Checkpoint
from raidlab.calibration.fitting.search.loss import (
    NOWHERE,
    groups_of,
    rate_tolerance,
    rate_tolerances,
    reads_alone_and_beside,
    residuals,
    robust,
    values,
)
from raidlab.calibration.fitting.search.minimise import (
    ENDLESS,
    Budget,
    Evaluate,
    Search,
    Stage,
    global_search,
)
from raidlab.calibration.fitting.search.prior import Prior
from raidlab.calibration.measurements.measurement import Point
from raidlab.devices.faults import SpecError
from raidlab.devices.trees import Tree, Value, copied, get, put
from raidlab.devices.units import DURATION
from raidlab.scenarios.running.simulate import Progress

Array = npt.NDArray[np.float64]
ROUGH = Effort(ios=2000, ios_of_slow=700, rounds=3.0)
FINE = Effort(ios=4000, ios_of_slow=2500, rounds=10.0, programs=40.0)
CAREFUL = Effort(ios=12_000, ios_of_slow=6000, rounds=10.0, programs=100.0)
AFTER: Final = 2
"""Steps after the searches of parts: all parameters with their errors, the comparison."""
_SPANNING: Final = 6
"""Points that span a set."""
_LIMIT_POINTS: Final = 8
"""Points on which the joint fit compares what limits them."""
_RUNS: Final = 8
"""Runs by whose differences what changes over time is judged."""
_PAGE: Final = 4096
_LARGE_BLOCK_RATIO: Final = 4
"""Times the smallest block, from which on a block separates the time of its bytes from a
command's."""
_MODE_POINTS: Final = 4
"""Points on which modes of operation are compared."""
IMPOSSIBLE: Final = 100.0
PER_PARAMETER: Final = 2.0
"""What a parameter more must lower the loss by to be worth it (Akaike 1974)."""
_LEAST_SAMPLES: Final = 50
_AROUND = ("host.", f"{CONTROLLER_TABLE}.")
"""What keys begin with that are not the drive's."""
BUDGET: Final = 20_000
"""Evaluations that are enough for any part of a fit: one takes 700 to 2,000 of them in all."""
_NO_CHOICE = Choice({}, frozenset(), {})


@dataclass(frozen=True)
class Settings:
    """What a user says of a calibration."""

    kind: str
    host: str = ""
    """Of the catalogue, or a file; if empty, those that are usual for the kind are tried."""
    system: str = ""
    """Scenario file of the system around it, for kinds that need one."""
    like: str = ""
    """Device to start from; the kind's template, or the scenario's device, if empty."""
    name: str = ""
    """Of the fitted device."""
    train: str = ""
    """Points that the fit may see; all if empty."""
    overrides: Mapping[str, Value] = field(default_factory=dict)
    """Values of the device file to replace before the fit, by dotted key."""
    facts: tuple[Fact, ...] = ()
    """What is known of the device: it binds, and tells kinds apart."""
    known: frozenset[str] = frozenset()
    """Keys of the device file that its system states: they bind, too."""
    choice: Choice = _NO_CHOICE
    budget: int = BUDGET
    """Evaluations that the search may take: places of the parameters that are simulated."""
    time_limit_s: float | None = None
    """Seconds after which it stops all the same, so that the result depends on the machine."""
    seed: int = 1
    workers: int = 1
    leave_out: bool = True


@dataclass(frozen=True)
class Task:
    """What is to be fitted, to what."""

    kind: Kind
    host: Mapping[str, Value]
    points: tuple[Point, ...]
    settings: Settings
    checkpoint: Checkpoint | None = None
    """Where evaluations are stored."""
    system: System | None = None
    """What it stands in; None for a drive behind the host."""
    prior: Prior | None = None
    """What the device to start from knows; None for a template."""
    rough: Effort = ROUGH
    """Of rough looks."""

    @property
    def sides(self) -> frozenset[str]:
        """The directions that were measured."""
        return frozenset(name for point in self.points for name, _ in point.sides())

    @property
    def has(self) -> frozenset[str]:
        """What can show a parameter: how the system works, which loads were measured."""
        found = set(self.system.has if self.system else ())
        for side in self.sides:
            blocks = [p.bs for p in self.points if getattr(p, side)]
            if max(blocks) >= _LARGE_BLOCK_RATIO * min(blocks):
                found.add(f"large {side}s")
        if reads_alone_and_beside(self.points):
            found.add(ALONE_AND_BESIDE)
        return frozenset(found)

    def wide(self, parameter: Parameter) -> Parameter:
        """The parameter widened for a slow drive.

        A part of an I/O takes as long as a whole one with the fewest outstanding, at most.
        """
        of_drive = not self.kind.needs and not parameter.key.startswith(_AROUND)
        if parameter.scale != "log" or parameter.unit not in DURATION.units or not of_drive:
            return parameter
        of = [p for p in self.points if parameter.side == "both" or getattr(p, parameter.side)]
        if not of:
            return parameter
        longest_us = min(of, key=lambda point: point.outstanding).latency_mean_us
        longest = longest_us * float(DURATION.units["us"] / DURATION.units[parameter.unit])
        return replace(parameter, high=max(parameter.high, longest))

    def model(self, tree: Mapping[str, Value], set_by_modes: frozenset[str]) -> FitModel:
        """The model of a device file, varying what applies to it."""
        kind, choice = self.kind, self.settings.choice
        has = self.has
        # The state of a system's drives stands in its scenario.
        known_state = self.system is not None or all(p.state is not None for p in self.points)
        declared = [
            parameter
            for parameter in declared_for(kind, tree, self.host, self.sides, has)
            if not (known_state and parameter.key.startswith("state."))
            and parameter.key not in set_by_modes
            and parameter.key not in self.settings.overrides
            and parameter.key not in self.settings.known
        ]
        declared = [self.wide(parameter) for parameter in declared]
        if self.prior is not None:
            declared = [self.prior.of(parameter) for parameter in declared]
        # A user may free what these points are not expected to show.
        shown = {parameter.key for parameter in declared}
        freed = [
            replace(parameter, needs="")
            for parameter in kind.declared
            if parameter.needs and parameter.key in choice.free - shown
        ]
        extra = that_apply((*kind.extra, *freed), tree, self.sides, has)
        parameters, fixed = choose(declared, extra, choice, self.settings.overrides)
        known = {p.key: p for p in (*kind.declared, *kind.extra, *declared, *extra)}
        ties = {key: known[other] for key, other in choice.tie.items()}
        stand = self.system.bench if self.system else alone
        return FitModel(tree, self.host, parameters, ties, known, fixed, stand)

    def evaluator(
        self, model: FitModel, fine: Effort = FINE, at_limit: Mapping[int, float] = NOWHERE
    ) -> Evaluate:
        """Residuals of points at a place; `fine` is the effort where it is no rough look.

        Of careful runs the points `at_limit` bind as plateaus do.
        """
        groups = groups_of(self.points)
        # Short runs scatter by more than what binds a plateau.
        usual = tuple(map(rate_tolerance, self.points))
        bound = usual
        if fine.ios >= CAREFUL.ios:
            ios = [fine.ios_for(point) for point in self.points]
            bound = rate_tolerances(self.points, ios, at_limit)

        last: list[tuple[bytes, Bench]] = []

        def bench_at(at: Array) -> Bench:
            # Points of one place are looked at in parts.
            if not last or last[0][0] != at.tobytes():
                last[:] = [(at.tobytes(), model.bench(at))]
            return last[0][1]

        def evaluate(at: Array, indices: Sequence[int], rough: bool) -> Array:  # noqa: FBT001
            rates = usual if rough else bound
            looked = [self.points[index] for index in indices]
            try:
                bench = bench_at(at)
                results = bench.run_all(
                    looked, self.rough if rough else fine, self.settings.workers
                )
            except SpecError:
                # Numbers that no drive can have are as far away as can be.
                count = sum(1 for group in groups if group in set(indices))
                return np.full(count, IMPOSSIBLE)
            return values(residuals(looked, results, [rates[index] for index in indices]))

        if self.checkpoint is None:
            return evaluate
        what = {
            "tree": model.tree,
            "host": model.host,
            "system": self.system and self.system.scenario.fingerprint,
            "parameters": [repr(parameter) for parameter in model.parameters],
            "fixed": model.fixed,
            "effort": repr(fine),
            "at_limit": sorted(at_limit.items()),
            "ties": {key: repr(parameter) for key, parameter in model.ties.items()},
            "points": [point.model_dump() for point in self.points],
        }
        return self.checkpoint.of(what, evaluate)


@dataclass
class Settled:
    """Where the searches of parts have ended."""

    model: FitModel
    start: Array
    """What the files say, in the unit cube."""
    place: Array
    evaluations: int = 0
    decisions: tuple[Decision, ...] = ()
    cut: frozenset[str] = frozenset()
    """What ended a search early: `evaluations`, `time`."""
    searches: int = 0
    """How many there were."""


def settle(task: Task, tree: Mapping[str, Value], budget: Budget, progress: Progress) -> Settled:
    """Decides the modes of operation and finds a place to begin at.

    Args:
        task: What is to be fitted.
        tree: The device file to begin with.
        budget: What these searches may spend.
        progress: Called with how many steps are done, and of how many, with the `AFTER` that
            follow.

    Raises:
        SpecError: A parameter that the user names does not exist.
    """
    tree = _as_said(task, tree)
    chosen: Tree = {}
    current = _at(task, tree, chosen, {})
    steps = _steps(task, current.model.parameters)
    for number, (mode, side, points) in enumerate(steps):
        progress(number, len(steps) + AFTER)
        rest = max(0, budget.evaluations - current.evaluations)
        part = replace(budget, evaluations=rest // (len(steps) - number))
        if mode is None:
            varied = _varied(current.model, side, task)
            _search(task, current, varied, points, part)
        else:
            current, tree = _decide(task, tree, chosen, current, mode, points, part)
    current.searches = len(steps)
    return current


def _as_said(task: Task, tree: Mapping[str, Value]) -> Tree:
    """The tree with what is usual for the modes of operation that the user has said."""
    changed = copied(tree)
    for mode in task.kind.modes:
        for option in mode.options:
            if all(task.settings.overrides.get(k) == v for k, v in option.values.items()):
                _put_usual(task, changed, option)
    return changed


def _put_usual(task: Task, tree: Tree, option: Option) -> None:
    settings = task.settings
    for key, value in option.usual.items():
        if key not in settings.overrides and key not in settings.choice.fix:
            put(tree, key, value)


def _steps(
    task: Task, parameters: Sequence[Parameter]
) -> list[tuple[Mode | None, str, tuple[int, ...]]]:
    """What is searched for, one after the other: a mode or none, the direction, the points."""
    modes = [mode for mode in task.kind.modes if _is_open(mode, task)]
    steps: list[tuple[Mode | None, str, tuple[int, ...]]] = []
    if any(key.startswith("host.") for key in task.settings.choice.free):
        steps.append((None, "host", spanning(task.points, range(len(task.points)))))
    sides = [side for side in ("read", "write") if side in task.sides]
    if not modes and len(sides) == 2 and all(p.side == "both" for p in parameters):
        # What both directions determine is looked for on both.
        points = [_points_for(task, side, _MODE_POINTS) for side in sides]
        return [*steps, (None, sides[0], tuple(sorted({*points[0], *points[1]})))]
    for side in sides:
        of = [mode for mode in modes if mode.side == side]
        steps += [(mode, side, _points_for(task, side, _MODE_POINTS)) for mode in of]
        if not of:
            steps.append((None, side, _points_for(task, side)))
    return steps


def joint(task: Task, settled: Settled, budget: Budget) -> Fit:
    """All parameters on all points, from where the parts have ended, with what they have left."""
    model, groups = settled.model, groups_of(task.points)
    others = range(1, 1 + _RUNS) if task.kind.over_time else ()
    runs = [task.evaluator(model, replace(CAREFUL, seed=CAREFUL.seed + by)) for by in others]
    as_run = scaled_by_replicates(runs, settled.place, groups)

    def careful(place: Array) -> Evaluate:
        limit: Mapping[int, float] = NOWHERE
        if not task.kind.over_time:
            limit = at_limit(
                lambda: model.bench(place), task.points, CAREFUL, task.settings.workers
            )
        return as_run(task.evaluator(model, CAREFUL, limit))

    residuals = Residuals(
        as_run(task.evaluator(model)),
        groups,
        careful=careful,
        runs=[as_run(run) for run in runs],
        few=spanning(task.points, range(len(task.points)), _LIMIT_POINTS),
        depends=lambda parameter, at: depends(task.kind, parameter, task.points[at]),
    )
    schedule = Schedule(
        budget=replace(budget, evaluations=max(0, budget.evaluations - settled.evaluations)),
        seed=task.settings.seed,
        begin=settled.place,
        evaluated=settled.evaluations,
    )
    return fit(model.parameters, settled.start, residuals, schedule)


def depends(kind: Kind, parameter: Parameter, point: Point) -> bool:
    """Whether a point depends on a parameter at all.

    Collection, and blocks that are no whole pages, read and write besides what the load does.
    """
    if not kind.apart or parameter.side == "both" or getattr(point, parameter.side):
        return True
    return point.state == "steady-state" or point.bs % _PAGE != 0


def _is_open(mode: Mode, task: Task) -> bool:
    """True if nobody has said how the device works, and some point shows it."""
    named = {key for option in mode.options for key in option.values}
    settings = task.settings
    given = set(settings.overrides) | set(settings.choice.fix) | settings.choice.free
    said = named & (given | settings.known)
    return not said and not settings.like and mode.side in task.sides


def _decide(
    task: Task,
    tree: Mapping[str, Value],
    chosen: Tree,
    current: Settled,
    mode: Mode,
    points: tuple[int, ...],
    budget: Budget,
) -> tuple[Settled, Tree]:
    """The option under which the points are met best, and the tree to go on with."""
    tried: list[tuple[float, Settled, Tree]] = []
    known, spent = places_of(current), 0
    for number, option in enumerate(mode.options):
        usual = copied(tree)
        _put_usual(task, usual, option)
        places = {key: place for key, place in known.items() if key not in option.usual}
        candidate = _at(task, usual, chosen | dict(option.values), places)
        rest = (budget.evaluations - spent) // (len(mode.options) - number)
        varied = _varied(candidate.model, mode.side, task)
        part = replace(budget, evaluations=max(0, rest))
        cost = _search(task, candidate, varied, points, part)
        cost += PER_PARAMETER * len(varied)
        spent += candidate.evaluations
        current.cut |= candidate.cut
        if all(cost < other for other, *_ in tried):
            # What the options share need not be found anew.
            known |= places_of(candidate)
        tried.append((cost, candidate, usual))
    made = decided(
        mode,
        [
            (option, _of_direction(task, candidate, mode.side), cost)
            for option, (cost, candidate, _) in zip(mode.options, tried, strict=True)
        ],
        _residuals(task, points),
    )
    _, best, settled = tried[mode.options.index(made.option)]
    best.evaluations, best.cut = current.evaluations + spent, current.cut
    chosen.update(made.option.values)
    best.decisions = (*current.decisions, made)
    return best, settled


def under(task: Task, settled: Settled, option: Option, places: Mapping[str, float]) -> Settled:
    """What was settled, under another option of one of its modes, with the places of that.

    Args:
        task: What is fitted.
        settled: Where searches have ended.
        option: The other option.
        places: Of some parameters, by key, in the unit cube.
    """
    tree = copied(settled.model.tree)
    _put_usual(task, tree, option)
    of_modes = {
        key: value for made in settled.decisions for key, value in made.option.values.items()
    }
    return _at(task, tree, of_modes | dict(option.values), places_of(settled) | dict(places))


def places_of(settled: Settled) -> dict[str, float]:
    """Where searches have ended, by key, in the unit cube."""
    parameters = settled.model.parameters
    return {p.key: float(x) for p, x in zip(parameters, settled.place, strict=True)}


def _of_direction(task: Task, settled: Settled, side: str) -> dict[str, float]:
    """As `places_of`, of the parameters that a direction determines."""
    parameters, places = settled.model.parameters, places_of(settled)
    keys = [parameters[at].key for at in _varied(settled.model, side, task)]
    return {key: places[key] for key in keys}


def _residuals(task: Task, points: tuple[int, ...]) -> int:
    return sum(1 for group in groups_of(task.points) if group in points)


def _at(
    task: Task, tree: Mapping[str, Value], chosen: Mapping[str, Value], known: Mapping[str, float]
) -> Settled:
    """The model of a tree with some values replaced; places are those known so far."""
    changed = copied(tree)
    chosen_keys = {key: value for key, value in chosen.items() if get(changed, key) is not None}
    for key, value in chosen_keys.items():
        put(changed, key, value)
    model = task.model(changed, frozenset(chosen_keys))
    start = model.start
    places = [known.get(p.key, float(x)) for p, x in zip(model.parameters, start, strict=True)]
    return Settled(model, start, np.array(places))


def _search(
    task: Task,
    at: Settled,
    varied: tuple[int, ...],
    points: tuple[int, ...],
    budget: Budget,
    samples: int = 12,
) -> float:
    """Searches some parameters on some points; the place moves. Gives the cost there."""
    parameters = at.model.parameters
    search = Search(
        task.evaluator(at.model), at.start, points, budget, parameters,
        together=max(1, task.settings.workers),
    )  # fmt: skip
    stage = Stage(varied, points)
    many = max(_LEAST_SAMPLES, samples * len(varied))
    seed, most = task.settings.seed, budget.evaluations
    at.place = global_search(search, at.place, stage, many, seed, most)
    # What the place costs is wanted in any case.
    search.budget = Budget(ENDLESS)
    cost = robust(search.residuals(at.place, points))
    at.evaluations += search.evaluations
    at.cut |= search.cut
    return cost


def _varied(model: FitModel, side: str, task: Task) -> tuple[int, ...]:
    """The parameters that a direction determines, or those of the host that the user frees."""
    free = task.settings.choice.free
    first = "read" if "read" in task.sides else "write"
    found = []
    for index, parameter in enumerate(model.parameters):
        of_host = parameter.key.startswith("host.") and parameter.key in free
        if side == "host":
            wanted = of_host
        else:
            wanted = not of_host and (
                parameter.side == side or (parameter.side == "both" and side == first)
            )
        if wanted:
            found.append(index)
    return tuple(found)


def _points_for(task: Task, side: str, most: int = _SPANNING) -> tuple[int, ...]:
    """Points of a direction, pure ones where there are any, that span the depths."""
    of = [i for i, point in enumerate(task.points) if getattr(point, side) is not None]
    pure = [i for i in of if len(list(task.points[i].sides())) == 1]
    return spanning(task.points, pure or of, most)


def spanning(points: Sequence[Point], of: Sequence[int], most: int = _SPANNING) -> tuple[int, ...]:
    """The indices of a few points that span what is outstanding, the least first."""
    ordered = sorted(of, key=lambda index: (points[index].outstanding, points[index].numjobs))
    if len(ordered) <= most:
        return tuple(ordered)
    at = np.linspace(0, len(ordered) - 1, most)
    return tuple(ordered[round(float(index))] for index in at)
