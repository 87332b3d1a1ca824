"""Reads of unwritten flash are named on every path that fio's jobs take."""

import json
import shutil

import pytest

from tests import command_server

JOB = (
    "[a]\nioengine=libaio\ndirect=1\nrw=randread\nbs=4k\niodepth=4\nsize=4m\noffset=20g\n"
    "filename=/dev/sdb\n"
)
SCENARIO = """title = "s"
[[array]]
name = "data"
drives = [{ model = "p3700-800" }]
[run]
precondition = "filled"
"""


def notes(tmp_path, *words, filled):
    (tmp_path / "j.fio").write_text(JOB)
    (tmp_path / "s.toml").write_text(SCENARIO + filled)
    line = ("fio", *words, "--scenario", "s.toml", "--output-format=json", "j.fio")
    done = command_server.run(*line, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)["raidlab"]["notes"]
    assert [f"note: {each}" for each in said] == done.stderr.splitlines()
    return said


@pytest.mark.parametrize(("words", "of"), [(["--native"], "array data"), ([], "s")])
def test_reads_of_unwritten_flash_are_named(tmp_path, words, of):
    if not words and shutil.which("fio") is None:
        pytest.skip("no fio")
    (said,) = notes(tmp_path, *words, filled='filled = "10 GB"\n')
    assert said == (
        f"{of}: 100 % of what its SSDs read was never written, and they answer that without NAND,"
        ' far too fast (run.filled = "10 GB" leaves it out)'
    )
    if words:
        assert notes(tmp_path, *words, filled="") == []
