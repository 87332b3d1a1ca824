"""The page of a drive: what a reviewer would draw, beside what its maker states."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from raidlab.devices.classes import class_of, year_of
from raidlab.devices.hdd import HddSpec
from raidlab.scenarios import _engine
from raidlab.scenarios.report.chart import Figure, chart, draw_curve, write_note
from raidlab.scenarios.report.look import (
    BLACK,
    GREY,
    apart,
    depth_axis,
    end_label,
    line,
    log_axis,
)
from raidlab.scenarios.report.page import Box, Evidence, Page, Picture, Text
from raidlab.scenarios.report.report import Report
from raidlab.scenarios.report.tables import Cell, Column, Kind, Table
from raidlab.scenarios.results.diagnostics.statements import may_carry
from raidlab.scenarios.results.number_text import digits, figure, percent
from raidlab.scenarios.results.row import measured, side_of
from raidlab.scenarios.studies.drive import (
    BLOCK,
    HOST,
    MIXED_SHARE,
    SEED,
    STREAM,
    Drive,
    Point,
    Stated,
)

_WITHIN_PCT = 5.0
_TAIL = 1e-4
_NEXT = 0.075
"""Share of a picture's height between two names at least."""
_STEADY_RATIO = 1.1
"""Over the steady rate: what counts as having reached it."""


def report(drive: Drive) -> Report:
    """What is said of a drive: what a reviewer would draw, beside what its maker states."""
    spec = drive.device.spec
    table = stated_table(drive)
    return Report(spec.title or spec.name, answer(drive), [table], page=partial(_page, drive))


def _page(drive: Drive) -> Page:
    spec = drive.device.spec
    about = [class_of(drive.device), str(year_of(drive.device) or "")]
    return Page(
        kind="devices",
        question=f"{spec.title or spec.name}: how fast is it?",
        boxes=_boxes(drive),
        beside=[*_missed(drive), *drive.warnings],
        breaches=drive.breaches,
        pictures=_pictures(drive),
        evidence=_evidence(drive),
        provenance=[
            f"{spec.name} ({', '.join(each for each in about if each)}), device"
            f" {drive.device.fingerprint}. raidlab {_engine.version()}, seed {SEED}."
        ],
    )


def answer(drive: Drive) -> str:
    """Its best rates, its latency, and how far it is what its maker states."""
    disk = isinstance(drive.device.spec, HddSpec)
    reads, writes = (
        drive.at("depth", f"random {direction}s", drive.depth) for direction in ("read", "write")
    )
    alone = drive.at("latency", "reads, alone", 1)
    if reads is None or writes is None or alone is None:
        return "Nothing was simulated."
    steady = "" if disk else " in steady state"
    text = (
        f"At {drive.depth} outstanding {figure(reads.iops, 'IO/s')} of random reads and"
        f" {figure(writes.iops, 'IO/s')} of writes{steady}; a read alone takes"
        f" {figure(alone.latency_us('read'), 'us')}"
    )
    known = [abs(each.error_pct) for each in drive.stated() if each.error_pct is not None]
    if not known:
        return f"{text}. No figure of a data sheet to compare with."
    within = sum(error <= _WITHIN_PCT for error in known)
    every = (
        ("Both" if within == 2 else f"All {within}")
        if within == len(known)
        else f"{within} of {len(known)}"
    )
    if len(known) == 1:
        return f"{text}. The one stated figure comes out with {max(known):.1f} % of error."
    return (
        f"{text}. {every} stated figures come out within {_WITHIN_PCT:.0f} %"
        f" (worst {max(known):.1f} %)."
    )


def _missed(drive: Drive) -> list[str]:
    missed = [
        f"{each.quantity}: {_shown(each, each.stated)} stated, {_shown(each, each.simulated)}"
        f" simulated ({each.error_pct:+.0f} %)."
        for each in drive.stated()
        if each.error_pct is not None and abs(each.error_pct) > _WITHIN_PCT
    ]
    if any(each.burst for each in drive.stated()):
        missed.append("Stated rates of writes are bursts; simulated ones are the steady state.")
    return missed


def _boxes(drive: Drive) -> list[Box]:
    found = []
    reads = drive.at("depth", "random reads", drive.depth)
    writes = drive.at("depth", "random writes", drive.depth)
    alone = drive.at("latency", "reads, alone", 1)
    if reads is not None:
        found.append(Box(figure(reads.iops, "IO/s"), "random reads, 4 KiB"))
    if writes is not None:
        found.append(Box(figure(writes.iops, "IO/s"), "random writes, 4 KiB"))
    if alone is not None:
        found.append(Box(figure(alone.latency_us("read", "p99"), "us"), "p99 of a read alone"))
    return found


def _shown(each: Stated, value: float) -> str:
    unit, scale = _unit(each.quantity)
    return figure(value / scale, unit)


def _unit(quantity: str) -> tuple[str, float]:
    if "latency" in quantity:
        return "us", 1e3
    return ("IO/s", 1.0) if "random" in quantity else ("MB/s", 1e6)


def stated_table(drive: Drive) -> Table:
    """What its maker states beside what was simulated."""
    rows: list[list[Cell]] = []
    for each in drive.stated():
        error = "burst" if each.error_pct is None else f"{each.error_pct:+.1f} %"
        stated, simulated = (_shown(each, value) for value in (each.stated, each.simulated))
        rows.append([each.quantity, stated, simulated, error])
    columns = [
        Column("figure", kind=Kind.TEXT, width=18),
        Column("stated", kind=Kind.TEXT, width=12),
        Column("simulated", kind=Kind.TEXT, width=12),
        Column("error", kind=Kind.TEXT, width=8),
    ]
    return Table("Stated beside simulated", columns, rows)


def _evidence(drive: Drive) -> list[Evidence]:
    table = stated_table(drive)
    deep = f"{drive.depth} in flight"
    lines = [
        f"One drive alone behind the host {HOST}, which bounds no drive. Deep queues: {deep}."
        " Random I/Os come from up to 32 threads, a stream from one, whose processor takes"
        " 333,000 I/Os a second.",
        "Reads find the whole drive written. Writes, and mixtures, are those of the steady state"
        " of their own load."
        if not isinstance(drive.device.spec, HddSpec)
        else "Streams begin at the outer edge, unless a place is given.",
        f"Of every number of the drive, raidlab devices {drive.device.spec.name} says whether it is"
        " stated, derived or assumed.",
    ]
    return [*([table] if table.rows else []), Text("How it was measured", lines)]


def _pictures(drive: Drive) -> list[Picture]:
    stated = {each.quantity: each for each in drive.stated()}
    found = [_over_depth(drive, stated), _over_block(drive, stated), _latencies(drive, stated)]
    if drive.of("written"):
        found.append(_over_time(drive, stated))
    if drive.of("place"):
        found.append(_over_place(drive, stated))
    return [*found, _mixtures(drive, stated)]


def _over_depth(drive: Drive, stated: Mapping[str, Stated]) -> Picture:
    lines = drive.of("depth")
    drawn = _lines(
        {
            name: [(point.x, point.iops, _hover(point)) for point in line]
            for name, line in lines.items()
        },
        depth_axis([int(point.x) for line in lines.values() for point in line]),
        "IO/s",
    )
    for key in ("random_read", "random_write"):
        _mark(drawn, stated.get(key), drive.depth, 1.0, "left")
    reads = [point for point in lines["random reads"] if may_carry(point.row)]
    reads = reads or lines["random reads"]
    best = max(point.iops for point in reads)
    knee = next(point for point in reads if point.iops >= 0.97 * best)
    return Picture(
        f"Random reads reach {figure(knee.iops, 'IO/s')} at {knee.x:.0f} outstanding",
        "4 KiB, rate over outstanding I/Os; diamonds: stated.",
        drawn,
    )


def _over_block(drive: Drive, stated: Mapping[str, Stated]) -> Picture:
    lines = drive.of("block")
    sizes = sorted({int(point.x) for line in lines.values() for point in line})
    axis = depth_axis(sizes, "block size")
    axis["ticktext"] = [_size(size) for size in sizes]
    drawn = _lines(
        {
            name: [(point.x, point.mb_per_s, _hover(point)) for point in line]
            for name, line in lines.items()
        },
        axis,
        "MB/s",
    )
    for key in ("sequential_read", "sequential_write", "sustained_write", "sustained_rate"):
        _mark(drawn, stated.get(key), STREAM, 1e6)
    for key in ("random_read", "random_write"):
        _mark(drawn, stated.get(key), BLOCK, 1e6 / BLOCK, "right")
    top = max(point.mb_per_s for point in lines["sequential reads"])
    half = next(
        point
        for point in lines["random reads"]
        if point.mb_per_s >= 0.5 * top or point.x == sizes[-1]
    )
    return Picture(
        f"Random reads of {_size(int(half.x))} move {percent(half.mb_per_s / top)} of a stream",
        "Rate over block size with a deep queue; diamonds: stated.",
        drawn,
    )


def _size(block: int) -> str:
    return f"{block >> 10} KiB" if block < 1 << 20 else f"{block >> 20} MiB"


_LONG_US = 2e4
"""From here on a picture of latencies is in milliseconds."""


def _latencies(drive: Drive, stated: Mapping[str, Stated]) -> Picture:
    drawn = chart(height=340)
    values: list[float] = []
    curves: dict[str, list[tuple[float, float]]] = {}
    for name, (point,) in drive.of("latency").items():
        curve = _beyond(point, "write" if name.startswith("write") else "read")
        values += [value for value, _ in curve]
        curves[name] = curve
    unit, scale = ("us", 1.0) if max(values) < _LONG_US else ("ms", 1e3)
    for at, (name, curve) in enumerate(curves.items()):
        draw_curve(
            drawn,
            name,
            [value / scale for value, _ in curve],
            [share for _, share in curve],
            hover=(f"{name}: %{{y:.2%}} take longer than %{{x:,.4~r}} {unit}<extra></extra>"),
            mode="lines",
            line=line(at)["line"],
        )
    for key in ("read_latency", "write_latency"):
        each = stated.get(key)
        if each is not None:
            _diamond(drawn, each, (each.stated / 1e3 / scale, 0.5), "middle right")
    drawn.update_xaxes(log_axis([value / scale for value in values], f"latency, {unit}"))
    ticks = [10.0**-power for power in range(5)]
    drawn.update_yaxes(
        title_text="share that takes longer", type="log", tickvals=ticks,
        ticktext=[f"{100 * each:g} %" for each in ticks], range=[math.log10(_TAIL), 0.05],
    )  # fmt: skip
    drawn.update_layout(showlegend=True, margin_t=64)
    alone = drive.of("latency")["reads, alone"][0]
    (beside,) = next(line for name, line in drive.of("latency").items() if "beside" in name)
    p99 = [point.latency_us("read", "p99") for point in (alone, beside)]
    return Picture(
        f"p99 of reads: {figure(p99[0], 'us')} alone, {figure(p99[1], 'us')} beside writes",
        "Share of 4 KiB I/Os that take longer; diamonds: stated, as the mean.",
        drawn,
    )


def _beyond(point: Point, direction: str) -> list[tuple[float, float]]:
    """Latency in microseconds, and the share of I/Os that take longer, down to the tail."""
    bins = side_of(point.row, direction)["bins"]
    total = sum(count for _, count in bins)
    found, left = [(bins[0][0] / 1e3, 1.0)], total
    for nanoseconds, count in bins:
        left -= count
        share = left / total
        if share < _TAIL:
            found.append((nanoseconds / 1e3, _TAIL))
            break
        # A point for every hundredth of the logarithm is as fine as a screen.
        if abs(math.log(share / found[-1][1])) > 0.01:
            found.append((nanoseconds / 1e3, share))
    return found


def _over_time(drive: Drive, stated: Mapping[str, Stated]) -> Picture:
    (points,) = drive.of("written").values()
    capacity = drive.capacity
    hours, texts = 0.0, []
    for at, point in enumerate(points):
        if at:
            before = points[at - 1]
            rate = BLOCK * (point.iops + before.iops) / 2
            hours += capacity * (point.x - before.x) / rate / 3600
        texts.append(
            f"{point.x:g} drive writes, {figure(hours, 'h')}: {figure(point.iops, 'IO/s')}"
        )
    drawn = _lines(
        {"random writes": [(p.x, p.iops, text) for p, text in zip(points, texts, strict=True)]},
        _ticks("written before, drive writes", range(round(points[-1].x) + 1)),
        "IO/s",
    )
    steady = drive.at("depth", "random writes", drive.depth)
    level = points[-1].iops if steady is None else steady.iops
    drawn.add_hline(y=level, line={"color": GREY, "dash": "dot", "width": 1.5})
    write_note(
        drawn,
        0,
        level,
        f"steady state {digits(level)}",
        xref="paper",
        xanchor="left",
        yanchor="bottom",
    )
    each = stated.get("random_write")
    if each is not None and not each.burst:
        _mark(drawn, each, points[-1].x, 1.0, "left")
    elif each is not None:
        _mark(drawn, each, 0.0, 1.0, "right")
    there = next(
        (point for point in points if point.x and point.iops <= _STEADY_RATIO * level), None
    )
    when = "" if there is None else f" after {there.x:g} drive writes"
    return Picture(
        f"Random writes fall to {percent(level / points[0].iops)} of a new drive's{when}",
        f"4 KiB at random to a new drive; {points[-1].x:g} drive writes take"
        f" {figure(hours, 'h')}. Diamond: stated.",
        drawn,
    )


def _over_place(drive: Drive, stated: Mapping[str, Stated]) -> Picture:
    (points,) = drive.of("place").values()
    drawn = _lines(
        {"sequential reads": [(100 * p.x, p.mb_per_s, _hover(p)) for p in points]},
        _ticks("place on the disk, % of its capacity", [0, 25, 50, 75, 100]),
        "MB/s",
    )
    for key in ("sustained_rate", "sequential_read"):
        _mark(drawn, stated.get(key), 0.0, 1e6, "right")
    share = points[-1].mb_per_s / points[0].mb_per_s
    return Picture(
        f"The inner tracks stream at {percent(share)} of the outer ones' rate",
        "Sequential reads of 128 KiB from the outer to the inner edge; diamond: stated.",
        drawn,
    )


def _mixtures(drive: Drive, stated: Mapping[str, Stated]) -> Picture:
    (points,) = drive.of("mixed").values()
    rates: dict[str, Callable[[Point], float]] = {
        "total": lambda point: point.iops,
        "reads": lambda point: float(point.row["read"]["iops"]),
        "writes": lambda point: float(point.row["write"]["iops"]),
    }
    drawn = _lines(
        {
            name: [(100 * point.x, of(point), _hover(point)) for point in points]
            for name, of in rates.items()
        },
        _ticks("reads, %", [0, 10, 30, 50, 70, 90, 100]),
        "IO/s",
    )
    _mark(drawn, stated.get("mixed_random"), 100 * MIXED_SHARE, 1.0)
    least = min(points, key=lambda point: point.iops)
    middle = next(point for point in points if point.x == MIXED_SHARE)
    return Picture(
        f"70 % reads: {figure(middle.iops, 'IO/s')}; least at {percent(least.x)} reads",
        f"4 KiB at random, {middle.row['outstanding']} outstanding, by the share of reads.",
        drawn,
    )


def _ticks(title: str, places: Iterable[float]) -> Mapping[str, object]:
    """A linear axis from the first place to the last."""
    known = list(places)
    beside = 0.05 * (known[-1] - known[0])
    return {
        "title_text": title,
        "tickvals": known,
        "ticktext": [f"{place:g}" for place in known],
        "tickangle": 0,
        "range": [known[0] - beside, known[-1] + beside],
    }


def _hover(point: Point) -> str:
    return (
        f"{point.series}, {point.row['outstanding']} outstanding: {figure(point.iops, 'IO/s')},"
        f" {figure(point.mb_per_s, 'MB/s')}, p99 {figure(measured(point.row)['p99'], 'us')}"
    )


def _lines(
    curves: Mapping[str, Sequence[tuple[float, float, str]]], axis: Mapping[str, object], unit: str
) -> Figure:
    """Named lines on linear rates."""
    several = len(curves) > 1
    drawn = chart(labels=128 if several else 24)
    for at, (name, points) in enumerate(curves.items()):
        draw_curve(
            drawn,
            name,
            [x for x, _, _ in points],
            [y for _, y, _ in points],
            at=at,
            texts=[text for _, _, text in points],
        )
    drawn.update_xaxes(axis)
    top = max(y for points in curves.values() for _, y, _ in points)
    drawn.update_yaxes(title_text=unit, rangemode="tozero", tickformat=",~r")
    if several:
        heights = apart([points[-1][1] for points in curves.values()], _NEXT * top)
        for (name, points), height in zip(curves.items(), heights, strict=True):
            x = points[-1][0]
            at_end = (math.log10(x) if axis.get("type") == "log" else x, height)
            end_label(drawn, at_end, name)
    return drawn


def _mark(drawn: Figure, each: Stated | None, x: float, scale: float, side: str = "center") -> None:
    """A stated figure as a diamond; `scale` takes its base unit to the axis's."""
    if each is not None:
        # Names of writes stand below, so that those of reads near them can be read.
        height = "bottom" if "write" in each.quantity else "top"
        _diamond(drawn, each, (x, each.stated / scale), f"{height} {side}")


def _diamond(drawn: Figure, each: Stated, at: tuple[float, float], side: str) -> None:
    name = f"{each.quantity}{', burst' if each.burst else ''}"
    draw_curve(
        drawn,
        f"{each.quantity}, stated",
        [at[0]],
        [at[1]],
        texts=[name],
        hover=f"{name}: {_shown(each, each.stated)} stated<extra></extra>",
        textposition=side,
        textfont={"size": 12},
        mode="markers+text",
        showlegend=False,
        cliponaxis=False,
        marker={"symbol": "diamond", "size": 11, "color": BLACK},
    )
