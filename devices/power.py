"""Power by activity: what a drive draws idle, and what its operations cost beside that.

docs/explanation/power.md has the equations.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Annotated

from pydantic import Field

from raidlab.devices import plan_bounds
from raidlab.devices.bounds import within
from raidlab.devices.faults import Fault
from raidlab.devices.plan_types import (
    ArmPowerParams,
    BytePowerParams,
    FlashPowerParams,
    IdleStateParams,
)
from raidlab.devices.schema import Table
from raidlab.devices.units import Duration, Energy, Power

_LONGEST_NS = 3600 * 10**9
_MOST_J = plan_bounds.FlashPowerParams.read_nj.most / 1e9
OperationEnergy = Annotated[Energy, Field(le=_MOST_J)]
"""Joules of an operation of a die; a plan has nanojoules."""
_PATIENCE = 50
"""Times its entry and exit that Linux leaves a drive idle before a state (APST, kernel 4.11)."""


class DiskPower(Table):
    """`[power]` of a disk."""

    idle: Power
    """While it turns and nothing else."""
    active: Power
    """While its arm seeks, reads or writes."""

    def faults(self) -> Iterator[Fault]:
        """Less at work than idle."""
        if self.active < self.idle:
            yield Fault("active", f"{self.active:g} W", f"at least the {self.idle:g} W of idle")

    def to_plan(self) -> ArmPowerParams:
        """`ArmPowerParams` of the native models."""
        return {"idle_w": self.idle, "active_w": self.active}


class PowerState(Table):
    """`[[power.states]]`: a power state as an NVMe drive lists it."""

    most: Power
    """Most that the drive draws in it."""
    operational: bool = True
    """True if it serves commands in it."""
    entry: Duration = Field(default=0, le=_LONGEST_NS)
    exit: Duration = Field(default=0, le=_LONGEST_NS)
    """Longest time that entering and leaving take."""
    after: Duration | None = Field(default=None, gt=0, le=_LONGEST_NS)
    """Of a state without operation: time without commands after which the drive enters it; fifty
    times entry and exit, as Linux sets it, if left out."""

    def faults(self) -> Iterator[Fault]:
        """A time without commands before a state that only the host sets."""
        if self.operational and self.after is not None:
            allowed = "nothing: a drive enters only states with operational = false by itself"
            yield Fault("after", f"{self.after} ns", allowed)

    @property
    def entered_after(self) -> int:
        """Time without commands in nanoseconds."""
        return _PATIENCE * (self.entry + self.exit) if self.after is None else self.after


def state_faults(states: Sequence[PowerState], idle: float | None, key: str) -> Iterator[Fault]:
    """States, named by `key`, that contradict each other or the watts of the idle drive."""
    if states and not states[0].operational:
        yield Fault(f"{key}.0.operational", False, "true: state 0 has the highest power")
    for at, (upper, lower) in enumerate(pairwise(states), start=1):
        if lower.most > upper.most:
            allowed = f"at most the {upper.most:g} W of the state before it"
            yield Fault(f"{key}.{at}.most", f"{lower.most:g} W", allowed)
    ready = 0
    for at, state in enumerate(states):
        if idle is not None and state.operational and state.most <= idle:
            allowed = f"above the {idle:g} W of idle: nothing is left for operations"
            yield Fault(f"{key}.{at}.most", f"{state.most:g} W", allowed)
        if state.operational:
            continue
        if idle is not None and state.most > idle:
            allowed = f"at most the {idle:g} W of idle, in a state without operation"
            yield Fault(f"{key}.{at}.most", f"{state.most:g} W", allowed)
        if state.entered_after < ready:
            allowed = f"{ready} ns or more, when the state before it has been entered and left"
            yield Fault(f"{key}.{at}.after", f"{state.entered_after} ns", allowed)
        ready = state.entered_after + state.entry + state.exit


class FlashPower(Table):
    """`[power]` of an SSD."""

    idle: Power
    read: OperationEnergy
    """Of an array read: one page of every plane, or of one that reads by itself."""
    program: OperationEnergy
    """Of a program of one page of every plane."""
    program_slc: Energy | None = Field(default=None, le=_MOST_J)
    """A program into an SLC cache; `program` if left out."""
    erase: OperationEnergy
    """Of a block's erase."""
    byte: Annotated[float, within(plan_bounds.FlashPowerParams.byte_nj)]
    """Nanojoules a byte of the host, through the controller and over the link."""
    limit: Power | None = None
    """Most that it may draw, as of a power state of NVMe: operations of the dies then wait for
    their energy; no limit if left out."""
    states: tuple[PowerState, ...] = ()
    """As an NVMe drive lists them, from the one with the highest power down."""
    state: int = Field(default=0, ge=0, le=31)
    """Number of the operational state that the host has set."""

    def faults(self) -> Iterator[Fault]:
        """A limit that idling exceeds, states that contradict each other."""
        if self.limit is not None and self.limit <= self.idle:
            allowed = f"above the {self.idle:g} W of idle: nothing is left for operations"
            yield Fault("limit", f"{self.limit:g} W", allowed)
        if self.limit is not None and self.states:
            yield Fault("limit", f"{self.limit:g} W", "nothing beside states, of which each is one")
        serving = [at for at, state in enumerate(self.states) if state.operational]
        if self.state and self.state not in serving:
            allowed = f"the number of an operational state: {serving or 'there is none'}"
            yield Fault("state", self.state, allowed)
        yield from state_faults(self.states, self.idle, "states")

    @property
    def most(self) -> float | None:
        """Watts that the drive may draw; None without a limit."""
        return self.states[self.state].most if self.states else self.limit

    def idle_states(self) -> list[IdleStateParams]:
        """`IdleStateParams` of the native models, one for each state without operation."""
        return [
            {
                "after_ns": state.entered_after,
                "entry_ns": state.entry,
                "exit_ns": state.exit,
                "watts": state.most,
            }
            for state in self.states
            if not state.operational
        ]

    def energies(self) -> FlashPowerParams:
        """Power without activity and energies, as the native models name them."""
        plan: FlashPowerParams = {
            "idle_w": self.idle,
            "read_nj": self.read * 1e9,
            "program_nj": self.program * 1e9,
            "erase_nj": self.erase * 1e9,
            "byte_nj": self.byte,
        }
        if self.program_slc is not None:
            plan["program_slc_nj"] = self.program_slc * 1e9
        return plan

    def to_plan(self) -> FlashPowerParams:
        """`FlashPowerParams` of the native models."""
        return {**self.energies(), "limit_w": self.most}


class BytePower(Table):
    """`[power]` of a drive whose operations cost as their bytes do."""

    idle: Power
    read: float = Field(ge=0, le=1e6)
    """Nanojoules of a byte that is read."""
    write: float = Field(ge=0, le=1e6)
    """Of an actively writing drive."""

    def to_plan(self) -> BytePowerParams:
        """`BytePowerParams` of the native models."""
        return {"idle_w": self.idle, "byte_nj": [self.read, self.write]}
