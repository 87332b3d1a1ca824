"""What Windows, ESXi, Prometheus and Grafana print of the known load."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from datetime import timedelta, timezone

from tests.calibration.monitoring.printed import Printed
from tests.calibration.monitoring.printed_linux import NODE, counters
from tests.calibration.monitoring.truth import (
    ALL,
    BYTES,
    KIB,
    LOAD,
    QUEUE,
    SIZES,
    SPLIT,
    SUM,
    WAIT,
    WAITS,
    Sample,
    times,
)

RATES = SPLIT | BYTES | SIZES | SUM


Of = Callable[[Sample], float]


_PERFMON: dict[str, Of] = {
    "reads": lambda s: s.reads,
    "writes": lambda s: s.writes,
    "read_bytes": lambda s: s.read_kibs * KIB,
    "write_bytes": lambda s: s.write_kibs * KIB,
    "r": lambda s: s.r_ms / 1000,
    "w": lambda s: s.w_ms / 1000,
    "queue": lambda s: s.queue,
}


WINDOWS: dict[str, tuple[str, list[str]]] = {
    "en": (
        "PhysicalDisk",
        [
            "Disk Reads/sec",
            "Disk Writes/sec",
            "Disk Read Bytes/sec",
            "Disk Write Bytes/sec",
            "Avg. Disk sec/Read",
            "Avg. Disk sec/Write",
            "Avg. Disk Queue Length",
        ],
    ),
    "de": (
        "Physikalischer Datenträger",
        [
            "Lesevorgänge/s",
            "Schreibvorgänge/s",
            "Bytes gelesen/s",
            "Bytes geschrieben/s",
            "Mittlere Sek./Lesevorgänge",
            "Mittlere Sek./Schreibvorgänge",
            "Durchschnittl. Warteschlangenlänge des Datenträgers",
        ],
    ),
    "fr": (
        "Disque physique",
        [
            "Lectures disque/s",
            "Écritures disque/s",
            "Lectures disque, octets/s",
            "Écritures disque, octets/s",
            "Moyenne disque s/lecture",
            "Moyenne disque s/écriture",
            "Longueur moyenne de file d’attente du disque",
        ],
    ),
    "es": (
        "Disco físico",
        [
            "Lecturas de disco/s",
            "Escrituras en disco/s",
            "Bytes de lectura de disco/s",
            "Bytes de escritura en disco/s",
            "Promedio de segundos de disco/lectura",
            "Promedio de segundos de disco/escritura",
            "Longitud promedio de la cola de disco",
        ],
    ),
    "it": (
        "Disco fisico",
        [
            "Letture disco/sec",
            "Scritture disco/sec",
            "Byte letti da disco/sec",
            "Byte scritti su disco/sec",
            "Media letture disco/sec",
            "Media scritture disco/sec",
            "Lunghezza media coda del disco",
        ],
    ),
    "pt": (
        "Disco Físico",
        [
            "Leituras de disco/s",
            "Gravações de disco/s",
            "Bytes lidos de disco/s",
            "Bytes gravados em disco/s",
            "Média de disco s/leitura",
            "Média de disco s/gravação",
            "Comprimento médio da fila de disco",
        ],
    ),
}
"""The object and the seven counters in the languages of Windows."""


def perfmon(tongue: str, *, delimiter: str = ",", comma: bool = False, utc: bool = False) -> str:
    """A log of relog or typeperf."""
    item, names = WINDOWS[tongue]
    instances = {"sda": "0 C:", "sdb": "1 D: E:"}
    text = io.StringIO()
    out = csv.writer(text, delimiter=delimiter, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    zone = "(UTC)(0)" if utc else "(W. Europe Standard Time)(-60)"
    columns = [(disk, of) for disk in LOAD for of in _PERFMON.values()]
    out.writerow(
        [f"(PDH-CSV 4.0) {zone}"]
        + [f"\\\\WIN1\\{item}({instances[disk]})\\{name}" for disk in LOAD for name in names]
    )
    for at, moment in enumerate(times(15)):
        when = moment if utc else moment.astimezone(timezone(timedelta(hours=1)))
        cells = [f"{of(LOAD[disk][at]):.6f}" for disk, of in columns]
        out.writerow(
            [f"{when:%m/%d/%Y %H:%M:%S}.123"]
            + [cell.replace(".", ",") if comma else cell for cell in cells]
        )
    return text.getvalue()


def esxtop() -> str:
    """`esxtop -b`: disks, adapters and worlds."""
    naa = {"sda": "naa.60000000000000000000000000000a01", "sdb": "t10.NVMe____EXAMPLE_1"}
    parts: dict[str, Of] = {
        "Commands/sec": lambda s: s.ios,
        "Reads/sec": lambda s: s.reads,
        "Writes/sec": lambda s: s.writes,
        "MBytes Read/sec": lambda s: s.read_kibs / 1024,
        "MBytes Written/sec": lambda s: s.write_kibs / 1024,
        "Average Driver MilliSec/Command": lambda s: s.wait_ms,
        "Average Driver MilliSec/Read": lambda s: s.r_ms,
        "Average Driver MilliSec/Write": lambda s: s.w_ms,
        "Average Guest MilliSec/Command": lambda s: s.wait_ms + 0.1,
        "Adapter Q Depth": lambda s: 128,
    }
    names = ['"(PDH-CSV 4.0) (UTC)(0)"']
    names += [f'"\\\\esx9\\Physical Disk SCSI Device({naa[d]})\\{p}"' for d in LOAD for p in parts]
    names += [f'"\\\\esx9\\Physical Disk Adapter(vmhba0)\\{p}"' for p in parts]
    lines = [",".join(names)]
    for at, moment in enumerate(times(5)):
        cells = [f'"{of(LOAD[d][at]):.4f}"' for d in LOAD for of in parts.values()]
        cells += [f'"{of(LOAD["sda"][at]):.4f}"' for of in parts.values()]
        lines.append(",".join([f'"{moment:%m/%d/%Y %H:%M:%S}"', *cells]))
    return "\n".join(lines) + "\n"


LEGENDS: dict[str, Of] = {
    "{} - Reads completed": lambda s: s.reads,
    "{} - Writes completed": lambda s: s.writes,
    "{} - Read bytes": lambda s: s.read_kibs * KIB,
    "{} - Written bytes": lambda s: s.write_kibs * KIB,
}


FULL: dict[str, Of] = {
    "{} - Reads completed": lambda s: s.reads,
    "{} - Writes completed": lambda s: s.writes,
    "{} - Successfully read bytes": lambda s: s.read_kibs * KIB,
    "{} - Successfully written bytes": lambda s: s.write_kibs * KIB,
    "{} - Read wait time avg": lambda s: s.r_ms / 1000,
    "{} - Write wait time avg": lambda s: s.w_ms / 1000,
    "{} - Average queue size": lambda s: s.queue,
    "{} - Read merged": lambda s: 3,
    "{} - Write merged": lambda s: 4,
}
"""Legends of the dashboard Node Exporter Full."""


WORDS: dict[str, Of] = {
    "{} read IOPS": lambda s: s.reads,
    "{} write IOPS": lambda s: s.writes,
    "{} read latency (ms)": lambda s: s.r_ms,
    "{} write latency (ms)": lambda s: s.w_ms,
    "{} read MB/s": lambda s: s.read_kibs / 1024,
    "{} write MB/s": lambda s: s.write_kibs / 1024,
}


QUERIES: dict[str, Of] = {
    'rate(node_disk_reads_completed_total{{device="{}",instance="db1:9100"}}[5m])': lambda s: (
        s.reads
    ),
    'rate(node_disk_writes_completed_total{{device="{}",instance="db1:9100"}}[5m])': lambda s: (
        s.writes
    ),
    'irate(node_disk_read_bytes_total{{device="{}",instance="db1:9100"}}[5m])': lambda s: (
        s.read_kibs * KIB
    ),
    'rate(node_disk_written_bytes_total{{device="{}",instance="db1:9100"}}[5m])': lambda s: (
        s.write_kibs * KIB
    ),
}


def grafana(
    legends: dict[str, Of],
    *,
    delimiter: str = ",",
    when: str = "%Y-%m-%d %H:%M:%S",
    comma: bool = False,
    millis: bool = False,
) -> str:
    """ "Series joined by time" of a panel."""
    text = io.StringIO()
    out = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    columns = [(disk, of) for legend, of in legends.items() for disk in LOAD]
    out.writerow(["Time", *[legend.format(disk) for legend in legends for disk in LOAD]])
    for at, moment in enumerate(times(60)):
        stamp = str(int(moment.timestamp() * 1000)) if millis else moment.strftime(when)
        cells = [f"{of(LOAD[disk][at]):.6g}" for disk, of in columns]
        out.writerow([stamp, *[cell.replace(".", ",") if comma else cell for cell in cells]])
    return (f"sep={delimiter}\n" if comma else "") + text.getvalue()


def prometheus(*, shape: str = "matrix") -> str:
    """Counters by a range query, by VictoriaMetrics' export or by `promtool`."""
    series = []
    for name, field, scale in NODE:
        for disk in LOAD:
            labels = {
                "__name__": f"node_disk_{name}",
                "device": disk,
                "instance": "db1:9100",
                "job": "n",
            }
            values = [(m.timestamp(), rows[disk][field] * scale) for m, rows in counters(60)]
            series.append((labels, values))
    if shape == "export":
        return "\n".join(
            json.dumps(
                {
                    "metric": labels,
                    "values": [v for _, v in values],
                    "timestamps": [int(t * 1000) for t, _ in values],
                }
            )
            for labels, values in series
        )
    if shape == "promtool":
        lines = []
        for labels, values in series:
            inside = ", ".join(f'{k}="{v}"' for k, v in labels.items() if k != "__name__")
            lines.append(f"{labels['__name__']}{{{inside}}} =>")
            lines += [f"{v:.9g} @[{t:.3f}]" for t, v in values]
        return "\n".join(lines) + "\n"
    result = [
        {"metric": labels, "values": [[t, f"{v:.9g}"] for t, v in values]}
        for labels, values in series
    ]
    return json.dumps({"status": "success", "data": {"resultType": "matrix", "result": result}})


def grafana_frames() -> str:
    """The answer of /api/ds/query, as "Query inspector" shows it."""
    frames = []
    for metric, of in (
        ("node_disk_reads_completed_total", LEGENDS["{} - Reads completed"]),
        ("node_disk_writes_completed_total", LEGENDS["{} - Writes completed"]),
    ):
        for disk, samples in LOAD.items():
            name = f'rate({metric}{{device="{disk}"}}[1m])'
            fields = [
                {"name": "Time", "type": "time"},
                {
                    "name": "Value",
                    "type": "number",
                    "labels": {"device": disk},
                    "config": {"displayNameFromDS": name},
                },
            ]
            millis = [int(moment.timestamp() * 1000) for moment in times(60)]
            frames.append(
                {
                    "schema": {"refId": "A", "fields": fields},
                    "data": {"values": [millis, [of(s) for s in samples]]},
                }
            )
    return json.dumps({"results": {"A": {"status": 200, "frames": frames}}})


WINDOWS_NAMES = {"sda": "0 C:", "sdb": "1 D: E:"}


ESX_NAMES = {"sda": "naa.60000000000000000000000000000a01", "sdb": "t10.NVMe____EXAMPLE_1"}


_LOCAL = {"start": "2024-03-14T11:00:15+01:00", "interval_s": 15, "host": "WIN1"}


_MINUTE = {"interval_s": 60}


OTHERS: list[Printed] = [
    Printed("perfmon-en", perfmon("en"), "perfmon", ALL, WINDOWS_NAMES, _LOCAL, suffix=".csv"),
    Printed(
        "perfmon-utc",
        perfmon("en", utc=True),
        "perfmon",
        ALL,
        WINDOWS_NAMES,
        {"start": "2024-03-14T10:00:15Z"},
        suffix=".csv",
    ),
    Printed(
        "perfmon-tsv",
        perfmon("en", delimiter="\t"),
        "perfmon",
        ALL,
        WINDOWS_NAMES,
        _LOCAL,
        suffix=".tsv",
    ),
    *[
        Printed(
            f"perfmon-{tongue}",
            perfmon(tongue, delimiter=";", comma=True),
            "perfmon",
            ALL,
            WINDOWS_NAMES,
            _LOCAL,
            suffix=".csv",
            encoding=encoding,
        )
        for tongue, encoding in (
            ("de", "cp1252"),
            ("fr", "utf-8"),
            ("es", "cp1252"),
            ("it", "utf-8"),
            ("pt", "utf-16"),
        )
    ],
    Printed(
        "esxtop",
        esxtop(),
        "esxtop",
        ALL,
        ESX_NAMES,
        {"host": "esx9", "interval_s": 5, "default_devices": sorted(ESX_NAMES.values())},
        suffix=".csv",
    ),
    Printed("grafana", grafana(LEGENDS), "grafana", RATES, facts=_MINUTE, suffix=".csv"),
    Printed(
        "grafana-sep",
        grafana(LEGENDS, delimiter=";", comma=True),
        "grafana",
        RATES,
        facts=_MINUTE,
        suffix=".csv",
    ),
    Printed(
        "grafana-millis",
        grafana(FULL, millis=True),
        "grafana",
        RATES | WAITS | QUEUE,
        facts=_MINUTE | {"start": "2024-03-14T10:01:00Z"},
        suffix=".csv",
    ),
    Printed(
        "grafana-iso",
        grafana(WORDS, when="%Y-%m-%dT%H:%M:%S.000Z"),
        "grafana",
        RATES | WAITS | WAIT,
        facts=_MINUTE,
        suffix=".csv",
    ),
    Printed("grafana-queries", grafana(QUERIES), "prometheus", RATES, facts=_MINUTE, suffix=".csv"),
    Printed(
        "grafana-frames", grafana_frames(), "grafana", SPLIT | SUM, facts=_MINUTE, suffix=".json"
    ),
    Printed(
        "prometheus-range",
        prometheus(),
        "prometheus",
        ALL,
        facts=_MINUTE | {"host": "db1:9100"},
        suffix=".json",
    ),
    Printed(
        "victoria-export",
        prometheus(shape="export"),
        "prometheus",
        ALL,
        facts=_MINUTE,
        suffix=".json",
    ),
    Printed("promtool", prometheus(shape="promtool"), "prometheus", ALL, facts=_MINUTE),
]
"""Every form."""
