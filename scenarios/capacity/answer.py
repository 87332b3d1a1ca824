"""What a question was answered with, and its document."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TypedDict

from raidlab.devices.trees import Document
from raidlab.scenarios import _engine
from raidlab.scenarios.capacity.assumptions import WHOLE_RUN, assumptions
from raidlab.scenarios.capacity.candidates import Candidate
from raidlab.scenarios.capacity.doubt import Drawn
from raidlab.scenarios.capacity.energy import Uncounted, uncounted
from raidlab.scenarios.capacity.headroom import Headroom
from raidlab.scenarios.capacity.later import Later
from raidlab.scenarios.capacity.load import unit_costs
from raidlab.scenarios.capacity.migration import Migration
from raidlab.scenarios.capacity.monitoring import OpenParts
from raidlab.scenarios.capacity.question import Question
from raidlab.scenarios.capacity.upgrades import Upgrade
from raidlab.scenarios.results.row import Row
from raidlab.scenarios.studies.present import Present


class Beaten(TypedDict):
    """How probable it is that the recommended candidate is better than another one."""

    other: str
    probability: float


@dataclass(frozen=True)
class Answer:
    """What a question was answered with."""

    question: Question
    seed: int
    candidates: tuple[Candidate, ...]
    recommended: Candidate | None
    front: tuple[Candidate, ...]
    """Candidates that fit and that no other beats in everything."""
    nearest: Candidate | None
    """Where none fits: the one that misses its goals by the least."""
    headroom: Headroom | None
    rows: tuple[Row, ...]
    """Of the recommended one: a row for each load."""
    months: float | None
    """Until growth ends the recommended one; None without growth."""
    ended_by: str
    simulated: int
    upgrades: tuple[Upgrade, ...] = ()
    """Single changes of the recommended one, the best first."""
    drawn: tuple[Drawn, ...] = ()
    """What draws of devices give: the recommended one, then others of the front."""
    present: Present | None = None
    """Today's system beside what was monitored of it."""
    later: Later | None = None
    """What buying later gives, where prices have a trend."""
    migration: Migration | None = None
    """What moving today's data takes, where the question says how much is moved."""
    open_parts: OpenParts | None = None
    """What the recommended one does with other choices of what monitoring leaves open."""
    warnings: tuple[str, ...] = ()
    breaches: tuple[str, ...] = ()

    def to_dict(self) -> Document:
        """The document of `raidlab plan --json`."""
        missing = self.uncounted
        return {
            "title": self.question.title,
            "seed": self.seed,
            "version": _engine.version(),
            "goals": [goal.text for goal in self.question.goals],
            "horizon_years": self.question.table.horizon,
            "currency": self.question.table.currency,
            "recommended": None if self.recommended is None else self.recommended.name,
            "nearest": None if self.nearest is None else self.nearest.name,
            "front": [each.name for each in self.front],
            "headroom": None if self.headroom is None else asdict(self.headroom),
            "months": self.months,
            "ended_by": self.ended_by,
            "simulated": self.simulated,
            "upgrades": [vars(each) for each in self.upgrades],
            "draws": [each.to_dict() for each in self.drawn],
            "beats": self.beats(),
            "present": None if self.present is None else self.present.to_dict(),
            "later": None if self.later is None else later_data(self.later),
            "migration": None if self.migration is None else asdict(self.migration),
            "open": None if self.open_parts is None else asdict(self.open_parts),
            "energy_not_counted": None if missing is None else asdict(missing),
            "candidates": [self._row(each) for each in self.candidates],
            "assumptions": self.assumptions,
            "warnings": list(self.warnings),
            "breaches": list(self.breaches),
        }

    @property
    def assumptions(self) -> list[str]:
        """What it rests on."""
        nearest = () if self.nearest is None else (self.nearest,)
        return assumptions(self.question, self.front or nearest, self.candidates)

    @property
    def fitting(self) -> list[Candidate]:
        """All candidates that fit, on the front or not."""
        return [each for each in self.candidates if fits(each)]

    @property
    def uncounted(self) -> Uncounted | None:
        """Energy that is not in the cost of the recommended one, and whether that matters."""
        best = self.recommended
        return None if best is None else uncounted(self.question, best, self.fitting)

    def beats(self) -> list[Beaten]:
        """How probable it is that the recommended one is the better one, for each other drawn."""
        prefer = self.question.table.prefer
        return [
            {"other": each.candidate.name, "probability": self.drawn[0].beats(each, prefer)}
            for each in self.drawn[1:]
        ]

    def _row(self, each: Candidate) -> dict[str, object]:
        fails: list[dict[str, object]] = [
            {"goal": one.goal.text, "by": one.by, "value": one.measured.value}
            for one in each.failing
        ]
        if each.unsettled:
            fails.insert(0, {"goal": "a settled run", "by": None, "value": each.unsettled})
        if each.falls_behind:
            fails.insert(0, {"goal": "the load's rate", "by": each.overload, "value": each.served})
        if each.too_small is not None:
            room = {"goal": "room for the load's data", "by": each.too_small.short}
            fails.insert(0, room | {"value": each.why_not})
        elif each.why_not:
            goal = "can be built" if each.scenario is None else "can be simulated"
            fails.insert(0, {"goal": goal, "by": None, "value": each.why_not})
        best = each is self.recommended and self.headroom is not None
        years = self.question.table.horizon
        return {
            "name": each.name,
            "fits": fits(each),
            "confirmed": confirmed(each),
            "fails": fails,
            "cost": each.cost,
            "capital": each.bill.capital,
            "energy_cost": each.bill.energy,
            "latency_us": {"p99": each.p99_us},
            "iops": each.iops,
            "iops_headroom": self.headroom.iops if best and self.headroom else None,
            "iops_per_cost": None if not each.cost or not each.iops else each.iops / each.cost,
            "iops_per_watt": per_watt(each),
            "cost_per": unit_costs(self.question, each),
            "usable_bytes": each.usable_bytes,
            "watts": each.bill.watts,
            "watts_assumed": each.bill.assumed,
            "watts_unknown": list(each.bill.unknown),
            "rack_units": each.bill.rack_units,
            "survives": each.survives,
            "loss_per_year": _per_year(each.loss.value, years),
            "life_years": each.life_years,
            "limit": each.limit,
            "rung": each.rung,
            "spared": each.spared,
            "dominated_by": each.dominated_by,
        }


def later_data(later: Later) -> dict[str, object]:
    """Plain data of what waiting gives."""
    return asdict(later) | {"best": asdict(later.best)}


def per_watt(candidate: Candidate) -> float | None:
    """I/Os a second for each watt; None where it is not known what is drawn."""
    watts, served = candidate.bill.watts, candidate.iops
    return None if not watts or not served else served / watts


def _per_year(loss: float | None, years: float) -> float | None:
    return None if loss is None else -math.expm1(math.log1p(-min(loss, 1 - 1e-16)) / years)


def fits(candidate: Candidate) -> bool:
    """Whether it was simulated, as long as it took, and meets every goal."""
    return candidate.rung >= 0 and not candidate.out


def confirmed(candidate: Candidate) -> bool:
    """Whether it fits after the whole run."""
    return candidate.rung == WHOLE_RUN and not candidate.out


def price(candidate: Candidate) -> tuple[float, int]:
    """What candidates are ordered by: cost, or the number of drives where there are no prices."""
    drives = candidate.count + candidate.spares
    return (float(drives) if candidate.cost is None else candidate.cost), drives
