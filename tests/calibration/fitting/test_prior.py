"""A data sheet's device as a prior: bounds become pulls, and what few points do not say stays."""

import math

import pytest

from raidlab.calibration.fitting.estimation.stages import Settings
from raidlab.calibration.fitting.estimation.start import base_of, prior_of
from raidlab.calibration.fitting.parameters.kinds import KINDS
from raidlab.calibration.fitting.parameters.parameter import Parameter
from raidlab.calibration.fitting.search.minimise import PULL
from raidlab.calibration.fitting.search.prior import ROUNDED, Prior
from raidlab.devices.catalogue import find
from raidlab.devices.provenance import Source

TREE = {"data_sheet": {"x": "1"}, "firmware": {"read": "10 us", "wait": "10 us", "write": "10 us"}}
SOURCES = {
    "firmware.read": Source(source="assumed", range=("5 us", "20 us")),
    "firmware.wait": Source(source="derived"),
    "firmware.write": Source(source="assumed"),
}


def parameter(key: str) -> Parameter:
    return Parameter(key, "us", 1.0, 100.0, "log", "for tests")


def deviation(pulled: Parameter) -> float:
    """Relative deviation at which the pull's residual is 1."""
    return math.log(pulled.high / pulled.low) / (PULL * pulled.pull)


def test_bounds_are_four_standard_deviations_apart() -> None:
    """5 to 20 us are a factor of 4: a deviation of ln 4 / 4 = 0.35."""
    pulled = Prior(TREE, SOURCES).of(parameter("firmware.read"))
    assert deviation(pulled) == pytest.approx(math.log(4) / 4, rel=0.01)


def test_what_a_stated_figure_decides_is_as_sure_as_sheets_round() -> None:
    pulled = Prior(TREE, SOURCES).of(parameter("firmware.wait"))
    assert deviation(pulled) == pytest.approx(ROUNDED, rel=0.01)


def test_what_no_source_bounds_and_other_devices_stay_as_they_are() -> None:
    assert Prior(TREE, SOURCES).of(parameter("firmware.write")) == parameter("firmware.write")
    other = {"firmware": TREE["firmware"]}
    assert Prior(other, SOURCES).of(parameter("firmware.read")) == parameter("firmware.read")


def test_a_list_s_source_holds_for_its_numbers() -> None:
    """TLC read times of 35 to 90 us: ln(90/35) / 4 = 0.24."""
    prior = prior_of(Settings(kind="nvme", like="980-pro-1000"))
    assert prior is not None
    wanted = next(each for each in KINDS["nvme"].declared if each.key == "nand.read.0")
    assert deviation(prior.of(wanted)) == pytest.approx(math.log(90 / 35) / 4, rel=0.02)


def test_a_template_is_no_prior() -> None:
    assert prior_of(Settings(kind="nvme")) is None


def test_what_is_not_fitted_keeps_its_bounds() -> None:
    settings = Settings(kind="nvme", like="980-pro-1000")
    _, sources = base_of(KINDS["nvme"], settings, "x", None)
    range_ = find("980-pro-1000").sources["nand.suspend"].range
    assert range_ is not None
    assert sources["nand.suspend"]["range"] == list(range_)
