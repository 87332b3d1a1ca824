"""Settings of a controller's cache: for all of its arrays, for one, or as a mode by name.

Controllers of this kind have the settings for each array by itself. A mode sets them together; what
is written beside a mode counts instead of it, and what an array says instead of what the controller
says.

Source of the modes: Fujitsu PRIMERGY, RAID Controller Performance 2013, "controller settings".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from enum import Enum, auto
from typing import Annotated, ClassVar, Final, Literal, TypeVar

from pydantic import Field

from raidlab.devices.forms import also
from raidlab.devices.schema import Table
from raidlab.devices.units import Share
from raidlab.devices.words import CONTROLLER_KEYS

Mode = Literal["data-protection", "performance", "fast-path-optimum"]
WriteMode = Literal["write-through", "write-back", "always-write-back"]
ReadMode = Literal["none", "adaptive", "always"]
IoCache = Literal["direct", "cached"]


class CacheSettings(Table):
    """Keys that `[controller]` and `[[array]]` have in common."""

    mode: Mode | None = None
    """The following four together; those that are written count instead."""
    write: WriteMode | None = None
    read_ahead: ReadMode | None = None
    io_cache: IoCache | None = None
    disk_cache: bool | None = None
    """The drives' own write caches on or off; None leaves each drive's own default."""


class ControllerTable(CacheSettings):
    """`[controller]` of all arrays, or one of several `[[controller]]`, which arrays name."""

    elsewhere: ClassVar[Mapping[str, str]] = CONTROLLER_KEYS

    name: str = Field(default="", pattern=r"^[A-Za-z0-9_.+-]*$")
    """For `controller` of arrays and for reports; that of its model in `[controller]`."""
    model: str
    fast_path: bool = False
    backup: Literal["none", "bbu", "fbu"] | None = None
    battery_health: Share = Field(default=1.0, gt=0)
    """What is left of a battery's rated charge: it holds the cache for that share of the time."""


Controllers = Annotated[
    tuple[ControllerTable, ...], also({"$ref": "#/definitions/ControllerTable"})
]


class Memory(Enum):
    """The cache of a controller, as far as a mode depends on it."""

    NONE = auto()
    """It has none: a mode sets `disk_cache` alone."""
    BARE = auto()
    """Nothing keeps it through an outage."""
    BACKED = auto()
    """A battery or flash keeps it."""


@dataclass(frozen=True)
class _Set:
    """What a mode sets."""

    write: WriteMode
    read_ahead: ReadMode
    io_cache: IoCache
    disk_cache: bool

    def on(self, memory: Memory) -> _Set | _DiskCache:
        """What it sets on such a cache: always-write-back is for one that nothing keeps."""
        if memory is Memory.NONE:
            return _DiskCache(self.disk_cache)
        if memory is Memory.BACKED and self.write == "always-write-back":
            return replace(self, write="write-back")
        return self


@dataclass(frozen=True)
class _DiskCache:
    """What a mode sets of a controller without a cache."""

    disk_cache: bool


MODES: Final[Mapping[Mode, _Set]] = {
    "data-protection": _Set("write-back", "adaptive", "direct", disk_cache=False),
    "performance": _Set("always-write-back", "adaptive", "direct", disk_cache=True),
    "fast-path-optimum": _Set("write-through", "none", "direct", disk_cache=True),
}
"""On a cache that nothing keeps through an outage, where write-back falls to write-through."""
CACHE_KEYS: Final = tuple(each.name for each in fields(_Set))
"""Keys that a mode sets."""
OWN_KEYS: Final = ("mode", *CACHE_KEYS)
"""Keys of an array that need a controller."""

Settings = TypeVar("Settings", bound=CacheSettings)


def settled(controller: Settings, memory: Memory, array: CacheSettings | None = None) -> Settings:
    """The settings of a controller with its mode, and an array's own settings, in their place.

    Args:
        controller: Its table.
        memory: Its cache.
        array: That of the array; settings for all arrays if left out.
    """
    found: dict[str, object] = {}
    for table in (controller, array):
        if table is None:
            continue
        of_mode = MODES[table.mode].on(memory) if table.mode else None
        for key in CACHE_KEYS:
            written = getattr(table, key)
            value = written if written is not None else getattr(of_mode, key, None)
            if value is not None:
                found[key] = value
    return controller.model_copy(update={**found, "mode": None})
