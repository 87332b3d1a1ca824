"""Candidates: every combination that a question asks for, with what needs no simulation."""

from __future__ import annotations

import copy
import itertools
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final, cast

from raidlab.devices.faults import About, Fault, SpecError, few_of_each
from raidlab.devices.levels import LEVELS
from raidlab.devices.trees import get
from raidlab.devices.units import IO_RATE, RATE, SIZE, format_size
from raidlab.devices.volume import VolumeSpec
from raidlab.scenarios.capacity.bills import Bill, bill_of_devices
from raidlab.scenarios.capacity.choices import Bought, CandidatesTable
from raidlab.scenarios.capacity.question import Question
from raidlab.scenarios.planning.scenario import Scenario, build_scenario
from raidlab.scenarios.results.goals import Goal, Judged, Measured, check_workloads, judged
from raidlab.scenarios.risk.redundancy import of_level
from raidlab.scenarios.spec.declustered import DeclusteredTable
from raidlab.scenarios.spec.trees import ArrayTree, ControllerTree, DrivesTree, ScenarioTree
from raidlab.scenarios.studies.size import asked_rate, asked_throughput

_AREA: Final = re.compile(r"workload\.\d+\.area(_start)?")


_OF_KIND: Final = ("drive", "level", "spares", "spans", "declustered", "used", "SSD cache")
"""Choices that tell kinds of candidates apart."""


class Spared(StrEnum):
    """Why a candidate needed no simulation of its own."""

    DEARER = "dearer than one of its kind that fits"
    FEWER = "fewer drives than one of its family that misses a goal"


@dataclass(frozen=True)
class TooSmall:
    """What a candidate holds, which is less than the loads cover."""

    usable_bytes: int
    needed_bytes: int

    @property
    def short(self) -> float:
        """Share of what is needed that is missing."""
        return 1 - self.usable_bytes / self.needed_bytes

    def __str__(self) -> str:
        return (
            f"usable {format_size(self.usable_bytes)}, {100 * self.short:.0f} % short of the"
            f" {format_size(self.needed_bytes)} that the load covers"
        )


@dataclass
class Candidate:
    """A system that may serve the load."""

    name: str
    tree: ScenarioTree
    """Its scenario at the end of the horizon."""
    drive: str
    count: int
    level: str
    spares: int
    bill: Bill
    devices: dict[str, int]
    """How many of each device it has, by the names that the question has for them."""
    choices: dict[str, str]
    """What was chosen of each thing that a question offers: `drives`, `level`, `controller` ..."""
    scenario: Scenario | None = None
    why_not: str = ""
    """Why it cannot be simulated."""
    too_small: TooSmall | None = None
    """Set if that is the size of its drives alone."""
    judged: dict[str, Judged] = field(default_factory=dict)
    """By goal: what is known so far."""
    limit: str = ""
    p99_us: float | None = None
    iops: float | None = None
    rung: int = -1
    """Of successive halving: how far it was simulated; -1 for not at all."""
    spared: Spared | None = None
    """Why it was not simulated, where others say enough of it."""
    dominated_by: str = ""
    falls_behind: bool = False
    unsettled: str = ""
    """Why its whole run carries no statement; empty if it does, or was not simulated."""
    served: float | None = None
    """Where it falls behind: I/Os a second that it serves, at most where it was not simulated."""
    serves_more: bool = False
    """True if `served` is the most that was tried and still served."""
    loss: Measured = field(default_factory=lambda: Measured(None))
    """Probability of a loss within the horizon."""
    life_years: float | None = None

    @property
    def cost(self) -> float | None:
        """Capital, and energy over the horizon; None without prices."""
        return self.bill.cost

    @property
    def usable_bytes(self) -> int:
        """What hosts can store."""
        if self.too_small is not None:
            return self.too_small.usable_bytes
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
    def kind(self) -> tuple[str, ...]:
        """What it shares with candidates that differ in drives, controller and settings alone."""
        return tuple(self.choices[key] for key in _OF_KIND if key in self.choices)

    @property
    def asked(self) -> float:
        """I/Os a second that arrive."""
        return 0.0 if self.scenario is None else _arriving(self.scenario)

    @property
    def overload(self) -> float | None:
        """Share by which the load is beyond what it serves; None if that is not known."""
        if not self.falls_behind:
            return 0.0
        return self.asked / self.served - 1 if self.asked and self.served else None

    @property
    def is_bounded(self) -> bool:
        """Whether what it serves is a bound from above: it was not simulated."""
        return self.served is not None and self.iops is None

    def serves(self, served: float, limit: str) -> None:
        """Notes that it cannot serve its load: what it does serve, and what bounds it."""
        self.falls_behind, self.served, self.limit = True, served, limit

    @property
    def failing(self) -> list[Judged]:
        """Goals that it does not meet."""
        return [each for each in self.judged.values() if not each.holds]

    @property
    def out(self) -> bool:
        """True if it does not fit, as far as is known."""
        return bool(self.why_not or self.falls_behind or self.unsettled or self.failing)

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
        raise SpecError(few_of_each(_of_question(fault, question) for fault in faults))
    built = next(each.scenario for each in found.values() if each.scenario is not None)
    check_workloads(question.goals, [load.name for load in built.workloads], "goals")
    _check_rates(question, built)
    return list(found.values())


def _arriving(scenario: Scenario) -> float:
    return sum(load.arrives_per_s for load in scenario.workloads)


def named(question: Question, name: str) -> Candidate:
    """The candidate of a name, not built yet."""
    every = (each for group in question.table.candidates for each in _of_group(question, group))
    return next(each for each in every if each.name == name)


def _check_rates(question: Question, built: Scenario) -> None:
    """Refuses goals of more I/Os or bytes a second than the loads ask for."""
    faults = []
    for goal in question.goals:
        rate, throughput = asked_rate(goal, built), asked_throughput(goal, built)
        said = None if rate is None else f"{rate:,.6g} IO/s"
        if throughput is not None:
            said = f"{throughput / 1e6:,.4g} MB/s"
        asked = rate if throughput is None else throughput
        if asked is not None and not judged(goal, Measured(asked, certain=True)).holds:
            what = goal.quantity if goal.quantity == "throughput" else "rate"
            allowed = f"a {what} that can be: the load asks for {said}"
            faults.append(Fault("goals", goal.text, allowed, (), str(question.path or "")))
    if faults:
        raise SpecError(faults)


def scaled(question: Question, tree: ScenarioTree, factor: float) -> ScenarioTree:
    """The tree of a scenario with the loads' present rates times a factor.

    Requests of a trace come that much faster. A load with a growth of its own has grown apart from
    the others until the horizon.
    """
    changed = copy.deepcopy(tree)
    for at, (load, own) in enumerate(zip(changed["workload"], question.table.loads, strict=True)):
        times = factor * question.apart(at)
        if "rate" in own:
            load["rate"] = f"{times * float(IO_RATE.parse(str(own['rate']))):.9g} IO/s"
        elif "trace" in own and times != 1 and isinstance(own.get("trace_slower", 1), int | float):
            # A loop of a trace grows no faster: `growth` is refused beside it.
            load["trace_slower"] = own.get("trace_slower", 1) / times
    return changed


def _of_group(question: Question, group: CandidatesTable) -> Iterator[Candidate]:
    writes: tuple[str | None, ...] = group.write or (None,)
    caches = [("", 0), *itertools.product(group.ssd_cache, group.ssd_cache_counts)]
    spans_of: tuple[int | None, ...] = group.spans or (None,)
    wide_of: tuple[DeclusteredTable | None, ...] = group.declustered or (None,)
    used_of: tuple[str | None, ...] = group.used or (None,)
    of_each = itertools.product(
        caches if group.ssd_cache else caches[:1],
        [*itertools.product(spans_of, wide_of)], used_of, group.volumes(),
    )  # fmt: skip
    every = itertools.product(
        group.hosts, group.controllers, group.drives, group.levels, group.counts,
        group.spares, group.stripe_units, writes, tuple(of_each),
    )  # fmt: skip
    for host, controller, drive, level, count, spares, unit, write, own in every:
        cache, (spans, wide), used, bought = own
        # Levels without spans are one candidate, whatever the spans of others; so with stripes.
        spans = spans if level in ("raid50", "raid60") else None
        wide = wide if level in ("raid5", "raid6") else None
        array: ArrayTree = {
            "level": level,
            "drives": [cast(DrivesTree, {"model": drive, "count": count, **bought})],
            "stripe_unit": unit,
            "hot_spares": spares,
        }
        _put_stripes(array, spans, used, wide)
        parts = [f"{count} x {drive}", level if spans is None else f"{level} of {spans} spans"]
        parts[0] += _bought_words(bought)
        parts += [_wide_words(wide)] if wide else []
        tree: ScenarioTree = {
            "title": question.title,
            "host": {"model": host},
            "array": [array],
            "workload": [load.copy() for load in question.table.loads],
            "run": {"state": "sustained", **question.table.run_table},
        }
        if len(group.hosts) > 1:
            parts.append(host)
        if controller == "none":
            if level not in ("jbod", "independent"):
                array["software_raid"] = "os"
            array.update(group.of_md(level))
            parts += [f"{key} {value}" for key, value in _said_of_md(group, level).items()]
        else:
            tree["controller"] = _controller(controller, write, group)
            parts.append(controller)
        if write is not None and len(group.write) > 1:
            parts.append(write)
        if len(group.stripe_units) > 1:
            parts.append(unit)
        if len(group.used) > 1:
            parts.append(f"{used} of each")
        if spares:
            parts.append(f"{spares} spare{'s' if spares > 1 else ''}")
        if cache[1]:
            array["cache_tier"] = {"drives": [{"model": cache[0], "count": cache[1]}]}
            parts.append(f"cache of {cache[1]} x {cache[0]}")
        tree = scaled(question, tree, question.growth)
        choices = {
            "host": host, "controller": controller, "drive": drive, "level": level,
            "drives": str(count), "spares": str(spares), "stripe unit": unit,
            "write policy": write or "its own",
            "spans": str(spans or "its own"), "used": used or "the whole drive",
            "declustered": _wide_words(wide) if wide else "no",
            "settings of md": _words_of_md(group, level) if controller == "none" else "none",
            "SSD cache": f"{cache[1]} x {cache[0]}" if cache[1] else "none",
        }  # fmt: skip
        month = volumes_month(question, drive, count + spares, bought)
        devices = [drive] * (count + spares) + [cache[0]] * cache[1]
        devices += [host] + ([] if controller == "none" else [controller])
        yield Candidate(
            ", ".join(parts), tree, drive, count, level, spares,
            bill_of_devices(question, devices, month), dict(Counter(devices)), choices,
        )  # fmt: skip


def _said_of_md(group: CandidatesTable, level: str) -> dict[str, object]:
    """Settings of md that the group says, of an array of this level."""
    found = group.of_md(level)
    return {key: value for key, value in found.items() if getattr(group, key) is not None}


def _words_of_md(group: CandidatesTable, level: str) -> str:
    said = _said_of_md(group, level)
    return ", ".join(f"{key} {value}" for key, value in said.items()) or "its own"


def _put_stripes(
    array: ArrayTree, spans: int | None, used: str | None, wide: DeclusteredTable | None
) -> None:
    """What a candidate says of its stripes and of the part of drives that they take."""
    if spans is not None:
        array["spans"] = spans
    if used is not None:
        array["used"] = used
    if wide is not None:
        array["declustered"] = {
            "stripe_width": wide.stripe_width,
            "spares": wide.spares,
            "chunk": f"{wide.chunk} B",
            "rebuild": wide.rebuild,
        }


def _wide_words(wide: DeclusteredTable) -> str:
    first = ", critical first" if wide.rebuild == "critical-first" else ""
    return f"declustered {wide.stripe_width} wide, {wide.spares} spare{first}"


def _controller(model: str, write: str | None, group: CandidatesTable) -> ControllerTree:
    """`[controller]`, with what the group says of it, which its scenario checks."""
    settings = {
        "model": model, "write": write, "backup": group.backup, "disk_cache": group.disk_cache,
    }  # fmt: skip
    said = {key: each for key, each in settings.items() if each is not None}
    return cast(ControllerTree, said)


def _bought_words(bought: Bought) -> str:
    """` of 2 TiB with 16000 IO/s and 500 MiB/s`."""
    rates = [f"{bought['iops']:g} IO/s"] if "iops" in bought else []
    rates += [str(bought["throughput"])] if "throughput" in bought else []
    size = f" of {bought['size']}" if "size" in bought else ""
    return size + (f" with {' and '.join(rates)}" if rates else "")


def volumes_month(question: Question, name: str, count: int, bought: Bought | DrivesTree) -> float:
    """What cloud volumes cost a month by what is provisioned."""
    price, spec = question.prices.get(name), question.device(name).spec
    if price is None or not isinstance(spec, VolumeSpec):
        return 0.0
    size = int(SIZE.convert(str(bought["size"]))) if "size" in bought else spec.capacity
    rate = float(bought.get("iops") or spec.limits.rate or 0.0)
    throughput = float(spec.limits.throughput or 0.0)
    if "throughput" in bought:
        throughput = float(RATE.convert(str(bought["throughput"])))
    return count * price.volume_month(size, rate, throughput)


def refusal(faults: Sequence[Fault]) -> str:
    """Why a candidate cannot be simulated, with the remedy where memory is what lacks."""
    text = "; ".join(dict.fromkeys(f"{f.key} = {f.value}: {f.allowed}" for f in faults))
    if any(fault.about is About.MEMORY for fault in faults):
        text += " (fewer or smaller drives, or a machine with more memory)"
    return text


def is_flash(name: str, question: Question) -> bool:
    """Whether a drive has a state that depends on what was written before."""
    return question.device(name).spec.kind == "ssd"


def _of_question(fault: Fault, question: Question) -> Fault:
    """A fault of a candidate's scenario with the question's file and key."""
    first, dot, rest = fault.key.partition(".")
    key = f"{ {'workload': 'load', 'array': 'candidates'}.get(first, first) }{dot}{rest}"
    written = get({"load": question.table.load}, key)
    # A rate stands in the scenario as it has grown.
    value = fault.value if written is None else written
    return replace(fault, key=key, value=value, file=fault.file and str(question.path or ""))


def _too_small(
    question: Question, candidate: Candidate, faults: Sequence[Fault]
) -> TooSmall | None:
    """What a candidate holds beside the areas of the loads; None if that is not all that is wrong.

    A load on data that are not there cannot be simulated: the size is what rules it out.
    """
    if not all(_AREA.fullmatch(fault.key) for fault in faults):
        return None
    tree = copy.deepcopy(candidate.tree)
    ends = []
    for load in tree["workload"]:
        spans = [load.pop("area_start", "0 B"), load.pop("area", "0 B")]
        ends.append([each for each in spans if each != "whole"])
    try:
        needed = max(sum(int(SIZE.parse(each)) for each in spans) for spans in ends)
        usable = build_scenario(tree, question.path).usable_bytes
    except (SpecError, ValueError):
        return None
    return TooSmall(usable, needed) if usable < needed else None


def _build(question: Question, candidate: Candidate) -> list[Fault]:
    faults: list[Fault] = []
    try:
        candidate.scenario = build_scenario(candidate.tree, question.path)
    except SpecError as error:
        faults = list(error.faults)
        seen = dict.fromkeys(
            f"{fault.key}: {fault.allowed}" if fault.key else fault.allowed for fault in faults
        )
        candidate.too_small = _too_small(question, candidate, faults)
        candidate.why_not = str(candidate.too_small or "; ".join(seen))
        if candidate.too_small is None:
            return faults
    exact = {
        "usable": candidate.usable_bytes / question.grown_capacity,
        "rack units": candidate.bill.rack_units,
        "survives": float(candidate.survives),
    }
    for goal in question.goals:
        if goal.quantity in exact:
            candidate.judge(goal, Measured(exact[goal.quantity], certain=True))
    judge_bill(question, candidate)
    return faults


def judge_bill(question: Question, candidate: Candidate) -> None:
    """Notes what is known of goals about cost and power."""
    known = {"cost": candidate.cost, "power": candidate.bill.watts}
    for goal in question.goals:
        if goal.quantity in known:
            candidate.judge(goal, Measured(known[goal.quantity], certain=True))
