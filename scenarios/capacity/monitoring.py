"""A plan on a monitored load: the present system first, and what monitoring leaves open."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from raidlab.scenarios.capacity.candidates import Candidate, named
from raidlab.scenarios.capacity.question import Question
from raidlab.scenarios.planning.scenario import build_scenario
from raidlab.scenarios.running.simulate import results_of
from raidlab.scenarios.studies.openness import doubt
from raidlab.scenarios.studies.present import Present, beside
from raidlab.scenarios.studies.running import Running
from raidlab.scenarios.studies.size import meets, slowest_p99_ci95


@dataclass(frozen=True)
class OpenParts:
    """A candidate under each choice of what monitoring leaves open."""

    choices: int
    fits: int
    """Choices with which it meets the goals of latency and rate."""
    p99_us: tuple[float, float]
    """Of the slowest load: the least lower and the greatest upper end of its 95 % interval.

    Each choice is a draw of what is open, and its run is finite: both are in the interval.
    """


def present_of(question: Question, running: Running, seed: int) -> Present | None:
    """The present system beside what was monitored of it; None where one of both is not given.

    Raises:
        SpecError: The present system cannot be, or the load has no waits.
    """
    if question.present is None or len(question.monitored) != 1:
        return None
    return beside(question.present, question.monitored[0], running, seed)


def doubts_of(question: Question, present: Present | None) -> Iterator[str]:
    """Warnings about the present system, and about loads that nothing was fitted of."""
    if present is not None:
        text = doubt(present)
        if text:
            yield text
        if question.monitored[0].fit is None:
            yield (
                "what monitoring leaves open of the load is not fitted: `raidlab fit-load` does it"
            )
    elif len(question.monitored) > 1 and question.present is not None:
        yield "[present] is not compared: several loads were monitored, each by itself"
    elif question.monitored:
        yield (
            "nothing shows that the monitored load is simulated right: [present] scenario ="
            ' "FILE" names the system that it was monitored on'
        )


def open_parts(
    question: Question, candidate: Candidate, running: Running | None, seed: int
) -> OpenParts | None:
    """What a candidate does under each choice; None where there is only one.

    Raises:
        SpecError: A choice cannot be simulated.
    """
    if question.members < 2:
        return None
    own = running or Running()
    scenarios = [
        build_scenario(named(question.member(at), candidate.name).tree, question.path)
        for at in range(question.members)
    ]
    results = list(results_of(scenarios, seed, workers=own.workers, store=own.store))
    p99s = [slowest_p99_ci95(result.summary()) for result in results]
    known = [each for each in p99s if each is not None]
    if not known:
        return None
    fits = [
        meets(question.goals, scenario, result)
        for scenario, result in zip(scenarios, results, strict=True)
    ]
    return OpenParts(
        len(scenarios),
        sum(fits),
        (
            min(low for low, _ in known),
            max(high for _, high in known),
        ),
    )
