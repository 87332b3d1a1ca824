"""What a load finds on flash: what the report's measurements before it have left.

A report measures its profiles in a known order, each at its numbers outstanding one after the
other. So a load finds its file as the profiles before it and its own smaller numbers have left it.
What they wrote is estimated, alike for every drive and row: no published figure enters.
"""

from __future__ import annotations

from typing import Any, cast

from raidlab.calibration.published.figures import Configuration, Shared
from raidlab.scenarios.spec.loads import OUTSTANDING, PROFILES, Load, Profile

_POINT_S = 60.0
"""Seconds for which each number outstanding is measured: usual for Iometer, assumed."""
_LATENCY_S = 200e-6
_BYTES_PER_S = 300e6
"""Of one I/O at a time: a fixed time, and its bytes at this rate. Usual for PCIe cards of 2013."""
_MOST_IOPS = 16_000.0
_MOST_BYTES_PER_S = 350e6
"""Of a drive with many outstanding."""


def earlier(configuration: Configuration, report: Shared, area: str) -> list[dict[str, Any]]:
    """The history of an array whose file was loaded in the report's order; none of other loads.

    The first profile that writes at random is taken to have gone on until nothing changed.
    """
    if configuration.load not in report.order:
        return []
    own = cast(Profile, configuration.load)
    names = [cast(Profile, name) for name in report.order]
    entries = []
    for name in names[: names.index(own)]:
        written = _written(PROFILES[name], OUTSTANDING, configuration)
        entries += _entry(PROFILES[name], written, area, is_first=not entries)
    depth = OUTSTANDING[-1] if configuration.outstanding == "max" else int(configuration.outstanding)
    if PROFILES[own].access == "random":
        before = [each for each in OUTSTANDING if each < depth]
        written = _written(PROFILES[own], before, configuration)
        entries += _entry(PROFILES[own], written, area, is_first=not entries)
    elif entries:
        entries[-1] |= {"then_rests": True}
    return entries


def _entry(load: Load, written: float, area: str, *, is_first: bool) -> list[dict[str, Any]]:
    """A profile's writes; none if it wrote nothing."""
    if load.read_share == 1 or (not written and not is_first):
        return []
    rw = "randwrite" if load.access == "random" else "write"
    entry = {"rw": rw, "block_size": f"{load.block_bytes} B", "area": area}
    if load.access == "sequential":
        return [entry | {"written": area}]
    return [entry if is_first else entry | {"written": f"{round(written)} B"}]


def _written(load: Load, depths: tuple[int, ...] | list[int], configuration: Configuration) -> float:
    """Bytes that a load writes, measured at each of these numbers outstanding."""
    drives = configuration.count if configuration.level == "raid0" else 1
    most = drives * min(_MOST_IOPS, _MOST_BYTES_PER_S / load.block_bytes)
    one = 1 / (_LATENCY_S + load.block_bytes / _BYTES_PER_S)
    ios = _POINT_S * sum(min(depth * one, most) for depth in depths)
    return ios * load.block_bytes * (1 - load.read_share)
