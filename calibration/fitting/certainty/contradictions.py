"""What a fit says that its measurement denies: links, CPUs, bottlenecks, numbers left as they were.

A link must carry what was measured through it: each direction for itself where both run at once,
their sum where they do not. A thread that the fit has busy throughout cannot have used less than
`_LEAST_SLOPE_SHARE` of a CPU by fio's own count. A parameter that is where the search began was not
fitted, whatever its interval says.

**Example.** Reads of 64 KiB at 77,000 a second are 5.0 GB/s: PCIe 3.0 x4 carries 3.5, PCIe 4.0 x4
carries 7.1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Final

import numpy as np

from raidlab.calibration.fitting.comparison.compare import Compared
from raidlab.calibration.fitting.parameters.parameter import Parameter
from raidlab.calibration.measurements.measurement import Machine, Point
from raidlab.devices.links import Interface, faster
from raidlab.devices.trees import Tree, Value

_BUSY: Final = 0.9
"""Share of the time from which on a simulated thread is busy throughout."""
_SURPASSED: Final = 1.05
"""Measured over simulated rate, from which on what bounds the latter cannot be right."""
_LEAST_SLOPE_SHARE: Final = 0.7
"""Share of a CPU that a thread which is busy throughout has used at least, as fio counts it."""
_MOVED: Final = 1e-6
"""Of a parameter's range, below which a search has left it where it began."""


def moved_bytes(points: Sequence[Point], *, full_duplex: bool) -> tuple[float, Point]:
    """The most bytes a second that a direction of a link carried, or both where it shares them.

    Args:
        points: That were measured; at least one.
        full_duplex: True if a link carries both directions at once.

    Returns:
        Bytes a second, and the point that moved them.
    """

    def of(point: Point) -> float:
        share = max(point.read_share, 1.0 - point.read_share) if full_duplex else 1.0
        return point.iops * point.bs * share

    most = max(points, key=of)
    return of(most), most


def with_fast_link(
    tree: Mapping[str, Value], points: Sequence[Point], *, known: bool
) -> tuple[Tree, list[str]]:
    """A device's tree with a link that carries what was measured, and what is to be said of it.

    Args:
        tree: The device to begin with.
        points: That were measured.
        known: True if the link was stated; then it stays, and the contradiction is said.
    """
    found = dict(tree)
    name = str(found.get("interface", "none"))
    if name == "none":
        return found, []
    link = Interface.parse(name)
    moved, point = moved_bytes(points, full_duplex=link.full_duplex)
    if moved <= link.practical:
        return found, []
    said = (
        f"{link.title} carries {float(link.practical) / 1e9:.2f} GB/s, {point.label()} moved"
        f" {moved / 1e9:.2f}"
    )
    wide = faster(link, moved)
    if known or wide is None:
        return found, [f"{said}: another link, or a cache of the host answered (direct=1?)"]
    found["interface"] = wide.name
    return found, [f"{said}: {wide.title} is taken (--set interface=... states another)"]


def other_cpus(machine: Machine | None, threads: int, host: str) -> Iterator[str]:
    """That a host has other hardware threads than the machine that was measured."""
    if machine is not None and machine.cpus is not None and machine.cpus != threads:
        yield (
            f"the machine that was measured has {machine.cpus} hardware threads, the host {host}"
            f" has {threads}: several jobs may come out too fast or too slow (--host FILE)"
        )


def unused_threads(rows: Sequence[Compared]) -> Iterator[str]:
    """That a fit has threads busy throughout that fio saw idle."""
    denied = [
        row
        for row in rows
        if row.simulated.busy >= _BUSY
        and "host" in row.simulated.busiest
        and row.point.cpu_share is not None
        and row.point.cpu_share < _LEAST_SLOPE_SHARE
    ]
    if denied:
        worst = min(denied, key=lambda row: row.point.cpu_share or 0.0)
        yield (
            f"the fit has the host's threads busy throughout at {len(denied)} of {len(rows)}"
            f" points, of which fio counted less (a share of {worst.point.cpu_share:.2f} at"
            f" {worst.point.label()}): something else limits there"
        )


def slow_links(rows: Sequence[Compared], own: Interface | None) -> Iterator[str]:
    """That a link bounds simulated rates which the measurement surpasses, or hides the drive.

    **Example.** SATA 3G carries 0.26 GB/s: 64,000 reads of 4 KiB a second. A drive that was
    measured at 92,000 is 44 % above it. At 63,000 the link bounds both, and a drive of SATA 6G may
    be faster than its measurement shows.

    Args:
        rows: Measured and simulated.
        own: The drive's own interface, if it has one.
    """
    bound: dict[str, list[Compared]] = {}
    for row in rows:
        if row.simulated.link and row.simulated.busy >= _BUSY:
            bound.setdefault(row.simulated.link, []).append(row)
    for name, bounded in bound.items():
        beyond = median(row.point.iops / row.simulated.iops for row in bounded)
        what = f"{name} is busy throughout at {len(bounded)} of {len(rows)} points"
        if beyond > _SURPASSED:
            yield (
                f"{what}, whose measured rates are {100 * (beyond - 1):.0f} % higher in the median:"
                " the link passed more (the interface of the drive, or its link_payload;"
                " sata, sas or slot of the host)"
            )
        elif own is not None and own.title not in name and beyond > 1 / _SURPASSED:
            yield (
                f"{what}, and the drive has {own.title}: there the points show the link and not"
                " the drive, which may be faster behind another port"
            )


def left_at_start(
    parameters: Sequence[Parameter], start: Sequence[float], place: Sequence[float]
) -> Iterator[str]:
    """That a search has not moved parameters.

    Args:
        parameters: Of the fit.
        start: Where each began, in the unit cube.
        place: Where each ended.
    """
    apart = np.abs(np.asarray(place) - np.asarray(start))
    left = [each.key for each, far in zip(parameters, apart, strict=True) if far < _MOVED]
    if left:
        yield (
            f"left where the search began, so not fitted: {', '.join(left)}; state what is known"
            " (--fix KEY=VALUE), or measure what speaks of it"
        )
