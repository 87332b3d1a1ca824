"""What IOzone prints, by hand: KiB a second over the record is a rate."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from raidlab import cli
from raidlab.calibration.benchmarks.importing import import_results
from raidlab.calibration.measurements.measurement import Measurement
from raidlab.devices.faults import SpecError
from tests.calibration.benchmarks.test_iometer import result as iometer_result

HEAD = """\tIozone: Performance Test of File I/O
\t        Version $Revision: 3.506 $

\tCommand line used: iozone {options}
\tOutput is in {unit}
\tTime Resolution = 0.000001 seconds.
"""
COLUMNS = """\
                                                      random    random     bkwd    record    stride
      kB  reclen    write  rewrite    read    reread    read     write     read   rewrite      read\
   fwrite frewrite    fread  freread
"""
DIRECT = "-I -s 1m -r 4k -r 64k -i 0 -i 1 -i 2"
ROWS = """\
    1024       4    40000    48000   60000     60800   20000     36000
    1024      64   256000   320000  384000    384000  192000    256000
"""
END = "\niozone test complete.\n"


def output(rows: str = ROWS, options: str = DIRECT, unit: str = "kBytes/sec") -> str:
    return HEAD.format(options=options, unit=unit) + COLUMNS + rows + END


def imported(folder: Path, text: str) -> Measurement:
    (folder / "iozone.txt").write_text(text)
    return import_results("iozone", [folder])


def test_each_rate_of_a_line_is_a_point(tmp_path: Path) -> None:
    """20,000 KiB/s of 4 KiB are 5,000 a second, of 200 us each; 256 of them make 1 MiB."""
    points = {(point.name, point.bs): point for point in imported(tmp_path, output()).points}
    assert len(points) == 12
    random = points["random read", 4096]
    assert (random.rw, random.outstanding, random.area_bytes) == ("randread", 1, 2**20)
    assert random.read is not None and not random.buffered
    assert (random.read.iops, random.read.latency_mean_us, random.read.ios) == (5000, 200, 256)
    written = points["rewrite", 65536].write
    assert written is not None and written.bytes_per_s == 320_000 * 1024


def test_tests_that_did_not_run_leave_no_mark_in_a_line(tmp_path: Path) -> None:
    """`-i 0 -i 2` in clusters: the third number is of random reads."""
    rows = "    1024       4    40000    48000                     20000     36000\n"
    found = imported(tmp_path, output(rows, "-eIa -s1m -r 4k -i0 -i 2 -f /mnt/t")).points
    assert [point.name for point in found] == ["random read", "random write", "write", "rewrite"]


def test_every_test_and_no_load_of_a_scenario(tmp_path: Path) -> None:
    numbers = " ".join(str(1000 * at) for at in range(1, 14))
    measurement = imported(tmp_path, output(f"  1024 4 {numbers}\n", "-a"))
    assert len(measurement.points) == 6 and all(point.buffered for point in measurement.points)
    assert len(measurement.skipped) == 7
    assert measurement.skipped[0].path.endswith("(bkwd read)")


@pytest.mark.parametrize(
    ("option", "unit", "printed"),
    [
        ("-O", "operations per second", 5000),
        ("-N", "microseconds per operation", 200),
        ("", "Kbytes/sec", 20_000),
    ],
)
def test_units_of_rates(tmp_path: Path, option: str, unit: str, printed: int) -> None:
    rows = f"  1024 4 {printed} {printed}\n"
    for point in imported(tmp_path, output(rows, f"-I {option} -i 1", unit)).points:
        assert point.iops == pytest.approx(5000)


def test_depth_of_asynchronous_calls(tmp_path: Path) -> None:
    for point in imported(tmp_path, output("  1024 4 20000 20000\n", "-I -k 8 -i 1")).points:
        assert (point.iodepth, point.latency_mean_us) == (8, 8 / 5000 * 1e6)


def test_processes_of_throughput_mode_have_a_file_each(tmp_path: Path) -> None:
    """Two processes read 16,000 KiB a second together: 4,000 a second of 500 us."""
    text = (
        HEAD.format(options="-t 2 -s 1m -r 4k -i 0 -i 2", unit="kBytes/sec")
        + "\tThroughput test with 2 processes\n"
        + "\tEach process writes a 1024 kByte file in 4 kByte records\n\n"
        + "\tChildren see throughput for  2 initial writers \t=   32000.00 kB/sec\n"
        + "\tParent sees throughput for  2 initial writers \t=   31000.00 kB/sec\n"
        + "\tChildren see throughput for 2 random readers \t=   16000.00 kB/sec\n"
        + "\tChildren see throughput for 2 mixed workload \t=   16000.00 kB/sec\n"
        + END
    )
    measurement = imported(tmp_path, text)
    random, written = measurement.points
    assert (random.rw, random.numjobs, random.area_bytes) == ("randread", 2, 2 * 2**20)
    assert (random.iops, random.latency_mean_us) == (4000, 500)
    assert (written.rw, written.iops) == ("write", 8000)
    assert "mixed workload" in measurement.skipped[0].path


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (output()[:-20], "ends before 'iozone test complete.'.*was the file cut off"),
        (output("  1024 4 40000 48000 60000\n"), "has 3 rates for 6 tests .*was the file cut off"),
        (output(options=f"-B -o {DIRECT}"), "mmap.*O_SYNC"),
        ("a table\n", "no result of iozone"),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(SpecError, match=reason):
        imported(tmp_path, text)


def test_a_file_of_two_runs_that_was_cut_anywhere_says_so(tmp_path: Path) -> None:
    """At a hundred places, at each of the last 300 bytes, and within the second run's first line.

    Only an empty line shows less: what stands there is whole.
    """
    text = output() + output()
    second = len(output())
    assert len(imported(tmp_path, text).points) == 24
    every = {2 + at * (len(text) - 2) // 100 for at in range(100)}
    every |= set(range(second + 2, second + 40)) | set(range(len(text) - 300, len(text) - 1))
    for place in sorted(every - {second - 1, second, second + 1}):
        with pytest.raises(SpecError, match=r"was the file cut off\?"):
            imported(tmp_path, text[:place])


def test_compare_works_on_what_iozone_printed(tmp_path: Path) -> None:
    (tmp_path / "o.txt").write_text(output(ROWS.splitlines()[0] + "\n"))
    measurement = str(tmp_path / "m.json")

    def run(*arguments: str) -> dict[str, object]:
        done = CliRunner().invoke(cli.app, [*arguments, "--json"])
        assert done.exit_code == 0, done.stderr
        return json.loads(done.stdout)

    assert run("import", "iozone", str(tmp_path / "o.txt"), "--out", measurement)["points"] == 6
    compared = run("compare", measurement, "--device", "s4600-1920", "--only", "rw=randread")
    assert compared["points"][0]["measured_iops"] == 5000
    assert compared["warnings"][0].startswith("no --host: the drive is taken to stand behind")


IOSTAT = """\
Linux 5.10.0 (host) \t01/02/2020 \t_x86_64_\t(4 CPU)

Device            r/s     w/s     rkB/s     wkB/s   rrqm/s   wrqm/s r_await w_await  %util
sda              1.00    1.00      4.00      4.00     0.00     0.00    0.50    0.50   0.10
"""
PUBLISHED = "source,id,controller,drive,format\niodrive,iodrive-001,,iodrive-320,advertised\n"


@pytest.mark.parametrize(
    ("text", "reads"),
    [
        (iometer_result(), "a result of iometer: `raidlab import iometer` reads it"),
        (output(), "a result of iozone: `raidlab import iozone` reads it"),
        ('{"fio version": "fio-3.36"}', "a result of fio: `raidlab import fio` reads it"),
        (PUBLISHED, "published figures: `raidlab import published` reads them"),
        (IOSTAT, "iostat as text (sysstat 9 to 12): `raidlab import monitoring` makes a load"),
        ("a table\n", "not JSON: Expecting value"),
        ("{}", 'format: "raidlab-measurement-1"'),
    ],
)
def test_what_is_no_measurement_yet_says_what_reads_it(
    tmp_path: Path, text: str, reads: str
) -> None:
    """Each was `not JSON: ...; cut off?`."""
    (tmp_path / "result").write_text(text)
    for command in ("compare", "calibrate"):
        done = CliRunner().invoke(cli.app, [command, str(tmp_path / "result")])
        assert done.exit_code == 2 and reads in " ".join(done.stderr.split()), done.stderr
