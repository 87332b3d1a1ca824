"""Uncertainty carried on: devices drawn from what a fit leaves open, and rates with intervals.

Near its best place the posterior of a fit is taken as normal, with the errors and correlations that
the fit gives, cut off at the bounds. What was chosen from steps (the speed of a disk, the dies of
an SSD, a scheduler) may have been another option: one that meets the points about as well is drawn,
too, where its own search has ended. An option whose loss is higher by d than that of the one taken
has the weight exp(-d / 2) beside 1 (Akaike weights: Burnham and Anderson, Model Selection and
Multimodel Inference, 2002, 2.9).

**Example.** A rival whose loss is 1.4 higher: exp(-0.7) = 0.5, so a third of the devices are its.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypedDict

import numpy as np
import numpy.typing as npt

from raidlab.calibration.fitting.bench.bench import Bench, Effort
from raidlab.calibration.fitting.estimation.model import FitModel
from raidlab.calibration.fitting.report.calibration import Calibration
from raidlab.calibration.measurements.measurement import Point
from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.trees import Value, copied, put

Array = npt.NDArray[np.float64]
_WIDEST_DEVIATION: Final = 0.3
"""Deviation in units of the range: what is not determined at all is drawn from all of it."""
_MORE: Final = 16
"""Places drawn for each that is wanted: some make no device, such as a disk whose seeks would get
shorter with the distance."""
_TRIAL_EFFORT = Effort(ios=100, ios_of_slow=100, rounds=1.0)
_EFFORT = Effort(ios=4000, ios_of_slow=2500, rounds=10.0)


def places(result: Calibration, count: int, seed: int = 1) -> Array:
    """Places of the unit cube drawn from the posterior, shape (count, parameters)."""
    found = result.fit
    errors = np.minimum(found.errors, _WIDEST_DEVIATION)
    covariance = found.correlations * np.outer(errors, errors)
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    normal = np.random.default_rng([seed, 0x706F]).standard_normal((count, len(found.place)))
    return np.asarray(np.clip(found.place + normal @ root.T, 0.0, 1.0))


@dataclass(frozen=True)
class Rival:
    """What may have been measured besides: a model under another option, and where it lies."""

    values: Mapping[str, Value]
    """The option's, by key of the device file."""
    model: FitModel
    place: Array
    weight: float
    """Beside 1 of what was taken; at most that, as the more usual option was preferred."""
    of: tuple[int, ...]
    """Its parameters, by their index among those of the fit: an option may set others."""


def rivals(result: Calibration) -> list[Rival]:
    """For each option that meets the points about as well its model and its weight."""
    of, found = result.model, []
    for near in (each for decision in result.decisions for each in decision.near):
        values = near.option.values
        tree = copied(of.tree)
        for key, value in values.items():
            put(tree, key, value)
        kept = tuple(at for at, one in enumerate(of.parameters) if one.key not in values)
        own = [of.parameters[at] for at in kept]
        model = FitModel(tree, of.host, own, of.ties, of.known, of.fixed, of.stand)
        place = [
            near.places.get(parameter.key, float(result.fit.place[at]))
            for parameter, at in zip(own, kept, strict=True)
        ]
        weight = math.exp(-0.5 * max(0.0, near.above))
        found.append(Rival(values, model, np.array(place), weight, kept))
    return found


def _drawn(result: Calibration, count: int) -> Iterator[tuple[FitModel, Array, Bench]]:
    """Drawn places that make a device, with its model and its bench, `count` of them.

    Raises:
        SpecError: Too few of those that were drawn make one.
    """
    point, found = result.rows[0].point, 0
    every = tuple(range(len(result.fit.place)))
    taken = Rival({}, result.model, result.fit.place, 1.0, every)
    of = [taken, *rivals(result)]
    weights = np.array([each.weight for each in of])
    random = np.random.default_rng([result.settings.seed, 0x7269])
    chosen = random.choice(len(of), _MORE * count, p=weights / weights.sum())
    for drawn, at in zip(places(result, _MORE * count, result.settings.seed), chosen, strict=True):
        model, kept = of[at].model, list(of[at].of)
        place = np.clip(of[at].place + (drawn - result.fit.place)[kept], 0.0, 1.0)
        try:
            bench = model.bench(place)
            bench.run(point, _TRIAL_EFFORT)
        except SpecError:
            continue
        yield model, place, bench
        found += 1
        if found == count:
            return
    allowed = f"fewer: {found} of {_MORE * count} that were drawn make a device at all"
    raise SpecError([Fault("--posterior", count, allowed)])


def device_files(result: Calibration, count: int) -> list[str]:
    """Device files drawn from the posterior, each as the fitted one, by name numbered from 1.

    Raises:
        SpecError: Hardly any drawn place makes a device.
    """
    texts: list[str] = []
    for number, (model, place, _) in enumerate(_drawn(result, count), 1):
        tree, _, _ = model.files(place)
        tree["name"] = f"{tree['name']}-{number:03}"
        texts.append(result.to_toml(tree))
    return texts


def intervals(
    result: Calibration, points: Sequence[Point], count: int, workers: int = 1
) -> list[tuple[float, float]]:
    """For each point the rates between which 95 % of the drawn devices lie.

    The simulation's own scatter is in them.

    Raises:
        SpecError: Hardly any drawn place makes a device.
    """
    rates: list[list[float]] = []
    for number, (*_, bench) in enumerate(_drawn(result, count), 1):
        effort = replace(_EFFORT, seed=number)
        rates.append([one.iops for one in bench.run_all(points, effort, workers)])
    low, high = np.percentile(np.array(rates), [2.5, 97.5], axis=0)
    return [(float(a), float(b)) for a, b in zip(low, high, strict=True)]


class DrawnPoint(TypedDict):
    """A point, and the rates between which 95 % of drawn devices lie."""

    rw: str
    bs: int
    iodepth: int
    numjobs: int
    part: str
    measured_iops: float
    simulated_iops: float
    iops_low: float
    iops_high: float


class DrawnRival(TypedDict):
    """An option that may have been measured, and its weight beside 1 of what was taken."""

    values: dict[str, Value]
    weight: float


class Posterior(TypedDict):
    """Rates of drawn devices."""

    draws: int
    rivals: list[DrawnRival]
    points: list[DrawnPoint]
    share_inside: float


def document(result: Calibration, count: int, workers: int = 1) -> Posterior:
    """The part `posterior` of `raidlab calibrate --json`."""
    points = [row.point for row in result.rows]
    found = intervals(result, points, count, workers)
    rows: list[DrawnPoint] = [
        {
            "rw": row.point.rw,
            "bs": row.point.bs,
            "iodepth": row.point.iodepth,
            "numjobs": row.point.numjobs,
            "part": row.part,
            "measured_iops": row.point.iops,
            "simulated_iops": row.simulated.iops,
            "iops_low": low,
            "iops_high": high,
        }
        for row, (low, high) in zip(result.rows, found, strict=True)
    ]
    inside = sum(
        low <= point.iops <= high for point, (low, high) in zip(points, found, strict=True)
    )
    return {
        "draws": count,
        "rivals": [{"values": dict(o.values), "weight": o.weight} for o in rivals(result)],
        "points": rows,
        "share_inside": inside / len(rows),
    }
