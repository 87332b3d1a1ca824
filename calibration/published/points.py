"""From published figures of one drive to a measurement: a point for each published rate.

A figure gives a rate at a number outstanding; its latency follows by Little's law, no distribution
is known. `max`, the best over the depths that were tried, is taken for the deepest of them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from raidlab.calibration.measurements.measurement import (
    File,
    Latency,
    Measurement,
    Point,
    Side,
    Skipped,
)
from raidlab.calibration.published.figures import Figure, read_figures, shared
from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.reading import whole_number
from raidlab.devices.units import SIZE
from raidlab.scenarios.spec.loads import PROFILES, Load, Profile, parse_fio_words

_DEEPEST_QUEUE = 512
_PER_S = {"mib_per_s": 2**20, "mb_per_s": 10**6}
_MEANT = ("threads", "area", "processes", "areas")
"""Settings that a point can say."""
_USUAL_SETTINGS = ("disk_cache",)
"""Settings that say nothing but what drives usually do."""


class _NoPointError(ValueError):
    """Why a figure gives no point."""


def measurement_of(path: Path, drive: str, name: str = "") -> Measurement:
    """The points of the figures of `drive` in a file of published figures.

    Raises:
        SpecError: The file is no such file, or no figure of the drive gives a point.
    """
    figures = read_figures(path)
    drives = sorted({figure.configuration.drive for figure in figures})
    if drive not in drives:
        allowed = f"a drive of the file: {', '.join(drives)}"
        raise SpecError([Fault("--drive", drive, allowed, tuple(drives), str(path))])
    points, why_not = _points([f for f in figures if f.configuration.drive == drive], str(path))
    if not points:
        reasons = "; ".join(sorted(set(why_not.values())))
        raise SpecError([Fault("--drive", drive, f"figures that give points: {reasons}")])
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return Measurement(
        name=name or f"{drive} as published",
        points=tuple(points),
        files=(File(path=str(path), sha256=digest, tool="published"),),
        skipped=tuple(
            Skipped(path=str(path), reason=f"{figure}: {why}") for figure, why in why_not.items()
        ),
    )


def _points(figures: Sequence[Figure], path: str) -> tuple[list[Point], dict[str, str]]:
    """Points of figures, and by its id why a figure gives none."""
    points: list[Point] = []
    why_not: dict[str, str] = {}
    for figure in figures:
        try:
            points.append(_point(figure, path))
        except ValueError as why:
            why_not[figure.id] = str(why)
    return points, why_not


def _point(figure: Figure, path: str) -> Point:
    of = figure.configuration
    if of.level != "single" or of.controller or of.count != 1:
        raise _NoPointError("an array or a controller, not a drive alone")
    if figure.quantity != "iops" and figure.quantity not in _PER_S:
        raise _NoPointError(f"{figure.quantity} is no rate")
    if figure.relation not in ("=", "~"):
        raise _NoPointError(f"{figure.relation} is no figure")
    others = [key for key in of.settings if key not in (*_MEANT, *_USUAL_SETTINGS)]
    if others or of.format not in ("", "advertised"):
        raise _NoPointError(f"measured with {', '.join(others) or of.format}")
    load = _load(of.load)
    stated = of.settings.get("threads", of.settings.get("processes", "1"))
    jobs = whole_number(stated)
    if not jobs:
        raise _NoPointError(f"threads or processes are {stated}: a whole number from 1 on")
    outstanding = _DEEPEST_QUEUE if of.outstanding == "max" else int(of.outstanding)
    per_s = _PER_S.get(figure.quantity)
    iops = figure.value if per_s is None else figure.value * per_s / load.block_bytes
    depth = max(1, round(outstanding / jobs))
    sides = {
        "read": _side(iops * load.read_share, load, depth * jobs, iops),
        "write": _side(iops * (1 - load.read_share), load, depth * jobs, iops),
    }
    return Point(
        name=figure.id,
        rw=_rw(load),  # type: ignore[arg-type]
        read_share=load.read_share,
        bs=load.block_bytes,
        iodepth=depth,
        numjobs=jobs,
        area_bytes=_area(of.settings.get("area", ""), of.source),
        state=shared().get(of.source, shared()["default"]).precondition,
        read=sides["read"],
        write=sides["write"],
        file=path,
    )


def _load(text: str) -> Load:
    return PROFILES[cast(Profile, text)] if text in PROFILES else parse_fio_words(text)


def _rw(load: Load) -> str:
    word = {0.0: "write", 1.0: "read"}.get(load.read_share, "rw")
    return f"rand{word}" if load.access == "random" else word


def _side(iops: float, load: Load, outstanding: int, total: float) -> Side | None:
    if iops <= 0.0:
        return None
    mean = 1e6 * outstanding / total
    return Side(
        iops=iops,
        ios=0,
        bytes_per_s=iops * load.block_bytes,
        latency_mean_us=mean,
        completion=Latency(mean_us=mean),
    )


def _area(text: str, source: str) -> int | None:
    text = text or shared().get(source, shared()["default"]).area(1)
    if text == "whole":
        return None
    return int(SIZE.parse(text))
