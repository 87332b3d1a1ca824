"""What the engine found wrong with a plan, as faults."""

from __future__ import annotations

from raidlab.devices.faults import Fault
from raidlab.scenarios import _engine


def engine_faults(error: _engine.PlanError, path: str = "") -> list[Fault]:
    """The faults of a plan with the plan's own keys.

    An engine that does not know what the plan asks for was built from other sources.
    """
    return [
        Fault("engine", _engine.version(), _other_sources(allowed), (), path)
        if key == "plan"
        else Fault(key, value, allowed, (), path)
        for key, value, allowed in error.args[0]
    ]


def _other_sources(why: str) -> str:
    return (
        f"run make setup: the engine is of version {_engine.version()}, and was built before "
        f"what this version asks of it ({why})"
    )
