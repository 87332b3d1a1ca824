"""Which points of a measurement a fit sees, and which it is judged by alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from raidlab.calibration.fitting.bench.bench import FINAL, Bench
from raidlab.calibration.fitting.comparison.compare import Compared, compare
from raidlab.calibration.fitting.points.training_split import missing, split
from raidlab.calibration.measurements.measurement import Measurement, Point
from raidlab.calibration.measurements.sanity import possible, too_little


@dataclass(frozen=True)
class Seen:
    """The points of a measurement that can be: those that a fit sees, and the others."""

    measurement: Measurement
    """Without points that cannot be."""
    chosen: list[int]
    """Points that the fit sees, by index."""
    others: list[int]
    warnings: list[str]

    @property
    def points(self) -> list[Point]:
        """Those that the fit sees."""
        return [self.measurement.points[index] for index in self.chosen]

    @property
    def every(self) -> list[Point]:
        """Those that the fit sees, then the others."""
        return self.points + [self.measurement.points[index] for index in self.others]

    def compared(self, bench: Bench, workers: int) -> list[Compared]:
        """Every point beside the simulated one, in the order of `every`."""
        parts = ["train"] * len(self.chosen) + ["test"] * len(self.others)
        return compare(bench, self.every, FINAL, parts=parts, workers=workers)


def seen_of(
    measurement: Measurement,
    wanted: str,
    *,
    over_time: bool = False,
    train: Sequence[int] | None = None,
) -> Seen:
    """Divides a measurement.

    Args:
        measurement: What was measured.
        wanted: The selection of `--train`.
        over_time: True if rates over time are kept.
        train: Points that the fit may see, by index, if all points can be; those of `wanted` if
            None.

    Raises:
        SpecError: The selection cannot be understood, or no point fits it.
    """
    usable, doubts = possible(measurement)
    if not over_time:
        usable = [point.model_copy(update={"timeline": ()}) for point in usable]
    chosen, others = split(usable, wanted)
    if train is not None and len(usable) == len(measurement.points):
        chosen = list(train)
        others = [index for index in range(len(usable)) if index not in set(chosen)]
    warnings = doubts + missing(usable, wanted)
    warnings += too_little([usable[index] for index in chosen])
    kept = measurement.model_copy(update={"points": tuple(usable)})
    return Seen(kept, chosen, others, warnings)
