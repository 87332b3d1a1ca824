"""How sure an answer is of what data sheets leave open: candidates over draws of their devices.

Draw number i of a device is the same in every candidate, and so is the seed of the load: what
differs between two candidates in a draw is due to them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from raidlab.devices.draws import drawn, undrawn
from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.trees import Document
from raidlab.scenarios.capacity.candidates import Candidate
from raidlab.scenarios.capacity.question import Question
from raidlab.scenarios.planning.scenario import Scenario, build_scenario
from raidlab.scenarios.results.row import latency_at
from raidlab.scenarios.running.simulate import results_of
from raidlab.scenarios.studies.draws import interval
from raidlab.scenarios.studies.running import Running
from raidlab.scenarios.studies.size import meets

_MOST_DRAWN = 6
"""Candidates of the front that are drawn: the recommended one and the cheapest."""


@dataclass(frozen=True)
class Drawn:
    """What draws give for a candidate."""

    candidate: Candidate
    fits: tuple[bool, ...]
    """In each draw."""
    p99_us: tuple[float, ...]
    iops: tuple[float, ...]

    @property
    def share(self) -> float:
        """Of draws in which it meets the goals."""
        return sum(self.fits) / len(self.fits)

    def to_dict(self) -> Document:
        """Plain data."""
        return {
            "name": self.candidate.name,
            "draws": len(self.fits),
            "fits": self.share,
            "p99_us_draws95": interval(self.p99_us),
            "iops_draws95": interval(self.iops),
        }

    def beats(self, other: Drawn, prefer: str) -> float:
        """Share of draws in which it fits, and the other one does not or is not preferred."""
        pairs = zip(self._ranks(prefer), other._ranks(prefer), strict=True)
        fits = zip(self.fits, other.fits, strict=True)
        wins = [
            own and (not theirs or one <= two)
            for (own, theirs), (one, two) in zip(fits, pairs, strict=True)
        ]
        return sum(wins) / len(wins)

    def _ranks(self, prefer: str) -> list[float]:
        """What the preferred candidate has the least of, in each draw."""
        cost = float(self.candidate.count) if self.candidate.cost is None else self.candidate.cost
        match prefer:
            case "latency":
                return list(self.p99_us)
            case "rate per cost":
                return [-rate / max(cost, 1e-9) for rate in self.iops]
        return [cost] * len(self.fits)


def check_draws(candidates: Sequence[Candidate]) -> None:
    """Refuses draws where every one would be the same.

    Raises:
        SpecError: No candidate has a device with a number that has bounds or a standard error.
    """
    built = [each.scenario for each in candidates if each.scenario is not None]
    if all(undrawn(scenario.models) for scenario in built):
        allowed = "candidates with a device whose numbers have a `range` or a `stderr`; none has"
        raise SpecError([Fault("--draws", None, allowed)])


def draws_of(
    question: Question,
    front: Sequence[Candidate],
    count: int,
    running: Running,
    seed: int,
) -> list[Drawn]:
    """What `count` draws give for the first candidates of the front.

    Raises:
        SpecError: No draw of a device can be.
    """
    chosen = [each for each in front[:_MOST_DRAWN] if each.scenario is not None]
    cases = [_case(question, each, at, seed) for each in chosen for at in range(count)]
    results = results_of(
        cases, seed, workers=running.workers, store=running.store, progress=running.progress,
        heeds_past=False,
    )  # fmt: skip
    every = list(zip(cases, results, strict=True))
    found = []
    for number, each in enumerate(chosen):
        own = every[number * count : (number + 1) * count]
        rows = [result.summary() for _, result in own]
        # Goals that draws do not change are known.
        fits = [meets(question.goals, case, result) for case, result in own]
        p99s = [max(latency_at(row, "p99") or 0.0 for row in one) for one in rows]
        rates = [sum(row["iops"] for row in one) for one in rows]
        found.append(Drawn(each, tuple(fits), tuple(p99s), tuple(rates)))
    return found


def _case(question: Question, candidate: Candidate, at: int, seed: int) -> Scenario:
    models = {} if candidate.scenario is None else candidate.scenario.models
    own = {name: drawn(device, at, seed) for name, device in models.items()}
    return build_scenario(candidate.tree, question.path, own)
