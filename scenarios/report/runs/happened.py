"""What happened in a run beside its loads, as tables: events, and the wear of flash drives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from raidlab.scenarios.report.runs.event_summary import logged, whose
from raidlab.scenarios.report.tables import Cell, Column, Kind, Table
from raidlab.scenarios.results.endurance import endurance
from raidlab.scenarios.results.result import Result

_WEAR: Mapping[str, Column] = {
    "outstanding": Column("queue depth"),
    "drives": Column("drives", kind=Kind.TEXT, width=14),
    "host_gb": Column("written by host,", "GB", priority=5),
    "waf": Column("WAF"),
    "rated_tb": Column("rated", "TB", priority=4),
    "drive_writes_per_day": Column("drive writes a day", priority=2),
    "rated_drive_writes_per_day": Column("rated a day", priority=2),
    "life_years": Column("life,", "years"),
    "life_by_cycles_years": Column("life by cycles,", "years", priority=4),
    "temperature_c_max": Column("highest", "degC", priority=3),
    "throttled_s": Column("throttled", "s", priority=6),
}
"""Columns of the table of wear by their keys in `endurance`."""


def wear_table(result: Result) -> Table | None:
    """What the run does to its flash drives; None without any."""
    worn = endurance(result)
    if not worn:
        return None
    rows: list[list[Cell]] = []
    for line in worn:
        cells = cast("Mapping[str, Cell]", line)
        rows.append([cells[key] or "open" if key == "outstanding" else cells[key] for key in _WEAR])
    return Table("Flash: wear and temperature", list(_WEAR.values()), rows)


def events_table(result: Result) -> Table | None:
    """The load from one event to the next; None if there were none."""
    rows = []
    for period in logged(result):
        latency = period.latency_us
        mean, p99 = (
            (None, None) if latency is None else (latency["mean"] / 1e3, latency["p99"] / 1e3)
        )
        rows.append([f"{period.from_s:.6g}", period.what, period.iops, mean, p99])
    if not rows:
        return None
    columns = [
        Column("from", "s"),
        Column("event", kind=Kind.PROSE, width=24),
        Column("IO/s"),
        Column("mean", "ms", priority=2),
        Column("p99", "ms"),
    ]
    return Table(f"Events: {whose(result)}", columns, rows)
