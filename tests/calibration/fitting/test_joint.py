"""Hosts and drives fitted together: what one measurement cannot tell apart, several can."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from raidlab.calibration.fitting.bench.bench import Bench, Effort
from raidlab.calibration.fitting.estimation.joint import (
    JointFit,
    JointSettings,
    Member,
    fit_together,
)
from raidlab.calibration.fitting.recovery import load, measure
from raidlab.calibration.measurements.measurement import Measurement
from raidlab.cli import app
from raidlab.devices.catalogue import find, load_device
from raidlab.devices.host import HostSpec
from tests.calibration.fitting.known_drives import station

READS = [load("randread", depth) for depth in (1, 8, 64)]


def measured(name: str, service_us: float, servers: int, host: HostSpec) -> Measurement:
    bench = Bench.of(station(service_us, servers), host)
    return measure(bench, READS, name, Effort(ios=8000, seed=11))


def slower_host() -> HostSpec:
    """The generic host whose thread takes 6 us to issue an I/O instead of 2.5."""
    spec = find("generic", Path()).spec
    assert isinstance(spec, HostSpec)
    return spec.model_copy(update={"submit": 6000})


@pytest.fixture(scope="module")
def found() -> JointFit:
    """One drive that the host bounds (1 / 8 us = 125,000 a second) and one that bounds itself.

    8 servers of 400 us end at 20,000 a second: the slow one says nothing of the host, and the
    fast one, 100 us x 64 = 640,000 a second, nothing of its own servers.
    """
    host = slower_host()
    members = [
        Member(measured("fast", 100, 64, host), "fast", "generic"),
        Member(measured("slow", 400, 8, host), "slow", "generic"),
    ]
    return fit_together(
        members, JointSettings("station", free=frozenset({"host.submit"}), budget=400)
    )


def test_one_host_comes_from_all_its_drives(found: JointFit) -> None:
    assert found.value("generic", "host.submit") == pytest.approx(6.0, rel=0.05)
    assert found.host_tree("generic")["submit"].endswith(" us")


def test_each_drive_has_its_own_values(found: JointFit) -> None:
    assert found.value("fast", "service") == pytest.approx(100, rel=0.05)
    assert found.value("slow", "service") == pytest.approx(400, rel=0.05)
    assert found.value("slow", "servers") == 8
    assert found.drive_tree("slow")["servers"] == 8
    # Any number of servers beyond what the host feeds would do.
    servers = next(e for e in found.fit.estimates if e.parameter.key == "fast: servers")
    assert servers.high > 64


def test_a_parameter_is_there_once_for_its_owner(found: JointFit) -> None:
    names = [estimate.parameter.key for estimate in found.fit.estimates]
    assert names.count("generic: host.submit") == 1
    assert sorted(name.split(":")[0] for name in names if "service" in name) == ["fast", "slow"]
    for member in found.to_dict()["members"]:
        assert member["train"]["median_abs_error_pct"] < 2


def test_one_drive_behind_two_hosts_has_one_set_of_values() -> None:
    """Behind a given host the drive is known; behind the other the same drive shows the host."""
    generic = find("generic", Path()).spec
    assert isinstance(generic, HostSpec)
    members = [
        Member(measured("here", 100, 16, generic), "drive", "generic"),
        Member(measured("there", 100, 16, slower_host()), "drive", "e5-2637-v3"),
    ]
    settings = JointSettings(
        "station",
        free=frozenset({"host.submit"}),
        given=frozenset({"generic"}),
        budget=300,
    )
    found = fit_together(members, settings)
    names = [estimate.parameter.key for estimate in found.fit.estimates]
    assert names.count("drive: service") == 1
    assert "generic: host.submit" not in names
    assert found.value("drive", "service") == pytest.approx(100, rel=0.05)
    assert found.value("e5-2637-v3", "host.submit") > 5


def test_the_command_writes_a_file_for_each_drive_and_host(tmp_path: Path) -> None:
    spec = find("generic", Path()).spec
    assert isinstance(spec, HostSpec)
    for name, service in (("one", 100), ("two", 300)):
        text = measured(name, service, 4, spec).to_json()
        (tmp_path / f"{name}.json").write_text(text)
    files = [str(tmp_path / "one.json"), str(tmp_path / "two.json")]
    options = ["--kind", "station", "--host", "generic", "--budget", "100", "--json"]
    out = tmp_path / "fitted"
    out.mkdir()
    result = CliRunner().invoke(app, ["calibrate", *files, *options, "--out", str(out)])
    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)
    assert [member["drive"] for member in document["members"]] == ["one", "two"]
    device = load_device(out / "two.toml")
    assert device.sources["service"].measurement == "two"
    assert device.written["fitted_behind"] == "generic-of-one-two"
    host = load_device(out / "generic-of-one-two.toml")
    assert host.spec.kind == "host"


def test_wrong_names_are_refused_all_at_once(tmp_path: Path) -> None:
    spec = find("generic", Path()).spec
    assert isinstance(spec, HostSpec)
    path = tmp_path / "one.json"
    path.write_text(measured("one", 100, 4, spec).to_json())
    run = ["calibrate", str(path), str(path), "--kind", "station"]
    result = CliRunner().invoke(app, [*run, "--host", "generic,nvme,ahci"])
    assert result.exit_code == 2
    assert "one name, or 2 with commas between" in result.output
    result = CliRunner().invoke(app, [*run, "--name", "x", "--posterior", "3"])
    assert result.exit_code == 2
    assert "--name" in result.output and "--posterior" in result.output
