"""How much of the I/Os and of the time met each goal, as a table."""

from __future__ import annotations

from typing import Any

from raidlab.scenarios.report.tables import Column, Kind, Table
from raidlab.scenarios.results.result import Result


def goal_table(result: Result) -> Table | None:
    """What each goal found; None without goals."""
    if not result.goals:
        return None
    rows: list[list[Any]] = []
    for found in result.goals:
        value = found["value"]
        scale, unit = (1e3, "ms") if found["unit"] == "us" else (1.0, found["unit"])
        if found["unit"] == "B/s":
            scale, unit = 1e6, "MB/s"
        rows.append(
            [
                found["goal"],
                found["workload"],
                found["outstanding"] or "open",
                "yes" if found["holds"] else "no",
                None if value is None else value / scale,
                unit,
                None if found["ios_within"] is None else 100 * found["ios_within"],
                None if found["time_within"] is None else 100 * found["time_within"],
            ]
        )
    columns = [
        Column("goal", kind=Kind.TEXT, width=12),
        Column("workload", kind=Kind.TEXT, priority=2),
        Column("queue depth", priority=2),
        Column("met", kind=Kind.TEXT, width=3),
        Column("value"),
        Column("unit", kind=Kind.TEXT, width=4),
        Column("I/Os within,", "%"),
        Column("time within,", "%"),
    ]
    return Table("Goals", columns, rows)
