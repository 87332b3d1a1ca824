"""Limits that change in time, each an event of the result with its begin and end.

They are spent burst credits, full SLC caches, temperature, rebuilds, and caches that fill.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from raidlab.scenarios.results.diagnostics.cache_filling import still_filling
from raidlab.scenarios.results.diagnostics.observed import Observed
from raidlab.scenarios.results.number_text import figure
from raidlab.scenarios.results.row import Row, RunEvent
from raidlab.scenarios.spec.component_name import drive_name
from raidlab.scenarios.spec.findings import TIMED, Event, Limit
from raidlab.scenarios.spec.run_result import Component

_LEAST_SHARE = 0.01
"""Share of what was recorded below which nobody sees that something held."""


def spells(components: Sequence[Component], begin: float, end: float) -> list[Limit]:
    """What held at components from `begin` to `end`, in seconds; that of alike drives is one."""
    found: dict[tuple[str, str], list[Limit]] = {}
    for component in components:
        drive = drive_name(component["name"])
        name = drive.array if drive else component["name"]
        for each in component.get("spells", ()):
            since, to = max(each["from_s"], begin), min(each["to_s"], end)
            if to > since:
                own = found.setdefault((each["kind"], name), [])
                own.append(Limit(each["kind"], name, 1.0, since, to))
    return [limit for each in found.values() for limit in _joined(each)]


def _joined(limits: Sequence[Limit]) -> list[Limit]:
    """Limits that overlap as one."""
    joined: list[Limit] = []
    for each in sorted(limits, key=lambda limit: limit.from_s):
        if joined and each.from_s <= joined[-1].to_s:
            joined[-1] = replace(joined[-1], to_s=max(joined[-1].to_s, each.to_s))
        else:
            joined.append(each)
    return joined


def in_time(row: Row) -> list[Limit]:
    """What held in a row for a time that shows."""
    least = _LEAST_SHARE * row["duration_s"]
    limits = (Limit(**each) for each in row.get("limits", ()))
    return [each for each in limits if each.kind in TIMED and each.to_s - each.from_s > least]


def changes(row: Row) -> list[Limit]:
    """Those of them that began or ended while the row was recorded."""
    begin, end = row["warm_up_s"], row["warm_up_s"] + row["duration_s"]
    edge = _LEAST_SHARE * row["duration_s"]
    return [each for each in in_time(row) if each.from_s > begin + edge or each.to_s < end - edge]


def in_words(row: Row) -> str:
    """What held, with its times: `burst credits are spent from 2,000 s on`; empty for nothing."""
    begin, end = row["warm_up_s"], row["warm_up_s"] + row["duration_s"]
    edge = _LEAST_SHARE * row["duration_s"]
    said: dict[str, list[str]] = {}
    for each in in_time(row):
        late = each.from_s > begin + edge
        since, to = figure(each.from_s, "s"), figure(each.to_s, "s")
        if each.to_s < end - edge:
            when = f"from {since} to {to}" if late else f"up to {to}"
        else:
            when = f"from {since} on" if late else "all the time"
        said.setdefault(TIMED[each.kind], []).append(when)
    return "; ".join(f"{words} {_listed(times)}" for words, times in said.items())


def _listed(times: Sequence[str]) -> str:
    most = 2
    more = f" and {len(times) - most} times more" if len(times) > most else ""
    return " and ".join(dict.fromkeys(times[:most])) + more


def typed_events(entries: Sequence[RunEvent], rows: Sequence[Row]) -> tuple[Event, ...]:
    """The log of runs, and what held for a time in them.

    Args:
        entries: What happened, by point and replication.
        rows: Of the same runs.
    """
    logged = [
        Event(
            entry["kind"],
            entry["t_s"],
            entry["subject"],
            point=entry["point"],
            replication=entry["replication"],
        )
        for entry in entries
    ]
    found = [*_with_ends(logged)]
    for run in Observed(rows).runs():
        found += _of_run(run)
    found.sort(key=lambda event: (event.point, event.replication, event.at_s))
    return tuple(found)


def _with_ends(events: Sequence[Event]) -> Iterator[Event]:
    """Tasks get their ends: those of the events with which they end."""
    for at, event in enumerate(events):
        task, dash, phase = event.kind.rpartition("-")
        if not dash or phase != "begun":
            yield event
            continue
        ends = (f"{task}-done", f"{task}-given-up")
        later = (
            other.at_s
            for other in events[at + 1 :]
            if other.kind in ends
            and (other.subject, other.point, other.replication)
            == (event.subject, event.point, event.replication)
        )
        yield replace(event, to_s=next(later, None))


def _of_run(run: Sequence[Row]) -> Iterator[Event]:
    first = run[0]
    place = {"point": first["point"], "replication": first["replication"]}
    end = first["warm_up_s"] + first["duration_s"]
    for each in spells(first["components"], 0.0, end):
        yield Event(each.kind, each.from_s, each.component, each.to_s, **place)
    for name in still_filling(run):
        yield Event("cache-filling", 0.0, name, end, **place)
