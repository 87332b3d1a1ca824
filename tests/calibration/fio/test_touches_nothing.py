"""fio through the bridge runs no command and opens no file of this machine but its own outputs."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests import command_server
from tests.calibration.fio.conftest import WATCHDOG_S

pytestmark = pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")
JOB = """[a]
ioengine=libaio
direct=1
rw=randwrite
size=1m
number_ios=20
"""


def run(folder: Path, *words: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    environment = {"TMPDIR": str(folder / "tmp")}
    (folder / "tmp").mkdir(exist_ok=True)
    line = ("fio", *words, "--output=out.json")
    done = command_server.run(*line, cwd=folder, env=environment, kill_after_s=WATCHDOG_S)
    assert done.returncode == code, done.stderr
    return done


def left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize(
    "options",
    [
        "exec_prerun=touch touched\nexec_postrun=touch touched",
        "mem=mmap:precious",
        "mem=mmapshared:precious",
        "lockmem=1024g",
        "verify=crc32c\nverify_dump=1",
        "cpus_allowed=900-999\ncpus_allowed_policy=split\nnumjobs=2",
        "cpumask=0xf0000000",
        "numa_cpu_nodes=31\nnuma_mem_policy=bind:30-31",
        "verify=md5\nverify_async=1\nverify_async_cpus=900",
        "opendir=/etc\ndirectory=/nowhere/at/all",
        "uid=12345\ngid=12345\nnice=-20\nprio=0\nprioclass=1",
    ],
)
def test_a_job_leaves_everything_as_it_was(tmp_path: Path, options: str) -> None:
    (tmp_path / "precious").write_text("precious\n")
    (tmp_path / "job.fio").write_text(f"{JOB}{options}\n")
    run(tmp_path, "job.fio")
    assert left(tmp_path) == ["job.fio", "out.json", "precious", "tmp"]
    assert (tmp_path / "precious").read_text() == "precious\n"
    assert left(tmp_path / "tmp") == []
    result = json.loads((tmp_path / "out.json").read_text())
    assert sum(job["write"]["total_ios"] for job in result["jobs"]) >= 20


def test_no_trigger_runs_and_no_status_file_is_taken_away(tmp_path: Path) -> None:
    (tmp_path / "job.fio").write_text(JOB)
    (tmp_path / "tmp").mkdir()
    for name in ("go", "tmp/fio-dump-status"):
        (tmp_path / name).touch()
    done = run(tmp_path, "--trigger-file=go", "--trigger=touch touched", "job.fio")
    assert left(tmp_path) == ["go", "job.fio", "out.json", "tmp"]
    assert left(tmp_path / "tmp") == ["fio-dump-status"]
    assert "note: --trigger left out: no command is run" in done.stderr


def test_only_the_named_sections_reach_fio(tmp_path: Path) -> None:
    (tmp_path / "job.fio").write_text(f"{JOB}[b]\nioengine=net\n")
    run(tmp_path, "job.fio", "--section=a")
    result = json.loads((tmp_path / "out.json").read_text())
    assert [job["jobname"] for job in result["jobs"]] == ["a"]
    done = run(tmp_path, "job.fio", "--section=c", code=2)
    assert '--section = "c": one of a, b' in done.stderr


def test_no_engine_is_loaded_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "job.fio").write_text("[a]\nioengine=external:/tmp/x.so\n")
    for words in (["--showcmd", "job.fio"], ["--enghelp=external:/tmp/x.so"]):
        done = run(tmp_path, *words, code=2)
        assert "is loaded from a file" in done.stderr
