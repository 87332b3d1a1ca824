"""`[[pause]]` of a fitted drive: what the tails of its own measurement say, instead of a prior.

Each load with few I/Os in flight whose file has bins, or percentiles far out, gives one kind of
pauses. Beyond a wait t nothing but pauses is left, m of them within the time T of the load, and
they are exponential. With n I/Os in flight each pause makes n wait. So

    bins           l = mean of (wait - t)           the most likely length of m exponential ones
    percentiles    l = (longest wait - t) / H       H = 1 + 1/2 + ... + 1/m, the mean of the longest
    rate           m / (n T) exp(t / l)             pauses a second, however short

The drive gets the kind in the middle of its loads. Errors are those of a median: with s the
standard deviation of the logarithms over k loads, 1.25 s / sqrt(k). A load alone does not say how
far others are: s is then that between the loads of the drives which the prior comes from.

Fits of rates do not need it: pauses take some tenths of a percent of the time.
docs/explanation/pauses.md
"""

from __future__ import annotations

import copy
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import exp, log, sqrt
from typing import Final

from raidlab.calibration.fitting.estimation.model import FitModel
from raidlab.calibration.fitting.estimation.pauses import (
    LEAST_US,
    MOST_IN_FLIGHT,
    PAUSES_ALONE,
    Kind,
    typical,
)
from raidlab.calibration.measurements.measurement import Point, Side
from raidlab.devices.datasheet.draft import quantity
from raidlab.devices.trees import Tree, Value

_OF_MEDIAN: Final = 1.2533
"""Standard error of a median over that of a mean: the square root of half of pi."""
_MOST_SHARE: Final = 0.1
"""Of the time that pauses can take: what comes more often is how the drive always works."""
_LEAST_EVENTS: Final = 5
"""I/Os beyond the wait that a load needs at least to say anything."""
_BETWEEN_LOADS: Final = 1.3
"""Standard deviation of the logarithm of lengths between loads: 0.12 to 3.4 ms are the inner 80 %
of 60 loads on SATA drives, ln(3.4 / 0.12) / 2.563."""


@dataclass(frozen=True)
class MeasuredPauses:
    """The pauses of a drive as its tails have them."""

    kind: Kind
    loads: int
    """Loads that say something of them."""
    every_error: float
    """Relative standard errors."""
    length_error: float

    def said(self) -> str:
        """In words."""
        return (
            f"pauses: {self.kind.per_s:.3g} a second of {self.kind.length_us:.3g} us on average,"
            f" from the tails of {self.loads} load{'s' if self.loads > 1 else ''}"
        )

    def to_dict(self) -> dict[str, float | int]:
        """Of `raidlab calibrate --json`."""
        return {
            "per_s": self.kind.per_s,
            "length_us": self.kind.length_us,
            "every_us": self.kind.every_us,
            "every_error": self.every_error,
            "length_error": self.length_error,
            "loads": self.loads,
        }

    def model(self, model: FitModel) -> FitModel:
        """A copy of a model whose device pauses so, instead of as its file said."""
        found = copy.copy(model)
        found.tree = {
            **model.tree,
            "pause": [self.table()],
        }
        return found

    def table(self) -> dict[str, str]:
        """The `[[pause]]` of a device's file."""
        kind = self.kind
        return {"every": quantity(kind.every_us, "us"), "length": quantity(kind.length_us, "us")}

    def sources(self, base: Mapping[str, Value], measured: str) -> Tree:
        """Sources of a device's file with those of its pauses.

        Args:
            base: Those of everything else; what they say of other pauses is left out.
            measured: Name of the measurement.
        """
        note = f"from the tails of {self.loads} loads"
        own = {
            "every": self.kind.every_us * self.every_error,
            "length": self.kind.length_us * self.length_error,
        }
        kept = {key: value for key, value in base.items() if not key.startswith("pause.")}
        return kept | {
            f"pause.0.{key}": {
                "source": "fitted",
                "stderr": quantity(error, "us"),
                "measurement": measured,
                "note": note,
            }
            for key, error in own.items()
        }


def measured_pauses(points: Sequence[Point]) -> MeasuredPauses | None:
    """What the tails of a drive's loads say of its pauses; None if they say nothing.

    Args:
        points: Those that a fit may see.
    """
    kinds = [kind for point in points for kind in _kinds(point)]
    middle = typical(kinds)
    if middle is None:
        return None
    every = _error([kind.every_us for kind in kinds])
    length = _error([kind.length_us for kind in kinds])
    return MeasuredPauses(middle, len(kinds), every, length)


def _kinds(point: Point) -> Iterator[Kind]:
    """The pauses that each direction of a load shows, if it has few I/Os in flight."""
    in_flight = point.iodepth * point.numjobs
    if in_flight > MOST_IN_FLIGHT:
        return
    for side in (point.read, point.write):
        found = None if side is None or not side.iops else _beyond(side)
        if side is not None and found is not None:
            wait, events, length = found
            seconds = side.ios / side.iops
            if length < LEAST_US:
                continue
            kind = Kind(events / (in_flight * seconds) * exp(wait / length), length)
            if kind.per_s * kind.length_us < _MOST_SHARE * 1e6:
                yield kind


def _beyond(side: Side) -> tuple[float, float, float] | None:
    """A wait beyond which pauses alone are left, I/Os that waited longer, mean length; in us."""
    latency = side.completion
    most = side.ios * PAUSES_ALONE
    if latency.bins_ns:
        bins = [(at / 1e3 - side.latency_mean_us, count) for at, count in latency.bins_ns]
        left = sum(count for _, count in bins)
        for wait, count in bins:
            left -= count
            if left <= most and wait > LEAST_US:
                rest = sum((at - wait) * each for at, each in bins if at > wait)
                return (wait, left, rest / left) if left >= _LEAST_EVENTS else None
        return None
    for key, at in sorted(latency.percentiles_us.items(), key=lambda each: float(each[0])):
        beyond, wait = 1 - float(key) / 100, at - side.latency_mean_us
        events = side.ios * beyond
        if beyond < PAUSES_ALONE * (1 + 1e-6) and wait > LEAST_US and events >= _LEAST_EVENTS:
            harmonic = sum(1 / each for each in range(1, round(events) + 1))
            longest = latency.max_us - side.latency_mean_us
            return (wait, events, (longest - wait) / harmonic) if longest > wait else None
    return None


def _error(values: Sequence[float]) -> float:
    """Relative standard error of the median of several."""
    logs = [log(value) for value in values]
    spread = statistics.stdev(logs) if len(logs) > 1 else _BETWEEN_LOADS
    return _OF_MEDIAN * spread / sqrt(len(logs)) if len(logs) > 1 else spread
