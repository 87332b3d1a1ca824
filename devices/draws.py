"""Devices whose uncertain numbers are drawn: assumed ones between their bounds, and fitted ones.

A number of which a device file says `range` is a best guess between two bounds. Each draw takes all
of them anew: half of the draws lie below the best guess and half above, the more the nearer, as in
two right triangles (of logarithms, where no bound is zero). A fitted number has a standard error:
its logarithm is normal around that of the fit, so wide that the number itself has the standard
error. With r, the error over the number, sigma^2 = ln((1 + sqrt(1 + 4 r^2)) / 2): r^2 where r is
small, and within orders of magnitude where the fit hardly knows the number. Where a file states
`correlations`, numbers are drawn together; without, each by itself.

Every draw is a device that can be: sizes are whole blocks of 4 KiB, times below one nanosecond are
none or one, and a number that another one bounds stays at that bound (`_AT_MOST`).
"""

from __future__ import annotations

import copy
import math
import random
import re
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from raidlab.devices.catalogue import KINDS, Device
from raidlab.devices.faults import Faults, SpecError
from raidlab.devices.schema import check
from raidlab.devices.trees import Tree, get, put
from raidlab.devices.units import DURATION, RATE, SIZE

_QUANTITY = re.compile(r"([\d.]+(?:[eE][+-]?\d+)?)\s*(.*)")
_TRIES = 100
_TAIL_SHARE = 1e-3
"""Share of a normal distribution that is left out at each end."""
_SMALLEST_VARIANCE = 1e-6
"""Of a variance that is left to a number by those before it."""
_Z95 = 1.959964
_BLOCK = 4096
"""Bytes of which drawn sizes are multiples."""
_AT_MOST = (
    ("nand.slc_cache.program", "nand.program"),
    ("nand.slc_cache.read", "nand.read"),
)
"""Times that are at most another one, or the longest of several: cells of fewer bits are faster."""


def open_numbers(device: Device) -> list[str]:
    """Keys of the numbers that have bounds, or a standard error."""
    return [
        key
        for key, source in device.sources.items()
        if source.range is not None or _deviation(device, key)
    ]


def bounds(device: Device, key: str) -> tuple[str, str]:
    """Between which an open number lies: its bounds, or 95 % by its standard error."""
    stated = device.sources[key].range
    if stated is not None:
        return stated
    value, deviation = get(device.written, key), _deviation(device, key)
    first = value[0] if isinstance(value, list | tuple) else value
    ends = (_scaled(first, math.exp(z * deviation)) for z in (-_Z95, _Z95))
    low, high = map(str, ends)
    return low, high


def _deviation(device: Device, key: str) -> float:
    """The standard deviation of a fitted number's logarithm; 0 without a standard error."""
    error = _error(device, key) or 0.0
    return math.sqrt(math.log((1.0 + math.sqrt(1.0 + 4.0 * error**2)) / 2.0))


def _error(device: Device, key: str) -> float | None:
    """The standard error of a fitted number as a share of it; None without one."""
    source, value = device.sources[key], get(device.written, key)
    if source.source != "fitted" or not source.stderr:
        return None
    if source.stderr.endswith("%"):
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return float(_part(source.stderr)) / 100 if is_number or _is_quantities(value) else None
    if isinstance(value, int | float) and not isinstance(value, bool):
        return abs(float(_part(source.stderr)) / value) if value else None
    if not _is_quantities(value):
        return None
    each = list(value) if isinstance(value, list | tuple) else [value]
    for dimension in (DURATION, SIZE, RATE):
        try:
            mean = sum(float(dimension.parse(item)) for item in each) / len(each)
            return float(dimension.parse(source.stderr)) / mean if mean else None
        except ValueError:
            continue
    return None


def _is_quantities(value: Any) -> bool:
    each = value if isinstance(value, list | tuple) and value else [value]
    return all(isinstance(item, str) and _QUANTITY.match(item) for item in each)


def drawn(device: Device, number: int, seed: int = 1) -> Device:
    """The device with every uncertain number drawn.

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
            return placed(device, _together(device, randomness).__getitem__)
        except SpecError as one:
            error = one
    raise error


def _together(device: Device, randomness: random.Random) -> dict[str, float]:
    """A share of its distribution for each open number; those of correlated errors go together."""
    shares = {key: randomness.random() for key in open_numbers(device)}
    keys = correlated(device)
    normal = statistics.NormalDist()
    alone = [_z(min(max(shares[key], _TAIL_SHARE), 1 - _TAIL_SHARE)) for key in keys]
    for key, row in zip(keys, _root(device, keys), strict=True):
        shares[key] = normal.cdf(math.fsum(a * z for a, z in zip(row, alone, strict=False)))
    return shares


def correlated(device: Device) -> list[str]:
    """Keys of the numbers of which the file says how their errors go together."""
    pairs = {
        (key, other) for key, source in device.sources.items() for other in source.correlations
    }
    named = set[str]().union(*pairs)
    return [key for key in open_numbers(device) if key in named]


def _root(device: Device, keys: Sequence[str]) -> list[list[float]]:
    """The lower triangle whose square is the matrix of correlations (Cholesky).

    Correlations are rounded in files, so that they may be of no distribution by a little: all are
    made smaller until they are of one.
    """
    stated = {
        frozenset((key, other)): rho
        for key in keys
        for other, rho in device.sources[key].correlations.items()
    }
    factor = 1.0
    while True:
        rows: list[list[float]] = []
        for at, key in enumerate(keys):
            row: list[float] = []
            for other, known in zip(keys[:at], rows, strict=True):
                rho = factor * stated.get(frozenset((key, other)), 0.0)
                before = math.fsum(a * b for a, b in zip(row, known, strict=False))
                row.append((rho - before) / known[-1])
            left = 1.0 - math.fsum(each * each for each in row)
            if left < _SMALLEST_VARIANCE:
                break
            rows.append([*row, math.sqrt(left)])
        if len(rows) == len(keys):
            return rows
        factor *= 0.99


def placed(device: Device, share: Callable[[str], float]) -> Device:
    """The device with every uncertain number at a quantile of its distribution.

    Args:
        device: Numbers and bounds have the same unit.
        share: Of the distribution, from 0 to 1, below the number of a key.

    Raises:
        SpecError: That is no device that can be.
    """
    values: Tree = copy.deepcopy(dict(device.written))
    for key in open_numbers(device):
        stated, value = device.sources[key].range, get(values, key)
        if stated is None:
            at = min(max(share(key), _TAIL_SHARE), 1 - _TAIL_SHARE)
            put(values, key, _scaled(value, math.exp(_deviation(device, key) * _z(at))))
            continue
        low, high = stated
        ends = float(_part(low)), float(_part(high))
        put(values, key, _number(value, *ends, share(key)))
    for key, bound in _AT_MOST:
        _limit(values, key, bound)
    faults = Faults(str(device.path))
    spec = check(KINDS[device.spec.kind], values, faults)
    if spec is None or faults.found:
        raise SpecError(faults.found)
    return replace(device, spec=spec, written=values)


def _limit(values: Tree, key: str, bound: str) -> None:
    """Puts the longest time of `bound` in the place of a longer one at `key`."""
    own, others = get(values, key), get(values, bound)
    if own is None or not others:
        return
    longest = max(others if isinstance(others, list | tuple) else [others], key=DURATION.parse)
    if DURATION.parse(own) > DURATION.parse(longest):
        put(values, key, longest)


def _quantity(value: float, unit: str) -> str:
    """A drawn quantity as files state it, of a size or a time that there can be."""
    if unit in SIZE.units:
        size = float(SIZE.units[unit]) * value
        return f"{max(1, round(size / _BLOCK)) * _BLOCK} B"
    if unit in DURATION.units:
        base = float(DURATION.units[unit]) * value
        return f"{round(base)} ns" if base < 1.0 else f"{value:.6g} {unit}"
    return f"{value:.6g} {unit}"


def _z(share: float) -> float:
    return statistics.NormalDist().inv_cdf(share)


def _scaled(value: Any, factor: float) -> Any:
    """A number times a factor: a count, a quantity, or each of several."""
    if isinstance(value, list | tuple):
        return [_scaled(item, factor) for item in value]
    if isinstance(value, str):
        return _quantity(float(_part(value)) * factor, _unit(value))
    return max(1, round(value * factor)) if isinstance(value, int) else value * factor


def _part(text: str) -> str:
    match = _QUANTITY.match(text)
    return "0" if match is None else match[1]


def _number(value: Any, low: float, high: float, share: float) -> Any:
    """A number at a quantile: a count, a quantity, or quantities whose mean has the bounds."""
    if isinstance(value, list):
        numbers = [float(_part(item)) for item in value]
        mean = math.fsum(numbers) / len(numbers)
        factor = _between(low, high, mean, share) / mean
        return [_quantity(number * factor, _unit(value[0])) for number in numbers]
    if isinstance(value, str):
        return _quantity(_between(low, high, float(_part(value)), share), _unit(value))
    number = _between(low, high, float(value), share)
    return max(1, round(number)) if isinstance(value, int) else number


def _between(low: float, high: float, best: float, share: float) -> float:
    low, high = min(low, best), max(high, best)
    if low <= 0:
        return _quantile(low, high, best, share)
    # Factors count, not differences: between 5 us and 600 us, 60 us are no tenth of the way.
    return math.exp(_quantile(math.log(low), math.log(high), math.log(best), share))


def _quantile(low: float, high: float, best: float, share: float) -> float:
    """Of two right triangles that are highest at the best guess, each with half of the draws.

    One that has no width leaves all draws to the other.
    """
    below = 0.0 if best == low else 1.0 if best == high else 0.5
    if share < below:
        return best - (best - low) * (1.0 - math.sqrt(share / below))
    return best + (high - best) * (1.0 - math.sqrt((1.0 - share) / (1.0 - below or 1.0)))


def _unit(text: str) -> str:
    match = _QUANTITY.match(text)
    return "" if match is None else match[2]


def undrawn(devices: Mapping[str, Device]) -> bool:
    """True if no device has a number with bounds or a standard error."""
    return not any(open_numbers(device) for device in devices.values())
