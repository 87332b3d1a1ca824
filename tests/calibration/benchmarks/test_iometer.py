"""Iometer's CSV files, by hand: depths of each target, milliseconds, sectors."""

from __future__ import annotations

from pathlib import Path

import pytest

from raidlab.calibration.benchmarks.importing import import_results
from raidlab.calibration.fio.results import import_fio
from raidlab.calibration.measurements.measurement import Measurement
from raidlab.calibration.measurements.sanity import possible
from raidlab.devices.faults import SpecError

COLUMNS = (
    "Target Type,Target Name,Access Specification Name,# Managers,# Workers,# Disks,IOps,Read IOps,"
    "Write IOps,MBps,Average Response Time,Average Read Response Time,Average Write Response Time,"
    "Maximum Read Response Time,Errors,Read I/Os,Write I/Os,Starting Sector,Maximum Size,"
    "Queue Depth,% CPU Utilization"
)
SPECIFICATIONS = {
    "Database": ["8192,100,67,100,0,1,0,0"],
    "Stream": ["65536,100,100,0,0,1,0,0"],
    "Mixed": ["4096,50,100,100,0,1,0,0", "8192,50,0,100,0,1,0,0"],
    "Half": ["4096,100,100,50,0,1,0,0"],
    "Bursts": ["4096,100,100,100,10,8,0,0"],
}


def rows(load: str, reads: float, writes: float, depth: int, disks: int = 1) -> list[str]:
    """A test of 10 s on 1 GiB from sector 2048 on: reads take 0.5 ms, writes 0.7 ms."""
    head = f"{reads + writes},{reads},{writes},80,0.55,0.5,0.7,9,0,{reads * 10:.0f}"
    tail = f"{writes * 10:.0f},2048,2097152,{depth},12"
    return [
        f"ALL,All,{load},1,{disks},{disks},{head},{tail}",
        f"WORKER,Worker 1,{load},,,{disks},{head},{tail}",
        *(f"DISK,D:,{load},,,,{head},{tail}" for _ in range(disks)),
    ]


def result(
    *tests: list[str],
    specifications: dict[str, list[str]] = SPECIFICATIONS,
    version: str = "2006.07.27 ",
) -> str:
    lines = ["'Test Type,Test Description", "0,", "'Version", version]
    lines += ["'Time Stamp", "2013-07-04 10:00:00:000", "'Access specifications"]
    for name, own in specifications.items():
        lines += ["'Access specification name,default assignment", f"{name},NONE"]
        for line in own:
            lines += ["'size,% of size,% reads,% random,delay,burst,align,reply", line]
    lines.append("'End access specifications")
    for test in tests:
        lines += ["'Results", f"'{COLUMNS}", *test, "'Time Stamp", "2013-07-04 10:01:00:000"]
    return "\r\n".join([*lines, ""])


def imported(folder: Path, text: str) -> Measurement:
    (folder / "results.csv").write_text(text)
    return import_results("iometer", [folder / "results.csv"])


def test_a_test_is_a_point(tmp_path: Path) -> None:
    """4,000 reads of 0.5 ms and 2,000 writes of 0.7 ms a second: 3.4 of 4 are outstanding."""
    (point,) = imported(tmp_path, result(rows("Database", 4000.0, 2000.0, 4))).points
    assert (point.rw, point.bs, point.read_share, point.outstanding) == ("randrw", 8192, 0.67, 4)
    assert (point.area_bytes, point.area_start_bytes) == (2**30, 2**20)
    assert point.read is not None and point.write is not None
    assert (point.read.iops, point.read.ios, point.read.latency_mean_us) == (4000, 40_000, 500)
    assert (point.read.completion.max_us, point.write.latency_mean_us) == (9000, 700)
    assert point.runtime_s == pytest.approx(10)
    assert point.latency_mean_us * point.iops / 1e6 == pytest.approx(3.4)


def test_workers_on_one_disk_add_up(tmp_path: Path) -> None:
    """Two workers of depth 4: 8 outstanding, 7.5 by Little's law."""
    measurement = imported(tmp_path, result(rows("Stream", 15_000.0, 0.0, 4, disks=2)))
    (point,) = measurement.points
    assert (point.rw, point.iodepth, point.numjobs) == ("read", 4, 2)
    assert possible(measurement)[0] == [point]


def test_depths_of_one_load_are_points_each(tmp_path: Path) -> None:
    tests = [rows("Stream", 1000.0 * depth, 0.0, depth) for depth in (4, 1, 2)]
    assert [point.iodepth for point in imported(tmp_path, result(*tests)).points] == [1, 2, 4]


def test_columns_of_other_versions_are_found_by_name(tmp_path: Path) -> None:
    text = result(rows("Stream", 1000.0, 0.0, 1))
    newer = text.replace("IOps,MBps,", "IOps,MiBps (Binary),").replace("% CPU", "% Total CPU")
    (point,) = imported(tmp_path, newer).points
    assert point.iops == 1000


@pytest.mark.parametrize(
    ("load", "change", "reason"),
    [
        ("Mixed", {}, "2 kinds of transfers together"),
        ("Half", {}, "50 % random"),
        ("Bursts", {}, "bursts of 8 with 10 ms between"),
        ("Nowhere", {}, "access specification 'Nowhere': not in the file"),
        ("Stream", {"9,0,10000": "9,7,10000"}, "7 I/Os failed"),
        ("Stream", {",2097152,4,12": ",2097152,-1,12"}, "Queue Depth = -1"),
        ("Stream", {",2048,": ",-1,"}, "Starting Sector or Maximum Size = -1"),
        ("Stream", {"1000.0,1000.0": "fast,fast"}, "Read IOps = fast: a number"),
    ],
)
def test_what_is_no_plain_load_is_named(
    tmp_path: Path, load: str, change: dict[str, str], reason: str
) -> None:
    text = result(rows(load, 1000.0, 0.0, 4))
    for old, new in change.items():
        assert old in text
        text = text.replace(old, new)
    with pytest.raises(SpecError, match=reason):
        imported(tmp_path, text)


def test_several_drives_are_no_single_load(tmp_path: Path) -> None:
    text = result(rows("Stream", 1000.0, 0.0, 4, disks=2))
    with pytest.raises(SpecError, match="several targets together: D:, E:"):
        imported(tmp_path, text[::-1].replace(",:D,KSID", ",:E,KSID", 1)[::-1])


def test_a_file_that_was_cut_anywhere_says_so(tmp_path: Path) -> None:
    """At a hundred places, and at each of the last 300 bytes; its first test would look whole."""
    text = result(rows("Stream", 1000.0, 0.0, 1), rows("Stream", 1500.0, 0.0, 2))
    assert len(imported(tmp_path, text).points) == 2
    first = len("'Test Type,Test Description")
    places = {first + at * (len(text) - first) // 100 for at in range(100)}
    whole = {text.rindex("'Time Stamp", 0, text.rindex("'Results")) + len(STAMP)}
    for place in sorted({*places, *range(len(text) - 300, len(text))} - whole):
        with pytest.raises(SpecError, match=r"was the file cut off\?"):
            imported(tmp_path, text[:place])


STAMP = "'Time Stamp\r\n2013-07-04 10:01:00:000\r\n"


@pytest.mark.parametrize(
    ("begins", "keeps", "reason"),
    [
        ("'Time Stamp\r\n2013-07-04 10:01", 19, r"line 37, '2013-0', has no line end"),
        ("'Results", 4, 'line 31, ".Res", has no line end'),
        ("8192,100,67", 9, "line 11, '8192,100,', has no line end"),
        ("'Results", 0, r"ends at line 30 before the results of a test \('Results\)"),
        ("'Version", 0, "ends at line 2 before the results of a test"),
    ],
)
def test_what_a_cut_file_lacks_is_named(
    tmp_path: Path, begins: str, keeps: int, reason: str
) -> None:
    text = result(rows("Stream", 1000.0, 0.0, 1))
    with pytest.raises(SpecError, match=f"{reason}.*was the file cut off"):
        imported(tmp_path, text[: text.index(begins) + keeps])


def test_a_time_stamp_is_whole_or_of_another_program(tmp_path: Path) -> None:
    """With a line end behind a cut stamp; a spreadsheet may have written dates anew."""
    text = result(rows("Stream", 1000.0, 0.0, 1))
    for stamp in ("2013-0", "2013-07-04 10:01:00:00"):
        with pytest.raises(SpecError, match=r"line 37 before the whole time stamp of .* line 32"):
            imported(tmp_path, text.replace("2013-07-04 10:01:00:000", stamp))
    assert imported(tmp_path, text.replace("2013-07-04 10:01:00:000", "4.7.2013 10:01,,")).points


def test_version_1_1_says_that_all_tests_have_ended(tmp_path: Path) -> None:
    """Or that a user stopped them; a further run begins with a header of its own."""
    text = result(rows("Stream", 1000.0, 0.0, 1), version="1.1.0 ")
    ends = "ends at line 37 before 'End Test, which version 1.1.0 writes last; was the file cut"
    with pytest.raises(SpecError, match=ends):
        imported(tmp_path, text)
    ended = text + "'End Test\r\n"
    stopped = text + "'Access specifications\r\n'End access specifications\r\nAborted test\r\n"
    for each in (ended, stopped, ended + stopped, ended.replace("\r\n", "\n")):
        assert len(imported(tmp_path, each).points) == each.count("'Results")
    for cut in (ended[:-1], ended[:-2], ended[:-4], stopped[:-5], ended + text):
        with pytest.raises(SpecError, match="was the file cut off"):
            imported(tmp_path, cut)
    with pytest.raises(SpecError, match="no results of a whole test"):
        imported(tmp_path, text[: text.index("'Results")] + "Aborted test\r\n")


def test_files_of_others_are_named(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(result(rows("Stream", 1000.0, 0.0, 1)))
    with pytest.raises(SpecError, match="a result of iometer: `raidlab import iometer` reads it"):
        import_fio([tmp_path])
    with pytest.raises(SpecError, match="a result of iometer"):
        import_results("iozone", [tmp_path])
    (tmp_path / "a.csv").write_text('{"fio version": "fio-3.36"}')
    with pytest.raises(SpecError, match="a result of fio: `raidlab import fio` reads it"):
        import_results("iometer", [tmp_path])
    with pytest.raises(SpecError, match="a file or folder with results of iometer"):
        import_results("iometer", [tmp_path / "none.csv"])
