"""Jobs that read back what they wrote: in fio's order, as many times, as long."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from raidlab.devices.faults import SpecError
from raidlab.scenarios.running.simulate import simulate
from tests.scenarios.fio.test_native_jobs import entries, scenario
from tests.scenarios.fio.test_offsets import Io, of_fio

JOBS: Mapping[str, str] = {
    "sequential": "rw=write\nbs=64k\nsize=2m",
    "random": "rw=randwrite\nbs=4k\nsize=256k",
    "twice": "rw=randwrite\nbs=4k\nsize=256k\nnorandommap",
    "skewed": "rw=randwrite\nbs=4k\nsize=256k\nrandom_distribution=zipf:1.2\nrandseed=7",
    "split": "rw=randwrite\nbssplit=4k/50:16k/50\nsize=512k",
    "overlapping": "rw=randwrite\nbssplit=4k/50:16k/50\nsize=512k\nnorandommap\nba=4k",
    "mix": "rw=randrw\nbsrange=4k-16k\nsize=512k",
    "sequential mix": "rw=rw\nbs=4k\nsize=256k",
    "register": "rw=randwrite\nbs=4k\nsize=256k\nrandom_generator=lfsr",
    "trim and write": "rw=trimwrite\nbs=4k\nsize=64k",
    "loops": "rw=randwrite\nbs=4k\nsize=64k\nloops=3",
    "holes": "rw=write:112k\nbs=16k\nsize=4m\nloops=2\nverify_backlog=1",
    "backlog": "rw=randwrite\nbs=4k\nsize=256k\nverify_backlog=8",
    "batches": "rw=randwrite\nbs=4k\nsize=256k\nverify_backlog=8\nverify_backlog_batch=3",
    "mixed backlog": "rw=randrw\nbs=4k\nsize=512k\nverify_backlog=8",
    "backlog by offset": "rw=randwrite\nbs=4k\nsize=64k\nnorandommap\nverify_backlog=4",
    "counted": "rw=randwrite\nbs=4k\nsize=512k\nnumber_ios=20\nloops=2",
    "counted backlog": "rw=randwrite\nbs=4k\nsize=512k\nnumber_ios=20\nverify_backlog=4",
    "longer": "rw=randwrite\nbs=4k\nsize=64k\nio_size=256k\nnorandommap",
    "not read back": "rw=randwrite\nbsrange=4k-16k\nsize=512k\ndo_verify=0",
}


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which fio has written what each job asked for, one I/O at a time."""
    if shutil.which("fio") is None:
        pytest.skip("fio is missing")
    folder = tmp_path_factory.mktemp("iologs")
    running = []
    for at, (name, options) in enumerate(JOBS.items()):
        text = f"[a]\nioengine=null\nverify=null\n{options}\nwrite_iolog={folder / name}\n"
        job = folder / f"{at}.fio"
        job.write_text(text)
        words = ["fio", "--thread", str(job)]
        running.append(subprocess.Popen(words, cwd=folder, stdout=subprocess.DEVNULL))
    assert [each.wait() for each in running] == [0] * len(JOBS)
    return folder


@pytest.mark.parametrize("name", JOBS)
def test_it_is_read_back_as_fio_does(logs: Path, drives: Path, name: str) -> None:
    job = f"[a]\nverify=null\n{JOBS[name]}\n"
    found = simulate(scenario(drives, job), trace_ios=2000).ios
    assert found is not None
    asked: list[Io] = [(io["op"], io["offset"], io["bytes"]) for io in found]
    expected = of_fio(logs / name, [0])
    assert len(expected) > 20
    assert asked == expected


def test_reads_have_their_own_time(drives: Path) -> None:
    (job,) = entries(drives, "[a]\nioengine=libaio\nrw=write\nsize=400k\nverify=crc32c\n")
    # 100 writes of 1 ms, then 100 reads; each direction's rate is that of its own half.
    assert job["write"]["total_ios"] == job["read"]["total_ios"] == 100
    for side in ("write", "read"):
        assert job[side]["iops"] == pytest.approx(1000, rel=0.02)
    assert job["job_runtime"] == pytest.approx(200, abs=3)


def test_what_the_runtime_cuts_off_is_not_read_back(drives: Path) -> None:
    job = "[a]\nrw=randwrite\nsize=40m\nverify=md5\nruntime=100ms\ntime_based\n"
    (found,) = entries(drives, job)
    assert found["read"]["total_ios"] == 0
    (found,) = entries(drives, f"{job}verify_backlog=10\n")
    assert found["read"]["total_ios"] == pytest.approx(50, abs=10)


@pytest.mark.parametrize("options", ["rw=write\ndo_verify=0", "rw=randread"])
def test_a_verify_that_reads_nothing_back_says_so(drives: Path, options: str) -> None:
    job = f"[a]\n{options}\nverify=meta\nnumber_ios=4\nsize=1m\n"
    assert any("verify reads nothing back" in each for each in scenario(drives, job).warnings)


def test_what_stands_for_an_earlier_run_is_refused(drives: Path) -> None:
    for option in ("verify_only=1", "verify_state_load=1"):
        with pytest.raises(SpecError, match="nothing is there that an earlier run wrote"):
            scenario(drives, f"[a]\nrw=write\nsize=1m\nverify=md5\n{option}\n")


def test_an_unknown_checksum_has_its_nearest(drives: Path) -> None:
    with pytest.raises(SpecError, match='did you mean "crc32c"'):
        scenario(drives, "[a]\nrw=write\nsize=1m\nverify=crc32cc\n")
