"""Idle states of CPU cores (C-states): what `c_states` of a scenario's host stands for.

Each generation has the table of Linux's driver `intel_idle`: the longest time until a core is at
work again, and the idle time from which on the state pays. Wake-ups that were measured take less
(R. Schöne, D. Molka, M. Werner, "Wake-up latencies for processor idle states on current x86
processors", Computer Science 2014), so the latencies are upper bounds. docs/explanation/host.md
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from raidlab.devices.plan_types import CStateParams

_US: Final = 1000
"""Nanoseconds of the table's unit."""


@dataclass(frozen=True)
class CState:
    """A state of an idle core. Times are microseconds."""

    name: str
    exit_us: int
    """Until the core is at work again."""
    residency_us: int
    """Idle time from which on the governor takes the state."""

    def to_plan(self) -> CStateParams:
        """`CStateParams` of the native models."""
        return {"exit_ns": self.exit_us * _US, "residency_ns": self.residency_us * _US}


C_STATES: Final[Mapping[str, tuple[CState, ...]]] = {
    generation: tuple(CState(*state) for state in states)
    for generation, states in {
        "sandy-bridge": (("C1", 2, 2), ("C1E", 10, 20), ("C3", 80, 211), ("C6", 104, 345)),
        "ivy-bridge": (("C1", 1, 1), ("C1E", 10, 80), ("C3", 59, 156), ("C6", 82, 300)),
        "haswell": (("C1", 2, 2), ("C1E", 10, 20), ("C3", 33, 100), ("C6", 133, 400)),
        "broadwell": (("C1", 2, 2), ("C1E", 10, 20), ("C3", 40, 100), ("C6", 133, 400)),
        "skylake": (("C1", 2, 2), ("C1E", 10, 20), ("C6", 133, 600)),
        "ice-lake": (("C1", 1, 1), ("C1E", 4, 4), ("C6", 170, 600)),
        "sapphire-rapids": (("C1", 1, 1), ("C1E", 2, 4), ("C6", 290, 800)),
    }.items()
}
"""Xeons by their generation; Cascade Lake is `skylake`, and Emerald Rapids `sapphire-rapids`."""


def c_states(generation: str, deepest: str | None = None) -> tuple[CState, ...]:
    """The states of a generation, from the shallowest, up to and including `deepest`.

    Raises:
        KeyError: There is no such generation.
        ValueError: The generation has no state of that name.
    """
    states = C_STATES[generation]
    if deepest is None:
        return states
    names = [state.name for state in states]
    return states[: names.index(deepest) + 1]
