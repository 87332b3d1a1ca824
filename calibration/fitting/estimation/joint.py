"""Hosts and drives fitted together: one host over several drives, one drive behind several hosts.

What a host costs and what a drive costs cannot be separated by one drive behind one host: either
may end the rate. Several measurements that share a drive or a host can. Each has parameters of its
own once, however many measurements it is part of: a drive its times, a host its CPU and port, a
measurement the state that its drive was in. All of them are varied together, and a point depends on
those of its own drive and host alone.

Each drive is searched for by itself first (`stages.settle`), behind its first host as the catalogue
has it; the joint search begins there.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final, TypedDict

import numpy as np
import numpy.typing as npt

from raidlab.calibration.fitting.bench.bench import FINAL, Effort
from raidlab.calibration.fitting.certainty.fitted_file import with_fitted
from raidlab.calibration.fitting.certainty.uncertainty import Estimate
from raidlab.calibration.fitting.comparison.baseline import BesideLines, against_lines
from raidlab.calibration.fitting.comparison.compare import Compared, Summary, compare, summary
from raidlab.calibration.fitting.estimation.fit import Fit, Residuals, Schedule, fit
from raidlab.calibration.fitting.estimation.model import FitModel
from raidlab.calibration.fitting.estimation.stages import (
    BUDGET,
    CAREFUL,
    FINE,
    IMPOSSIBLE,
    ROUGH,
    Settings,
    Settled,
    Task,
    depends,
    settle,
)
from raidlab.calibration.fitting.estimation.start import base_of, host_of, name_of
from raidlab.calibration.fitting.parameters.kinds import kind_of
from raidlab.calibration.fitting.parameters.parameter import Choice, Parameter
from raidlab.calibration.fitting.points.saturation import at_limit
from raidlab.calibration.fitting.points.training_split import split
from raidlab.calibration.fitting.search.loss import (
    groups_of,
    rate_tolerance,
    rate_tolerances,
    residuals,
    values,
)
from raidlab.calibration.fitting.search.minimise import Budget, Evaluate, Stage
from raidlab.calibration.measurements.measurement import Measurement, Point
from raidlab.calibration.measurements.sanity import possible
from raidlab.devices.faults import SpecError
from raidlab.devices.spec_writer import device_toml
from raidlab.devices.trees import Document, Tree, Value

Array = npt.NDArray[np.float64]
_SAMPLES: Final = 40
"""Places that a search for bottlenecks looks at first."""
_OF_A_HOST = ("host.",)
_OF_A_MEASUREMENT = ("state.",)


@dataclass(frozen=True)
class Member:
    """A measurement, and what was measured."""

    measurement: Measurement
    drive: str
    """Its name: measurements of one drive share its parameters."""
    host: str
    """Of the catalogue, or a file: measurements behind one host share its parameters."""


@dataclass(frozen=True)
class JointSettings:
    """What a user says of a joint fit."""

    kind: str
    train: str = ""
    """Points that the fit may see; all if empty."""
    free: frozenset[str] = frozenset()
    """Parameters of drives and hosts that are fitted besides the usual ones."""
    given: frozenset[str] = frozenset()
    """Hosts that are taken as their files have them."""
    anew: frozenset[str] = frozenset()
    """Hosts whose file is no more than where the search begins, though only one drive speaks."""
    overrides: Mapping[str, Value] = field(default_factory=dict)
    """Values of the drives' files to replace before the fit, by dotted key."""
    budget: int = BUDGET
    seed: int = 1
    workers: int = field(default_factory=lambda: os.cpu_count() or 1)


@dataclass(frozen=True)
class Part:
    """A member in the fit: its model, its points, where its parameters stand among all."""

    member: Member
    model: FitModel
    points: tuple[Point, ...]
    """Those that the fit sees."""
    indices: tuple[int, ...]
    """For each parameter of the model, its index in the joint fit."""
    sources: Mapping[str, Value]
    """Of the drive's file before the fit."""

    def own(self, at: Array) -> Array:
        """The member's place of a place of all; shape (parameters of the model,)."""
        return at[list(self.indices)]


class MemberErrors(TypedDict):
    """How well a member of a joint fit is met: points seen, unseen, and lines between the seen."""

    measurement: str
    drive: str
    host: str
    train: Summary
    test: Summary
    baseline: BesideLines


@dataclass(frozen=True)
class JointFit:
    """What came out."""

    parts: tuple[Part, ...]
    fit: Fit
    rows: tuple[tuple[Compared, ...], ...]
    """For each part every measured point, `train` and `test`."""
    wall_s: float

    def value(self, owner: str, key: str) -> float:
        """A fitted value, in the parameter's unit: of a drive, a host or a measurement."""
        name = f"{owner}: {key}"
        return next(e.value for e in self.fit.estimates if e.parameter.key == name)

    @property
    def drives(self) -> tuple[str, ...]:
        """Their names, each once."""
        return tuple(dict.fromkeys(part.member.drive for part in self.parts))

    @property
    def hosts(self) -> tuple[str, ...]:
        """Their names, each once."""
        return tuple(dict.fromkeys(part.member.host for part in self.parts))

    def _of(self, owner: str) -> tuple[list[Part], list[Estimate], str]:
        """The parts of a drive or a host, its estimates by the keys of its file, what was read."""
        parts = [part for part in self.parts if owner in (part.member.drive, part.member.host)]
        head = f"{owner}: "
        estimates = [
            replace(each, parameter=replace(each.parameter, key=each.parameter.key[len(head) :]))
            for each in self.fit.estimates
            if each.parameter.key.startswith(head)
        ]
        return parts, estimates, ", ".join(part.member.measurement.name for part in parts)

    def host_tree(self, host: str) -> Tree:
        """A host's file as the fit found it."""
        part = self._of(host)[0][0]
        return part.model.files(part.own(self.fit.place))[1]

    def drive_tree(self, drive: str) -> Tree:
        """A drive's file as the fit found it."""
        part = self._of(drive)[0][0]
        return part.model.files(part.own(self.fit.place))[0]

    def drive_toml(self, drive: str) -> str:
        """The text of a drive's file, with the errors of what was fitted."""
        parts, estimates, measured = self._of(drive)
        tree = self.drive_tree(drive)
        tree["name"], tree["title"] = name_of(drive), f"{drive}, fitted to {measured}"
        tree["fitted_behind"] = self.host_name(parts[0].member.host)
        every = enumerate(self.fit.estimates)
        own = [at for at, each in every if each.parameter.key.startswith(f"{drive}: ")]
        together = self.fit.correlations[np.ix_(own, own)].tolist()
        sources = with_fitted(parts[0].sources, estimates, tree, measured, together)
        return device_toml(tree, sources, [f"Fitted together with others to {measured}."])

    def host_toml(self, host: str) -> str:
        """The text of a host's file, with the errors of what was fitted."""
        _, estimates, measured = self._of(host)
        tree = self.host_tree(host)
        said = ", ".join(
            f"{e.parameter.key} {e.value:.4g} {e.parameter.unit}".rstrip()
            + f" (standard error {e.stderr:.2g})"
            for e in estimates
        )
        note = f"as {tree['name']}; fitted to {measured}: {said or 'nothing'}"
        tree["name"] = self.host_name(host)
        tree["title"] = f"{tree['title']}, as fitted with {', '.join(self.drives)}"
        sources = {"all": {"source": "assumed", "note": note}}
        return device_toml(tree, sources, [f"A host as a fit to {measured} found it."])

    def host_name(self, host: str) -> str:
        """The name of a host's fitted file."""
        drives = name_of("-".join(self.drives)).removesuffix("-fitted")
        return f"{self._of(host)[0][0].model.host['name']}-of-{drives}"

    def members(self) -> list[MemberErrors]:
        """How well each member is met."""
        return [
            {
                "measurement": part.member.measurement.name,
                "drive": part.member.drive,
                "host": part.member.host,
                "train": summary([row for row in rows if row.part == "train"]),
                "test": summary([row for row in rows if row.part == "test"]),
                "baseline": against_lines(rows),
            }
            for part, rows in zip(self.parts, self.rows, strict=True)
        ]

    def to_dict(self) -> Document:
        """The parameters by owner with errors, and for each member how well it is met."""
        return {
            "parameters": [
                {
                    "name": estimate.parameter.key,
                    "value": estimate.value,
                    "unit": estimate.parameter.unit,
                    "stderr": estimate.stderr,
                    "low": estimate.low,
                    "high": estimate.high,
                    "identifiable": estimate.identifiable,
                }
                for estimate in self.fit.estimates
            ],
            "members": self.members(),
            "evaluations": self.fit.evaluations,
            "wall_s": round(self.wall_s, 3),
        }


def fit_together(members: Sequence[Member], settings: JointSettings) -> JointFit:
    """Fits all drives and hosts of some measurements.

    Args:
        members: What was measured. Hosts over several drives, drives behind several hosts.
        settings: What the user says.

    Raises:
        SpecError: Names that do not exist, a choice of points that none fits.
    """
    begun = time.monotonic()
    members = [_usable(member) for member in members]
    seen = [_seen(member.measurement, settings.train) for member in members]
    parameters, parts, start, begin, spent = _parts(members, seen, settings)
    every = [point for part in parts for point in part.points]
    owner = [number for number, part in enumerate(parts) for _ in part.points]
    kind = kind_of(settings.kind)

    def touches(parameter: Parameter, at: int) -> bool:
        part = parts[owner[at]]
        found = [
            p
            for p, i in zip(part.model.parameters, part.indices, strict=True)
            if parameters[i] is parameter
        ]
        return bool(found) and depends(kind, found[0], every[at])

    found = fit(
        parameters,
        start,
        Residuals(
            _evaluator(parts, FINE, settings),
            groups_of(every),
            careful=lambda place: _evaluator(parts, CAREFUL, settings, place),
            depends=touches,
        ),
        Schedule(
            stages=_bottlenecks(parts, parameters, owner),
            samples=_SAMPLES,
            budget=Budget(max(0, settings.budget - spent)),
            seed=settings.seed,
            begin=begin,
            evaluated=spent,
        ),
    )
    rows = [_compared(part, found.place, settings) for part in parts]
    return JointFit(tuple(parts), found, tuple(rows), time.monotonic() - begun)


def _bottlenecks(
    parts: Sequence[Part], parameters: Sequence[Parameter], owner: Sequence[int]
) -> list[Stage]:
    """For each host over several drives what may end the rate: its port, or one of them.

    A bottleneck shows nowhere else, so that no slope leads from one to the other.
    """
    stages = []
    for host in dict.fromkeys(part.member.host for part in parts):
        of = [number for number, part in enumerate(parts) if part.member.host == host]
        if len({parts[number].member.drive for number in of}) < 2:
            continue
        varied = sorted({index for number in of for index in parts[number].indices})
        limits = tuple(index for index in varied if parameters[index].limits)
        points = tuple(at for at, number in enumerate(owner) if number in of)
        stages.append(Stage(limits, points))
    return stages


def _usable(member: Member) -> Member:
    points, _ = possible(member.measurement)
    points = [point.model_copy(update={"timeline": ()}) for point in points]
    measurement = member.measurement.model_copy(update={"points": tuple(points)})
    return replace(member, measurement=measurement)


def _seen(measurement: Measurement, train: str) -> list[Point]:
    chosen, _ = split(measurement.points, train)
    return [measurement.points[index] for index in chosen]


def _task(
    member: Member, points: Sequence[Point], settings: JointSettings
) -> tuple[Task, Tree, Tree]:
    of = Settings(
        settings.kind,
        host=member.host,
        overrides=settings.overrides,
        choice=Choice({}, settings.free, {}),
        seed=settings.seed,
        workers=settings.workers,
    )
    kind = kind_of(settings.kind)
    tree, sources = base_of(kind, of, member.measurement.name, None)
    return Task(kind, host_of(kind, of, None), tuple(points), of), tree, sources


def _parts(
    members: Sequence[Member], seen: Sequence[Sequence[Point]], settings: JointSettings
) -> tuple[list[Parameter], list[Part], Array, Array, int]:
    """All parameters, the parts, what the files say, where to begin, evaluations spent."""
    parameters: list[Parameter] = []
    index: dict[str, int] = {}
    start: list[float] = []
    begin: list[float] = []
    settled: dict[str, Settled] = {}
    parts, spent = [], 0
    for member, points in zip(members, seen, strict=True):
        task, tree, sources = _task(member, points, settings)
        if member.drive not in settled:
            budget = Budget(settings.budget // (2 * len(members)))
            settled[member.drive] = settle(task, tree, budget, lambda done, steps: None)
            spent += settled[member.drive].evaluations
        first = settled[member.drive].model
        varied = [p for p in first.parameters if not _is_given(p, member.host, settings)]
        model = FitModel(
            first.tree, task.host, varied, first.ties, first.known, first.fixed, first.stand
        )
        places = dict(
            zip((p.key for p in first.parameters), settled[member.drive].place, strict=True)
        )
        own = []
        for parameter, at in zip(model.parameters, model.start, strict=True):
            name = f"{_owner(parameter, member)}: {parameter.key}"
            if name not in index:
                index[name] = len(parameters)
                pull = _pull(parameter, member, members, settings.anew)
                parameters.append(replace(parameter, key=name, pull=pull))
                start.append(float(at))
                of_host = parameter.key.startswith(_OF_A_HOST)
                begin.append(float(at if of_host else places[parameter.key]))
            own.append(index[name])
        parts.append(Part(member, model, tuple(points), tuple(own), sources))
    return parameters, parts, np.array(start), np.array(begin), spent


def _is_given(parameter: Parameter, host: str, settings: JointSettings) -> bool:
    return parameter.key.startswith(_OF_A_HOST) and host in settings.given


def _owner(parameter: Parameter, member: Member) -> str:
    if parameter.key.startswith(_OF_A_HOST):
        return member.host
    if parameter.key.startswith(_OF_A_MEASUREMENT):
        return member.measurement.name
    return member.drive


def _pull(
    parameter: Parameter, member: Member, members: Sequence[Member], anew: frozenset[str]
) -> float:
    """The catalogue's word counts as any other where several drives speak of a host."""
    drives = {each.drive for each in members if each.host == member.host}
    spoken_of = len(drives) > 1 or member.host in anew
    return 1.0 if parameter.key.startswith(_OF_A_HOST) and spoken_of else parameter.pull


def _evaluator(
    parts: Sequence[Part], effort: Effort, settings: JointSettings, begin: Array | None = None
) -> Evaluate:
    """Residuals of the points of all parts, numbered through, at a place of all parameters.

    With the place where careful runs begin, points at their limit there bind as plateaus do.
    """
    flat = [(number, point) for number, part in enumerate(parts) for point in part.points]
    counts = np.bincount(groups_of([point for _, point in flat]), minlength=len(flat))
    usual = [rate_tolerance(point) for _, point in flat]
    bound = usual
    if begin is not None:
        bound = []
        for part in parts:
            made = partial(part.model.bench, part.own(begin))
            limit = at_limit(made, part.points, effort, settings.workers)
            ios = [effort.ios_for(point) for point in part.points]
            bound += rate_tolerances(part.points, ios, limit)

    def evaluate(at: Array, indices: Sequence[int], rough: bool) -> Array:  # noqa: FBT001
        found = []
        rates = usual if rough else bound
        for number, part in enumerate(parts):
            mine = [index for index in indices if flat[index][0] == number]
            if not mine:
                continue
            looked = [flat[index][1] for index in mine]
            try:
                bench = part.model.bench(part.own(at))
                results = bench.run_all(looked, ROUGH if rough else effort, settings.workers)
                found.append(values(residuals(looked, results, [rates[index] for index in mine])))
            except SpecError:
                found.append(np.full(int(counts[mine].sum()), IMPOSSIBLE))
        return np.concatenate(found)

    return evaluate


def _compared(part: Part, place: Array, settings: JointSettings) -> tuple[Compared, ...]:
    seen = {id(point) for point in part.points}
    points = part.member.measurement.points
    names = ["train" if id(point) in seen else "test" for point in points]
    bench = part.model.bench(part.own(place))
    return tuple(compare(bench, points, FINAL, parts=names, workers=settings.workers))
