"""What rebuilds at several rates answer: a sentence, a table, one picture of the trade-off."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from itertools import pairwise

from raidlab.scenarios import _engine
from raidlab.scenarios.report.chart import Figure, chart, draw_curve, write_note
from raidlab.scenarios.report.look import GREY, VERMILLION, apart, log_axis
from raidlab.scenarios.report.page import Box, Page, Picture, Text
from raidlab.scenarios.report.report import Report
from raidlab.scenarios.report.tables import Column, Kind, Table
from raidlab.scenarios.results.number_text import between, digits, figure, hours_text
from raidlab.scenarios.studies.rebuild import PHASES, Rebuild, Rebuilds

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


def report(found: Rebuilds) -> Report:
    """What a terminal shows, and the page."""
    return Report(found.title, answer(found), [table(found)], page=partial(_page, found))


def _page(found: Rebuilds) -> Page:
    best = recommended(found)
    drawn = [
        Picture(
            _seen(found),
            "Hours until the rebuild is done, and the p99 of users' I/Os meanwhile, at each rebuild"
            " rate; the grey band is p99 before and after.",
            picture(found),
            wide=True,
        )
    ]
    return Page(
        kind="rebuild",
        question=found.title,
        boxes=[] if best is None else _boxes(found, best),
        beside=found.warnings,
        breaches=found.breaches,
        pictures=drawn if _hours(found) and not found.idle else [],
        evidence=[table(found), Text("", _notes(found))],
        provenance=[f"raidlab {_engine.version()}, seed {found.seed}."],
    )


def _boxes(found: Rebuilds, best: Rebuild) -> list[Box]:
    """How long, how fast, what users feel of it."""
    at = "without a load" if found.idle else f"at {_rate(best)}"
    boxes = [Box(_took(best), f"without redundancy {at}")]
    if best.mb_per_s is not None:
        limit = "" if best.limit is None else f", limited by {best.limit.words}"
        boxes.append(Box(f"{digits(best.mb_per_s)} MB/s", f"of the new drive{limit}"))
    before, during = _p99(best, "before"), _p99(best, "during")
    if during is not None and before is not None:
        boxes += [
            Box(figure(during, "ms"), "users' p99 meanwhile"),
            Box(figure(before, "ms"), "users' p99 before"),
        ]
    return boxes


def _hours(found: Rebuilds) -> list[tuple[float, Rebuild]]:
    """Hours until all that is used is rebuilt, of the rebuilds that go on."""
    return [(each.hours, each) for each in found.rebuilds if each.hours is not None]


def _took(rebuild: Rebuild) -> str:
    return "" if rebuild.hours is None else hours_text(rebuild.hours)


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
    """How long the rebuild takes, why, what users feel of it, and where p99 jumps."""
    best = recommended(found)
    if best is None:
        return (
            "No rebuild gets on: the load leaves it no time, or the array is offline. A lower rate"
            " of the load, or a higher rebuild rate."
        )
    text = f"{_where(found, best)} {_what(found)} is rebuilt in {_took(best)}{_why(best)}"
    before, during = _p99(best, "before"), _p99(best, "during")
    if before is not None and during is not None:
        grows = "rises from" if during > before else "goes from"
        more = " or more" if best.p99_at_least else ""
        text += f", and users' p99 {grows} {between(before, during, 'ms')}{more}"
        if during > _TWICE * before:
            text += ", more than twice"
        elif not best.p99_at_least:
            text += ", no more than twice"
    if best.overloaded:
        text += ", and more I/Os arrive than are served: users' latencies grow without end"
    cliff = _cliff(found)
    if cliff is not None:
        low, high = cliff
        p99 = _p99(high, "during")
        sooner = (low.hours or 0.0) - (high.hours or 0.0)
        text += f"; from {_rate(low)} to {_rate(high)} p99 jumps to {figure(p99, 'ms')}"
        shorter = sooner > _SHORTER * (low.hours or 0.0)
        text += f" for {hours_text(sooner)} less" if shorter else ", and the rebuild is no shorter"
    whole = found.whole_drive_s(best)
    if whole is not None and found.used_bytes < found.drive_bytes:
        size = figure(found.drive_bytes, "B")
        text += f". All {size} of a drive would take {hours_text(whole / 3600)}"
    return f"{text}.{_others(found, best)}{_unserved(found)}"


def _where(found: Rebuilds, best: Rebuild) -> str:
    return "Without a load" if found.idle else f"At {_rate(best)}"


def _what(found: Rebuilds) -> str:
    """What of a drive is rebuilt."""
    size = figure(found.used_bytes, "B")
    used = found.used_bytes < found.drive_bytes
    return f"the used {size} of a drive" if used else f"a whole drive of {size}"


def _why(best: Rebuild) -> str:
    """` at 190 MB/s, limited by drives, streaming`."""
    if best.mb_per_s is None or best.limit is None:
        return ""
    return f" at {digits(best.mb_per_s)} MB/s, limited by {best.limit.words}"


def _others(found: Rebuilds, best: Rebuild) -> str:
    """When all drives that fail are rebuilt."""
    if found.failed == 1 or best.all_hours is None:
        return ""
    drives = "Both failed drives" if found.failed == 2 else f"All {found.failed} failed drives"
    if found.one_pass:
        return f" {drives} are rebuilt in that pass."
    return f" {drives} take {hours_text(best.all_hours)}, one after the other."


def _unserved(found: Rebuilds) -> str:
    """What the highest rate leaves to the users, where that is clearly less than before."""
    highest = max((each for _, each in _hours(found)), key=lambda each: each.rate)
    before, during = _iops(highest, "before"), _iops(highest, "during")
    # What arrives and is served differs by chance alone.
    all_served = found.open and not highest.overloaded
    if all_served or not before or during is None or during > _SERVED * before:
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


_UNITS = (("hours", 1.0), ("minutes", 60.0), ("s", 3600.0))
"""Of a table's times, and how many make an hour."""


def table(found: Rebuilds) -> Table:
    """A line for each rebuild rate."""
    longest = max((hours for hours, _ in _hours(found)), default=1.0)
    unit, factor = next(((u, f) for u, f in _UNITS if f * longest >= 1.0), _UNITS[-1])
    here = any(each.rebuild_s is not None for each in found.rebuilds)
    columns = [
        Column("rebuild rate", kind=Kind.TEXT),
        Column("rebuilt in,", unit),
        Column("95 % interval,", unit, kind=Kind.TEXT, priority=3, width=12),
        *([Column("all drives in,", unit)] if found.failed > 1 else []),
        Column("rate,", "MB/s", priority=1),
        Column("limit", kind=Kind.TEXT, priority=4, width=12),
        *([Column("own run,", unit, priority=5)] if here else []),
        *(Column(f"p99 {name},", "ms", priority=1 if name == "during" else 2) for name in PHASES),
        Column("IO/s before", priority=5),
        Column("IO/s during", priority=5),
        Column("lost writes", priority=6),
    ]
    open_load = _is_steady(found)
    rows: list[list[str | int | float | None]] = []
    for each in found.rebuilds:
        rates = [None if open_load else _iops(each, phase) for phase in ("before", "during")]
        ends = each.hours_ci95
        rows.append(
            [
                "any" if found.idle else _rate(each),
                None if each.hours is None else factor * each.hours,
                None if ends is None else between(factor * ends[0], factor * ends[1]),
                *([_times(factor, each.all_hours)] if found.failed > 1 else []),
                each.mb_per_s,
                None if each.limit is None else each.limit.cause.value,
                *(
                    [None if each.rebuild_s is None else factor * each.rebuild_s / 3600]
                    if here
                    else []
                ),
                *(_p99(each, name) for name in PHASES),
                *rates,
                each.lost_writes or None,
            ]
        )
    best = recommended(found)
    marked = [at for at, each in enumerate(found.rebuilds) if each is best and not found.idle]
    title = "By rebuild rate: share of the time that the rebuild may have"
    return Table("Without a load" if found.idle else title, columns, rows, marked)


def _times(factor: float, hours: float | None) -> float | None:
    return None if hours is None else factor * hours


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
    places = [each.samples for each in found.rebuilds]
    fewest, most = min(places, default=0), max(places, default=0)
    return f"{most} places" if fewest == most else f"{fewest} to {most} places"


def _notes(found: Rebuilds) -> list[str]:
    lines = []
    if found.used_bytes < found.drive_bytes:
        used, whole = (figure(each, "B") for each in (found.used_bytes, found.drive_bytes))
        lines.append(f"The array uses {used} of each drive of {whole}, and only that is rebuilt.")
    lines.append(
        f"Times come from {progress(found)} all over what is rebuilt, each under the load, with"
        " their 95 % interval."
    )
    least = [_rate(each) for each in found.rebuilds if each.p99_at_least]
    if least:
        lines.append(
            f"At {', '.join(least)} p99 is at least what stands here: near the limit users' queues"
            " remember for longer than the longest sample lasts."
        )
    lost = sum(each.lost_writes for each in found.rebuilds)
    if any(each.rebuild_s is not None for each in found.rebuilds):
        lines.append(
            f"{lost:,} acknowledged writes are lost in the scenario's own runs."
            if lost
            else "No write is lost in the scenario's own runs."
        )
    if _is_steady(found):
        rate = _iops(next(iter(found.rebuilds)), "before") or 0.0
        lines.append(f"The load is served at {digits(rate)} IO/s throughout.")
    if found.failed > 1:
        lines.append(
            f"{found.failed} drives fail, and all are missing while the first one is rebuilt, as if"
            " they had failed together; p99 is that of this time."
        )
        lines.append(
            "md reads the remaining drives once and writes all new ones side by side; the hours are"
            " those of a pass that writes one."
            if found.one_pass
            else "The controller rebuilds one drive after the other, the next with one fewer"
            " missing."
        )
    lines.append(
        "Until the rebuild ends one more failed drive may lose the array. Before: the array is"
        " whole. During: lost data are computed from the other drives, for users and for the"
        " rebuild. After: the spare is part of the array."
    )
    return lines


def picture(found: Rebuilds) -> Figure:
    """Hours without redundancy against the users' p99 meanwhile, a point for each rate."""
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
    drawn = chart(height=340, labels=32)
    draw_curve(
        drawn,
        "p99 during, ms",
        [hours for hours, _, _ in points],
        [p99 for _, p99, _ in points],
        texts=[_rate(rebuild) for _, _, rebuild in points],
        hover="%{text}: %{x:.3g} h, p99 %{y:.3g} ms<extra></extra>",
        line={"color": VERMILLION, "width": 2.5},
        marker={"size": 9},
    )
    if around:
        low, high = min(around), max(around)
        drawn.add_hrect(
            y0=low, y1=high, fillcolor=GREY, opacity=0.35, line_width=1, line_color=GREY
        )
        write_note(
            drawn,
            1,
            math.log10(low),
            f"before and after: {between(low, high, 'ms')}",
            xref="paper",
            xanchor="right",
            yanchor="bottom",
        )
    axis = log_axis([hours for hours, _, _ in points], "hours without redundancy")
    drawn.update_xaxes(axis)
    p99s = log_axis([p99 for _, p99, _ in points] + around, "users' p99 during the rebuild, ms")
    drawn.update_yaxes(p99s)
    low, high = p99s["range"]
    _name_points(drawn, points, 0.06 * (high - low))
    return drawn


def _name_points(
    drawn: Figure, points: Sequence[tuple[float, float, Rebuild]], height: float
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
            write_note(
                drawn, math.log10(hours), place, _rate(rebuild), xshift=9, yshift=9, xanchor="left"
            )
