"""Simulate the block-storage path, calibrated from what fio measures."""

from raidlab.scenarios.live import Command, Completion, LiveSystem, OutsideDrive
from raidlab.sim.environment import Environment

__all__ = ["Command", "Completion", "Environment", "LiveSystem", "OutsideDrive"]
