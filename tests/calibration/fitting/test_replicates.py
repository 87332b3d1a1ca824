"""Measurements that are one run of many."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from raidlab.calibration.fitting.certainty.replicates import (
    deviation_between_replicates,
    scaled_by_replicates,
    slope_inflation,
)
from raidlab.calibration.fitting.certainty.uncertainty import certainty
from raidlab.calibration.fitting.parameters.parameter import Parameter
from raidlab.calibration.fitting.search.minimise import ENDLESS, Array, Budget, Evaluate, Search

GROUPS = [0, 0, 1]


def run(residuals: Sequence[float]) -> Evaluate:
    """Equal residuals everywhere."""
    found = np.array(residuals)
    return lambda at, points, rough: found[np.isin(GROUPS, points)]


def test_units_grow_by_what_two_runs_differ_by() -> None:
    """Variances 4, 0 and 12: units sqrt(1 + 8) = 3, 1 and sqrt(1 + 24) = 5."""
    runs = [run([2.0, 1.0, 0.0]), run([4.0, 1.0, 6.0]), run([0.0, 1.0, 0.0])]
    of = scaled_by_replicates(runs, np.zeros(1), GROUPS)(run([6.0, 6.0, 10.0]))
    assert of(np.zeros(1), (0, 1), False) == pytest.approx([2.0, 6.0, 2.0])
    assert of(np.zeros(1), (1,), True) == pytest.approx([2.0])


def test_runs_that_are_alike_change_nothing() -> None:
    evaluate = run([6.0, 6.0, 10.0])
    assert scaled_by_replicates([], np.zeros(1), GROUPS)(evaluate) is evaluate


def test_places_differ_from_run_to_run() -> None:
    """A slope of 7: a residual more moves the place by 7 / (49 + 1); deviation 2, times sqrt 2."""
    found = deviation_between_replicates(np.array([[7.0]]), np.array([[-2.0], [0.0], [2.0]]))
    assert found == pytest.approx([np.sqrt(2.0) * 2.0 * 7.0 / 50.0])


def test_a_slope_that_chance_explains_says_nothing() -> None:
    """Variance 4 over a span of 0.5: 2 x 4 / 0.25 = 32 of the square of a slope is chance."""
    drawn = np.array([[-2.0], [0.0], [2.0]])
    jacobian = np.array([[8.0, 5.0]])
    found = slope_inflation(jacobian, np.array([0.5, 0.5]), drawn)
    assert found[0] == pytest.approx(1.0 / np.sqrt(1.0 - 32.0 / 64.0))
    assert found[1] > 100.0


@pytest.mark.parametrize("with_runs", [False, True])
def test_a_parameter_without_effect_is_reported_only_if_chance_is_taken_for_it(
    with_runs: bool,
) -> None:
    """Every simulation scatters by three units; the first parameter alone has an effect."""
    parameters = [Parameter(key, "us", 1.0, 20.0, "log", "") for key in ("felt", "unfelt")]
    groups = [*range(30)]
    slopes = np.linspace(40.0, 80.0, 30)

    def scattering(seed: int) -> Evaluate:
        def evaluate(at: Array, points: Sequence[int], rough: bool) -> Array:
            draws = np.random.default_rng([seed, *(int(1e6 * x) for x in at)])
            found = slopes * (at[0] - 0.5) + 3.0 * draws.standard_normal(30)
            return np.asarray(found[list(points)])

        return evaluate

    runs = [scattering(seed) for seed in range(1, 9)] if with_runs else []
    middle = np.array([0.5, 0.5])
    points = tuple(groups)
    search = Search(scattering(0), middle, points, Budget(ENDLESS), parameters, groups)
    felt, unfelt = certainty(search, middle, groups, 1, (), runs).estimates
    assert felt.identifiable
    assert unfelt.identifiable is not with_runs
