"""What Zabbix, CloudWatch and Azure Monitor print of the known load."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from tests.calibration.monitoring.printed import Printed
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


_ZABBIX: dict[str, Of] = {
    "vfs.dev.read.rate": lambda s: s.reads,
    "vfs.dev.write.rate": lambda s: s.writes,
    "vfs.dev.read.await": lambda s: s.r_ms,
    "vfs.dev.write.await": lambda s: s.w_ms,
    "vfs.dev.queue_size": lambda s: s.queue,
    "vfs.dev.util": lambda s: s.busy,
    "vfs.dev.read.time.rate": lambda s: s.reads * s.r_ms / 1000,
}


_ITEMS = {
    "vfs.dev.read.rate": "{}: Disk read rate",
    "vfs.dev.write.rate": "{}: Disk write rate",
    "vfs.dev.read.await": "{}: Disk read request avg waiting time (r_await)",
    "vfs.dev.write.await": "{}: Disk write request avg waiting time (w_await)",
    "vfs.dev.queue_size": "{}: Disk average queue size (avgqu-sz)",
    "vfs.dev.util": "{}: Disk utilization",
    "vfs.dev.read.time.rate": "{}: Disk read time (rate)",
}
"""Names of items in the template "Linux block devices by Zabbix agent"."""


def zabbix_json() -> str:
    """`item.get` and `history.get`."""
    items, history = [], []
    for number, (key, of) in enumerate(_ZABBIX.items()):
        for nth, (disk, samples) in enumerate(LOAD.items()):
            item = str(4000 + 10 * number + nth)
            items.append({"itemid": item, "key_": f"{key}[{disk}]", "name": "x"})
            history += [
                {
                    "itemid": item,
                    "clock": str(int(m.timestamp()) + number),
                    "value": f"{of(s):.4f}",
                    "ns": "1",
                }
                for m, s in zip(times(60), samples, strict=True)
            ]
    return json.dumps({"items": items, "history": history})


def zabbix_csv(*, names: bool) -> str:
    """An export with keys, or with the names of the template's items."""
    lines = ["host,name,timestamp,value" if names else "host,key,clock,value"]
    for key, of in _ZABBIX.items():
        for disk, samples in LOAD.items():
            name = _ITEMS[key].format(disk) if names else f"{key}[{disk}]"
            for m, s in zip(times(60), samples, strict=True):
                when = m.strftime("%Y-%m-%d %H:%M:%S") if names else str(int(m.timestamp()))
                lines.append(f'h1,"{name}",{when},{of(s):.4f}')
    return "\n".join(lines) + "\n"


_EBS: dict[str, Of] = {
    "VolumeReadOps": lambda s: s.reads * 300,
    "VolumeWriteOps": lambda s: s.writes * 300,
    "VolumeReadBytes": lambda s: s.read_kibs * KIB * 300,
    "VolumeWriteBytes": lambda s: s.write_kibs * KIB * 300,
    "VolumeTotalReadTime": lambda s: s.reads * s.r_ms * 0.3,
    "VolumeTotalWriteTime": lambda s: s.writes * s.w_ms * 0.3,
    "VolumeQueueLength": lambda s: s.queue,
}


_VOLUMES = {"sda": "vol-0a1b2c3d4e5f60718", "sdb": "vol-0ffffffffffffffff"}


def cloudwatch(*, shape: str) -> str:
    """get-metric-data (latest first), get-metric-statistics as text, the console's CSV."""
    moments = times(300)
    if shape == "data":
        results = [
            {
                "Id": f"m{n}{d}",
                "Label": f"{_VOLUMES[disk]} {metric}",
                "StatusCode": "Complete",
                "Timestamps": [f"{m:%Y-%m-%dT%H:%M:%S}+00:00" for m in reversed(moments)],
                "Values": [of(s) for s in reversed(LOAD[disk])],
            }
            for n, (metric, of) in enumerate(_EBS.items())
            for d, disk in enumerate(LOAD)
        ]
        return json.dumps({"MetricDataResults": results, "Messages": []}, indent=4)
    if shape == "text":
        lines = []
        for metric, of in _EBS.items():
            unit = "Count" if metric.endswith(("Ops", "Length")) else "Bytes"
            lines.append(metric)
            lines += [
                f"DATAPOINTS\t{of(s)}\t{m:%Y-%m-%dT%H:%M:%S}+00:00\t{unit}"
                for m, s in zip(moments, LOAD["sda"], strict=True)
            ]
        return "\n".join(lines) + "\n"
    columns = [(metric, disk) for metric in _EBS for disk in LOAD]
    lines = [
        "Id," + ",".join(f"m{n}" for n in range(len(columns))),
        "Label," + ",".join(f"{_VOLUMES[d]} ({m})" for m, d in columns),
        "Statistic," + ",".join("Average" if m.endswith("Length") else "Sum" for m, _ in columns),
        "Period," + ",".join("300" for _ in columns),
    ]
    for at, moment in enumerate(moments):
        lines.append(
            f"{moment:%Y/%m/%d %H:%M:%S}," + ",".join(str(_EBS[m](LOAD[d][at])) for m, d in columns)
        )
    return "\n".join(lines) + "\n"


_AZURE: dict[str, Of] = {
    "Data Disk Read Operations/Sec": lambda s: s.reads,
    "Data Disk Write Operations/Sec": lambda s: s.writes,
    "Data Disk Read Bytes/sec": lambda s: s.read_kibs * KIB,
    "Data Disk Write Bytes/sec": lambda s: s.write_kibs * KIB,
    "Data Disk Queue Depth": lambda s: s.queue,
    "Data Disk Latency": lambda s: s.wait_ms,
}


_MANAGED: dict[str, Of] = {
    "Composite Disk Read Operations/sec": lambda s: s.reads,
    "Composite Disk Write Operations/sec": lambda s: s.writes,
    "Composite Disk Read Bytes/sec": lambda s: s.read_kibs * KIB,
    "Composite Disk Write Bytes/sec": lambda s: s.write_kibs * KIB,
}


def _azure_metric(
    name: str, resource: str, series: Sequence[dict[str, object]], unit: str
) -> dict[str, object]:
    return {
        "id": f"{resource}/providers/Microsoft.Insights/metrics/{name}",
        "type": "Microsoft.Insights/metrics",
        "name": {"value": name, "localizedValue": name},
        "unit": unit,
        "timeseries": series,
    }


def azure(*, managed: bool) -> str:
    """`az monitor metrics list`, of a machine by LUN or of a managed disk."""
    value = []
    moments = times(60)
    for name, of in (_MANAGED if managed else _AZURE).items():
        series: list[dict[str, object]] = []
        for lun, samples in enumerate(LOAD.values()):
            if managed and lun:
                continue
            data = [
                {"timeStamp": f"{m:%Y-%m-%dT%H:%M:%S}Z", "average": of(s)}
                for m, s in zip(moments, samples, strict=True)
            ]
            labels = [] if managed else [{"name": {"value": "lun"}, "value": str(lun)}]
            series.append({"metadatavalues": labels, "data": data})
        kind = "disks/data1" if managed else "virtualMachines/vm1"
        resource = f"/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/{kind}"
        value.append(_azure_metric(name, resource, series, "CountPerSecond"))
    return json.dumps(
        {
            "cost": 0,
            "timespan": "t",
            "interval": "PT1M",
            "namespace": "Microsoft.Compute",
            "value": value,
        }
    )


_MINUTE = {"interval_s": 60}


CLOUDS: list[Printed] = [
    Printed(
        "zabbix-json",
        zabbix_json(),
        "zabbix",
        SPLIT | WAITS | WAIT | QUEUE | SUM,
        facts=_MINUTE,
        suffix=".json",
    ),
    Printed(
        "zabbix-keys",
        zabbix_csv(names=False),
        "zabbix",
        SPLIT | WAITS | WAIT | QUEUE | SUM,
        facts=_MINUTE | {"host": "h1"},
        suffix=".csv",
    ),
    Printed(
        "zabbix-names",
        zabbix_csv(names=True),
        "zabbix",
        SPLIT | WAITS | WAIT | QUEUE | SUM,
        facts=_MINUTE,
        suffix=".csv",
    ),
    Printed(
        "cloudwatch-data",
        cloudwatch(shape="data"),
        "cloudwatch",
        ALL,
        _VOLUMES,
        {"interval_s": 300, "start": "2024-03-14T10:05:00+00:00"},
        suffix=".json",
    ),
    Printed(
        "cloudwatch-text",
        cloudwatch(shape="text"),
        "cloudwatch",
        ALL,
        {"sda": "volume"},
        {"interval_s": 300},
    ),
    Printed(
        "cloudwatch-console",
        cloudwatch(shape="csv"),
        "cloudwatch",
        ALL,
        _VOLUMES,
        {"interval_s": 300},
        suffix=".csv",
    ),
    Printed(
        "azure-vm",
        azure(managed=False),
        "azure",
        RATES | WAIT | QUEUE,
        {"sda": "lun0", "sdb": "lun1"},
        _MINUTE,
        suffix=".json",
    ),
    Printed(
        "azure-disk",
        azure(managed=True),
        "azure",
        RATES,
        {"sda": "data1"},
        _MINUTE,
        suffix=".json",
    ),
]
"""Every form."""
