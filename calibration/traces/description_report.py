"""What a trace is like as tables and as a page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from raidlab.calibration.traces.description import SPACES, WORTH, Description, sized
from raidlab.scenarios.results.look import Column, Kind, Table, dress, figure, line, log_axis

if TYPE_CHECKING:
    import plotly.graph_objects as go

_SIZES = 12
"""Sizes that a table shows: the most frequent ones."""


def tables(described: Description) -> list[Table]:
    """What a terminal shows."""
    document = described.to_dict()
    return [_overview(document), _sizes(document), *_hot(document), *_caches(document)]


def _overview(document: dict[str, Any]) -> Table:
    rows: list[list[str | float | None]] = [
        ["reads", f"{document['reads']:,}, {sized(document['read_bytes'], 4)}"],
        ["writes", f"{document['writes']:,}, {sized(document['written_bytes'], 4)}"],
        ["trims, flushes", f"{document['trims']:,}, {document['flushes']:,}"],
        ["sequential", f"{document['sequential_share']:.1%}"],
        ["addresses up to", sized(document["extent_bytes"], 4)],
        ["footprint", sized(document["footprint_bytes"], 4)],
        ["footprint of writes", sized(document["written_footprint_bytes"], 4)],
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


def _sizes(document: dict[str, Any]) -> Table:
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


def _hot(document: dict[str, Any]) -> list[Table]:
    columns = [Column("of the footprint", "%"), Column("of the accesses", "%")]
    rows = [[100 * space, 100 * share] for space, share in document["hot_spot"]]
    return [Table("Hot spots: the busiest blocks", columns, rows)] if rows else []


def _caches(document: dict[str, Any]) -> list[Table]:
    if 1 - document["first_access_share"] < WORTH:
        return []
    most = max((each["bytes"] for each in document["cache_sizes"]), default=0)
    scale, unit = next(((s, u) for s, u in SPACES if most >= s), (1.0, "B"))
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


def page(described: Description, command: str) -> str:
    """The page as text."""
    from raidlab.scenarios.results.page import Box, Page, Picture

    document = described.to_dict()
    boxes = [Box(f"{document['requests']:,}", "requests")]
    boxes.append(Box(sized(document["footprint_bytes"]), "footprint"))
    if document["rate_per_s"] is not None:
        boxes.append(Box(figure(document["rate_per_s"], "IO/s"), "mean rate"))
    pictures = []
    over_time = document["over_time"]
    if over_time["t_s"]:
        rate = _curve(over_time["t_s"], over_time["iops"], "IO/s", "time, s", "IO/s")
        pictures.append(Picture("Rate over time", "requests a second", rate))
    if document["dispersion_by_window"]:
        lengths, index = zip(*document["dispersion_by_window"], strict=True)
        drawn = _curve(lengths, index, "index of dispersion", "window, s", "variance / mean")
        drawn.update_xaxes(log_axis(lengths, "window, s"))
        pictures.append(Picture("Burstiness", "1 at every length: a Poisson stream", drawn))
    if document["miss_ratio"]:
        sizes, ratio = zip(*document["miss_ratio"], strict=True)
        gigabytes = [size / 1e9 for size in sizes]
        drawn = _curve(gigabytes, ratio, "misses", "cache, GB", "share of accesses that miss")
        drawn.update_xaxes(log_axis(gigabytes, "cache, GB"))
        pictures.append(Picture("Miss ratio", "least recently used blocks leave first", drawn))
    if document["hot_spot"]:
        space, share = zip(*document["hot_spot"], strict=True)
        drawn = _curve(space, share, "accesses", "share of the footprint", "share of accesses")
        pictures.append(Picture("Hot spots", "the busiest blocks first", drawn))
    return Page(
        kind="trace",
        question=f"What is {described.name} like?",
        answer=described.answer(),
        boxes=boxes,
        beside=described.warnings,
        pictures=pictures,
        evidence=tables(described),
        command=command,
    ).html()


def _curve(x: Sequence[float], y: Sequence[float], name: str, across: str, up: str) -> go.Figure:
    import plotly.graph_objects as go

    drawn = go.Figure(go.Scatter(x=list(x), y=list(y), name=name, mode="lines", **line(0)))
    dress(drawn)
    drawn.update_xaxes(title_text=across)
    drawn.update_yaxes(title_text=up, rangemode="tozero")
    return drawn
