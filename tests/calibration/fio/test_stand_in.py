"""`raidlab-fio` in place of fio: the same command line, the same output, the same exit codes."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests import command_server
from tests.calibration.fio.test_virtual import FOUR, SCENARIO

pytestmark = pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")

CODE = "from raidlab.commands.fio import stand_in; stand_in()"
LOAD = "rw=randread\nioengine=libaio\ndirect=1\nsize=1g\niodepth=8\ntime_based\nruntime=60\n"


@pytest.fixture
def fio(tmp_path):
    (tmp_path / "four.toml").write_text(FOUR)
    (tmp_path / "s.toml").write_text(SCENARIO)
    (tmp_path / "job.fio").write_text(f"[job]\n{LOAD}")

    def run(*words, text="", **more):
        env = {"RAIDLAB_SCENARIO": "s.toml"} | more
        return command_server.run(
            *words, cwd=tmp_path, env=env, kill_after_s=60, program="raidlab-fio", text=text
        )

    return run


def read(done):
    assert done.returncode == 0, done.stderr
    (job,) = json.loads(done.stdout)["jobs"]
    return job["read"]


def test_without_io_it_is_fio_itself(fio):
    real = subprocess.run(["fio", "--version"], capture_output=True, text=True, check=True)
    assert fio("--version").stdout == real.stdout
    assert "libaio" in fio("--enghelp").stdout
    assert "IO direction" in fio("--cmdhelp=rw").stdout
    assert "--ioengine=libaio" in fio("--showcmd", "job.fio").stdout
    assert fio("--parse-only", "job.fio").returncode == 0


def test_options_beside_a_job_file_hold_for_its_jobs_but_not_over_their_own(fio):
    done = fio("--output-format=json", "--bs=8k", "--iodepth=1", "job.fio")
    assert read(done)["iops"] == pytest.approx(8000, rel=0.01)
    assert read(done)["bw_bytes"] == pytest.approx(8000 * 8192, rel=0.01)


def test_values_may_be_words_of_their_own(fio):
    done = fio(
        "--output-format", "json", "--name", "t", "--rw", "randread", "--runtime", "5",
        "--time_based", "--size", "1g", "--ioengine", "libaio", "--iodepth", "4",
    )  # fmt: skip
    assert read(done)["runtime"] == pytest.approx(5000, abs=2)
    assert read(done)["iops"] == pytest.approx(8000, rel=0.01)


def test_a_job_may_come_from_standard_input(fio):
    done = fio("--output-format=json", "-", text=f"[job]\n{LOAD}bs=16k\n")
    assert read(done)["bw_bytes"] == pytest.approx(8000 * 16384, rel=0.01)


def test_the_output_is_that_of_fio(fio, tmp_path):
    assert "Run status group 0" in fio("job.fio", "--runtime=1").stdout
    assert fio("--minimal", "job.fio").stdout.startswith("3;fio-")
    assert fio("--output-format=json", "--output=o.json", "job.fio").stdout == ""
    document = json.loads((tmp_path / "o.json").read_text())
    assert document["raidlab"] == {"name": "Four servers of 500 us", "seed": 1, "notes": []}


def test_notes_are_in_the_json_and_elsewhere_on_standard_error(fio):
    """Some callers take every word on standard error for a failure."""
    note = "[job]: io_uring is simulated as libaio"
    job = f"[job]\n{LOAD}".replace("libaio", "io_uring")
    done = fio("--output-format=json", "--runtime=1", "-", text=job)
    assert done.stderr == ""
    assert json.loads(done.stdout)["raidlab"]["notes"] == [note]
    assert f"note: {note}" in fio("-", text=job).stderr


def test_a_fraction_is_cut_as_fio_does_and_it_is_said(fio):
    done = fio("--output-format=json", "-", text=f"[job]\n{LOAD}runtime=1.5m\n")
    assert read(done)["runtime"] == pytest.approx(1000, abs=2)
    (note,) = json.loads(done.stdout)["raidlab"]["notes"]
    assert note.startswith("[job]: runtime: 1.5m is 1s") and "90s" in note


def test_the_system_may_be_named_on_the_line(fio):
    words = ("--output-format=json", "--raidlab-scenario", "s.toml", "--raidlab-seed=7", "job.fio")
    done = fio(*words, RAIDLAB_SCENARIO="nowhere.toml")
    assert json.loads(done.stdout)["raidlab"]["seed"] == 7


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--bogus=3", "job.fio"], 1, "bogus"),
        (["--iodepth=many", "job.fio"], 1, "many"),
        (["--ioengine=null", "--name=x"], 2, "null does no I/O"),
        (["--server"], 2, "--server"),
        (["--raidlab-scenario=nowhere.toml", "job.fio"], 2, "nowhere.toml"),
        (["--raidlab-scenarioo=s.toml", "job.fio"], 2, "--raidlab-scenario"),
        (["--raidlab-seed=x", "job.fio"], 2, "--raidlab-seed"),
        (["nowhere.fio"], 2, "nowhere.fio"),
        (["--name=x", "--rw=read", "--time_based", "--runtime=0.5"], 2, "500ms"),
    ],
)
def test_what_cannot_be_done_is_named_and_nothing_runs(fio, words, code, message):
    done = fio(*words)
    assert (done.returncode, done.stdout) == (code, "")
    assert message in done.stderr and "Traceback" not in done.stderr


def command_of_child(pid):
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    try:
        return b" ".join(Path(f"/proc/{child}/cmdline").read_bytes() for child in children)
    except OSError:
        return b""


def until(holds):
    for _ in range(600):
        if holds():
            return
        time.sleep(0.1)
    raise AssertionError("it did not begin within a minute")


def test_ended_early_it_writes_what_it_has_as_fio_does(fio, tmp_path):
    command = [sys.executable, "-c", CODE, "--output-format=json", "--runtime=1000000", "-"]
    job = f"[job]\n{LOAD}".replace("runtime=60\n", "").encode()
    with subprocess.Popen(
        command, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, env=os.environ | {"RAIDLAB_SCENARIO": "s.toml"},
    ) as process:  # fmt: skip
        process.stdin.write(job)
        process.stdin.close()
        until(lambda: b"job-0.fio" in command_of_child(process.pid))
        time.sleep(2)
        process.terminate()
        text = process.stdout.read()
        assert process.wait(60) == 128
    assert json.loads(text)["jobs"][0]["read"]["iops"] == pytest.approx(8000, rel=0.01)


def test_under_the_name_of_fio_it_finds_the_real_one(fio, tmp_path):
    script = tmp_path / "raidlab-fio"
    script.write_text(f"#!{sys.executable}\n{CODE}\n")
    script.chmod(0o755)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "fio").symlink_to(script)
    path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    done = subprocess.run(
        ["fio", "--output-format=json", "job.fio"], cwd=tmp_path, capture_output=True, text=True,
        timeout=60, env=os.environ | {"PATH": path, "RAIDLAB_SCENARIO": "s.toml"}, check=False,
    )  # fmt: skip
    assert read(done)["iops"] == pytest.approx(8000, rel=0.01)
