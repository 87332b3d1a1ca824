"""What a law's own numbers could be instead: by hand, below a cap, beyond a cache."""

from dataclasses import dataclass

import numpy as np
import pytest

from raidlab.calibration.surrogates.forms import Family, Form, Predictor, blend
from raidlab.calibration.surrogates.kriging import krige
from raidlab.calibration.surrogates.laws import FittedLaw, ServerLaw, fit_law
from raidlab.calibration.surrogates.loads import Loads, Measured
from raidlab.calibration.surrogates.rivals import left_open
from raidlab.calibration.surrogates.selection import Scored, Selection
from raidlab.calibration.twin.asks import candidates, first_look, loads_of_asks
from raidlab.calibration.twin.design import choose

MIB = 1024 * 1024


@dataclass(frozen=True)
class Straight:
    """The logarithm of the rate is a + b x; x stands where depth does."""

    name: str = "straight"
    names: tuple[str, ...] = ("a", "b")

    def start(self, seen):
        return np.zeros(2)

    def bounds(self):
        return np.full(2, -1e6), np.full(2, 1e6)

    def rates(self, numbers, loads):
        a, b = np.moveaxis(np.asarray(numbers), -1, 0)[..., None]
        return np.exp(a + b * loads.depth)


def loads(*rows):
    return Loads(*np.array(rows, dtype=float).T)


def test_a_straight_law_by_hand():
    """Seen at -1 and 1 to 0.1 each: 0.1 sqrt((1 + 9) / 2) at 3, and 0.1 / sqrt(2) at 0."""
    at = loads((1, 1, -1, 1, 0), (1, 1, 1, 1, 0))
    seen = Measured(at, np.ones(2), np.full(2, 0.1))
    fitted = FittedLaw(Straight(), np.zeros(2), 0.0, np.zeros(2), np.eye(2) * 0.01 / 2.0)
    changes, _ = left_open(fitted, seen, loads((1, 1, 3, 1, 0), (1, 1, 0, 1, 0)))
    deviations = np.sqrt((changes**2).sum(axis=0))
    assert deviations == pytest.approx([0.1 * np.sqrt(5.0), 0.1 / np.sqrt(2.0)], rel=1e-3)


def test_a_time_below_a_cap_stays_where_the_cap_hides_it():
    """No slope says how long the server takes; a second would still be seen."""
    law = ServerLaw(0.0, capped=True)
    times = [10e-6, 10e-6, 1e-12, 1e-12, 400e-6, 400e-6, 5000.0, 1e9]
    at = loads(*((1, 4096, depth, 1, 0) for depth in (1, 16, 32, 64)))
    seen = Measured(at, law.rates(np.log(np.array(times)), at), np.full(4, 0.05))
    changes, at_seen = left_open(fit_law(law, seen, starts=0), seen, at)
    assert ((at_seen / 0.05) ** 2).sum(axis=1).max() <= 0.51
    assert np.sqrt((changes**2).sum(axis=0)).max() < 0.1


def test_the_next_loads_lie_where_a_cpus_cache_may_end():
    """The first look has 1 and 32 MiB in flight: a cache of 6 MiB and one of 2 explain both."""
    law = ServerLaw(1.0, cached=True)
    times = [6e-6, 11e-6, 1.05e-10, 1.5e-10, 20e-6, 25e-6, 6.0 * MIB, 2.2]
    at = loads_of_asks(first_look(writes=True))
    seen = Measured(at, law.rates(np.log(np.array(times)), at), np.full(len(at), 0.05))
    fitted, none = fit_law(law, seen, starts=0), np.zeros(len(at))
    own, table = Form(Family.SERVER_CACHED, law), Form(Family.TABLE, law, table=True)
    forms = Predictor(own, fitted), Predictor(table, fitted, krige(fitted, seen))
    scored = tuple(Scored(each.form, each, none) for each in forms)
    selection = Selection(scored, blend(forms, (1.0, 0.0)), none, scored[0], 1.0)
    found = choose(selection, seen, candidates(writes=True), 3)
    first = found.asks[0]
    assert first.block * first.depth * first.jobs in (2 * MIB, 4 * MIB, 8 * MIB)
    # Rates between are open by a third, as 2.2 times the time of a byte is what is at stake.
    assert 0.03 < found.deviation < 0.3
