"""Which number a result depends on most, so which one to measure first: `raidlab sensitivity`.

Numbers that data sheets leave open are placed within their distributions, fields of the scenario
within a range, by a design of SALib's:

- Morris (1991): each number in turn is changed along random trajectories. `effect` is the mean
  absolute change of the result as the number goes over the middle three quarters of its
  distribution (Campolongo et al. 2007: mu*). `spread` is the standard deviation of these changes:
  where it is as large as the effect, the number interacts with others or acts in a curve.
- Sobol (2001), by Saltelli et al. (2010): the share of the result's variance that the number alone
  causes (`first_order`), and with all its interactions (`effect`).

Seed and load stay, so that what differs is caused by the numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from raidlab.devices.draws import bounds, open_numbers, placed
from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.trees import Document, Tree, get
from raidlab.scenarios import _engine
from raidlab.scenarios.planning.scenario import Scenario, build_scenario
from raidlab.scenarios.results.goals import Goal, Source, of_load, workload_faults
from raidlab.scenarios.running.simulate import results_of
from raidlab.scenarios.studies.running import Running
from raidlab.scenarios.studies.vary import Axis, with_values

if TYPE_CHECKING:
    import numpy as np

_LEVELS = 4
"""Of Morris' grid: quantiles 1/8, 3/8, 5/8 and 7/8, the middles of equal parts."""
_LEAST_BLOCKS = 4
"""Blocks of a design that must be left when those that cannot be built are."""
MOST_SIMULATIONS = 100_000
"""Simulations of a design at most."""


class Method(StrEnum):
    """How numbers are placed, and what is concluded."""

    MORRIS = "morris"
    """A ranking from few simulations: (numbers + 1) x samples."""
    SOBOL = "sobol"
    """Shares of the variance: (numbers + 2) x samples."""


_SAMPLES = {Method.MORRIS: 10, Method.SOBOL: 64}


@dataclass(frozen=True)
class Factor:
    """A number that is varied."""

    key: str
    device: str
    """Empty for a field of the scenario."""
    best: str | None
    """The number as it stands; None for a field that is left out."""
    bounds: tuple[str, str]
    axis: Axis | None = None

    @property
    def name(self) -> str:
        """Device and key."""
        return f"{self.device}: {self.key}" if self.device else self.key


@dataclass(frozen=True)
class Effect:
    """What a number does to the result."""

    factor: Factor
    effect: float
    """Morris: in the result's unit; Sobol: share of the variance with interactions."""
    ci95: float
    """Half of the effect's 95 % interval."""
    spread: float | None
    """Morris: of the changes."""
    first_order: float | None
    """Sobol: share of the variance without interactions."""

    def to_dict(self) -> Document:
        """Plain data."""
        return {
            "key": self.factor.key,
            "device": self.factor.device or None,
            "value": self.factor.best,
            "range": list(self.factor.bounds),
            "effect": self.effect,
            "effect_ci95": self.ci95,
            "spread": self.spread,
            "first_order": self.first_order,
        }


@dataclass(frozen=True)
class Sensitivity:
    """Numbers, the one that matters most first."""

    title: str
    seed: int
    method: Method
    of: Goal
    """The quantity; its bound has no meaning."""
    best: float
    """The quantity with every number as it stands."""
    low: float
    high: float
    """Of the quantity in all simulations."""
    effects: tuple[Effect, ...]
    simulated: int
    left_out: int
    """Simulations of blocks in which a device could not be built."""
    warnings: tuple[str, ...] = ()
    breaches: tuple[str, ...] = ()

    def to_dict(self) -> Document:
        """The document of `raidlab sensitivity --json`."""
        return {
            "title": self.title,
            "seed": self.seed,
            "version": _engine.version(),
            "method": str(self.method),
            "of": self.of.name,
            "unit": self.of.unit,
            "value": self.best,
            "range": [self.low, self.high],
            "simulated": self.simulated,
            "left_out": self.left_out,
            "parameters": [each.to_dict() for each in self.effects],
            "warnings": list(self.warnings),
            "breaches": list(self.breaches),
        }


def factors_of(scenario: Scenario, axes: Sequence[Axis]) -> list[Factor]:
    """What can be varied: numbers with bounds of the scenario's devices, and the axes.

    Raises:
        SpecError: There is nothing, or an axis is not a range.
    """
    found = [
        Factor(key, name, _text(get(device.written, key)), bounds(device, key))
        for name, device in scenario.models.items()
        for key in open_numbers(device)
    ]
    faults = []
    for axis in axes:
        if axis.span is None:
            allowed = "a range without a step, such as 1000:5000 IO/s"
            faults.append(Fault(f"--vary {axis.path}", None, allowed))
            continue
        ends = axis.span.value(0.0), axis.span.value(1 - 1e-12)
        written = _text(get(scenario.written, axis.path))
        found.append(Factor(axis.path, "", written, (str(ends[0]), str(ends[1])), axis))
    if not found and not faults:
        allowed = "a range of a field, as no device has a number with a `range` or a `stderr`"
        faults.append(Fault("--vary", None, allowed, (), scenario.path))
    if faults:
        raise SpecError(faults)
    return found


def _exact(scenario: Scenario) -> list[str]:
    """A warning for each drive and controller whose numbers nobody varies."""
    return [
        f"{name} states neither bounds nor standard errors of its numbers: they count as exact"
        for name, device in scenario.models.items()
        if device.spec.kind in ("hdd", "ssd", "controller") and not open_numbers(device)
    ]


def _text(value: Any) -> str | None:
    if value is None:
        return None
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def sensitivity(
    scenario: Scenario,
    of: Goal,
    *,
    axes: Sequence[Axis] = (),
    method: Method = Method.MORRIS,
    samples: int | None = None,
    seed: int | None = None,
    running: Running | None = None,
) -> Sensitivity:
    """Ranks the numbers of a scenario by what they do to a latency or a rate.

    Args:
        scenario: One load or several, each at one point.
        of: The quantity, of the worst workload that it is about.
        axes: Fields of the scenario that vary as well, evenly between two values.
        method: Morris or Sobol.
        samples: Trajectories of Morris, 10 if left out; base samples of Sobol, a power of 2, 64
            if left out.
        seed: Replaces the scenario's; also that of the design.
        running: Workers, progress and store.

    Raises:
        SpecError: Nothing varies, `of` is no latency or rate, or too little can be built.
        KeyboardInterrupt: Ctrl-C. What was simulated is in the store.
    """
    running = running or Running()
    factors = factors_of(scenario, axes)
    samples = _SAMPLES[method] if samples is None else samples
    _check(scenario, of, method, samples, len(factors))
    seed = scenario.seed if seed is None else seed
    shares = _design(method, len(factors), samples, seed)
    block = len(shares) // samples
    built = _built(scenario, factors, shares, block)
    results = results_of(
        [scenario, *(each for each in built if each is not None)],
        seed, workers=running.workers, progress=running.progress, store=running.store,
        heeds_past=False,
    )  # fmt: skip
    warnings, breaches, values = dict.fromkeys(scenario.warnings), set[str](), list[float]()
    warnings |= dict.fromkeys(_exact(scenario))
    for result in results:
        if not values:
            warnings |= dict.fromkeys(result.warnings)
        breaches |= set(result.breaches)
        value = of_load(of, result.summary()).value
        if value is None and not values:
            allowed = "a quantity that the load has: no such I/O was done"
            raise SpecError([Fault("--of", of.text, allowed)])
        values.append(value or 0.0)
    kept = shares[[at for at, each in enumerate(built) if each is not None]]
    return Sensitivity(
        title=scenario.title,
        seed=seed,
        method=method,
        of=of,
        best=values[0],
        low=min(values),
        high=max(values),
        effects=_effects(method, factors, kept, values[1:], seed),
        simulated=len(values),
        left_out=len(shares) - len(kept),
        warnings=tuple(warnings),
        breaches=tuple(sorted(breaches)),
    )


def _check(scenario: Scenario, of: Goal, method: Method, samples: int, factors: int) -> None:
    faults = []
    if find_spec("SALib") is None:
        allowed = "needs SALib, which is not installed: pip install 'raidlab[sensitivity]'"
        faults.append(Fault("--method", str(method), allowed))
    if of.source not in (Source.LATENCY, Source.RATE):
        faults.append(Fault("--of", of.name, "a latency or a rate: p99, write mean, rate ..."))
    if scenario.points != 1 or not scenario.workloads:
        allowed = "one number: what matters differs from point to point"
        faults.append(Fault("workload.0.outstanding", None, allowed, (), scenario.path))
    faults += workload_faults([of], [load.name for load in scenario.workloads], "--of")
    if method is Method.SOBOL and samples & (samples - 1):
        near = 1 << (samples.bit_length() - 1)
        faults.append(Fault("--samples", samples, f"a power of 2, such as {near} or {2 * near}"))
    total = samples * (factors + 1 + (method is Method.SOBOL))
    if samples < _LEAST_BLOCKS or total > MOST_SIMULATIONS:
        allowed = (
            f"{_LEAST_BLOCKS} at least, and at most {MOST_SIMULATIONS:,} simulations;"
            f" these are {total:,}"
        )
        faults.append(Fault("--samples", samples, allowed))
    if faults:
        raise SpecError(faults)


def _problem(factors: int) -> dict[str, object]:
    return {
        "num_vars": factors,
        "names": [str(at) for at in range(factors)],
        "bounds": [[0.0, 1.0]] * factors,
    }


def _design(method: Method, factors: int, samples: int, seed: int) -> np.ndarray:
    """Shares of each number's distribution, a row for each simulation, in blocks of one sample."""
    problem = _problem(factors)
    if method is Method.SOBOL:
        from SALib.sample import sobol

        shares: np.ndarray = sobol.sample(problem, samples, calc_second_order=False, seed=seed)
        return shares
    from SALib.sample import morris

    levels: np.ndarray = morris.sample(problem, samples, num_levels=_LEVELS, seed=seed)
    middles: np.ndarray = (levels * (_LEVELS - 1) + 0.5) / _LEVELS
    return middles


def _built(
    scenario: Scenario, factors: Sequence[Factor], shares: np.ndarray, block: int
) -> list[Scenario | None]:
    """The scenario of every row; None for the blocks in which one cannot be built."""
    found: list[Scenario | None] = []
    faults: list[Fault] = []
    for at in range(0, len(shares), block):
        rows: list[Scenario | None] = []
        try:
            rows += [_placed(scenario, factors, row) for row in shares[at : at + block]]
        except SpecError as error:
            faults = faults or list(error.faults)
            rows = [None] * block
        found += rows
    if sum(each is not None for each in found) < _LEAST_BLOCKS * block:
        raise SpecError(faults)
    return found


def _placed(scenario: Scenario, factors: Sequence[Factor], shares: Sequence[float]) -> Scenario:
    fields: Tree = {}
    numbers: dict[str, dict[str, float]] = {}
    for factor, share in zip(factors, shares, strict=True):
        if factor.axis is not None:
            fields[factor.key] = factor.axis.value(min(float(share), 1 - 1e-12))
        else:
            numbers.setdefault(factor.device, {})[factor.key] = float(share)
    models = {
        name: placed(device, numbers[name].__getitem__) if name in numbers else device
        for name, device in scenario.models.items()
    }
    tree = with_values(scenario.written, fields)
    return build_scenario(tree, Path(scenario.path) if scenario.path else None, models)


def _effects(
    method: Method,
    factors: Sequence[Factor],
    shares: np.ndarray,
    values: Sequence[float],
    seed: int,
) -> tuple[Effect, ...]:
    import numpy as np

    problem, results = _problem(len(factors)), np.array(values)
    found: Mapping[str, np.ndarray]
    if np.ptp(results) == 0:
        zeros = np.zeros(len(factors))
        found = dict.fromkeys(("mu_star", "mu_star_conf", "sigma", "S1", "ST", "ST_conf"), zeros)
    elif method is Method.SOBOL:
        from SALib.analyze import sobol

        found = sobol.analyze(problem, results, calc_second_order=False, seed=seed)
    else:
        from SALib.analyze import morris

        levels = (shares * _LEVELS - 0.5) / (_LEVELS - 1)
        found = morris.analyze(problem, levels, results, num_levels=_LEVELS, seed=seed)
    sobols = method is Method.SOBOL
    each = [
        Effect(
            factor,
            float(found["ST" if sobols else "mu_star"][at]),
            float(found["ST_conf" if sobols else "mu_star_conf"][at]),
            None if sobols else float(found["sigma"][at]),
            float(found["S1"][at]) if sobols else None,
        )
        for at, factor in enumerate(factors)
    ]
    return tuple(sorted(each, key=lambda one: -one.effect))
