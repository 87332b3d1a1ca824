"""Options that searches of parts left in doubt, compared on all points together.

A mode of operation is decided on the few points of one direction, by searches whose ends differ by
where they begin: by a loss of 5 between two starts, where 4 decides. So every option that ended not
far above the best descends once more, with all parameters, long runs and the points of both
directions, and so does the option that was settled on. These losses decide, say which options
remain rivals, and by how much each is worse. Where the decision stands, so does its place.

**Example.** Of a measured hard disk, planning ahead is 7 better by its reads, and no cache is 0.1
better than one by its writes. On all points the first is 10.6 better, the second 0.9 worse.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from raidlab.calibration.fitting.estimation.decision import decided
from raidlab.calibration.fitting.estimation.stages import (
    PER_PARAMETER,
    Settled,
    Task,
    depends,
    places_of,
    spanning,
    under,
)
from raidlab.calibration.fitting.search.loss import groups_of
from raidlab.calibration.fitting.search.minimise import (
    Budget,
    OutOfBudgetError,
    Search,
    descend,
)

_DESCENT_STEPS: Final = 5
_POINTS: Final = 12
"""Points that are compared: all of a usual training set."""


def decided_on_all(task: Task, settled: Settled, budget: Budget) -> Settled:
    """What was settled, with every decision that was in doubt made on all points together.

    Args:
        task: What is fitted.
        settled: Where the searches of parts have ended.
        budget: What may be spent, those searches included. If it is not enough, all stays as the
            parts have decided it.
    """
    if not any(decision.in_doubt for decision in settled.decisions):
        return settled
    points = tuple(sorted(spanning(task.points, range(len(task.points)), _POINTS)))
    groups = [group for group in groups_of(task.points) if group in points]
    contest = _Contest(task, points, groups, budget, settled.evaluations)
    try:
        found = contest.held(settled)
    except OutOfBudgetError as over:
        found = replace(settled, cut=settled.cut | {over.by})
    return replace(found, evaluations=contest.spent)


@dataclass
class _Contest:
    """Descents under different options, on the same points."""

    task: Task
    points: tuple[int, ...]
    groups: Sequence[int]
    budget: Budget
    spent: int

    def held(self, settled: Settled) -> Settled:
        """The options that are met best, one mode after the other.

        Raises:
            OutOfBudgetError: The budget is spent.
        """
        best = settled
        end, cost = self._descended(settled)
        decisions = list(settled.decisions)
        for number, decision in enumerate(decisions):
            if not decision.in_doubt:
                continue
            ends = [(decision.option, end, cost)]
            for other in decision.in_doubt:
                begin = under(self.task, end, other.option, other.places)
                ends.append((other.option, *self._descended(begin)))
            order = decision.mode.options.index
            ends.sort(key=lambda each: order(each[0]))
            tried = [(option, places_of(at), loss) for option, at, loss in ends]
            decisions[number] = made = decided(decision.mode, tried, len(self.groups))
            if made.option is not decision.option:
                end, cost = next((at, loss) for option, at, loss in ends if option is made.option)
                best = end
            end = replace(end, decisions=tuple(decisions))
        return replace(best, decisions=tuple(decisions), cut=settled.cut, searches=settled.searches)

    def _descended(self, begin: Settled) -> tuple[Settled, float]:
        """Where a descent ends, and its loss there with that of its numbers."""
        task, parameters = self.task, begin.model.parameters
        rest = max(0, self.budget.evaluations - self.spent)
        search = Search(
            task.evaluator(begin.model),
            begin.start,
            self.points,
            replace(self.budget, evaluations=rest),
            parameters,
            self.groups,
            lambda parameter, at: depends(task.kind, parameter, task.points[at]),
        )
        try:
            descend(search.full, begin.place, parameters, _DESCENT_STEPS, search.full)
        finally:
            self.spent += search.evaluations
        if search.best is None:
            raise AssertionError("a descent looks at one place at least")
        cost, place = search.best
        return replace(begin, place=place), cost + PER_PARAMETER * len(parameters)
