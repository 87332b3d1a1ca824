"""From the columns of a published row to a scenario, by rules that hold for every row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from raidlab.calibration.published.figures import SETTINGS, Configuration, Shared, shared
from raidlab.devices.catalogue import find
from raidlab.devices.controller import Cache, ControllerSpec
from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.levels import facts
from raidlab.devices.reading import whole_number
from raidlab.devices.schema import DeviceSpec
from raidlab.devices.trees import Tree
from raidlab.scenarios.planning.bitmap import BITMAP_LEVELS
from raidlab.scenarios.spec.loads import PROFILES, Profile, parse_fio_words
from raidlab.scenarios.spec.trees import ScenarioTree
from raidlab.scenarios.spec.unsupported import MODELLED_SETTINGS

_BOOL = {"true": True, "false": False}

_LENGTHS = {("hdd", "random"): (20.0, 40.0), ("hdd", "sequential"): (3.0, 5.0)}
"""Seconds of warm-up and recording by kind of drive and order of the load: a disk's write cache
settles once its extents are full, after some thousand random writes or a second of sequential
ones."""
_LENGTH = (0.3, 0.7)
"""Of all others that only read."""
_LENGTH_WRITTEN = (0.5, 2.0)
"""Of flash that is written: each die empties some blocks, and what it frees settles."""
_RECORDED = {"hdd": 20_000}
"""I/Os after which a run ends: the rate of random loads is then known to better than 0.5 %."""
_ONE_AT_A_TIME = (120.0, 40_000)
"""Seconds and I/Os of a disk with one outstanding."""
_PASS_AT_MOST = "1 h"
"""A load that covers a file once ends by itself."""
_WARM = (4.0, 4.0)
"""Of a tier that is warm: the disks have little to do."""
_FIRST_HOURS = {"first hour": ("1 h", 120)}
"""What is recorded of a tier that begins empty, and how many seconds each simulated one is."""
_DRIVE_RATE = {"hdd": 500.0}
"""I/Os a second that a drive of an array does under a random load of some depth."""
_DRIVE_RATE_DEFAULT = 14_000.0
"""Of all others, as long as that is no more than `_STREAM_RATE_DEFAULT`."""
_STREAM_RATE = {"hdd": 100e6}
"""Bytes a second that a drive of an array takes of a stream at most: with copies or parity, half of
what its medium does."""
_STREAM_RATE_DEFAULT = 200e6
"""Of all others."""
_TIER_WRITES = {"write-through": "read"}
"""Other words of reports for what a tier does with writes: here they bypass it."""
_EXCESS = {"sequential": 0.1, "random": 0.5}
"""What a load brings beyond what the drives take, as a share of that, while it fills a cache."""
_RECORDED_DEFAULT = 100_000
"""Of all others: hundreds of rounds of a load of 512 outstanding, whose I/Os come in waves."""


def scenario_tree(configuration: Configuration) -> ScenarioTree:
    """The scenario of a configuration, as its file would hold it.

    Settings that its report's rows share count where the row says nothing, and only as far as
    the controller has a cache and the model follows it.

    Raises:
        ValueError: A column says what no scenario can be made of, or what is not modelled yet.
    """
    unknown = [key for key in configuration.settings if key not in SETTINGS]
    if unknown:
        allowed = f"one of {', '.join(SETTINGS)}"
        faults = (Fault("settings", key, allowed, SETTINGS) for key in unknown)
        raise ValueError("; ".join(map(str, faults)))
    report = shared().get(configuration.source, shared()["default"])
    settings = _settings(configuration, report)
    array = _array(configuration, report, settings)
    workloads = _workloads(configuration, report, settings)
    tree: Tree = {
        "host": _host(report, settings),
        "array": [array],
        "workload": workloads,
        "run": {
            **_run(configuration, settings),
            "precondition": report.precondition,
            **_filled(configuration, report),
        },
    }
    history = _before(configuration, report, str(workloads[0]["area"]))
    if history:
        array["history"] = history
    controller = _controller(configuration, settings)
    if controller is not None:
        tree["controller"] = controller
    # What a column says of a level or a policy the scenario checks.
    return cast(ScenarioTree, tree)


def _before(configuration: Configuration, report: Shared, area: str) -> list[Tree]:
    """What a stream finds on flash: what the last profile before it that wrote has left.

    A load that writes at random leaves the same again.
    """
    if configuration.load not in report.order or _kind(configuration.drive) != "ssd":
        return []
    if PROFILES[cast(Profile, configuration.load)].access == "random":
        return []
    earlier = report.order[: report.order.index(configuration.load)]
    for name in reversed(earlier):
        load = PROFILES[cast(Profile, name)]
        if load.read_share < 1:
            rw = "randwrite" if load.access == "random" else "write"
            entry: Tree = {"rw": rw, "block_size": f"{load.block_bytes} B", "area": area}
            return [entry | {"then_rests": True} | ({} if rw == "randwrite" else {"written": area})]
    return []


def _filled(configuration: Configuration, report: Shared) -> dict[str, str]:
    """What each drive of the array had stored: as much as the report's tests wrote."""
    if report.filled is None:
        return {}
    size, unit = report.filled.split()
    drives = configuration.count if configuration.level == "raid0" else 1
    return {"filled": f"{float(size) * drives:.15g} {unit}"}


def _kind(drive: str) -> str:
    spec = _spec(drive)
    return "" if spec is None else spec.kind


def _spec(drive: str) -> DeviceSpec | None:
    """None if the catalogue has no such drive."""
    try:
        return find(drive).spec
    except SpecError:
        return None


def _settings(configuration: Configuration, report: Shared) -> dict[str, str]:
    """The row's settings, over those that all rows of its report share."""
    common = dict(part.split("=", 1) for part in report.settings.split(";") if part)
    cached = _cache(configuration.controller) is not None
    for key in ("read_ahead", "write"):
        if not cached or common.get(key) not in MODELLED_SETTINGS[key]:
            common.pop(key, None)
    own = dict(configuration.settings)
    if configuration.controller and not cached:
        # A controller without a cache reads nothing ahead and holds no writes back.
        own.pop("read_ahead", None)
        own.pop("write", None)
    return common | own


def _cache(controller: str) -> Cache | None:
    if not controller:
        return None
    try:
        spec = find(controller).spec
    except SpecError:
        return None
    return spec.cache if isinstance(spec, ControllerSpec) else None


def _host(report: Shared, settings: Mapping[str, str]) -> Tree:
    host: Tree = {"model": report.host}
    if "cpu_ghz" in settings:
        host["clock"] = f"{settings['cpu_ghz']} GHz"
    return host


def _controller(configuration: Configuration, settings: Mapping[str, str]) -> Tree | None:
    if not configuration.controller:
        return None
    table: Tree = {"model": configuration.controller}
    for key in ("read_ahead", "write"):
        if key in settings:
            table[key] = settings[key]
    if "fast_path" in settings:
        table["fast_path"] = _bool(settings, "fast_path")
    return table


def _array(configuration: Configuration, report: Shared, settings: Mapping[str, str]) -> Tree:
    drives: Tree = {"model": configuration.drive, "count": configuration.count}
    if configuration.format:
        drives["format"] = configuration.format
    if "cooling" in settings:
        drives["cooling"] = settings["cooling"]
    if "disk_cache" in settings and _has_write_cache(configuration.drive):
        drives["write_cache"] = _bool(settings, "disk_cache")
    array: Tree = {
        "name": "data",
        "level": "jbod" if configuration.level == "single" else configuration.level,
        "drives": [drives],
        "stripe_unit": report.stripe_unit,
    }
    in_host = configuration.raid_by == "os" or not configuration.controller
    if in_host and configuration.level not in ("single", "independent", "jbod"):
        array["software_raid"] = "os"
        # The reports' systems were not Linux: a mirror of theirs has neither md's bitmap nor its
        # choice of copies.
        if configuration.level in BITMAP_LEVELS:
            array["bitmap"] = "none"
        if facts(configuration.level).copies != 1:
            array["read_balance"] = "shortest-queue"
    if settings.get("cache_tier"):
        array["cache_tier"] = _cache_tier(settings["cache_tier"], settings.get("state", "warm"))
    return array


def _has_write_cache(drive: str) -> bool:
    try:
        spec = find(drive).spec
    except SpecError:
        return False
    return "write_cache" in getattr(spec, "options", ())


def _cache_tier(text: str, state: str) -> Tree:
    """A tier from `raid1 x2 sas-6g-ssd write-back`."""
    words = text.split()
    drives = whole_number(words[1].removeprefix("x")) if len(words) == 4 else None
    if not drives or not words[1].startswith("x"):
        raise ValueError(f'settings cache_tier={text}: a form such as "raid1 x2 MODEL write-back"')
    if state not in ("warm", *_FIRST_HOURS):
        raise ValueError(f"settings state={state}: one of warm, {', '.join(_FIRST_HOURS)}")
    level, _, model, write = words
    return {
        "level": level,
        "drives": [{"model": model, "count": drives}],
        "write": _TIER_WRITES.get(write, write),
        "state": "warm" if state == "warm" else "empty",
    }


def _workloads(
    configuration: Configuration, report: Shared, settings: Mapping[str, str]
) -> list[Tree]:
    """One workload, or one for each process with a partition of its own."""
    outstanding: int | str = configuration.outstanding
    if outstanding != "max":
        outstanding = int(outstanding)
    area = settings.get("area")
    hot_spot = settings.get("hot_spot")
    if area is None:
        # The load generator spreads its accesses evenly over its file: a hot spot is the file.
        area, hot_spot = hot_spot or report.area(configuration.count), None
    workload: Tree = {
        "target": "data",
        **_load(configuration.load),
        "align": report.align,
        "area": area,
        "area_start": report.area_start if area != "whole" else "0 B",
        "outstanding": outstanding,
        "per": configuration.per,
    }
    if hot_spot:
        workload["hot_spot"] = hot_spot
    if "compressible" in settings:
        workload["compressible"] = f"{settings['compressible']} %"
    if "tool" in settings:
        workload |= _tool(settings["tool"])
    if "threads" in settings:
        workload["threads"] = _whole(settings, "threads")
    processes = _whole(settings, "processes") if "processes" in settings else 1
    if processes == 1:
        return [workload]
    if settings.get("areas") != "separate" or area == "whole":
        return [workload | {"threads": processes}]
    size, unit = area.split()
    return [
        workload | {"name": f"process-{at}", "area_start": f"{float(size) * at:g} {unit}"}
        for at in range(processes)
    ]


def _tool(tool: str) -> Tree:
    """IOzone calls read and write on a file, each record of it once, and counts its fsync."""
    if tool != "iozone":
        raise ValueError(f"settings tool={tool}: iozone, or left out for direct I/O")
    return {"buffered": True, "passes": 1}


def _load(text: str) -> Tree:
    if text in PROFILES:
        return {"profile": text}
    load = parse_fio_words(text)
    table: Tree = {"block_size": f"{load.block_bytes} B"}
    words = {0.0: "write", 1.0: "read"}
    prefix = "rand" if load.access == "random" else ""
    table["rw"] = prefix + words.get(load.read_share, "rw")
    if load.read_share not in words:
        table["read_share"] = load.read_share
    return table


def _run(configuration: Configuration, settings: Mapping[str, str]) -> Tree:
    try:
        kind = find(configuration.drive).spec.kind
    except SpecError:
        kind = ""
    if "tool" in configuration.settings:
        return {"warm_up": "0 s", "duration": _PASS_AT_MOST}
    load = PROFILES.get(cast(Profile, configuration.load))
    pattern = load or parse_fio_words(configuration.load)
    usual = _LENGTH if pattern.read_share == 1 else _LENGTH_WRITTEN
    warm_up, duration = _LENGTHS.get((kind, pattern.access), usual)
    ios = _RECORDED.get(kind, _RECORDED_DEFAULT)
    if kind == "hdd" and configuration.outstanding == "1":
        # The least latency of a stream of small writes comes where a track ends with a block, which
        # is rare (once in 60 to 120 s); and one I/O at a time costs little to simulate.
        duration, ios = _ONE_AT_A_TIME
    warm_up = max(warm_up, _filling(configuration, settings, kind))
    state = settings.get("state", "")
    if settings.get("cache_tier") and state in _FIRST_HOURS:
        length, lapse = _FIRST_HOURS[state]
        return {"warm_up": f"{warm_up:g} s", "duration": length, "time_lapse": lapse}
    if settings.get("cache_tier"):
        warm_up, duration = _WARM
    return {
        "warm_up": f"{warm_up:.3g} s",
        "duration": f"{duration:g} s",
        "max_ios": ios,
    }


def _filling(configuration: Configuration, settings: Mapping[str, str], kind: str) -> float:
    """Seconds in which writes have filled a cache that holds them back, or 0.

    It fills by what comes beyond what the drives take: the rate counts once it is full.

    At one outstanding the drives keep up with random writes, and it does not fill.
    """
    cache = _cache(configuration.controller)
    load = PROFILES.get(cast(Profile, configuration.load)) or parse_fio_words(configuration.load)
    writes = 1 - load.read_share
    if cache is None or settings.get("write") == "write-through" or not writes:
        return 0.0
    if load.access == "sequential":
        taken = configuration.count * _STREAM_RATE.get(kind, _STREAM_RATE_DEFAULT)
        return cache.size / (_EXCESS["sequential"] * taken)
    if configuration.outstanding == "1":
        return 0.0
    others = min(_DRIVE_RATE_DEFAULT, _STREAM_RATE_DEFAULT / load.block_bytes)
    rate = configuration.count * _DRIVE_RATE.get(kind, others)
    return cache.size / (_EXCESS["random"] * writes * load.block_bytes * rate)


def _bool(settings: Mapping[str, str], key: str) -> bool:
    if settings[key] not in _BOOL:
        raise ValueError(f"settings {key}={settings[key]}: true or false")
    return _BOOL[settings[key]]


def _whole(settings: Mapping[str, str], key: str) -> int:
    number = whole_number(settings[key])
    if number is None:
        raise ValueError(f"settings {key}={settings[key]}: a whole number")
    return number
