"""Bundles: written by the collector, opened and checked here."""

import json
import os
import shutil
import subprocess
import sys

import pytest

from raidlab.calibration import load_bundle
from raidlab.calibration.measurements import collect
from raidlab.devices.faults import SpecError
from tests.calibration.fio.test_virtual import FOUR, SCENARIO

pytestmark = pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")

PLAN = """
name = "two"
title = "Two reads"
[[stage]]
name = "only"
[[stage.step]]
name = "read"
logs = true
options = { rw = "randread", size = "{area}", runtime = "200ms", time_based = true }
sweep = [{ option = "iodepth", values = [1, 4] }]
"""


def run(folder, *arguments):
    command = [sys.executable, "-m", "raidlab", "collect"]
    # The collector looks for `raidlab` beside itself and on the search path.
    path = os.pathsep.join((str(collect.program().parent), os.environ["PATH"]))
    return subprocess.run(
        [*command, *arguments, "--plan", "two.toml", "--out", "out"],
        cwd=folder, capture_output=True, text=True, timeout=120, env=os.environ | {"PATH": path},
    )  # fmt: skip


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bundle")
    (folder / "two.toml").write_text(PLAN)
    done = run(folder, "file.bin", "--size", "4 MiB")
    assert done.returncode == 0, done.stderr
    return folder / "out"


@pytest.fixture
def bundle(measured, tmp_path):
    shutil.copytree(measured, tmp_path / "out")
    return tmp_path / "out"


def test_a_bundle_opens(bundle):
    opened = load_bundle(bundle)
    assert opened.complete
    assert [step.name for step in opened.steps] == ["read iodepth=1", "read iodepth=4"]
    for step in opened.steps:
        result = opened.result(step)
        assert result["jobs"][0]["read"]["iops"] == pytest.approx(step.summary.iops)
        assert "bins" in result["jobs"][0]["read"]["clat_ns"]
        assert opened.log(step, "lat").exists()
    assert opened.manifest.target.kind == "file"
    assert opened.manifest.plan.name == "two"


def test_what_else_the_machine_did_is_stated(bundle):
    """The kernel counts what fio reads: 4 KiB for each of its I/Os, on machines that show it."""
    for step in load_bundle(bundle).steps:
        noise = step.noise
        assert 0 <= noise.other_cpu <= 1
        assert noise.load[1] is not None
        if noise.own_bytes is not None:
            assert noise.own_bytes >= step.summary.read_bytes > 0
            assert noise.rest.seconds >= 0.2


def test_noisy_steps_and_the_spread_of_repeats_are_read(bundle):
    manifest = json.loads((bundle / "manifest.json").read_text())
    last = manifest["steps"][-1]
    last["noisy"] = ["other programs used 40.0 % of the CPU time (allowed: 10 %)"]
    last["attempts"] = [{"iops": 1.0, "noisy": last["noisy"]}] * 3
    names = {"stage": "only", "step": "read iodepth=4", "runs": 2}
    rates = {"iops_mean": 2.0, "iops_deviation": 0.1, "iops_min": 1.9, "iops_max": 2.1}
    manifest["spreads"] = [names | rates]
    for step in manifest["steps"][:-1]:
        step.pop("noisy", None)
    (bundle / "manifest.json").write_text(json.dumps(manifest))
    opened = load_bundle(bundle)
    assert [step.name for step in opened.noisy] == ["read iodepth=4"]
    assert len(opened.noisy[0].attempts) == 3
    assert opened.manifest.spreads[0].iops_deviation == 0.1


def test_damage_is_named_file_by_file(bundle):
    (bundle / "steps" / "002.json").write_text("{}")
    (bundle / "steps" / "003.fio").unlink()
    with pytest.raises(SpecError) as caught:
        load_bundle(bundle)
    text = str(caught.value)
    assert "002.json" in text and "damaged" in text
    assert "003.fio" in text and "No such file" in text
    assert load_bundle(bundle, check=False).complete


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not JSON"),
        ("[]", "format"),
        ('{"format": 2}', "format = 2"),
        ('{"format": 1}', "plan"),
    ],
)
def test_what_is_no_bundle_is_reported(tmp_path, text, words):
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(SpecError, match=words):
        load_bundle(tmp_path)


def test_a_missing_bundle_is_reported(tmp_path):
    with pytest.raises(SpecError, match="No such file"):
        load_bundle(tmp_path / "nowhere")


def test_a_newer_collectors_fields_do_no_harm(bundle):
    file = bundle / "manifest.json"
    tree = json.loads(file.read_text()) | {"weather": "rain"}
    file.write_text(json.dumps(tree))
    assert load_bundle(bundle).complete


def test_a_simulated_target_gives_the_known_rates(tmp_path):
    (tmp_path / "four.toml").write_text(FOUR)
    (tmp_path / "s.toml").write_text(SCENARIO)
    (tmp_path / "two.toml").write_text(PLAN.replace("200ms", "60s"))
    done = run(tmp_path, "--simulated", "s.toml")
    assert done.returncode == 0, done.stderr
    opened = load_bundle(tmp_path / "out")
    assert opened.manifest.target.kind == "simulated"
    assert opened.manifest.target.identity["name"] == "Four servers of 500 us"
    # One at a time: 500 us of service and 4.5 us of the generic host's CPU.
    rates = [step.summary.iops for step in opened.steps]
    assert rates == [pytest.approx(1e6 / 504.5, rel=1e-3), pytest.approx(4e6 / 504.5, rel=1e-2)]


def test_the_collector_that_is_not_there_is_reported(monkeypatch):
    monkeypatch.setattr(collect, "PROGRAM", "raidlab-collect-nowhere")
    with pytest.raises(SpecError, match="install raidlab again"):
        collect.program()
