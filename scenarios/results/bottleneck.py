"""Which component holds a system back, and which would be next."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from raidlab.scenarios.results.number_text import figure, part_name
from raidlab.scenarios.results.over_time import changes, spells
from raidlab.scenarios.results.row import Row
from raidlab.scenarios.spec.component_name import drive_name
from raidlab.scenarios.spec.findings import Limit
from raidlab.scenarios.spec.run_result import Component

_QUEUES = ("queue", "bitmap")
"""Kinds where I/Os wait for what else works: full, they rank behind what is busy all the time."""
_PART = re.compile(r"\.\d+$")
_BUSY = 0.9
"""Utilisation from which on more places in a queue would bring a component little more."""


_IN_FRONT = ("limit_wait", "share_wait", "host_wait", "controller_wait", "link_wait")
"""Parts of an I/O's time in which it waits before it reaches the drives."""
_FOR_DRIVES = (
    "queue", "overhead", "seek", "rotation", "transfer", "nand_read", "nand_program",
    "garbage_collection", "service", "cache_wait",
)  # fmt: skip
"""Parts in which it is at a drive, or waits for a cache that waits for the drives."""
_IN_DRIVES = ("firmware", "channels", "correction", "compressor", "collection", "power limit")
"""Kinds of what else of a drive can be full."""
PLURALS = {
    "drive": "drives", "link": "drive links", "firmware": "firmware cores",
    "channels": "NAND channels", "compressor": "compressors", "collection": "garbage collection",
    "power limit": "power limits", "correction": "error correction",
}  # fmt: skip
"""What all drives of an array have, where one is named for all."""
_BOTH = 0.95
"""Utilisation from which on the second component is a limit as well."""
_FULL_SHARE = 0.8
"""Utilisation below which a component could serve more than the load asks of it."""
_MOST_SHARE = 0.5
"""Share of a time above which a part is most of it."""
_LEAST_SHARE = 0.01
"""Share of its time that an I/O is at drives, or in RAID's hands, that hold it up, waiting before
them aside."""


def behind(components: Sequence[Component], target: str, workload: str) -> list[Component]:
    """What a load on the array `target` can meet: what lies on no path of its I/Os is left out."""

    def can_meet(component: Component) -> bool:
        arrays, loads = component.get("arrays"), component.get("loads")
        # Each drive of an independent array is an array of the engine, with a number.
        on_path = arrays is None or any(target in (each, _whole(each)) for each in arrays)
        return on_path and (loads is None or any(_is_part(load, workload) for load in loads))

    return [each for each in components if can_meet(each)]


def _is_part(load: str, workload: str) -> bool:
    """True of a load of the engine that belongs to one of the scenario.

    Parts of a load have a number, jobs of a file are named behind it.
    """
    return workload in (load, _whole(load)) or workload.startswith(f"{load}.")


@lru_cache(maxsize=1 << 16)
def _whole(part: str) -> str:
    """The name without its number; asked again for each load."""
    return _PART.sub("", part)


def met_by(row: Row) -> list[Component]:
    """What can hold up the load of a row."""
    met = behind(row["components"], row["target"], row.get("workload", ""))
    return felt(met, row["breakdown_us"])


def felt(components: Sequence[Component], breakdown_us: Mapping[str, float]) -> list[Component]:
    """All but what does not hold this load up, however busy it is.

    A controller's queue does if waiting for the controller is the longest part of the I/Os' time.
    Drives and what makes parity do if I/Os wait for them, or for the lock of a stripe that others
    are written to: where a cache takes all writes and is not full, drives may well be busy with
    what it sends them, but no I/O waits for that.
    """

    def time(*parts: str) -> float:
        return sum(breakdown_us.get(part, 0.0) for part in parts)

    total = sum(breakdown_us.values())
    waits = time("controller_wait")
    idle = set() if waits > 0 and waits >= max(breakdown_us.values()) else {"queue"}
    if time("raid", *_FOR_DRIVES) < _LEAST_SHARE * (total - time(*_IN_FRONT)):
        idle |= {"drive", "parity", "bitmap", *_IN_DRIVES}
    return [each for each in components if each["kind"] not in idle]


def busiest(components: Sequence[Component], count: int = 2) -> list[str]:
    """The busiest components in words, `x at 99 %`, the busiest of each group only.

    Sixteen drives that are equally busy are one bottleneck, not the first sixteen: drives of one
    array are a group, so are their links, the cores of their firmware, their channels, and so are
    the host's threads and the cores that they share. A queue that is full because a component
    behind it is busy all the time comes behind that one.
    """
    return [
        f"{_name(component)} at {_share(component)}" for component in leading(components)[:count]
    ]


def leading(components: Sequence[Component]) -> list[Component]:
    """The busiest component of each group, in the order of `busiest`."""
    found: dict[str, Component] = {}
    for component in sorted(components, key=_rank):
        found.setdefault(_group(component), component)
    return list(found.values())


def limits(row: Row) -> str:
    """What bounds a row's rate, in a few words: `drives 98 %`, `none (drives 17 %)`.

    "–" if nothing worked. Two that are both nearly full are both named: doubling one of them alone
    may change little.
    """
    found = bound(row)
    if found is None:
        return "–"
    named = ", ".join(_short(each, row) for each in found.components)
    return named if found.is_full else f"none ({named})"


@dataclass(frozen=True)
class Bound:
    """What bounds a row's rate."""

    components: tuple[Component, ...]
    """The one or two busiest."""
    is_full: bool
    """False if nothing is busy enough: the time of one I/O bounds the rate."""

    @property
    def kinds(self) -> list[str]:
        """Their kinds."""
        return [each["kind"] for each in self.components]

    @property
    def groups(self) -> list[str]:
        """What the components are, whichever of several alike is the busiest."""
        return [_group(each) for each in self.components]


def bound(row: Row) -> Bound | None:
    """What bounds a row's rate; None if nothing worked."""
    return _bound(met_by(row), row["breakdown_us"])


def _bound(met: Sequence[Component], breakdown_us: Mapping[str, float]) -> Bound | None:
    found = leading(met)
    if not found or not found[0]["utilization"]:
        return None
    first, *rest = found
    if first["utilization"] < _FULL_SHARE:
        return Bound((first,), is_full=False)
    named = [first, *(each for each in rest[:1] if min(_of(first), _of(each)) >= _BOTH)]
    if breakdown_us.get("controller_wait", 0.0) >= max(breakdown_us.values(), default=0.0):
        named.sort(key=lambda each: each["kind"] != "queue")
    return Bound(tuple(named), is_full=True)


def busiest_words(row: Row) -> str:
    """The components that `bound` names, with their shares: `drives 98 %`."""
    found = bound(row)
    return "" if found is None else ", ".join(_short(each, row) for each in found.components)


def limits_of(
    met: Sequence[Component], breakdown_us: Mapping[str, float], recorded: tuple[float, float]
) -> list[Limit]:
    """What bounds the rate of a load, and what held for a time.

    Args:
        met: The components that the load can meet.
        breakdown_us: Mean time of its I/Os by part.
        recorded: Begin and end of what was recorded, in seconds.
    """
    felt_by = felt(met, breakdown_us)
    found = _bound(felt_by, breakdown_us)
    full = found.components if found is not None and found.is_full else ()
    own = [Limit(each["kind"], each["name"], _of(each), *recorded) for each in full]
    return own + spells(met, *recorded)


def _of(component: Component) -> float:
    return float(component["utilization"])


def limit_names(row: Row) -> tuple[str, ...]:
    """The components that `limits` names as full, without their shares; none if nothing is full."""
    found = bound(row)
    full = found is not None and found.is_full
    return tuple(_called(each, row) for each in found.components) if found and full else ()


@dataclass(frozen=True)
class Leader:
    """The busiest component of a row."""

    kind: str
    name: str
    share: str
    """In words: `98 %`."""


def leader(row: Row) -> Leader | None:
    """The busiest component; None if there is none."""
    found = next(iter(leading(met_by(row))), None)
    return None if found is None else Leader(found["kind"], _name(found), _share(found))


def _short(component: Component, row: Row) -> str:
    """A component with its share."""
    return f"{_called(component, row)} {_share(component)}"


def _called(component: Component, row: Row) -> str:
    """A component; drives of one array, and what each has of its own, by kind."""
    kind, drive = component["kind"], drive_name(component["name"])
    if drive and kind in PLURALS and _is_one_of_several(component, row):
        own = drive.array == row["target"]
        return PLURALS[kind] if own else f"{PLURALS[kind]} of {drive.array}"
    return _name(component)


def _is_one_of_several(component: Component, row: Row) -> bool:
    group = _group(component)
    alike = (each for each in row["components"] if _group(each) == group)
    return next(itertools.islice(alike, 1, None), None) is not None


def _share(component: Component) -> str:
    """Its utilization in percent; 79 % of what is just below 80 %, where a sentence says so."""
    percent = round(100 * _of(component))
    return f"{percent - (percent == 100 * _FULL_SHARE and _of(component) < _FULL_SHARE)} %"


def longest_part(row: Row) -> str:
    """`most of it rotation`; of less than half of the time, how much it is."""
    parts = row["breakdown_us"]
    longest = max(parts, key=lambda part: parts[part])
    share = parts[longest] / sum(parts.values())
    if share > _MOST_SHARE:
        return f"most of it {part_name(longest)}"
    return f"the longest part of it {part_name(longest)}, {100 * share:.0f} %"


def latency_bound(rows: Sequence[Row]) -> list[str]:
    """A line for each closed load that no component holds up, up to how many outstanding.

    The busiest component is then no bottleneck: the rate is outstanding I/Os over the time of one.

    Args:
        rows: Those of [`Result.summary`][raidlab.scenarios.results.result.Result.summary].
    """
    named = []
    for name in dict.fromkeys(row["workload"] for row in rows):
        own = sorted(
            (row for row in rows if row["workload"] == name and row["outstanding"] > 0),
            key=lambda row: row["outstanding"],
        )
        spare = list(itertools.takewhile(_is_spare, own))
        if not spare:
            continue
        first, last = spare[0], spare[-1]
        points = str(first["outstanding"])
        if last["outstanding"] != first["outstanding"]:
            points += f" to {last['outstanding']}"
        parts = first["breakdown_us"]
        named.append(
            f"{name}, {points} outstanding:"
            f" no component is busy for {100 * _FULL_SHARE:.0f} % of the time;"
            f" the time of one I/O bounds the rate, {longest_part(first)}"
            f" ({figure(max(parts.values()), 'us')} of {figure(sum(parts.values()), 'us')}"
            f" at {first['outstanding']})."
        )
    return named


def _is_spare(row: Row) -> bool:
    # Over events the components' shares are means of several states.
    # So are those of a limit that changes in time, which is named by itself.
    steady = row["ios"] > 0 and not row.get("around_events") and not changes(row)
    return steady and all(each["utilization"] < _FULL_SHARE for each in met_by(row))


def _rank(component: Component) -> tuple[bool, float]:
    worked: bool = component["kind"] not in _QUEUES and component["utilization"] >= _BUSY
    return not worked, -component["utilization"]


def _group(component: Component) -> str:
    return _group_of(component["kind"], component["name"])


@lru_cache(maxsize=1 << 16)
def _group_of(kind: str, name: str) -> str:
    drive = drive_name(name)
    if kind in ("drive", "link", *_IN_DRIVES) and drive:
        return f"{kind} of {drive.array}"
    return "host" if kind in ("cpu", "host") else f"{kind} {name}"


def _name(component: Component) -> str:
    """A controller's own figure is that of its cores; its memory and parity engine have theirs."""
    name: str = component["name"]
    return f"{name} cores" if component["kind"] == "controller" else name
