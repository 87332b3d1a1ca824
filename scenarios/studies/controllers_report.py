"""The page of controllers compared: a picture for each load and kind of drive, a table, levels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from raidlab.scenarios.results.charts import COLOURS
from raidlab.scenarios.results.report import chart, page
from raidlab.scenarios.spec.loads import PROFILES, Profile
from raidlab.scenarios.studies.controllers import AREA, Comparison, Curve
from raidlab.scenarios.studies.levels import IOS_PER_WRITE, SmallWrites

_ALIKE = 0.02
"""Controllers whose rates differ by no more than this at every depth share a line."""
_KINDS = {"hdd": "Hard disks", "ssd": "SSDs"}
_DASHES = ("solid", "dash", "dot", "dashdot")
_MARKS = ("circle", "square", "diamond", "triangle-up", "x", "star", "cross", "triangle-down")


@dataclass(frozen=True)
class _Line:
    """Controllers that cannot be told apart by a load."""

    names: tuple[str, ...]
    curve: Curve


def controllers_report(found: Comparison) -> str:
    """One page that needs nothing else."""
    kinds = list(dict.fromkeys(curve.kind for curve in found.curves))
    return page(
        "controllers.html.j2",
        title="RAID controllers compared",
        found=found,
        area=AREA,
        kinds=[_kind(found, kind) for kind in kinds],
        levels=chart(levels_picture(found.small_writes)) if found.small_writes else None,
    )


def _kind(found: Comparison, kind: str) -> dict[str, Any]:
    curves = [curve for curve in found.curves if curve.kind == kind]
    profiles = list(dict.fromkeys(curve.profile for curve in curves))
    counts = {curve.controller: curve for curve in curves}
    return {
        "title": _KINDS[kind],
        "profiles": profiles,
        "charts": [
            {
                "title": f"{_KINDS[kind]}: {profile}",
                "text": _words(profile),
                "chart": chart(picture(found, kind, profile)),
            }
            for profile in profiles
        ],
        "rows": [
            {
                "controller": name,
                "drives": f"{any_curve.count} {any_curve.drive}",
                "cells": [_cell(curves, name, profile) for profile in profiles],
            }
            for name, any_curve in counts.items()
        ],
        "alone": [
            {
                "drive": drive,
                "cells": [_alone(found, kind, drive, profile) for profile in profiles],
            }
            for drive in dict.fromkeys(c.drive for c in found.alone if c.kind == kind)
        ],
    }


def _profile(name: str) -> Profile:
    return next(profile for profile in PROFILES if profile == name)


def _words(profile: str) -> str:
    load = PROFILES[_profile(profile)]
    reads = {0.0: "writes", 1.0: "reads"}.get(load.read_share, f"{load.read_share:.0%} reads")
    random = load.access == "random"
    cache = "past the controller's cache" if random else "with read-ahead and write-back"
    spans = (
        " At offsets that are not multiples of the stripe unit of 64 KiB nearly every request"
        " needs two drives: about half the I/Os of small requests."
    )
    size = f"{load.block_bytes >> 10} KiB"
    return f"{load.access.capitalize()}, {reads.replace('%', ' %')}, {size}, {cache}." + (
        spans if random and load.block_bytes == 1 << 16 else ""
    )


def _unit(profile: str) -> tuple[str, str]:
    """Which rate of a curve a load is told by, and its unit."""
    random = PROFILES[_profile(profile)].access == "random"
    return ("iops", "IO/s") if random else ("mib_per_s", "MiB/s")


def _rates(curve: Curve) -> tuple[float, ...]:
    return curve.iops if _unit(curve.profile)[0] == "iops" else curve.mib_per_s


def _cell(curves: Sequence[Curve], name: str, profile: str) -> dict[str, Any]:
    curve = next(c for c in curves if c.controller == name and c.profile == profile)
    return {
        "best": _rates(curve)[curve.best],
        "flat": curve.flat_from,
        "bottleneck": curve.bottleneck[curve.best],
    }


def _alone(found: Comparison, kind: str, drive: str, profile: str) -> float:
    curve = next(c for c in found.alone if (c.kind, c.drive, c.profile) == (kind, drive, profile))
    return _rates(curve)[curve.best]


def lines(curves: Sequence[Curve]) -> list[_Line]:
    """Curves of one load, those that are alike as one; the highest first."""
    groups: list[list[Curve]] = []
    for curve in curves:
        same = next((group for group in groups if _alike(group[0], curve)), None)
        if same is None:
            groups.append([curve])
        else:
            same.append(curve)
    groups.sort(key=lambda group: -max(group[0].iops))
    return [_Line(tuple(curve.controller for curve in group), group[0]) for group in groups]


def _alike(one: Curve, other: Curve) -> bool:
    pairs = zip(one.iops, other.iops, strict=True)
    same_system = (one.drive, one.count) == (other.drive, other.count)
    return same_system and all(abs(a - b) <= _ALIKE * max(a, b) for a, b in pairs)


def picture(found: Comparison, kind: str, profile: str) -> go.Figure:
    """Rates over what is outstanding, and what the drives would give without a controller."""
    curves = [c for c in found.curves if (c.kind, c.profile) == (kind, profile)]
    # A controller looks the same in every picture.
    places = {name: at for at, name in enumerate(dict.fromkeys(c.controller for c in found.curves))}
    figure = go.Figure()
    for line in lines(curves):
        curve, at = line.curve, places[line.names[0]]
        figure.add_trace(
            go.Scatter(
                x=curve.outstanding,
                y=_rates(curve),
                name=_wrapped(line.names) + f"<br>  {curve.count} {curve.drive}",
                mode="lines+markers",
                line={
                    "color": COLOURS[at % len(COLOURS)],
                    "dash": _DASHES[at // len(COLOURS) % len(_DASHES)],
                    "width": 2.5,
                },
                marker={"size": 8, "symbol": _MARKS[at % len(_MARKS)]},
                customdata=[name or "-" for name in curve.bottleneck],
                hovertemplate="%{x} outstanding: %{y:,.0f}<br>busiest: %{customdata}"
                f"<extra>{line.names[0]}</extra>",
            )
        )
    outstanding = curves[0].outstanding
    for drive, count in dict.fromkeys((c.drive, c.count) for c in curves):
        alone = next(c for c in found.alone if c.drive == drive and c.profile == profile)
        figure.add_trace(
            go.Scatter(
                x=[outstanding[0], outstanding[-1]],
                y=[count * _rates(alone)[alone.best]] * 2,
                text=[f"{count} times one {drive}", ""],
                textposition="top right",
                textfont={"size": 11, "color": "#5b6b7b"},
                mode="lines+text",
                line={"color": "#8a97a5", "dash": "dash", "width": 1.5},
                showlegend=False,
                hoverinfo="skip",
            )
        )
    figure.update_xaxes(
        type="log",
        tickvals=outstanding,
        ticktext=[str(each) for each in outstanding],
        title_text="outstanding I/Os (logarithmic)",
    )
    figure.update_yaxes(title_text=_unit(profile)[1], rangemode="tozero", tickformat=",d")
    return _dressed(figure, 500)


def _wrapped(names: Sequence[str]) -> str:
    """Names in lines that fit beside a picture."""
    return ",<br>".join(", ".join(names[at : at + 2]) for at in range(0, len(names), 2))


def levels_picture(found: Sequence[SmallWrites]) -> go.Figure:
    """What a small write costs on each level, beside what the rule says."""
    figure = go.Figure()
    levels = list(IOS_PER_WRITE)
    titles = [level.upper().replace("RAID", "RAID ") for level in levels]
    names = list(dict.fromkeys(each.controller for each in found))
    costs = {(each.controller, each.cached, each.level): each.ios_per_write for each in found}
    for cached, at in ((False, 0), (True, 2)):
        groups: list[list[str]] = []
        for name in names:
            same = [
                group
                for group in groups
                if all(
                    abs(costs[group[0], cached, level] / costs[name, cached, level] - 1) <= _ALIKE
                    for level in levels
                )
            ]
            if same:
                same[0].append(name)
            else:
                groups.append([name])
        for shade, group in enumerate(groups):
            how = "write-back cache" if cached else "write-through"
            values = [costs[group[0], cached, level] for level in levels]
            figure.add_trace(
                go.Bar(
                    x=titles,
                    y=values,
                    name=f"{how}:<br>{_wrapped(group)}",
                    text=[f"{value:.2g}" for value in values],
                    textposition="inside",
                    insidetextanchor="middle",
                    marker={"color": COLOURS[at], "opacity": 1 / (1 + 0.5 * shade)},
                    hovertemplate="%{x}: %{y:.2f} I/Os a write<extra></extra>",
                )
            )
    for at, cost in enumerate(IOS_PER_WRITE.values()):
        figure.add_trace(
            go.Scatter(
                x=[at - 0.45, at + 0.45],
                y=[cost, cost],
                xaxis="x2",
                name="the rule: I/Os to drives<br>that one small write takes",
                showlegend=at == 0,
                mode="lines",
                line={"color": "#1c2733", "width": 3},
                hoverinfo="skip",
            )
        )
    figure.update_layout(
        xaxis2={"overlaying": "x", "visible": False, "range": [-0.5, len(levels) - 0.5]},
        xaxis={"range": [-0.5, len(levels) - 0.5]},
    )
    figure.update_yaxes(title_text="cost of a small write, I/Os to drives", rangemode="tozero")
    return _dressed(figure, 440)


def _dressed(figure: go.Figure, height: int) -> go.Figure:
    return figure.update_layout(
        template="plotly_white",
        height=height,
        margin={"l": 80, "r": 20, "t": 20, "b": 60},
        font={"family": "system-ui, sans-serif", "size": 13},
        legend={"tracegroupgap": 4, "font": {"size": 11}},
        hovermode="closest",
    )
