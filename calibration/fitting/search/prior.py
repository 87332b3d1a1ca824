"""What a device to start from knows of its own numbers: how strongly each is pulled to its value.

A number with bounds (of a data sheet's device: `range`) is believed within them: they hold 95 % of
a normal distribution of its logarithm, or of the number where a bound is zero. A number that a
stated figure decides is as sure as sheets round. Few measured points then move what they
determine, and leave alone what they say nothing of (a Gaussian prior; Tarantola 2005, chapter 3).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from raidlab.calibration.fitting.parameters.parameter import Parameter, number_of
from raidlab.calibration.fitting.search.minimise import PULL
from raidlab.devices.provenance import Source
from raidlab.devices.trees import Value, get

ROUNDED: Final = 0.05
"""Relative standard deviation of what a stated figure decides: sheets round, and say "up to"."""
_DEVIATIONS: Final = 4.0
"""Standard deviations between bounds that hold 95 %."""


@dataclass(frozen=True)
class Prior:
    """The sources of a device that was made of a data sheet."""

    tree: Mapping[str, Value]
    sources: Mapping[str, Source]

    def of(self, parameter: Parameter) -> Parameter:
        """The parameter with the pull that its source justifies; as it is if that says nothing."""
        head, _, last = parameter.key.rpartition(".")
        key = head if last.isdigit() and head in self.sources else parameter.key
        source = self.sources.get(key)
        if source is None or parameter.of or not self.tree.get("data_sheet"):
            return parameter
        written = get(self.tree, key)
        best = _mean(written)
        if source.range is not None:
            low, high = (number_of(bound) for bound in source.range)
            relative = math.log(high / low) / _DEVIATIONS if low > 0 else None
            deviation = (high - low) / _DEVIATIONS
        elif source.source == "derived":
            relative, deviation = ROUNDED, ROUNDED * best
        else:
            return parameter
        start = number_of(get(self.tree, parameter.key))
        if relative is None:
            relative = math.log1p(deviation / max(best, deviation))
        unit = number_of(f"1 {parameter.unit}") if parameter.unit else 1.0
        value = min(parameter.high, max(parameter.low, start / unit))
        # Towards the middle of the scale, where there is room.
        sign = 1.0 if parameter.place(value) < 0.5 else -1.0
        step = abs(parameter.place(value * math.exp(sign * relative)) - parameter.place(value))
        return replace(parameter, pull=1.0 / (PULL * max(step, 1e-6)))


def _mean(written: Any) -> float:
    values = written if isinstance(written, list | tuple) else [written]
    return math.fsum(map(number_of, values)) / len(values)
