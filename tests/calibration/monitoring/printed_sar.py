"""What sar and sadf of several versions and locales print of the known load."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from tests.calibration.monitoring.printed import Printed, cell, number
from tests.calibration.monitoring.truth import (
    BYTES,
    LOAD,
    QUEUE,
    SUM,
    WAIT,
    times,
)

SAR9 = ["tps", "rd_sec/s", "wr_sec/s", "avgrq-sz", "avgqu-sz", "await", "svctm", "%util"]


SAR12 = ["tps", "rkB/s", "wkB/s", "dkB/s", "areq-sz", "aqu-sz", "await", "%util"]


SAR_HOLDS = SUM | BYTES | WAIT | QUEUE


@dataclass(frozen=True)
class SarStyle:
    """Options and locale of sar."""

    clock: Callable[[datetime], str]
    average: str = "Average:"
    banner: str = "Linux 5.15.0-91-generic (host1) \t03/14/2024 \t_x86_64_\t(4 CPU)"
    comma: bool = False
    names: Mapping[str, str] = field(default_factory=lambda: {disk: disk for disk in LOAD})
    last: bool = False


def sar(columns: list[str], style: SarStyle) -> str:
    """`sar -d`: a heading with the time before, rows with theirs, an average."""
    moments = times(600)
    begin = style.clock(moments[0].replace(minute=0))
    head = " ".join(f"{name:>9}" for name in columns)
    lines = [style.banner, "", f"{begin} {head} DEV" if style.last else f"{begin}       DEV {head}"]
    rows = [*enumerate(map(style.clock, moments)), (0, style.average)]
    for at, when in rows:
        for disk, samples in LOAD.items():
            cells = [number(cell(n, samples[at]), 2, style.comma) for n in columns]
            row = " ".join(f"{each:>9}" for each in cells)
            name = style.names[disk]
            lines.append(f"{when} {row} {name}" if style.last else f"{when} {name:>9} {row}")
    return "\n".join(lines) + "\n"


def _day(at: datetime) -> str:
    return at.strftime("%H:%M:%S")


def _half_day(at: datetime) -> str:
    return at.strftime("%I:%M:%S %p")


def sadf_d(
    columns: list[str], *, epoch: bool = False, zone: str = " UTC", wide: bool = False
) -> str:
    """`sadf -d`, `-U` with seconds since 1970, `-h` with all disks in a row."""
    end = "[...]" if wide else ""
    lines = [f"# hostname;interval;timestamp;DEV;{';'.join(columns)}{end}"]
    for at, moment in enumerate(times(600)):
        when = (
            str(int(moment.timestamp())) if epoch else moment.strftime("%Y-%m-%d %H:%M:%S") + zone
        )
        cells = {
            disk: ";".join(number(cell(n, s[at])) for n in columns) for disk, s in LOAD.items()
        }
        if wide:
            lines.append(f"host1;600;{when};" + ";".join(f"{d};{c}" for d, c in cells.items()))
        else:
            lines += [f"host1;600;{when};{disk};{row}" for disk, row in cells.items()]
    return "\n".join(lines) + "\n"


def sadf_p() -> str:
    """`sadf -p`: a figure a line."""
    lines = []
    for at, moment in enumerate(times(600)):
        for disk, samples in LOAD.items():
            for name in SAR12:
                value = cell(name, samples[at])
                when = moment.strftime("%Y-%m-%d %H:%M:%S UTC")
                lines.append(f"host1\t600\t{when}\t{disk}\t{name}\t{value:.2f}")
    return "\n".join(lines) + "\n"


_KEYS = [
    "tps",
    "rd_sec",
    "wr_sec",
    "dc_sec",
    "rkB",
    "wkB",
    "dkB",
    "avgrq-sz",
    "areq-sz",
    "avgqu-sz",
    "aqu-sz",
    "await",
    "util-percent",
]


def sadf_json() -> str:
    """`sadf -j`: both the old and the new units in one record."""
    statistics = []
    for at, moment in enumerate(times(600)):
        disks = [
            {"disk-device": disk, **{k: round(cell(k, s[at]), 2) for k in _KEYS}}
            for disk, s in LOAD.items()
        ]
        stamp = {
            "date": moment.strftime("%Y-%m-%d"),
            "time": moment.strftime("%H:%M:%S"),
            "utc": 1,
            "interval": 600,
        }
        statistics.append({"timestamp": stamp, "disk": disks})
    host = {
        "nodename": "host1",
        "sysname": "Linux",
        "file-date": "2024-03-14",
        "statistics": statistics,
    }
    return json.dumps({"sysstat": {"sysdata-version": 3.9, "hosts": [host]}}, indent=1)


def sadf_xml() -> str:
    """`sadf -x`."""
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<!DOCTYPE sysstat PUBLIC "DTD v3.9 sysstat //EN" "x.dtd">',
        "<sysstat>",
        '<host nodename="host1"><sysname>Linux</sysname><statistics>',
    ]
    for at, moment in enumerate(times(600)):
        lines.append(
            f'<timestamp date="{moment:%Y-%m-%d}" time="{moment:%H:%M:%S}" utc="1" interval="600">'
        )
        lines.append('<disk per="second">')
        for disk, s in LOAD.items():
            cells = " ".join(f'{k}="{cell(k, s[at]):.2f}"' for k in _KEYS)
            lines.append(f'<disk-device dev="{disk}" {cells}/>')
        lines.append("</disk></timestamp>")
    return "\n".join([*lines, "</statistics></host></sysstat>"])


_NUMBERS = {"sda": "dev8-0", "sdb": "dev8-16"}


_LONG = {"sda": "ata-Samsung_SSD_860_EVO_1TB_S3Z8NB0K123456A", "sdb": "wwn-0x5000c500a1b2c3d4"}


SAR: list[Printed] = [
    Printed(
        "sar-9",
        sar(SAR9, SarStyle(clock=_half_day, names=_NUMBERS)),
        "sar",
        SAR_HOLDS,
        devices=_NUMBERS,
        facts={"interval_s": 600, "sysstat": "10", "host": "host1"},
    ),
    Printed(
        "sar-12",
        sar(SAR12, SarStyle(clock=_day)),
        "sar",
        SAR_HOLDS,
        facts={"interval_s": 600, "start": "2024-03-14T10:10:00", "sysstat": "12"},
    ),
    Printed(
        "sar-german",
        sar(
            SAR12,
            SarStyle(
                clock=_day,
                average="Durchschn.:",
                comma=True,
                banner="Linux 6.1.0 (host1) \t14.03.2024 \t_x86_64_\t(4 CPU)",
            ),
        ),
        "sar",
        SAR_HOLDS,
        facts={"start": "2024-03-14T10:10:00"},
    ),
    Printed(
        "sar-spanish",
        sar(
            SAR12,
            SarStyle(
                clock=_day,
                average="Media:",
                comma=True,
                banner="Linux 6.1.0 (host1) \t14/03/24 \t_x86_64_\t(4 CPU)",
            ),
        ),
        "sar",
        SAR_HOLDS,
        facts={"start": "2024-03-14T10:10:00"},
    ),
    Printed(
        "sar-iso",
        sar(
            SAR12,
            SarStyle(clock=_day, banner="Linux 6.1.0 (host1) \t2024-03-14 \t_x86_64_\t(4 CPU)"),
        ),
        "sar",
        SAR_HOLDS,
        facts={"start": "2024-03-14T10:10:00"},
    ),
    Printed("sar-pretty", sar(SAR12, SarStyle(clock=_day, last=True)), "sar", SAR_HOLDS),
    Printed(
        "sar-ids",
        sar(SAR12, SarStyle(clock=_day, names=_LONG)),
        "sar",
        SAR_HOLDS,
        devices=_LONG,
        facts={"default_devices": sorted(_LONG.values())},
    ),
    Printed(
        "sadf-d-12",
        sadf_d(SAR12),
        "sadf",
        SAR_HOLDS,
        suffix=".csv",
        facts={
            "host": "host1",
            "interval_s": 600,
            "start": "2024-03-14T10:10:00Z",
            "sysstat": "12",
        },
    ),
    Printed("sadf-d-9", sadf_d(SAR9), "sadf", SAR_HOLDS, suffix=".csv", facts={"sysstat": "10"}),
    Printed(
        "sadf-d-epoch",
        sadf_d(SAR12, epoch=True),
        "sadf",
        SAR_HOLDS,
        suffix=".csv",
        facts={"start": "2024-03-14T10:10:00Z"},
    ),
    Printed(
        "sadf-d-local",
        sadf_d(SAR12, zone=""),
        "sadf",
        SAR_HOLDS,
        suffix=".csv",
        facts={"start": "2024-03-14T10:10:00"},
    ),
    Printed("sadf-dh", sadf_d(SAR12, wide=True), "sadf", SAR_HOLDS, suffix=".csv"),
    Printed("sadf-p", sadf_p(), "sadf", SAR_HOLDS),
    Printed(
        "sadf-j",
        sadf_json(),
        "sadf",
        SAR_HOLDS,
        suffix=".json",
        facts={"sysstat": "12", "start": "2024-03-14T10:10:00Z"},
    ),
    Printed("sadf-x", sadf_xml(), "sadf", SAR_HOLDS, suffix=".xml", facts={"sysstat": "12"}),
]
"""Every form."""
