from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pytest

from raidlab.calibration.fio.options import OptionError, load_of, size
from raidlab.calibration.fio.results import import_fio
from raidlab.calibration.measurements.measurement import Measurement, load_measurement
from raidlab.calibration.measurements.sanity import possible
from raidlab.devices.faults import SpecError
from tests.calibration.fio.fio_samples import OPTIONS, direction, document, job


def one(folder: Path, text: str, name: str = "result.json") -> Measurement:
    (folder / name).write_text(text)
    return import_fio([folder])


def test_a_group_reported_together_is_one_point(tmp_path: Path) -> None:
    text = document(job(direction(1000.0, 60_000, 500.0), {**OPTIONS, "group_reporting": "1"}))
    (point,) = one(tmp_path, text).points
    assert (point.rw, point.bs, point.iodepth, point.numjobs) == ("randread", 4096, 8, 2)
    assert point.outstanding == 16
    assert point.read is not None and point.write is None
    assert point.iops == 1000.0
    assert point.latency_mean_us == pytest.approx(502.0)
    assert point.read.completion.percentile(99) == 500.0
    assert point.cpu_share == pytest.approx(0.4)


def test_jobs_reported_one_by_one_are_summed(tmp_path: Path) -> None:
    slow, fast = direction(100.0, 1000, 900.0), direction(300.0, 3000, 100.0)
    (point,) = one(tmp_path, document(job(slow, OPTIONS), job(fast, OPTIONS))).points
    assert point.read is not None
    assert (point.numjobs, point.read.ios, point.iops) == (2, 4000, 400.0)
    assert point.read.completion.mean_us == pytest.approx(0.25 * 900 + 0.75 * 100)
    # Three quarters of all I/Os took 100 us.
    assert point.read.completion.percentile(70) == pytest.approx(100.0)
    assert point.read.completion.percentile(90) == pytest.approx(900.0)


def test_bins_are_merged_exactly(tmp_path: Path) -> None:
    slow = direction(100.0, 1000, 900.0, bins={"900000": 1000})
    fast = direction(300.0, 3000, 100.0, bins={"100000": 2000, "900000": 1000})
    (point,) = one(tmp_path, document(job(slow, OPTIONS), job(fast, OPTIONS))).points
    assert point.read is not None
    assert point.read.completion.bins_ns == ((100_000, 2000), (900_000, 2000))


def test_options_of_all_jobs_count_where_a_job_has_none(tmp_path: Path) -> None:
    shared = {key: value for key, value in OPTIONS.items() if key != "iodepth"}
    text = document(
        job(direction(10.0, 600, 500.0), {"iodepth": "4"}), **{"global options": shared}
    )
    assert one(tmp_path, text).points[0].iodepth == 4


def test_text_around_the_json_is_passed_over(tmp_path: Path) -> None:
    text = "fio: note {odd}\n" + document(job(direction(10.0, 600, 500.0), OPTIONS)) + "\nbye {"
    assert len(one(tmp_path, text).points) == 1


def test_a_later_run_that_was_cut_anywhere_says_so(tmp_path: Path) -> None:
    """The first run alone looked whole; so did the first 200 reports of `--status-interval`."""
    first, second = (
        document(job(direction(10.0, 600, 500.0), {**OPTIONS, "iodepth": depth}))
        for depth in ("1", "2")
    )
    assert len(one(tmp_path, f"{first}\n{second}\n").points) == 2
    begin, length = len(first) + 2, len(second)
    every = {begin + at * length // 100 for at in range(100)}
    for place in sorted(every | set(range(begin + length - 300, begin + length - 1))):
        with pytest.raises(SpecError, match=r"JSON that breaks at .*was the file cut off\?"):
            one(tmp_path, f"{first}\n{second}\n"[:place])
    with pytest.raises(SpecError, match="was the file cut off"):
        one(tmp_path, f"{first}\n" * 201 + second[:-9])


def test_a_log_that_was_cut_gives_no_timeline(tmp_path: Path) -> None:
    """Its last line was passed over, or counted with the first digits of its value."""
    text = document(job(direction(30.0, 90, 500.0), OPTIONS | {"write_iops_log": "load"}))
    log = "".join(f"{1000 * at}, 30, 0, 4096\n" for at in range(3))
    (tmp_path / "load_iops.1.log").write_text(log)
    assert len(one(tmp_path, text).points[0].timeline) == 3
    for lost in range(1, 17):
        (tmp_path / "load_iops.1.log").write_text(log[:-lost])
        measured = one(tmp_path, text)
        (skipped,) = measured.skipped
        assert measured.points[0].timeline == () and "load_iops.1.log ends within" in skipped.reason


@pytest.mark.parametrize("submission_us", [0.0, 4.0])
def test_without_latencies_the_mean_follows_from_rate_and_depth(
    tmp_path: Path, submission_us: float
) -> None:
    uncounted = {"mean": 0.0, "stddev": 0.0, "min": 0, "max": 0}
    times = {"lat_ns": uncounted, "clat_ns": uncounted}
    reads = direction(300.0, 3000, 0.0) | times
    reads["slat_ns"] = uncounted | {"mean": submission_us * 1000}
    mixed = job(reads, {**OPTIONS, "rw": "randrw"}, write=direction(100.0, 1000, 0.0) | times)
    (point,) = one(tmp_path, document(mixed)).points
    # 16 outstanding at 400 a second.
    assert point.read is not None and point.write is not None
    assert point.read.latency_mean_us == pytest.approx(40_000.0)
    assert point.write.completion.mean_us == pytest.approx(40_000.0)
    assert not point.read.completion.percentiles_us


def test_of_a_run_that_reports_as_it_goes_the_last_report_counts(tmp_path: Path) -> None:
    so_far = document(job(direction(10.0, 600, 500.0), OPTIONS))
    whole = document(job(direction(20.0, 1200, 400.0), OPTIONS))
    other = document(job(direction(30.0, 1800, 300.0), {**OPTIONS, "iodepth": "1"}))
    points = one(tmp_path, f"{so_far}\n{whole}\n{other}\n").points
    assert [(point.iodepth, point.iops) for point in points] == [(1, 30.0), (8, 20.0)]


@pytest.mark.parametrize(
    ("options", "buffered"),
    [
        ({"direct": "1"}, False),
        ({"direct": "0"}, True),
        ({"ioengine": "io_uring", "direct": "0"}, True),
        ({"direct": "0", "buffered": "0"}, True),
        ({"direct": "0", "ioengine": "rbd"}, False),
    ],
)
def test_a_point_says_whether_the_page_cache_stood_between(
    tmp_path: Path, options: dict[str, str], buffered: bool
) -> None:
    text = document(job(direction(10.0, 600, 500.0), OPTIONS | options))
    measured = one(tmp_path, text)
    assert measured.points[0].buffered == buffered
    assert any("direct=1" in note for note in possible(measured)[1]) == buffered


def test_an_old_result_without_options_is_known_by_its_name(tmp_path: Path) -> None:
    text = document(job(direction(10.0, 600, 500.0), None))
    (point,) = one(tmp_path, text, "randread-16-4.json").points
    assert (point.iodepth, point.numjobs) == (16, 4)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (document(job(direction(0.0, 0, 0.0), OPTIONS)), "no I/O was completed"),
        (document(job(direction(1.0, 9, 5.0), OPTIONS, error=5)), "error 5"),
        (document(job(direction(1.0, 9, 5.0), OPTIONS))[:-200], "cut off"),
        (document(job(direction(1.0, 9, 5.0), {**OPTIONS, "bssplit": "4k/50"})), "bssplit"),
        (document(job(direction(1.0, 9, 5.0), {"bs": "4k"})), '"rw"'),
        (document(job(direction(1.0, 9, 5.0), {**OPTIONS, "rate_iops": "0,50"})), "rate_iops"),
        (document(job(direction(1.0, 9, 5.0), {**OPTIONS, "thinktime": "1000"})), "thinktime"),
        (document({"jobname": "x", "mixed": {}, "job options": OPTIONS}), "unified_rw_reporting"),
        (
            document(
                job(direction(1.0, 9, 5.0), OPTIONS),
                job(direction(1.0, 9, 5.0), {**OPTIONS, "bs": "8k"}),
            ),
            "different loads",
        ),
        ("nothing of the kind", "no JSON output of fio"),
        ("3;fio-2.1.10;randrw;0;0;22214848;370228;5784;60003;4;82\n", "its terse one"),
        ("  read: IOPS=3201, BW=12.5MiB/s (13.1MB/s)(125MiB/10002msec)\n", "its usual one"),
        ('{"jobs": []}', '"jobs" is empty'),
        ('{"jobs": {}}', '"jobs" is no list'),
        (document({"jobname": "x", "read": [], "job options": OPTIONS}), "not in fio's form"),
    ],
)
def test_what_cannot_be_read_is_named_with_the_reason(
    tmp_path: Path, text: str, reason: str
) -> None:
    (tmp_path / "good.json").write_text(document(job(direction(10.0, 600, 500.0), OPTIONS)))
    measurement = one(tmp_path, text, "bad.json")
    (skipped,) = measurement.skipped
    assert len(measurement.points) == 1
    assert skipped.path.endswith("bad.json") and reason in skipped.reason


def test_a_folder_without_a_result_is_an_error_that_names_every_file(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a")
    (tmp_path / "b.txt").write_bytes(b"\xff\xfe")
    with pytest.raises(SpecError) as error:
        import_fio([tmp_path])
    assert "a.txt" in str(error.value) and "not UTF-8" in str(error.value)


RATES = "500, 10, 0, 4096\n900, 30, 0, 4096\n1500, 40, 0, 4096\n"
LOGGED = {**OPTIONS, "numjobs": "2", "write_iops_log": "x", "write_lat_log": "x"}


def timeline(measurement: Measurement) -> list[tuple[float, float | None, float | None]]:
    return [(step.t_s, step.iops, step.latency_us) for step in measurement.points[0].timeline]


def skipped_names(measurement: Measurement) -> list[str]:
    return [Path(skipped.path).name for skipped in measurement.skipped]


def test_logs_become_a_timeline_and_a_lone_log_is_named(tmp_path: Path) -> None:
    (tmp_path / "x_iops.1.log").write_text(RATES)
    (tmp_path / "x_iops.2.log").write_text("500, 5, 0, 4096\n1500, 5, 0, 4096, 0\n")
    (tmp_path / "x_lat.1.log").write_text(
        "500, 502000, 0, 4096, 0, 0\nbroken\n500, nan, 0, 0\n1e400, 1, 0, 0\n"
    )
    (tmp_path / "y_bw.1.log").write_text("500, 1, 0, 4096\n")
    measurement = one(tmp_path, document(job(direction(35.0, 2100, 500.0), LOGGED)))
    assert timeline(measurement) == [(0.0, 25.0, 502.0), (1.0, 45.0, None)]
    assert skipped_names(measurement) == ["y_bw.1.log"]
    assert "not read" in measurement.skipped[0].reason


def test_the_log_of_a_later_run_with_the_same_prefix_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x_iops.1.log").write_text(RATES)
    first = document(job(direction(90.0, 5400, 500.0), {**LOGGED, "iodepth": "1"}))
    (tmp_path / "first.json").write_text(first)
    measurement = one(tmp_path, document(job(direction(30.0, 1800, 500.0), LOGGED)), "last.json")
    lengths = {point.iodepth: len(point.timeline) for point in measurement.points}
    assert lengths == {1: 0, 8: 2}
    (skipped,) = measurement.skipped
    assert skipped.path.endswith("x_iops.1.log") and "30 IO/s" in skipped.reason
    assert "first.json is 90 IO/s" in skipped.reason


def test_of_several_jobs_with_one_prefix_each_has_the_logs_of_its_threads(tmp_path: Path) -> None:
    grouped = {**LOGGED, "group_reporting": ""}
    jobs = [
        job(direction(20.0, 1200, 500.0), grouped, jobname="a", groupid=0),
        job(direction(50.0, 3000, 500.0), {**grouped, "numjobs": "1"}, jobname="b", groupid=1),
    ]
    for number, rate in ((1, 10), (2, 10), (3, 50)):
        (tmp_path / f"x_iops.{number}.log").write_text(f"500, {rate}, 0, 0\n1500, {rate}, 0, 0\n")
    measurement = one(tmp_path, document(*jobs))
    rates = {point.name: [step.iops for step in point.timeline] for point in measurement.points}
    assert rates == {"a": [20.0, 20.0], "b": [50.0, 50.0]}
    assert measurement.skipped == ()


def test_rates_of_both_directions_are_added_and_single_ios_counted(tmp_path: Path) -> None:
    mixed = {**OPTIONS, "rw": "randrw", "numjobs": "1", "write_iops_log": ""}
    reads = job(direction(20.0, 1200, 500.0), mixed, write=direction(10.0, 600, 500.0))
    (tmp_path / "load_iops.1.log").write_text("1000, 20, 0, 0\n1000, 10, 1, 0\n")
    assert timeline(one(tmp_path, document(reads))) == [(1.0, 30.0, None)]
    lines = [f"{at}, 1, {int(at % 3 == 0)}, 4096" for at in range(33, 3000, 33)]
    (tmp_path / "load_iops.1.log").write_text("\n".join([*lines, ""]))
    found = timeline(one(tmp_path, document(reads)))
    assert [rate for _, rate, _ in found] == [30.0, 30.0, 30.0]


@pytest.mark.parametrize("prefix", ["logs/x", "./logs/x", "../runs/logs/x"])
def test_a_prefix_may_have_a_path(tmp_path: Path, prefix: str) -> None:
    runs = tmp_path / "runs"
    (runs / "logs").mkdir(parents=True)
    (runs / "other").mkdir()
    for folder in ("logs", "other"):
        (runs / folder / "x_iops.1.log").write_text(RATES)
    options = {**OPTIONS, "numjobs": "1", "write_iops_log": prefix}
    measurement = one(runs, document(job(direction(30.0, 1800, 500.0), options)))
    assert [rate for _, rate, _ in timeline(measurement)] == [20.0, 40.0]
    assert [Path(skipped.path).parent.name for skipped in measurement.skipped] == ["other"]


def test_cpu_time_of_a_simulated_run_is_no_share_of_a_cpu(tmp_path: Path) -> None:
    entry = job(direction(10.0, 600, 500.0), OPTIONS)
    measured = one(tmp_path, document(entry))
    simulated = one(tmp_path, document(entry, raidlab={"name": "s", "seed": 1}))
    assert measured.points[0].cpu_share == pytest.approx(0.4)
    assert simulated.points[0].cpu_share is None


def test_a_measurement_survives_its_file(tmp_path: Path) -> None:
    measurement = one(tmp_path, document(job(direction(10.0, 600, 500.0), OPTIONS)))
    path = tmp_path / "m.json"
    path.write_text(measurement.to_json())
    assert load_measurement(path) == measurement


def test_faults_of_a_measurement_file_are_all_reported(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_text('{"format": "raidlab-measurement-1", "name": "x", "points": [{"rw": "up"}]}')
    with pytest.raises(SpecError) as error:
        load_measurement(path)
    assert {"points.0.rw", "points.0.bs"} <= {fault.key for fault in error.value.faults}
    path.write_text('{"format": "raidlab-meas')
    with pytest.raises(SpecError, match="cut off"):
        load_measurement(path)


def test_options_in_all_their_spellings() -> None:
    assert size("4k") == size("4096") == size("0x1000") == 4096
    # fio's own compatibility: binary units are decimal, unless kb_base says otherwise.
    assert size("4KiB") == 4000 and size("4KiB", 1000) == 4096 and size("4k", 1000) == 4000
    assert load_of({"readwrite": "randrw", "rwmixwrite": "30", "blocksize": "8k"}).read_share == 0.7
    assert load_of({"rw": "randwrite", "bs": "4k,16k"}).bs == 16384
    assert load_of({"rw": "read", "ioengine": "psync", "iodepth": "32"}).iodepth == 1
    assert load_of({"rw": "read", "size": "1G"}).area_bytes == 1 << 30
    assert load_of({"rw": "read"}).buffered and not load_of({"rw": "read", "direct": "1"}).buffered
    assert not load_of({"rw": "read", "buffered": "0"}).buffered
    with pytest.raises(OptionError):
        load_of({"rw": "randtrim"})
    with pytest.raises(OptionError):
        load_of({"rw": "read", "ioengine": "libaio", "iodepth": "many"})


@pytest.mark.parametrize(
    ("folder", "points"),
    [
        ("ahci-hgst-hts72101-100gb-7200rpm", 72),
        ("ahci-intel-d3-s4610", 98),
        ("sas2008-intel-d3-s4610", 98),
        ("sata-3g-intel-d3-s4610", 98),
    ],
)
def test_real_results_are_read_whole(folder: str, points: int) -> None:
    root = os.environ.get("RAIDLAB_MEASUREMENTS")
    if not root or not Path(root, "fio-plot", folder).is_dir():
        pytest.skip("RAIDLAB_MEASUREMENTS names no folder with fio-plot results")
    measurement = import_fio([Path(root, "fio-plot", folder)])
    assert (len(measurement.points), measurement.skipped) == (points, ())
    for point in measurement.points:
        # Little's law: what is outstanding is rate times latency, up to fio's own gaps.
        inside = point.iops * point.latency_mean_us / 1e6
        assert 0.5 * point.outstanding < inside <= 1.02 * point.outstanding


def test_the_way_to_a_folder_may_begin_with_dots(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results, here = tmp_path / "with a space", tmp_path / "here"
    here.mkdir()
    (results / ".hidden").mkdir(parents=True)
    text = document(job(direction(1000.0, 60_000, 500.0), OPTIONS))
    (results / "one.json").write_text(text)
    (results / ".hidden" / "other.json").write_text(text)
    monkeypatch.chdir(here)
    assert len(import_fio(["../with a space"]).points) == 1


def test_a_bundle_gives_its_measurements_and_names_what_prepared_them(tmp_path: Path) -> None:
    steps = tmp_path / "bundle" / "steps"
    steps.mkdir(parents=True)
    for number in (1, 2):
        (steps / f"00{number}.fio").write_text("[job]")
        text = document(job(direction(1000.0, 60_000, 500.0), OPTIONS))
        (steps / f"00{number}.json").write_text(text)
    purposes = [{"number": 1, "purpose": "layout"}, {"number": 2, "purpose": "measure"}]
    (steps.parent / "manifest.json").write_text(json.dumps({"format": 1, "steps": purposes}))
    for given in (steps.parent, tmp_path):
        measurement = import_fio([given])
        assert [Path(point.file).name for point in measurement.points] == ["002.json"]
        (skipped,) = measurement.skipped
        assert skipped.path.endswith("001.json") and "layout" in skipped.reason


def test_a_path_that_is_no_text_is_written_out(tmp_path: Path) -> None:
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9"))
    folder.mkdir()
    (folder / "cut.json").write_text("{")
    measurement = one(folder, document(job(direction(1000.0, 60_000, 500.0), OPTIONS)))
    assert measurement.name == "caf\\xe9"
    assert "caf\\xe9" in measurement.to_json().replace("\\\\", "\\")


def test_files_of_a_bundle_that_are_not_as_the_collector_left_them_are_not_used(tmp_path):
    """Checksums were not looked at."""
    (tmp_path / "steps").mkdir()
    steps = []
    for number in (1, 2, 3):
        name = f"steps/00{number}.json"
        text = document(job(direction(1000.0, 60_000, 500.0), OPTIONS))
        (tmp_path / name).write_text(text)
        digest = hashlib.sha256(text.encode()).hexdigest()
        steps.append({"number": number, "purpose": "measure", "sha256": {name: digest}})
    steps.append({"number": 4, "purpose": "measure", "sha256": {"../out.json": "0"}})
    (tmp_path / "manifest.json").write_text(json.dumps({"format": 1, "steps": steps}))
    (tmp_path / "steps/002.json").write_text(text.replace("1000", "9000"))
    (tmp_path / "steps/003.json").unlink()
    measurement = import_fio([tmp_path])
    assert [Path(point.file).name for point in measurement.points] == ["001.json"]
    reasons = {Path(each.path).name: each.reason for each in measurement.skipped}
    assert reasons["002.json"].startswith("of a bundle: damaged: the manifest has ")
    assert reasons["003.json"] == "of a bundle: No such file or directory"
    assert reasons["out.json"] == "of a bundle: not inside the bundle"


def test_the_state_is_the_bundles_or_the_tests_or_what_the_user_says(tmp_path: Path) -> None:
    """It was lost: every point began from an unknown drive."""
    steps = tmp_path / "steps"
    steps.mkdir()
    text = document(job(direction(1000.0, 60_000, 500.0), OPTIONS))
    (steps / "002.json").write_text(text)
    digest = hashlib.sha256(text.encode()).hexdigest()
    listed = [
        {"number": 1, "purpose": "purge", "sha256": {}},
        {"number": 2, "purpose": "measure", "sha256": {"steps/002.json": digest}},
    ]
    (tmp_path / "manifest.json").write_text(json.dumps({"format": 1, "steps": listed}))
    attained = job(direction(900.0, 60_000, 500.0), OPTIONS, steadystate={"attained": 1})
    (tmp_path / "other.json").write_text(document(attained))
    (tmp_path / "third.json").write_text(document(job(direction(800.0, 9000, 500.0), OPTIONS)))
    found = {p.iops: p.state for p in import_fio([tmp_path], state="filled").points}
    assert found == {1000.0: "fresh", 900.0: "steady-state", 800.0: "filled"}
    assert [p.state for p in import_fio([tmp_path / "third.json"]).points] == [None]
