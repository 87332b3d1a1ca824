"""Usual causes that a scenario does not have, each added by itself.

A scenario says how a system should be. Where a measurement is slower, something is at work that
the scenario does not have: each addition is the system with one such cause and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from raidlab.devices.levels import facts
from raidlab.devices.plan_types import Plan
from raidlab.scenarios.planning.controllers import controller_tables
from raidlab.scenarios.planning.scenario import Scenario
from raidlab.scenarios.spec.trees import ScenarioTree
from raidlab.scenarios.studies.suspects import edited_plan, edited_tree

_HALF: Final = 2
"""A link that trains at half its lanes or one generation below."""
_SECTOR: Final = 512


@dataclass(frozen=True)
class Addition:
    """One cause that the scenario does not have."""

    code: str
    subject: str
    check: str
    """The command that would show it on the real machine."""
    with_it: Callable[[], Scenario]
    """The scenario with the cause; raises `SpecError` where that cannot be."""


def additions(scenario: Scenario) -> Iterator[Addition]:
    """Every cause that can be added to this system."""
    yield from _of_controller(scenario)
    yield from _of_arrays(scenario)
    yield from _of_loads(scenario)
    yield from _of_drives(scenario)


def _of_controller(scenario: Scenario) -> Iterator[Addition]:
    if not scenario.base["controllers"]:
        return
    caches = [cache for array in scenario.base["arrays"] if (cache := array.get("cache"))]
    loads = scenario.base["workloads"]
    writes = any(load["read_share"] < 1 for load in loads)
    if writes and any(cache["write"] != "write_through" for cache in caches):

        def through(tree: ScenarioTree) -> None:
            for each in controller_tables(tree):
                each["write"] = "write-through"

        yield Addition(
            "write-through", "the controller's cache is passed through",
            "storcli /c0/vall show; storcli /c0/bbu show (or /c0/cv show)",
            edited_tree(scenario, through),
        )  # fmt: skip
    streams = any(load["access"] == "sequential" and load["read_share"] > 0 for load in loads)
    if streams and any(cache["read_ahead"] != "none" for cache in caches):

        def none(tree: ScenarioTree) -> None:
            for each in controller_tables(tree):
                each["read_ahead"] = "none"

        yield Addition(
            "read-ahead", "the controller reads nothing ahead",
            "storcli /c0/vall show: R or NR in the column Cache", edited_tree(scenario, none),
        )  # fmt: skip


def _of_arrays(scenario: Scenario) -> Iterator[Addition]:
    arrays = scenario.written["array"]
    if len(arrays) != len(scenario.base["arrays"]):
        return
    for at, (table, array) in enumerate(zip(arrays, scenario.base["arrays"], strict=True)):
        level = facts(array["level"])
        if table.get("software_raid") == "os" and level.is_redundant and not array.get("bitmap"):

            def bitmap(tree: ScenarioTree, at: int = at) -> None:
                tree["array"][at]["bitmap"] = "internal"

            yield Addition(
                "bitmap", f"{array['name']}: a write-intent bitmap",
                "mdadm --detail /dev/mdX | grep -i bitmap", edited_tree(scenario, bitmap),
            )  # fmt: skip
    if len(arrays) == 1 and facts(scenario.base["arrays"][0]["level"]).is_redundant:

        def failed(tree: ScenarioTree) -> None:
            tree["event"] = [
                *tree.get("event", []),
                {"at": "0 s", "action": "fail-drive", "drive": 0},
            ]

        yield Addition(
            "degraded", "a drive is missing", "cat /proc/mdstat; storcli /c0/vall show",
            edited_tree(scenario, failed),
        )  # fmt: skip


def _of_loads(scenario: Scenario) -> Iterator[Addition]:
    written = scenario.written.get("workload", [])
    for number, load in enumerate(scenario.base["workloads"]):
        if load["access"] == "random" and load["align_bytes"] % load["block_bytes"] == 0:

            def anywhere(plan: Plan, number: int = number) -> None:
                plan["workloads"][number]["align_bytes"] = _SECTOR

            yield Addition(
                "misaligned", f"{load['name']}: blocks begin at any sector",
                "parted /dev/sdX align-check optimal 1; lsblk -t",
                edited_plan(scenario, anywhere),
            )  # fmt: skip
        if number < len(written) and load["read_share"] < 1:

            def synced(tree: ScenarioTree, number: int = number) -> None:
                tree["workload"][number]["fdatasync"] = 1

            yield Addition(
                "sync-flush", f"{load['name']}: each write is synced",
                "fio --rw=randwrite --bs=4k --fdatasync=1; the same without it",
                edited_tree(scenario, synced),
            )  # fmt: skip


def _of_drives(scenario: Scenario) -> Iterator[Addition]:
    if any(drive["queue_depth"] != 1 for drive in scenario.base["drives"]):

        def single(plan: Plan) -> None:
            for drive in plan["drives"]:
                drive["queue_depth"] = 1

        yield Addition(
            "queue-depth", "drives take one command at a time",
            "cat /sys/block/sdX/device/queue_depth", edited_plan(scenario, single),
        )  # fmt: skip
    users = [0] * len(scenario.base["links"])
    for drive in scenario.base["drives"]:
        for link in drive["path"]:
            users[link] += 1
    own = [at for at, count in enumerate(users) if count == 1]
    groups = [("the drives' own links", own)] if own else []
    groups += [
        (scenario.base["links"][at]["name"], [at]) for at, count in enumerate(users) if count > 1
    ]
    for subject, links in groups:

        def halved(plan: Plan, links: list[int] = links) -> None:
            for at in links:
                plan["links"][at]["bytes_per_s"] //= _HALF

        yield Addition(
            "link", f"{subject} at half the rate",
            "lspci -vv | grep LnkSta; smartctl -i /dev/sdX | grep -i 'current:'",
            edited_plan(scenario, halved),
        )  # fmt: skip
