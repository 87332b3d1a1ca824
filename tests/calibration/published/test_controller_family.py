"""Controllers of one firmware: terms, speeds of chips, what is left out. By hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from raidlab.calibration.published.controller_family import (
    FamilyBench,
    part_of,
    predictions,
    written,
)
from raidlab.calibration.published.figures import read_published
from raidlab.calibration.published.fit import least
from raidlab.calibration.published.nearest import by_nearest
from raidlab.calibration.published.usage import FamilyFit, fits, use_of
from raidlab.devices.catalogue import find
from raidlab.devices.trees import get

TERMS = {"request": "8 us", "latency": "40 us"}


def family(**start: str) -> FamilyFit:
    return fits().family["megaraid"].model_copy(update={"start": start or TERMS})


class Known(FamilyBench):
    """A bench whose synchronous streams follow the latency and whose other figures the request."""

    def errors(self, places, wanted=None):
        chosen = np.ones(len(self.figures), dtype=bool) if wanted is None else wanted
        return [
            np.array([self._known(figure, place) for figure in self.figures])[chosen]
            for place in places
        ]

    def _known(self, figure, place):
        which, right = (1, 30.0) if figure.configuration.outstanding == "1" else (0, 10.0)
        us = float(self.times("lsi2208", place)[self.names[which]].split()[0])
        return math.log(right / us)


def test_a_chip_takes_as_much_longer_as_its_cores_are_slower() -> None:
    """1,600 to 2,000 Dhrystone MIPS: 1.25 times; and e^0.1 times where the terms are so moved."""
    bench = FamilyBench(family())
    assert bench.times("lsi2208", np.zeros(2)) == {"request": "8 us", "latency": "40 us"}
    assert bench.times("lsi2108", np.zeros(2)) == {"request": "10 us", "latency": "50 us"}
    assert bench.times("lsi2108", np.array([0.1, 0.0]))["request"] == "11.05 us"


def test_variants_and_aliases_of_a_chip_are_that_chip() -> None:
    fit = family()
    assert fit.chip_of("lsi2208-1g") == fit.chip_of("lsi2208-1g-2.0") == "lsi2208"
    assert fit.chip_of("lsi2108") == "lsi2108"
    assert fit.chip_of("lsi2008") is None and fit.chip_of("") is None


def test_figures_of_a_family_count_as_fitted_and_those_that_disks_bound_do_not() -> None:
    figures = {figure.id[-3:]: figure for figure in read_published() if "raid" in figure.id}
    assert use_of(figures["053"]) == use_of(figures["070"]) == "fitted"
    assert use_of(figures["052"]) == use_of(figures["018"]) == "chosen in view"


def test_terms_are_found_and_a_chip_is_predicted_from_the_other() -> None:
    bench = Known(family())
    found = least(bench)
    assert np.exp(found.place) * [8, 40] == pytest.approx([10, 30], rel=0.01)
    left = predictions(bench, found, bench.chip_of)
    assert set(left) == {"lsi2108", "lsi2208"}
    # Both have a synchronous stream and a deep load: each knows the other's terms.
    assert max(abs(each).max() for of in left.values() for each in (of.fitted, of.predicted)) < 0.03
    # Levels but RAID 0 have no synchronous stream: without RAID 0 the latency stays at its start.
    left_out = predictions(bench, found, part_of)["RAID 0"]
    assert abs(left_out.fitted).max() < 0.01
    assert left_out.predicted.min() == pytest.approx(math.log(30 / 40), abs=0.02)


def test_the_nearest_configuration_is_that_of_the_fewest_other_columns() -> None:
    """One stream read of the LSI2108 is 670, of the LSI2208 930 MiB/s: ln(930 / 670)."""
    figures = {figure.id[-3:]: figure for figure in read_published() if "raid" in figure.id}
    one, other, deep = figures["020"], figures["022"], figures["063"]
    assert by_nearest(one, [deep, other]) == pytest.approx(math.log(930 / 670))
    assert math.isnan(by_nearest(one, [figures["053"]])), "a rate in IO/s"


def test_sheets_get_the_times_of_their_chips_with_sources() -> None:
    bench = Known(family(request="8 us", command="4 us", latency="40 us"))
    found = least(bench)
    sheets = {path.stem: text for path, text in written(bench, found).items()}
    for name in ("lsi2108", "lsi2208-1g-3.0"):
        chip = str(bench.fit.chip_of(name))
        assert f'request = "{bench.times(chip, found.place)["request"]}"' in sheets[name]
        assert '"firmware.request" = { source = "fitted"' in sheets[name]
    # A variant without times of its own keeps those of its chip by `like`.
    assert "request" not in sheets["lsi2208-1g-2.0"]


def test_the_catalogue_has_the_family_s_times() -> None:
    """One set of terms: the times of the two chips differ by the speed of their cores alone."""
    fit = fits().family["megaraid"]
    ratio = fit.chip["lsi2208"].speed / fit.chip["lsi2108"].speed
    slow, fast = (find(name).spec for name in ("lsi2108", "lsi2208-1g-3.0"))
    for name in ("request", "command", "page", "cached", "parity", "latency"):
        times = [get({"f": vars(spec.firmware)}, f"f.{name}") for spec in (slow, fast)]
        assert times[0] / times[1] == pytest.approx(ratio, rel=0.01), name
