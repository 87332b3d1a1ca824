"""Warnings of the host beside a scenario's devices: free parity, devices fitted behind another."""

import pytest
from typer.testing import CliRunner

from raidlab.calibration.fitting.recovery import load
from raidlab.calibration.measurements.measurement import Measurement
from raidlab.cli import app
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
        ("nvme", "raid5", "parity"),
        ("nvme", "raid6", "two_parities"),
        ("e5-2637-v3", "raid5", None),
        ("nvme", "raid10", None),
    ],
)
def test_parity_that_costs_nothing_is_a_warning(host, level, key):
    found = [w for w in build_scenario(scenario(host, level)).warnings if "takes no" in w]
    assert len(found) == (key is not None)
    if key is not None:
        assert f"the host {host} has no {key}, so parity of its {level} takes no" in found[0]


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
