"""Simulate the block-storage path, calibrated from what fio measures."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from raidlab.devices.faults import Fault as Fault
    from raidlab.devices.faults import SpecError as SpecError
    from raidlab.scenarios.live import Command as Command
    from raidlab.scenarios.live import Completion as Completion
    from raidlab.scenarios.live import LiveSystem as LiveSystem
    from raidlab.scenarios.live import OutsideDrive as OutsideDrive
    from raidlab.scenarios.live import StorageError as StorageError
    from raidlab.scenarios.result import Result as Result
    from raidlab.scenarios.simulate import Interrupted as Interrupted
    from raidlab.scenarios.simulate import simulate as simulate
    from raidlab.scenarios.system import Scenario as Scenario
    from raidlab.scenarios.system import build_scenario as build_scenario
    from raidlab.scenarios.system import load_scenario as load_scenario
    from raidlab.sim.environment import Environment as Environment

_PUBLIC = {
    "Command": "raidlab.scenarios.live",
    "Completion": "raidlab.scenarios.live",
    "LiveSystem": "raidlab.scenarios.live",
    "OutsideDrive": "raidlab.scenarios.live",
    "StorageError": "raidlab.scenarios.live",
    "Environment": "raidlab.sim.environment",
    "Fault": "raidlab.devices.faults",
    "Interrupted": "raidlab.scenarios.simulate",
    "Result": "raidlab.scenarios.result",
    "Scenario": "raidlab.scenarios.system",
    "SpecError": "raidlab.devices.faults",
    "build_scenario": "raidlab.scenarios.system",
    "load_scenario": "raidlab.scenarios.system",
    "simulate": "raidlab.scenarios.simulate",
}

__all__ = [*_PUBLIC]


def __getattr__(name: str) -> Any:
    """Finds a public name when it is first asked for, so that importing costs little."""
    if name not in _PUBLIC:
        raise AttributeError(f"module 'raidlab' has no attribute {name!r}")
    return getattr(import_module(_PUBLIC[name]), name)
