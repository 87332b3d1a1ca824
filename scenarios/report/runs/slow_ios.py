"""The slowest I/Os: what each of them waited for."""

from __future__ import annotations

from collections.abc import Sequence

from raidlab.devices.printable import label
from raidlab.scenarios.report.chart import Figure, chart, draw_bars
from raidlab.scenarios.report.look import PARTS, part_marker
from raidlab.scenarios.report.tables import Column, Kind, Table
from raidlab.scenarios.results.number_text import part_name
from raidlab.scenarios.results.row import Row
from raidlab.scenarios.results.slow_cause import CAUSES, cause
from raidlab.scenarios.spec.run_result import SlowIo

DRAWN = 100
"""Bars that a picture has at most."""
_LITTLE_SHARE = 0.02
"""Share of every bar below which a part joins the others."""


def table(rows: Sequence[Row], most: int) -> Table | None:
    """The `most` slowest I/Os of all rows; None if none were recorded."""
    found = [(slow, row) for row in rows for slow in row.get("slowest") or ()]
    if not found or not most:
        return None
    found.sort(key=lambda each: -each[0]["latency_us"])
    columns = [
        Column("latency", "ms"),
        Column("direction", kind=Kind.TEXT, priority=3, width=5),
        Column("workload", kind=Kind.TEXT, priority=4),
        Column("queue depth", priority=3),
        Column("issued", "s", priority=2),
        Column("drive", kind=Kind.TEXT, priority=2, width=12),
        Column("waited for", kind=Kind.PROSE, width=30),
    ]
    lines = [
        [slow["latency_us"] / 1e3, slow["op"], row["workload"], row["outstanding"] or "open",
         f"{slow['issued_ns'] / 1e9:.6g}", slow["drive"], cause(slow)]
        for slow, row in found[:most]
    ]  # fmt: skip
    return Table("The slowest I/Os", columns, lines)


def figure(row: Row) -> Figure:
    """A bar for each of a row's slowest I/Os, of its parts; small ones of all bars are one."""
    slowest = row["slowest"][:DRAWN]
    ranks = list(range(1, len(slowest) + 1))
    causes = [label(cause(slow)) for slow in slowest]
    drawn = chart(height=360)
    for name, parts in _groups(slowest):
        values = [
            sum(slow["breakdown_us"].get(part, 0.0) for part in parts) / 1e3 for slow in slowest
        ]
        draw_bars(
            drawn,
            part_name(name),
            ranks,
            values,
            hover=("number %{x}: %{text}<br>" + part_name(name) + " %{y:.3~g} ms<extra></extra>"),
            text=causes,
            textposition="none",
            marker=part_marker(name),
        )
    drawn.update_layout(barmode="stack", showlegend=True, margin_t=84, bargap=0.1)
    drawn.update_xaxes(title_text="rank, the slowest first", range=[0.4, len(slowest) + 0.6])
    drawn.update_yaxes(title_text="latency, ms", rangemode="tozero")
    return drawn


def _groups(slowest: Sequence[SlowIo]) -> list[tuple[str, list[str]]]:
    """The parts that are drawn by themselves, and those too small in every bar as `other`."""

    def share(part: str) -> float:
        parts = [(slow["breakdown_us"].get(part, 0.0), slow["latency_us"]) for slow in slowest]
        return max((part / total for part, total in parts if total), default=0.0)

    shares = {part: share(part) for part in PARTS}
    large = [part for part in PARTS if shares[part] >= _LITTLE_SHARE]
    small = [part for part in PARTS if 0 < shares[part] < _LITTLE_SHARE]
    return [(part, [part]) for part in large] + ([("other", small)] if small else [])


def seen(row: Row) -> str:
    """What most of the slowest I/Os waited for, as a title."""
    longest: dict[str, int] = {}
    for slow in row["slowest"]:
        parts = slow["breakdown_us"]
        part = max(parts, key=lambda each: parts[each])
        longest[part] = longest.get(part, 0) + 1
    part = max(longest, key=lambda each: longest[each])
    what = CAUSES.get(part, part_name(part))
    return f"{longest[part]} of the {len(row['slowest'])} slowest I/Os waited longest for {what}"
