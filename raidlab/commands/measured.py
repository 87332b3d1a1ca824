"""Measurements that a command is given; what another command reads first is named as such."""

from __future__ import annotations

from pathlib import Path

from raidlab.calibration.measurements.measurement import (
    Measurement,
    NotAMeasurementError,
    load_measurement,
)
from raidlab.devices.faults import Fault, SpecError


def read_measured(path: Path) -> Measurement:
    """Reads a measurement's file.

    Raises:
        SpecError: Everything that is wrong with it; or what it is instead, and what reads it.
    """
    try:
        return load_measurement(path)
    except NotAMeasurementError:
        what = _printed_by(path) if path.is_file() else None
        if what is None:
            raise
        why = f"{what}: `raidlab import monitoring` makes a load of it, which `raidlab run` takes"
        raise SpecError([Fault("", None, why, (), str(path))]) from None


def _printed_by(path: Path) -> str | None:
    """What a monitoring tool printed, in words; None if it is nothing of the kind."""
    from raidlab.calibration.monitoring.importing import recognised
    from raidlab.calibration.monitoring.samples import RefusedError
    from raidlab.calibration.monitoring.source import Source

    try:
        return recognised(Source(path)).what
    except (RefusedError, SpecError, OSError, ValueError):
        return None
