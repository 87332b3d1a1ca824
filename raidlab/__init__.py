"""Simulate the block-storage path, calibrated from what fio measures.

A scenario is a TOML file, or what such a file holds:

    import raidlab

    result = raidlab.simulate("scenario.toml")
    for row in result.rows:
        print(row.outstanding, row.iops, row.latency_us.p99, row.bottleneck)

Names are imported when they are first used.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from raidlab.devices.faults import Fault as Fault
    from raidlab.devices.faults import SpecError as SpecError
    from raidlab.scenarios.planning.scenario import Scenario as Scenario
    from raidlab.scenarios.planning.scenario import build_scenario as build_scenario
    from raidlab.scenarios.planning.scenario import load_scenario as load_scenario
    from raidlab.scenarios.results.result import Result as Result
    from raidlab.scenarios.results.rows import Row as Row
    from raidlab.scenarios.running.live import Command as Command
    from raidlab.scenarios.running.live import Completion as Completion
    from raidlab.scenarios.running.live import EraseBlocks as EraseBlocks
    from raidlab.scenarios.running.live import LiveSystem as LiveSystem
    from raidlab.scenarios.running.live import OutsideDrive as OutsideDrive
    from raidlab.scenarios.running.live import StorageError as StorageError
    from raidlab.scenarios.running.simulate import Interrupted as Interrupted
    from raidlab.scenarios.running.simulate import simulate as simulate
    from raidlab.scenarios.studies.sweep import Experiment as Experiment
    from raidlab.scenarios.studies.sweep import sweep as sweep
    from raidlab.sim.environment import Environment as Environment
    from raidlab.sim.environment import RealtimeEnvironment as RealtimeEnvironment

    __version__: str

_PUBLIC = {
    "Command": "raidlab.scenarios.running.live",
    "Completion": "raidlab.scenarios.running.live",
    "EraseBlocks": "raidlab.scenarios.running.live",
    "LiveSystem": "raidlab.scenarios.running.live",
    "OutsideDrive": "raidlab.scenarios.running.live",
    "StorageError": "raidlab.scenarios.running.live",
    "Environment": "raidlab.sim.environment",
    "RealtimeEnvironment": "raidlab.sim.environment",
    "Fault": "raidlab.devices.faults",
    "Experiment": "raidlab.scenarios.studies.sweep",
    "Interrupted": "raidlab.scenarios.running.simulate",
    "Result": "raidlab.scenarios.results.result",
    "Row": "raidlab.scenarios.results.rows",
    "Scenario": "raidlab.scenarios.planning.scenario",
    "SpecError": "raidlab.devices.faults",
    "build_scenario": "raidlab.scenarios.planning.scenario",
    "load_scenario": "raidlab.scenarios.planning.scenario",
    "simulate": "raidlab.scenarios.running.simulate",
    "sweep": "raidlab.scenarios.studies.sweep",
}

__all__ = [*_PUBLIC]


def __dir__() -> list[str]:
    """The public names, loaded or not, and those that every module has."""
    own = (name for name in globals() if name.startswith("__"))
    return sorted({*own, *_PUBLIC, "__version__"})


def __getattr__(name: str) -> Any:
    """Finds a public name when it is first asked for, so that importing costs little."""
    if name == "__version__":
        from raidlab.scenarios import _engine

        found: Any = _engine.version()
        globals()[name] = found
        return found
    if name not in _PUBLIC:
        raise AttributeError(f"module 'raidlab' has no attribute {name!r}")
    found = getattr(import_module(_PUBLIC[name]), name)
    # And all others that are loaded by now: while the interpreter ends, a process that catches
    # `raidlab.StorageError` can import nothing any more.
    for each, place in _PUBLIC.items():
        if hasattr(sys.modules.get(place), each):
            globals()[each] = getattr(sys.modules[place], each)
    return found
