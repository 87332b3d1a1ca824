"""What compressible data change: a sentence, a table, a picture for each load."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import log10

from raidlab.scenarios import _engine
from raidlab.scenarios.report.chart import Figure, chart, draw_curve, write_note
from raidlab.scenarios.report.look import GREY, tick
from raidlab.scenarios.report.page import Box, Page, Picture, Text
from raidlab.scenarios.report.report import Report
from raidlab.scenarios.report.tables import Column, Kind, Table
from raidlab.scenarios.results.bottleneck import PLURALS
from raidlab.scenarios.results.number_text import figure
from raidlab.scenarios.studies.compression import Compression, Point

_HALF = 0.5
MIB = 1 << 20
_LITTLE_GAIN = 0.05
"""Gain that is none."""


def report(found: Compression) -> Report:
    """What a terminal shows, and the page."""
    return Report(found.title, answer(found), [table(found)], page=partial(_page, found))


def _page(found: Compression) -> Page:
    curves = found.curves()
    top = max((gain for points in curves.values() for _, gain in gains(points)), default=1.0)
    return Page(
        kind="compression",
        question=f"{found.title}: what do compressible data change?",
        boxes=_boxes(found),
        beside=found.warnings,
        breaches=found.breaches,
        pictures=[
            Picture(
                _seen(load, points),
                "Rate over that of incompressible data, by the share that compression saves.",
                picture(points, top),
            )
            for load, points in curves.items()
            if len(points) > 1
        ],
        evidence=[
            table(found),
            Text(
                "",
                [
                    "A drive that compresses stores less than it is given. Fewer bytes to NAND make"
                    " writes faster, and the space that is saved spares garbage collection work;"
                    " reads gain where the drive's compressor or its channels were the limit.",
                    "NAND bytes / host byte: what NAND takes in for each byte of the host. WAF:"
                    " write amplification in mapping units, whatever they occupy: what the host"
                    " wrote and what collection moved, over what the host wrote.",
                ],
            ),
        ],
        provenance=[f"raidlab {_engine.version()}, seed {found.seed}."],
    )


def gains(points: Sequence[Point]) -> list[tuple[Point, float]]:
    """Each point with its rate over that of the least compressible data."""
    base = points[0].iops if points else 0.0
    return [(point, point.iops / base) for point in points] if base else []


def _at_half(points: Sequence[Point]) -> tuple[Point, float] | None:
    """The point nearest to data that shrink by half, and its gain."""
    return min(gains(points), key=lambda each: abs(each[0].compressible - _HALF), default=None)


def answer(found: Compression) -> str:
    """How much faster each load is with data that shrink by half, or by what is nearest."""
    at_half = {load: near for load, points in found.curves().items() if (near := _at_half(points))}
    if not at_half:
        return "Nothing was simulated."
    share = next(iter(at_half.values()))[0].compressible
    gain = {load: round(each[1], 2) for load, each in at_half.items()}
    faster = [
        f"{load or 'the load'} {times:.2g} times as fast"
        for load, times in gain.items()
        if times > 1 + _LITTLE_GAIN
    ]
    same = [load or "the load" for load, times in gain.items() if times <= 1 + _LITTLE_GAIN]
    how = f"Data that shrink by {'half' if share == _HALF else f'{100 * share:.0f} %'}"
    text = f"{how}: {', '.join(faster)}" if faster else f"{how} change little"
    if faster and same:
        text += f"; no gain for {', '.join(same)}"
    return f"{text}."


def _boxes(found: Compression) -> list[Box]:
    near = [
        (times, load, point.compressible)
        for load, points in found.curves().items()
        if (each := _at_half(points)) is not None
        for point, times in (each,)
    ]
    best = sorted(near, key=lambda each: -each[0])[:3]
    return [Box(f"{times:.2f} x", f"{load}, {100 * share:.0f} %") for times, load, share in best]


def _seen(load: str, points: Sequence[Point]) -> str:
    last, times = gains(points)[-1] if gains(points) else (points[-1], 1.0)
    return f"{load or 'The load'}: {times:.2g} times as fast at {100 * last.compressible:.0f} %"


def _limit(point: Point) -> tuple[str, str]:
    """The part that is the limit, without its drive, and its share: `compressor`, `100 %`."""
    if point.busiest is None:
        return "", ""
    own = point.busiest
    words = own.kind if own.kind in PLURALS else own.name
    return "NAND" if own.kind == "drive" else words, own.share


def table(found: Compression) -> Table:
    """A line for each load and compressibility; the limit only where it changes."""
    columns = [
        Column("load", kind=Kind.TEXT, width=14),
        Column("saved", "%"),
        Column("IO/s"),
        Column("", "MB/s", priority=3),
        Column("gain"),
        Column("NAND bytes / host byte", priority=2),
        Column("WAF", priority=2),
        Column("limit", kind=Kind.TEXT, width=16),
    ]
    rows: list[list[str | int | float | None]] = []
    for load, points in found.curves().items():
        before = ""
        for point, times in gains(points):
            limit, share = _limit(point)
            rows.append(
                [
                    load,
                    f"{100 * point.compressible:.4g}",
                    point.iops,
                    point.mib_per_s * MIB / 1e6,
                    f"{times:.2f} x",
                    point.nand_bytes_per_host_byte,
                    point.write_amplification,
                    "" if limit == before else f"{limit} {share}",
                ]
            )
            before = limit
    return Table("By load and the share that compression saves", columns, rows)


def picture(points: Sequence[Point], top: float) -> Figure:
    """The gain of one load over incompressible data, with the limits along its line."""
    found = gains(points)
    drawn = chart(labels=32)
    draw_curve(
        drawn,
        "times as fast",
        [100 * point.compressible for point, _ in found],
        [times for _, times in found],
        at=0,
        texts=[
            f"{100 * point.compressible:.0f} %: {figure(point.iops, 'IO/s')},"
            f" {figure(point.mib_per_s * MIB / 1e6, 'MB/s')},"
            f" {' '.join(_limit(point))}"
            for point, _ in found
        ],
    )
    ticks = [each for each in (0.5, 1, 2, 3, 4, 5, 7, 10, 20, 50, 100) if each <= 1.3 * top]
    drawn.update_yaxes(
        title_text="times the rate", type="log", tickvals=ticks,
        ticktext=[f"{tick(each)} x" for each in ticks],
    )  # fmt: skip
    low = min(0.9, *(times for _, times in found)) if found else 0.9
    drawn.update_yaxes(range=[log10(low / 1.1), log10(max(1.3 * top, 1.5))])
    drawn.update_xaxes(title_text="saved by compression, %", range=[-3, 103])
    drawn.add_hline(y=1, line={"color": GREY, "dash": "dot", "width": 1.5})
    before = ""
    for point, times in found:
        name, _ = _limit(point)
        if name and name != before:
            write_note(
                drawn,
                100 * point.compressible,
                log10(times),
                name,
                yshift=10,
                yanchor="bottom",
                xanchor="left" if times < 0.8 * top else "right",
            )
        before = name
    return drawn
