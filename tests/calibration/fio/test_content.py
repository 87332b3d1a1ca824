"""What fio reads back is what the simulated system still has: fio itself finds a lost write."""

import re
import shutil

import pytest

from tests import command_server
from tests.calibration.fio.conftest import WATCHDOG_S

pytestmark = pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")

SYSTEM = """
title = "One SSD"
[[array]]
drives = [{ model = "ssd.toml" }]
"""
POWER_FAILURE = """
[[event]]
at = "50 ms"
action = "power-fail"
lasts = "2 s"
"""
WRITES = "rw=randwrite\nbs=4k\nsize=64m\ndirect=1\nverify=crc32c\n"
GO_ON = "verify_fatal=0\ncontinue_on_error=all\n"
BUFFERED_BLOCKS = 16 * 2**20 // 4096
"""Blocks in the drive's write cache, which has no protection."""


@pytest.fixture
def verify(fio, tmp_path):
    """Blocks that fio misses after a job, and fio's text."""

    def run(options, system=SYSTEM, protected=False):
        sheet = (tmp_path / "ssd.toml").read_text()
        if protected:
            sheet = sheet.replace("protected = false", "protected = true")
        (tmp_path / "ssd.toml").write_text(sheet)
        (tmp_path / "s.toml").write_text(system)
        (tmp_path / "job.fio").write_text(f"[job]\n{options}")
        words = ("fio", "--scenario", "s.toml", "job.fio", "--output-format=normal")
        done = command_server.run(*words, cwd=tmp_path, kill_after_s=WATCHDOG_S)
        text = done.stdout + done.stderr
        return len(re.findall(r"^verify: bad", text, re.MULTILINE)), text

    return run


@pytest.mark.parametrize("engine", ["psync", "libaio\niodepth=8", "posixaio\niodepth=8"])
def test_what_was_written_is_read_back(verify, engine):
    missed, text = verify(f"{WRITES}size=4m\nioengine={engine}\n")
    assert missed == 0 and "err= 0" in text
    assert re.search(r"issued rwts: total=1024,1024,0,", text)


def test_patterns_and_headers_of_all_sizes_are_read_back(verify):
    options = "rw=randwrite\nbsrange=512-64k\nsize=8m\nverify=pattern\nverify_pattern=0xdeadbeef"
    missed, text = verify(f"{options}\nverify_interval=512\nioengine=libaio\niodepth=4\n")
    assert missed == 0 and "err= 0" in text


def test_fio_finds_what_a_power_failure_took_from_an_unprotected_write_cache(verify):
    options = f"{WRITES}{GO_ON}ioengine=libaio\niodepth=8\n"
    missed, _ = verify(options, SYSTEM + POWER_FAILURE)
    assert 0.9 * BUFFERED_BLOCKS < missed <= BUFFERED_BLOCKS
    missed, _ = verify(options, SYSTEM + POWER_FAILURE, protected=True)
    assert missed == 0


def test_what_was_flushed_is_not_lost(verify):
    options = f"{WRITES}{GO_ON}size=4m\nioengine=psync\nfsync=1\n"
    missed, text = verify(options, SYSTEM + POWER_FAILURE)
    # At most the one write that no flush had followed.
    assert missed <= 1 and "issued rwts: total=1024,1024" in text


def test_a_trim_reaches_the_drive(fio, tmp_path):
    (tmp_path / "one.toml").write_text(SYSTEM)

    def text(name, options):
        common = "filename=data\nstonewall\nioengine=psync\ndirect=1\nbs=16k\nsize=16m"
        return f"[{name}]\n{common}\n{options}\n"

    read = "rw=randread\nnorandommap"
    jobs = (
        text("fill", "rw=write\nend_fsync=1")
        + text("before", read)
        + text("trim", "rw=trim")
        + text("after", read)
    )
    result = {entry["jobname"]: entry for entry in fio(jobs, scenario="one.toml")["jobs"]}
    assert result["trim"]["trim"]["total_ios"] == 1024
    # Sense and transfer of a page; nothing is sensed where nothing is mapped.
    mapped, trimmed = (result[name]["read"]["lat_ns"]["mean"] for name in ("before", "after"))
    assert mapped > 50e3
    assert trimmed < mapped - 49e3


def test_a_disk_answers_a_trim_as_a_kernel_does(fio, tmp_path):
    system = SYSTEM.replace("ssd.toml", "generic-7200rpm")
    (tmp_path / "disk.toml").write_text(system)
    (tmp_path / "job.fio").write_text("[job]\nioengine=psync\nbs=4k\nsize=1m\nrw=trim\n")
    words = ("fio", "--scenario", "disk.toml", "job.fio")
    done = command_server.run(*words, cwd=tmp_path, kill_after_s=WATCHDOG_S)
    assert done.returncode != 0
    assert "Operation not supported" in done.stdout + done.stderr
