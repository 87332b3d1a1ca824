"""Simulate the block-storage path, calibrated from what fio measures."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from raidlab.devices.faults import Fault as Fault
    from raidlab.devices.faults import SpecError as SpecError
    from raidlab.scenarios.planning.scenario import Scenario as Scenario
    from raidlab.scenarios.planning.scenario import build_scenario as build_scenario
    from raidlab.scenarios.planning.scenario import load_scenario as load_scenario
    from raidlab.scenarios.results.result import Result as Result
    from raidlab.scenarios.running.live import Command as Command
    from raidlab.scenarios.running.live import Completion as Completion
    from raidlab.scenarios.running.live import LiveSystem as LiveSystem
    from raidlab.scenarios.running.live import OutsideDrive as OutsideDrive
    from raidlab.scenarios.running.live import StorageError as StorageError
    from raidlab.scenarios.running.simulate import Interrupted as Interrupted
    from raidlab.scenarios.running.simulate import simulate as simulate
    from raidlab.sim.environment import Environment as Environment

_PUBLIC = {
    "Command": "raidlab.scenarios.running.live",
    "Completion": "raidlab.scenarios.running.live",
    "LiveSystem": "raidlab.scenarios.running.live",
    "OutsideDrive": "raidlab.scenarios.running.live",
    "StorageError": "raidlab.scenarios.running.live",
    "Environment": "raidlab.sim.environment",
    "Fault": "raidlab.devices.faults",
    "Interrupted": "raidlab.scenarios.running.simulate",
    "Result": "raidlab.scenarios.results.result",
    "Scenario": "raidlab.scenarios.planning.scenario",
    "SpecError": "raidlab.devices.faults",
    "build_scenario": "raidlab.scenarios.planning.scenario",
    "load_scenario": "raidlab.scenarios.planning.scenario",
    "simulate": "raidlab.scenarios.running.simulate",
}

__all__ = [*_PUBLIC]


def __getattr__(name: str) -> Any:
    """Finds a public name when it is first asked for, so that importing costs little."""
    if name not in _PUBLIC:
        raise AttributeError(f"module 'raidlab' has no attribute {name!r}")
    return getattr(import_module(_PUBLIC[name]), name)
