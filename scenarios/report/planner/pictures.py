"""What a plan draws: latency over cost, the load's point on its curve, where the time goes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from raidlab.scenarios.capacity.answer import Answer, fits, price
from raidlab.scenarios.capacity.candidates import Candidate
from raidlab.scenarios.report.chart import Figure, chart, draw_curve
from raidlab.scenarios.report.look import BLUE, GREY, VERMILLION, log_axis
from raidlab.scenarios.report.page import Picture
from raidlab.scenarios.results.number_text import figure, part_name
from raidlab.scenarios.results.row import Row, measured

_LOADS = 3
"""Loads whose time is drawn: the slowest ones."""


def pictures(found: Answer, why: Callable[[Candidate], str]) -> list[Picture]:
    """What there is to draw; `why` says why a candidate does not fit."""
    drawn = [each for each in found.candidates if each.p99_us is not None]
    made = []
    if len(drawn) > 2:
        what = "cost" if found.question.prices else "the number of drives"
        made.append(
            Picture(
                "What latency costs",
                f"p99 over {what} of every candidate that was simulated.",
                _costs(found, drawn, why),
                wide=True,
            )
        )
    if found.headroom is not None and len(found.headroom.curve) > 1:
        made.append(_load(found))
    slowest = sorted(
        (row for row in found.rows if row["latency_us"] and row["breakdown_us"]),
        key=lambda row: -measured(row)["mean"],
    )
    return made + [_time(row, several=len(found.rows) > 1) for row in slowest[:_LOADS]]


def _costs(found: Answer, drawn: Sequence[Candidate], why: Callable[[Candidate], str]) -> Figure:
    picture = chart(height=320)
    groups = (
        ("does not fit", GREY, "x", [each for each in drawn if not fits(each)]),
        ("fits", BLUE, "circle", [each for each in drawn if fits(each)]),
        ("recommended", VERMILLION, "star", [each for each in drawn if each is found.recommended]),
    )
    for name, colour, mark, own in groups:
        draw_curve(
            picture,
            name,
            [price(each)[0] for each in own],
            [(each.p99_us or 0.0) / 1e3 for each in own],
            mode="markers",
            marker={"color": colour, "symbol": mark, "size": 16 if mark == "star" else 9},
            hovertext=[f"{each.name}: {why(each) if each.out else 'fits'}" for each in own],
        )
    picture.update_layout(showlegend=True)
    picture.update_yaxes(**log_axis([(each.p99_us or 0.0) / 1e3 for each in drawn], "p99, ms"))
    unit = found.question.table.currency
    priced = bool(found.question.prices)
    picture.update_xaxes(
        title_text=f"cost, {unit}".rstrip(", ") if priced else "drives", tickformat=",~f"
    )
    return picture


def _load(found: Answer) -> Picture:
    """p99 of the recommended candidate over the rate, with the load that it was chosen for."""
    headroom, growth = found.headroom, found.question.growth
    assert headroom is not None
    served = [each for each in headroom.curve if each.served and each.p99_us]
    picture = chart()
    draw_curve(
        picture,
        "p99",
        [each.iops for each in served],
        [(each.p99_us or 0.0) / 1e3 for each in served],
        at=0,
        hover="%{x:,.0f} IO/s: %{y:.3g} ms<extra></extra>",
    )
    own = min(headroom.curve, key=lambda each: abs(each.factor - growth))
    most = own.iops * headroom.factor / growth
    marks = [(own.iops, "the load")]
    if not headroom.beyond_search and headroom.factor > growth:
        marks.append((most, "at most"))
    for at, (iops, name) in enumerate(marks):
        picture.add_vline(
            x=iops, line={"color": (VERMILLION, GREY)[at], "dash": "dot", "width": 2},
            annotation={"text": name, "yref": "paper", "y": 1 - 0.1 * at, "font": {"size": 13}},
        )  # fmt: skip
    bounds = [
        goal.bound / 1e3
        for goal in found.question.latency_goals
        if goal.quantity == "p99" and goal.at_most
    ]
    values = [(each.p99_us or 0.0) / 1e3 for each in served]
    for bound in bounds:
        picture.add_hline(y=bound, line={"color": GREY, "dash": "dash", "width": 2})
    picture.update_yaxes(**log_axis([*values, *bounds], "p99, ms"))
    picture.update_xaxes(title_text="IO/s", rangemode="tozero", tickformat=",~s")
    beyond = [each for each in headroom.curve if not each.served]
    drawn = f"p99 of the recommended system over the rate{', dashed: the goal' * bool(bounds)}."
    if beyond:
        drawn += f" {figure(beyond[0].iops, 'IO/s')} are no longer served."
    when = "" if growth == 1 else " at the end of the horizon"
    seen = f"{figure(own.iops, 'IO/s')} come{when}"
    rest = f"goals hold up to {figure(most, 'IO/s')}"
    if headroom.beyond_search:
        rest = f"{figure(most, 'IO/s')} and more are borne"
    return Picture(f"{seen}; {rest}", drawn, picture)


def _time(row: Row, *, several: bool) -> Picture:
    """Where the mean time of a load's I/Os goes on the recommended candidate."""
    from raidlab.scenarios.report.runs import charts

    parts = row["breakdown_us"]
    part = max(parts, key=lambda each: parts[each])
    share = 100 * parts[part] / (sum(parts.values()) or 1.0)
    which = f"{row['workload']}: most" if several else "Most"
    mean = figure(measured(row)["mean"], "us")
    return Picture(
        f"{which} of the time is {part_name(part)} ({share:.0f} %)",
        f"Shares of the mean latency, {mean}, on the recommended system.",
        charts.breakdown([row], row["workload"]),
    )
