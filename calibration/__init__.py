"""Measured against simulated."""

from raidlab.calibration.measurements.bundle import Bundle, load_bundle

__all__ = ["Bundle", "load_bundle"]
