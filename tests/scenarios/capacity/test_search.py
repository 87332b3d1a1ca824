"""The search among very many candidates against looking at each of them."""

import random

import pytest

from raidlab.scenarios.capacity.candidates import Bill, Candidate, Spared
from raidlab.scenarios.capacity.search import Judge, cheapest

CONTROLLERS = ("plain", "fast", "dear")


def made(kind, controller, count, cost, least, unclear):
    """A candidate that fits from `least` drives on, surely from `unclear` more."""
    candidate = Candidate(
        f"{count} x drive, {kind}, {controller}", {}, "drive", count, kind, 0,
        Bill(capital=cost), {}, {"drive": "drive", "level": kind},
    )  # fmt: skip
    candidate.tree = {"least": least, "surely": least + unclear}
    return candidate


def every(seed):
    """Families of four kinds whose least numbers and prices are drawn."""
    draw = random.Random(seed)
    found = []
    for kind in ("a", "b", "c", "d"):
        for controller in CONTROLLERS:
            once, each = draw.randint(0, 400), draw.randint(20, 300)
            least, unclear = draw.randint(1, 34), draw.choice((0, 0, 1, 3))
            found += [
                made(kind, controller, count, once + each * count, least, unclear)
                for count in range(2, 31)
            ]
    return found


JUDGE = Judge(
    price=lambda each: (each.bill.capital, each.count),
    hopeless=lambda each: each.count < each.tree["least"],
    busy=lambda each: 8.0 / each.count,
    surely=lambda each: each.count >= each.tree["surely"],
)


@pytest.mark.parametrize("seed", range(40))
def test_the_cheapest_of_each_kind_is_that_of_looking_at_all(seed):
    candidates, tried = every(seed), []

    def simulate(which):
        tried.extend(which)
        for each in which:
            assert each.rung == -1, "simulated twice"
            each.rung = 0

    found = cheapest(candidates, JUDGE, simulate)
    for kind in "abcd":
        own = [each for each in candidates if each.level == kind]
        sure = min((JUDGE.price(e) for e in own if JUDGE.surely(e)), default=None)
        may = {
            each.name
            for each in own
            if not JUDGE.hopeless(each) and (sure is None or JUDGE.price(each) <= sure)
        }
        assert may == {each.name for each in found if each.level == kind}
    assert len(tried) < 0.3 * len(candidates)
    for each in candidates:
        assert each.rung == 0 or each.spared is not None
        if each.spared is Spared.FEWER:
            assert JUDGE.hopeless(each)


def test_what_takes_too_much_memory_ends_its_family():
    candidates = [made("a", "plain", count, 100 * count, 5, 0) for count in range(2, 31)]

    def simulate(which):
        for each in which:
            each.rung = 0
            if each.count > 12:
                each.rung, each.why_not = -1, "memory"

    (found,) = cheapest(candidates, JUDGE, simulate)
    assert found.count == 5
