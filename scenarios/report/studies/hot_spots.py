"""What an SSD cache over time answers: when it pays, a table, one picture of all hot spots."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from raidlab.scenarios import _engine
from raidlab.scenarios.report.chart import Figure, chart, draw_curve, write_note
from raidlab.scenarios.report.look import GREY, apart, end_label, line
from raidlab.scenarios.report.page import Box, Page, Picture, Text
from raidlab.scenarios.report.report import Report
from raidlab.scenarios.report.tables import Cell, Column, Table
from raidlab.scenarios.results.number_text import figure
from raidlab.scenarios.studies.hot_spots import Warming, Warmings

PAYS = 0.2
"""Share above the disks' rate from which on the cache pays."""
_STEPS_IN_A_ROW = 3
"""Steps in a row that must reach a rate: a single burst is no crossing."""

_BURST = 1.1
"""Times the SSDs' rate above which writes go into the controller's memory, until it is full."""


def report(found: Warmings) -> Report:
    """What a terminal shows, and the page."""
    return Report(found.title, answer(found), [table(found)], page=partial(_page, found))


def _page(found: Warmings) -> Page:
    last = found.warmings[-1] if found.warmings else None
    boxes = []
    if last is not None:
        boxes = [
            Box(_when(pays(last)), f"until the cache pays, {_gb(last)} hot spot"),
            Box(figure(settled(last), "IO/s"), "at the end"),
            Box(_share(last), "of the SSDs' rate at the end"),
        ]
    return Page(
        kind="SSD cache",
        question=found.title,
        boxes=boxes,
        beside=found.warnings,
        breaches=found.breaches,
        pictures=[
            Picture(
                "The larger the hot spot, the later the SSD cache pays",
                "Share of the way from the disks' rate (0 %) to that of the SSDs alone (100 %) over"
                " time; dots: a fifth above the disks, and half way.",
                picture(found),
                wide=True,
            )
        ],
        evidence=[table(found), Text("", _notes(found))],
        provenance=[f"raidlab {_engine.version()}, seed {found.seed}."],
    )


def reaches(each: Warming, iops: float) -> float | None:
    """Seconds until three steps in a row are as fast; None if they never are."""
    steps = list(zip(each.t_s, each.iops, strict=True))
    for at in range(len(steps)):
        if all(
            rate >= iops for _, rate in steps[at : at + _STEPS_IN_A_ROW]
        ) and at + _STEPS_IN_A_ROW <= len(steps):
            return steps[at][0]
    return None


def pays(each: Warming) -> float | None:
    """Seconds until the rate is a fifth above that of the disks."""
    return reaches(each, (1 + PAYS) * each.disks_iops)


def settled(each: Warming) -> float:
    """Mean rate of the last tenth of the run, bursts left out where something else is there."""
    last = each.iops[-max(1, len(each.iops) // 10) :]
    steady = [rate for rate in last if rate <= _BURST * each.ssds_iops] or last
    return sum(steady) / len(steady) if steady else 0.0


def _share(each: Warming) -> str:
    return f"{100 * settled(each) / each.ssds_iops:.0f} %" if each.ssds_iops else "–"


def _gb(each: Warming) -> str:
    return f"{each.hot_spot_bytes / 1e9:g} GB"


def _when(seconds: float | None) -> str:
    return "never" if seconds is None else f"{seconds / 60:.0f} min"


def answer(found: Warmings) -> str:
    """When the cache pays for each hot spot, and where the largest settles."""
    if not found.warmings:
        return "Nothing was simulated."
    paying = [each for each in found.warmings if pays(each) is not None]
    never = [each for each in found.warmings if pays(each) is None]
    parts = []
    if paying:
        when = ", ".join(f"{_when(pays(each))} for {_gb(each)}" for each in paying)
        parts.append(f"The SSD cache pays (a fifth above the disks) after {when}")
    if never:
        parts.append(f"it does not pay for {', '.join(_gb(each) for each in never)}")
    last = found.warmings[-1]
    text = "; ".join(parts) + (
        f"; at {_gb(last)} it settles at {figure(settled(last), 'IO/s')}, {_share(last)} of the"
        " SSDs' rate."
    )
    return text[:1].upper() + text[1:]


def table(found: Warmings) -> Table:
    """A line for each size of the hot spot."""
    columns = [
        Column("hot spot,", "GB"),
        Column("cache / hot spot", priority=2),
        Column("disks", "IO/s", priority=2),
        Column("SSDs", "IO/s", priority=2),
        Column("pays after,", "minutes"),
        Column("half way after,", "minutes"),
        Column("at the end", "IO/s"),
        Column("cache in use", priority=3),
    ]
    rows: list[list[Cell]] = []
    for each in found.warmings:
        half = reaches(each, (each.disks_iops + each.ssds_iops) / 2)
        above = pays(each)
        rows.append(
            [
                each.hot_spot_bytes // 10**9,
                f"{found.tier_bytes / each.hot_spot_bytes:.1f} x",
                each.disks_iops,
                each.ssds_iops,
                "never" if above is None else above / 60,
                "never" if half is None else half / 60,
                settled(each),
                f"{100 * each.used:.0f} %",
            ]
        )
    return Table("By size of the hot spot", columns, rows)


def _notes(found: Warmings) -> list[str]:
    longest = max((each.t_s[-1] for each in found.warmings if each.t_s), default=0.0)
    lines = [
        f"An empty SSD cache (the key tier) of {figure(found.tier_bytes, 'B')} is added to hard"
        f" disks under load, and followed for {longest / 60:.0f} minutes."
        " Regions that are accessed often move to the SSDs, as fast as the disks can be read"
        " beside their load. Half way: the mean of the disks' and the SSDs' rate."
    ]
    if found.time_lapse > 1:
        lines.append(
            f"Each simulated second stands for {found.time_lapse} of the cache's life: a burst of"
            " seconds, as when the controller's memory fills at the new rate, looks like minutes"
            " (the shaded part of the picture)."
        )
    return lines


def picture(found: Warmings) -> Figure:
    """The share of the way from disks to SSDs over time, a line for each hot spot."""
    drawn = chart(height=380, labels=96)
    ends = []
    for at, each in enumerate(found.warmings):
        minutes = [t / 60 for t in each.t_s]
        shares = [_way(each, rate) for rate in each.iops]
        look = line(at)
        draw_curve(
            drawn,
            _gb(each),
            minutes,
            shares,
            hover=("minute %{x:.0f}: %{customdata:,.0f} IO/s<extra>" + _gb(each) + "</extra>"),
            mode="lines",
            line=look["line"],
            customdata=each.iops,
        )
        half = (each.disks_iops + each.ssds_iops) / 2
        times = [seconds for seconds in (pays(each), reaches(each, half)) if seconds is not None]
        passed = [
            (seconds / 60, _way(each, each.iops[each.t_s.index(seconds)])) for seconds in times
        ]
        draw_curve(
            drawn,
            None,
            [minute for minute, _ in passed],
            [share for _, share in passed],
            mode="markers",
            marker=look["marker"] | {"size": 10},
            hoverinfo="skip",
        )
        ends.append((minutes[-1] if minutes else 0.0, _way(each, settled(each))))
    highest = (105 * max(each.iops, default=0.0) / each.ssds_iops for each in found.warmings)
    top = min(160.0, max([115.0, *highest]))
    drawn.update_yaxes(title_text="from disks to SSDs, %", range=[-8, top], ticksuffix=" %")
    longest = max((minute for minute, _ in ends), default=1.0)
    drawn.update_xaxes(title_text="minutes since the empty cache was added", range=[0, longest])
    heights = apart([y for _, y in ends], 0.07 * top)
    for (minute, _), height, each in zip(ends, heights, found.warmings, strict=True):
        end_label(drawn, (minute, height), _gb(each))
    _references(drawn, found.warmings)
    bursts = any(max(one.iops, default=0) > _BURST * one.ssds_iops for one in found.warmings)
    if found.time_lapse > 1 and bursts:
        drawn.add_hrect(y0=104, y1=top, fillcolor=GREY, opacity=0.2, line_width=0, layer="below")
        write_note(
            drawn,
            1,
            top,
            "bursts into controller memory",
            xref="paper",
            yanchor="top",
            xanchor="right",
        )
    return drawn


def _span(each: Warming) -> float:
    return (each.ssds_iops - each.disks_iops) or 1.0


def _way(each: Warming, rate: float) -> float:
    return 100 * (rate - each.disks_iops) / _span(each)


def _references(drawn: Figure, each: Sequence[Warming]) -> None:
    """The two rates that the cache lies between."""
    for height, name, rates in (
        (0, "disks alone", [one.disks_iops for one in each]),
        (100, "SSDs alone", [one.ssds_iops for one in each]),
    ):
        low, high = min(rates), max(rates)
        text = f"{low:,.0f}" if high < 1.02 * low else f"{low:,.0f} to {high:,.0f}"
        drawn.add_hline(y=height, line={"color": GREY, "dash": "dash", "width": 1.5})
        write_note(
            drawn, 0, height, f"{name}: {text} IO/s", xref="paper", yanchor="bottom", xanchor="left"
        )
