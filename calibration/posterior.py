"""Uncertainty carried on: devices drawn from what a fit leaves open, and rates with intervals.

Near its best place the posterior of a fit is taken as normal, with the errors and correlations that
the fit tells, cut off at the bounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from raidlab.calibration.bench import Effort
from raidlab.calibration.calibrate import Calibration
from raidlab.calibration.measurement import Point
from raidlab.devices.faults import SpecError

Array = npt.NDArray[np.float64]
_WIDEST = 0.3
"""Deviation in units of the range: what is not determined at all is drawn from all of it."""
_MORE = 4
"""Places drawn for each that is wanted: some make no device."""
_EFFORT = Effort(ios=4000, ios_of_slow=2500, rounds=10.0)


def places(result: Calibration, count: int, seed: int = 1) -> Array:
    """Places of the unit cube drawn from the posterior, shape (count, parameters)."""
    found = result.fit
    errors = np.minimum(found.errors, _WIDEST)
    covariance = found.correlations * np.outer(errors, errors)
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    normal = np.random.default_rng([seed, 0x706F]).standard_normal((count, len(found.place)))
    return np.asarray(np.clip(found.place + normal @ root.T, 0.0, 1.0))


def device_files(result: Calibration, count: int) -> list[str]:
    """Device files drawn from the posterior, each as the fitted one, by name numbered from 1.

    Raises:
        SpecError: Hardly any drawn place makes a device.
    """
    texts: list[str] = []
    for place in places(result, _MORE * count, result.settings.seed):
        try:
            tree, _, _ = result.model.files(place)
            result.model.bench(place)
        except SpecError:
            continue
        tree["name"] = f"{tree['name']}-{len(texts) + 1:03}"
        texts.append(result.to_toml(tree))
        if len(texts) == count:
            break
    return texts


def intervals(
    result: Calibration, points: Sequence[Point], count: int, workers: int = 1
) -> list[tuple[float, float]]:
    """For each point the rates between which 95 % of the drawn devices lie.

    The simulation's own scatter is in them.
    """
    rates: list[list[float]] = []
    for number, place in enumerate(places(result, _MORE * count, result.settings.seed)):
        try:
            bench = result.model.bench(place)
        except SpecError:
            continue
        effort = Effort(
            _EFFORT.ios, _EFFORT.ios_of_slow, _EFFORT.slow_iops, _EFFORT.rounds, seed=number + 1
        )
        rates.append([one.iops for one in bench.run_all(points, effort, workers)])
        if len(rates) == count:
            break
    low, high = np.percentile(np.array(rates), [2.5, 97.5], axis=0)
    return [(float(a), float(b)) for a, b in zip(low, high, strict=True)]


def document(result: Calibration, count: int, workers: int = 1) -> dict[str, Any]:
    """The part `posterior` of `raidlab calibrate --json`."""
    points = [row.point for row in result.rows]
    found = intervals(result, points, count, workers)
    rows = [
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
    return {"draws": count, "points": rows, "share_inside": inside / len(rows)}
