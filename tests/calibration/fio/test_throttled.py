"""Drives that become too warm are named on every path that fio's jobs take."""

import json
import shutil

import pytest

from tests import command_server

JOB = (
    "[a]\nioengine=libaio\ndirect=1\nrw=write\nbs=64k\niodepth=32\nsize=8g\ntime_based\n"
    "runtime=1500ms\nfilename=/dev/sdb\n"
)
SCENARIO = """title = "s"
[[array]]
name = "data"
drives = [{ model = "p3700-800", cooling = "COOLING" }]
[run]
precondition = "steady-state"
"""


def notes(tmp_path, *words, cooling):
    (tmp_path / "j.fio").write_text(JOB)
    (tmp_path / "s.toml").write_text(SCENARIO.replace("COOLING", cooling))
    line = ("fio", *words, "--scenario", "s.toml", "--output-format=json", "j.fio")
    done = command_server.run(*line, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["raidlab"]["notes"]


@pytest.mark.parametrize(("words", "of"), [(["--native"], "array data"), ([], "s")])
def test_drives_that_were_slowed_down_are_named(tmp_path, words, of):
    if not words and shutil.which("fio") is None:
        pytest.skip("no fio")
    said = notes(tmp_path, *words, cooling="restricted")
    begins = f"{of}: drives were slowed down by their temperature, up to "
    assert [each for each in said if each.startswith(begins)], said
    assert not any("temperature" in each for each in notes(tmp_path, *words, cooling="normal"))
