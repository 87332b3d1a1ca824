"""Firmware times of controllers, fitted on some levels and predicting others."""

import math
from dataclasses import replace

import pytest

from raidlab.calibration.published.controller_fit import START, families, fitted, residuals


@pytest.fixture(scope="module")
def family():
    """The LSI2108 with its two synchronous streams, which take no time to simulate."""
    (found,) = families(["lsi2108"])
    quick = [f for f in found.figures if f.configuration.outstanding == "1"]
    return replace(found, figures=tuple(quick))


def test_families_share_firmware_and_have_both_parts():
    found = {family.names: family for family in families()}
    assert ("lsi2008",) in found
    assert all(family.part(True) and family.part(False) for family in found.values())
    # Variants of one chip count as one controller; one without other levels has nothing to predict.
    assert sum(any(name.startswith("lsi2208") for name in names) for names in found) == 1
    assert ("lsi1068",) not in found


def test_times_that_are_half_as_long_again_are_found_back(family):
    start = {name: START * time for name, time in family.times.items()}
    times = fitted(family, family.figures)
    before, after = residuals(family, family.figures, [start, times])
    assert min(abs(value) for value in before) > 0.15
    assert max(abs(value) for value in after) < 0.05
    # Parity has nothing to do with RAID 0: it stays where it was.
    assert times["parity"] == pytest.approx(start["parity"])
    assert math.log(times["latency"] / family.times["latency"]) == pytest.approx(0, abs=0.2)
