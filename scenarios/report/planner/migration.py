"""What moving data to a new system takes: a sentence and a table."""

from __future__ import annotations

from raidlab.scenarios.capacity.migration import Migration
from raidlab.scenarios.report.tables import Cell, Column, Kind, Table
from raidlab.scenarios.results.number_text import figure, hours_text, percent


def moving(found: Migration) -> str:
    """How long it takes, what users feel, and the gentlest of the throttled rates."""
    full, gentle = found.copies[0], found.copies[-1]
    size = figure(found.moves, "B")
    text = f"Moving {size} takes {hours_text(full.hours)} at {figure(full.bytes_per_s, 'B/s')}"
    if found.limited_by_new:
        text += ", as fast as the new system takes them"
    if full.p99_us is not None and found.p99_us_before is not None:
        before = figure(found.p99_us_before, "us")
        text += f"; meanwhile p99 on {found.present} is {figure(full.p99_us, 'us')}, not {before}"
    if gentle.p99_us is not None and gentle is not full:
        text += (
            f". Throttled to {percent(gentle.part)} it takes {hours_text(gentle.hours)}, with a p99"
            f" of {figure(gentle.p99_us, 'us')}"
        )
    return text + "."


def copies(found: Migration) -> Table:
    """Each rate of the copier, and what users of the present system feel."""
    columns = [
        Column("copier", kind=Kind.TEXT),
        Column("MB/s"),
        Column("hours"),
        Column("users' p99", "ms"),
        Column("users' IO/s", priority=3),
    ]
    before = found.p99_us_before
    rows: list[list[Cell]] = [
        ["none", None, None, None if before is None else before / 1e3, found.iops_before]
    ]
    for each in found.copies:
        name = "full rate" if each.part == 1 else percent(each.part)
        p99 = None if each.p99_us is None else each.p99_us / 1e3
        rows.append([name, each.bytes_per_s / 1e6, each.hours, p99, each.iops])
    size = figure(found.moves, "B")
    note = (
        "Four reads of 1 MiB in order at a time; what users write meanwhile goes to both systems."
        f" The new system takes {figure(found.takes, 'B/s')}."
    )
    return Table(f"Moving {size} from {found.present}", columns, rows, note=note)
