"""A run over time as monitoring tools would show it: iostat's table, CSV, OpenMetrics.

Each report is a step of the timeline (`run.timeline_step`). The queue is rate x latency (Little's
law). Where a load both reads and writes, the timeline has one latency for both: then the table has
`await` alone, and its requests are split as those of the whole run.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from raidlab.devices.faults import Fault, SpecError
from raidlab.scenarios.results.result import Result

if TYPE_CHECKING:
    from raidlab.scenarios.results.rows import Row

_FIRST_TIME = datetime(2000, 1, 1, tzinfo=UTC)
"""When a simulated run begins: its own clock says none."""
_KIB = 1024.0


@dataclass(frozen=True)
class Report:
    """What a target did in a step."""

    at_s: float
    """End of the step."""
    reads: float
    """A second; so are writes and bytes."""
    writes: float
    read_bytes: float
    write_bytes: float
    r_await_ms: float | None
    """None where the timeline does not part reads from writes."""
    w_await_ms: float | None
    await_ms: float

    @property
    def queue(self) -> float:
        """Mean requests in flight."""
        return (self.reads + self.writes) * self.await_ms / 1000


@dataclass(frozen=True)
class _Load:
    """A load in a step."""

    ios: float
    read_share: float
    read_size: float
    write_size: float
    latency_ms: float


def reports(result: Result) -> dict[str, list[Report]]:
    """Each target's reports.

    Raises:
        SpecError: The result is not that of a single run.
    """
    from raidlab.scenarios.results.rows import typed

    by_target: dict[str, list[Row]] = {}
    for row in typed(result.results):
        by_target.setdefault(row.target, []).append(row)
    faults = [
        Fault(
            "outstanding",
            f"{len(rows)} rows",
            f"a single run: {name} has one row a load; give each load one depth, such as"
            " outstanding = 16, and no replications",
        )
        for name, rows in by_target.items()
        if len({row.workload for row in rows}) != len(rows)
        or any(row.replications > 1 for row in rows)
    ]
    if faults:
        raise SpecError(faults)
    return {name: list(_of_target(rows)) for name, rows in by_target.items()}


def _of_target(rows: Sequence[Row]) -> Iterator[Report]:
    times = max((row.timeline.t_s for row in rows), key=len)
    shares = [_shares(row) for row in rows]
    for step, at in enumerate(times):
        loads = [
            _Load(row.timeline.iops[step], *share, (row.timeline.latency_us[step] or 0.0) / 1000)
            for row, share in zip(rows, shares, strict=True)
            if step < len(row.timeline.iops)
        ]
        yield _report(at, loads)


def _shares(row: Row) -> tuple[float, float, float]:
    """Of a load: its share of reads, and the sizes of reads and of writes."""
    total = row.read.iops + row.write.iops
    sizes = [
        side.mib_per_s * _KIB * _KIB / side.iops if side.iops else 0.0
        for side in (row.read, row.write)
    ]
    return (row.read.iops / total if total else 0.0), sizes[0], sizes[1]


def _report(at: float, loads: Sequence[_Load]) -> Report:
    reads = sum(load.ios * load.read_share for load in loads)
    writes = sum(load.ios * (1 - load.read_share) for load in loads)
    inside = sum(load.ios * load.latency_ms for load in loads)
    parted = all(load.read_share in (0.0, 1.0) for load in loads)

    def wait(of: float, count: float) -> float | None:
        if not parted:
            return None
        total = sum(load.ios * load.latency_ms for load in loads if load.read_share == of)
        return total / count if count else 0.0

    return Report(
        at,
        reads,
        writes,
        sum(load.ios * load.read_share * load.read_size for load in loads),
        sum(load.ios * (1 - load.read_share) * load.write_size for load in loads),
        wait(1.0, reads),
        wait(0.0, writes),
        inside / (reads + writes) if reads + writes else 0.0,
    )


def _stamp(at_s: float) -> str:
    moment = _FIRST_TIME + timedelta(seconds=round(at_s, 3))
    text = moment.strftime("%Y-%m-%dT%H:%M:%S")
    milliseconds = f".{moment.microsecond // 1000:03d}" if moment.microsecond else ""
    return f"{text}{milliseconds}+0000"


def iostat(result: Result) -> str:
    """The run as `iostat -xtky` would print it, targets as devices.

    Raises:
        SpecError: The result is not that of a single run.
    """
    found = reports(result)
    parted = all(each.r_await_ms is not None for every in found.values() for each in every)
    waits = " r_await w_await" if parted else ""
    heading = (
        f"{'Device':<13}      r/s       w/s      rkB/s      wkB/s {'await':>9}{waits}"
        " rareq-sz wareq-sz    aqu-sz"
    )
    title = result.title.replace("(", "").replace(")", "").replace(" ", "-") or "run"
    lines = [f"Linux {result.version}-raidlab ({title})  2000-01-01  _raidlab_  (1 CPU)", ""]
    steps = max(map(len, found.values()), default=0)
    for step in range(steps):
        at = next(every[step].at_s for every in found.values() if step < len(every))
        lines += [_stamp(at), heading]
        lines += [_line(name, every[step]) for name, every in found.items() if step < len(every)]
        lines.append("")
    return "\n".join(lines)


def _line(name: str, each: Report) -> str:
    waits = ""
    if each.r_await_ms is not None and each.w_await_ms is not None:
        waits = f" {each.r_await_ms:7.3f} {each.w_await_ms:7.3f}"
    sizes = [
        total / count / _KIB if count else 0.0
        for total, count in ((each.read_bytes, each.reads), (each.write_bytes, each.writes))
    ]
    return (
        f"{name:<13} {each.reads:8.2f}  {each.writes:8.2f} {each.read_bytes / _KIB:10.2f}"
        f" {each.write_bytes / _KIB:10.2f} {each.await_ms:9.3f}{waits}"
        f" {sizes[0]:8.2f} {sizes[1]:8.2f} {each.queue:9.3f}"
    )


_COLUMNS = ("t_s", "target", "read_iops", "write_iops", "read_bytes_per_s", "write_bytes_per_s",
            "await_ms", "r_await_ms", "w_await_ms", "aqu_sz")  # fmt: skip


def timeline_csv(result: Result) -> str:
    """The run over time as CSV: a row a step and target.

    Raises:
        SpecError: The result is not that of a single run.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for name, every in reports(result).items():
        for each in every:
            cells = (each.at_s, each.reads, each.writes, each.read_bytes, each.write_bytes,
                     each.await_ms, each.r_await_ms, each.w_await_ms, each.queue)  # fmt: skip
            first, *rest = ("" if cell is None else f"{cell:.6g}" for cell in cells)
            writer.writerow([first, name, *rest])
    return text.getvalue()


_COUNTERS: Mapping[str, str] = {
    "reads_completed": "Reads completed.",
    "writes_completed": "Writes completed.",
    "read_bytes": "Bytes read.",
    "written_bytes": "Bytes written.",
    "io_time_weighted_seconds": "Seconds times requests in flight.",
}


def open_metrics(result: Result) -> str:
    """The run over time as OpenMetrics: node_exporter's counters of disks, with times.

    Raises:
        SpecError: The result is not that of a single run.
    """
    found = reports(result)
    lines: list[str] = []
    for counter, what in _COUNTERS.items():
        lines += [f"# TYPE node_disk_{counter} counter", f"# HELP node_disk_{counter} {what}"]
        for name, every in found.items():
            total, last = 0.0, 0.0
            start = _FIRST_TIME.timestamp()
            lines.append(f'node_disk_{counter}_total{{device="{name}"}} 0 {start:.3f}')
            for each in every:
                total += _rate(each, counter) * (each.at_s - last)
                last = each.at_s
                text = f'node_disk_{counter}_total{{device="{name}"}} {total:.6f}'
                lines.append(f"{text} {start + each.at_s:.3f}")
    return "\n".join([*lines, "# EOF", ""])


def _rate(each: Report, counter: str) -> float:
    return {
        "reads_completed": each.reads,
        "writes_completed": each.writes,
        "read_bytes": each.read_bytes,
        "written_bytes": each.write_bytes,
        "io_time_weighted_seconds": each.queue,
    }[counter]
