"""What ends the rate of a rebuild: a busy component, a limit that was set, or neither."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from raidlab.devices.trees import Document
from raidlab.scenarios.planning.scenario import Scenario
from raidlab.scenarios.results.bottleneck import leading
from raidlab.scenarios.results.number_text import percent
from raidlab.scenarios.results.result import Recorded
from raidlab.scenarios.spec.component_name import drive_name
from raidlab.scenarios.spec.run_result import Component

_FULL_SHARE = 0.9
"""Share of the time from which on a component is what everything waits for."""
AT_PACE = 0.95
"""Part of a stated pace from which on it is that which limits."""


class Cause(StrEnum):
    """Why a rebuild is no faster."""

    DRIVE = "drive"
    """A drive always has a command: disks stream, or serve users besides."""
    LINK = "link"
    """A link is full: of a drive, an expander, a slot."""
    PARITY = "parity"
    """The controller's parity engine."""
    THREAD = "md-thread"
    """The host's thread that makes parity."""
    CONTROLLER = "controller"
    """Cores or memory of the controller."""
    FIRMWARE = "firmware"
    """Cores, channels or dies of a drive."""
    HOST = "host"
    """A thread of the host."""
    SYNC_SPEED = "sync-speed-max"
    """md's limit for rebuilds."""
    REBUILD_RATE = "rebuild-rate"
    """Pauses for the host's I/Os."""
    LATENCY = "latency"
    """Nothing is busy: this many rows are in progress, and each takes its time."""


_OF_KIND = {
    "drive": Cause.DRIVE, "link": Cause.LINK, "parity": Cause.PARITY, "host": Cause.HOST,
    "controller": Cause.CONTROLLER, "memory": Cause.CONTROLLER, "firmware": Cause.FIRMWARE,
    "channels": Cause.FIRMWARE, "dies": Cause.FIRMWARE,
}  # fmt: skip
"""The cause that a busy component of a kind is."""
_WORDS = {
    Cause.DRIVE: "drives",
    Cause.LINK: "a link",
    Cause.PARITY: "the parity engine",
    Cause.THREAD: "md's thread",
    Cause.CONTROLLER: "the controller",
    Cause.FIRMWARE: "a drive's inside",
    Cause.HOST: "the host's threads",
    Cause.SYNC_SPEED: "md's sync_speed_max",
    Cause.REBUILD_RATE: "the rebuild rate",
    Cause.LATENCY: "the time of the rows in progress",
}


@dataclass(frozen=True)
class Limit:
    """What limits a rebuild at a place."""

    cause: Cause
    component: str | None = None
    """The one that is busy; None if none is."""
    share: float | None = None
    """Part of the time that it is busy."""
    loaded: bool = False
    """Users have a part of it."""

    @property
    def words(self) -> str:
        """`drives, streaming`, `a link (spare.0 SATA 6G, 98 %)`."""
        text = _WORDS[self.cause]
        if self.cause is Cause.DRIVE:
            return f"{text}, which serve users besides" if self.loaded else f"{text}, streaming"
        if self.component is None or self.share is None:
            return text
        drive = drive_name(self.component)
        name = drive.in_array if drive else self.component
        return f"{text} ({name}, {percent(self.share)})"

    def to_dict(self) -> Document:
        """Plain data."""
        return {**vars(self), "text": self.words}


def limit_of(recorded: Recorded, scenario: Scenario, array: int, *, is_paced: bool) -> Limit:
    """What limited a rebuild while it was recorded.

    Args:
        recorded: Of a run whose recording lies within the rebuild.
        scenario: Of the run.
        array: The index of the array in the plan.
        is_paced: Whether it goes as fast as md lets it.
    """
    plan = scenario.base["arrays"][array]
    loaded = bool(scenario.base["workloads"])
    if is_paced:
        return Limit(Cause.SYNC_SPEED, loaded=loaded)
    for each in leading([each for each in recorded.components if _is_met(each, plan["name"])]):
        if each["kind"] in _OF_KIND and each["utilization"] >= _FULL_SHARE:
            cause = _OF_KIND[each["kind"]]
            if each["name"] == f"{plan['name']} parity thread":
                cause = Cause.THREAD
            return Limit(cause, each["name"], each["utilization"], loaded)
    if loaded and plan["background_share"] < 1.0:
        return Limit(Cause.REBUILD_RATE, loaded=True)
    return Limit(Cause.LATENCY, loaded=loaded)


def _is_met(component: Component, array: str) -> bool:
    """Whether a rebuild of the array passes a component: its own, or one of several arrays."""
    drive = drive_name(component["name"])
    return drive is None or drive.array == array
