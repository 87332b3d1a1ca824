"""I/Os that wait before drives: a moving picture that several rooms share, from traced I/Os.

What is counted at a step and what is drawn there is the state after all events of that instant: in
a closed room the next I/O has come when one is complete.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from raidlab.notebooks.frame.scenes import Dot, Key, Scene, Shape, Step, label, path
from raidlab.scenarios.results.number_text import digits
from raidlab.scenarios.results.row import IoRow
from raidlab.scenarios.spec.run_result import Stage

_WAITING, _SERVED, _OTHER_COLOUR = "#9AA3AD", "#0072B2", "#D55E00"
_SERVER_X, _DONE_X, _PLACE = 470.0, 570.0, 26.0
_LANE = 44.0
_APART_MS = 0.1
"""Least time between two steps: what comes at once is one. A dot that moves up takes as long."""
MOST_SHOWN: Final = 13
"""Commands that wait before one drive and have a place in its lane; more are a number."""
_SHOWN_STEPS: Final = 24
SPARE: Final = "spare"
"""A hot spare, as the engine names it and as its lane is labelled."""


@dataclass(frozen=True)
class Visit:
    """A command at a drive: when it comes, when its service begins and ends, in ms."""

    io: int
    drive: str
    comes: float
    begins: float
    ends: float


def drive_of(component: str) -> str:
    """The number of an array's drive, or `spare`: both may be numbered 0."""
    model, _, number = component.rpartition("/")[2].rpartition(".")
    return SPARE if model == SPARE else number


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
                drive = drive_of(component)
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


def queueing(
    ios: Sequence[IoRow],
    shown: int = _SHOWN_STEPS,
    other: str = "",
    outstanding: int = 0,
    from_ns: int = 0,
    notes: Mapping[str, str] | None = None,
) -> Scene:
    """I/Os as dots: they come from the left, wait before a drive, are served, and leave.

    Args:
        ios: Traced ones; the last of them come before the first ones have left.
        shown: How many commands are followed beside those that are outstanding.
        other: What else drives work for while I/Os wait: a box in a colour of its own.
        outstanding: I/Os of a closed load that are always under way; 0 for an open one.
        from_ns: When the picture begins; I/Os before it are drawn as far as they are under way.
        notes: What is written before a drive, such as `failed`: it has a lane, used or not.
    """
    notes = notes or {}
    known = visits(ios)
    zero = next(visit.comes for visit in known if visit.comes >= from_ns / 1e6)
    every = [visit for visit in known if visit.ends > zero]
    followed = shown + outstanding + sum(visit.comes < zero for visit in every)
    found = every[:followed]
    drives = sorted({visit.drive for visit in known} | set(notes), key=_place)
    lane = {drive: 30 + _LANE * at for at, drive in enumerate(drives)}
    shapes = [label(6, y + 5, _named(drive), look="soft") for drive, y in lane.items()]
    shapes += [label(84, lane[drive] + 5, text, look="soft") for drive, text in notes.items()]
    shapes += [Shape("rect", _SERVER_X - 16, y - 16, 32, 32) for y in lane.values()] + [
        path((80, y + 20), (_SERVER_X - 20, y + 20)) for y in lane.values()
    ]
    own = {drive: [each for each in found if each.drive == drive] for drive in drives}
    own = {drive: each for drive, each in own.items() if each or drive not in notes}
    away = {drive: elsewhere(each) for drive, each in own.items()} if other else {}
    shapes += [
        Shape("rect", _SERVER_X - 16, lane[drive] - 16, 32, 32, _OTHER_COLOUR,
              begins=begin - zero, ends=end - zero - 1e-3)
        for drive, times in away.items() for begin, end in times
    ]  # fmt: skip
    # What comes after the last command that is followed is not counted.
    last = every[followed].comes if len(every) > followed else found[-1].ends
    times = _settled(found, zero, last)[:shown]
    steps = [Step(at - zero, _counted(own, away, at, zero, other)) for at in times]
    shapes += _left_out(own, lane, times, zero)
    dots = [_dot(each, own[each.drive], lane[each.drive], zero, steps[-1].t) for each in found]
    dots = [dot for dot in dots if dot.keys and dot.keys[0].t <= steps[-1].t]
    parted = len({(each.io, each.drive) for each in found}) > len({each.io for each in found})
    # It opens where most wait: that is what it is about.
    waits = [sum(each.comes <= at < each.begins for each in found) for at in times]
    return Scene(
        "Where I/Os wait",
        "Each dot an I/O: grey while it waits, blue while a drive works on it"
        + (f"; orange boxes: the drive works for {other}." if other else ".")
        + (" A number before several drives: one I/O, a command at each." if parted else ""),
        600, 20 + _LANE * len(drives), steps, shapes, dots, at=waits.index(max(waits)),
    )  # fmt: skip


def _place(drive: str) -> tuple[bool, int]:
    return (drive == SPARE, 0 if drive == SPARE else int(drive))


def _named(drive: str) -> str:
    return drive if drive == SPARE else f"drive {drive}"


def _settled(found: Sequence[Visit], zero: float, last: float) -> list[float]:
    """Instants after which nothing happens for a while, from `zero` to `last`, in ms.

    A drive's answer, the host's next I/O and its way to a drive are one instant.
    """
    events = sorted(
        {at for each in found for at in (each.comes, each.begins, each.ends) if zero <= at < last}
    )
    pairs = itertools.pairwise([*events, last])
    return [now for now, after in pairs if after - now > _APART_MS] or events[-1:]


def _dot(visit: Visit, lane: Sequence[Visit], y: float, zero: float, last: float) -> Dot:
    """An I/O in the lane of its drive, until `last`; it is seen once there is a place for it."""
    ahead = [
        other.begins
        for other in lane
        if (other.comes, other.io) < (visit.comes, visit.io) and other.begins > visit.comes
    ]
    keys: list[Key] = []

    def move(at: float, x: float, color: str) -> None:
        if keys and at - _APART_MS > keys[-1].t:
            keys.append(Key(at - _APART_MS, keys[-1].x, y, keys[-1].color))
        keys.append(Key(at, x, y, color))

    for now in [visit.comes, *sorted(at for at in ahead if at < visit.begins)]:
        before = sum(at > now for at in ahead)
        if before < MOST_SHOWN and now < visit.begins:
            move(now - zero, _SERVER_X - _PLACE * (before + 1.3), _WAITING)
    move(visit.begins - zero, _SERVER_X, _SERVED)
    keys.append(Key(visit.ends - zero - 1e-3, _SERVER_X, y, _SERVED))
    keys.append(Key(visit.ends - zero, _DONE_X, y, _SERVED, hollow=True))
    # What comes after the last step is not seen, but for where the dot goes next.
    keys = keys[: 1 + sum(key.t <= last for key in keys)]
    return Dot(f"I/O {visit.io}", keys, str(visit.io), 11, stays=False)


def _left_out(
    own: Mapping[str, Sequence[Visit]],
    lane: Mapping[str, float],
    times: Sequence[float],
    zero: float,
) -> list[Shape]:
    """How many more commands wait before a drive than its lane has places, as a number."""
    made = []
    for drive, visits in own.items():
        for at, after in itertools.pairwise([*times, times[-1] + _APART_MS]):
            more = sum(each.comes <= at < each.begins for each in visits) - MOST_SHOWN
            if more > 0:
                made.append(
                    Shape("text", 84, lane[drive] + 5, text=f"+{more}", look="soft",
                          begins=at - zero, ends=after - zero - _APART_MS / 2)
                )  # fmt: skip
    return made


def _counted(
    own: Mapping[str, Sequence[Visit]],
    away: Mapping[str, Sequence[tuple[float, float]]],
    now: float,
    zero: float,
    other: str,
) -> str:
    there = [visit for lane in own.values() for visit in lane if visit.comes <= now < visit.ends]
    busy = {visit.drive for visit in there if visit.begins <= now}
    waiting = sum(visit.begins > now for visit in there)
    verb = "waits" if waiting == 1 else "wait"
    said = (
        f"After {digits(now - zero) if now > zero else 0} ms: {len(there)} under way, {waiting} of"
        f" them {verb}; "
    )
    if other:
        apart = sum(any(begin <= now < end for begin, end in times) for times in away.values())
        return f"{said}{len(busy)} of {len(own)} drives work for users, {apart} for {other}."
    idle = len(own) - len(busy)
    return f"{said}drives idle: {idle} of {len(own)}."
