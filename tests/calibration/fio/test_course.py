"""fio's threads in virtual time: delays, workers, logs and samples, none of which may hang."""

import shutil

import pytest

from tests.calibration.fio.test_virtual import job, mean_us, rate

pytestmark = pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")

READS = "rw=randread\nbs=4k\n"
ONE_US = 500 + 4.5
"""An I/O at depth 1: the station's service and the host's CPU."""


def test_a_lone_job_may_start_later(fio):
    result = fio(job(f"{READS}startdelay=7", seconds=5))
    assert rate(result) == pytest.approx(1e6 / ONE_US, rel=1e-3)
    assert result["jobs"][0]["elapsed"] == pytest.approx(12, abs=1)


def test_a_job_may_start_later_than_another(fio):
    """Depth 4 alone, then together with depth 1: four servers, five I/Os."""
    late = job(f"{READS}startdelay=5", 1, 5).replace("[job]", "[late]")
    result = fio(job(READS, 4, 10) + late)
    alone, together = 4e6 / ONE_US, 8000 * 4 / 5
    assert result["jobs"][0]["read"]["iops"] == pytest.approx((alone + together) / 2, rel=0.01)
    assert result["jobs"][1]["read"]["iops"] == pytest.approx(8000 / 5, rel=0.01)


@pytest.mark.parametrize("depth", [1, 8])
def test_workers_may_submit_the_ios(fio, depth):
    result = fio(job(f"{READS}io_submit_mode=offload", depth, 5))
    assert rate(result) == pytest.approx(min(8000, depth * 1e6 / ONE_US), rel=2e-3)


@pytest.mark.parametrize(
    ("engine", "depth"),
    [("psync", 1), ("psync", 2), ("libaio", 1), ("io_uring", 1), ("io_uring", 2)],
)
def test_a_sync_has_its_own_latency(fio, engine, depth):
    writes = job(f"rw=randwrite\nbs=4k\nfsync=1\nioengine={engine}", depth, 3)
    sync = fio(writes)["jobs"][0]["sync"]["lat_ns"]
    assert sync["N"] > 1000
    assert sync["mean"] / 1e3 == pytest.approx(ONE_US, rel=0.01)
    assert sync["max"] / 1e3 < 2 * ONE_US


@pytest.mark.parametrize(("engine", "cycles"), [("libaio", 1e6 / ONE_US), ("posixaio", 4000)])
def test_a_job_with_libaio_stands_still_until_its_flush_is_done(fio, engine, cycles):
    """A write and a flush by turns; four servers of 500 us, 16 outstanding.

    With libaio a write comes after each flush: one a flush. posixaio queues flushes: all four
    servers work, half of their 8,000 a second are writes.
    """
    result = fio(job(f"rw=randwrite\nbs=4k\nfsync=1\nioengine={engine}", 16, 1))
    assert result["jobs"][0]["write"]["iops"] == pytest.approx(cycles, rel=0.01)


@pytest.mark.parametrize("engine", ["sync", "psync", "vsync", "pvsync", "pvsync2", "mmap"])
def test_synchronous_engines_have_one_io_under_way(fio, engine):
    result = fio(job(f"{READS}ioengine={engine}", 16, 2))
    assert rate(result) == pytest.approx(1e6 / ONE_US, rel=1e-3)
    assert mean_us(result) == pytest.approx(ONE_US, rel=1e-3)


def test_posix_aio_keeps_its_depth(fio):
    result = fio(job(f"{READS}ioengine=posixaio", 16, 2))
    assert rate(result) == pytest.approx(8000, rel=2e-3)
    assert mean_us(result) == pytest.approx(2000, rel=2e-3)


def test_logs_of_rates_are_filled_in_virtual_time(fio, tmp_path):
    logs = "write_bw_log=x\nwrite_iops_log=x\nwrite_lat_log=x\nlog_avg_msec=1000"
    fio(job(f"{READS}{logs}", 4, 20))

    def lines(kind):
        text = (tmp_path / f"x_{kind}.1.log").read_text().splitlines()
        return [[int(field) for field in line.split(",")[:2]] for line in text]

    for kind, value in (("iops", 4e6 / ONE_US), ("bw", 4e6 / ONE_US * 4), ("lat", ONE_US * 1e3)):
        found = lines(kind)
        assert 19 <= len(found) <= 21, kind
        for nth, (at_ms, logged) in enumerate(found[:19], 1):
            assert at_ms == pytest.approx(nth * 1000, abs=5)
            assert logged == pytest.approx(value, rel=2e-3)


def test_fio_samples_its_own_rate_in_virtual_time(fio):
    read = fio(job(READS, 4, 10))["jobs"][0]["read"]
    assert read["iops_samples"] == 19 or read["iops_samples"] == 20
    for key in ("iops_min", "iops_mean", "iops_max"):
        assert read[key] == pytest.approx(4e6 / ONE_US, rel=5e-3)


def test_fio_finds_its_steady_state(fio):
    steady = "steadystate=iops:1%\nsteadystate_duration=10"
    result = fio(job(f"{READS}{steady}", 4, 3600))
    assert result["jobs"][0]["steadystate"]["attained"] == 1
    assert 9_000 < result["jobs"][0]["read"]["runtime"] < 12_000


def test_a_rate_is_kept_however_short_the_pauses(fio):
    assert rate(fio(job(f"{READS}rate_iops=500", 4, 5))) == pytest.approx(500, rel=5e-3)
    assert rate(fio(job(f"{READS}thinktime=1000", 1, 5))) == pytest.approx(
        1e6 / (ONE_US + 1000), rel=5e-3
    )


def test_a_thread_that_spins_lets_the_others_go_on(fio):
    """With `flow` a job that is ahead does nothing but look whether the other has caught up."""
    both = "rw=read\nbs=4k\nsize=4m\ndirect=1\n"
    result = fio(f"[a]\n{both}flow=2\n[b]\n{both}flow=2\n")
    assert [entry["read"]["total_ios"] for entry in result["jobs"]] == [1024, 1024]
    assert rate(result) == pytest.approx(2e6 / ONE_US, rel=0.02)


def test_no_cpu_time_of_the_simulator_is_shown_as_that_of_the_job(fio):
    entry = fio(job(READS, 4, 2))["jobs"][0]
    assert (entry["usr_cpu"], entry["sys_cpu"], entry["ctx"]) == (0.0, 0.0, 0)


def test_the_same_seed_gives_the_same_result_whatever_starts_when(fio):
    def text(name, more):
        return job(f"rw=randrw\nbs=8k\n{more}", 2, 3).replace("[job]", f"[{name}]")

    jobs = (
        text("a", "numjobs=3")
        + text("b", "startdelay=1")
        + text("c", "io_submit_mode=offload\nwait_for=a")
        + text("d", "stonewall\nrate_iops=300\nrate_process=poisson")
    )
    first, second = fio(jobs)["jobs"], fio(jobs)["jobs"]
    assert first == second
    assert len(first) == 6
