"""What other tools of Linux print of the known load: collectl, nmon, pcp, dstat, counters."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

from tests.calibration.monitoring.printed import Printed
from tests.calibration.monitoring.truth import (
    ALL,
    BOOT,
    BYTES,
    COUNT,
    KIB,
    LOAD,
    QUEUE,
    SIZES,
    SPLIT,
    START,
    SUM,
    WAIT,
    WAITS,
    Sample,
    times,
)

RATES = SPLIT | BYTES | SIZES | SUM


TOTAL = {"sda": "all"}


def _collectl_row(name: str, s: Sample, *, waits: bool) -> str:
    read = [s.read_kibs, 0, s.reads, s.read_kib] + ([s.r_ms] if waits else [])
    write = [s.write_kibs, 0, s.writes, s.write_kib] + ([s.w_ms] if waits else [])
    rest = [s.size_kib, s.queue, s.wait_ms, 1, s.busy]
    return f"{name:<10} " + " ".join(f"{value:6.0f}" for value in [*read, *write, *rest])


def collectl(*, waits: bool = True, clock: Callable[[datetime], str] | None = None) -> str:
    """`collectl -sD`, `-oT` or `-oD` with a clock."""
    wait = "  Wait" if waits else ""
    named = "Time     Name" if clock else "Name"
    heading = [
        "# DISK STATISTICS (/sec)",
        f"#          <{'reads':->15}---------------><{'writes':->15}-----><----averages----> Pct",
        f"#{named}       KBytes Merged  IOs Size{wait}  KBytes Merged  IOs Size{wait}"
        "  RWSize  QLen  Wait SvcTim Util",
    ]
    lines = ["waiting for 10 second sample...", ""]
    for at, moment in enumerate(times(10)):
        lines += heading if at % 3 == 0 else []
        for disk, samples in LOAD.items():
            before = f"{clock(moment)} " if clock else ""
            lines.append(before + _collectl_row(disk, samples[at], waits=waits))
    return "\n".join(lines) + "\n"


def _sums(at: int) -> tuple[float, float, float, float]:
    """Reads, writes and their KiB a second, of one disk: the sum has but one here."""
    s = LOAD["sda"][at]
    return s.reads, s.writes, s.read_kibs, s.write_kibs


def collectl_brief(*, others: bool = False) -> str:
    """`collectl -sd -oT`: sums of all disks, alone or beside other subsystems."""
    lines = ["waiting for 10 second sample..."]
    if others:
        lines += [
            "#         <--------CPU--------><----------Disks----------->"
            "<----------Network---------->",
            "#Time     cpu sys inter  ctxsw KBRead  Reads KBWrit Writes"
            "   KBIn  PktIn  KBOut  PktOut ",
        ]
    else:
        lines += [
            "#         <----------Disks----------->",
            "#Time     KBRead  Reads KBWrit Writes ",
        ]
    for at, moment in enumerate(times(10)):
        reads, writes, read, write = _sums(at)
        row = f"{read:6.0f} {reads:6.0f} {write:6.0f} {writes:6.0f}"
        cpu, net = ("  1   0   512   1024 ", "     12     40     30     44") if others else ("", "")
        lines.append(f"{moment:%H:%M:%S} {cpu}{row}{net}")
    return "\n".join(lines) + "\n"


def collectl_verbose() -> str:
    """`collectl -sd --verbose`."""
    lines = ["waiting for 10 second sample...", ""]
    for at, moment in enumerate(times(10)):
        s = LOAD["sda"][at]
        lines += [
            f"### RECORD    {at + 1} >>> host1 <<< ({moment.timestamp():.3f}) (x) ###",
            "",
            "# DISK SUMMARY (/sec)",
            "#KBRead RMerged  Reads SizeKB  KBWrit WMerged Writes SizeKB",
            f"{s.read_kibs:7.0f} 0 {s.reads:6.0f} {s.read_kib:6.0f} {s.write_kibs:7.0f} 0"
            f" {s.writes:6.0f} {s.write_kib:6.0f}",
        ]
    return "\n".join(lines) + "\n"


def collectl_plot(separator: str = " ") -> str:
    """`collectl -sD -P`."""
    parts = [
        "Name",
        "Reads",
        "RMerge",
        "RKBytes",
        "RWaits",
        "Writes",
        "WMerge",
        "WKBytes",
        "WWaits",
        "Request",
        "QueLen",
        "Wait",
        "SvcTim",
        "Util",
    ]
    names = [f"[DSK:{disk}]{part}" for disk in LOAD for part in parts]
    lines = [
        "# Collectl:   V4.3.1-1  HiRes: 1  Options: -sD -P -i 10",
        "# Host:       host1",
        "#" + separator.join(["Date", "Time", *names]),
    ]
    for at, moment in enumerate(times(10)):
        cells = [f"{moment:%Y%m%d}", f"{moment:%H:%M:%S}"]
        for disk, samples in LOAD.items():
            s = samples[at]
            row = [
                s.reads,
                0,
                s.read_kibs,
                s.r_ms,
                s.writes,
                0,
                s.write_kibs,
                s.w_ms,
                s.size_kib,
                s.queue,
                s.wait_ms,
                1,
                s.busy,
            ]
            cells += [disk, *(f"{value:.2f}" for value in row)]
        lines.append(separator.join(cells))
    return "\n".join(lines) + "\n"


def nmon(*, serv: bool = False) -> str:
    """An nmon file of Linux; newer ones have transfers and times of reads and writes."""
    sections: dict[str, Callable[[Sample], float]] = {
        "DISKBUSY": lambda s: s.busy,
        "DISKREAD": lambda s: s.read_kibs,
        "DISKWRITE": lambda s: s.write_kibs,
        "DISKXFER": lambda s: s.ios,
        "DISKBSIZE": lambda s: s.size_kib,
    }
    if serv:
        sections |= {
            "DISKRXFER": lambda s: s.reads,
            "DISKREADSERV": lambda s: s.r_ms,
            "DISKWRITESERV": lambda s: s.w_ms,
        }
    lines = ["AAA,progname,nmon", "AAA,host,host1", "AAA,date,14-MAR-2024", "AAA,interval,10"]
    lines += [f"{name},Disk {name} host1,{','.join(LOAD)}" for name in sections]
    for at, moment in enumerate(times(10)):
        lines.append(f"ZZZZ,T{at + 1:04},{moment:%H:%M:%S},14-MAR-2024")
        for name, of in sections.items():
            lines.append(
                f"{name},T{at + 1:04}," + ",".join(f"{of(s[at]):.1f}" for s in LOAD.values())
            )
    return "\n".join(lines) + "\n"


PCP: dict[str, Callable[[Sample], float]] = {
    "read": lambda s: s.reads,
    "write": lambda s: s.writes,
    "read_bytes": lambda s: s.read_kibs,
    "write_bytes": lambda s: s.write_kibs,
    "r_await": lambda s: s.r_ms,
    "w_await": lambda s: s.w_ms,
    "avg_qlen": lambda s: s.queue,
}


def pmrep(*, delimiter: str = ",", zone: bool = False, quoted: bool = True) -> str:
    """`pmrep -o csv`, also with the time zone behind the heading and other delimiters."""
    quote = '"' if quoted else ""
    names = [f"{quote}disk.dev.{metric}-{disk}{quote}" for metric in PCP for disk in LOAD]
    lines = [delimiter.join(["Time", *names])]
    for at, moment in enumerate(times(10)):
        when = moment.strftime("%Y-%m-%d %H:%M:%S") + (" +0000" if zone else "")
        cells = [f"{of(samples[at]):.3f}" for of in PCP.values() for samples in LOAD.values()]
        lines.append(delimiter.join([when, *cells]))
    return "\n".join(lines) + "\n"


def pmval(metric: str = "disk.dev.read") -> str:
    """`pmval`: one metric, a column for each instance."""
    lines = [
        f"metric:    {metric}",
        "host:      host1",
        "semantics: cumulative counter (converting to rate)",
        "units:     count (converting to count / sec)",
        "samples:   all",
        "",
        "                  sda                   sdb",
    ]
    for at, moment in enumerate(times(10)):
        row = "  ".join(f"{samples[at].reads:.3f}" for samples in LOAD.values())
        lines.append(f"{moment:%H:%M:%S}.000  {row}")
    return "\n".join(lines) + "\n"


def pcp_iostat(*, timed: bool = True) -> str:
    """`pcp iostat -t 10`."""
    columns = "rrqm/s wrqm/s r/s w/s rkB/s wkB/s avgrq-sz avgqu-sz await r_await w_await %util"
    lines = [f"# {'Timestamp ' if timed else ''}Device {columns}"]
    for at, moment in enumerate(times(10)):
        for disk, samples in LOAD.items():
            s = samples[at]
            row = [
                0,
                0,
                s.reads,
                s.writes,
                s.read_kibs,
                s.write_kibs,
                s.size_kib,
                s.queue,
                s.wait_ms,
                s.r_ms,
                s.w_ms,
                s.busy,
            ]
            when = f"{moment:%a %b %d %H:%M:%S %Y} " if timed else ""
            lines.append(f"{when}{disk} " + " ".join(f"{value:.2f}" for value in row))
    return "\n".join(lines) + "\n"


def dstat_csv(*, dool: bool = False, each: bool = True) -> str:
    """`dstat -tdr --output`, by disk or of all."""
    disks = list(LOAD) if each else ["total"]
    tool = "dool 1.3.1" if dool else "Dstat 0.7.4"
    lines = [
        f'"{tool} CSV output"',
        '"Author:","X",,,,"URL:","u"',
        '"Host:","host1",,,,"User:","root"',
        '"Cmdline:","dstat -tdr --output x.csv 10",,,,"Date:","14 Mar 2024 10:00:00 UTC"',
        "",
    ]
    groups, names = ['"system"'], ['"time"']
    for kind in ("dsk", "io"):
        for disk in disks:
            groups += [f'"{kind}/{disk}"', ""]
            names += ['"read"', '"writ"']
    lines += [",".join(groups), ",".join(names)]
    for at in range(-1, COUNT):
        moment = START + timedelta(seconds=10 * (at + 1))
        cells = [f"{moment:%d-%m %H:%M:%S}" if not dool else f"{moment:%b-%d %H:%M:%S}"]
        picked = [BOOT if at < 0 else LOAD[d if each else "sda"][at] for d in disks]
        cells += [
            f"{value:.3f}" for s in picked for value in (KIB * s.read_kibs, KIB * s.write_kibs)
        ]
        cells += [f"{value:.3f}" for s in picked for value in (s.reads, s.writes)]
        lines.append(",".join(cells))
    return "\n".join(lines) + "\n"


def dstat_text() -> str:
    """What `dstat -tdr 10` shows on its terminal: three or four digits with a unit."""

    def short(value: float) -> str:
        for unit in ("B", "k", "M"):
            if value < 10_000:
                return f"{value:.0f}{unit}"
            value /= 1024
        return f"{value:.0f}G"

    lines = ["----system---- -dsk/total- --io/total-", "     time     | read  writ| read  writ"]
    for at in range(-1, COUNT):
        s = BOOT if at < 0 else LOAD["sda"][at]
        moment = START + timedelta(seconds=10 * (at + 1))
        lines.append(
            f"{moment:%d-%m %H:%M:%S}|{short(KIB * s.read_kibs)} {short(KIB * s.write_kibs)}"
            f"|{s.reads:.1f}  {s.writes:.1f}"
        )
    return "\n".join(lines) + "\n"


def counters(dt: float = 10) -> list[tuple[datetime, dict[str, list[int]]]]:
    """Fields of /proc/diskstats of each disk before the load and behind each sample."""
    totals = {disk: [1000.0, 0, 80_000, 4000, 900, 0, 70_000, 3000, 0, 6000, 7000] for disk in LOAD}
    found = [(START, {disk: [round(v) for v in row] for disk, row in totals.items()})]
    for at, moment in enumerate(times(dt)):
        for disk, samples in LOAD.items():
            s, row = samples[at], totals[disk]
            row[0] += dt * s.reads
            row[2] += dt * s.read_kibs * 2
            row[3] += dt * s.reads * s.r_ms
            row[4] += dt * s.writes
            row[6] += dt * s.write_kibs * 2
            row[7] += dt * s.writes * s.w_ms
            row[9] += dt * 10 * s.busy
            row[10] += dt * 1000 * s.queue
        found.append((moment, {disk: [round(v) for v in row] for disk, row in totals.items()}))
    return found


def diskstats(clock: Callable[[datetime], str], more: int = 0) -> str:
    """Snapshots with times in between; `more` fields of newer kernels."""
    lines = []
    for moment, disks in counters():
        lines.append(clock(moment))
        for at, (disk, row) in enumerate(disks.items()):
            numbers = " ".join(map(str, [*row, *[0] * more]))
            lines.append(f"   8      {16 * at} {disk} {numbers}")
            lines.append(f"   8      {16 * at + 1} {disk}1 {numbers}")
    return "\n".join(lines) + "\n"


NODE = (
    ("reads_completed_total", 0, 1.0),
    ("read_bytes_total", 2, 512.0),
    ("read_time_seconds_total", 3, 1e-3),
    ("writes_completed_total", 4, 1.0),
    ("written_bytes_total", 6, 512.0),
    ("write_time_seconds_total", 7, 1e-3),
    ("io_time_seconds_total", 9, 1e-3),
    ("io_time_weighted_seconds_total", 10, 1e-3),
)


def scrapes(*, stamps: bool = False) -> str:
    """node_exporter, two scrapes and more; with `stamps` each sample has its time."""
    lines = []
    for moment, disks in counters(15):
        lines += [] if stamps else [f"# {moment:%Y-%m-%dT%H:%M:%SZ}"]
        for name, field, scale in NODE:
            lines += [f"# HELP node_disk_{name} x", f"# TYPE node_disk_{name} counter"]
            for disk, row in disks.items():
                time = f" {int(moment.timestamp() * 1000)}" if stamps else ""
                lines.append(f'node_disk_{name}{{device="{disk}"}} {row[field] * scale:.9g}{time}')
    return "\n".join(lines) + "\n"


_TEN = {"interval_s": 10}


_COARSE = {"tolerance": 0.2}


LINUX: list[Printed] = [
    Printed("collectl-sD", collectl(), "collectl", RATES, facts=_TEN),
    Printed("collectl-old", collectl(waits=False), "collectl", RATES, facts=_TEN),
    Printed(
        "collectl-oT",
        collectl(clock=lambda t: f"{t:%H:%M:%S}"),
        "collectl",
        RATES | WAITS,
        facts=_TEN,
    ),
    Printed(
        "collectl-oDm",
        collectl(clock=lambda t: f"{t:%Y%m%d %H:%M:%S}.003"),
        "collectl",
        RATES | WAITS,
        facts=_TEN | {"start": "2024-03-14T10:00:10"},
    ),
    Printed("collectl-brief", collectl_brief(), "collectl", RATES, TOTAL, _TEN),
    Printed("collectl-brief-others", collectl_brief(others=True), "collectl", RATES, TOTAL, _TEN),
    Printed("collectl-verbose", collectl_verbose(), "collectl", RATES, TOTAL, _TEN),
    Printed(
        "collectl-plot",
        collectl_plot(),
        "collectl",
        ALL,
        facts=_TEN | {"host": "host1", "start": "2024-03-14T10:00:10"},
    ),
    Printed("collectl-plot-csv", collectl_plot(","), "collectl", ALL, facts=_TEN, suffix=".csv"),
    Printed("nmon", nmon(), "nmon", SUM | BYTES, facts=_TEN | {"host": "host1"}, suffix=".nmon"),
    Printed(
        "nmon-serv",
        nmon(serv=True),
        "nmon",
        SUM | BYTES | SPLIT | WAITS,
        facts=_TEN,
        suffix=".nmon",
    ),
    Printed("pmrep", pmrep(), "pcp", RATES | WAITS | WAIT | QUEUE, facts=_TEN, suffix=".csv"),
    Printed("pmrep-semicolon", pmrep(delimiter=";"), "pcp", RATES | WAITS, suffix=".csv"),
    Printed(
        "pmrep-zone",
        pmrep(zone=True),
        "pcp",
        RATES,
        suffix=".csv",
        facts={"start": "2024-03-14T10:00:10Z"},
    ),
    Printed("pmrep-bare", pmrep(quoted=False), "pcp", RATES, suffix=".csv"),
    Printed("pmval", pmval(), "pcp", frozenset({"read_iops_mean"}), facts=_TEN),
    Printed("pcp-iostat", pcp_iostat(), "pcp", ALL, facts=_TEN),
    Printed("pcp-iostat-untimed", pcp_iostat(timed=False), "pcp", ALL),
    Printed(
        "dstat-csv",
        dstat_csv(),
        "dstat",
        RATES,
        facts=_TEN | {"since_boot_dropped": True},
        suffix=".csv",
    ),
    Printed("dool-csv", dstat_csv(dool=True), "dstat", RATES, facts=_TEN, suffix=".csv"),
    Printed(
        "dstat-total",
        dstat_csv(each=False),
        "dstat",
        RATES,
        {"sda": "total"},
        _TEN,
        suffix=".csv",
    ),
    Printed("dstat-text", dstat_text(), "dstat", SPLIT, {"sda": "total"}, _TEN, **_COARSE),
    Printed(
        "diskstats-epoch",
        diskstats(lambda t: str(int(t.timestamp()))),
        "diskstats",
        facts=_TEN | {"default_devices": ["sda", "sdb"]},
    ),
    Printed(
        "diskstats-date",
        diskstats(lambda t: t.strftime("%a %b %d %H:%M:%S UTC %Y"), 6),
        "diskstats",
        facts=_TEN,
    ),
    Printed(
        "diskstats-nanoseconds",
        diskstats(lambda t: f"{int(t.timestamp())}000000000", 4),
        "diskstats",
        facts=_TEN,
    ),
    Printed(
        "diskstats-zzz",
        diskstats(lambda t: f"zzz ***{t:%a %b %d %H:%M:%S UTC %Y}", 6),
        "diskstats",
        facts=_TEN,
    ),
    Printed("scrapes", scrapes(), "node-exporter", facts={"interval_s": 15}),
    Printed("scrapes-stamped", scrapes(stamps=True), "node-exporter", facts={"interval_s": 15}),
]
"""Every form."""
