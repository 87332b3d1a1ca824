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
from collections.abc import Callable, Mapping
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


def drawn(device: Device, number: int, seed: int = 1) -> Device:
    """The device with every number that has bounds drawn between them.

    A draw depends on the device's own name and not on what a file calls it by, so that draw number
    i of a device is the same in every question.

    Args:
        device: Numbers and bounds have the same unit.
        number: Which draw.
        seed: Of all draws.

    Raises:
        SpecError: No draw of a hundred is a device that can be.
    """
    randomness = random.Random(f"{seed} {number} {device.spec.name}")
    error = SpecError([])
    for _ in range(_TRIES):
        try:
            return placed(device, lambda _: randomness.random())
        except SpecError as one:
            error = one
    raise error


def placed(device: Device, share: Callable[[str], float]) -> Device:
    """The device with every number that has bounds at a quantile of its distribution.

    Args:
        device: Numbers and bounds have the same unit.
        share: Of the distribution, from 0 to 1, below the number of a key.

    Raises:
        SpecError: That is no device that can be.
    """
    values: dict[str, Any] = copy.deepcopy(dict(device.written))
    for key in open_numbers(device):
        low, high = device.sources[key].range or ("", "")
        ends = float(_part(low)), float(_part(high))
        put(values, key, _number(get(values, key), *ends, share(key)))
    faults = Faults(str(device.path))
    spec = check(KINDS[device.spec.kind], values, faults)
    if spec is None or faults.found:
        raise SpecError(faults.found)
    return replace(device, spec=spec, written=values)


def _part(text: str) -> str:
    match = _QUANTITY.match(text)
    return "0" if match is None else match[1]


def _number(value: Any, low: float, high: float, share: float) -> Any:
    """A number at a quantile: a count, a quantity, or quantities whose mean has the bounds."""
    if isinstance(value, list):
        numbers = [float(_part(item)) for item in value]
        mean = math.fsum(numbers) / len(numbers)
        factor = _triangular(low, high, mean, share) / mean
        return [f"{number * factor:.6g} {_unit(value[0])}" for number in numbers]
    if isinstance(value, str):
        return f"{_triangular(low, high, float(_part(value)), share):.6g} {_unit(value)}"
    number = _triangular(low, high, float(value), share)
    return max(1, round(number)) if isinstance(value, int) else number


def _triangular(low: float, high: float, best: float, share: float) -> float:
    low, high = min(low, best), max(high, best)
    if low <= 0:
        return _quantile(low, high, best, share)
    # Factors count, not differences: between 5 us and 600 us, 60 us are no tenth of the way.
    return math.exp(_quantile(math.log(low), math.log(high), math.log(best), share))


def _quantile(low: float, high: float, mode: float, share: float) -> float:
    """Of a triangular distribution: the inverse of its distribution function."""
    if low == high:
        return low
    below = (mode - low) / (high - low)
    if share > below:
        share, below, low, high = 1.0 - share, 1.0 - below, high, low
    return low + (high - low) * math.sqrt(share * below)


def _unit(text: str) -> str:
    match = _QUANTITY.match(text)
    return "" if match is None else match[2]


def undrawn(devices: Mapping[str, Device]) -> bool:
    """True if no device has a number with bounds."""
    return not any(open_numbers(device) for device in devices.values())
