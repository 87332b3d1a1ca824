"""What a fit may change of a part of a system: its controller, a cache, a tier, RAID in the host.

Everything else of the system is known; a scenario file says what it is (`system`). A parameter is
changed if the system works in the mode that shows it: the time of a cached request only where there
is a cache. What stands on data sheets (cores, levels, ports) is varied only if the user frees it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from raidlab.calibration.fitting.parameters.parameter import Kind, Parameter
from raidlab.devices.catalogue import SPECS

UNKNOWN = "unknown"
"""What a scenario calls a device that the fit is to find: it begins as its kind's template."""
UNKNOWN_CONTROLLER = "unknown-controller"
"""What it calls a controller that is to be found together with the drives behind it."""
CONTROLLER_TABLE = "controller"
"""The table of a drive's tree that holds such a controller, and what its keys begin with."""

CONTROLLER_TEMPLATE = Path(__file__).parent / "templates" / "controller.toml"


def _time(
    key: str, low: float, high: float, speaks: str, needs: str = "", *, limits: bool = False
) -> Parameter:
    return Parameter(key, "us", low, high, "log", speaks, needs=needs, limits=limits)


def _core(key: str, low: float, high: float, speaks: str, needs: str) -> Parameter:
    return _time(key, low, high, speaks, needs, limits=True)


def _rate(
    key: str, low: float, high: float, speaks: str, needs: str, along: tuple[str, ...] = ()
) -> Parameter:
    return Parameter(key, "GB/s", low, high, "log", speaks, along=along, limits=True, needs=needs)


_CACHED = _core("firmware.cached", 0.2, 200.0, "small cached writes at depth", "cache")
_MEMORY = _rate("cache.bandwidth", 0.3, 100.0, "large blocks that pass the cache", "memory")
_LOOKUP = _time("tier.lookup", 0.5, 500.0, "depth 1, and rates that end at a core", "tier")

_CONTROLLER = (
    _core("firmware.request", 0.2, 200.0, "small requests at depth", "straight"),
    _core("firmware.fast_path", 0.1, 100.0, "small requests at depth", "fast-path"),
    _core("firmware.parity", 0.2, 200.0, "small requests at depth", "parity"),
    _CACHED,
    _time("firmware.command", 0.1, 50.0, "requests of several commands at depth"),
    _time("firmware.latency", 0.5, 300.0, "depth 1"),
    _rate("parity", 0.1, 50.0, "large writes at depth", "parity"),
    _MEMORY,
    Parameter(
        "queue_depth", "", 8, 4096, "log", "deeper loads than it takes", whole=True, limits=True
    ),
)
OF_CONTROLLER = tuple(replace(each, key=f"{CONTROLLER_TABLE}.{each.key}") for each in _CONTROLLER)
"""What is fitted of a controller together with its drives."""
_CONTROLLER_EXTRA = (
    Parameter("cores", "", 1, 16, "log", "depth 1 beside small requests at depth", whole=True),
    _LOOKUP,
)

_CACHE = (
    Parameter("cache.size", "MiB", 16.0, 65536.0, "log", "writes into the empty cache, over time"),
    Parameter("cache.dirty", "", 0.05, 1.0, "linear", "the same, where the size is known"),
    Parameter("cache.low", "", 0.0, 1.0, "linear", "writes that the drives keep up with"),
    Parameter("cache.flush", "s", 0.1, 120.0, "log", "few writes beside reads, over time"),
    Parameter("cache.destages", "", 1, 64, "log", "random writes that last", whole=True),
    _CACHED,
    _MEMORY,
)

_TIER = (
    Parameter("tier.promote_after", "", 1, 32, "log", "the rate over time", whole=True),
    Parameter("tier.copies", "", 1, 1024, "log", "the rate over time", whole=True),
    Parameter("tier.half_life", "min", 0.5, 1000.0, "log", "large hot spots over hours"),
    Parameter(
        "tier.dirty", "", 0.05, 1.0, "linear", "writes to more lines than the tier may keep dirty"
    ),
    _LOOKUP,
)

_OS_RAID_EXTRA = (
    # Stripes that read first and those that are written whole keep the ratio of their times.
    replace(
        _time("stripe_page", 0.05, 60.0, "small writes to fast members at depth", "os-parity"),
        along=("stripe_reread",),
    ),
)
_OS_RAID = (
    _time("raid_command", 0.05, 20.0, "requests of several commands at depth, and CPU shares"),
    # Two parities cost at least what one costs: the rate that is not seen goes along.
    _rate("parity", 0.2, 100.0, "large writes at depth", "one-parity", ("two_parities",)),
    _rate("two_parities", 0.2, 100.0, "large writes at depth", "two-parities", ("parity",)),
)

_HOST = (
    _time("submit", 0.3, 30.0, "one job at depth, and its CPU share"),
    _time("wake", 0.1, 40.0, "one job at depth 1"),
    _time("fill", 0.1, 20.0, "one job that writes at depth"),
    _time("port.read", 0.1, 30.0, "reads at depth", "ports"),
    _time("port.write", 0.1, 30.0, "writes at depth", "ports"),
    _time("page", 0.01, 5.0, "large blocks of one job"),
)
_HOST_EXTRA = (
    _time("complete", 0.3, 30.0, "only together with submit"),
    _time("port.latency", 0.1, 40.0, "depth 1 behind two hosts", "ports"),
    Parameter("spread", "", 0.0, 1.0, "linear", "percentiles of one job"),
)

SYSTEM_KINDS: Mapping[str, Kind] = {
    "controller": Kind(
        "controller", CONTROLLER_TEMPLATE, "", _CONTROLLER, _CONTROLLER_EXTRA, needs="controller"
    ),
    "write-cache": Kind(
        "controller",
        CONTROLLER_TEMPLATE,
        "",
        _CACHE,
        needs="write-back",
        side="write",
        over_time=True,
    ),
    "tier": Kind("controller", CONTROLLER_TEMPLATE, "", _TIER, needs="tier", over_time=True),
    "os-raid": Kind(
        "host", SPECS / "host" / "generic.toml", "", _OS_RAID, _OS_RAID_EXTRA, needs="os-raid"
    ),
    "host": Kind(
        "host", SPECS / "host" / "generic.toml", "", _HOST, _HOST_EXTRA, needs="host"
    ),
}  # fmt: skip
