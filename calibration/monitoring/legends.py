"""What a name or legend of a monitoring system says: the device, and what is measured.

Metric names of exporters and keys of agents have fixed senses. A legend is text that people typed:
its words are taken as far as they are clear, and what is not clear stays unknown.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from raidlab.calibration.monitoring.counters import Counter
from raidlab.calibration.monitoring.layers import layer_of
from raidlab.calibration.monitoring.numbers import KIB, MIB
from raidlab.calibration.monitoring.pdh_names import perfmon_counter, perfmon_layer
from raidlab.calibration.monitoring.points import Key
from raidlab.calibration.monitoring.samples import Quantity

Q, C = Quantity, Counter


@dataclass(frozen=True)
class Named:
    """A series: of which device, what, and the factor to base units."""

    device: str | None
    key: Key
    scale: float = 1.0
    host: str | None = None
    per_s: bool = False
    """True if `key` is a counter and the values are its rate."""
    assumed: str = ""
    """What was taken for granted."""


_NODE: dict[str, tuple[Counter, float]] = {
    "reads_completed": (C.READS, 1.0),
    "read_bytes": (C.READ_BYTES, 1.0),
    "bytes_read": (C.READ_BYTES, 1.0),
    "sectors_read": (C.READ_BYTES, 512.0),
    "read_sectors": (C.READ_BYTES, 512.0),
    "read_time_seconds": (C.READ_MS, 1e3),
    "read_time_ms": (C.READ_MS, 1.0),
    "writes_completed": (C.WRITES, 1.0),
    "written_bytes": (C.WRITE_BYTES, 1.0),
    "bytes_written": (C.WRITE_BYTES, 1.0),
    "sectors_written": (C.WRITE_BYTES, 512.0),
    "written_sectors": (C.WRITE_BYTES, 512.0),
    "write_time_seconds": (C.WRITE_MS, 1e3),
    "write_time_ms": (C.WRITE_MS, 1.0),
    "io_time_seconds": (C.BUSY_MS, 1e3),
    "io_time_ms": (C.BUSY_MS, 1.0),
    "io_time_weighted_seconds": (C.WEIGHTED_MS, 1e3),
    "io_time_weighted": (C.WEIGHTED_MS, 1.0),
    "discards_completed": (C.DISCARDS, 1.0),
    "discarded_sectors": (C.DISCARD_BYTES, 512.0),
    "discard_time_seconds": (C.DISCARD_MS, 1e3),
    "flush_requests": (C.FLUSHES, 1.0),
    "flush_requests_time_seconds": (C.FLUSH_MS, 1e3),
    # telegraf, cAdvisor and the exporter of Windows
    "reads": (C.READS, 1.0),
    "writes": (C.WRITES, 1.0),
    "write_bytes": (C.WRITE_BYTES, 1.0),
    "reads_bytes": (C.READ_BYTES, 1.0),
    "writes_bytes": (C.WRITE_BYTES, 1.0),
    "read_time": (C.READ_MS, 1.0),
    "write_time": (C.WRITE_MS, 1.0),
    "io_time": (C.BUSY_MS, 1.0),
    "weighted_io_time": (C.WEIGHTED_MS, 1.0),
    "read_seconds": (C.READ_MS, 1e3),
    "write_seconds": (C.WRITE_MS, 1e3),
    "read_latency_seconds": (C.READ_MS, 1e3),
    "write_latency_seconds": (C.WRITE_MS, 1e3),
    "io_time_weighted_seconds_": (C.WEIGHTED_MS, 1e3),
}  # fmt: skip
PREFIXES = ("node_disk_", "windows_logical_disk_", "windows_physical_disk_", "wmi_logical_disk_",
             "wmi_physical_disk_", "diskio_", "container_fs_")  # fmt: skip
_DEVICE_LABELS = ("device", "disk", "volume", "name", "device_name", "id")
_HOST_LABELS = ("instance", "host", "hostname", "node", "nodename")
_SELECTOR = re.compile(r"([A-Za-z_:][\w:]*)?\s*\{([^{}]*)\}")
_LABEL = re.compile(r"(\w+)\s*=~?\s*\"((?:[^\"\\]|\\.)*)\"")


def of_metric(name: str, labels: Mapping[str, str]) -> Named | None:
    """A metric of an exporter; None if it is none of a disk's."""
    rate = False
    parts = name.split(":")
    if len(parts) > 1:
        rate = any(re.match(r"i?rate|per_second", part) for part in parts)
        name = next((p for p in parts if any(p.startswith(x) for x in PREFIXES)), parts[0])
    prefix = next((each for each in PREFIXES if name.startswith(each)), None)
    if prefix is None:
        return None
    found = _NODE.get(name.removeprefix(prefix).removesuffix("_total"))
    if found is None:
        return None
    device = next((labels[each] for each in _DEVICE_LABELS if labels.get(each)), None)
    host = next((labels[each] for each in _HOST_LABELS if labels.get(each)), None)
    return Named(device and device.removeprefix("/dev/"), found[0], found[1], host, rate)


def of_expression(text: str) -> Named | None:
    """A metric with its labels, alone or within a rate: `rate(node_disk_...{device="sda"}[5m])`."""
    found = _SELECTOR.search(text)
    if found is None:
        bare = re.search(rf"\b((?:{'|'.join(PREFIXES)})\w+)", text)
        named = of_metric(bare[1], {}) if bare else None
    else:
        labels = dict(_LABEL.findall(found[2]))
        named = of_metric(found[1] or labels.get("__name__", ""), labels)
    if named is None:
        return None
    rate = re.search(r"\b(?:i?rate|deriv)\s*\(", text) is not None
    return replace(named, per_s=named.per_s or rate)


_ZABBIX: dict[str, tuple[Key, float]] = {
    "read.rate": (Q.READS, 1.0),
    "write.rate": (Q.WRITES, 1.0),
    "read.await": (Q.R_AWAIT, 1.0),
    "write.await": (Q.W_AWAIT, 1.0),
    "queue_size": (Q.QUEUE, 1.0),
    "util": (Q.UTIL, 1.0),
    "read.bytes.rate": (Q.READ_BYTES, 1.0),
    "write.bytes.rate": (Q.WRITE_BYTES, 1.0),
    "read:ops": (Q.READS, 1.0),
    "read:operations": (C.READS, 1.0),
    "read:sps": (Q.READ_BYTES, 512.0),
    "read:sectors": (C.READ_BYTES, 512.0),
    "read:bps": (Q.READ_BYTES, 1.0),
    "read:bytes": (C.READ_BYTES, 1.0),
    "write:ops": (Q.WRITES, 1.0),
    "write:operations": (C.WRITES, 1.0),
    "write:sps": (Q.WRITE_BYTES, 512.0),
    "write:sectors": (C.WRITE_BYTES, 512.0),
    "write:bps": (Q.WRITE_BYTES, 1.0),
    "write:bytes": (C.WRITE_BYTES, 1.0),
}  # fmt: skip
_ITEM = re.compile(r"^[^:]+: Disk (?:read|write|average queue|utilization)\b")
"""The name of an item in the template "Linux block devices by Zabbix agent"."""
_KEY = re.compile(
    r"(?:custom\.)?vfs\.dev\.([\w.]+)\[\s*\"?([^,\]\"]*)\"?\s*(?:,\s*\"?(\w*)\"?[^\]]*)?\]"
)


def is_zabbix(text: str) -> bool:
    """True for a key of Zabbix' agent, and for the name of an item in its template."""
    return bool(_KEY.search(text) or _ITEM.match(text) or _of_windows(text))


def of_zabbix(key: str) -> Named | None:
    """A key of Zabbix: `vfs.dev.read.rate[sda]`, `vfs.dev.write[sda,sectors]`."""
    found = _KEY.search(key)
    if found is None:
        return _of_windows(key)
    name, device, kind = found[1], found[2].removeprefix("/dev/") or "all", found[3]
    if name in ("read", "write"):
        # Without a type the agent gives operations a second.
        kind = {"": "ops", None: "ops"}.get(kind, kind)
        name = f"{name}:{kind}"
    sense = _ZABBIX.get(name)
    return None if sense is None else Named(device, sense[0], sense[1])


_WINDOWS = re.compile(
    r"perf_counter(?:_en)?\[\s*\"*\\([^\\(]+)\(([^)]*)\)\\([^\",\]]+)", re.IGNORECASE
)


def _of_windows(key: str) -> Named | None:
    """A performance counter as a key of Zabbix."""
    return _counter(_WINDOWS.search(key))


def _counter(found: re.Match[str] | None) -> Named | None:
    """What stands in a counter of Windows: its object, its instance and its name."""
    if found is None or perfmon_layer(found[1]) is None:
        return None
    what = perfmon_counter(found[3])
    if what is None or what.quantity is None or what.rest:
        return None
    return Named(found[2], what.quantity, what.scale)


_PATH = re.compile(r"^(?:\\\\[^\\]+)?\\([^\\(]+)\(([^)]*)\)\\(.+)$")


def of_path(text: str) -> Named | None:
    r"""A counter of Windows by its path: `\\srv\PhysicalDisk(0 C:)\Disk Reads/sec`."""
    return _counter(_PATH.match(text.strip()))


_READ = re.compile(r"(?i)(?<![a-z])(reads?|rd|lesen|lectura|lecture|r)(?![a-z])|read(?=_|$)|_read")
_WRITE = re.compile(
    r"(?i)(?<![a-z])(writes?|written|wr|writ|schreiben|escritura|[ée]criture|w)(?![a-z])|writ"
)
_KINDS = (
    # Neither is of use: how many were merged, and seconds of all requests in a second.
    ("merged", r"merge|time \(rate\)"),
    ("queue", r"queue|in.?flight|outstanding|avgqu|aqu|in progress|pending|depth"),
    ("util", r"util|busy|doing|active time|% ?time"),
    ("wait", r"await|\bms/(r|w|t|read|write)\b|latenc|wait|response|time per|svc"
             r"|(?<!a)time(?!out| series| \()"),
    ("size", r"(request|avg|average|mean|io|block)\s*size|bytes per|areq|bytes/(op|read|write|io)"),
    ("bytes", r"byte|throughput|bandwidth|[kmg]i?b(/|p)s|\bdata\b|sectors?|[kmg]b\b"),
    ("ios", r"iops|completed|ops\b|operation|request|\bio/s|[rw]/s|count|rate|io\b|reads?/s"
            r"|writes?/s|transfers?|reads\b|writes\b"),
)  # fmt: skip
_SENSES = {
    ("ios", "r"): Q.READS, ("ios", "w"): Q.WRITES, ("ios", ""): Q.IOS,
    ("bytes", "r"): Q.READ_BYTES, ("bytes", "w"): Q.WRITE_BYTES, ("bytes", ""): Q.BYTES,
    ("wait", "r"): Q.R_AWAIT, ("wait", "w"): Q.W_AWAIT, ("wait", ""): Q.AWAIT,
    ("size", "r"): Q.READ_SIZE, ("size", "w"): Q.WRITE_SIZE, ("size", ""): Q.SIZE,
    ("queue", ""): Q.QUEUE, ("util", ""): Q.UTIL,
}  # fmt: skip
_OF_UNIT = {"B/s": "bytes", "/s": "ios", "ms": "wait", "%": "util"}


def of_legend(text: str, unit: str = "") -> Named | None:
    """A legend that people typed; None where it does not say what is measured.

    Args:
        text: `sda - Read bytes`, `db1 nvme0n1 write IOPS`.
        unit: Of its values, where they show one: `B/s`, `/s`, `ms`, `%`.
    """
    device, rest = _device_in(text)
    low = rest.lower()
    kind = next((name for name, pattern in _KINDS if re.search(pattern, low)), "")
    if unit in _OF_UNIT:
        kind = _OF_UNIT[unit]
    if kind in ("", "merged"):
        return None
    side = _side(rest)
    if kind in ("queue", "util"):
        side = ""
    key = _SENSES.get((kind, side))
    if key is None:
        return None
    scale, assumed = _scale_of(kind, low, unit)
    if kind == "ios" and not unit and re.fullmatch(r"\W*(disk\W*)?(reads?|writes?)\W*", low):
        assumed = "requests a second were taken, as no unit is stated"
    return Named(device, key, scale, None, False, assumed)


def _side(text: str) -> str:
    read, write = bool(_READ.search(text)), bool(_WRITE.search(text))
    return "" if read == write else "r" if read else "w"


def _scale_of(kind: str, low: str, unit: str) -> tuple[float, str]:
    if unit:
        return 1.0, ""
    if kind == "wait":
        if re.search(r"\bms\b|milli|msec|\([rw]?_?await\)", low):
            return 1.0, ""
        if re.search(r"\bus\b|µs|micro|usec", low):
            return 1e-3, ""
        if re.search(r"\bs\b|sec", low):
            return 1e3, ""
        return 1e3, "latencies were taken as seconds"
    if kind == "bytes":
        for pattern, scale in (
            (r"ki?b|kilo", KIB), (r"mi?b(?!i)|mega", MIB), (r"gi?b(?!i)|giga", KIB * MIB),
            (r"sector", 512.0),
        ):  # fmt: skip
            if re.search(pattern, low):
                return scale, ""
    return 1.0, ""


def _device_in(text: str) -> tuple[str | None, str]:
    """The device that a legend names, and the legend without it."""
    text = text.strip().strip('"')
    for word in re.findall(r"[\w!.:-]+", text):
        bare = word.strip(":-.").removeprefix("/dev/")
        if layer_of(bare) is not None and not bare.isdigit() and not _plain_word(bare):
            return bare, text.replace(word, " ", 1)
    parts = re.split(r"\s+[-–:|]\s+|:\s+", text, maxsplit=1)
    if len(parts) == 2:
        first_known = any(re.search(pattern, parts[0].lower()) for _, pattern in _KINDS)
        return (parts[1], parts[0]) if first_known else (parts[0], parts[1])
    found = re.search(r"[({]([^(){}]+)[)}]", text)
    if found and not re.fullmatch(r"[kmg]?i?b(/s|ps)?|ms|s|us|iops|%|ops(/s)?", found[1].lower()):
        return found[1].strip(), text.replace(found[0], " ")
    return None, text


def _plain_word(word: str) -> bool:
    return word.lower() in ("all", "total", "sum", "disk")


def identify(text: str, unit: str = "") -> Named | None:
    """What the name of a series says, in whatever system's form it is."""
    if text.startswith("\\"):
        return of_path(text)
    for of in (of_zabbix, of_expression, of_pcp):
        found = of(text)
        if found is not None:
            return found
    if _KEY.search(text) is not None:
        return None
    return of_legend(text, unit)


_PCP: dict[str, tuple[Key, float]] = {
    "read": (Q.READS, 1.0),
    "write": (Q.WRITES, 1.0),
    "total": (Q.IOS, 1.0),
    "read_bytes": (Q.READ_BYTES, KIB),
    "write_bytes": (Q.WRITE_BYTES, KIB),
    "total_bytes": (Q.BYTES, KIB),
    "blkread": (Q.READ_BYTES, 512.0),
    "blkwrite": (Q.WRITE_BYTES, 512.0),
    "r_await": (Q.R_AWAIT, 1.0),
    "w_await": (Q.W_AWAIT, 1.0),
    "await": (Q.AWAIT, 1.0),
    "avg_qlen": (Q.QUEUE, 1.0),
    "avgqu_sz": (Q.QUEUE, 1.0),
    "util": (Q.UTIL, 1.0),
    "avactive": (Q.UTIL, 100.0),
    "aveq": (Q.QUEUE, 1.0),
    "r_avg_rqsz": (Q.READ_SIZE, KIB),
    "w_avg_rqsz": (Q.WRITE_SIZE, KIB),
    "avg_rqsz": (Q.SIZE, KIB),
    "discard": (Q.DISCARDS, 1.0),
    "discard_bytes": (Q.DISCARD_BYTES, KIB),
    "flush": (Q.FLUSHES, 1.0),
}
_PCP_NAME = re.compile(
    r"(?:([\w.-]+):)?(hinv|disk)\.(dev|all|dm|md|partitions)\.(\w+)(?:-(.*)|\[\"?([^\]\"]*)\"?\])?"
)
_PCP_UNITS = {
    "byte": 1.0, "kbyte": KIB, "mbyte": MIB, "kib": KIB, "mib": MIB, "b": 1.0, "kb": KIB,
    "mb": MIB, "bytes": 1.0,
}  # fmt: skip


def of_pcp(text: str, unit: str = "") -> Named | None:
    """A metric of pcp with its instance: `disk.dev.read_bytes-sda`, `disk.dev.read["sda"]`."""
    found = _PCP_NAME.match(text.strip().strip('"'))
    if found is None or found[2] != "disk":
        return None
    host, _, domain, metric, dashed, bracketed = found.groups()
    sense = _PCP.get(metric)
    if sense is None:
        return None
    device = (dashed or bracketed or "").strip().strip('"')
    behind = re.search(r"\s+([kKmM]?i?[bB](?:yte)?s?)\s*/\s*s(?:ec)?$", device)
    if behind:
        device, unit = device[: behind.start()], behind[1]
    key, scale = sense
    if scale == KIB and unit:
        scale = _PCP_UNITS.get(re.sub(r"\s*/.*", "", unit).lower(), scale)
    return Named(device or ("all" if domain == "all" else None), key, scale, host)
