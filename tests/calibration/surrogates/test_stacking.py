"""Averages of forms, and how far directions wait for each other, against values by hand."""

import numpy as np
import pytest

from raidlab.calibration.surrogates.loads import Loads, Measured
from raidlab.calibration.surrogates.mixes import mix_rates, shared_of
from raidlab.calibration.surrogates.stacking import left_out_of, weights_of


def test_opposite_errors_cancel():
    errors = np.array([[0.2] * 8, [-0.2] * 8])
    assert weights_of(errors) == pytest.approx([0.5, 0.5])
    assert left_out_of(errors) == pytest.approx(np.zeros(8), abs=1e-9)


def test_the_near_form_has_the_weight():
    random = np.random.default_rng(3)
    errors = np.array([random.normal(0.0, 0.02, 20), random.normal(0.0, 0.4, 20)])
    weights = weights_of(errors)
    assert weights[0] > 0.9 and weights.sum() == pytest.approx(1.0)


def test_a_form_that_is_right_by_one_point_alone_is_not_trusted_there():
    """The second form is right at one point: weights without that point do not know it."""
    errors = np.array([[0.1] * 9 + [0.5], [0.4] * 9 + [0.0]])
    assert left_out_of(errors)[-1] > 0.3


class Saturated:
    """Reads at most 100 a second, writes 50; 10 ms, or 20 ms, alone."""

    def rates(self, loads):
        most = 50.0 + 50.0 * loads.read_share
        return np.minimum(loads.outstanding * most, most)


def mix(depth):
    row = np.array([[0.5, 4096, depth, 1, 0]])
    return Loads(*row.T)


@pytest.mark.parametrize(("shared", "rate"), [(1.0, 200 / 3), (0.0, 100.0)])
def test_mixes_by_hand(shared, rate):
    assert mix_rates(Saturated(), mix(1000.0), shared) == pytest.approx([rate], rel=0.01)


def test_the_share_is_found_again():
    for shared in (0.0, 0.5, 1.0):
        rates = mix_rates(Saturated(), mix(20.0), shared)
        seen = Measured(mix(20.0), rates, np.array([0.05]))
        assert shared_of(Saturated(), seen) == shared
