"""`raidlab calibrate` for devices that a law describes: virtual disks and tables (`by_law`)."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from raidlab.calibration.fitting.begin import base_of, host_of
from raidlab.calibration.fitting.by_law import (
    LawFit,
    begun_with,
    capacity_of,
    fit_by_law,
    measured_host,
    selection_of,
)
from raidlab.calibration.fitting.calibration import Calibration
from raidlab.calibration.fitting.kinds import kind_of
from raidlab.calibration.fitting.seen import seen_of
from raidlab.calibration.fitting.stages import Settings
from raidlab.calibration.measurements.measurement import Measurement
from raidlab.calibration.measurements.sanity import extrapolated
from raidlab.devices.faults import Fault, SpecError
from raidlab.scenarios.running.simulate import Progress


def calibrate_by_law(
    measurement: Measurement,
    settings: Settings,
    progress: Progress,
    train: Sequence[int] | None = None,
) -> Calibration:
    """A virtual disk or a table, by the law that predicts points left out best.

    Args:
        measurement: What was measured.
        settings: What the user says of it.
        progress: Called with how many steps are done, and of how many.
        train: Points that the fit may see, by index; those that the settings say if None.

    Raises:
        SpecError: Names that do not exist, options that a law has no use for.
    """
    kind = kind_of(settings.kind)
    _raise_of_law(settings)
    seen = seen_of(measurement, settings.train, train=train)
    measurement, points = seen.measurement, seen.points
    tree, sources = base_of(kind, settings, measurement.name, None)
    machine = measurement.machine
    if "capacity" not in settings.overrides:
        tree = begun_with(tree, capacity_of(measurement.points, machine))
    host, own = host_of(kind, settings, None), False
    if not settings.host:
        host, own = measured_host(host, points, machine)
    progress(0, 2)
    begun = time.monotonic()
    found = fit_by_law(
        settings.kind, tree, host, points, selection_of(points, host), settings.workers
    )
    progress(1, 2)
    rows = seen.compared(found.bench, settings.workers)
    fit = replace(found.fit, wall_s=time.monotonic() - begun)
    return Calibration(
        settings, measurement, fit, found.model, found.bench, found.tree, host,
        _sources_of_law(sources, found, measurement.name), tuple(rows), (), (), (),
        (*seen.warnings, *found.warnings, *extrapolated(points, seen.every)), found.selection, own,
    )  # fmt: skip


def _raise_of_law(settings: Settings) -> None:
    """Options that a fit by a law has no use for."""
    allowed = f"left out with --kind {settings.kind}, of which a law finds all numbers"
    faults = [
        Fault(option, name, allowed)
        for option, names in settings.choice.options.items()
        for name in names
    ]
    if settings.like:
        faults.append(Fault("--like", settings.like, allowed))
    if faults:
        raise SpecError(faults)


def _sources_of_law(sources: Mapping[str, Any], found: LawFit, measured: str) -> dict[str, Any]:
    """Of a table every row is measured; of a virtual disk the law's form is, too."""
    note = f"by law: {(found.selection.chosen or found.selection.best_device_law).form.name}"
    if not found.fit.estimates:
        note = f"rates by {found.selection.average.name}; latencies of the nearest points"
    of = {key: value for key, value in sources.items() if key != "all"}
    return of | {"all": {"source": "derived", "note": f"from {measured}; {note}"}}
