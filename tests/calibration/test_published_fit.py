"""Sensitivities of published figures to a data sheet's parameters."""

import math

import numpy as np
import pytest

from raidlab.calibration.published_fit import (
    GROUPS,
    Sensitivity,
    figures_of,
    left_out,
    scaled,
    standard_errors,
)  # fmt: skip


def test_a_parameter_of_a_sheet_is_scaled_where_it_stands():
    text = '[nand]\nread = ["50 us", "70 us"]\n[firmware]\nread = "20 us"\ncores = 1\n'
    assert '[nand]\nread = ["55 us", "77 us"]' in scaled(text, "nand.read", 1.1)
    assert '[firmware]\nread = "10 us"' in scaled(text, "firmware.read", 0.5)
    with pytest.raises(ValueError, match=r"heat\.idle: no parameter"):
        scaled(text, "heat.idle", 2)


def test_standard_errors_and_left_out_groups_of_a_straight_line():
    """Every figure is proportional to one parameter; the streams' ones ask for 10 % more."""
    figures = figures_of("p3700-800")
    streams = [figure.configuration.load == "streaming" for figure in figures]
    residuals = [-math.log(1.1) if stream else 0.0 for stream in streams]
    known = Sensitivity(figures, ["x"], residuals, [[1.0]] * len(figures))
    (error,) = standard_errors(known)
    count = len(figures)
    assert error == pytest.approx(np.sqrt(np.dot(residuals, residuals) / (count - 1) / count))
    groups = {label: rest for label, *rest in left_out(known, GROUPS["profile"])}
    assert groups["streaming"][0] == sum(streams)
    # The fit is not at its optimum for the others: without the streams they pull it back.
    assert groups["streaming"][2] > groups["streaming"][1]
