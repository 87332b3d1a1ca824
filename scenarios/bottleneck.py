"""Which component holds a system back, and which would be next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from raidlab.scenarios.tier import tier_name

Component = Mapping[str, Any]

_BUSY = 0.9
"""Utilisation from which on more places in a queue would bring a component little more."""


def behind(components: Sequence[Component], target: str) -> list[Component]:
    """What a load on the array `target` can meet: all but drives and links of other arrays."""
    own = ("", target, tier_name(target))
    return [each for each in components if each["name"].rpartition("/")[0] in own]


def felt(components: Sequence[Component], breakdown_us: Mapping[str, float]) -> list[Component]:
    """All but the queue of a controller that does not hold this load up, however full it is.

    It does if the load's I/Os wait longer for the controller than they are anywhere else.
    """
    waits = 2 * breakdown_us.get("controller_wait", 0.0) > sum(breakdown_us.values())
    return [each for each in components if waits or each["kind"] != "queue"]


def busiest(components: Sequence[Component], count: int = 2) -> list[str]:
    """The busiest components in words, `x at 99 %`, the busiest of each group only.

    Sixteen drives that are equally busy are one bottleneck, not the first sixteen: drives of one
    array are a group, so are their links and the cores of their firmware, and so are the host's
    threads and the cores that they share. A queue that is full because a component behind it is
    busy all the time comes behind that one.
    """
    told: dict[str, str] = {}
    for component in sorted(components, key=_rank):
        share = f"{component['utilization']:.0%}".replace("%", " %")
        told.setdefault(_group(component), f"{_name(component)} at {share}")
    return list(told.values())[:count]


def _rank(component: Component) -> tuple[bool, float]:
    worked: bool = component["kind"] != "queue" and component["utilization"] >= _BUSY
    return not worked, -component["utilization"]


def _group(component: Component) -> str:
    kind, name = component["kind"], component["name"]
    array, slash, _ = name.partition("/")
    if kind in ("drive", "link", "firmware") and slash:
        return f"{kind} of {array}"
    return "host" if kind in ("cpu", "host") else f"{kind} {name}"


def _name(component: Component) -> str:
    """A controller's own figure is that of its cores; its memory and parity engine have theirs."""
    name: str = component["name"]
    return f"{name} cores" if component["kind"] == "controller" else name
