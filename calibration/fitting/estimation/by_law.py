"""Fits by a law: a virtual disk or a table, found in a second and corrected by simulations.

1. The host's CPU times are measured ones (`surrogates.cpu`), its hardware threads those of the
   machine, unless a host is named.
2. Every form predicts points left out (`surrogates.selection`); the best one becomes a device.
3. A law is an approximation of what the engine simulates. So the training points are simulated, and
   the law is fitted again to measured rates times what it is above the simulation (space mapping:
   Bandler et al. 1994). Two rounds are enough; the better one of all stays.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from raidlab.calibration.fitting.bench.bench import Bench, Effort
from raidlab.calibration.fitting.certainty.uncertainty import Estimate
from raidlab.calibration.fitting.estimation.fit import Fit
from raidlab.calibration.fitting.estimation.law_files import (
    host_times_of,
    table_device,
    virtual_disk,
    volume_values,
    with_measured_cpu,
)
from raidlab.calibration.fitting.estimation.model import FitModel, checked
from raidlab.calibration.fitting.parameters.kinds import TABLE, VIRTUAL_DISK, kind_of
from raidlab.calibration.fitting.parameters.parameter import DETERMINED_WITHIN, Parameter, number_of
from raidlab.calibration.fitting.search.loss import groups_of, residuals, values
from raidlab.calibration.measurements.measurement import Machine, MovedBy, Point
from raidlab.calibration.surrogates.cpu import host_times
from raidlab.calibration.surrogates.laws import FittedLaw, HostTimes, fit_law
from raidlab.calibration.surrogates.loads import Measured, measured
from raidlab.calibration.surrogates.selection import Selection, select
from raidlab.devices.catalogue import KINDS as DEVICE_KINDS
from raidlab.devices.host import HostSpec
from raidlab.devices.trees import Tree, Value, copied, get

_SLICES_MS: Final = 6.0
"""Scheduler's latency of one hardware thread, as Linux has it (docs/explanation/host.md)."""
BY_LAW = (VIRTUAL_DISK, TABLE)
"""Kinds that a law alone fits."""
_ROUNDS: Final = 2
_EFFORT = Effort(ios=6000, ios_of_slow=2500, rounds=12.0)
_95 = 1.96


@dataclass(frozen=True)
class LawFit:
    """A device and a host by a law."""

    selection: Selection
    fit: Fit
    model: FitModel
    bench: Bench
    tree: Tree
    host: Tree
    warnings: tuple[str, ...]


def measured_host(
    host: Mapping[str, Value], points: Sequence[Point], machine: Machine | None
) -> tuple[Tree, bool]:
    """A host's tree with what was measured of the CPU, and whether anything was."""
    threads = machine.cpus if machine is not None else None
    memory = _moved_by(machine) is MovedBy.ISSUER
    times = host_times(points, threads or 0, always_busy=memory)
    found = with_measured_cpu(host, times, threads)
    if memory and threads:
        # Jobs that never sleep share hardware threads by slices of time.
        found["scheduler_latency"] = f"{_SLICES_MS * (1.0 + math.log2(threads)):.3g} ms"
    return found, times is not None or threads is not None


def selection_of(
    points: Sequence[Point], host: Mapping[str, Value], machine: Machine | None
) -> Selection:
    """What laws make of points behind a host."""
    return select(measured(points), host_times_of(checked(HostSpec, host)), _moved_by(machine))


def _moved_by(machine: Machine | None) -> MovedBy:
    """Who moves the bytes; the device where nobody knows the machine."""
    return MovedBy.DEVICE if machine is None else machine.moved_by


def fit_by_law(
    kind: str,
    base: Mapping[str, Value],
    host: Mapping[str, Value],
    points: Sequence[Point],
    selection: Selection,
    workers: int = 1,
) -> LawFit:
    """A virtual disk or a table.

    Args:
        kind: `virtual-disk` or `table`.
        base: The device file to begin with.
        host: The host's tree.
        points: The training points.
        selection: What laws make of them.
        workers: Simulations at a time.
    """
    begun = time.monotonic()
    spec = checked(HostSpec, host)
    seen = measured(points)
    times = host_times_of(spec)
    if kind == TABLE:
        tree, bench, off = _table(base, spec, points, selection, times, workers)
        law, parameters = None, []
    else:
        law, tree, bench, off = _virtual_disk(base, spec, points, selection, seen, workers)
        parameters = _parameters(law)
    estimates, place, errors = _estimates(law, parameters)
    count = len(parameters)
    results = bench.run_all(points, _EFFORT, workers)
    left = values(residuals(points, results))
    fit = Fit(
        estimates, place, errors, np.eye(count), np.zeros((len(left), count)), left,
        off, time.monotonic() - begun, frozenset(), (),
    )  # fmt: skip
    known = {parameter.key: parameter for parameter in parameters}
    model = FitModel(tree, host, parameters, {}, known, {})
    assert len(groups_of(points)) == len(left)
    return LawFit(selection, fit, model, bench, tree, dict(host), (selection.said(),))


def _virtual_disk(
    base: Mapping[str, Value],
    host: HostSpec,
    points: Sequence[Point],
    selection: Selection,
    seen: Measured,
    workers: int,
) -> tuple[FittedLaw, Tree, Bench, int]:
    """The best law as a device: its numbers, the tree, the bench, simulations of all points."""
    best = selection.chosen or selection.best_device_law
    law = best.predictor.fitted
    found: tuple[float, FittedLaw, Tree, Bench] | None = None
    for number in range(_ROUNDS + 1):
        tree = virtual_disk(base, law, points)
        bench = _bench(tree, host)
        rates = np.array([result.iops for result in bench.run_all(points, _EFFORT, workers)])
        cost = float(np.mean(np.abs(np.log(rates / seen.rate)) / seen.tolerance))
        if found is None or cost < found[0]:
            found = (cost, law, tree, bench)
        if number < _ROUNDS:
            # The law is to give what it gives above the simulation besides.
            goal = replace(seen, rate=seen.rate * law.rates(seen.loads) / rates)
            law = fit_law(law.law, goal, (law.numbers,), starts=0)
    if found is None:
        raise AssertionError("a law was simulated")
    _, law, tree, bench = found
    return law, tree, bench, _ROUNDS + 1


def _table(
    base: Mapping[str, Value],
    host: HostSpec,
    points: Sequence[Point],
    selection: Selection,
    times: HostTimes,
    workers: int,
) -> tuple[Tree, Bench, int]:
    tree = table_device(base, selection.average, points, times)
    return tree, _bench(tree, host), 1


def _bench(tree: Mapping[str, Value], host: HostSpec) -> Bench:
    return Bench.of(checked(DEVICE_KINDS[str(tree["kind"])], tree), host)


def _parameters(law: FittedLaw) -> list[Parameter]:
    """The parameters of the kind that the law has numbers for."""
    written = volume_values(law)
    known = {parameter.key: parameter for parameter in kind_of(VIRTUAL_DISK).declared}
    return [known[key] for key in written if key in known]


_NAMES: Mapping[str, str] = {
    "server.read": "read", "server.write": "write",
    "server.read_mib": "read_byte", "server.write_mib": "write_byte",
    "latency.read": "read_latency", "latency.write": "write_latency",
    "server.continued_read": "continued_read", "server.continued_write": "continued_write",
    "limits.rate": "rate", "limits.throughput": "throughput",
    "server.cache": "cache", "server.uncached": "uncached",
}  # fmt: skip
"""The law's name of each parameter."""


def _estimates(
    law: FittedLaw | None, parameters: Sequence[Parameter]
) -> tuple[tuple[Estimate, ...], Any, Any]:
    """Estimates with the law's standard errors, places in the unit cube and errors there."""
    if law is None:
        return (), np.zeros(0), np.zeros(0)
    written, errors = volume_values(law), dict(zip(law.law.names, law.spread, strict=True))
    found, places, wide = [], [], []
    for parameter in parameters:
        unit = number_of(f"1 {parameter.unit}") if parameter.unit else 1.0
        value = number_of(written[parameter.key]) / unit
        error = min(float(errors[_NAMES[parameter.key]]), 5.0)
        low, high = value * np.exp(-_95 * error), value * np.exp(_95 * error)
        low, high = max(low, parameter.low), min(high, parameter.high)
        at_bound = not parameter.low * 1.01 < value < parameter.high / 1.01
        determined = error < DETERMINED_WITHIN and not at_bound
        found.append(
            Estimate(parameter, value, value * error, float(low), float(high), at_bound, determined)
        )
        places.append(parameter.place(value))
        wide.append(error * value / max(parameter.slope(places[-1]), 1e-12))
    return tuple(found), np.array(places), np.minimum(np.array(wide), 1.0)


def capacity_of(points: Sequence[Point], machine: Machine | None) -> int:
    """Bytes of a device: as the machine says, but at least what was loaded."""
    loaded = max(((p.area_bytes or 0) + p.area_start_bytes for p in points), default=0)
    known = machine.capacity_bytes if machine is not None else None
    return max(known or 0, loaded)


def begun_with(tree: Mapping[str, Value], capacity: int) -> Tree:
    """A template with the capacity of what was measured, where it is known."""
    found = copied(tree)
    if capacity and get(found, "capacity") is not None:
        found["capacity"] = f"{capacity} B"
    return found
