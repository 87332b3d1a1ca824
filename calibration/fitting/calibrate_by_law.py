"""`raidlab calibrate` for devices that a law describes: virtual disks and tables (`by_law`)."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import median
from typing import Final

from raidlab.calibration.fitting.estimation.by_law import (
    LawFit,
    begun_with,
    capacity_of,
    fit_by_law,
    measured_host,
    selection_of,
)
from raidlab.calibration.fitting.estimation.stages import Settings
from raidlab.calibration.fitting.estimation.start import base_of, host_of
from raidlab.calibration.fitting.estimation.training_points import seen_of
from raidlab.calibration.fitting.parameters.kinds import TABLE, VIRTUAL_DISK, kind_of
from raidlab.calibration.fitting.report.calibration import Calibration
from raidlab.calibration.measurements.measurement import Measurement, Point
from raidlab.calibration.measurements.sanity import extrapolated
from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.trees import Tree, Value
from raidlab.scenarios.running.simulate import Progress

_DISK_US: Final = (2500.0, 25_000.0)
"""Mean time of a random read alone that a disk has, in microseconds."""
_SMALL_BYTES: Final = 16 * 1024


def calibrate_by_law(
    measurement: Measurement,
    settings: Settings,
    progress: Progress,
    train: Sequence[int] | None = None,
) -> Calibration:
    """A virtual disk or a table, by the law that predicts points left out best.

    Args:
        measurement: What was measured.
        settings: What the user says of it; without a kind a virtual disk is taken, or a table
            where no law is as near to points left out as the average of all forms.
        progress: Called with how many steps are done, and of how many.
        train: Points that the fit may see, by index; those that the settings say if None.

    Raises:
        SpecError: Names that do not exist, options that a law has no use for.
    """
    asked, kind = settings.kind, kind_of(settings.kind or VIRTUAL_DISK)
    raise_of_law(settings)
    seen = seen_of(measurement, settings.train, train=train)
    measurement, points = seen.measurement, seen.points
    machine = measurement.machine
    host, own = host_of(kind, settings, None), False
    if not settings.host:
        host, own = measured_host(host, points, machine)
    progress(0, 2)
    begun = time.monotonic()
    selection = selection_of(points, host, machine)
    if not asked:
        settings = replace(settings, kind=TABLE if selection.no_law else VIRTUAL_DISK)
        seen.warnings.extend(_instead(points))
    tree, sources = base_of(kind_of(settings.kind), settings, measurement.name, None)
    if "capacity" not in settings.overrides:
        tree = begun_with(tree, capacity_of(measurement.points, machine))
    found = fit_by_law(settings.kind, tree, host, points, selection, settings.workers)
    progress(1, 2)
    rows = seen.compared(found.bench, settings.workers)
    fit = replace(found.fit, wall_s=time.monotonic() - begun)
    return Calibration(
        settings, measurement, fit, found.model, found.bench, found.tree, host,
        _sources_of_law(sources, found, measurement.name), tuple(rows), (), (), (),
        (*seen.warnings, *found.warnings, *extrapolated(points, seen.every)), found.selection, own,
    )  # fmt: skip


def raise_of_law(settings: Settings) -> None:
    """Options that a fit by a law has no use for."""
    of = f"with --kind {settings.kind}" if settings.kind else "without --kind"
    allowed = f"left out {of}: a law finds all numbers"
    faults = [
        Fault(option, name, allowed)
        for option, names in settings.choice.options.items()
        for name in names
    ]
    if settings.like:
        faults.append(Fault("--like", settings.like, allowed))
    if faults:
        raise SpecError(faults)


def _instead(points: Sequence[Point]) -> Iterator[str]:
    """Which kind with mechanics of its own the points look like: a law knows no mechanics.

    A random read of a disk waits for a seek and half a revolution: 3 ms at 15,000 rpm and a short
    stroke, 20 ms at 4,200 rpm. Where a write cache answers, or a host's cache, reads are shorter.
    """
    alone = [
        side.latency_mean_us
        for point in points
        if point.outstanding == 1 and point.rw.startswith("rand") and point.bs <= _SMALL_BYTES
        for name, side in point.sides()
        if name == "read"
    ]
    if alone and _DISK_US[0] <= median(alone) <= _DISK_US[1]:
        yield (
            f"a random read alone takes {median(alone) / 1000.0:.1f} ms, as of a disk: --kind hdd"
            " fits seeks and revolutions, which predict areas and tails that a law does not"
        )


def _sources_of_law(sources: Mapping[str, Value], found: LawFit, measured: str) -> Tree:
    """Of a table every row is measured; of a virtual disk the law's form is, too."""
    note = f"by law: {(found.selection.chosen or found.selection.best_device_law).form.name}"
    if not found.fit.estimates:
        note = f"rates by {found.selection.average.name}; latencies of the nearest points"
    of = {key: value for key, value in sources.items() if key != "all"}
    return of | {"all": {"source": "derived", "note": f"from {measured}; {note}"}}
