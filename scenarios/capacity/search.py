"""Of very many candidates: the cheapest that fits of each kind, without simulating all of them.

A *kind* is a drive in a level, with its spares, spans and cache. A *family* is a kind with a
controller, a host and settings: its candidates differ in the number of drives alone. Two things are
taken to be so: more drives of a family cost more, and they do not make it slower. Then

- fewer drives than a number that misses the goals miss them, too;
- of a kind nothing dearer than one that fits can be the cheapest.

So the least number of drives of a family is found by bisection, as in `size`, and no candidate that
costs more than one of its kind that fits is simulated at all.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Final

from raidlab.scenarios.capacity.candidates import Candidate, Spared

Price = tuple[float, int]
"""What candidates are ordered by."""


_LIKELY_BUSY: Final = 0.7
"""Share of the time that drives may be busy, at which a search begins. No answer rests on it."""


@dataclass(frozen=True)
class Judge:
    """How candidates are judged that were simulated."""

    price: Callable[[Candidate], Price]
    hopeless: Callable[[Candidate], bool]
    """It misses a goal so clearly that a longer run changes nothing."""
    busy: Callable[[Candidate], float]
    """About which share of the time its drives are busy: where a search begins."""
    surely: Callable[[Candidate], bool]
    """It meets every goal so clearly."""


def kinds(candidates: Sequence[Candidate], judge: Judge) -> list[list[list[Candidate]]]:
    """The families of each kind, the one with the cheapest candidate first, by drives in each."""
    found: dict[tuple[str, ...], dict[tuple[str, ...], list[Candidate]]] = {}
    for each in sorted(candidates, key=judge.price):
        found.setdefault(each.kind, {}).setdefault(each.family, []).append(each)
    return [list(families.values()) for families in found.values()]


def cheapest(
    candidates: Sequence[Candidate], judge: Judge, simulate: Callable[[list[Candidate]], None]
) -> list[Candidate]:
    """The candidates of which the cheapest of each kind is one; the others say why they are not.

    Args:
        candidates: All that may fit.
        judge: How they are judged.
        simulate: Simulates some of them, side by side.
    """
    searches = [_Search(families, judge) for families in kinds(candidates, judge)]
    steps = [(search, search.steps()) for search in searches]
    while steps:
        asked: list[Candidate] = []
        left = []
        for search, step in steps:
            wanted = next(step, None)
            if wanted is not None:
                asked.append(wanted)
                left.append((search, step))
        simulate(asked)
        steps = left
    return [each for search in searches for each in search.may_fit]


class _Search:
    """The search for the cheapest of a kind."""

    def __init__(self, families: Sequence[Sequence[Candidate]], judge: Judge) -> None:
        self.families = families
        self.judge = judge
        self.limit: Price | None = None
        """Of the cheapest that surely fits."""
        self.may_fit: list[Candidate] = []

    def steps(self) -> Generator[Candidate, None, None]:
        """Candidates that are to be simulated, each before the next one is asked for."""
        for family in self.families:
            yield from self._family(family)
        limit = self.limit
        if limit is not None:
            self.may_fit = [each for each in self.may_fit if self.judge.price(each) <= limit]

    def _family(self, family: Sequence[Candidate]) -> Generator[Candidate, None, None]:
        limit, price = self.limit, self.judge.price
        cheap = [each for each in family if limit is None or price(each) <= limit]
        for each in family[len(cheap) :]:
            each.spared = Spared.DEARER
        # Where a cheaper one is known to fit, the dearest below it: if it misses, so do all.
        bounded = len(cheap) < len(family)
        start = len(cheap) - 1 if bounded else self._likely(cheap)
        least = yield from self._least(cheap, start)
        for each in cheap[:least]:
            if each.rung < 0:
                each.spared = Spared.FEWER
        rest = iter(cheap[least:])
        for each in rest:
            if each.rung < 0:
                yield each
            if each.why_not:
                continue
            self.may_fit.append(each)
            if self.judge.surely(each):
                self.limit = price(each)
                break
        for each in rest:
            if each.rung < 0:
                each.spared = Spared.DEARER

    def _likely(self, cheap: Sequence[Candidate]) -> int:
        """The first whose drives are not busier than what is likely to meet the goals."""
        likely = (at for at, each in enumerate(cheap) if self.judge.busy(each) <= _LIKELY_BUSY)
        return next(likely, len(cheap) - 1)

    def _least(self, cheap: list[Candidate], start: int) -> Generator[Candidate, None, int]:
        """The place of the first that is not hopeless; the number of them where all are.

        Places ever further from `start` are tried, then those between the last two.
        """
        low, high, at, step = -1, len(cheap), start, 1
        while high - low > 1:
            yield cheap[at]
            if cheap[at].why_not:
                # It takes more memory than there is: more drives do as well.
                del cheap[at:]
                high = min(high, at)
            elif self.judge.hopeless(cheap[at]):
                low = at
            else:
                high = at
            if low >= 0 and high < len(cheap):
                at = (low + high) // 2
            elif low >= 0:
                at = min(low + step, len(cheap) - 1)
            else:
                at = max(high - step, 0)
            step *= 2
        return high
