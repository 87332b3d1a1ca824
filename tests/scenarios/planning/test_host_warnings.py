"""Warnings of the host beside a scenario's devices: free parity, devices fitted behind another."""

import pytest
from typer.testing import CliRunner

from raidlab.calibration.fitting.recovery import load
from raidlab.calibration.measurements.measurement import Measurement
from raidlab.cli import app
from raidlab.devices.catalogue import catalogue
from raidlab.scenarios.planning.scenario import build_scenario, load_scenario

FITTED = """
kind = "station"
name = "fitted"
capacity = "100 GB"
service = { value = "1 ms", source = "assumed", note = "for tests" }
fitted_behind = "ahci"
[sources]
capacity = "assumed"
"""

FREE = """
kind = "host"
name = "bare"
clock = "3 GHz"
submit = "2 us"
complete = "2 us"
raid_command = "1 us"
[sources]
all = { source = "assumed", note = "for tests" }
"""


def scenario(host, level, drive="null", count=4):
    array = {"level": level, "drives": [{"model": drive, "count": count}]}
    if count > 1:
        array["software_raid"] = "os"
    return {
        "host": {"model": host},
        "array": [array],
        "workload": [{"rw": "randwrite", "block_size": "4 KiB", "outstanding": 4}],
    }


@pytest.mark.parametrize(
    ("host", "level", "key"),
    [
        (FREE, "raid5", "parity"),
        (FREE, "raid6", "two_parities"),
        ("e5-2637-v3", "raid5", None),
        (FREE, "raid10", None),
    ],
)
def test_parity_that_costs_nothing_is_a_warning(tmp_path, host, level, key):
    given = tmp_path / "bare.toml"
    given.write_text(FREE)
    name = str(given) if host == FREE else host
    found = [w for w in build_scenario(scenario(name, level)).warnings if "host bare has no" in w]
    assert len(found) == (0 if key is None else 2)
    if key is not None:
        assert f"has no stripe_page, so its thread handles the stripes of its {level}" in found[0]
        assert f"has no {key}, so parity of its {level} takes no" in found[1]


def test_every_host_of_the_catalogue_has_the_costs_of_parity():
    hosts = [device.spec for device in catalogue() if device.spec.kind == "host"]
    assert len(hosts) >= 10
    for host in hosts:
        assert host.parity and host.two_parities and host.stripe_page, host.name


@pytest.mark.parametrize(("host", "warned"), [("ahci", False), ("nvme", True)])
def test_a_device_fitted_behind_another_host_is_a_warning(tmp_path, host, warned):
    path = tmp_path / "fitted.toml"
    path.write_text(FITTED)
    warnings = build_scenario(scenario(host, "jbod", str(path), 1)).warnings
    said = f"fitted: was fitted behind the host ahci and stands behind {host} here"
    assert any(said in each for each in warnings) == warned
    measured = tmp_path / "m.json"
    measured.write_text(Measurement(name="m", points=(load("randread", 1),)).to_json())
    words = ["compare", str(measured), "--device", str(path), "--host", host]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert (said in done.output) == warned


def test_a_comparison_takes_the_host_that_a_device_was_fitted_with(tmp_path):
    measured, device = tmp_path / "m.json", tmp_path / "d.toml"
    measured.write_text(Measurement(name="m", points=(load("randread", 1),)).to_json())
    device.write_text(FITTED)
    done = CliRunner().invoke(app, ["compare", str(measured), "--device", str(device)])
    assert done.exit_code == 0, done.output
    assert "behind ahci" in done.output and "was fitted behind" not in done.output
    # Its host is a file of its own: only the user knows where it lies.
    device.write_text(FITTED.replace('"ahci"', '"ahci-of-mine"'))
    done = CliRunner().invoke(app, ["compare", str(measured), "--device", str(device)])
    assert done.exit_code == 2
    assert "--host" in done.output and "ahci-of-mine" in done.output


def test_a_fit_names_its_host_and_the_scenario_takes_it(tmp_path):
    measured, device, host = (tmp_path / name for name in ("m.json", "d.toml", "h.toml"))
    points = tuple(load("randread", depth) for depth in (1, 4))
    measured.write_text(Measurement(name="m", points=points).to_json())
    words = ["calibrate", str(measured), "--kind", "station", "--name", "mine", "--budget", "20"]
    words += ["--free", "host.submit", "--out", str(device), "--host-out", str(host)]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert 'fitted_behind = "generic-of-mine"' in device.read_text()
    given = tmp_path / "s.toml"
    text = """
host = {{ model = "{host}" }}
array = [{{ drives = [{{ model = "./d.toml" }}] }}]
workload = [{{ rw = "randread", block_size = "4 KiB" }}]
"""
    given.write_text(text.format(host="./h.toml"))
    assert load_scenario(given).warnings == ()
    given.write_text(text.format(host="generic"))
    assert "was fitted behind the host generic-of-mine" in load_scenario(given).warnings[0]
