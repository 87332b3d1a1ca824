"""What rebuilds at several rates answer: a sentence, a table, one picture of the trade-off."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from raidlab.scenarios import _engine
from raidlab.scenarios.results.look import (
    GREY,
    VERMILLION,
    Column,
    Kind,
    Table,
    apart,
    between,
    digits,
    dress,
    figure,
    log_axis,
)
from raidlab.scenarios.results.page import Box, Page, Picture, Text
from raidlab.scenarios.studies.rebuild import PHASES, Rebuild, Rebuilds
from raidlab.scenarios.studies.rebuild_samples import STRETCHES

if TYPE_CHECKING:
    import plotly.graph_objects as go

_TWICE = 2.0
"""Times by which the users' p99 may grow at the rate that the answer names."""
_SERVED = 0.95
"""Part of the users' rate below which what they get is named."""
_SHORTER = 0.005
"""Part of its time by which a rebuild has to be shorter to be called so."""
_ABOVE = 1.2
"""Ratio of hours below which one point stands above the other in the picture."""
_CLIFF = 1.5
"""Ratio of p99 from one rate to the next that is named."""


def rebuild_report(found: Rebuilds, command: str = "") -> str:
    """The page; `command` makes it again."""
    seconds = [(found.whole_drive_s(each), each) for each in found.rebuilds]
    hours = [(figure(each, "h"), rebuild) for each, rebuild in _hours(found)]
    best = recommended(found)
    boxes = []
    if best is not None:
        own = next(text for text, rebuild in hours if rebuild is best)
        before, during = _p99(best, "before"), _p99(best, "during")
        boxes = (
            [
                Box(own, f"without redundancy at {_rate(best)}, whole drives"),
                Box(figure(during, "ms"), "users' p99 meanwhile"),
                Box(figure(before, "ms"), "users' p99 before"),
            ]
            if during is not None and before is not None
            else [Box(own, f"at {_rate(best)}")]
        )
    drawn = [
        Picture(
            _seen(found),
            "Hours until whole drives are rebuilt, and the p99 of users' I/Os meanwhile, at each"
            " rebuild rate; the grey band is p99 before and after.",
            picture(found),
            wide=True,
        )
    ]
    return Page(
        kind="rebuild",
        question=found.title,
        answer=answer(found),
        boxes=boxes,
        beside=found.warnings,
        breaches=found.breaches,
        pictures=drawn if any(each is not None for each, _ in seconds) else [],
        evidence=[table(found), Text("", _notes(found))],
        provenance=[f"raidlab {_engine.version()}, seed {found.seed}."],
        command=command,
    ).html()


def _hours(found: Rebuilds) -> list[tuple[float, Rebuild]]:
    """Hours for whole drives, of the rebuilds that ended."""
    each = [(found.whole_drive_s(rebuild), rebuild) for rebuild in found.rebuilds]
    return [(seconds / 3600, rebuild) for seconds, rebuild in each if seconds is not None]


def _rate(rebuild: Rebuild) -> str:
    return f"{100 * rebuild.rate:.4g} %"


def _p99(rebuild: Rebuild, phase: str) -> float | None:
    """The users' p99 in ms, of the samples if there are some."""
    sampled = {"before": rebuild.p99_us_before, "during": rebuild.p99_us_during}.get(phase)
    if sampled is not None:
        return sampled / 1e3
    return rebuild.phases[phase].p99_ms if phase in rebuild.phases else None


def recommended(found: Rebuilds) -> Rebuild | None:
    """The highest rate at which the users' p99 at most doubles; else the lowest rate."""
    done = [rebuild for _, rebuild in _hours(found)]
    if not done:
        return None
    gentle = [
        each
        for each in done
        if (before := _p99(each, "before")) is not None
        and (during := _p99(each, "during")) is not None
        and during <= _TWICE * before
    ]
    if gentle:
        return max(gentle, key=lambda each: each.rate)
    return min(done, key=lambda each: each.rate)


def answer(found: Rebuilds) -> str:
    """The rate at which users feel little, and where p99 jumps."""
    best = recommended(found)
    if best is None:
        most = max((each.done for each in found.rebuilds), default=0.0)
        return f"No rebuild ends within the run: {100 * most:.0f} % at most. A longer run.duration."
    hours = {id(rebuild): each for each, rebuild in _hours(found)}
    before, during = _p99(best, "before"), _p99(best, "during")
    text = f"At {_rate(best)} a whole drive is rebuilt in {figure(hours[id(best)], 'h')}"
    if before is not None and during is not None:
        grows = "rises from" if during > before else "goes from"
        text += f" and users' p99 {grows} {between(before, during, 'ms')}"
        text += ", no more than twice" if during <= _TWICE * before else ", more than twice"
    cliff = _cliff(found)
    if cliff is not None:
        low, high = cliff
        p99 = _p99(high, "during")
        sooner = hours[id(low)] - hours[id(high)]
        text += f"; from {_rate(low)} to {_rate(high)} p99 jumps to {figure(p99, 'ms')}"
        shorter = sooner > _SHORTER * hours[id(low)]
        text += f" for {figure(sooner, 'h')} less" if shorter else ", and the rebuild is no shorter"
    return f"{text}.{_unserved(found)}"


def _unserved(found: Rebuilds) -> str:
    """What the highest rate leaves to the users, where that is clearly less than before."""
    highest = max((each for _, each in _hours(found)), key=lambda each: each.rate)
    before, during = _iops(highest, "before"), _iops(highest, "during")
    if not before or during is None or during > _SERVED * before:
        return ""
    return f" At {_rate(highest)} users get {digits(during)} of {digits(before)} IO/s."


def _cliff(found: Rebuilds) -> tuple[Rebuild, Rebuild] | None:
    """The step from one rate to the next at which p99 grows most, if it does by half."""
    done = sorted((each for _, each in _hours(found)), key=lambda each: each.rate)
    steps = [
        (second / first, low, high)
        for low, high in pairwise(done)
        if (first := _p99(low, "during")) and (second := _p99(high, "during"))
    ]
    ratio, low, high = max(steps, key=lambda step: step[0], default=(1.0, None, None))
    return None if ratio < _CLIFF or low is None or high is None else (low, high)


def _seen(found: Rebuilds) -> str:
    cliff = _cliff(found)
    if cliff is None:
        return "A faster rebuild costs the users little here"
    return f"Above {_rate(cliff[0])} users pay more than the shorter rebuild gives"


def table(found: Rebuilds) -> Table:
    """A line for each rebuild rate."""
    columns = [
        Column("rebuild rate", kind=Kind.TEXT),
        Column("whole drives,", "hours"),
        Column("95 % interval,", "hours", kind=Kind.TEXT, priority=3),
        Column("here,", "minutes", priority=4),
        *(Column(f"p99 {name},", "ms", priority=1 if name == "during" else 2) for name in PHASES),
        Column("IO/s before", priority=5),
        Column("IO/s during", priority=5),
        Column("lost writes", priority=6),
    ]
    hours = {id(rebuild): each for each, rebuild in _hours(found)}
    open_load = _is_steady(found)
    rows: list[list[str | int | float | None]] = []
    for each in found.rebuilds:
        rates = [None if open_load else _iops(each, phase) for phase in ("before", "during")]
        rows.append(
            [
                _rate(each),
                hours.get(id(each)),
                None if each.hours_ci95 is None else between(*each.hours_ci95),
                _here(each),
                *(_p99(each, name) for name in PHASES),
                *rates,
                each.lost_writes or None,
            ]
        )
    best = recommended(found)
    marked = [at for at, each in enumerate(found.rebuilds) if each is best]
    return Table(
        "By rebuild rate: share of the time that the rebuild may have", columns, rows, marked
    )


def _here(rebuild: Rebuild) -> str | float | None:
    """Minutes of the scenario's own run, which uses a part of each drive; else how far it came."""
    if rebuild.rebuild_s is not None:
        return rebuild.rebuild_s / 60
    return f"{100 * rebuild.done:.0f} % done" if rebuild.done else None


def _iops(rebuild: Rebuild, phase: str) -> float | None:
    sampled = {"before": rebuild.iops_before, "during": rebuild.iops_during}.get(phase)
    if sampled is not None:
        return sampled
    return rebuild.phases[phase].iops if phase in rebuild.phases else None


def _is_steady(found: Rebuilds) -> bool:
    """Whether rates hardly change, as those of an open load."""
    rates = [
        rate
        for each in found.rebuilds
        for phase in ("before", "during")
        if (rate := _iops(each, phase)) is not None
    ]
    return bool(rates) and max(rates) <= 1.03 * min(rates)


def progress(found: Rebuilds) -> str:
    """How many places were measured."""
    places = max((each.samples for each in found.rebuilds), default=0)
    return f"{places} of {STRETCHES} places" if places < STRETCHES else f"{places} places"


def _notes(found: Rebuilds) -> list[str]:
    lines = []
    if found.used_bytes < found.drive_bytes:
        used, whole = (figure(each, "B") for each in (found.used_bytes, found.drive_bytes))
        lines.append(
            f"The scenario uses {used} of each drive of {whole}: minutes are those of that part."
            " Hours are of whole drives that are used wholly, under the same load."
        )
    lines.append(
        f"Hours come from {progress(found)} all over the drive, each under the load, with their"
        " 95 % interval."
    )
    lost = sum(each.lost_writes for each in found.rebuilds)
    lines.append(
        f"{lost:,} acknowledged writes are lost in these runs." if lost else "No write is lost."
    )
    if _is_steady(found):
        rate = _iops(next(iter(found.rebuilds)), "before") or 0.0
        lines.append(f"The load is served at {digits(rate)} IO/s throughout.")
    lines.append(
        "Until the rebuild ends one more failed drive may lose the array. Before: the array is"
        " whole. During: lost data are computed from the other drives, for users and for the"
        " rebuild. After: the spare is part of the array."
    )
    return lines


def picture(found: Rebuilds) -> go.Figure:
    """Hours without redundancy against the users' p99 meanwhile, a point for each rate."""
    import plotly.graph_objects as go

    points = [
        (hours, p99, rebuild)
        for hours, rebuild in _hours(found)
        if (p99 := _p99(rebuild, "during")) is not None
    ]
    around = [
        p99
        for _, rebuild in _hours(found)
        for phase in ("before", "after")
        if (p99 := _p99(rebuild, phase)) is not None
    ]
    drawn = go.Figure()
    drawn.add_trace(
        go.Scatter(
            x=[hours for hours, _, _ in points],
            y=[p99 for _, p99, _ in points],
            name="p99 during, ms",
            mode="lines+markers",
            line={"color": VERMILLION, "width": 2.5},
            marker={"size": 9},
            text=[_rate(rebuild) for _, _, rebuild in points],
            hovertemplate="%{text}: %{x:.3g} h, p99 %{y:.3g} ms<extra></extra>",
        )
    )
    dress(drawn, height=340, labels=32)
    if around:
        low, high = min(around), max(around)
        drawn.add_hrect(
            y0=low, y1=high, fillcolor=GREY, opacity=0.35, line_width=1, line_color=GREY
        )
        drawn.add_annotation(
            x=1, xref="paper", y=math.log10(low),
            text=f"before and after: {between(low, high, 'ms')}",
            showarrow=False, xanchor="right", yanchor="bottom", font={"size": 13},
        )  # fmt: skip
    axis = log_axis([hours for hours, _, _ in points], "hours without redundancy, whole drives")
    drawn.update_xaxes(axis)
    p99s = log_axis([p99 for _, p99, _ in points] + around, "users' p99 during the rebuild, ms")
    drawn.update_yaxes(p99s)
    low, high = p99s["range"]
    _name_points(drawn, points, 0.06 * (high - low))
    return drawn


def _name_points(
    drawn: go.Figure, points: Sequence[tuple[float, float, Rebuild]], height: float
) -> None:
    """The rate beside each point; labels of points above each other have a line each."""
    columns: list[list[tuple[float, float, Rebuild]]] = []
    for point in sorted(points, key=lambda each: each[0]):
        if columns and point[0] < _ABOVE * columns[-1][0][0]:
            columns[-1].append(point)
        else:
            columns.append([point])
    for column in columns:
        places = apart([math.log10(p99) for _, p99, _ in column], height)
        for (hours, _, rebuild), place in zip(column, places, strict=True):
            drawn.add_annotation(
                x=math.log10(hours), y=place, xshift=9, yshift=9, text=_rate(rebuild),
                showarrow=False, xanchor="left", font={"size": 13},
            )  # fmt: skip
