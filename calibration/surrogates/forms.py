"""Forms: the ways to predict a rate that a selection tries, and what they come to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from raidlab.calibration.measurements.measurement import MovedBy
from raidlab.calibration.surrogates.kriging import Field
from raidlab.calibration.surrogates.laws import (
    CACHE_BYTES,
    FittedLaw,
    HostTimes,
    Law,
    LinesLaw,
    ServerLaw,
)
from raidlab.calibration.surrogates.loads import Array, Loads


class Family(StrEnum):
    """What a form says of a device."""

    LINES = "lines"
    SERVER = "server"
    SERVER_CACHED = "server and CPU cache"
    SERVER_APART = "server per direction"
    SERVER_PER_JOB = "server per job"
    CAPS = "caps"
    TABLE = "table"


@dataclass(frozen=True)
class Form:
    """A way to predict rates."""

    family: Family
    law: Law
    table: bool = False
    """True if what the law leaves is kriged."""

    @property
    def name(self) -> str:
        """In messages and documents."""
        return f"table over {self.law.name}" if self.table else self.law.name

    @property
    def numbers(self) -> int:
        """How many it has; a table has more than any law."""
        return len(self.law.names) + (100 if self.table else 0)

    @property
    def device(self) -> bool:
        """True if a virtual disk can be like this: with servers for all jobs."""
        none = (Family.LINES, Family.TABLE, Family.SERVER_PER_JOB)
        return self.family not in none


@dataclass(frozen=True)
class Predictor:
    """A form with its numbers."""

    form: Form
    fitted: FittedLaw
    residual: Field | None = None

    def rates(self, loads: Loads) -> Array:
        """I/Os a second, shape (loads,)."""
        return self.fitted.rates(loads) if self.residual is None else self.residual.rates(loads)


@dataclass(frozen=True)
class Blend:
    """Several forms, whose logarithms of a rate are averaged (`stacking`)."""

    members: tuple[tuple[Predictor, float], ...]
    """With their weights, the greatest first, whose sum is 1."""

    @property
    def name(self) -> str:
        """In messages and documents."""
        return ", ".join(f"{weight:.0%} {each.form.name}" for each, weight in self.members)

    def rates(self, loads: Loads) -> Array:
        """I/Os a second, shape (loads,)."""
        logs = [weight * np.log(each.rates(loads)) for each, weight in self.members]
        found: Array = np.exp(np.sum(logs, axis=0))
        return found


def blend(predictors: Sequence[Predictor], weights: Sequence[float], least: float = 0.02) -> Blend:
    """The predictors whose weights count, with these."""
    kept = sorted(
        ((float(weight), at) for at, weight in enumerate(weights) if weight >= least),
        key=lambda each: (-each[0], each[1]),
    )
    total = sum(weight for weight, _ in kept)
    return Blend(tuple((predictors[at], weight / total) for weight, at in kept))


def forms(host: HostTimes, loads: Loads, moved_by: MovedBy = MovedBy.DEVICE) -> Iterator[Form]:
    """The laws that are tried: what no load shows is in none of them.

    Args:
        host: CPU time of an I/O, as measured.
        loads: That were measured.
        moved_by: Who moves the bytes: nobody caps what a CPU copies, and both directions are
            copied by the same threads.
    """
    copied = moved_by is not MovedBy.DEVICE
    flight, sizes = loads.block * loads.outstanding, len(set(loads.block)) > 1
    sequential = bool(loads.sequential.any() and not loads.sequential.all())
    jobs = len(set(loads.jobs)) > 1
    mixed = bool(((loads.read_share > 0.0) & (loads.read_share < 1.0)).any())
    yield Form(Family.LINES, LinesLaw.over(loads))
    for continued in (False, True) if sequential else (False,):
        for spread in (1.0, 0.0):
            yield Form(Family.SERVER, ServerLaw(spread, continued=continued, host=host))
        if sizes and flight.min() < CACHE_BYTES < flight.max():
            law = ServerLaw(1.0, cached=True, continued=continued, host=host)
            yield Form(Family.SERVER_CACHED, law)
        if not copied:
            yield Form(Family.CAPS, ServerLaw(0.0, capped=True, continued=continued, host=host))
        if mixed and not copied:
            apart = ServerLaw(0.0, apart=True, capped=True, continued=continued, host=host)
            yield Form(Family.SERVER_APART, apart)
        if jobs:
            law = ServerLaw(1.0, each_job=True, continued=continued, host=host)
            yield Form(Family.SERVER_PER_JOB, law)
