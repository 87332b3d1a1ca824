"""What files of monitoring hold, as tables and as a page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np

from raidlab.calibration.monitoring import clock
from raidlab.calibration.monitoring.figures import Figures, figures
from raidlab.calibration.monitoring.importing import Imported
from raidlab.calibration.monitoring.over_time import OverTime, over_time, together
from raidlab.calibration.monitoring.samples import Array, Quantity, Series
from raidlab.scenarios.report.chart import Figure, chart, draw_curve
from raidlab.scenarios.report.page import Box, Page, Picture
from raidlab.scenarios.report.report import Report
from raidlab.scenarios.report.tables import Cell, Column, Kind, Table
from raidlab.scenarios.results.number_text import figure, percent

Q = Quantity
_MOST_POINTS = 2000
"""Of a line: more are drawn as means over equal times."""
UNKNOWN = (
    "How random the I/Os are: no offsets are in it.",
    "How sizes spread around their mean.",
    "Bursts shorter than the interval: rates are means over it.",
    "What a file system's cache kept away from the devices, or merged before them.",
)
"""What no output of a monitoring tool says."""


def answer(found: Imported) -> str:
    """Sentences that say most of it."""
    capture = found.capture
    chosen = [capture.series[name] for name in found.default_devices if name in capture.series]
    text = f"{_names(found.default_devices)} of {len(capture.series or capture.histograms)}"
    text = f"{capture.source}: {text} devices taken"
    whole = together(chosen)
    if whole is None or not len(whole):
        return f"{text}."
    times = over_time(whole)
    every = figures(whole)
    if found.interval_s is not None:
        text += f", a sample each {figure(found.interval_s, 's')}"
    text += f". {figure(times.iops_mean, 'IO/s')} on average"
    if every.read_share is not None:
        text += f", {percent(every.read_share)} of them reads"
    if times.iops_peak is not None:
        text += f"; p95 {figure(times.iops_p95, 'IO/s')}, peak {figure(times.iops_peak, 'IO/s')}"
    if times.busiest is not None:
        when = clock.written(times.busiest[0], None) or ""
        text += f"; the busiest hour begins {when[:16].replace('T', ' ')}"
    left = " The first report covers the time since boot and is left out."
    return f"{text}.{left * found.since_boot_dropped}"


def _names(names: Sequence[str]) -> str:
    return ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")


def tables(found: Imported) -> list[Table]:
    """What a terminal shows."""
    shown = []
    if found.capture.series:
        shown.append(_devices(found))
        shown += _times(found)
    if found.capture.histograms:
        shown.append(_histograms(found))
    rows: list[list[Cell]] = [[text] for text in UNKNOWN]
    shown.append(Table("What the files do not say", [Column("", kind=Kind.PROSE)], rows))
    return shown


def _devices(found: Imported) -> Table:
    columns = [
        Column("device", kind=Kind.TEXT),
        Column("taken", kind=Kind.TEXT, priority=4),
        Column("samples", priority=3),
        Column("rate", "IO/s"),
        Column("peak", "IO/s"),
        Column("reads", "%"),
        Column("read", "MB/s"),
        Column("written", "MB/s"),
        Column("read size", "kB", priority=3),
        Column("write size", "kB", priority=3),
        Column("await", "ms"),
        Column("r_await", "ms", priority=5),
        Column("w_await", "ms", priority=5),
        Column("queue"),
        Column("gaps", priority=6),
    ]
    rows = []
    for name, series in found.capture.series.items():
        rows.append(_row(name, "yes" if name in found.default_devices else "no", figures(series)))
    return Table("Devices", columns, rows, most=40)


def _row(name: str, taken: str, of: Figures) -> list[Cell]:
    def scaled(value: float | None, by: float) -> float | None:
        return None if value is None else value / by

    return [
        name,
        taken,
        of.samples,
        of.iops_mean,
        of.iops_peak,
        scaled(of.read_share, 0.01),
        scaled(of.read_bytes_per_s_mean, 1e6),
        scaled(of.write_bytes_per_s_mean, 1e6),
        scaled(of.read_size_mean, 1e3),
        scaled(of.write_size_mean, 1e3),
        of.await_ms,
        of.r_await_ms,
        of.w_await_ms,
        of.aqu_sz,
        of.gaps or None,
    ]


def whole_of(found: Imported) -> Series | None:
    """What the devices that are taken did together."""
    series = found.capture.series
    return together([series[name] for name in found.default_devices if name in series])


def _times(found: Imported) -> list[Table]:
    whole = whole_of(found)
    if whole is None or not len(whole):
        return []
    times = over_time(whole)
    rows: list[list[Cell]] = [
        ["mean rate", figure(times.iops_mean, "IO/s")],
        ["p95 of the rate", figure(times.iops_p95, "IO/s")],
        ["peak", figure(times.iops_peak, "IO/s")],
        ["p95 of the throughput", figure(_mega(times.bytes_per_s_p95), "MB/s")],
        ["p95 of the queue", figure(times.queue_p95)],
    ]
    if not math.isnan(times.seconds):
        rows.insert(0, ["covered", figure(times.seconds / 3600, "h")])
    if times.busiest is not None:
        begin, rate, factor = times.busiest
        when = (clock.written(begin, None) or "")[:16].replace("T", " ")
        text = f"from {when}: {figure(rate, 'IO/s')}, {factor:.2g} times the mean"
        rows.append(["busiest hour", text])
    if times.growth is not None:
        growth = times.growth
        text = (
            f"{growth.percent_per_month:+.3g} % a month"
            f" (95 %: {growth.low:+.3g} to {growth.high:+.3g}, {growth.days} days)"
        )
        rows.append(["growth", text])
    columns = [Column("", kind=Kind.TEXT), Column("value", kind=Kind.TEXT, width=40)]
    return [Table("Over time", columns, rows), *_patterns(times)]


def _mega(value: float | None) -> float | None:
    return None if value is None else value / 1e6


def _patterns(times: OverTime) -> list[Table]:
    found = []
    if times.by_hour:
        rows: list[list[Cell]] = [[f"{at:02d}:00", rate] for at, rate in enumerate(times.by_hour)]
        columns = [Column("hour", kind=Kind.TEXT), Column("rate", "IO/s")]
        found.append(Table("Pattern of the day", columns, rows))
    if times.by_weekday:
        names = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
        rows = [[name, rate] for name, rate in zip(names, times.by_weekday, strict=True)]
        columns = [Column("day", kind=Kind.TEXT), Column("rate", "IO/s")]
        found.append(Table("Pattern of the week", columns, rows))
    return found


def _histograms(found: Imported) -> Table:
    columns = [
        Column("virtual disk", kind=Kind.TEXT),
        Column("size up to", "B"),
        Column("reads"),
        Column("writes"),
    ]
    rows: list[list[Cell]] = []
    for name, each in found.capture.histograms.items():
        reads = each.read_sizes.buckets if each.read_sizes else {}
        writes = each.write_sizes.buckets if each.write_sizes else {}
        for size in sorted({*reads, *writes}):
            if reads.get(size) or writes.get(size):
                rows.append([name, size, reads.get(size, 0), writes.get(size, 0)])
    return Table("Sizes of requests", columns, rows)


def report(found: Imported) -> Report:
    """What a terminal shows, and the page."""
    files = found.files
    name = files[0].name if len(files) == 1 else f"{len(files)} files"
    return Report(
        f"{name}: {found.capture.source}", answer(found), tables(found), page=partial(_page, found)
    )


def _page(found: Imported) -> Page:
    whole = whole_of(found)
    boxes = []
    if whole is not None and len(whole):
        times, every = over_time(whole), figures(whole)
        boxes.append(Box(figure(times.iops_mean, "IO/s"), "mean rate"))
        boxes.append(Box(figure(times.iops_peak, "IO/s"), "peak of a sample"))
        if every.aqu_sz is not None:
            boxes.append(Box(figure(every.aqu_sz), "mean queue"))
    return Page(
        kind="monitoring",
        question=f"What did {_names(found.default_devices)} do?",
        boxes=boxes,
        beside=found.warnings,
        pictures=pictures(found),
        evidence=tables(found),
    )


def pictures(found: Imported) -> list[Picture]:
    """Rate, throughput, size, latency and queue over time."""
    series = found.capture.series
    chosen = {name: series[name] for name in found.default_devices if name in series}
    drawn = []
    for title, under, unit, quantities, scale in (
        ("Rate", "means over each sample", "IO/s", (Q.READS, Q.WRITES, Q.IOS), 1.0),
        ("Throughput", "means over each sample", "MB/s",
         (Q.READ_BYTES, Q.WRITE_BYTES, Q.BYTES), 1e6),
        ("Latency", "means over the requests of each sample", "ms",
         (Q.R_AWAIT, Q.W_AWAIT, Q.AWAIT), 1.0),
        ("Queue", "requests in flight, mean over each sample", "requests", (Q.QUEUE,), 1.0),
    ):  # fmt: skip
        lines = _lines(chosen, quantities, scale)
        if lines:
            drawn.append(Picture(title, under, _figure(lines, unit), wide=True))
    return drawn


def _lines(
    chosen: dict[str, Series], quantities: Sequence[Quantity], scale: float
) -> list[tuple[str, Array, Array]]:
    """Name, hours and values of each line."""
    found: list[tuple[str, Array, Array]] = []
    for name, series in list(chosen.items())[:5]:
        columns = [(q, c) for q in quantities if (c := series.column(q)) is not None]
        if len(columns) == 3:
            columns = columns[:2]
        if len(chosen) > 2 and len(columns) > 1:
            whole = series.column(quantities[2])
            columns = [(quantities[2], whole)] if whole is not None else columns[:1]
        hours = _hours(series)
        for quantity, column in columns:
            word = quantity.value.partition("/")[0].removeprefix("ms per ")
            label = word if len(chosen) == 1 else f"{name} {word}"
            found.append((label, *_thinned(hours, column / scale)))
    return found


def _hours(series: Series) -> Array:
    if bool(np.isnan(series.at).any()):
        steps: Array = np.where(np.isnan(series.length), 1.0, series.length)
        return np.asarray(np.cumsum(steps) / 3600, dtype=np.float64)
    return np.asarray((series.at - series.at[0]) / 3600, dtype=np.float64)


def _thinned(hours: Array, values: Array) -> tuple[Array, Array]:
    every = -(-len(values) // _MOST_POINTS)
    if every <= 1:
        return hours, values
    whole = len(values) // every * every
    means = np.nan_to_num(values[:whole]).reshape(-1, every).mean(axis=1)
    return hours[:whole:every], means


def _figure(lines: Sequence[tuple[str, Array, Array]], unit: str) -> Figure:
    drawn = chart()
    for at, (name, hours, values) in enumerate(lines):
        kept = ~np.isnan(values)
        draw_curve(
            drawn,
            name,
            [round(float(v), 6) for v in hours[kept]],
            [float(f"{v:.6g}") for v in values[kept]],
            at=at,
            mode="lines",
        )
    drawn.update_layout(showlegend=len(lines) > 1)
    drawn.update_xaxes(title_text="hours since the first sample")
    drawn.update_yaxes(title_text=unit, rangemode="tozero")
    return drawn
