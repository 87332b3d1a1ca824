"""States of drives in files: saved by one run, begun with by another."""

import json
import os
import resource
import signal
from pathlib import Path

import pytest
from typer.testing import CliRunner

from raidlab.cli import app
from raidlab.devices.faults import SpecError
from raidlab.scenarios.planning.scenario import load_scenario
from raidlab.scenarios.running.simulate import simulate

SCENARIO = """
title = "One SSD"
[host]
model = "generic"
[[array]]
name = "data"
level = "jbod"
drives = [{{ model = "{model}", count = {count} }}]
[[workload]]
rw = "randwrite"
block_size = "4 KiB"
align = "4 KiB"
area = "{area}"
outstanding = {outstanding}
[run]
warm_up = "10 ms"
duration = "{duration}"
{state}
"""


USUAL = {"count": 1, "outstanding": "32", "area": "8 GB", "duration": "200 ms"}


def scenario(folder: Path, state: str, model="sata-ssd-64gb", **others) -> Path:
    path = folder / f"{model}-{len(list(folder.iterdir()))}.toml"
    path.write_text(SCENARIO.format(model=model, state=state, **USUAL | others))
    return path


def save(path: Path, file: Path):
    return simulate(load_scenario(path), save_state=file)


def figures(result):
    components = result.results[0]["components"]
    return next(part["figures"] for part in components if part["kind"] == "drive")


def test_a_saved_state_is_begun_with_again_and_goes_on_the_same_each_time(tmp_path):
    file = tmp_path / "drives.state"
    before = save(scenario(tmp_path, 'precondition = "steady-state"'), file)
    again = load_scenario(scenario(tmp_path, 'snapshot = "drives.state"'))
    first, second = simulate(again), simulate(again)
    assert first.to_json() == second.to_json()
    assert figures(first)["write_amplification"] == pytest.approx(
        figures(before)["write_amplification"], rel=0.1
    )
    assert figures(first)["write_amplification"] > 1.1
    wear = [figures(result)["erases_of_most_worn_block"] for result in (before, first)]
    assert wear[1] >= wear[0] > 0
    # Saved twice from the same run the file has the same bytes.
    whole = file.read_bytes()
    save(scenario(tmp_path, 'precondition = "steady-state"'), file)
    assert file.read_bytes() == whole


def test_a_run_goes_on_with_other_writes_than_the_one_that_has_saved_its_state(tmp_path):
    """These writes once more would find every block of that run to be empty."""
    load = {"model": "sas-6g-ssd", "area": "whole", "duration": "5 s"}
    path = scenario(tmp_path, 'precondition = "steady-state"', **load)
    saved = save(path, tmp_path / "drive.state").results[0]
    goes_on = load_scenario(scenario(tmp_path, 'snapshot = "drive.state"', **load))
    again = simulate(goes_on).results[0]
    assert again["write_amplification"] == pytest.approx(saved["write_amplification"], rel=0.02)
    assert goes_on.plan(0, 1)["seed"] != goes_on.plan(0, 0)["seed"]


HOT = """
[[array]]
name = "data"
drives = [{{ model = "p3700-800", cooling = "restricted" }}]
[[workload]]
rw = "{rw}"
block_size = "128 KiB"
align = "128 KiB"
outstanding = {outstanding}
[run]
warm_up = "0 s"
duration = "{duration}"
{state}
"""


def test_temperature_travels_with_the_state(tmp_path):
    """A drive that was throttled is throttled still, where one that was idle is cool and fast."""
    hot, cool = tmp_path / "hot.toml", tmp_path / "cool.toml"
    load = {"rw": "write", "outstanding": 32, "duration": "13 s"}
    hot.write_text(HOT.format(**load, state='precondition = "filled"'))
    end = figures(simulate(load_scenario(hot), save_state=tmp_path / "hot.state"))
    assert end["temperature_c"] > 68
    load |= {"rw": "read", "duration": "40 ms"}
    rates = {}
    for path, state in ((hot, 'snapshot = "hot.state"'), (cool, 'precondition = "filled"')):
        path.write_text(HOT.format(**load, state=state))
        result = simulate(load_scenario(path))
        rates[path] = result.results[0]["iops"]
        if path == hot:
            # Minutes of time constant: in 40 ms nothing changes.
            assert figures(result)["temperature_c"] == pytest.approx(end["temperature_c"], abs=0.1)
            assert figures(result)["throttled_s"] > 0.02
    assert rates[hot] < rates[cool]


def wrong(path: Path) -> str:
    with pytest.raises(SpecError) as error:
        simulate(load_scenario(path))
    (fault,) = error.value.faults
    assert fault.key == "run.snapshot"
    return fault.allowed


def test_a_state_that_does_not_fit_is_refused_with_a_reason(tmp_path):
    file = tmp_path / "drives.state"
    save(scenario(tmp_path, 'precondition = "filled"', count=2), file)
    reader = 'snapshot = "drives.state"'
    assert "holds data/sata-ssd-64gb.0" in wrong(scenario(tmp_path, reader, count=3))
    whole = file.read_bytes()
    file.write_bytes(whole[:-1])
    assert "a whole file" in wrong(scenario(tmp_path, reader))
    file.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    assert "checksum" in wrong(scenario(tmp_path, reader))
    file.write_bytes(whole[:16] + b"\x09" + whole[17:])
    assert "format 6" in wrong(scenario(tmp_path, reader))
    file.write_bytes(b"something else")
    assert "--save-state" in wrong(scenario(tmp_path, reader))
    assert "can be read" in wrong(scenario(tmp_path, 'snapshot = "nowhere.state"'))
    save(scenario(tmp_path, 'precondition = "filled"'), file)
    assert "another data sheet" in wrong(scenario(tmp_path, reader, "sas2-ssd-400gb"))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"outstanding": "[1, 2]"}, "one number of outstanding"),
        ({"model": "sas-6g-hdd"}, "a system with an SSD"),
        ({"state": 'snapshot = "x"\nprecondition = "filled"'}, "left out"),
    ],
)
def test_what_cannot_be_saved_is_reported_with_exit_code_2(tmp_path, change, words):
    path = scenario(tmp_path, **({"state": 'precondition = "fresh"'} | change))
    done = CliRunner().invoke(app, ["run", str(path), "--save-state", str(tmp_path / "x.state")])
    assert done.exit_code == 2
    assert words in " ".join(done.stderr.split())
    assert not (tmp_path / "x.state").exists()


def test_a_state_that_finds_no_room_costs_nothing_but_itself(tmp_path):
    """What was simulated is reported, and the file that was there is as it was."""
    path, file = scenario(tmp_path, 'precondition = "filled"'), tmp_path / "drives.state"
    file.write_text("before")
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    # A file can get no longer than that: as on a disk that is full.
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, limit[1]))
    try:
        save = ["--save-state", str(file), "--force"]
        done = CliRunner().invoke(app, ["run", str(path), "--json", *save])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
        signal.signal(signal.SIGXFSZ, before)
    assert done.exit_code == 2
    assert json.loads(done.stdout)["results"][0]["iops"] > 0
    assert f"error: {file}: cannot be written: File too large" in done.stderr
    assert file.read_text() == "before"
    assert {each.name for each in tmp_path.iterdir()} == {path.name, file.name}


def test_a_state_has_the_mode_of_any_new_file(tmp_path):
    before = os.umask(0o027)
    try:
        save(scenario(tmp_path, 'precondition = "filled"'), tmp_path / "drives.state")
    finally:
        os.umask(before)
    assert (tmp_path / "drives.state").stat().st_mode & 0o777 == 0o640


def test_a_state_takes_no_place_of_a_device(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(SpecError, match="cannot be written: it is no file"):
        save(scenario(tmp_path, 'precondition = "filled"'), pipe)
    assert pipe.is_fifo()


def test_a_snapshot_of_flash_is_reported_to_have_no_effect_on_disks(tmp_path):
    save(scenario(tmp_path, ""), tmp_path / "made" / "here" / "drives.state")
    disks = scenario(tmp_path, 'snapshot = "made/here/drives.state"', model="sata-6g-hdd")
    assert load_scenario(disks).warnings == ("run.snapshot: has no effect on data",)
