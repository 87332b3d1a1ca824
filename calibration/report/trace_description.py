"""What a trace is like as tables and as a page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from raidlab.calibration.traces.description import Description, DescriptionData, cache_sizes
from raidlab.scenarios.report.chart import Figure, chart, draw_curve
from raidlab.scenarios.report.look import log_axis
from raidlab.scenarios.report.page import Box, Page, Picture
from raidlab.scenarios.report.report import Report
from raidlab.scenarios.report.tables import Column, Kind, Table
from raidlab.scenarios.results.number_text import figure

Points = Sequence[Sequence[float]]
Curves = Mapping[str, Points]
"""By the trace's name."""
_SIZES = 12
"""Sizes that a table shows: the most frequent ones."""
_WORTH = 0.02
"""Accesses that a cache must serve to be worth anything, as a share."""
_SPACES = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))
"""Bytes in a unit."""


def _sized(size: float, digits: int = 3) -> str:
    """Bytes in the largest unit that leaves at least one: `4.1 kB`, `12 GB`."""
    scale, unit = next(((s, u) for s, u in _SPACES if size >= s), (1.0, "B"))
    return f"{size / scale:,.{digits}g} {unit}"


def answer(described: Description) -> str:
    """Sentences that say most of it."""
    found, arrivals = described.found, described.found["arrivals"]
    share = found["read_share"]
    text = f"{found['requests']:,} requests"
    text += "" if share is None else f", {share:.0%} of them reads"
    text += f", {found['sequential_share']:.0%} sequential"
    text += f", on {_sized(found['footprint_bytes'])}."
    if arrivals is not None:
        text += f" {arrivals['rate_per_s']:,.4g} IO/s for {arrivals['seconds']:,.4g} s"
        text += f", {arrivals['peak_per_s']:,.4g} at the peak."
    return f"{text} {_caching(described)}"


def _caching(described: Description) -> str:
    """Which size of an SSD cache pays."""
    first = described.found["first_access_share"]
    sizes = cache_sizes(described.found["miss_ratio"], first)
    if not sizes or 1 - first < _WORTH:
        return f"No cache pays: {first:.0%} of the accesses are the first ones to their block."
    half, most = sizes[0], next(each for each in sizes if each["of_hits"] >= 0.9)
    served = f"A cache of {_sized(half['bytes'])} would serve {1 - half['miss_ratio']:.0%} of the"
    served += " accesses"
    if most["bytes"] > half["bytes"]:
        served += f", one of {_sized(most['bytes'])} {1 - most['miss_ratio']:.0%}"
    served += f"; a larger one gains little, as {first:.0%} are the first ones to their block."
    return served


def tables(described: Description) -> list[Table]:
    """What a terminal shows."""
    document = described.to_dict()
    return [_overview(document), _sizes(document), *_hot(document), *_caches(document)]


def _overview(document: DescriptionData) -> Table:
    rows: list[list[str | float | None]] = [
        ["reads", f"{document['reads']:,}, {_sized(document['read_bytes'], 4)}"],
        ["writes", f"{document['writes']:,}, {_sized(document['written_bytes'], 4)}"],
        ["trims, flushes", f"{document['trims']:,}, {document['flushes']:,}"],
        ["sequential", f"{document['sequential_share']:.1%}"],
        ["addresses up to", _sized(document["extent_bytes"], 4)],
        ["footprint", _sized(document["footprint_bytes"], 4)],
        ["footprint of writes", _sized(document["written_footprint_bytes"], 4)],
    ]
    if document["rate_per_s"] is not None:
        rows += [
            ["duration", f"{document['seconds']:,.4g} s"],
            ["rate", figure(document["rate_per_s"], "IO/s")],
            ["peak", figure(document["peak_per_s"], "IO/s")],
            ["index of dispersion", _number(document["dispersion"])],
            ["Hurst parameter", _number(document["hurst"])],
        ]
    rows.append(["blocks followed", f"{document['sampled_share']:.2%}"])
    return Table("Overview", [Column("", kind=Kind.TEXT), Column("value", kind=Kind.TEXT)], rows)


def _number(value: float | None) -> str:
    return "too short to say" if value is None else f"{value:.3g}"


def _sizes(document: DescriptionData) -> Table:
    frequent = sorted(document["sizes"], key=lambda each: -each[1] - each[2])[:_SIZES]
    both = max(1, document["reads"] + document["writes"])
    return Table(
        "Sizes" if len(document["sizes"]) <= _SIZES else f"Sizes, the {_SIZES} most frequent ones",
        [Column("size", "B"), Column("reads"), Column("writes"), Column("share", "%")],
        [
            [size, reads, writes, 100 * (reads + writes) / both]
            for size, reads, writes in sorted(frequent)
        ],
    )


def _hot(document: DescriptionData) -> list[Table]:
    columns = [Column("of the footprint", "%"), Column("of the accesses", "%")]
    rows = [[100 * space, 100 * share] for space, share in document["hot_spot"]]
    return [Table("Hot spots: the busiest blocks", columns, rows)] if rows else []


def _caches(document: DescriptionData) -> list[Table]:
    if 1 - document["first_access_share"] < _WORTH:
        return []
    most = max((each["bytes"] for each in document["cache_sizes"]), default=0)
    scale, unit = next(((s, u) for s, u in _SPACES if most >= s), (1.0, "B"))
    rows = [
        [100 * each["of_hits"], each["bytes"] / scale, 100 * (1 - each["miss_ratio"])]
        for each in document["cache_sizes"]
    ]
    columns = [
        Column("of possible hits", "%"),
        Column("cache", unit),
        Column("accesses served", "%"),
    ]
    return [Table("Sizes at which an SSD cache pays", columns, rows)] if rows else []


def report(found: Description) -> Report:
    """What a terminal shows, and the page."""
    form = f"{found.form} ({found.columns})" if found.columns else found.form
    return Report(f"{found.name}: {form}", answer(found), tables(found), page=partial(_page, found))


def _page(described: Description) -> Page:
    document = described.to_dict()
    boxes = [Box(f"{document['requests']:,}", "requests")]
    boxes.append(Box(_sized(document["footprint_bytes"]), "footprint"))
    if document["rate_per_s"] is not None:
        boxes.append(Box(figure(document["rate_per_s"], "IO/s"), "mean rate"))
    return Page(
        kind="trace",
        question=f"What is {described.name} like?",
        boxes=boxes,
        beside=described.warnings,
        pictures=pictures({described.name: described}),
        evidence=tables(described),
    )


def pictures(described: Mapping[str, Description]) -> list[Picture]:
    """What a page draws of one trace, or of several beside each other, by name."""
    documents = {name: each.to_dict() for name, each in described.items()}

    def points(of: Callable[[DescriptionData], Points]) -> Curves:
        found = {name: of(document) for name, document in documents.items()}
        return {name: each for name, each in found.items() if each}

    def over_time(document: DescriptionData) -> Points:
        times = document["over_time"]
        return list(zip(times["t_s"], times["iops"], strict=True))

    drawn = []
    if rates := points(over_time):
        rate = _curves(rates, "IO/s", "time, s", "IO/s")
        drawn.append(Picture("Rate over time", "requests a second", rate))
    if windows := points(lambda each: each["dispersion_by_window"]):
        burst = _curves(windows, "index of dispersion", "window, s", "variance / mean", log=True)
        drawn.append(Picture("Burstiness", "1 at every length: a Poisson stream", burst))
    if misses := points(lambda each: [(size / 1e9, ratio) for size, ratio in each["miss_ratio"]]):
        up = "share of accesses that miss"
        missed = _curves(misses, "misses", "cache, GB", up, log=True)
        drawn.append(Picture("Miss ratio", "least recently used blocks leave first", missed))
    if hot := points(lambda each: each["hot_spot"]):
        spots = _curves(hot, "accesses", "share of the footprint", "share of accesses")
        drawn.append(Picture("Hot spots", "the busiest blocks first", spots))
    return drawn


def _curves(curves: Curves, what: str, across: str, up: str, *, log: bool = False) -> Figure:
    """A line for each trace; its name stands there if there are several."""
    drawn = chart()
    for at, (name, points) in enumerate(curves.items()):
        x, y = zip(*points, strict=True)
        shown = name if len(curves) > 1 else what
        draw_curve(drawn, shown, x, y, at=at, mode="lines")
    drawn.update_layout(showlegend=len(curves) > 1)
    drawn.update_xaxes(title_text=across)
    if log:
        drawn.update_xaxes(log_axis([x for each in curves.values() for x, _ in each], across))
    drawn.update_yaxes(title_text=up, rangemode="tozero")
    return drawn
