"""Devices whose assumed numbers are drawn between their bounds.

A number of which a device file says `range` is a best guess between two bounds. Each draw takes all
of them anew, from triangular distributions (of logarithms, where no bound is zero) with the best
guess as the mode.
"""

from __future__ import annotations

import copy
import math
import random
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from raidlab.devices.catalogue import KINDS, Device
from raidlab.devices.faults import Faults, SpecError
from raidlab.devices.schema import check
from raidlab.devices.trees import get, put

_QUANTITY = re.compile(r"([\d.]+)\s*(.*)")
_TRIES = 100


def open_numbers(device: Device) -> list[str]:
    """Keys of the numbers that have bounds."""
    return [key for key, source in device.sources.items() if source.range is not None]


def drawn(device: Device, seed: str) -> Device:
    """The device with every number that has bounds drawn between them.

    Args:
        device: Numbers and bounds have the same unit.
        seed: The same text gives the same device.

    Raises:
        SpecError: No draw of a hundred is a device that can be.
    """
    randomness = random.Random(seed)
    faults = Faults(str(device.path))
    for _ in range(_TRIES):
        values: dict[str, Any] = copy.deepcopy(dict(device.written))
        for key in open_numbers(device):
            source = device.sources[key]
            low, high = source.range or ("", "")
            put(
                values,
                key,
                _drawn(get(values, key), float(_part(low)), float(_part(high)), randomness),
            )
        faults = Faults(str(device.path))
        spec = check(KINDS[device.spec.kind], values, faults)
        if spec is not None and not faults.found:
            return replace(device, spec=spec, written=values)
    raise SpecError(faults.found)


def _part(text: str) -> str:
    match = _QUANTITY.match(text)
    return "0" if match is None else match[1]


def _drawn(value: Any, low: float, high: float, randomness: random.Random) -> Any:
    """A value drawn anew: a count, a quantity, or quantities whose mean has the bounds."""
    if isinstance(value, list):
        numbers = [float(_part(item)) for item in value]
        mean = math.fsum(numbers) / len(numbers)
        factor = _triangular(low, high, mean, randomness) / mean
        return [f"{number * factor:.6g} {_unit(value[0])}" for number in numbers]
    if isinstance(value, str):
        return f"{_triangular(low, high, float(_part(value)), randomness):.6g} {_unit(value)}"
    number = _triangular(low, high, float(value), randomness)
    return max(1, round(number)) if isinstance(value, int) else number


def _triangular(low: float, high: float, best: float, randomness: random.Random) -> float:
    low, high = min(low, best), max(high, best)
    if low <= 0:
        return randomness.triangular(low, high, best)
    # Factors count, not differences: between 5 us and 600 us, 60 us are no tenth of the way.
    return math.exp(randomness.triangular(math.log(low), math.log(high), math.log(best)))


def _unit(text: str) -> str:
    match = _QUANTITY.match(text)
    return "" if match is None else match[2]


def undrawn(devices: Mapping[str, Device]) -> bool:
    """True if no device has a number with bounds."""
    return not any(open_numbers(device) for device in devices.values())
