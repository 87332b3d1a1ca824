"""What iostat of several versions and locales prints of the known load."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from tests.calibration.monitoring.printed import Printed, cell, number
from tests.calibration.monitoring.truth import (
    ALL,
    BOOT,
    BYTES,
    COUNT,
    LOAD,
    QUEUE,
    SUM,
    WAIT,
    WAITS,
    times,
)

X12 = [
    "r/s",
    "rkB/s",
    "rrqm/s",
    "%rrqm",
    "r_await",
    "rareq-sz",
    "w/s",
    "wkB/s",
    "wrqm/s",
    "%wrqm",
    "w_await",
    "wareq-sz",
    "d/s",
    "dkB/s",
    "drqm/s",
    "%drqm",
    "d_await",
    "dareq-sz",
    "f/s",
    "f_await",
    "aqu-sz",
    "%util",
]


X12_0 = [
    "r/s",
    "w/s",
    "rkB/s",
    "wkB/s",
    "rrqm/s",
    "wrqm/s",
    "%rrqm",
    "%wrqm",
    "r_await",
    "w_await",
    "aqu-sz",
    "rareq-sz",
    "wareq-sz",
    "svctm",
    "%util",
]


X11 = [
    "rrqm/s",
    "wrqm/s",
    "r/s",
    "w/s",
    "rkB/s",
    "wkB/s",
    "avgrq-sz",
    "avgqu-sz",
    "await",
    "r_await",
    "w_await",
    "svctm",
    "%util",
]


X10 = [
    "rrqm/s",
    "wrqm/s",
    "r/s",
    "w/s",
    "rsec/s",
    "wsec/s",
    "avgrq-sz",
    "avgqu-sz",
    "await",
    "svctm",
    "%util",
]


X10M = [
    "rrqm/s",
    "wrqm/s",
    "r/s",
    "w/s",
    "rMB/s",
    "wMB/s",
    "avgrq-sz",
    "avgqu-sz",
    "await",
    "r_await",
    "w_await",
    "svctm",
    "%util",
]


XS = ["tps", "kB/s", "rqm/s", "await", "areq-sz", "aqu-sz", "%util"]


D12 = ["tps", "kB_read/s", "kB_wrtn/s", "kB_dscd/s", "kB_read", "kB_wrtn", "kB_dscd"]


D9 = ["tps", "Blk_read/s", "Blk_wrtn/s", "Blk_read", "Blk_wrtn"]


_CPU = (
    "avg-cpu:  %user   %nice %system %iowait  %steal   %idle\n"
    "           1.00    0.00    1.00    0.50    0.00   97.50\n"
)


X_UNSPLIT_WAIT = ALL - WAITS


D_HOLDS = SUM | BYTES


@dataclass(frozen=True)
class IostatStyle:
    """Options and locale of iostat."""

    stamp: Callable[[datetime], str] | None = None
    boot: bool = True
    device: str = "Device"
    last: bool = False
    comma: bool = False
    decimals: int = 2
    names: Mapping[str, str] = field(default_factory=lambda: {disk: disk for disk in LOAD})
    cpu: bool = True
    banner: str = "Linux 5.15.0-91-generic (host1) \t03/14/2024 \t_x86_64_\t(4 CPU)"


def iostat(columns: list[str], style: IostatStyle) -> str:
    """Reports of iostat, the first since boot if `boot`."""
    lines = [style.banner, ""]
    moments = times(10)
    for at in range(-1 if style.boot else 0, COUNT):
        if style.stamp is not None:
            moment = moments[at] if at >= 0 else moments[0].replace(minute=0, second=0)
            lines.append(style.stamp(moment))
        if style.cpu:
            lines += [_CPU.replace(".", ",") if style.comma else _CPU]
        head = " ".join(f"{name:>9}" for name in columns)
        lines.append(f"{head} {style.device}" if style.last else f"{style.device:<14}{head}")
        for disk, samples in LOAD.items():
            sample = BOOT if at < 0 else samples[at]
            cells = [number(cell(name, sample), style.decimals, style.comma) for name in columns]
            row = " ".join(f"{each:>9}" for each in cells)
            name = style.names[disk]
            lines.append(f"{row} {name}" if style.last else f"{name:<14}{row}")
        lines.append("")
    return "\n".join(lines)


def _us(at: datetime) -> str:
    return at.strftime("%m/%d/%Y %I:%M:%S %p")


def _iso(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%S+0000")


def _german(at: datetime) -> str:
    return at.strftime("%d.%m.%Y %H:%M:%S")


def _two_digits(at: datetime) -> str:
    return at.strftime("%d/%m/%y %H:%M:%S")


def _chinese(at: datetime) -> str:
    return at.strftime("%Y年%m月%d日 %H时%M分%S秒")


def iostat_json(columns: list[str], *, stamp: bool = True, boot: bool = True) -> str:
    """`iostat -o JSON`."""
    statistics = []
    moments = times(10)
    keys = [name.replace("%util", "util").removeprefix("%") for name in columns]
    for at in range(-1 if boot else 0, COUNT):
        disks = []
        for disk, samples in LOAD.items():
            sample = BOOT if at < 0 else samples[at]
            values = [cell(n, sample) for n in columns]
            disks.append(
                {"disk_device": disk, **{k: round(v, 2) for k, v in zip(keys, values, strict=True)}}
            )
        moment = moments[at] if at >= 0 else moments[0].replace(minute=0, second=0)
        report: dict[str, object] = (
            {"timestamp": moment.strftime("%m/%d/%y %H:%M:%S")} if stamp else {}
        )
        statistics.append({**report, "avg-cpu": {"user": 1.0, "idle": 99.0}, "disk": disks})
    host = {
        "nodename": "host1",
        "sysname": "Linux",
        "release": "5.15.0",
        "machine": "x86_64",
        "number-of-cpus": 4,
        "date": "03/14/24",
        "statistics": statistics,
    }
    return json.dumps({"sysstat": {"hosts": [host]}}, indent="\t")


_LONG = {"sda": "ata-Samsung_SSD_860_EVO_1TB_S3Z8NB0K123456A", "sdb": "wwn-0x5000c500a1b2c3d4"}


_OLD = {"sda": "cciss/c0d0", "sdb": "cciss/c0d1"}


_BOOT = {"since_boot_dropped": True, "interval_s": 10}


IOSTAT: list[Printed] = [
    Printed(
        "iostat-x-12.7",
        iostat(X12, IostatStyle(stamp=_us)),
        "iostat",
        facts=_BOOT | {"sysstat": "12"},
    ),
    Printed("iostat-x-12.0", iostat(X12_0, IostatStyle(stamp=_iso)), "iostat", facts=_BOOT),
    Printed(
        "iostat-x-11.0",
        iostat(X11, IostatStyle(stamp=_us, device="Device:")),
        "iostat",
        facts=_BOOT | {"sysstat": "10"},
    ),
    Printed(
        "iostat-x-9",
        iostat(X10, IostatStyle(stamp=_us, device="Device:")),
        "iostat",
        X_UNSPLIT_WAIT,
        facts=_BOOT | {"sysstat": "9"},
    ),
    Printed(
        "iostat-xm-10",
        iostat(X10M, IostatStyle(stamp=_us, device="Device:", decimals=3)),
        "iostat",
        facts=_BOOT,
    ),
    Printed(
        "iostat-y",
        iostat(X12, IostatStyle(stamp=_us, boot=False)),
        "iostat",
        facts={"since_boot_dropped": False, "interval_s": 10},
    ),
    Printed(
        "iostat-german",
        iostat(
            X12,
            IostatStyle(
                stamp=_german,
                comma=True,
                banner="Linux 6.1.0-18-amd64 (host1) \t14.03.2024 \t_x86_64_\t(4 CPU)",
            ),
        ),
        "iostat",
        facts=_BOOT,
    ),
    Printed(
        "iostat-french-x",
        iostat(
            X12,
            IostatStyle(
                stamp=_two_digits,
                comma=True,
                device="Périphérique",
                banner="Linux 6.1.0-18-amd64 (host1) \t14/03/2024 \t_x86_64_\t(4 CPU)",
            ),
        ),
        "iostat",
        facts=_BOOT,
    ),
    Printed(
        "iostat-chinese",
        iostat(
            X12,
            IostatStyle(
                stamp=_chinese,
                device="设备",
                banner="Linux 6.1.0 (host1) \t2024年03月14日 \t_x86_64_\t(4 CPU)",
            ),
        ),
        "iostat",
        facts=_BOOT,
    ),
    Printed("iostat-no-times", iostat(X12, IostatStyle()), "iostat", facts={"interval_s": None}),
    Printed(
        "iostat-dec0",
        iostat(X12, IostatStyle(stamp=_us, decimals=0)),
        "iostat",
        ALL - QUEUE,
        facts=_BOOT,
    ),
    Printed(
        "iostat-short",
        iostat(XS, IostatStyle(stamp=_us)),
        "iostat",
        SUM | WAIT | QUEUE,
        facts=_BOOT,
    ),
    Printed("iostat-d-12", iostat(D12, IostatStyle()), "iostat", D_HOLDS, facts=_BOOT),
    Printed(
        "iostat-d-9",
        iostat(D9, IostatStyle(device="Device:", cpu=True)),
        "iostat",
        D_HOLDS,
        facts=_BOOT,
    ),
    Printed("iostat-d-pretty", iostat(D12, IostatStyle(last=True)), "iostat", D_HOLDS, facts=_BOOT),
    Printed("iostat-no-cpu", iostat(X12, IostatStyle(stamp=_us, cpu=False)), "iostat", facts=_BOOT),
    Printed(
        "iostat-ids",
        iostat(X12, IostatStyle(stamp=_us, names=_LONG)),
        "iostat",
        devices=_LONG,
        facts=_BOOT | {"default_devices": sorted(_LONG.values())},
    ),
    Printed(
        "iostat-cciss",
        iostat(X11, IostatStyle(stamp=_us, names=_OLD)),
        "iostat",
        devices=_OLD,
        facts=_BOOT | {"default_devices": sorted(_OLD.values())},
    ),
    Printed(
        "iostat-crlf",
        iostat(X12, IostatStyle(stamp=_us)).replace("\n", "\r\n"),
        "iostat",
        facts=_BOOT,
    ),
    Printed(
        "iostat-utf16",
        iostat(X12, IostatStyle(stamp=_us)),
        "iostat",
        facts=_BOOT,
        encoding="utf-16",
    ),
    Printed("iostat-json-x", iostat_json(X12), "iostat", facts=_BOOT, suffix=".json"),
    Printed("iostat-json-no-times", iostat_json(X12, stamp=False), "iostat", suffix=".json"),
    Printed(
        "iostat-json-d",
        iostat_json(D12, stamp=False),
        "iostat",
        D_HOLDS,
        suffix=".json",
        facts=_BOOT,
    ),
    Printed("iostat-json-short", iostat_json(XS), "iostat", SUM | WAIT | QUEUE, suffix=".json"),
]
"""Every form."""
