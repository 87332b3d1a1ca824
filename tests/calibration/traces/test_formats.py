"""Every format of traces on a small sample, faults of each, and replay on a system."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from raidlab.calibration.traces.formats import read_trace
from raidlab.calibration.traces.trace import FLUSH, READ, TRIM, WRITE, Trace
from raidlab.cli import app
from raidlab.devices.faults import SpecError
from raidlab.scenarios.planning.trace_files import FORMATS, TraceFile, notes, scan

SAMPLES = {
    "disksim-validate": "R Miss 16 8 5000.0 1000.0\nW Hit 1000 16 800.0 0.0\n",
    "disksim-ascii": "0.000 0 16 8 1\n2.500 0 1000 16 0\n",
    "mqsim": "4851300 1 16 8 1\n7351300 1 1000 16 0\n",
    "msr": (
        "128166372003061629,usr,0,Read,8192,4096,50000\n"
        "128166372003086629,usr,0,Write,512000,8192,8000\n"
    ),
    "spc": "0,16,4096,r,0.551706\n0,1000,8192,W,0.554206\n",
    "systor17": (
        "Timestamp,Response,IOType,LUN,Offset,Size\n"
        "1455592529.038213000,0.005,R,1,8192,4096\n"
        "1455592529.040713000,0.0008,W,1,512000,8192\n"
    ),
    "alibaba": "419,R,8192,4096,1577808144360767\n419,W,512000,8192,1577808144363267\n",
    "blkparse": (
        "  8,0    1        1     0.000000000   697  Q   R 16 + 8 [fio]\n"
        "  8,0    1        2     0.000010000   697  D   R 16 + 8 [fio]\n"
        "  8,0    1        3     0.002510000   697  D  WS 1000 + 16 [fio]\n"
        "  8,0    0        1     0.003310000     0  C  WS 1000 + 16 [0]\n"
        "  8,0    0        2     0.005010000     0  C   R 16 + 8 [0]\n"
        "CPU0 (8,0):\n Reads Queued:           1,        4KiB\n"
    ),
    "fio-iolog": (
        "fio version 3 iolog\n19 /dev/x add\n104 /dev/x open\n1000 /dev/x read 8192 4096\n"
        "3500 /dev/x write 512000 8192\n9000 /dev/x close\n"
    ),
    "tencent": "1538323200,16,8,0,1063\n1538323200.0025,1000,16,1,1063\n",
    "vscsi": (
        "#Vscsi Cmd Trace. (Trace Format Version 1)\n"
        "#Serial Number,IO Data Length,Num SG Entries,Command Type,LBN,Time Stamp (microseconds)\n"
        "2147483692,4096,1,read,16,2756778716647\n2147483769,8192,1,0x2a,1000,2756778719147\n"
    ),
    "csv": "ts,kind,lba,bytes,took\n1.5,read,16,4096,5.0\n1.5025,W,1000,8192,0.8\n",
}
COLUMNS = "time=ts:s op=kind offset=lba:sector size=bytes:B response=took:ms"
MEASURED = {"disksim-validate", "msr", "systor17", "blkparse", "csv"}


def read(folder: Path, form: str, text: str, **options: str) -> Trace:
    path = folder / "x.trace"
    path.write_text(text)
    if form == "csv":
        options = {"columns": COLUMNS, **options}
    return read_trace(path, form, **options)  # type: ignore[arg-type]


def test_every_format_has_a_sample() -> None:
    assert set(SAMPLES) == set(FORMATS)


@pytest.mark.parametrize("form", FORMATS)
def test_each_format_says_the_same_two_requests(tmp_path: Path, form: str) -> None:
    trace = read(tmp_path, form, SAMPLES[form])
    assert trace.ops.tolist() == [READ, WRITE]
    assert trace.offsets.tolist() == [8192, 512000]
    assert trace.sizes.tolist() == [4096, 8192]
    if form == "disksim-validate":
        assert trace.closed and trace.times_ns.tolist() == [1_000_000, 0]
    else:
        assert not trace.closed and trace.times_ns.tolist() == [0, 2_500_000]
    assert trace.is_measured == (form in MEASURED)
    if form in MEASURED:
        assert trace.measured_us.tolist() == pytest.approx([5000.0, 800.0])


def test_version_2_of_fio_waits_and_knows_syncs_and_trims(tmp_path: Path) -> None:
    text = (
        "fio version 2 iolog\nf add\nf open\nf read 0 4096\nf wait 250\nf trim 4096 8192\n"
        "f sync 0 0\nf close\n"
    )
    trace = read(tmp_path, "fio-iolog", text)
    assert trace.ops.tolist() == [READ, TRIM, FLUSH]
    # fio itself waits until this many milliseconds after its start, not for microseconds.
    assert trace.times_ns.tolist() == [0, 250_000_000, 250_000_000]
    # A time that has passed is not waited for.
    trace = read(tmp_path, "fio-iolog", text.replace("f sync", "f wait 100\nf sync"))
    assert trace.times_ns.tolist() == [0, 250_000_000, 250_000_000]


def test_several_disks_lie_one_after_the_other_and_one_can_be_chosen(tmp_path: Path) -> None:
    text = "0,0,4096,R,0.1\n1,0,8192,W,0.2\n0,2048,4096,R,0.3\n"
    both = read(tmp_path, "spc", text)
    assert both.offsets.tolist() == [0, 2 * 1024 * 1024, 2048 * 512]
    assert "2 disks" in both.notes[0]
    assert read(tmp_path, "spc", text, unit="ASU 1").sizes.tolist() == [8192]
    with pytest.raises(SpecError, match="ASU 0, ASU 1"):
        read(tmp_path, "spc", text, unit="ASU 2")


@pytest.mark.parametrize(
    ("form", "line", "reported"),
    [
        ("disksim-ascii", "1.0 0 16 8", "five words"),
        ("disksim-ascii", "1.0 0 16 8 z", "hexadecimal"),
        ("msr", "1,usr,0,Erase,0,4096,1", "a read or a write"),
        ("msr", "1,usr,0", "6 columns, Timestamp,Hostname,DiskNumber,Type,Offset,Size (and Resp"),
        ("spc", "0,1,4096,R,soon", "time in s (column Timestamp)"),
        ("systor17", "1.0,x,R,1,0,4096", "response in s"),
        ("alibaba", "1,R,-5,4096,1", "offset in B"),
        ("alibaba", "1,R,0,0,1", "size = 0: 1 to below 2^40 bytes"),
        ("fio-iolog", "5 f read 0", "an offset and a length"),
        ("blkparse", "8,0 1 1 now 697 D R 16 + 8 [x]", "a time in seconds"),
        ("csv", "1.0,read,16,4096", "5 columns"),
    ],
)
def test_lines_at_fault_are_named(tmp_path: Path, form: str, line: str, reported: str) -> None:
    with pytest.raises(SpecError) as error:
        read(tmp_path, form, SAMPLES[form] + line + "\n")
    assert reported in str(error.value)
    number = len(SAMPLES[form].splitlines()) + 1
    assert f"line {number}" in str(error.value)


def test_a_trace_compressed_by_gzip_is_read_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "x.trace.gz"
    packed = gzip.compress(SAMPLES["spc"].encode())
    path.write_bytes(packed)
    assert len(read_trace(path, "spc")) == 2
    for broken, reported in [
        (packed[:-12], "breaks off"),
        (packed[:-8] + b"xxxx" + packed[-4:], "the checksum of its gzip does not match"),
        (packed[:2] + b"x" * 20, "no gzip"),
        (gzip.compress(b"\xff\xfe"), "not text"),
        (b"\xff\xfe", "not text"),
    ]:
        path.write_bytes(broken)
        with pytest.raises(SpecError, match=reported):
            read_trace(path, "spc")


def test_columns_and_formats_that_do_not_exist_are_named(tmp_path: Path) -> None:
    for columns, reported in [
        ("time=ts op=kind offset=lba size=bytes", "time=ts:UNIT"),
        ("time=when:s op=kind offset=lba size=bytes", "ts, kind"),
        ("op=kind", 'columns for time, offset, size: "time=NAME:s offset=NAME:B size=NAME:B"'),
        ("colour=blue", "before = is one of"),
        (f"{COLUMNS} time=kind:s", "one column for time; here are two"),
    ]:
        with pytest.raises(SpecError, match=reported):
            read(tmp_path, "csv", SAMPLES["csv"], columns=columns)
    with pytest.raises(SpecError, match="no first line") as empty:
        read(tmp_path, "csv", "", columns="time=ts:s op=kind offset=lba:B size=bytes:B")
    assert len(empty.value.faults) == 1
    twice = SAMPLES["csv"].replace("took", "ts")
    columns = "time=ts:s op=kind offset=lba:B size=bytes:B"
    with pytest.raises(
        SpecError, match='"ts": a name of one column; the first line has it 2 times'
    ):
        read(tmp_path, "csv", twice, columns=columns)
    unused = "ts,kind,lba,bytes,x,x\n1.5,R,16,4096,5.0,1\n"
    assert len(read(tmp_path, "csv", unused, columns=columns)) == 1
    with pytest.raises(SpecError, match="alibaba"):
        read_trace(tmp_path / "x.trace", "alibabba")
    with pytest.raises(SpecError, match="at least one request"):
        read(tmp_path, "spc", "\n")


def test_names_with_spaces_are_in_quotes_and_times_may_be_dates(tmp_path: Path) -> None:
    columns = (
        """time="Start: Time":date op=Kind offset='Byte Offset' size="Len, KB":KiB unit=host:disk"""
    )
    text = (
        '"Start: Time";Kind;Byte Offset;"Len, KB";host:disk\n'
        "2024-02-29T23:59:59.999Z;Rd;0x1000;4;a\n2024-03-01 00:00:00;Wr;0;0.5;b\n"
    )
    found = read(tmp_path, "csv", text, columns=columns)
    assert found.times_ns.tolist() == [0, 1_000_000]
    assert found.sizes.tolist() == [4096, 512]
    assert "2 disks (a, b)" in found.notes[0]
    for broken, reported in [
        (columns.replace("KiB", "kilobyte"), "size=Len, KB:UNIT with one of B, sector, kB, KiB"),
        (columns.replace(":date", ":day"), "one of s, ms, us, ns, 100ns, date"),
        (columns.replace('"', "", 1), "another quote is missing"),
        ("time=Start Time:ms", 'a name with spaces is in quotes: time="Start ..."'),
    ]:
        with pytest.raises(SpecError) as error:
            read(tmp_path, "csv", text, columns=broken)
        assert reported in str(error.value)
    path = tmp_path / "x.csv"
    path.write_text(text)
    with pytest.raises(SpecError, match="Len, KB has no clear unit"):
        TraceFile(path).known()


def test_requests_beyond_the_device_are_refused_wrapped_or_left_out(tmp_path: Path) -> None:
    path = tmp_path / "x.trace"
    path.write_text("0,0,4096,R,0\n0,1000000,4096,R,1\n0,1000,4096,R,2\n")

    def outside(beyond: str) -> int:
        return int(scan(TraceFile(path, "spc"), capacity=1_000_000, beyond=beyond)["outside"])

    with pytest.raises(SpecError, match="line 2 = 512000000: a request within the 1000000 bytes"):
        outside("refuse")
    assert outside("wrap") == outside("skip") == outside("scale") == 1
    path.write_text("0,1000000,4096,R,1\n")
    with pytest.raises(SpecError, match="at least one request on the device"):
        outside("skip")


SCENARIO = """
title = "Two mirrored disks"
[host]
model = "generic"
[[array]]
name = "data"
level = "raid1"
software_raid = "os"
drives = [{ model = "generic-7200rpm", count = 2 }]
[[workload]]
target = "data"
rw = "randread"
block_size = "4 KiB"
outstanding = [1]
area = "1 GB"
"""


@pytest.mark.parametrize("form", FORMATS)
def test_the_command_replays_each_format_on_a_drive_and_on_a_system(
    tmp_path: Path, form: str
) -> None:
    trace, scenario = tmp_path / "t", tmp_path / "s.toml"
    trace.write_text(SAMPLES[form])
    scenario.write_text(SCENARIO)
    columns = ["--columns", COLUMNS] if form == "csv" else []
    runner = CliRunner()
    for target in (["--device", "generic-7200rpm"], ["--scenario", str(scenario)]):
        result = runner.invoke(
            app, ["replay", str(trace), "--format", form, *columns, *target, "--json"]
        )
        assert result.exit_code == 0, result.output
        document = json.loads(result.stdout)
        assert document["requests"] == 2 and document["errors"] == []
        assert document["simulated_mean_us"] > 0
        assert (document["measured_mean_us"] is None) == (form not in MEASURED)
        if form in MEASURED:
            assert document["measured_mean_us"] == pytest.approx(2900.0)
            assert document["rms_ms"] > 0
        assert {"min", "mean", "p50", "p99_9", "max"} <= set(document["latency_us"])


def test_a_trace_needs_one_target(tmp_path: Path) -> None:
    trace = tmp_path / "t"
    trace.write_text(SAMPLES["spc"])
    runner = CliRunner()
    command = ["replay", str(trace), "--format", "spc"]
    assert runner.invoke(app, command).exit_code == 2
    both = [*command, "--device", "null", "--scenario", "x.toml"]
    assert runner.invoke(app, both).exit_code == 2
    assert runner.invoke(app, [*command, "--device", "null", "--beyond", "drop"]).exit_code == 2
    assert runner.invoke(app, [*command, "--device", "null", "--array", "a"]).exit_code == 2


def test_a_table_of_no_known_format_points_to_columns(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    for separator in ",;":
        path.write_text("ts,op,lba,size\n0.1,read,0,4096\n".replace(",", separator))
        with pytest.raises(
            SpecError, match="--format csv --columns 'time=ts:UNIT op=op offset=lba"
        ):
            TraceFile(path).known()
    path.write_text("0.1,read,0,4096\n")
    asked = TraceFile(path, "csv", "time=ts:s op=op offset=lba:B size=size:B")
    with pytest.raises(SpecError, match="that line has no names: write them above it"):
        scan(asked)


@pytest.mark.parametrize(
    ("names", "line", "columns"),
    [
        (
            "time_us,offset_bytes,length,is_read,vol",
            "{us},8192,4096,1,7",
            "time=time_us:us op=is_read:is-read offset=offset_bytes:B size=length:B unit=vol",
        ),
        (
            "disk,op,off,len,time_ms",
            "0,R,8192,4096,{ms}",
            "time=time_ms:ms op=op offset=off:B size=len:B unit=disk",
        ),
        (
            "time_s,op,lba,blocks,device",
            "{s},R,16,8,0",
            "time=time_s:s op=op offset=lba:sector size=blocks:sector unit=device",
        ),
        (
            "Arrival (ns);LUN;RW;Start Sector;Sectors;Latency (us)",
            "{ns};3;Read;16;8;120",
            'time="Arrival (ns)":ns op=RW offset="Start Sector":sector size=Sectors:sector'
            ' response="Latency (us)":us unit=LUN',
        ),
    ],
)
def test_names_and_units_of_a_first_line_decide(
    tmp_path: Path, names: str, line: str, columns: str
) -> None:
    rows = [line.format(s=n, ms=n * 1000, us=n * 10**6, ns=n * 10**9) for n in range(20)]
    path = tmp_path / "x.csv"
    path.write_text("\n".join([names, *rows]) + "\n")
    trace = TraceFile(path).known()
    assert (trace.form, trace.columns) == ("csv", columns)
    held = scan(trace)
    assert (held["requests"], held["reads"], held["length_ns"]) == (20, 20, 19 * 10**9)
    assert (held["bytes"], held["extent"]) == (20 * 4096, 8192 + 4096)


@pytest.mark.parametrize(
    ("names", "line", "reported"),
    [
        ("time,op,offset,len", "1,R,0,4096", "time has no clear unit"),
        ("time_us,type,offset,len", "1,1,0,4096", "type does not say which number is a read"),
        ("time_us,op,offset,size_kb", "1,R,0,4", "size_kb has no clear unit"),
    ],
)
def test_names_that_leave_something_open_are_refused(
    tmp_path: Path, names: str, line: str, reported: str
) -> None:
    path = tmp_path / "x.csv"
    path.write_text(f"{names}\n{line}\n")
    with pytest.raises(SpecError, match=reported):
        TraceFile(path).known()


def test_a_word_that_is_no_operation_is_named_by_its_line(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("time_us,op,offset,size\n1,read,0,4096\n2,rx7,0,4096\n")
    trace = TraceFile(path).known()
    with pytest.raises(SpecError, match=r"line 3.*rx7"):
        scan(trace)


@pytest.mark.parametrize(
    ("form", "names"),
    [
        ("alibaba", "disk,op,off,len,time_ms"),
        ("tencent", "time_us,offset_bytes,length,is_read,vol"),
        ("spc", "ASU,LBA,SizeKiB,Opcode,Timestamp"),
        ("msr", "a,b,c,d,e,f,g"),
    ],
)
def test_a_format_whose_columns_the_first_line_contradicts_is_refused(
    tmp_path: Path, form: str, names: str
) -> None:
    path = tmp_path / "x.csv"
    path.write_text(f"{names}\n{SAMPLES[form]}")
    with pytest.raises(SpecError, match=f'"{names}": the columns '):
        scan(TraceFile(path, form))
    known = {"alibaba": "Device_ID,opcode,offset,length,timestamp", "spc": "asu,lba,size,op,time_s"}
    if form in known:
        path.write_text(f"{known[form]}\n{SAMPLES[form]}")
        assert scan(TraceFile(path, form))["requests"] == 2


def test_whole_times_of_five_columns_are_mqsims_where_milliseconds_were_too_slow(
    tmp_path: Path,
) -> None:
    path = tmp_path / "x.trace"
    path.write_text("".join(f"{13_000 * n} 1 {8 * n} 8 1\n" for n in range(20)))
    assert TraceFile(path).known().form == "mqsim"
    path.write_text("".join(f"{13 * n} 1 {8 * n} 8 1\n" for n in range(20)))
    assert TraceFile(path).known().form == "disksim-ascii"


def test_commands_that_move_no_data_are_left_out_of_scsi_traces(tmp_path: Path) -> None:
    # Test unit ready, inquiry, report LUNs.
    others = "1,0,0,0,0,2756778716700\n2,512,0,18,0,2756778716800\n3,64,1,0xa0,0,2756778716900\n"
    path = tmp_path / "x.csv"
    path.write_text(SAMPLES["vscsi"] + others)
    held = scan(TraceFile(path, "vscsi"))
    assert (held["requests"], held["others"]) == (2, 3)
    assert notes(held) == ("3 lines of commands that move no data are left out",)


@pytest.mark.parametrize(
    ("form", "line", "reported"),
    [
        # Nanoseconds read as microseconds would be a thousandth; read as seconds, too slow.
        ("csv", "{n}000,read,16,4096,5.0", "requests/s: times are likely in a unit 1,000"),
        ("disksim-ascii", "0.00001{n} 0 16 8 1", "more than any system serves"),
        ("csv", "{n},read,16,8,5.0", "sizes are likely in sectors or KiB"),
        ("csv", "{n},read,16,134217728,5.0", "sizes are likely in bytes"),
    ],
)
def test_rates_and_sizes_that_no_device_has_name_the_likely_unit(
    tmp_path: Path, form: str, line: str, reported: str
) -> None:
    path = tmp_path / "x.trace"
    head = "ts,kind,lba,bytes,took\n" if form == "csv" else ""
    path.write_text(head + "".join(line.format(n=f"{n:02}") + "\n" for n in range(20)))
    found = notes(scan(TraceFile(path, form, COLUMNS if form == "csv" else "")))
    assert len(found) == 1 and reported in found[0], found
