"""The risk of a scenario: its arrays, how their drives fail, how long their rebuilds take."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.schema import DeviceSpec, DriveOptions, DriveSpec
from raidlab.devices.trees import Document
from raidlab.devices.units import SIZE
from raidlab.devices.volume import VolumeSpec
from raidlab.scenarios import _engine
from raidlab.scenarios.planning.equal_arrays import with_copies
from raidlab.scenarios.planning.scenario import Scenario, build_scenario
from raidlab.scenarios.results.goals import Goal, Measured, judged, workload_faults
from raidlab.scenarios.risk.histories import Batch, Estimate, Model, estimate
from raidlab.scenarios.risk.lifetime import (
    HOURS_OF_YEAR,
    Assumption,
    Lifetime,
    Published,
    assumption,
    bathtub,
    failure_rate,
    of_rate,
)
from raidlab.scenarios.risk.markov import loss_probability
from raidlab.scenarios.risk.redundancy import Redundancy, of_level
from raidlab.scenarios.risk.unreadable import unreadable_rate
from raidlab.scenarios.spec.copies import layout_of
from raidlab.scenarios.spec.trees import ArrayTree, ScenarioTree
from raidlab.scenarios.studies.running import Running
from raidlab.scenarios.studies.size import rebuilt

_LEAST_SHAPE, _MOST_SHAPE = 0.1, 20.0
_LEAST_AFR = 1e-9
METHOD = "conditional Monte Carlo over periods of repairs, with forced failures"
GIVEN = "given"


@dataclass(frozen=True)
class Question:
    """What is asked, and what is known; None for a published figure."""

    years: float = 5.0
    afr: float | None = None
    """Share of drives that fail in a year (in their first year, unless `shape` is 1)."""
    shape: float = 1.0
    """Of the Weibull law of lives."""
    infant: float = 0.0
    wear_out_years: float | None = None
    """Of a bathtub: share of early failures beyond `afr`, and age of wear-out."""
    uber: float | None = None
    """Unreadable sectors for each bit that is read."""
    latent_per_year: float = 0.0
    """Latent sector errors of a drive in a year."""
    patrol_days: float = 14.0
    """Between patrol reads, which find and repair latent errors."""
    rebuild_h: float | None = None
    """Hours of a rebuild; None to simulate it under the scenario's load."""
    replace_h: float = 24.0
    """Until a person has replaced a failed drive or a used spare."""
    age_years: float = 0.0
    batch: Batch = field(default_factory=Batch)
    goals: tuple[Goal, ...] = ()
    """Of latencies, which rebuilds may miss."""
    error: float = 0.02
    """Relative standard error that ends the drawing of histories."""

    def faults(self) -> Iterator[Fault]:
        """Numbers that cannot be."""
        for name, value, most in (
            ("--years", self.years, 100.0),
            ("--afr", self.afr, 0.999),
            ("--rebuild", self.rebuild_h, 1e5),
            ("--wear-out", self.wear_out_years, 100.0),
            ("--uber", self.uber, 1e-3),
        ):
            if value is not None and not (0 < value <= most or (name == "--uber" and value == 0)):
                yield Fault(name, value, f"above 0, at most {most:g}")
        for name, value, most in (
            ("--infant", self.infant, 0.999),
            ("--replace", self.replace_h, 1e5),
            ("--age", self.age_years, 100.0),
            ("--latent", self.latent_per_year, 1e3),
            ("--patrol", self.patrol_days, 1e4),
        ):
            if not 0 <= value <= most:
                yield Fault(name, value, f"from 0 to {most:g}")
        if not _LEAST_SHAPE <= self.shape <= _MOST_SHAPE:
            allowed = f"from {_LEAST_SHAPE:g} to {_MOST_SHAPE:g}; lives of drives have 0.5 to 5"
            yield Fault("--shape", self.shape, allowed)
        if self.afr is not None and 0 < self.afr < _LEAST_AFR:
            yield Fault("--afr", f"{100 * self.afr:g} %", f"at least {100 * _LEAST_AFR:g} %")
        if self.wear_out_years is not None and self.shape != 1:
            yield Fault("--shape", self.shape, "left out beside --wear-out, which is a bathtub")
        if self.infant and self.wear_out_years is None:
            yield Fault("--infant", self.infant, "only beside --wear-out, of a bathtub")
        for goal in self.goals:
            if goal.quantity != "p99" or goal.side or not goal.at_most:
                yield Fault("--goal", goal.text, 'about p99 of reads and writes: "p99 < 20 ms"')
            elif self.rebuild_h is not None:
                allowed = "left out beside --rebuild: only a simulated rebuild has a p99"
                yield Fault("--goal", goal.text, allowed)


@dataclass(frozen=True)
class ArrayRisk:
    """An array's."""

    name: str
    level: str
    drives: int
    spares: int
    unreadable: float
    """Probability of unreadable sectors in a rebuild for which no redundancy is left."""
    found: Estimate
    closed_form: float | None
    """Of failures of drives alone by the Markov chain, where there is one."""

    def to_dict(self) -> Document:
        """Plain data."""
        found = self.found
        return {
            "name": self.name,
            "level": self.level,
            "drives": self.drives,
            "spares": self.spares,
            "loss_probability": found.loss,
            "loss_ci95": list(found.ci95),
            "by_drives": found.by_drives,
            "unreadable_in_rebuild": self.unreadable,
            "closed_form_drives": self.closed_form,
            "failures_per_year": found.failures_per_year,
            "degraded_hours_per_year": found.degraded_h_per_year,
            "histories": found.histories,
        }


@dataclass(frozen=True)
class Risk:
    """Of a whole scenario."""

    title: str
    seed: int
    years: float
    arrays: tuple[ArrayRisk, ...]
    rebuild: Measured
    """Hours of a rebuild."""
    p99_us_during: float | None
    missed: tuple[Goal, ...] | None
    """Goals that are missed while a drive is rebuilt; None if none was asked for."""
    assumptions: tuple[Assumption, ...]
    warnings: tuple[str, ...] = ()
    breaches: tuple[str, ...] = ()

    def _any(self, each: Sequence[float]) -> float:
        return -math.expm1(sum(math.log1p(-min(loss, 1 - 1e-16)) for loss in each))

    @property
    def loss(self) -> float:
        """Probability that any array loses data within the years."""
        return self._any([array.found.loss for array in self.arrays])

    @property
    def ci95(self) -> tuple[float, float]:
        """Its 95 % interval."""
        half = 1.959964 * math.sqrt(sum(array.found.error**2 for array in self.arrays))
        return max(0.0, self.loss - half), min(1.0, self.loss + half)

    @property
    def missed_hours_per_year(self) -> float | None:
        """Hours a year in which goals are missed because a drive is being rebuilt.

        What the load meets while a failed drive waits to be replaced is not simulated.
        """
        if self.missed is None:
            return None
        failures = sum(array.found.failures_per_year for array in self.arrays)
        return failures * (self.rebuild.value or 0.0) if self.missed else 0.0

    @property
    def missed_probability_a_year(self) -> float | None:
        """Probability that goals are missed at all in a year for that reason."""
        if self.missed is None:
            return None
        failures = sum(array.found.failures_per_year for array in self.arrays)
        return -math.expm1(-failures) if self.missed else 0.0

    def to_dict(self) -> Document:
        """The document of `raidlab risk --json`."""
        return {
            "title": self.title,
            "seed": self.seed,
            "version": _engine.version(),
            "years": self.years,
            "loss_probability": self.loss,
            "loss_ci95": list(self.ci95),
            "rebuild_hours": self.rebuild.value,
            "rebuild_hours_ci95": self.rebuild.ci95,
            "p99_us_during": self.p99_us_during,
            "missed_goals": None if self.missed is None else [goal.text for goal in self.missed],
            "missed_hours_per_year": self.missed_hours_per_year,
            "missed_probability_a_year": self.missed_probability_a_year,
            "method": METHOD,
            "histories": sum(array.found.histories for array in self.arrays),
            "arrays": [array.to_dict() for array in self.arrays],
            "assumptions": [dict(each) for each in self.assumptions],
            "warnings": list(self.warnings),
            "breaches": list(self.breaches),
        }


def assess(
    tree: Mapping[str, object],
    path: Path | None,
    question: Question = Question(),
    *,
    seed: int | None = None,
    running: Running | None = None,
) -> Risk:
    """The probability that a scenario's arrays lose data.

    Args:
        tree: What the scenario's file holds.
        path: The file: names of device files are relative to it.
        question: Years, and what is known of drives and repairs.
        seed: Replaces the scenario's.
        running: Workers, progress and store, for the rebuild.

    Raises:
        SpecError: The scenario or a number cannot be, or its rebuild cannot be simulated.
        KeyboardInterrupt: Ctrl-C.
    """
    faults = list(question.faults())
    if faults:
        raise SpecError(faults)
    scenario = build_scenario(tree, path)
    _check_goals(question, scenario)
    own_seed = scenario.seed if seed is None else seed
    hours, p99, notes = _rebuild(path, scenario, question, running or Running(), seed)
    arrays, assumptions = [], notes
    tree, _ = with_copies(scenario.written, "")
    for at, each in enumerate(cast(ScenarioTree, tree)["array"]):
        array, assumed = _array((at, each), scenario, question, hours.value or 0.0, own_seed)
        arrays.append(array)
        assumptions += [each for each in assumed if each not in assumptions]
    missed = None
    if question.goals:
        missed = tuple(goal for goal in question.goals if not judged(goal, p99).holds)
    return Risk(
        title=scenario.title,
        seed=own_seed,
        years=question.years,
        arrays=tuple(arrays),
        rebuild=hours,
        p99_us_during=p99.value,
        missed=missed,
        assumptions=tuple(assumptions),
    )


def _check_goals(question: Question, scenario: Scenario) -> None:
    names = [load.name for load in scenario.workloads]
    faults = workload_faults(question.goals, names, "--goal")
    for goal in question.goals:
        if goal.workload in names and len(names) > 1:
            allowed = f"without {goal.workload}: a rebuild has one p99, the slowest load's"
            faults.append(Fault("--goal", goal.text, allowed))
        elif not any(_redundancy(array).tolerance for array in scenario.written["array"]):
            allowed = "left out: no array has redundancy, so nothing is rebuilt"
            faults.append(Fault("--goal", goal.text, allowed))
    if faults:
        raise SpecError(faults)


def _rebuild(
    path: Path | None,
    scenario: Scenario,
    question: Question,
    running: Running,
    seed: int | None,
) -> tuple[Measured, Measured, list[Assumption]]:
    """Hours of a rebuild, p99 meanwhile, and where they come from."""
    arrays = enumerate(scenario.written["array"])
    redundant = [at for at, array in arrays if _redundancy(array).tolerance]
    if not redundant:
        return Measured(None, certain=True), Measured(None), []
    if question.rebuild_h is not None:
        given = assumption("rebuild", question.rebuild_h, "h", GIVEN)
        return Measured(question.rebuild_h, certain=True), Measured(None), [given]
    allowed = "hours, such as 12: it can be simulated for one redundant array alone, the first"
    if redundant != [0]:
        raise SpecError([Fault("--rebuild", None, allowed, (), scenario.path)])
    found = rebuilt(scenario.written, path, running, seed)
    hours, p99 = found["rebuild"], found["rebuild p99"]
    if hours.value is None:
        why = "hours, such as 12: under this load the simulated rebuild does not come to its end"
        raise SpecError([Fault("--rebuild", None, why, (), scenario.path)])
    return (
        hours,
        p99,
        [
            assumption(
                "rebuild",
                hours.value,
                "h",
                "simulated under the load" if scenario.workloads else "simulated without a load",
            )
        ],
    )


def _redundancy(array: ArrayTree) -> Redundancy:
    drives = sum(entry.get("count", 1) for entry in array["drives"])
    level, spans = array.get("level", "jbod"), array.get("spans")
    return of_level(level, drives, layout_of(array), spans, array.get("declustered"))


def rebuilt_bytes(array: ArrayTree, capacity: int) -> int:
    """What a rebuild reads or writes of each drive of this many bytes: what the array uses."""
    used = array.get("used")
    return capacity if used is None else min(capacity, int(SIZE.convert(str(used))))


def _array(
    numbered: tuple[int, ArrayTree],
    scenario: Scenario,
    question: Question,
    rebuild_h: float,
    seed: int,
) -> tuple[ArrayRisk, list[Assumption]]:
    at, array = numbered
    bears = _redundancy(array)
    model_of_drives = scenario.models[array["drives"][0]["model"]]
    device = model_of_drives.spec
    life, assumptions = _lifetime(question, device)
    uber = unreadable_rate(model_of_drives)
    rate = uber.value if question.uber is None else question.uber
    assumptions.append(
        assumption("unreadable sectors", rate, "per bit",
                   uber.source if question.uber is None else GIVEN)
    )  # fmt: skip
    if not isinstance(device, DriveSpec):
        raise AssertionError("the drives of an array are drives")
    bytes_of_drive = rebuilt_bytes(array, device.capacity_bytes(DriveOptions()))
    latent = question.latent_per_year * question.patrol_days / 365.25 / 2
    expected = bears.read_by_rebuild * (8 * bytes_of_drive * rate + latent)
    expected *= bears.critical_share
    unreadable = -math.expm1(-expected) if bears.tolerance else 0.0
    spread = array.get("declustered")
    spares = spread.get("spares", 1) if spread else int(array.get("hot_spares", 0))
    model = Model(
        array=bears,
        lifetime=life,
        rebuild_h=rebuild_h,
        mission_h=question.years * HOURS_OF_YEAR,
        spares=spares,
        replace_h=question.replace_h,
        age_h=question.age_years * HOURS_OF_YEAR,
        unreadable=unreadable,
        batch=question.batch,
    )
    if bears.tolerance:
        assumptions += [
            assumption("replacement", question.replace_h, "h", "until a drive is replaced"),
            assumption("spares", spares, "", GIVEN),
        ]  # fmt: skip
    found = ArrayRisk(
        name=str(array.get("name") or f"array-{at}"),
        level=str(array.get("level", "jbod")),
        drives=bears.drives,
        spares=spares,
        unreadable=unreadable,
        found=estimate(model, seed=seed + at, error=question.error),
        closed_form=_closed_form(model),
    )
    return found, assumptions


def _lifetime(question: Question, device: DeviceSpec) -> tuple[Lifetime, list[Assumption]]:
    known = failure_rate(device.kind)
    if isinstance(device, VolumeSpec) and device.lost_per_year is not None:
        known = Published(device.lost_per_year, f"as the provider of {device.name} states")
    afr = known.value if question.afr is None else question.afr
    source = known.source if question.afr is None else GIVEN
    assumptions: list[Assumption] = [assumption("failures of a drive", afr, "a year", source)]
    if question.batch.share:
        text = f"{question.batch.factor:g} times as many failures"
        assumptions.append(assumption("bad batch", question.batch.share, "", text))
    if question.wear_out_years is not None:
        text = f"bathtub: early {question.infant:g}, wear-out at {question.wear_out_years:g} years"
        assumptions.append(assumption("law of lives", None, "", text))
        return bathtub(question.infant, afr, question.wear_out_years), assumptions
    law = "exponential" if question.shape == 1 else f"Weibull of shape {question.shape:g}"
    assumptions.append(assumption("law of lives", question.shape, "shape", law))
    return of_rate(afr, question.shape), assumptions


def _closed_form(model: Model) -> float | None:
    """Failures of drives alone by the Markov chain; None where lives are not exponential."""
    rate = model.lifetime.constant
    if rate is None or model.array.ring or model.batch.share:
        return None
    hours = model.rebuild_h + (0.0 if model.spares else model.replace_h)
    return loss_probability(model.array, rate, 1 / hours if hours else 1.0, model.mission_h)
