"""Measured against simulated.

Names are imported when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from raidlab.calibration.fio.results import import_fio as import_fio
    from raidlab.calibration.fitting.calibrate import calibrate as calibrate
    from raidlab.calibration.fitting.comparison.baseline import interpolated as interpolated
    from raidlab.calibration.fitting.estimation.stages import Settings as Settings
    from raidlab.calibration.fitting.report.calibration import Calibration as Calibration
    from raidlab.calibration.measurements.bundle import Bundle as Bundle
    from raidlab.calibration.measurements.bundle import load_bundle as load_bundle
    from raidlab.calibration.measurements.measurement import Measurement as Measurement
    from raidlab.calibration.measurements.measurement import load_measurement as load_measurement

_PUBLIC = {
    "Bundle": "raidlab.calibration.measurements.bundle",
    "Calibration": "raidlab.calibration.fitting.calibrate",
    "Measurement": "raidlab.calibration.measurements.measurement",
    "Settings": "raidlab.calibration.fitting.estimation.stages",
    "calibrate": "raidlab.calibration.fitting.calibrate",
    "import_fio": "raidlab.calibration.fio.results",
    "interpolated": "raidlab.calibration.fitting.comparison.baseline",
    "load_bundle": "raidlab.calibration.measurements.bundle",
    "load_measurement": "raidlab.calibration.measurements.measurement",
}

__all__ = [*_PUBLIC]


def __getattr__(name: str) -> Any:
    """Finds a public name when it is first asked for, so that importing a part costs little."""
    if name not in _PUBLIC:
        raise AttributeError(f"module 'raidlab.calibration' has no attribute {name!r}")
    return getattr(import_module(_PUBLIC[name]), name)
