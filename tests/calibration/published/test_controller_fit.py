"""Firmware times of controllers, fitted on some levels and predicting others."""

import math
from dataclasses import replace

import pytest

from raidlab.calibration.published.controller_fit import START, families, fitted, residuals


@pytest.fixture(scope="module")
def family():
    """The LSI2108 with its two synchronous streams, which take no time to simulate.

    Their values are what the data sheet's own times give, so that the right answer is known.
    """
    (found,) = families(["lsi2108"])
    streams = [f for f in found.figures if f.configuration.outstanding == "1"]
    (own,) = residuals(found, streams, [found.times])
    values = [figure.value * math.exp(off) for figure, off in zip(streams, own, strict=True)]
    figures = [replace(f, value=value) for f, value in zip(streams, values, strict=True)]
    return replace(found, figures=tuple(figures))


def test_families_share_firmware_and_have_both_parts():
    found = {family.names: family for family in families()}
    assert ("lsi2008",) in found
    assert all(family.part(True) and family.part(False) for family in found.values())
    # Variants of one chip count as one controller; one without other levels has nothing to predict.
    assert sum(any(name.startswith("lsi2208") for name in names) for names in found) == 1
    assert ("lsi1068",) not in found


def test_times_that_are_half_as_long_again_are_found_back(family):
    """Both streams take latency + cached of each I/O, 43 + 6 us, and nothing else of the sheet.

    The search begins at 64.5 + 9 us. Figures settle the sum alone; the prior, equal for both in
    logarithms, shares the step in proportion to the times: k (64.5, 9) with
    k (64.5^2 + 9^2) = ln 1.5 (64.5 + 9). So latency ends at ln 1.5 - 0.453 = -0.048 of what is
    right, cached at ln 1.5 - 0.063 = 0.342. An I/O takes 119 us at the start, so that the figures
    (5 % each) outweigh the prior (a factor of 1.6) 53 times: 2 % of the step stays.
    """
    start = {name: START * time for name, time in family.times.items()}
    times = fitted(family, family.figures)
    before, after = residuals(family, family.figures, [start, times])
    # 49 us instead of 73.5 of 119.
    assert before == pytest.approx([math.log(1 - 24.5 / 119)] * 2, abs=0.01)
    assert max(abs(value) for value in after) < 0.015
    off = {name: math.log(times[name] / right) for name, right in family.times.items()}
    assert off["latency"] == pytest.approx(-0.048, abs=0.015)
    assert off["cached"] == pytest.approx(0.342, abs=0.005)
    assert times["latency"] + times["cached"] == pytest.approx(49_000, rel=0.025)
    # What no figure knows of stays where it was.
    for name in ("parity", "request", "command"):
        assert times[name] == pytest.approx(start[name])
