"""Disks of other systems and other forms: one load, 60 reads and 40 writes a second of 8 KiB."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from raidlab.calibration.monitoring.importing import import_monitoring

GSTAT = (
    """\
dT: 1.003s  w: 1.000s
 L(q)  ops/s    r/s   kBps   ms/r    w/s   kBps   ms/w   %busy Name
    0    100     60    480    0.5     40    320    0.8    10.0| ada0
    1      0      0      0    0.0      0      0    0.0     0.0| ada1
"""
    * 2
)
GSTAT_CSV = """\
timestamp,name,q-depth,total_ops/s,read/s,read-KiB/s,ms/read,write/s,write-KiB/s,ms/write,%busy
2024-03-01 10:00:00.12,ada0,0,100,60,480,0.5,40,320,0.8,10.0
2024-03-01 10:00:00.12,ada1,0,0,0,0,0.0,0,0,0.0,0.0
2024-03-01 10:00:01.12,ada0,0,100,60,480,0.5,40,320,0.8,10.0
2024-03-01 10:00:01.12,ada1,0,0,0,0,0.0,0,0,0.0,0.0
"""
SOLARIS = "extended device statistics\ndevice,r/s,w/s,kr/s,kw/s,wait,actv,svc_t,%w,%b,\n"
SOLARIS += (
    "sd0,0.1,0.2,5.5,1.2,0.0,0.0,12.3,0,0\n"
    + (SOLARIS + "sd0,60.0,40.0,480.0,320.0,0.0,0.1,0.6,0,10\n") * 2
)
DOOL = """\
"Dool 1.3.1 CSV output"
"Host:","target",,,,"User:","root"
"Cmdline:","dool --time --disk -D sda,sdb --io",,,,"Date:","31 Dec 2023 23:59:58 UTC"

"system","dsk/sda",,"dsk/sdb",,"io/sda",,"io/sdb",
"time","dsk/sda:read","dsk/sda:writ","dsk/sdb:read","dsk/sdb:writ","io/sda:read",\
"io/sda:writ","io/sdb:read","io/sdb:writ"
Dec-31 23:59:58,1000.0,2000.0,0,0,1.0,2.0,0,0
Dec-31 23:59:59,491520.0,327680.0,0,0,60.0,40.0,0,0
Jan-01 00:00:00,491520.0,327680.0,0,0,60.0,40.0,0,0
"""
VMSTAT = """\
disk- ------------reads------------ ------------writes----------- -----IO------ -----timestamp-----
       total merged sectors      ms  total merged sectors      ms    cur    sec                 UTC
sda    10000     10   80000   10000  20000     10  160000   20000      0     20 2024-03-01 10:00:00
sda    10600     10   89600   10300  20400     10  166400   20320      0     21 2024-03-01 10:00:10
"""
ATOP = "ATOP - db1     2024/03/01  10:00:00     ------     3h10m0s elapsed\n"
ATOP += "DSK |  sda | busy  1% | read 9 | write 9 | KiB/r 4 | KiB/w 4 |\n"
ATOP += "        *** System and Process Activity since Boot ***\n"
ATOP += "".join(
    f"ATOP - db1     2024/03/01  {at}     ------     10m0s elapsed\n"
    "DSK |  sda | busy 10% | read  36000 | write 24000 | KiB/r  8 | KiB/w  8 | MBr/s 0.5 |\n"
    for at in ("10:10:00", "10:20:00")
)
LATENCIES = {"r_await_ms": 0.5, "w_await_ms": 0.8}
SPLIT = {
    "read_iops_mean": 60.0, "write_iops_mean": 40.0, "read_bytes_per_s_mean": 491_520.0,
    "write_bytes_per_s_mean": 327_680.0, "read_size_mean": 8192.0,
}  # fmt: skip


def imported(text: str, folder: Path, suffix: str = ".txt") -> dict[str, Any]:
    path = folder / f"capture{suffix}"
    path.write_text(text)
    return import_monitoring([path]).to_dict()


@pytest.mark.parametrize(
    ("text", "suffix", "device", "expected"),
    [
        (GSTAT, ".txt", "ada0", SPLIT | LATENCIES),
        (GSTAT_CSV, ".csv", "ada0", SPLIT | LATENCIES),
        (SOLARIS, ".txt", "sd0", SPLIT | {"await_ms": 0.6}),
        (DOOL, ".csv", "sda", SPLIT),
        (VMSTAT, ".txt", "sda", SPLIT | LATENCIES),
        (ATOP, ".txt", "sda", SPLIT | {"samples": 2}),
    ],
    ids=["gstat", "gstat-csv", "solaris-r", "dool", "vmstat-d", "atop"],
)
def test_a_load_is_read(
    text: str, suffix: str, device: str, expected: dict[str, float], tmp_path: Path
) -> None:
    figures = imported(text, tmp_path, suffix)["devices"][device]
    assert {key: figures[key] for key in expected} == pytest.approx(expected)


def test_rows_that_name_their_device_are_not_one_device(tmp_path: Path) -> None:
    assert list(imported(GSTAT_CSV, tmp_path, ".csv")["devices"]) == ["ada0", "ada1"]


def test_gstat_says_how_long_a_report_is_and_has_none_since_boot(tmp_path: Path) -> None:
    document = imported(GSTAT, tmp_path)
    assert document["interval_s"] == 1 and not document["since_boot_dropped"]
    assert document["devices"]["ada0"]["samples"] == 2


def test_values_of_get_counter_name_their_counter(tmp_path: Path) -> None:
    disk = r"\\srv\physicaldisk(0 c:)\disk"
    rows = [
        f'"14.03.2024 10:00:{second}","{disk} {what}/sec","{value}"'
        for second in ("00", "10")
        for what, value in (("reads", 60), ("write bytes", 327680))
    ]
    document = imported("\n".join(['"Timestamp","Path","Value"', *rows]) + "\n", tmp_path, ".csv")
    figures = document["devices"]["0 c:"]
    assert (figures["read_iops_mean"], figures["write_bytes_per_s_mean"]) == (60, 327_680)


def test_a_direction_that_a_chart_draws_below_is_turned(tmp_path: Path) -> None:
    rows = "".join(f"{at},480.0,-320.0\n" for at in (1709287200, 1709287210))
    document = imported(f"time,sda reads,sda writes\n{rows}", tmp_path, ".csv")
    assert document["devices"]["sda"]["write_iops_mean"] == 320
    assert {"negative", "assumed"} <= {each["code"] for each in document["warnings_typed"]}


def test_lines_behind_times_without_blanks_between_reports(tmp_path: Path) -> None:
    title = "Device            r/s     rkB/s r_await     w/s     wkB/s w_await  aqu-sz  %util\n"
    row = "sda             60.00    480.00    0.50   40.00    320.00    0.80    0.06  10.00\n"
    text = "".join(f"2024-03-14T10:00:{at} {line}" for at in ("00", "10", "20")
                   for line in (title, row))  # fmt: skip
    document = imported(text, tmp_path)
    assert (document["interval_s"], document["end"]) == (10, "2024-03-14T10:00:20")


def test_times_without_a_date_are_said(tmp_path: Path) -> None:
    text = 'Time\tdisk.dev.read["sda"]\nnone\tcount/second\n10:00:00\t?\n10:00:10\t60.0\n'
    document = imported(text + "10:00:20\t60.0\n", tmp_path)
    assert "no-date" in [each["code"] for each in document["warnings_typed"]]


def test_a_year_ends_inside_of_dstat(tmp_path: Path) -> None:
    document = imported(DOOL, tmp_path, ".csv")
    assert (document["start"], document["end"]) == ("2023-12-31T23:59:58", "2024-01-01T00:00:00")


def test_amounts_beside_a_sum_part_it_by_direction(tmp_path: Path) -> None:
    title = "\nDisks:        % tm_act     Kbps      tps    Kb_read   Kb_wrtn\n"
    rows = ("0.5   20.0   2.0   100000   200000", *2 * ["10.0   800.0   100.0   960   640"])
    text = "System configuration: lcpu=8 drives=1 paths=1 vdisks=0\n"
    document = imported(text + "".join(f"{title}hdisk0   {row}\n" for row in rows), tmp_path)
    figures = document["devices"]["hdisk0"]
    assert document["interval_s"] == 2
    assert figures["read_bytes_per_s_mean"] == pytest.approx(491_520)
    assert figures["write_bytes_per_s_mean"] == pytest.approx(327_680)


def test_two_disks_of_freebsd_stand_in_one_row(tmp_path: Path) -> None:
    text = (
        "       tty            ada0             ada1             cpu\n"
        " tin  tout KB/t  tps  MB/s  KB/t  tps  MB/s  us ni sy in id\n"
        "   0    10 16.0   50  0.78  8.00  100  0.78   1  0  1  0 98\n"
        + "   0    30 16.0  100  1.56  8.00  200  1.56   1  0  1  0 98\n"
        * 2
    )
    document = imported(text, tmp_path)
    assert document["source"] == "iostat" and document["since_boot_dropped"]
    rates = {name: each["iops_mean"] for name, each in document["devices"].items()}
    assert rates == {"ada0": 100, "ada1": 200}
    assert document["devices"]["ada1"]["size_mean"] == pytest.approx(8192, rel=0.01)
