"""Pictures of single I/Os: each from its call to its completion, and what each component did."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

from raidlab.devices.printable import label, printable
from raidlab.scenarios.report.chart import Figure, chart, draw_bars
from raidlab.scenarios.report.look import PARTS, part_marker
from raidlab.scenarios.report.tables import Cell, Column, Kind, Table
from raidlab.scenarios.results.io_lanes import WAITS, in_path_order
from raidlab.scenarios.results.number_text import part_name
from raidlab.scenarios.results.row import IoRow
from raidlab.scenarios.spec.component_name import drive_name
from raidlab.scenarios.spec.run_result import Stage

DRAWN = 200
"""I/Os that a picture has at most."""
_BARS = 1200
"""Bars that it has at most."""
_LINE = 24
"""Letters of a component's name in one line."""


def drawn(ios: Sequence[IoRow]) -> list[IoRow]:
    """The first I/Os of the last run, as many as a picture has room for."""
    last = ios[-1]
    key = (last["point"], last["replication"])
    own = [io for io in ios if (io["point"], io["replication"]) == key][:DRAWN]
    while len(own) > 1 and sum(len(io["stages"]) for io in own) > _BARS:
        own = own[: len(own) * 3 // 4]
    return own


def most_of_the_time(ios: Sequence[IoRow]) -> str:
    """What the I/Os spend most of their time on, as a title."""
    times = _times(ios)
    part = max(times, key=lambda each: times[each])
    share = 100 * times[part] / sum(times.values())
    name = part_name(part)
    how = name if name.startswith("waiting") else f"on {name}"
    return f"Single I/Os spend most of their time {how} ({share:.0f} %)"


def most_of_the_work(ios: Sequence[IoRow]) -> str:
    """Which component has most of the work, as a title."""
    worked: dict[str, int] = {}
    for io in ios:
        for stage in io["stages"]:
            if stage["stage"] not in WAITS:
                length = stage["end_ns"] - stage["begin_ns"]
                worked[stage["component"]] = worked.get(stage["component"], 0) + length
    busiest = max(worked, key=lambda each: worked[each])
    busiest = short_names(ios)[busiest]
    return f"Of all components {busiest} works the longest for them"


def table(ios: Sequence[IoRow]) -> Table:
    """A line for each I/O: what it was, its latency and the longest part of it."""
    rows: list[list[Cell]] = []
    for number, io in enumerate(ios, 1):
        times = _times([io])
        part = max(times, key=lambda each: times[each], default="")
        latency = io["latency_ns"] / 1e6
        share = 100 * times[part] / io["latency_ns"] if part else None
        issued = io["issued_ns"] / 1e6
        rows.append([number, io["op"], io["offset"], io["bytes"], issued, latency,
                     part_name(part), share])  # fmt: skip
    columns = [
        Column("I/O"),
        Column("direction", kind=Kind.TEXT),
        Column("offset,", "B", priority=5),
        Column("size,", "B", priority=4),
        Column("issued,", "ms"),
        Column("latency,", "ms"),
        Column("longest part", kind=Kind.TEXT),
        Column("its share,", "%"),
    ]
    return Table("", columns, rows)


def work_table(ios: Sequence[IoRow]) -> Table:
    """A line for each component: how often and how long it worked for these I/Os."""
    short = short_names(ios)
    counts: dict[tuple[str, str], list[float]] = {}
    for io in ios:
        for stage in io["stages"]:
            if stage["stage"] not in WAITS:
                sums = counts.setdefault((stage["kind"], short[stage["component"]]), [0, 0.0])
                sums[0] += 1
                sums[1] += (stage["end_ns"] - stage["begin_ns"]) / 1e6
    names = in_path_order(counts)
    rows: list[list[Cell]] = [[each[1], int(counts[each][0]), counts[each][1]] for each in names]
    columns = [Column("component", kind=Kind.TEXT), Column("stages"), Column("work,", "ms")]
    return Table("", columns, rows)


def _times(ios: Sequence[IoRow]) -> dict[str, int]:
    """Nanoseconds by part, on the critical paths."""
    times: dict[str, int] = {}
    for io in ios:
        for stage in io["stages"]:
            if stage["critical"]:
                length = stage["end_ns"] - stage["begin_ns"]
                times[stage["stage"]] = times.get(stage["stage"], 0) + length
    return times


def short_names(ios: Sequence[IoRow]) -> dict[str, str]:
    """What each component is called where room is scarce: `drive 2` for `data/generic-hdd.2`."""
    names = {stage["component"] for io in ios for stage in io["stages"]}
    drives = {name: drive for name in names if (drive := drive_name(name)) is not None}
    alike = len({(drive.array, drive.model) for drive in drives.values()}) == 1

    def short(name: str) -> str:
        drive = drives.get(name)
        if drive is None or not alike:
            return name
        return f"drive {drive.number}{drive.part and ' '}{drive.part}"

    return {name: printable(short(name)) for name in names}


def lives(ios: Sequence[IoRow]) -> Figure:
    """A row for each I/O: the stages of its critical path over time."""
    short = short_names(ios)
    bars = [
        (stage["stage"], stage, row, short[stage["component"]])
        for row, io in enumerate(ios, 1)
        for stage in io["stages"]
        if stage["critical"]
    ]
    figure = _gantt(ios, bars, "I/O %{y}, %{text}, ")
    rows = len(ios)
    figure.update_layout(height=max(320, min(900, 130 + 9 * rows)))
    step = next(each for each in (1, 2, 5, 10, 20) if rows / each <= 12 or each == 20)
    ticks = list(range(step, rows + 1, step))
    figure.update_yaxes(title_text="I/O", range=[rows + 0.6, 0.4], tickvals=ticks)
    return figure


def work(ios: Sequence[IoRow]) -> Figure:
    """A row for each component: what it worked on, and for which I/O."""
    short = short_names(ios)
    bars = [
        (stage["stage"], stage, label(short[stage["component"]]), row)
        for row, io in enumerate(ios, 1)
        for stage in io["stages"]
        if stage["stage"] not in WAITS
    ]
    figure = _gantt(ios, bars, "%{y}, I/O %{text}, ")
    names = in_path_order(
        (stage["kind"], label(short[stage["component"]])) for _, stage, _, _ in bars
    )
    lanes = [name for _, name in names]
    # On a telephone a long name in one line would leave no room for the picture.
    words = ["<br>".join(textwrap.wrap(name, _LINE, break_long_words=False)) for name in lanes]
    each = 26 if words == lanes else 36
    figure.update_layout(height=max(260, 130 + each * len(lanes)))
    figure.update_yaxes(
        type="category",
        categoryorder="array",
        categoryarray=lanes,
        tickvals=lanes,
        ticktext=words,
        autorange="reversed",
        showgrid=False,
    )
    return figure


def _gantt(
    ios: Sequence[IoRow], bars: Sequence[tuple[str, Stage, Any, str | int]], subject: str
) -> Figure:
    """Bars over time by part: part, stage, row, and what else is said of it."""
    begin = min(io["issued_ns"] for io in ios)
    end = max(io["issued_ns"] + io["latency_ns"] for io in ios)
    scale, unit = (1e6, "ms") if end - begin >= 2_000_000 else (1e3, "us")
    figure = chart()
    for part in PARTS:
        own = [bar for bar in bars if bar[0] == part]
        if not own:
            continue
        draw_bars(
            figure,
            part_name(part),
            [(stage["end_ns"] - stage["begin_ns"]) / scale for _, stage, _, _ in own],
            [row for _, _, row, _ in own],
            hover=(
                subject
                + part_name(part)
                + ": %{x:.4~g} "
                + unit
                + " from %{base:.6~g} "
                + unit
                + "<extra></extra>"
            ),
            orientation="h",
            base=[(stage["begin_ns"] - begin) / scale for _, stage, _, _ in own],
            text=[more if isinstance(more, int) else label(more) for *_, more in own],
            textposition="none",
            width=0.8,
            marker=part_marker(part),
        )
    figure.update_layout(
        barmode="overlay", showlegend=True, margin_t=84, meta={"zoom": True},
        dragmode="zoom",
    )  # fmt: skip
    figure.update_xaxes(
        title_text=f"time from the first call, {unit}",
        range=[0, (end - begin) / scale],
        tickformat=",~f",
    )
    return figure
