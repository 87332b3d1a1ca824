"""SNIA's test on a simulated SSD: steady once its write amplification has settled, not before."""

import re
import shutil
from pathlib import Path

import pytest

import raidlab.devices
from raidlab.calibration import load_bundle
from tests.calibration.measurements.test_bundle import run

pytestmark = pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")

SMALL = {
    "name": '"small"',
    "capacity": '"1700 MB"',
    "channels": "2",
    "dies_per_channel": "2",
    "planes": "1",
    "blocks_per_plane": "128",
    "pages_per_block": "256",
    "reserved_blocks": "4",
}
"""A drive of 2 GiB of NAND that is worn in within seconds; its times are a real drive's."""

SCENARIO = """
title = "A small SSD, fresh"
[[array]]
name = "data"
drives = [{ model = "small.toml" }]
[run]
precondition = "fresh"
"""
PLAN = """
name = "two"
title = "Fill twice, then random writes"
[options]
size = "{capacity}"
norandommap = true
[[stage]]
name = "precondition"
[[stage.step]]
name = "fill-twice"
options = { rw = "write", bs = "128k", iodepth = 32, loops = 2 }
[[stage]]
name = "rounds"
rounds = 16
%s
[[stage.step]]
name = "write"
options = { rw = "randwrite", bs = "4k", iodepth = 16, time_based = true, runtime = "8s" }
"""
TEST = 'steady_state = { step = "write", value = "iops" }'


def small_drive():
    specs = Path(raidlab.devices.__file__).parent / "specs" / "ssd"
    text = (specs / "p3700-800.toml").read_text()
    for key, value in SMALL.items():
        text, count = re.subn(rf"(?m)^{key} = .*", f"{key} = {value}", text, count=1)
        assert count == 1, key
    return text


def rounds(folder, test):
    folder.mkdir()
    (folder / "small.toml").write_text(small_drive())
    (folder / "s.toml").write_text(SCENARIO)
    (folder / "two.toml").write_text(PLAN % test)
    done = run(folder, "--simulated", "s.toml")
    assert done.returncode == 0, done.stderr
    bundle = load_bundle(folder / "out")
    return bundle, [step.summary.iops for step in bundle.steps if step.stage == "rounds"]


def test_steady_state_is_found_after_and_not_before_the_rate_settles(tmp_path):
    tested, until = rounds(tmp_path / "tested", TEST)
    _, everything = rounds(tmp_path / "all", "")
    found = tested.manifest.steady_state[0]
    assert found.reached
    # With equal seeds the rounds are equal, and end early.
    assert until == everything[: len(until)]
    assert found.rounds == len(until) < len(everything)
    settled = sum(everything[-4:]) / 4
    assert found.assessment.average == pytest.approx(settled, rel=0.05)
    assert found.assessment.window == tuple(until[-5:])
    # Every earlier window still held a round far from where the rate settles.
    assert len(until) > 5
    for end in range(5, len(until)):
        far = max(abs(rate / settled - 1) for rate in everything[end - 5 : end])
        assert far > 0.10, f"rounds {end - 4} to {end} had settled"
