"""Further captures of the known load: other systems, tongues and ways to keep a tool's output."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from tests.calibration.monitoring.printed import COLUMNS, Printed, number
from tests.calibration.monitoring.printed_iostat import X12
from tests.calibration.monitoring.truth import (
    BOOT,
    BYTES,
    COUNT,
    LOAD,
    QUEUE,
    SIZES,
    SPLIT,
    START,
    SUM,
    WAIT,
    times,
)

Stamp = Callable[[datetime], str]


def _rows(columns: Sequence[str], sample_at: int | None, *, comma: bool = False) -> list[str]:
    rows = []
    for disk, samples in LOAD.items():
        sample = BOOT if sample_at is None else samples[sample_at]
        cells = " ".join(
            f"{number(COLUMNS.get(c, lambda s: 0.0)(sample), 2, comma):>9}" for c in columns
        )
        rows.append(f"{disk:<14} {cells}")
    return rows


def iostat(stamp: Stamp, *, comma: bool = False, device: str = "Device", cpu: str = "") -> str:
    """`iostat -xt 10 6` whose times, words and decimals are those of a locale."""
    lines = ["Linux 5.14.0-362.el9.x86_64 (db1) \t03/14/2024 \t_x86_64_\t(8 CPU)", ""]
    heading = f"{device:<14} " + " ".join(f"{c:>9}" for c in X12)
    for at in [None, *range(COUNT)]:
        lines.append(stamp(START if at is None else times(10.0)[at]))
        if cpu:
            lines += [cpu, "          " + "   ".join([number(1.5, 2, comma)] * 6), ""]
        lines += [heading, *_rows(X12, at, comma=comma), ""]
    return "\n".join(lines) + "\n"


def _untimed() -> str:
    """`iostat -x 10 6`, without `-t`."""
    lines = iostat(lambda t: "").splitlines()
    return "\n".join(line for at, line in enumerate(lines) if line or at < 3) + "\n"


def _in_front(text: str, stamp: Stamp) -> str:
    """Each line behind the time at which it was written, as `ts` of moreutils does."""
    found, at = [], -1
    for line in text.splitlines():
        at += line.startswith("Device")
        found.append(f"{stamp(times(10.0)[at - 1] if at > 0 else START)} {line}")
    return "\n".join(found) + "\n"


def freebsd() -> str:
    """`iostat -x -w 10 -c 6` of FreeBSD 13: no times; the first report is since boot."""
    names = "device       r/s     w/s     kr/s     kw/s  ms/r  ms/w  ms/o  ms/t qlen  %b"
    lines = []
    for at in [None, *range(COUNT)]:
        lines += ["                        extended device statistics", names]
        for disk, samples in LOAD.items():
            s = BOOT if at is None else samples[at]
            lines.append(
                f"{disk:<9} {s.reads:9.0f} {s.writes:7.0f} {s.read_kibs:8.1f} {s.write_kibs:8.1f}"
                f" {s.r_ms:5.0f} {s.w_ms:5.0f} {0:5d} {s.wait_ms:5.1f} {s.queue:4.0f} {s.busy:3.0f}"
            )
    return "\n".join(lines) + "\n"


def solaris() -> str:
    """`iostat -xn 10 6` of Solaris 11: the device stands last; time in service of all I/Os."""
    lines = []
    for at in [None, *range(COUNT)]:
        lines += [
            "                    extended device statistics              ",
            "    r/s    w/s   kr/s   kw/s wait actv wsvc_t asvc_t  %w  %b device",
        ]
        for disk, samples in LOAD.items():
            s = BOOT if at is None else samples[at]
            lines.append(
                f" {s.reads:6.1f} {s.writes:6.1f} {s.read_kibs:6.1f} {s.write_kibs:6.1f}  0.0"
                f" {s.queue:4.2f}    0.0 {s.wait_ms:6.2f}   0 {s.busy:3.0f} {disk}"
            )
    return "\n".join(lines) + "\n"


def sar(stamp: Stamp, average: str, *, comma: bool = False, banner: str = "03/14/2024") -> str:
    """`sar -d -p 10 5` with the times and the word for the mean of a locale."""
    columns = ["tps", "rkB/s", "wkB/s", "dkB/s", "areq-sz", "aqu-sz", "await", "%util"]
    start = times(10.0)[0].replace(second=0)
    lines = [f"Linux 5.14.0 (db1) \t{banner} \t_x86_64_\t(8 CPU)", ""]
    lines.append(f"{stamp(start)}          DEV " + " ".join(f"{c:>9}" for c in columns))
    for at, time in enumerate(times(10.0)):
        for row in _rows(columns, at, comma=comma):
            lines.append(f"{stamp(time)} {row}")
    lines += ["", f"{average} DEV " + " ".join(f"{c:>9}" for c in columns)]
    lines += [f"{average} {row}" for row in _rows(columns, 0, comma=comma)]
    return "\n".join(lines) + "\n"


SAR = SUM | BYTES | QUEUE | WAIT
MORE = [
    Printed("iostat-12-hours", iostat(lambda t: t.strftime("%m/%d/%Y %I:%M:%S %p")), "iostat"),
    Printed("iostat-japanese", iostat(lambda t: t.strftime("%Y年%m月%d日 %H時%M分%S秒")), "iostat"),
    Printed(
        "iostat-russian",
        iostat(lambda t: t.strftime("%d.%m.%Y %H:%M:%S"), comma=True, device="Устройство"),
        "iostat",
    ),
    Printed(
        "iostat-cpu",
        iostat(
            lambda t: t.strftime("%Y-%m-%dT%H:%M:%S+0000"),
            cpu="avg-cpu:  %user   %nice %system %iowait  %steal   %idle",
        ),
        "iostat",
    ),
    Printed("iostat-indian", iostat(lambda t: t.strftime("%d/%m/%y %H:%M:%S")), "iostat"),
    Printed("iostat-two-spaces", iostat(lambda t: t.strftime("%m/%d/%y  %H:%M:%S")), "iostat"),
    Printed(
        "iostat-ts",
        _in_front(
            iostat(lambda t: t.strftime("%m/%d/%Y %H:%M:%S")),
            lambda t: t.strftime("%b %d %H:%M:%S"),
        ),
        "iostat",
    ),
    Printed(
        "iostat-ts-iso",
        _in_front(
            iostat(lambda t: t.strftime("%m/%d/%Y %H:%M:%S")),
            lambda t: t.strftime("%Y-%m-%dT%H:%M:%SZ"),
        ),
        "iostat",
    ),
    Printed(
        "iostat-ts-alone",
        _in_front(_untimed(), lambda t: t.strftime("[%Y-%m-%d %H:%M:%S]")),
        "iostat",
    ),
    Printed("iostat-bom", "\ufeff" + iostat(lambda t: t.strftime("%m/%d/%Y %H:%M:%S")), "iostat"),
    Printed("iostat-freebsd", freebsd(), "iostat", SPLIT | BYTES | SIZES | SUM),
    Printed("iostat-solaris", solaris(), "iostat", SPLIT | BYTES | SIZES | SUM | QUEUE | WAIT),
    Printed("sar-12-hours", sar(lambda t: t.strftime("%I:%M:%S %p"), "Average:   "), "sar", SAR),
    Printed(
        "sar-japanese",
        sar(lambda t: t.strftime("%H時%M分%S秒"), "平均値:  ", banner="2024年03月14日"),
        "sar",
        SAR,
    ),
    Printed(
        "sar-russian",
        sar(lambda t: t.strftime("%H:%M:%S"), "Среднее: ", comma=True, banner="14.03.2024"),
        "sar",
        SAR,
    ),
    Printed(
        "sar-korean",
        sar(lambda t: t.strftime("%H시 %M분 %S초"), "평균값:  ", banner="2024년 03월 14일"),
        "sar",
        SAR,
    ),
    Printed(
        "sar-swedish",
        sar(lambda t: t.strftime("%H.%M.%S"), "Genomsnitt:", comma=True, banner="2024-03-14"),
        "sar",
        SAR,
    ),
    Printed(
        "sar-chinese-12",
        sar(
            lambda t: t.strftime("%I:%M:%S %p").replace("AM", "上午"),
            "平均时间: ",
            banner="2024年03月14日",
        ),
        "sar",
        SAR,
    ),
    Printed(
        "sar-crlf",
        sar(lambda t: t.strftime("%H:%M:%S"), "Average:").replace("\n", "\r\n"),
        "sar",
        SAR,
    ),
    Printed(
        "sar-utf16",
        sar(lambda t: t.strftime("%H:%M:%S"), "Average:"),
        "sar",
        SAR,
        encoding="utf-16",
    ),
    Printed(
        "sar-latin1",
        sar(lambda t: t.strftime("%H:%M:%S"), "Média:", comma=True, banner="14-03-2024"),
        "sar",
        SAR,
        encoding="cp1252",
    ),
]
