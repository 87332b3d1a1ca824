"""What controllers side by side answer: a sentence, tables, a picture for each load."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from raidlab.scenarios import _engine
from raidlab.scenarios.report.chart import Figure, chart, draw_bars, draw_curve, write_note
from raidlab.scenarios.report.look import (
    GREY,
    LINES,
    MARKS,
    SKY,
    apart,
    depth_axis,
    dress,
    end_label,
    log_axis,
)
from raidlab.scenarios.report.page import Box, Evidence, Page, Picture, Text
from raidlab.scenarios.report.report import Report
from raidlab.scenarios.report.tables import Cell, Column, Kind, Table
from raidlab.scenarios.results.number_text import digits, figure
from raidlab.scenarios.spec.loads import PROFILES, Profile
from raidlab.scenarios.studies.controllers import AREA, Comparison, Curve
from raidlab.scenarios.studies.levels import IOS_PER_WRITE, SmallWrites

_ALIKE_SHARE = 0.02
"""Controllers whose rates differ by no more than this at every depth share a line."""
_KINDS = {"hdd": "Hard disks", "ssd": "SSDs"}
_DASHES = ("solid", "dash", "dot")
_DIRECT_LABELS = 4
_LIMITS_SHOWN = 10
_DROP = 0.05
"""Fall of a rate at a larger depth that is marked."""
_DECADE = 10.0
MIB = 1 << 20


@dataclass(frozen=True)
class Line:
    """Controllers whose curves are alike under a load."""

    names: tuple[str, ...]
    curve: Curve


def report(found: Comparison) -> Report:
    """What a terminal shows, and the page."""
    title = f"Controllers with up to {found.drives} drives, RAID 0"
    return Report(title, answer(found), terminal_tables(found), page=partial(_page, found))


def _page(found: Comparison) -> Page:
    pictures = [
        Picture(
            f"{_KINDS[kind]}, {profile}: {_best(found, kind, profile)}",
            f"{_words(profile)} The dashed line is this many single drives at their best.",
            picture(found, kind, profile),
        )
        for kind in _kinds(found)
        for profile in _profiles(found, kind)
    ]
    if found.small_writes:
        pictures.append(
            Picture(
                "A small write takes two, four, six I/Os to drives, fewer with a cache",
                "Random writes of 8 KiB to hard disks, 256 outstanding: RAID 0's rate bypassing"
                " the cache over each level's own. Grey: what the level takes without a cache.",
                levels_picture(found.small_writes),
            )
        )
    evidence: list[Evidence] = [
        *tables(found),
        *([levels_table(found)] if found.small_writes else []),
    ]
    return Page(
        kind="controllers",
        question="Which RAID controller is fastest, and what limits the others?",
        boxes=_boxes(found),
        beside=found.warnings,
        breaches=found.breaches,
        pictures=pictures,
        evidence=[
            *evidence,
            limits_table(found),
            Text(
                "",
                [
                    f"Behind each controller are {found.drives} drives, or as many as it has ports"
                    " for, in a RAID 0 with a stripe unit of 64 KiB; the loads touch"
                    f" {AREA} at offsets that are multiples of 512 bytes. So curves differ by what"
                    " the controller adds: its link and ports, its cores, its command queue.",
                    f"Controllers whose rates differ by {100 * _ALIKE_SHARE:.0f} % or less at every"
                    " depth share a line.",
                    "A run ends when its rate is known to 0.5 %, at the latest after 40 s of random"
                    " loads on disks, 0.7 s on SSDs.",
                ],
            ),
        ],
        provenance=[f"raidlab {_engine.version()}, seed {found.seed}."],
    )


def _kinds(found: Comparison) -> list[str]:
    return list(dict.fromkeys(curve.kind for curve in found.curves))


def _profiles(found: Comparison, kind: str) -> list[str]:
    return list(dict.fromkeys(curve.profile for curve in found.curves if curve.kind == kind))


def _of(found: Comparison, kind: str, profile: str) -> list[Curve]:
    """Curves of one load on one kind of drive, the highest first."""
    own = [curve for curve in found.curves if (curve.kind, curve.profile) == (kind, profile)]
    return sorted(own, key=lambda curve: -highest(curve))


def answer(found: Comparison) -> str:
    """The fastest controller of the first load, and the next behind it, for each kind of drive."""
    return " ".join(_sentence(found, kind) for kind in _kinds(found)) or "Nothing was simulated."


def _sentence(found: Comparison, kind: str) -> str:
    profile = _profiles(found, kind)[0]
    curves = _of(found, kind, profile)
    first = curves[0]
    best = highest(first)
    text = f"{_KINDS[kind]}, {profile}: {first.controller} gives {figure(best, _unit(profile))}"
    # Those with fewer drives are slower for that alone.
    others = [each for each in curves[1:] if each.count == first.count]
    behind = [each for each in others if best > (1 + _ALIKE_SHARE) * highest(each)]
    if behind:
        text += f", {100 * (best / highest(behind[0]) - 1):.0f} % above {behind[0].controller}"
        text += f" (its limit: {_limit(behind[0])})"
    elif others:
        text += f", and all others with {first.count} drives as much"
    return f"{text}."


def _best(found: Comparison, kind: str, profile: str) -> str:
    first = lines(_of(found, kind, profile))[0]
    others = f" and {len(first.names) - 1} more" if len(first.names) > 1 else ""
    reach = "reach" if others else "reaches"
    return f"{first.names[0]}{others} {reach} {figure(highest(first.curve), _unit(profile))}"


def _boxes(found: Comparison) -> list[Box]:
    boxes = []
    for kind in _kinds(found):
        profile = _profiles(found, kind)[0]
        first = _of(found, kind, profile)[0]
        value = figure(highest(first), _unit(profile))
        drives = "hard disks" if kind == "hdd" else "SSDs"
        boxes.append(Box(value, f"{drives}, {profile}: {first.controller}"))
    return boxes


def _limit(curve: Curve, at: int = -1) -> str:
    """What bounds a point of a curve, without its controller: `queue`, `drives`."""
    names = curve.limit_names[at]
    own = [name.removeprefix(f"{curve.controller} ") for name in names]
    return ", ".join(own) or "time of one I/O"


def _profile(name: str) -> Profile:
    return next(profile for profile in PROFILES if profile == name)


def _words(profile: str) -> str:
    load = PROFILES[_profile(profile)]
    reads = {0.0: "writes", 1.0: "reads"}.get(
        load.read_share, f"{100 * load.read_share:.0f} % reads"
    )
    random = load.access == "random"
    cache = "bypassing the controller's cache" if random else "with read-ahead and write-back"
    spans = (
        " At offsets that are not multiples of the stripe unit of 64 KiB nearly every request"
        " needs two drives: about half the I/Os of small requests."
    )
    size = f"{load.block_bytes >> 10} KiB"
    return f"{load.access.capitalize()}, {reads}, {size}, {cache}." + (
        spans if random and load.block_bytes == 1 << 16 else ""
    )


def _unit(profile: str) -> str:
    """The unit of the rate by which a load is compared."""
    return "IO/s" if PROFILES[_profile(profile)].access == "random" else "MB/s"


def rates(curve: Curve) -> tuple[float, ...]:
    """IO/s of random loads, MB/s of sequential ones."""
    if _unit(curve.profile) == "IO/s":
        return curve.iops
    return tuple(rate * MIB / 1e6 for rate in curve.mib_per_s)


def highest(curve: Curve) -> float:
    """The highest rate that may carry a statement."""
    return rates(curve)[curve.best]


def tables(found: Comparison) -> list[Table]:
    """For each kind of drive the best rate of each controller under each load."""
    made = []
    for kind in _kinds(found):
        profiles = _profiles(found, kind)
        order = [curve.controller for curve in _of(found, kind, profiles[0])]
        by_name = {
            (curve.controller, curve.profile): curve for curve in found.curves if curve.kind == kind
        }
        rows: list[list[Cell]] = []
        for name in order:
            own = [by_name[name, profile] for profile in profiles]
            what = f"{own[0].count} {own[0].drive}"
            rows.append([name, what, *(_cell(curve) for curve in own)])
        for drive in dict.fromkeys(c.drive for c in found.alone if c.kind == kind):
            alone = {c.profile: c for c in found.alone if (c.kind, c.drive) == (kind, drive)}
            rows.append(["none", f"1 {drive}", *(_cell(alone[profile]) for profile in profiles)])
        made.append(
            Table(
                f"{_KINDS[kind]}: the best rate (from queue depth)",
                [
                    Column("controller", kind=Kind.TEXT, width=14),
                    Column("drives", kind=Kind.TEXT, width=12, priority=2),
                    *(
                        Column(profile, _unit(profile), priority=min(3 + at, 7) if at > 1 else 1)
                        for at, profile in enumerate(profiles)
                    ),
                ],
                rows,
            )
        )
    return made


def terminal_tables(found: Comparison) -> list[Table]:
    """What a terminal shows: the best rates, their limits, the levels."""
    levels = [levels_table(found)] if found.small_writes else []
    return [*tables(found), replace(limits_table(found), most=_LIMITS_SHOWN), *levels]


def _cell(curve: Curve) -> str:
    return f"{digits(rates(curve)[curve.best])} ({curve.flat_from})"


def limits_table(found: Comparison) -> Table:
    """What limits each curve where it is highest."""
    rows: list[list[Cell]] = [
        [
            curve.controller or "none",
            f"{curve.count} {curve.drive}",
            curve.profile,
            curve.iops[curve.best],
            curve.mib_per_s[curve.best] * MIB / 1e6,
            curve.flat_from,
            _limit(curve),
        ]
        for curve in (*found.curves, *found.alone)
    ]
    columns = [
        Column("controller", kind=Kind.TEXT, width=14),
        Column("drives", kind=Kind.TEXT, width=12, priority=2),
        Column("profile", kind=Kind.TEXT, width=11),
        Column("best", "IO/s"),
        Column("best", "MB/s", priority=3),
        Column("from queue depth"),
        Column("limit", kind=Kind.TEXT, width=10),
    ]
    return Table("What limits each curve", columns, rows)


def levels_table(found: Comparison) -> Table:
    """What a small write costs on each level."""
    return Table(
        "Small writes to disks, level by level",
        [
            Column("controller", kind=Kind.TEXT, width=14),
            Column("level", kind=Kind.TEXT),
            Column("cache", kind=Kind.TEXT, width=13),
            Column("IO/s"),
            Column("drive I/Os a write"),
        ],
        [
            [
                each.controller,
                each.level,
                "write-back" if each.cached else "write-through",
                each.iops,
                each.ios_per_write,
            ]
            for each in found.small_writes
        ],
    )


def lines(curves: Sequence[Curve]) -> list[Line]:
    """Curves of one load, those that are alike as one; the highest first."""
    groups: list[list[Curve]] = []
    for curve in curves:
        same = next((group for group in groups if _alike(group[0], curve)), None)
        if same is None:
            groups.append([curve])
        else:
            same.append(curve)
    groups.sort(key=lambda group: -max(group[0].iops))
    return [Line(tuple(curve.controller for curve in group), group[0]) for group in groups]


def _alike(one: Curve, other: Curve) -> bool:
    pairs = zip(one.iops, other.iops, strict=True)
    same_system = (one.drive, one.count) == (other.drive, other.count)
    return same_system and all(abs(a - b) <= _ALIKE_SHARE * max(a, b) for a, b in pairs)


def picture(found: Comparison, kind: str, profile: str) -> Figure:
    """Rates over what is outstanding, and what the drives would give without a controller."""
    curves = [c for c in found.curves if (c.kind, c.profile) == (kind, profile)]
    # A controller looks the same in every picture.
    places = {name: at for at, name in enumerate(dict.fromkeys(c.controller for c in found.curves))}
    groups = lines(curves)
    direct = len(groups) <= _DIRECT_LABELS
    drawn = chart(
        height=340 if direct else 380 + 22 * -(-len(groups) // 2), labels=150 if direct else 24
    )
    for each in groups:
        curve, at = each.curve, places[each.names[0]]
        colour = _colour(at)
        draw_curve(
            drawn,
            f"{', '.join(each.names)}: {_limit(curve)}",
            curve.outstanding,
            rates(curve),
            hover=(
                "%{x} outstanding: %{y:,.0f} "
                + _unit(profile)
                + f"<br>busiest: %{{customdata}}<extra>{each.names[0]}</extra>"
            ),
            line={"color": colour, "dash": _DASHES[at // len(LINES) % 3], "width": 2.5},
            marker={"size": 8, "symbol": MARKS[at % len(MARKS)], "color": colour},
            customdata=[_limit(curve, point) for point in range(len(curve.outstanding))],
        )
    drawn.update_xaxes(depth_axis(curves[0].outstanding))
    values = [rate for curve in curves for rate in rates(curve)]
    wide = max(values) > _DECADE * min(values)
    place: Callable[[float], float] = math.log10 if wide else float
    highest = _alone(drawn, found, curves, place)
    if wide:
        drawn.update_yaxes(log_axis([*values, highest], _unit(profile)))
    else:
        drawn.update_yaxes(
            title_text=_unit(profile), range=[0, 1.12 * max(*values, highest)], tickformat=",~r"
        )
    _mark_drops(drawn, groups, place)
    if direct:
        _name_ends(drawn, groups, places, place)
    else:
        drawn.update_layout(showlegend=True, margin_t=24 + 24 * len(groups))
    return drawn


def _colour(at: int) -> str:
    return LINES[at % len(LINES)]


def _alone(
    drawn: Figure,
    found: Comparison,
    curves: Sequence[Curve],
    place: Callable[[float], float],
) -> float:
    """Dashed lines at the rate of this many single drives; the highest of them."""
    highest = 0.0
    profile = curves[0].profile
    for drive, count in dict.fromkeys((c.drive, c.count) for c in curves):
        alone = next(c for c in found.alone if c.drive == drive and c.profile == profile)
        rate = count * rates(alone)[alone.best]
        highest = max(highest, rate)
        drawn.add_hline(y=rate, line={"color": GREY, "dash": "dash", "width": 1.5})
        write_note(
            drawn,
            0,
            place(rate),
            f"{count} single {drive}, depth {alone.flat_from} each",
            size=12,
            xref="paper",
            xanchor="left",
            yanchor="bottom",
        )
    return highest


def _mark_drops(drawn: Figure, groups: Sequence[Line], place: Callable[[float], float]) -> None:
    """What is busiest where a rate falls below what a smaller depth gave."""
    named = set()
    for each in groups:
        values = rates(each.curve)
        for at in range(1, len(values)):
            if values[at] < (1 - _DROP) * max(values[:at]) and at not in named:
                named.add(at)
                drawn.add_annotation(
                    x=math.log10(each.curve.outstanding[at]),
                    y=place(values[at]),
                    text="drop" if len(named) > 1 else f"drop: {_limit(each.curve, at)}",
                    showarrow=True, arrowhead=0, ax=0, ay=28, font={"size": 12},
                )  # fmt: skip
                break


def _name_ends(
    drawn: Figure,
    groups: Sequence[Line],
    found_at: Mapping[str, int],
    place: Callable[[float], float],
) -> None:
    ends = [rates(each.curve)[-1] for each in groups]
    heights = [place(value) for value in ends]
    axis = drawn.layout.yaxis.range
    span = axis[1] - axis[0]
    placed = apart(heights, 0.14 * span, axis[1] - 0.06 * span)
    for each, height in zip(groups, placed, strict=True):
        more = f" +{len(each.names) - 1}" if len(each.names) > 1 else ""
        dot = f'<span style="color:{_colour(found_at[each.names[0]])}">●</span>'
        text = f"{dot} {each.names[0]}{more}:<br>{_limit(each.curve)}"
        end_label(drawn, (math.log10(each.curve.outstanding[-1]), height), text)


def levels_picture(found: Sequence[SmallWrites]) -> Figure:
    """What a small write costs on each level, beside what the level takes without a cache."""
    drawn = chart()
    levels = list(IOS_PER_WRITE)
    titles = [level.upper().replace("RAID", "RAID ") for level in levels]
    draw_bars(
        drawn,
        "by the level's rule",
        titles,
        list(IOS_PER_WRITE.values()),
        marker={"color": GREY},
        text=list(IOS_PER_WRITE.values()),
        textposition="outside",
    )
    for cached, colour, how in (
        (False, LINES[0], "write-through"),
        (True, SKY, "write-back cache"),
    ):
        own = {(e.controller, e.level): e.ios_per_write for e in found if e.cached == cached}
        for shade, group in enumerate(_same_costs(own, levels)):
            values = [own[group[0], level] for level in levels]
            draw_bars(
                drawn,
                f"{how}: {', '.join(group)}",
                titles,
                values,
                hover="%{x}: %{y:.2f} drive I/Os a write<extra></extra>",
                text=[f"{value:.2g}" for value in values],
                textposition="outside",
                marker={
                    "color": colour,
                    "line": {"width": 0.75, "color": "#3A4653"},
                    "pattern": {"shape": ("", "/", "x", ".")[shade % 4], "solidity": 0.3},
                },
            )
    dress(drawn, height=380 + 20 * len(drawn.data))
    drawn.update_layout(showlegend=True, margin_t=16 + 24 * len(drawn.data), barmode="group")
    drawn.update_xaxes(type="category")
    drawn.update_yaxes(title_text="drive I/Os a small write", rangemode="tozero")
    return drawn


def _same_costs(costs: dict[tuple[str, str], float], levels: Sequence[str]) -> list[list[str]]:
    """Controllers whose costs are alike on every level, together."""
    groups: list[list[str]] = []
    for name in dict.fromkeys(name for name, _ in costs):
        for group in groups:
            pairs = [(costs[group[0], level], costs[name, level]) for level in levels]
            if all(abs(one / other - 1) <= _ALIKE_SHARE for one, other in pairs):
                group.append(name)
                break
        else:
            groups.append([name])
    return groups
