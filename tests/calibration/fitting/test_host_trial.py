"""Where no host is named, that under which the training points are met best is found."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from raidlab.calibration.fitting.bench.bench import Bench, Effort
from raidlab.calibration.fitting.calibrate import calibrate
from raidlab.calibration.fitting.estimation.stages import Settings
from raidlab.calibration.fitting.estimation.start import hosts_of
from raidlab.calibration.fitting.parameters import kinds
from raidlab.calibration.fitting.recovery import load
from raidlab.calibration.fitting.recovery import measure as measure_on
from raidlab.calibration.fitting.report.calibration import Calibration
from raidlab.calibration.measurements.measurement import Measurement
from raidlab.devices.catalogue import find
from raidlab.devices.host import HostSpec
from tests.calibration.fitting.known_drives import station

READS = [load("randread", depth) for depth in (1, 2, 4, 8, 16, 32, 64)]


def measured(service_us: float, servers: int, behind: str) -> Measurement:
    host = find(behind, Path()).spec
    assert isinstance(host, HostSpec)
    bench = Bench.of(station(service_us, servers), host)
    return measure_on(bench, READS, "synthetic", Effort(ios=20_000, seed=5))


@pytest.fixture
def two_hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    either = replace(kinds.KINDS["station"], host="sas2008", hosts=("p420i",))
    monkeypatch.setattr(kinds, "KINDS", {**kinds.KINDS, "station": either})


def fitted(measurement: Measurement, host: str = "", budget: int = 2000) -> Calibration:
    settings = Settings(
        "station",
        host=host,
        train="iodepth=1,8,64",
        budget=budget,
        leave_out=False,
        workers=2,
    )
    return calibrate(measurement, settings)


@pytest.mark.usefixtures("two_hosts")
@pytest.mark.parametrize("behind", ["sas2008", "p420i"])
def test_the_host_that_the_drive_was_measured_behind_is_found(behind: str) -> None:
    result = fitted(measured(90, 4, behind))
    assert result.host["name"] == behind
    losses = {each.host: each.loss for each in result.tried}
    assert losses.keys() == {"sas2008", "p420i"}
    loss = {host: found for host, found in losses.items() if found is not None}
    assert min(loss, key=loss.__getitem__) == behind
    tried = result.to_dict()["hosts_tried"]
    assert [(each["host"], each["loss"]) for each in tried] == list(losses.items())
    assert all(each["whole"] > each["loss"] for each in tried)
    said = [warning for warning in result.warnings if warning.startswith("no --host")]
    assert len(said) == 1 and f"behind {behind} rates and CPU time" in said[0]


@pytest.mark.usefixtures("two_hosts")
def test_hosts_that_make_no_difference_are_not_tried() -> None:
    result = fitted(measured(5000, 1, "p420i"))
    assert [(each.host, each.loss is None) for each in result.tried] == [
        ("sas2008", False),
        ("p420i", True),
    ]
    assert result.host["name"] == "sas2008"
    assert any("hardly distinguished from p420i" in warning for warning in result.warnings)


@pytest.mark.usefixtures("two_hosts")
def test_a_named_host_is_the_only_one() -> None:
    result = fitted(measured(90, 4, "sas2008"), host="p420i")
    assert result.host["name"] == "p420i"
    assert result.tried == ()


@pytest.mark.usefixtures("two_hosts")
def test_hosts_that_the_budget_is_not_enough_for_are_named() -> None:
    result = fitted(measured(90, 4, "sas2008"), budget=100)
    assert (result.host["name"], result.tried) == ("sas2008", ())
    said = [warning for warning in result.warnings if warning.startswith("no --host")]
    assert said == [
        "no --host: behind sas2008; the budget was not enough for p420i (--budget, or --host)"
    ]


def test_each_host_of_a_kind_is_in_the_catalogue_once() -> None:
    for name, kind in kinds.KINDS.items():
        if kind.needs:
            continue
        trees = hosts_of(kind, Settings(name), None)
        names = [tree["name"] for tree in trees]
        assert names == list(dict.fromkeys(names)), name
