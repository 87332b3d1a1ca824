"""A result gives a point only if its load is the one that its options say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from raidlab.calibration.fio.options import OptionError, load_of
from raidlab.calibration.fio.results import import_fio
from raidlab.calibration.measurements.measurement import Measurement
from raidlab.devices.faults import SpecError
from raidlab.scenarios.fio.option_table import OPTIONS, Load, Skip
from tests.calibration.fio.fio_samples import OPTIONS as PLAIN
from tests.calibration.fio.fio_samples import Entry, direction, document, job

WRITES = PLAIN | {"rw": "randwrite"}
NONE = direction(0.0, 0, 0.0)


def one(folder: Path, *jobs: Entry, **more: Any) -> Measurement:
    (folder / "result.json").write_text(document(*jobs, **more))
    return import_fio([folder])


def refused(folder: Path, *jobs: Entry, **more: Any) -> str:
    """Why the results give no point."""
    with pytest.raises(SpecError) as caught:
        one(folder, *jobs, **more)
    return "; ".join(fault.allowed for fault in caught.value.faults)


def written(iops: float = 1000.0, ios: int = 60_000, **more: Any) -> Entry:
    return job(NONE, WRITES, write=direction(iops, ios, 500.0)) | more


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"rw": "read:60k"}, "rw = read:60k"),
        ({"rw": "randread:8"}, "rw = randread:8"),
        ({"rw": "write", "sync": "dsync"}, "sync = dsync"),
        ({"random_distribution": "zipf:1.2"}, "random_distribution = zipf:1.2"),
        ({"percentage_random": "10"}, "percentage_random = 10"),
        ({"percentage_random": "100,50"}, "percentage_random = 100,50"),
        ({"rw": "read", "zonemode": "strided", "zonesize": "64k"}, "zonemode = strided"),
        ({"rw": "read", "zonesize": "64k", "zoneskip": "1m"}, "zonemode = strided"),
        ({"flow": "-2"}, "flow = -2"),
        ({"iodepth_batch_submit": "4"}, "iodepth_batch = 4"),
        ({"iodepth_batch_complete": "4"}, "iodepth_batch_complete_min = 4"),
        ({"iodepth_batch_complete_max": "8"}, "iodepth_batch_complete_max = 8"),
        ({"iodepth_low": "2"}, "iodepth_low = 2"),
        ({"verify": "crc32c"}, "verify = crc32c"),
        ({"blocksize_range": "4k-64k"}, "bssplit, bsrange"),
        ({"blockalign": "64k"}, "ba = 64k"),
        ({"bs": "4k,64k", "bs_is_seq_rand": "1", "rw": "randrw", "ba": "4k"}, "ba = 4k"),
        ({"ratemin": "1m", "rate": "10m,10m"}, "rate = 10m,10m"),
        ({"thinktime": "5ms"}, "thinktime = 5ms"),
        ({"io_submit_mode": "offload"}, "io_submit_mode = offload"),
        ({"lockfile": "exclusive"}, "lockfile = exclusive"),
        ({"trim_percentage": "10"}, "trim_percentage = 10"),
        ({"filename": "/dev/sda:/dev/sdb"}, "several files or drives"),
        ({"rw": "read", "nrfiles": "8"}, "nrfiles = 8"),
        ({"file_service_type": "zipf:1.2", "nrfiles": "8"}, "file_service_type = zipf"),
        ({"rw": "write", "zero_buffers": ""}, "zero_buffers: "),
        ({"rw": "randwrite", "buffer_compress_percentage": "50"}, "buffer_compress_percentage"),
        ({"direct": "0", "pre_read": "1"}, "pre_read = 1"),
        ({"cmdprio_percentage": "20"}, "cmdprio_percentage = 20"),
        ({"ioengine": "null"}, "ioengine = null"),
        ({"warp": "9"}, "warp = 9: no option of fio that is known"),
        ({"read_iolog": "x.log"}, "read_iolog"),
    ],
)
def test_a_load_that_is_not_plain_gives_no_point(options: dict[str, str], reason: str) -> None:
    with pytest.raises(OptionError) as caught:
        load_of(PLAIN | options)
    assert reason in str(caught.value)


@pytest.mark.parametrize(
    "options",
    [
        {"fsync": "1"},
        {"sync": "1"},
        {"zero_buffers": "1"},
        {"rw": "randread:1"},
        {"rw": "read", "percentage_random": "10", "random_distribution": "zipf"},
        {"random_distribution": "random", "percentage_random": "100,100"},
        {"zonemode": "none", "zonesize": "64k"},
        {"rate": "0", "thinktime": "0ms", "flow": "0", "latency_target": "0"},
        {"iodepth": "1", "iodepth_batch": "4", "iodepth_low": "1"},
        {"ioengine": "psync", "iodepth_batch_complete_max": "4"},
        {"iodepth_batch": "1", "iodepth_batch_complete_min": "0"},
        {"blockalign": "4k", "nrfiles": "8", "openfiles": "4"},
        {"cpus_allowed": "0-7", "numa_cpu_nodes": "1", "mem": "mmaphuge:/mnt/huge/x"},
        {"exec_prerun": "sync", "write_bw_log": "x", "log_avg_msec": "1000"},
        {"ioengine": "io_uring", "hipri": "", "registerfiles": "1", "sqthread_poll": "1"},
        {"verify": "0", "do_verify": "1", "verify_backlog": "8"},
        {"invalidate": "0", "refill_buffers": "1", "norandommap": "1", "ss": "iops:1%"},
    ],
)
def test_what_changes_nothing_leaves_the_load_plain(options: dict[str, str]) -> None:
    assert load_of(PLAIN | options).bs == 4096


def test_all_that_is_not_plain_is_named_at_once() -> None:
    with pytest.raises(OptionError, match=r"random_distribution = .*; flow = 3: .*; odd = 1"):
        load_of(PLAIN | {"random_distribution": "zipf", "flow": "3", "odd": "1"})


def test_each_option_that_the_table_skips_is_skipped() -> None:
    """Where the option concerns the load; those that are judged have tests of their own."""
    loads = [
        PLAIN,
        WRITES | {"direct": "0"},
        PLAIN | {"rw": "read", "direct": "0"},
    ]
    for name, option in OPTIONS.items():
        if not isinstance(option.load, Skip):
            continue
        reasons = []
        for load in loads:
            try:
                load_of(load | {name: "7"})
            except OptionError as error:
                reasons.append(str(error))
        assert any(name in reason for reason in reasons), name
        for off in option.load.off:
            for load in loads:
                load_of(load | {name: off})
    assert OPTIONS["rwmixread"].load is Load.JUDGED


@pytest.mark.parametrize(
    ("options", "bs"),
    [
        ({"bs": "0x1000"}, 4096),
        ({"bs": "512KiB"}, 512_000),
        ({"bs": "512KiB", "kb_base": "1000"}, 524_288),
        ({"bs": "4k", "kb_base": "1000"}, 4000),
        ({"bs": "(2*4k)"}, 8192),
        ({"bsrange": "8k-8k"}, 8192),
        ({"bsrange": "8k"}, 8192),
        ({"bsrange": "4k-8k,16k-16k", "rw": "write"}, 16_384),
        ({"bssplit": "64k/100"}, 65_536),
        ({"bssplit": "64k"}, 65_536),
        ({"bssplit": "64k/50:64k/50:4k/0"}, 65_536),
        ({"bs": "4k,64k", "bs_is_seq_rand": "1"}, 65_536),
        ({"bs": "4k,64k", "bs_is_seq_rand": "1", "rw": "rw"}, 4096),
        ({"blocksize": "1m"}, 1 << 20),
    ],
)
def test_blocks_are_as_fio_reads_them(options: dict[str, str], bs: int) -> None:
    """Read off fio 3.33, whose `512KiB` are 512,000 bytes."""
    assert load_of({key: value for key, value in PLAIN.items() if key != "bs"} | options).bs == bs


def test_depth_and_jobs_may_have_units_and_clones_share_an_area() -> None:
    load = load_of(
        PLAIN | {"iodepth": "1k", "numjobs": "4", "size": "1g", "offset_increment": "2g"}
    )
    assert (load.iodepth, load.area_bytes) == (1024, 7 << 30)
    inner = load_of(PLAIN | {"size": "10g", "offset": "90g"})
    assert (inner.area_bytes, inner.area_start_bytes) == (10 << 30, 90 << 30)
    with pytest.raises(OptionError, match="offset = 90%: where that is"):
        load_of(PLAIN | {"offset": "90%"})
    with pytest.raises(OptionError, match="iodepth = many"):
        load_of(PLAIN | {"iodepth": "many"})


# -- what only the result shows ----------------------------------------------------------------


def sync(ios: int, mean_us: float) -> Entry:
    return {"total_ios": ios, "lat_ns": {"mean": mean_us * 1000}}


def test_flushes_between_writes_are_no_plain_load(tmp_path: Path) -> None:
    """60,000 writes of two jobs in 60 s: one flush each, of 100 us, is a twentieth of the time."""
    entry = written(sync=sync(60_000, 100.0)) | {"job options": WRITES | {"fsync": "1"}}
    assert "fsync = 1: 60000 flushes" in refused(tmp_path, entry)
    uncounted = written() | {"job options": WRITES | {"fdatasync": "32"}}
    # 30,000 writes of each of two jobs are 937 flushes of each.
    assert "fdatasync = 32: 1874 flushes" in refused(tmp_path, uncounted)


def test_flushes_that_never_came_or_took_no_time_leave_it_plain(tmp_path: Path) -> None:
    never = written() | {"job options": WRITES | {"fsync": "40000"}}
    assert len(one(tmp_path, never).points) == 1
    # 60 of 1 ms in two jobs' 60 s: 0.05 %.
    rare = written(sync=sync(60, 1000.0)) | {"job options": WRITES | {"fsync": "1000"}}
    assert len(one(tmp_path, rare).points) == 1


def test_flushes_that_nobody_can_count_are_named(tmp_path: Path) -> None:
    entry = written() | {"job options": WRITES | {"fsync": "8"}}
    side = entry["write"]
    for key in ("total_ios", "io_bytes", "io_kbytes", "clat_ns", "lat_ns"):
        side.pop(key, None)
    assert "fsync = 8: it does not say how many" in refused(tmp_path, entry)
    # A latency's count, 60,000, says it as well.
    side["clat_ns"] = {"mean": 500_000.0, "N": 60_000}
    assert "fsync = 8: 60000 flushes" not in refused(tmp_path, entry)
    assert "fsync = 8: 7500 flushes" in refused(tmp_path, entry)


def test_latencies_that_rates_deny_are_refused_of_clones_too(tmp_path: Path) -> None:
    """Four clones of depth 8: 1,000 a second of 8 ms are 8 each, of 10.4 ms 10.4."""
    clone = PLAIN | {"numjobs": "1", "iodepth": "8"}
    right = [job(direction(1000.0, 60_000, 8000.0), clone) for _ in range(4)]
    assert one(tmp_path, *right).points[0].outstanding == 32
    wrong = [job(direction(1000.0, 60_000, 10_400.0), clone) for _ in range(4)]
    said = refused(tmp_path, *wrong)
    assert "41.6 I/Os were in flight" in said and "Little's law" in said


LATENCY_TARGET = PLAIN | {
    **{"iodepth": "64", "numjobs": "1"},
    **{"latency_target": "200", "latency_window": "100ms", "latency_percentile": "99"},
}


def target(runtime_ms: int, depth: int) -> Entry:
    reads = direction(36_000.0, 3800, 76.0) | {"runtime": runtime_ms}
    return job(reads, LATENCY_TARGET, latency_depth=depth)


def test_the_last_window_of_a_latency_target_has_the_depth_that_it_found(tmp_path: Path) -> None:
    (point,) = one(tmp_path, target(105, 3)).points
    assert (point.iodepth, point.outstanding) == (3, 3)


@pytest.mark.parametrize("more", [{}, {"latency_run": "1"}])
def test_a_search_for_a_latency_is_no_single_depth(tmp_path: Path, more: dict[str, str]) -> None:
    entry = target(105 if more else 1003, 3)
    entry["job options"] |= more
    assert "latency_depth = 3 is the last one" in refused(tmp_path, entry)


def test_jobs_on_two_drives_are_no_point(tmp_path: Path) -> None:
    jobs = [
        job(direction(1000.0, 60_000, 500.0), PLAIN | {"numjobs": "1", "filename": name})
        for name in ("/dev/sda", "/dev/sdb")
    ]
    assert "filename = /dev/sda, /dev/sdb" in refused(tmp_path, *jobs)


def test_sections_that_are_reported_as_one_are_found_by_littles_law(tmp_path: Path) -> None:
    """42,000 a second of 174 us are 7.3 in flight, where the one section that is said has four."""
    options = PLAIN | {"iodepth": "4", "numjobs": "1"}
    entry = job(direction(42_000.0, 42_000, 172.0), options)
    assert "7.31 I/Os were in flight on average" in refused(tmp_path, entry)
    entry["job options"] = options | {"numjobs": "2"}
    assert one(tmp_path, entry).points[0].outstanding == 8


def test_sections_of_other_loads_that_are_reported_as_one_are_found(tmp_path: Path) -> None:
    grouped = PLAIN | {"group_reporting": "1"}
    both = job(direction(100.0, 6000, 500.0), grouped, write=direction(100.0, 6000, 500.0))
    assert "rw = randread, but writes were made too" in refused(tmp_path, both)
    both["job options"] = grouped | {"rw": "randrw", "rwmixread": "80"}
    assert "50% of its I/Os are reads, its options say 80%" in refused(tmp_path, both)


def test_ios_of_another_size_than_said_are_found(tmp_path: Path) -> None:
    reads = direction(100.0, 6000, 500.0) | {"io_bytes": 6000 * 4096, "io_kbytes": 6000 * 4}
    assert len(one(tmp_path, job(reads, PLAIN)).points) == 1
    assert "4096 each" in refused(tmp_path, job(reads, PLAIN | {"bs": "8k"}))
    # Version 2 writes KiB under the name of bytes.
    old = {
        key.removesuffix("_ns"): {"min": 500, "max": 500, "mean": 500.0, "stddev": 0.0, "N": 6000}
        if key.endswith("_ns")
        else value
        for key, value in direction(100.0, 6000, 500.0).items()
    } | {"io_bytes": 6000 * 4}
    assert len(one(tmp_path, job(old, PLAIN)).points) == 1


def test_groups_that_ran_beside_each_other_give_no_points(tmp_path: Path) -> None:
    """`new_group` without `stonewall`, which the result does not show: 120 s of jobs in 61 s."""
    jobs = [
        job(direction(100.0, 6000, 500.0), PLAIN, groupid=group, elapsed=61) for group in (0, 1)
    ]
    assert "another group of jobs" in refused(tmp_path, *jobs)
    walled = [entry | {"elapsed": 121} for entry in jobs]
    assert len(one(tmp_path, *walled).points) == 2
    begun = [entry | {"job_start": 1000 + 61_000 * entry["groupid"]} for entry in jobs]
    assert len(one(tmp_path, *begun).points) == 2
    together = [entry | {"job_start": 1000, "elapsed": 121} for entry in jobs]
    assert "another group of jobs" in refused(tmp_path, *together)


def test_jobs_that_began_at_other_times_give_no_point(tmp_path: Path) -> None:
    first = job(direction(100.0, 6000, 500.0), PLAIN | {"numjobs": "1"})
    later = job(direction(100.0, 6000, 500.0), PLAIN | {"numjobs": "1", "startdelay": "30"})
    assert "startdelay" in refused(tmp_path, first, later)


def test_ios_that_failed_are_no_measurement(tmp_path: Path) -> None:
    entry = job(direction(100.0, 6000, 500.0), PLAIN, total_err=7)
    assert "7 I/Os failed" in refused(tmp_path, entry)


# -- buckets of all versions -------------------------------------------------------------------


def clat(version: str, bins: dict[str, int], unit: str = "") -> str:
    mean = {"mean": 8000.0, "stddev": 1.0, "min": 7900, "max": 8100}
    reads = {"iops": 1000.0, "total_ios": 60_000, "runtime": 60_000, "bw": 4000}
    reads |= {f"clat{unit}": mean | {"bins": bins}, f"lat{unit}": mean}
    entry = {"jobname": "x", "read": reads, "job options": PLAIN}
    return json.dumps({"fio version": version, "jobs": [entry]})


# 2.2.12 to 2.19 number all buckets of 6 bits. By hand: number 500 is of group 7, 500 - 7 * 64 = 52;
# the group begins at 2^12 us and has buckets of 64 us: 4096 + 52.5 * 64 = 7456 us. Number 127 is
# exact, 128 the first of 2 us: 128 + 0.5 * 2 = 129.
NUMBERED = dict.fromkeys(map(str, range(1216)), 0) | {"127": 5, "128": 7, "500": 9}
CONSTANTS = {"FIO_IO_U_PLAT_BITS": 6, "FIO_IO_U_PLAT_VAL": 64, "FIO_IO_U_PLAT_NR": 1216}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            clat("fio-2.2.13", NUMBERED | CONSTANTS),
            ((127_000, 5), (129_000, 7), (7_456_000, 9)),
        ),
        (clat("fio-2.20", {"7968": 10, "8032": 20}), ((7_968_000, 10), (8_032_000, 20))),
        (clat("fio-3.0", {"7968": 10, "8032": 20}, "_ns"), ((7968, 10), (8032, 20))),
        (clat("fio-3.33", {"7968": 10, "8032": 0}, "_ns"), ((7968, 10),)),
    ],
)
def test_buckets_of_every_version(
    tmp_path: Path, text: str, expected: tuple[tuple[int, int], ...]
) -> None:
    (tmp_path / "old.json").write_text(text)
    (point,) = import_fio([tmp_path]).points
    assert point.read is not None
    assert point.read.completion.bins_ns == expected


def test_two_clones_of_an_old_version_have_the_percentiles_of_both(tmp_path: Path) -> None:
    tree = json.loads(clat("fio-2.21", {"7968": 15_000, "8032": 15_000}))
    tree["jobs"][0]["read"]["clat"]["percentile"] = {"50.000000": 7968, "99.000000": 8032}
    tree["jobs"].append(tree["jobs"][0])
    (tmp_path / "old.json").write_text(json.dumps(tree))
    (point,) = import_fio([tmp_path]).points
    assert point.read is not None
    assert point.read.completion.percentile(99) == pytest.approx(8032.0)
