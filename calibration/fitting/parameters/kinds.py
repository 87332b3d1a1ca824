"""What a fit may change, kind by kind, and the file that it starts from.

A parameter stands here if it is a property of the drive or of the host that measurements of rate
and latency determine; what only data sheets state (geometry, dies, capacity) stays as the template
or the device named with `--like` has it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from raidlab.calibration.fitting.parameters.parameter import (
    Kind,
    Mode,
    Option,
    Parameter,
    number_of,
)
from raidlab.calibration.fitting.parameters.system_kinds import SYSTEM_KINDS
from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.trees import Tree, Value, get

TEMPLATES = Path(__file__).parent / "templates"

VIRTUAL_DISK = "virtual-disk"
"""A server behind limits, below a hypervisor or a network: `by_law` fits it."""
TABLE = "table"
"""A device that no law explains: its measured latencies."""
CPU_SCALE = "host.cpu"
CPU_TIMES = (
    "submit", "complete", "wake", "fill", "interrupt", "raid_command", "stripe_page",
    "stripe_reread",
)  # fmt: skip
"""What `host.cpu` scales."""
ALONE_AND_BESIDE = "reads alone and beside others"
"""What shows whether a drive is slower where it finds nothing else to do."""
REVOLUTION = "revolution"
"""What a disk's time may be a multiple of: the time of a revolution."""


def _time(key: str, unit: str, low: float, high: float, speaks: str, **more: Any) -> Parameter:
    return Parameter(key, unit, low, high, "log", speaks, **more)


_HDD = (
    _time("seek.read.average", "ms", 1.5, 30.0, "random reads at depth 1", side="read", pull=6.0),
    Parameter(
        "seek.read.full",
        "",
        1.3,
        3.0,
        "linear",
        "percentiles of random reads",
        side="read",
        of="seek.read.average",
    ),
    _time("seek.read.single", "ms", 0.1, 8.0, "random reads at depth", side="read"),
    Parameter("scheduler.ageing", "", 0.0, 1.0, "linear", "p99 of random reads at depth"),
    Parameter(
        "seek.spread", "", 0.0, 1.0, "linear", "random reads over depth", side="read", of=REVOLUTION
    ),
    Parameter(
        "overhead.read",
        "ms",
        0.0,
        2.0,
        "linear",
        "reads that the buffer answers",
        side="read",
        pull=3.0,
    ),
    Parameter(
        "seek.write_settle", "ms", -1.0, 25.0, "linear", "random writes at depth 1", side="write"
    ),
    Parameter(
        "write_cache.extents",
        "",
        1,
        512,
        "log",
        "random writes over depth",
        side="write",
        whole=True,
    ),
    _time("overhead.write", "ms", 0.02, 12.0, "random writes at depth 1", side="write"),
)

_SSD = (
    _time(
        "nand.read.0",
        "us",
        5.0,
        400.0,
        "random reads at depth 1",
        side="read",
        along=("nand.read.1", "nand.read.2", "nand.read.3"),
    ),
    Parameter(
        "nand.read.1",
        "",
        1.0,
        1.6,
        "linear",
        "percentiles of random reads at depth 1",
        side="read",
        of="nand.read.0",
    ),
    Parameter(
        "nand.read.2",
        "",
        1.0,
        2.5,
        "linear",
        "percentiles of random reads at depth 1",
        side="read",
        of="nand.read.0",
    ),
    _time(
        "firmware.read",
        "us",
        0.3,
        200.0,
        "random reads of several jobs at depth",
        side="read",
        pull=4.0,
        limits=True,
    ),
    _time(
        "firmware.read_unit",
        "us",
        0.05,
        60.0,
        "reads of large and small blocks at depth",
        side="read",
        pull=4.0,
        limits=True,
        needs="large reads",
    ),
    _time("firmware.read_latency", "us", 0.5, 300.0, "random reads at depth 1", side="read"),
    Parameter(
        "firmware.wake",
        "us",
        0.0,
        200.0,
        "linear",
        "random reads at depth 1 beside more outstanding",
        side="read",
        needs=ALONE_AND_BESIDE,
    ),
    _time(
        "firmware.write",
        "us",
        0.3,
        400.0,
        "random writes at depth",
        side="write",
        pull=4.0,
        limits=True,
    ),
    _time(
        "firmware.write_unit",
        "us",
        0.05,
        120.0,
        "writes of large and small blocks at depth",
        side="write",
        pull=4.0,
        limits=True,
        needs="large writes",
    ),
    _time("firmware.write_latency", "us", 0.5, 1000.0, "random writes at depth 1", side="write"),
    _time(
        "nand.program.0",
        "us",
        50.0,
        40_000.0,
        "random writes that last beyond the buffer",
        side="write",
        pull=4.0,
        limits=True,
        along=("nand.program.1", "nand.program.2", "nand.program.3"),
    ),
    Parameter(
        "state.mapped",
        "",
        0.0,
        1.0,
        "linear",
        "percentiles of random reads at depth 1",
        side="read",
    ),
)

_STATION = (
    _time("service", "us", 1.0, 100_000.0, "depth 1"),
    Parameter("servers", "", 1, 256, "log", "the rate at depth", whole=True),
)

_VOLUME = (
    _time("server.read", "us", 0.001, 1e7, "small reads at depth", side="read"),
    _time("server.write", "us", 0.001, 1e7, "small writes at depth", side="write"),
    _time("server.read_mib", "us", 0.001, 1e7, "large reads at depth", side="read"),
    _time("server.write_mib", "us", 0.001, 1e7, "large writes at depth", side="write"),
    _time("latency.read", "us", 0.001, 1e7, "reads at depth 1", side="read"),
    _time("latency.write", "us", 0.001, 1e7, "writes at depth 1", side="write"),
    Parameter("server.continued_read", "", 0.05, 1.0, "log", "sequential reads", side="read"),
    Parameter("server.continued_write", "", 0.05, 1.0, "log", "sequential writes", side="write"),
    Parameter("server.cache", "MiB", 0.25, 256.0, "log", "large blocks at all depths"),
    Parameter("server.uncached", "", 1.0, 6.0, "log", "large blocks at depth"),
    Parameter("limits.rate", "IO/s", 1.0, 1e12, "log", "small blocks at depth"),
    Parameter("limits.throughput", "MB/s", 1e-6, 1e6, "log", "large blocks at depth"),
)

_PORT = (
    _time("host.port.read", "us", 0.1, 30.0, "reads at depth", side="read", pull=11.0, limits=True),
    _time(
        "host.port.write", "us", 0.1, 30.0, "writes at depth", side="write", pull=11.0, limits=True
    ),
)
_HOST = (
    _time("host.submit", "us", 0.3, 30.0, "one job at depth"),
    _time("host.complete", "us", 0.3, 30.0, "one job at depth"),
    _time("host.fill", "us", 0.1, 20.0, "one job that writes at depth", side="write"),
    _time("host.port.latency", "us", 0.1, 40.0, "depth 1 behind two hosts"),
    _time("host.wake", "us", 0.1, 40.0, "one job at depth 1"),
)

_MD = (
    _time(
        "host.raid_command",
        "us",
        0.05,
        20.0,
        "requests of several commands at depth",
        needs="os-raid",
    ),
    _time(
        "host.stripe_page",
        "us",
        0.05,
        60.0,
        "small writes to fast members at depth",
        needs="os-parity",
        along=("host.stripe_reread",),
    ),
)
"""Of RAID in the host, beside the drives of the array."""

_CPU = Parameter(CPU_SCALE, "", 0.25, 4.0, "log", "one job at depth, and its CPU share", pull=8.0)
_JITTER = Parameter("host.spread", "", 0.0, 1.0, "linear", "percentiles of one job")
_HDD_EXTRA = (Parameter("speed", "rpm", 4000.0, 16000.0, "log", "percentiles at depth 1"),)


def _speed(rpm: int, single: str, average: str, full: str) -> Option:
    """A speed, and the seek times that data sheets of such disks have."""
    seek = {"single": single, "average": average, "full": full}
    return Option({"speed": f"{rpm} rpm"}, {f"seek.read.{key}": text for key, text in seek.items()})


def _unaged(policy: str) -> Tree:
    return {
        "scheduler.policy": policy,
        "scheduler.ageing": 0.0,
        "scheduler.plans_ahead": False,
    }


_UNCACHED = {"write_cache.enabled": False, "write_cache.extents": 16}
_HDD_MODES = (
    Mode(
        "scheduler.policy",
        "read",
        (
            Option({"scheduler.policy": "shortest-access", "scheduler.plans_ahead": False}),
            Option({"scheduler.policy": "shortest-access", "scheduler.plans_ahead": True}),
            Option(_unaged("c-look")),
            Option(_unaged("first-come")),
        ),
    ),
    Mode(
        "speed",
        "read",
        (
            _speed(7200, "1 ms", "9 ms", "18 ms"),
            _speed(5400, "1.5 ms", "12 ms", "24 ms"),
            _speed(10_000, "0.4 ms", "4.5 ms", "9 ms"),
            _speed(15_000, "0.3 ms", "3.6 ms", "7.2 ms"),
        ),
        # A longer settling looks like a longer revolution.
        decides=("seek.write_settle",),
    ),
    Mode(
        "write_cache.enabled",
        "write",
        (
            Option({"write_cache.enabled": True, "write_cache.order": "scheduler"}),
            # A cache of two runs, of which one is chosen, looks like this; but caches of megabytes
            # have room for more.
            Option(
                {"write_cache.enabled": True, "write_cache.order": "first-come"}, preferred=True
            ),
            Option({**_UNCACHED, "write_cache.order": "scheduler"}),
        ),
        # What is chosen from among more takes longer for each.
        decides=("seek.write_settle", "write_cache.extents"),
    ),
)
_SSD_EXTRA = (
    Parameter("firmware.spread", "", 0.0, 1.0, "linear", "percentiles of random writes"),
    Parameter(
        "nand.dies_per_channel",
        "",
        1,
        16,
        "log",
        "random reads over depth",
        whole=True,
        side="read",
    ),
    _time("nand.command", "us", 0.1, 20.0, "random reads of several jobs at depth", side="read"),
)


def _dies(*shares: tuple[int, int]) -> tuple[Mode, ...]:
    """Dies on each channel with blocks in each plane: as many bytes in all."""
    options = tuple(
        Option({"nand.dies_per_channel": dies, "nand.blocks_per_plane": blocks})
        for dies, blocks in shares
    )
    return (Mode("nand.dies_per_channel", "read", options, decides=("nand.program.0",)),)


_SATA_HOSTS = ("sata-3g", "sas2008", "p420i")
KINDS: Mapping[str, Kind] = {
    "hdd": Kind(
        "hdd",
        TEMPLATES / "hdd.toml",
        "ahci",
        _HDD,
        (*_HDD_EXTRA, *_HOST, *_PORT, *_MD),
        _HDD_MODES,
        hosts=_SATA_HOSTS,
    ),
    "ssd": Kind(
        "ssd",
        TEMPLATES / "ssd.toml",
        "ahci",
        (*_SSD, _CPU, _JITTER, *_PORT),
        (*_SSD_EXTRA, *_HOST, *_MD),
        apart=True,
        hosts=_SATA_HOSTS,
    ),
    "nvme": Kind(
        "ssd",
        TEMPLATES / "nvme.toml",
        "nvme",
        (*_SSD, _CPU, _JITTER, *_PORT),
        (*_SSD_EXTRA, *_HOST, *_MD),
        _dies((4, 1100), (1, 4400), (16, 275)),
        apart=True,
        hosts=("nvme-io-uring",),
    ),
    "station": Kind(
        "station", TEMPLATES / "station.toml", "generic", _STATION, (*_HOST, *_PORT, *_MD)
    ),
    VIRTUAL_DISK: Kind("volume", TEMPLATES / "virtual-disk.toml", "generic", _VOLUME),
    TABLE: Kind("table", TEMPLATES / "table.toml", "generic", ()),
    **SYSTEM_KINDS,
}


def kind_of(name: str) -> Kind:
    """The kind called `name`.

    Raises:
        SpecError: There is none.
    """
    if name not in KINDS:
        allowed = f"one of {', '.join(KINDS)}"
        raise SpecError([Fault("--kind", name, allowed, tuple(KINDS))])
    return KINDS[name]


def that_apply(
    parameters: Sequence[Parameter],
    tree: Mapping[str, Value],
    sides: frozenset[str],
    has: frozenset[str] = frozenset(),
) -> list[Parameter]:
    """The parameters that this device has and that the measured directions determine."""
    found = []
    for parameter in parameters:
        outside = parameter.key.startswith(("host.", "state."))
        if parameter.needs and parameter.needs not in has:
            continue
        if parameter.side != "both" and parameter.side not in sides:
            continue
        if outside or get(tree, parameter.key) is not None:
            along = tuple(key for key in parameter.along if outside or get(tree, key) is not None)
            found.append(replace(parameter, along=along))
    return found


def declared_for(
    kind: Kind,
    tree: Mapping[str, Value],
    host: Mapping[str, Value],
    sides: frozenset[str],
    has: frozenset[str] = frozenset(),
) -> list[Parameter]:
    """What is fitted unless the user says otherwise.

    What the files have as zero is not there: a port that holds nothing for a command, a controller
    without an end to its queue.
    """
    return [
        parameter
        for parameter in that_apply(kind.declared, tree, sides, has)
        if parameter.scale == "linear" or start_of(parameter, tree, host) > 0
    ]


def start_of(parameter: Parameter, tree: Mapping[str, Value], host: Mapping[str, Value]) -> float:
    """The value that the files have, in the parameter's unit."""
    if parameter.key.startswith("state.") or parameter.key == CPU_SCALE:
        return 1.0
    tree, key = (
        (host, parameter.key[5:]) if parameter.key.startswith("host.") else (tree, parameter.key)
    )
    value = number_of(get(tree, key))
    if parameter.of == REVOLUTION:
        return value / revolution_ns(number_of(get(tree, "speed")))
    if parameter.of:
        return value / number_of(get(tree, parameter.of))
    return value / number_of(f"1 {parameter.unit}") if parameter.unit else value


def revolution_ns(rpm: float) -> float:
    """The time of a revolution."""
    return 60e9 / rpm
