"""What the engine found wrong with a plan, as faults; an engine that does not fit is one."""

from __future__ import annotations

from raidlab.devices.faults import Fault
from raidlab.scenarios import _engine


def engine_faults(error: _engine.PlanError, path: str = "") -> list[Fault]:
    """The faults of a plan with the plan's own keys."""
    return [
        other_engine(allowed, path) if key == "plan" else Fault(key, value, allowed, (), path)
        for key, value, allowed in error.args[0]
    ]


def other_engine(why: str, path: str = "") -> Fault:
    """The engine was built from other sources: what it does not know, or does not give."""
    version = _engine.version()
    allowed = f"run make setup: the engine is of version {version} and older than this code ({why})"
    return Fault("engine", version, allowed, (), path)
