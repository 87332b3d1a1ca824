"""Traced I/Os in the JSON that Perfetto and Chrome's chrome://tracing open.

Source of the format: Google, "Trace Event Format" (JSON object form, complete events "X", metadata
events "M"; times in microseconds).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from raidlab.devices.printable import printable
from raidlab.scenarios.results.io_lanes import WAITS, in_path_order, lanes
from raidlab.scenarios.results.number_text import part_name
from raidlab.scenarios.results.row import IoRow
from raidlab.scenarios.spec.run_result import Stage

Event = dict[str, object]


def chrome_trace(ios: Sequence[IoRow], title: str = "") -> str:
    """The document as text; the same I/Os give the same bytes.

    A process named "I/Os" has each I/O with its critical stages inside; each component is a process
    of its own, with the stages of all commands there. What overlaps stands in different threads.

    Args:
        ios: As in `Result.ios`.
        title: Of the scenario.
    """
    events: list[Event] = []
    runs = dict.fromkeys((io["point"], io["outstanding"], io["replication"]) for io in ios)
    pid = 0
    for run in runs:
        own = [
            (number, io)
            for number, io in enumerate(ios)
            if (io["point"], io["outstanding"], io["replication"]) == run
        ]
        prefix = "" if len(runs) == 1 else f"{run[1] or 'open load'} outstanding, run {run[2]}: "
        pid += 1
        events += _named(pid, f"{prefix}I/Os")
        events += _whole(pid, own)
        components = {
            (stage["kind"], stage["component"]) for _, io in own for stage in io["stages"]
        }
        for kind, name in in_path_order(components):
            pid += 1
            events += _named(pid, prefix + name)
            events += _at(pid, name, own, kind)
    document = {
        "traceEvents": events,
        "displayTimeUnit": "ns",
        "otherData": {"title": printable(title)},
    }
    return json.dumps(document, separators=(",", ":"), allow_nan=False)


def _named(pid: int, name: str) -> list[Event]:
    return [
        {
            "ph": "M",
            "name": "process_name",
            "pid": pid,
            "tid": 0,
            "args": {"name": printable(name)},
        },
        {
            "ph": "M",
            "name": "process_sort_index",
            "pid": pid,
            "tid": 0,
            "args": {"sort_index": pid},
        },
    ]


def _threads(pid: int, used: Iterable[int]) -> list[Event]:
    return [
        {"ph": "M", "name": "thread_name", "pid": pid, "tid": tid,
         "args": {"name": f"in flight {tid}"}}
        for tid in sorted(set(used))
    ]  # fmt: skip


def _complete(
    where: tuple[int, int], what: tuple[str, str], span: tuple[int, int], **args: Any
) -> Event:
    (pid, tid), (name, category), (begin, end) = where, what, span
    return {
        "ph": "X",
        "name": name,
        "cat": category,
        "ts": begin / 1e3,
        "dur": (end - begin) / 1e3,
        "pid": pid,
        "tid": tid,
        "args": args,
    }


def _whole(pid: int, ios: Sequence[tuple[int, IoRow]]) -> list[Event]:
    """Each I/O, and inside it the stages of its critical path."""

    def span(numbered: tuple[int, IoRow]) -> tuple[int, int]:
        io = numbered[1]
        return io["issued_ns"], io["issued_ns"] + io["latency_ns"]

    placed = lanes(ios, span)
    events = _threads(pid, (lane + 1 for lane, _ in placed))
    for lane, (number, io) in placed:
        what = f"{io['op']} {io['bytes']} B"
        asked = {"io": number, "offset": io["offset"], "workload": printable(io["workload"])}
        where = (pid, lane + 1)
        events.append(_complete(where, (what, "io"), span((number, io)), **asked))
        for stage in io["stages"]:
            if stage["critical"]:
                name = part_name(stage["stage"])
                times = (stage["begin_ns"], stage["end_ns"])
                at = printable(stage["component"])
                events.append(_complete(where, (name, _category(stage)), times, component=at))
    return events


def _at(pid: int, component: str, ios: Sequence[tuple[int, IoRow]], kind: str) -> list[Event]:
    """Every stage at one component."""
    here = [
        (number, stage)
        for number, io in ios
        for stage in io["stages"]
        if (stage["kind"], stage["component"]) == (kind, component)
    ]
    placed = lanes(here, lambda each: (each[1]["begin_ns"], each[1]["end_ns"]))
    events = _threads(pid, (lane + 1 for lane, _ in placed))
    for lane, (number, stage) in placed:
        what = (part_name(stage["stage"]), _category(stage))
        times = (stage["begin_ns"], stage["end_ns"])
        more = {key: stage[key] for key in ("command", "critical")}
        events.append(_complete((pid, lane + 1), what, times, io=number, **more))
    return events


def _category(stage: Stage) -> str:
    return "wait" if stage["stage"] in WAITS else "work"
