"""Candidates: every combination that a question asks for, with what needs no simulation."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from raidlab.devices.catalogue import find
from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.levels import LEVELS
from raidlab.devices.units import IO_RATE
from raidlab.scenarios.capacity.question import CandidatesTable, Question
from raidlab.scenarios.planning.scenario import Scenario, build_scenario
from raidlab.scenarios.results.goals import Goal, Judged, Measured, check_workloads, judged
from raidlab.scenarios.risk.redundancy import of_level


@dataclass
class Candidate:
    """A system that may serve the load."""

    name: str
    tree: dict[str, Any]
    """Its scenario at the end of the horizon."""
    drive: str
    count: int
    level: str
    spares: int
    cost: float | None
    """Capital, and energy over the horizon."""
    capital: float | None
    watts: float | None
    rack_units: float | None
    choices: dict[str, str]
    """What was chosen of each thing that a question offers: `drives`, `level`, `controller` ..."""
    scenario: Scenario | None = None
    why_not: str = ""
    """Why it cannot be built."""
    judged: dict[str, Judged] = field(default_factory=dict)
    """By goal: what is known so far."""
    limit: str = ""
    p99_us: float | None = None
    iops: float | None = None
    rung: int = -1
    """Of successive halving: how far it was simulated; -1 for not at all."""
    dominated_by: str = ""
    falls_behind: bool = False
    overload: float = 0.0
    """Share by which the load is beyond what it serves, as far as is known."""
    loss: Measured = field(default_factory=lambda: Measured(None))
    """Probability of a loss within the horizon."""
    life_years: float | None = None

    @property
    def usable_bytes(self) -> int:
        """What hosts can store."""
        return 0 if self.scenario is None else self.scenario.usable_bytes

    @property
    def survives(self) -> int:
        """Failed drives that it bears, whichever they are."""
        return of_level(self.level, self.count).tolerance if self.level in LEVELS else 0

    @property
    def family(self) -> tuple[str, ...]:
        """What it shares with candidates of which it differs in the number of drives alone."""
        return (*self.name.split(", ")[1:], self.drive)

    @property
    def failing(self) -> list[Judged]:
        """Goals that it does not meet."""
        return [each for each in self.judged.values() if not each.holds]

    @property
    def out(self) -> bool:
        """True if it does not fit, as far as is known."""
        return bool(self.why_not or self.falls_behind or self.failing)

    def judge(self, goal: Goal, measured: Measured) -> None:
        """Notes what is known of a goal."""
        self.judged[goal.text] = judged(goal, measured)


def expand(question: Question) -> list[Candidate]:
    """Every candidate of a question, built if it can be, with its exact goals judged.

    Raises:
        SpecError: None can be built; says why.
    """
    found: dict[str, Candidate] = {}
    faults: list[Fault] = []
    for group in question.table.candidates:
        for candidate in _of_group(question, group):
            found.setdefault(candidate.name, candidate)
    for candidate in found.values():
        faults += _build(question, candidate)
    if all(candidate.scenario is None for candidate in found.values()):
        raise SpecError(_of_question(fault, question) for fault in faults)
    built = next(each.scenario for each in found.values() if each.scenario is not None)
    check_workloads(question.goals, [load.name for load in built.workloads], "goals")
    return list(found.values())


def scaled(question: Question, tree: dict[str, Any], factor: float) -> dict[str, Any]:
    """The tree of a scenario with the loads' present rates times a factor."""
    changed = copy.deepcopy(tree)
    for load, own in zip(changed["workload"], question.table.load, strict=True):
        if "rate" in own:
            load["rate"] = f"{factor * float(IO_RATE.parse(str(own['rate']))):.9g} IO/s"
    return changed


def _of_group(question: Question, group: CandidatesTable) -> Iterator[Candidate]:
    writes: tuple[str | None, ...] = group.write or (None,)
    caches = [("", 0), *itertools.product(group.ssd_cache, group.ssd_cache_counts)]
    every = itertools.product(
        group.hosts, group.controllers, group.drives, group.levels, group.counts,
        group.spares, group.stripe_units, writes, caches if group.ssd_cache else caches[:1],
    )  # fmt: skip
    for host, controller, drive, level, count, spares, unit, write, cache in every:
        array: dict[str, Any] = {
            "level": level,
            "drives": [{"model": drive, "count": count}],
            "stripe_unit": unit,
            "hot_spares": spares,
        }
        parts = [f"{count} x {drive}", level]
        tree: dict[str, Any] = {"title": question.title, "host": {"model": host}}
        if len(group.hosts) > 1:
            parts.append(host)
        if controller == "none":
            array |= {"software_raid": "os"} if level not in ("jbod", "independent") else {}
        else:
            settings = {
                "model": controller, "write": write, "backup": group.backup,
                "disk_cache": group.disk_cache,
            }  # fmt: skip
            tree["controller"] = {key: each for key, each in settings.items() if each is not None}
            parts.append(controller)
        if write is not None and len(group.write) > 1:
            parts.append(write)
        if len(group.stripe_units) > 1:
            parts.append(unit)
        if spares:
            parts.append(f"{spares} spare{'s' if spares > 1 else ''}")
        if cache[1]:
            array["cache_tier"] = {"drives": [{"model": cache[0], "count": cache[1]}]}
            parts.append(f"cache of {cache[1]} x {cache[0]}")
        tree |= {"array": [array], "workload": [dict(load) for load in question.table.load]}
        flash = any(is_flash(name, question) for name in (drive, cache[0]) if name)
        tree["run"] = ({"precondition": "steady-state"} if flash else {}) | question.table.run
        tree = scaled(question, tree, question.growth)
        choices = {
            "host": host, "controller": controller, "drive": drive, "level": level,
            "drives": str(count), "spares": str(spares), "stripe unit": unit,
            "write policy": write or "its own",
            "SSD cache": f"{cache[1]} x {cache[0]}" if cache[1] else "none",
        }  # fmt: skip
        devices = [drive] * (count + spares) + [cache[0]] * cache[1]
        devices += [host] + ([] if controller == "none" else [controller])
        capital, watts, units = _sums(question, devices)
        cost = capital
        if cost is not None and watts is not None:
            cost += watts / 1e3 * 8766 * question.table.horizon * question.table.energy_price
        yield Candidate(
            ", ".join(parts), tree, drive, count, level, spares, cost, capital, watts, units,
            choices,
        )  # fmt: skip


def is_flash(name: str, question: Question) -> bool:
    """Whether a drive has a state that depends on what was written before."""
    folder = None if question.path is None else question.path.parent
    return find(name, folder).spec.kind == "ssd"


def _sums(
    question: Question, devices: list[str]
) -> tuple[float | None, float | None, float | None]:
    """Capital, watts and rack units; None where prices do not say."""
    if not question.prices:
        return None, None, None
    known = [question.prices[name] for name in devices if name in question.prices]
    base = question.table.base
    watts = None
    if all(price.power is not None for price in known):
        watts = base.power + sum(price.power or 0.0 for price in known)
    units = base.rack_units + sum(price.rack_units for price in known)
    return base.cost + sum(price.cost for price in known), watts, units


def _of_question(fault: Fault, question: Question) -> Fault:
    """A fault of a candidate's scenario with the question's file and key."""
    first, dot, rest = fault.key.partition(".")
    key = f"{ {'workload': 'load', 'array': 'candidates'}.get(first, first) }{dot}{rest}"
    return replace(fault, key=key, file=fault.file and str(question.path or ""))


def _build(question: Question, candidate: Candidate) -> list[Fault]:
    try:
        candidate.scenario = build_scenario(candidate.tree, question.path)
    except SpecError as error:
        seen = dict.fromkeys(
            f"{fault.key}: {fault.allowed}" if fault.key else fault.allowed
            for fault in error.faults
        )
        candidate.why_not = "; ".join(seen)
        return list(error.faults)
    exact = {
        "usable": candidate.usable_bytes / question.grown_capacity,
        "cost": candidate.cost,
        "power": candidate.watts,
        "rack units": candidate.rack_units,
        "survives": float(candidate.survives),
    }
    for goal in question.goals:
        if goal.quantity in exact:
            candidate.judge(goal, Measured(exact[goal.quantity], certain=True))
    return []
