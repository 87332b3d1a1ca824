"""Values of options that fio takes, and those that it stops at: places, zones, delays, files."""

from __future__ import annotations

import pytest

from raidlab.devices.faults import Fault, SpecError
from raidlab.scenarios.fio import jobfile
from raidlab.scenarios.fio.places import Target
from raidlab.scenarios.fio.resolve import Jobs, resolve

JOB = "[x]\nioengine=libaio\ndirect=1\nfilename=/dev/sda\n"


def resolved(text: str, size: int = 1 << 30) -> Jobs:
    return resolve(jobfile.parse(text, "x.fio"), "x.fio", {"disk": Target(0, size)}, "disk")


def fault_of(options: str) -> Fault:
    with pytest.raises(SpecError) as caught:
        resolved(f"{JOB}{options}\n")
    (fault,) = caught.value.faults
    return fault


@pytest.mark.parametrize(
    ("options", "key"),
    [
        ("offset=100", "offset"),
        ("offset_increment=1000\nnumjobs=2\nsize=4m", "offset_increment"),
        ("offset=10%\noffset_align=100", "offset_align"),
        ("rw=read:100", "rw"),
        ("rw=write:-1000", "rw"),
        ("zonemode=strided\nzonesize=100\nzoneskip=1m", "zonesize"),
        ("zonemode=strided\nzonesize=64k\nzoneskip=100", "zoneskip"),
        ("rw=randread\nbsrange=512-4k\nbs_unaligned=1", "bs_unaligned"),
    ],
)
def test_places_that_are_no_whole_sectors_are_refused(options: str, key: str) -> None:
    """fio itself ends with `Invalid argument` at the first such I/O."""
    fault = fault_of(options)
    assert fault.key == f"[x] {key}" and "512 B" in fault.allowed
    assert fault.file.startswith("x.fio:")


@pytest.mark.parametrize("options", ["offset=512", "rw=read:-8k", "rw=randread:7", "offset=33%"])
def test_whole_sectors_are_taken(options: str) -> None:
    assert len(resolved(f"{JOB}{options}\n").threads) == 1


def test_zones_in_bytes_end_within_the_file() -> None:
    text = "rw=randread\nsize=16m\nrandom_distribution=zoned_abs:60/8m:40/"
    assert len(resolved(f"{JOB}{text}8m\n").threads) == 1
    fault = fault_of(f"{text}9m")
    assert fault.key == "[x] random_distribution"
    assert "at most 16777216 B" in fault.allowed and "17825792 B" in fault.allowed
    # Without a size fio says: split conversion failed.
    assert "zoned_abs:ACCESS/SIZE" in fault_of(text).allowed


def test_each_clone_draws_its_delay_as_fio_does() -> None:
    """Read off fio 3.33: first I/Os of five threads under strace, a tenth of a second apart."""
    jobs = resolved(
        f"[a]\n{JOB[4:]}startdelay=1-3\nnumjobs=3\n[b]\n{JOB[4:]}startdelay=500ms-4s\nnumjobs=2\n"
    )
    delays = [thread["start"]["delay_ns"] / 1e9 for thread in jobs.threads]
    assert delays == pytest.approx([2.339, 1.176, 2.119, 2.457, 1.737], abs=1e-3)
    repeated = resolved(f"{JOB}startdelay=1-3\nallrandrepeat=1\n").threads[0]["start"]["delay_ns"]
    assert 1e9 <= repeated <= 3e9


@pytest.mark.parametrize("value", ["2-1", "1-", "-1", "1-x", "1-2-3"])
def test_a_range_of_delays_rises(value: str) -> None:
    assert fault_of(f"startdelay={value}").key == "[x] startdelay"


def test_a_fixed_delay_is_the_same_for_all() -> None:
    threads = resolved(f"{JOB}startdelay=2\nnumjobs=3\n").threads
    assert {thread["start"]["delay_ns"] for thread in threads} == {2 * 10**9}


@pytest.mark.parametrize(
    ("value", "law"),
    [
        ("zipf:1.2", {"kind": "zipf", "theta": 1.2, "center": None}),
        ("zipf", {"kind": "zipf", "theta": 1.1, "center": None}),
        ("pareto:0.3:0.5", {"kind": "pareto", "h": 0.3, "center": 0.5}),
        ("gauss:10", {"kind": "normal", "deviation": 10.0, "center": None}),
    ],
)
def test_some_files_may_come_more_often(value: str, law: dict[str, object]) -> None:
    (thread,) = resolved(
        f"[x]\nrw=randread\nnrfiles=4\nsize=8m\nfile_service_type={value}\n"
    ).threads
    assert thread["file_service"] == "random" and thread["file_distribution"] == law


@pytest.mark.parametrize("value", ["zipf:1", "pareto:1", "normal:100", "zoned:50/50", "zip:1"])
def test_a_law_of_files_that_fio_does_not_take(value: str) -> None:
    fault = fault_of(f"file_service_type={value}")
    assert fault.key == "[x] file_service_type"
