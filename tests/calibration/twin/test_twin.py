"""The loop on simulated systems: what is asked for, that it goes on, how near it comes."""

import json
import subprocess

import numpy as np
import pytest
from typer.testing import CliRunner

from raidlab.calibration.surrogates.laws import ServerLaw
from raidlab.calibration.surrogates.loads import Measured
from raidlab.calibration.surrogates.selection import select
from raidlab.calibration.twin import targets
from raidlab.calibration.twin.asks import Ask, candidates, first_look, kept_back, loads_of_asks
from raidlab.calibration.twin.design import choose
from raidlab.calibration.twin.intervals import conformal_pct
from raidlab.calibration.twin.targets import CollectedTarget, SimulatedTarget, plan_of
from raidlab.cli import app
from raidlab.devices.faults import SpecError
from raidlab.scenarios.planning.scenario import load_scenario

SYSTEM = """
[host]
model = "generic"
[[array]]
drives = [{ model = "capped.toml" }]
[[workload]]
rw = "randread"
block_size = "4 KiB"
outstanding = 8
[run]
duration = "1 s"
"""
NAME = "randread-4k-d1-j1"
CAPPED = """
kind = "volume"
name = "capped"
capacity = "100 GB"
limits = { rate = "8000 IO/s", throughput = "200 MB/s" }
latency = { read = "400 us", write = "700 us" }
[sources]
all = "assumed"
"""


def prepared(folder):
    (folder / "capped.toml").write_text(CAPPED)
    (folder / "system.toml").write_text(SYSTEM)
    return folder


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return prepared(tmp_path)


WORDS = ("--simulated", "system.toml", "--out", "made", "--points", "19")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder in which a twin was made, in what was an empty folder, and what that printed."""
    folder = prepared(tmp_path_factory.mktemp("twin"))
    (folder / "made").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        done = twin(*WORDS, "--json")
    assert done.exit_code == 0, done.output
    return folder, json.loads(done.stdout)


def twin(*words):
    return CliRunner().invoke(app, ["twin", *words])


def test_a_capped_volume_is_found_and_judged(made, monkeypatch):
    folder, found = made
    monkeypatch.chdir(folder)
    assert found["kind"] == "virtual-disk"
    assert found["kept_back"]["points"] == 8
    assert found["kept_back"]["median_abs_error_pct"] < 3.0
    assert found["kept_back"]["p90_abs_error_pct"] < 10.0
    assert found["points"] <= 19 + 8
    assert "8 loads that the fit has not seen" in found["verdict"]
    assert any("sequential" in each for each in found["limits"])
    named = {each["name"]: each["value"] for each in found["parameters"]}
    assert named["limits.rate"] == pytest.approx(8000, rel=0.03)
    assert named["limits.throughput"] == pytest.approx(200, rel=0.03)
    # The scenario of the twin runs where it lies.
    assert load_scenario(folder / "made" / "scenario.toml").points == 1
    # Nothing is measured again in a folder that has all points.
    points = (folder / "made" / "points.json").read_bytes()
    again = twin(*WORDS, "--force", "--json")
    assert again.exit_code == 0, again.output
    assert json.loads(again.stdout)["kept_back"] == found["kept_back"]
    assert (folder / "made" / "points.json").read_bytes() == points


def test_a_folder_of_another_target_is_refused(made, monkeypatch):
    folder, _ = made
    monkeypatch.chdir(folder)
    (folder / "other.toml").write_text(SYSTEM)
    done = twin("--simulated", "other.toml", "--out", "made", "--force")
    assert done.exit_code == 2
    assert "a folder for other.toml" in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "one of TARGET, --system S.toml and --simulated S.toml"),
        (["file.bin", "--simulated", "system.toml"], "one of TARGET"),
        (["--simulated", "system.toml", "--time-limit", "1 h 3"], "from 10 s to 1 d"),
        (["--system", "system.toml"], "called as a block device of this machine"),
    ],
)
def test_what_cannot_be_is_refused(folder, words, said):
    done = twin(*words)
    assert done.exit_code == 2
    assert said in done.stderr


def test_a_device_is_only_read():
    asked = [*first_look(writes=False), *kept_back(9, 1, writes=False)]
    assert all(ask.read_share == 1.0 for ask in asked)
    assert first_look(writes=True)[0] == first_look(writes=True)[-1]


def test_what_was_never_seen_is_asked_for_first():
    """All points but those of writes are there: the next ones write."""
    of = [ask for ask in candidates(writes=True) if ask.read_share == 1.0 and ask.jobs == 1]
    numbers = np.log(np.array([10e-6, 10e-6, 5e-10, 5e-10, 60e-6, 60e-6]))
    loads = loads_of_asks(of)
    rates = ServerLaw(1.0).rates(numbers, loads)
    # The server of writes differs by a factor that reads do not show.
    rates = rates * np.exp(np.random.default_rng(1).normal(0.0, 0.1, len(rates)))
    seen = Measured(loads, rates, np.full(len(of), 0.05))
    found = choose(select(seen), seen, candidates(writes=True), 3)
    assert any(ask.read_share < 1.0 for ask in found.asks)
    assert len(set(found.asks)) == 3


def test_the_collectors_plan_of_loads():
    text = plan_of([Ask(0.7, 16384, 8, 4)], "round")
    assert '"rwmixread" = "70"' in text or 'rwmixread = "70"' in text
    assert 'numjobs = "4"' in text and 'group_reporting = "1"' in text


def test_an_interval_by_hand():
    """Of 40 errors the 39th counts; of 18 none would be far enough."""
    errors = [0.01 * at for at in range(1, 41)]
    assert conformal_pct(errors) == pytest.approx(100 * np.expm1(0.39))
    assert conformal_pct(errors[:18]) is None


def test_the_first_load_is_measured_again_at_the_end(folder, monkeypatch):
    """A volume that loses a fifth of its rate in the last round drifts; the folder keeps that."""
    measure = SimulatedTarget.measure

    def slower(self, asks, number):
        found = measure(self, asks, number)
        if len(asks) == 9:
            sides = {"read": found[-1].read.model_copy(update={"iops": 0.8 * found[-1].iops})}
            found[-1] = found[-1].model_copy(update=sides)
        return found

    monkeypatch.setattr(SimulatedTarget, "measure", slower)
    line = ["--simulated", "system.toml", "--out", "made", "--points", "14", "--json"]
    found = json.loads(twin(*line).stdout)
    assert found["drift_pct"] == pytest.approx(-20, abs=3)
    assert any("the machine drifts" in each for each in found["warnings"])
    assert found["points"] == 13 + 8
    stored = json.loads((folder / "made" / "points.json").read_text())["points"]
    assert [p["name"] for p in stored if "at the end" in p["name"]] == ["at the end: " + NAME]


def test_a_device_that_holds_data_is_confirmed_and_only_read(tmp_path, monkeypatch):
    """The collector gets the name that was typed beside --read-only; else its reason is said."""
    given = []

    def run(words, **rest):
        given.append(words)
        stderr = "checking /dev/x\nrefused: it holds data\n  type its name, as NAME:BYTES\n"
        return subprocess.CompletedProcess(words, 1, "", stderr)

    monkeypatch.setattr(targets.subprocess, "run", run)
    monkeypatch.setattr(targets, "program", lambda: "raidlab-collect")
    asks = [Ask(1.0, 4096, 1)]
    target = CollectedTarget("/dev/x", tmp_path, writes=False, confirmed="x:4096")
    with pytest.raises(SpecError, match="refused: it holds data; type its name"):
        target.measure(asks, 0)
    assert given[0][-3:] == ["--read-only", "--destroy-data-on", "x:4096"]
    with pytest.raises(SpecError, match="--confirm takes what is typed"):
        CollectedTarget("/dev/x", tmp_path, writes=False).measure(asks, 0)
    assert "--destroy-data-on" not in given[1]


def test_a_confirmation_is_for_devices(folder):
    done = twin("--simulated", "system.toml", "--confirm", "vda:4096", "--out", "made")
    assert done.exit_code == 2 and "only with a block device" in done.output
