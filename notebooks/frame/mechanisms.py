"""Moving pictures that several rooms share, made from traced I/Os."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from raidlab.notebooks.frame.scenes import Dot, Key, Scene, Shape, Step, label, path
from raidlab.scenarios.report.look import PARTS
from raidlab.scenarios.results.number_text import digits, part_name
from raidlab.scenarios.results.row import IoRow
from raidlab.scenarios.spec.run_result import Stage

_WAITING, _SERVED, _OTHER_COLOUR = "#9AA3AD", "#0072B2", "#D55E00"
_SERVER_X, _DONE_X, _PLACE = 470.0, 570.0, 26.0
_LANE = 44.0
_APART_MS = 0.1
"""Least time between two steps: what comes at once is one."""
_LEAST_WIDTH = 0.004
"""Of a bar's width, as a share of the longest time: what is shorter is not seen."""


@dataclass(frozen=True)
class Visit:
    """A command at a drive: when it comes, when its service begins and ends, in ms."""

    io: int
    drive: str
    comes: float
    begins: float
    ends: float


def visits(ios: Sequence[IoRow]) -> list[Visit]:
    """What the commands of traced I/Os do at the drives, in the order of their coming."""
    found = []
    for number, io in enumerate(ios, 1):
        commands: dict[tuple[Any, str], list[Stage]] = {}
        for stage in io["stages"]:
            if stage["kind"] == "drive":
                commands.setdefault((stage["command"], stage["component"]), []).append(stage)
        for (_, component), stages in commands.items():
            comes = min(stage["begin_ns"] for stage in stages)
            # A drive takes a command in while it works on another one: only then does it wait.
            waited = [stage["end_ns"] for stage in stages if stage["stage"] == "queue"]
            begins, ends = max(waited, default=comes), max(stage["end_ns"] for stage in stages)
            if ends > begins:
                drive = component.rpartition(".")[2]
                found.append(Visit(number, drive, comes / 1e6, begins / 1e6, ends / 1e6))
    return sorted(found, key=lambda visit: visit.comes)


def elsewhere(visits: Sequence[Visit]) -> list[tuple[float, float]]:
    """When a drive, at which commands wait, works on none of them: it works for someone else.

    Args:
        visits: Those of one drive.

    Returns:
        Begin and end of each such time, in ms.
    """
    edges = sorted({at for visit in visits for at in (visit.comes, visit.begins, visit.ends)})
    found: list[tuple[float, float]] = []
    for begin, end in itertools.pairwise(edges):
        waits = any(each.comes <= begin and end <= each.begins for each in visits)
        works = any(each.begins <= begin and end <= each.ends for each in visits)
        if waits and not works and end - begin > _APART_MS:
            if found and found[-1][1] >= begin:
                found[-1] = (found[-1][0], end)
            else:
                found.append((begin, end))
    return found


def queueing(ios: Sequence[IoRow], shown: int = 24, other: str = "") -> Scene:
    """I/Os as dots: they come from the left, wait before a drive, are served, and leave.

    Args:
        ios: Traced ones; the last of them come before the first ones have left.
        shown: How many commands are followed.
        other: What else drives work for while I/Os wait: a box in a colour of its own.
    """
    found = visits(ios)[:shown]
    zero = found[0].comes
    drives = sorted({visit.drive for visit in found}, key=int)
    lane = {drive: 30 + _LANE * at for at, drive in enumerate(drives)}
    shapes = [label(6, y + 5, f"drive {drive}", look="soft") for drive, y in lane.items()]
    shapes += [Shape("rect", _SERVER_X - 16, y - 16, 32, 32) for y in lane.values()] + [
        path((80, y + 20), (_SERVER_X - 20, y + 20)) for y in lane.values()
    ]
    dots = [_dot(visit, found, lane[visit.drive], zero) for visit in found]
    away = {}
    if other:
        own = {drive: [each for each in found if each.drive == drive] for drive in drives}
        away = {drive: elsewhere(each) for drive, each in own.items()}
        shapes += [
            Shape("rect", _SERVER_X - 16, lane[drive] - 16, 32, 32, _OTHER_COLOUR,
                  begins=begin - zero, ends=end - zero - 1e-3)
            for drive, times in away.items() for begin, end in times
        ]  # fmt: skip
    steps = [Step(0.0, _counted(found, away, zero, zero, other))]
    for at in sorted({visit.comes for visit in found} | {visit.ends for visit in found}):
        if at > zero + steps[-1].t + _APART_MS and len(steps) < shown:
            steps.append(Step(at - zero, _counted(found, away, at, zero, other)))
    # It opens where most wait: that is what it is about.
    waits = [sum(visit.comes <= zero + step.t < visit.begins for visit in found) for step in steps]
    return Scene(
        "Where I/Os wait",
        "Each dot an I/O: grey while it waits, blue while a drive works on it"
        + (f"; orange boxes: the drive works for {other}." if other else "."),
        600, 20 + _LANE * len(drives), steps, shapes, dots, at=waits.index(max(waits)),
    )  # fmt: skip


def _dot(visit: Visit, every: Sequence[Visit], y: float, zero: float) -> Dot:
    ahead = [
        other.begins
        for other in every
        if other.drive == visit.drive and other.comes < visit.comes and other.begins > visit.comes
    ]
    keys = []
    for now in [visit.comes, *sorted(at for at in ahead if at < visit.begins)]:
        before = sum(at > now for at in ahead)
        keys.append(Key(now - zero, _SERVER_X - _PLACE * (before + 1.3), y, _WAITING))
    keys.append(Key(visit.begins - zero, _SERVER_X, y, _SERVED))
    keys.append(Key(visit.ends - zero - 1e-3, _SERVER_X, y, _SERVED))
    keys.append(Key(visit.ends - zero, _DONE_X, y, _SERVED, hollow=True))
    return Dot(f"I/O {visit.io}", keys, str(visit.io), 11, stays=False)


def _counted(
    found: Sequence[Visit],
    away: Mapping[str, Sequence[tuple[float, float]]],
    now: float,
    zero: float,
    other: str,
) -> str:
    there = [visit for visit in found if visit.comes <= now < visit.ends]
    busy = {visit.drive for visit in there if visit.begins <= now}
    waiting = sum(visit.begins > now for visit in there)
    said = (
        f"After {digits(now - zero) if now > zero else 0} ms: {len(there)} under way, {waiting} of"
        " them wait; "
    )
    every = {visit.drive for visit in found}
    if other:
        apart = sum(any(begin <= now < end for begin, end in times) for times in away.values())
        return f"{said}{len(busy)} of {len(every)} drives work for users, {apart} for {other}."
    idle = len(every) - len(busy)
    return f"{said}drives idle: {idle} of {len(every)}."


def bars_in_time(rows: Mapping[str, IoRow], seen: str, drawn: str) -> Scene:
    """The commands of single I/Os on one time axis, each growing while it lasts.

    Args:
        rows: A traced I/O by its name; each gets a band of lanes and a line where it is complete.
        seen: The picture's title.
        drawn: Its subtitle.
    """
    longest = max(io["latency_ns"] for io in rows.values()) / 1e6
    left, width = 150.0, 420.0
    shapes: list[Shape] = []
    times: dict[float, list[str]] = {0.0: ["The host sends the write."]}
    y = 26.0
    for name, io in rows.items():
        shapes.append(label(6, y, name))
        places: dict[str, float] = {}
        for stage in io["stages"]:
            begin = (stage["begin_ns"] - io["issued_ns"]) / 1e6
            end = (stage["end_ns"] - io["issued_ns"]) / 1e6
            if end - begin < _LEAST_WIDTH * longest and stage["kind"] != "host":
                continue
            place = _place(stage)
            if place not in places:
                places[place] = y + 14 + 22 * len(places)
                shapes.append(label(left - 8, places[place] + 12, place, "end", "soft"))
            color = PARTS.get(stage["stage"], PARTS["service"])[0]
            across = left + begin / longest * width
            length = max(2.0, (end - begin) / longest * width)
            shapes.append(
                Shape("rect", across, places[place], length, 16, color, begins=begin, grown=end)
            )
            said = f"{name}: {part_name(stage['stage'])} on {place} ends."
            if stage["critical"] and end - begin >= 0.05 * longest:
                times.setdefault(round(end, 3), []).append(said)
        y += 14 + 22 * max(1, len(places)) + 34
        done = io["latency_ns"] / 1e6
        line = left + done / longest * width
        shapes.append(
            Shape("path", points=[(line, y - 44 - 22 * len(places)), (line, y - 34)],
                  color="#009E73", begins=done)
        )  # fmt: skip
        shapes.append(
            Shape("text", min(line, left + width - 4), y - 20,
                  text=f"acknowledged, {digits(done)} ms",
                  anchor="end" if done > 0.5 * longest else "start", begins=done)
        )  # fmt: skip
        times.setdefault(round(done, 3), []).append(f"{name}: the write is acknowledged.")
    steps = [Step(at, " ".join(dict.fromkeys(texts))) for at, texts in sorted(times.items())]
    # It opens at its end: whole for those who only look, or print it.
    return Scene(seen, drawn, 600, y, steps, shapes, at=len(steps) - 1)


def _place(stage: Stage) -> str:
    """`array-0/five.3` as `drive 3`; other parts by their kind."""
    kind = str(stage["kind"])
    return f"drive {stage['component'].rpartition('.')[2]}" if kind == "drive" else kind
