"""The system's own fio on simulated systems: as the formula says, as `raidlab run` says."""

import shutil
import time

import pytest

from raidlab.calibration.fio import virtual as virtual_fio
from raidlab.devices.faults import SpecError
from raidlab.scenarios.planning.scenario import load_scenario
from raidlab.scenarios.running.simulate import simulate

pytestmark = pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")

FOUR = """
kind = "station"
name = "four"
capacity = "4 TB"
service = "500 us"
servers = 4
[sources]
all = { source = "assumed", note = "for tests" }
"""
SCENARIO = """
title = "Four servers of 500 us"
[[array]]
name = "data"
drives = [{ model = "four.toml" }]
"""
WORKLOAD = """
[[workload]]
target = "data"
%s
outstanding = [1, 16, 256]
area = "32 GB"
[run]
warm_up = "1 s"
duration = "10 s"
"""
UNPROTECTED = """
kind = "ssd"
name = "unprotected"
interface = "none"
capacity = "64 GB"
mapping_unit = "4 KiB"
[nand]
cell = "slc"
channels = 4
dies_per_channel = 4
planes = 1
blocks_per_plane = 1152
pages_per_block = 256
page = "16 KiB"
read = ["50 us"]
program = ["500 us"]
erase = "3 ms"
channel_rate = "400 MB/s"
command = "0 us"
rated_cycles = 3000
[buffer]
size = "16 MiB"
protected = false
[firmware]
cores = 1
read = "0 us"
write = "0 us"
[sources]
all = { source = "assumed", note = "for tests" }
"""
PROFILES = {
    "database": "rw=randrw\nrwmixread=67\nbs=8k",
    "file-copy": "rw=randrw\nrwmixread=50\nbs=64k",
    "streaming": "rw=read\nbs=64k",
}


def job(options, depth=1, seconds=10):
    return (
        f"[job]\nioengine=libaio\ndirect=1\n{options}\niodepth={depth}\n"
        f"size=32000000000\nnorandommap\nruntime={seconds}\ntime_based\n"
    )


def rate(result):
    return sum(each[way]["iops"] for each in result["jobs"] for way in ("read", "write"))


def mean_us(result):
    ways = [each[way]["lat_ns"] for each in result["jobs"] for way in ("read", "write")]
    return sum(way["mean"] * way["N"] for way in ways) / sum(way["N"] for way in ways) / 1e3


def bins(result):
    return [
        each[way]["clat_ns"].get("bins") for each in result["jobs"] for way in ("read", "write")
    ]


def test_four_servers_give_eight_thousand_a_second(fio):
    result = fio(job("rw=randread\nbs=4k", 16))
    assert rate(result) == pytest.approx(8000, rel=1e-3)
    assert mean_us(result) == pytest.approx(2000, rel=1e-3)
    assert result["raidlab"] == {"name": "Four servers of 500 us", "seed": 1, "notes": []}
    own = {"filename", "thread", "clocksource", "disk_util"}
    assert not own & result["jobs"][0]["job options"].keys()
    assert result["fio version"].startswith("fio-")


@pytest.mark.parametrize("profile", PROFILES)
def test_fio_and_run_agree(fio, tmp_path, profile):
    text = SCENARIO + WORKLOAD % f'profile = "{profile}"'
    (tmp_path / "run.toml").write_text(text)
    points = simulate(load_scenario(tmp_path / "run.toml")).to_dict()["results"]
    for point in points:
        result = fio(job(PROFILES[profile] + "\nramp_time=1", point["outstanding"]))
        assert rate(result) == pytest.approx(point["iops"], rel=0.01)
        assert mean_us(result) == pytest.approx(point["latency_us"]["mean"], rel=0.01)


def test_the_same_seed_gives_the_same_bins_with_four_jobs_and_walls(fio):
    text = job("rw=randrw\nbs=8k\nnumjobs=4", 4, 3) + job("stonewall\nrate_iops=500\nrw=read", 1, 3)
    first, second = fio(text), fio(text)
    assert bins(first) == bins(second)
    assert len(first["jobs"]) == 5
    group = sum(each[way]["iops"] for each in first["jobs"][:4] for way in ("read", "write"))
    assert group == pytest.approx(8000, rel=2e-3)
    assert first["jobs"][4]["read"]["iops"] == pytest.approx(500, rel=2e-3)


@pytest.mark.parametrize("option", ["fsync=1", "fdatasync=1", "sync=1", "sync=dsync"])
def test_a_sync_waits_for_what_an_unprotected_buffer_holds(fio, tmp_path, option):
    (tmp_path / "ssd.toml").write_text(UNPROTECTED)
    (tmp_path / "buffered.toml").write_text('[[array]]\ndrives = [{ model = "ssd.toml" }]\n')
    writes = "rw=randwrite\nbs=4k\n"
    without = fio(job(writes, seconds=2), scenario="buffered.toml")
    result = fio(job(writes + option, seconds=2), scenario="buffered.toml")
    assert rate(without) > 100_000
    # The write goes to the buffer; the flush fills up a page, moves and programs it. Each costs
    # the host 4.5 us.
    write_us, flush_us = 4.5, 4.5 + 16384 / 400 + 500
    assert rate(result) == pytest.approx(1e6 / (write_us + flush_us), rel=1e-3)
    # A synced write takes as long as both; a sync of its own counts for itself.
    latency_us = write_us + (flush_us if option.startswith("sync") else 0)
    assert mean_us(result) == pytest.approx(latency_us, rel=1e-3)


@pytest.mark.parametrize(
    ("system", "option", "expected"),
    [
        # A write with FUA alone; a flush behind it would find nothing to do.
        ("xfs", "sync=dsync", 249),
        (None, "sync=dsync", 249),
        # A flush alone.
        ("xfs", "fdatasync=1", 608),
        # A flush and a log record with FUA.
        ("xfs", "sync=1", 177),
        ("xfs", "fsync=1", 177),
    ],
)
def test_durable_writes_take_fua_where_the_drive_has_it(fio, tmp_path, system, option, expected):
    """A 990 PRO takes 1.64 ms for a flush and 4.01 for FUA, both stated."""
    file_system = "" if system is None else f'file_system = "{system}"\n'
    text = f'[[array]]\n{file_system}drives = [{{ model = "990-pro-2000" }}]\n'
    (tmp_path / "pro.toml").write_text(text)
    writes = "rw=write\nbs=8k\nioengine=psync\n" + option
    result = fio(job(writes, seconds=1), scenario="pro.toml")
    assert rate(result) == pytest.approx(expected, rel=0.02)


def test_the_scenarios_own_loads_do_not_decide_how_drives_are_flushed(tmp_path):
    """Linux sends none to a protected NVMe drive, whatever the loads that fio stands in for do."""
    load = '[[workload]]\nrw = "randread"\nblock_size = "4 KiB"\n'
    for loads in ("", load):
        path = tmp_path / "protected.toml"
        path.write_text('[[array]]\ndrives = [{ model = "p3700-800" }]\n' + loads)
        assert virtual_fio.bridge(path).plan["drives"][0].get("flush") == "dropped"


def test_synced_writes_wait_for_their_flushes_beside_each_other(fio):
    """Eight on four servers of 500 us, each a write and a flush; reads have none."""
    assert rate(fio(job("rw=randwrite\nbs=4k\nsync=1", 8))) == pytest.approx(4000, rel=1e-3)
    assert rate(fio(job("rw=randread\nbs=4k\nsync=1", 8))) == pytest.approx(8000, rel=1e-3)


@pytest.mark.parametrize("engine", ["libaio", "io_uring", "posixaio", "psync"])
def test_flushes_between_writes_go_as_fio_sends_them(fio, tmp_path, engine):
    """libaio waits for each; io_uring and posixaio queue it, and others until one is complete."""
    (tmp_path / "buffered.toml").write_text('[[array]]\ndrives = [{ model = "ssd.toml" }]\n')
    text = f"[a]\nrw=randwrite\nbs=4k\ndirect=1\nsize=4m\nfsync=4\niodepth=8\nioengine={engine}\n"
    ours, fios = (
        fio(text, *more, scenario="buffered.toml")["jobs"][0] for more in (["--native"], [])
    )
    assert ours["write"]["total_ios"] == fios["write"]["total_ios"] == 1024
    assert ours["write"]["iops"] == pytest.approx(fios["write"]["iops"], rel=0.03)
    assert ours["sync"]["total_ios"] == pytest.approx(fios["sync"]["total_ios"], rel=0.03)
    # 255 are due behind 1024 writes: the last four end the job.
    assert (ours["sync"]["total_ios"] > 255) == (engine in ("io_uring", "posixaio"))
    for level, share in fios["iodepth_level"].items():
        assert ours["iodepth_level"][level] == pytest.approx(share, abs=3)
    percentiles = ours["sync"]["lat_ns"]["percentile"]
    assert percentiles.keys() == fios["sync"]["lat_ns"]["percentile"].keys()
    if engine != "libaio":
        theirs = fios["sync"]["lat_ns"]["percentile"]["50.000000"]
        assert percentiles["50.000000"] == pytest.approx(theirs, rel=0.1)


def test_files_of_jobs_lie_behind_each_other_as_without_fio(fio, tmp_path):
    """Three files of 100 GiB: arms of a disk go between them."""
    (tmp_path / "disk.toml").write_text('[[array]]\ndrives = [{ model = "generic-7200rpm" }]\n')
    each = "rw=randread\nbs=4k\ndirect=1\nioengine=libaio\nsize=100g\nruntime=20\n"
    text = f"[global]\n{each}time_based\n[near]\n[far]\nnumjobs=2\n"
    found = [fio(text, *more, scenario="disk.toml") for more in (["--native"], [])]
    ours, fios = (sum(job["read"]["iops"] for job in each["jobs"]) for each in found)
    assert ours == pytest.approx(fios, rel=0.01)
    notes = " ".join(found[1]["raidlab"]["notes"])
    assert "[far]: its files lie behind those of other jobs" in notes


def test_an_hour_ends_in_seconds(fio):
    started = time.monotonic()
    result = fio(job("rw=randread\nbs=4k\nrate_iops=200", 1, 3600))
    assert result["jobs"][0]["read"]["runtime"] == pytest.approx(3_600_000, abs=100)
    assert time.monotonic() - started < 60


def test_the_last_bytes_of_a_large_array_can_be_read(fio):
    # 4 TB are 3725 GiB and 297 whole MiB.
    result = fio("[job]\nioengine=libaio\nrw=read\nbs=1m\noffset=3725g\nnorandommap\n")
    assert result["jobs"][0]["read"]["io_bytes"] == 297 * 2**20


def test_without_a_scenario_file_the_mistake_is_named():
    with pytest.raises(SpecError, match=r"nowhere\.toml"):
        virtual_fio.bridge("nowhere.toml")


def test_an_unknown_array_is_answered_with_those_there_are(tmp_path):
    (tmp_path / "four.toml").write_text(FOUR)
    (tmp_path / "s.toml").write_text(SCENARIO)
    with pytest.raises(SpecError, match=r'did you mean "data"'):
        virtual_fio.bridge(tmp_path / "s.toml", "dat")
