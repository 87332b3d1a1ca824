"""How long a report of iostat lasted, and on which day, where the file says it in passing."""

from __future__ import annotations

from pathlib import Path

import pytest

from raidlab.calibration.monitoring.importing import import_monitoring

HEAD = "Linux 2.6.32 (db1) \t07/27/10 \t_i686_\t(1 CPU)\n"


def megabytes(*rows: tuple[float, int]) -> str:
    """Reports of `iostat -dm`: rate of reads in MB/s, and MB read."""
    title = "Device:            tps    MB_read/s    MB_wrtn/s    MB_read    MB_wrtn\n"
    lines = [f"sda    98.01    {rate:.2f}    0.00    {read}    0\n" for rate, read in rows]
    return HEAD + "".join(f"\n{title}{line}" for line in lines)


def test_a_few_megabytes_do_not_say_how_long_a_report_was(tmp_path: Path) -> None:
    # 1 MB, which may be anything below 2, at 0.59 MB/s: up to 3.4 s.
    path = tmp_path / "iostat.txt"
    path.write_text(megabytes((0.50, 9482), (0.59, 1), (0.73, 2)))
    found = import_monitoring([path])
    assert (found.interval_s, found.since_boot_dropped) == (None, True)


def test_many_megabytes_say_how_long_a_report_was(tmp_path: Path) -> None:
    path = tmp_path / "iostat.txt"
    path.write_text(megabytes((0.50, 9482), (40.00, 120), (50.00, 150)))
    assert import_monitoring([path]).interval_s == 3


def test_reports_with_a_time_alone_are_of_the_day_of_the_head(tmp_path: Path) -> None:
    title = (
        "Device:         rrqm/s wrqm/s r/s w/s rsec/s wsec/s avgrq-sz avgqu-sz await svctm %util\n"
    )
    row = "sda    0.00 0.00 5.00 5.00 80.00 80.00 16.00 0.01 1.00 1.00 1.00\n"
    reports = "".join(f"\nTime: {at} PM\n{title}{row}" for at in ("11:59:50", "11:59:55"))
    reports += f"\nTime: 12:00:00 AM\n{title}{row}"
    path = tmp_path / "iostat.txt"
    path.write_text(HEAD + reports)
    document = import_monitoring([path]).to_dict()
    assert (document["start"], document["end"]) == ("2010-07-27T23:59:50", "2010-07-28T00:00:00")


def test_bytes_that_round_to_nothing_say_no_size(tmp_path: Path) -> None:
    path = tmp_path / "iostat.txt"
    path.write_text(megabytes((9.00, 9482), (0.00, 0), (0.00, 0)))
    figures = import_monitoring([path]).to_dict()["devices"]["sda"]
    assert figures["size_mean"] is None and figures["iops_mean"] == pytest.approx(98.01)
