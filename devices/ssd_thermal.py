"""Temperature of a solid-state drive: where the drive sits, throttling."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import ClassVar

from pydantic import Field

from raidlab.devices.faults import Fault
from raidlab.devices.schema import Table
from raidlab.devices.units import (
    Duration,
    HeatCapacity,
    Share,
    Temperature,
    TemperatureStep,
    ThermalResistance,
)


class ThrottleStep(Table):
    """`[[thermal.step]]`."""

    above: Temperature
    """Takes effect at this temperature."""
    speed: Share = Field(ge=0.01)
    """Share of its full speed at which NAND then works; no more than at cooler steps."""


class Cooling(Table):
    """`[thermal.cooling.NAME]`: where the drive sits."""

    ambient: Temperature
    resistance: ThermalResistance = Field(gt=0)
    """Drive to air."""


class Thermal(Table):
    """`[thermal]`: one thermal mass that `[power]` warms, throttling."""

    renamed: ClassVar[Mapping[str, str]] = {
        key: f"power.{key}" for key in ("idle", "read", "program", "erase", "byte")
    }

    capacity: HeatCapacity = Field(gt=0)
    step: tuple[ThrottleStep, ...] = ()
    """Throttling, from the lowest temperature up."""
    hysteresis: TemperatureStep = 3.0
    interval: Duration = Field(default=10_000_000, gt=0)
    """Time between two looks at the temperature."""
    cooling: Mapping[str, Cooling]
    """Cooling conditions; the first is the usual one."""

    def faults(self) -> Iterator[Fault]:
        """Steps out of order; limits that the air around the drive exceeds."""
        if sorted({step.above for step in self.step}) != [step.above for step in self.step]:
            written = [f"{step.above:g} degC" for step in self.step]
            yield Fault("step", written, "steps from the lowest temperature up")
        for at, (cooler, hotter) in enumerate(pairwise(self.step), start=1):
            if hotter.speed > cooler.speed:
                allowed = f"at most {cooler.speed:g}, that of the cooler step before it"
                yield Fault(f"step.{at}.speed", hotter.speed, allowed)
        if not self.cooling:
            yield Fault("cooling", None, "at least one condition: [thermal.cooling.normal]")
        for name, cooling in self.cooling.items():
            for at, step in enumerate(self.step):
                if step.above <= cooling.ambient:
                    allowed = f"above the ambient {cooling.ambient:g} degC of cooling {name}"
                    yield Fault(f"step.{at}.above", f"{step.above:g} degC", allowed)

    def idle_faults(self, idle: float) -> Iterator[Fault]:
        """Steps below the temperature of a drive that draws `idle` watts and does nothing."""
        for name, cooling in self.cooling.items():
            warm = cooling.ambient + idle * cooling.resistance
            for at, step in enumerate(self.step):
                if cooling.ambient < step.above <= warm:
                    allowed = (
                        f"above {warm:g} degC, which the drive has under cooling {name} when it is"
                        " idle: no throttling keeps it below that"
                    )
                    yield Fault(f"thermal.step.{at}.above", f"{step.above:g} degC", allowed)
