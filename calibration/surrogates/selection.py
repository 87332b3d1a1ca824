"""Which law a measurement has: every form predicts points that it has not seen.

Points are left out one by one, or in a dozen parts where there are many; those of one load go
together. A form's error is the mean of the absolute logarithms of predicted over measured rates.
Forms are laws with few numbers, and tables: a law with what it leaves kriged. The form with the
least error is taken, but a simpler one if the difference is less than its standard error, and a law
before a table. A bootstrap over points says in what share of them no other family is better.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

import numpy as np

from raidlab.calibration.surrogates.kriging import Field, krige
from raidlab.calibration.surrogates.laws import (
    FittedLaw,
    HostTimes,
    Law,
    LinesLaw,
    ServerLaw,
    fit_law,
)
from raidlab.calibration.surrogates.loads import Array, Loads, Measured

_SINGLY: Final = 20
"""Points up to which each is left out by itself."""
_PARTS: Final = 8
_LARGEST_ERROR: Final = math.log(4.0)
"""Errors beyond a factor of 4 count as that."""
_DRAWS: Final = 400
_NO_DIFFERENCE: Final = 0.01
"""Difference of errors that is none: a percent of a rate."""
_AS_WELL: Final = 1.1
"""Ratio of two errors up to which a form predicts as well as another."""
_FEWEST: Final = 4
"""Points below which nothing can be left out."""
NO_LAW_PCT: Final = 25.0
"""Median error of the best law on points left out beyond which it explains nothing."""


class Family(StrEnum):
    """What a form says of a device."""

    LINES = "lines"
    SERVER = "server"
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
class Scored:
    """A form, and how it predicts what it has not seen."""

    form: Form
    predictor: Predictor
    """Fitted to all points."""
    left_out: Array = field(repr=False)
    """Logarithms of predicted over measured rates of points left out, shape (points,)."""

    @property
    def error(self) -> float:
        """Mean absolute logarithm; infinite where nothing could be left out."""
        return float(_bounded(self.left_out).mean()) if len(self.left_out) else math.inf

    @property
    def median_pct(self) -> float:
        """Median error of a rate in percent."""
        return _percent(self.left_out, 50.0)

    @property
    def p90_pct(self) -> float:
        """Error of a rate in percent that nine points of ten are within."""
        return _percent(self.left_out, 90.0)

    def to_dict(self) -> dict[str, Any]:
        """An entry of the document."""
        return {
            "form": self.form.name,
            "family": self.form.family.value,
            "numbers": None if self.form.table else self.form.numbers,
            "median_abs_error_pct": self.median_pct if len(self.left_out) else None,
            "p90_abs_error_pct": self.p90_pct if len(self.left_out) else None,
        }


@dataclass(frozen=True)
class Selection:
    """Every form with its score, the best first, and the one that was taken."""

    scored: tuple[Scored, ...]
    chosen: Scored
    confidence: float
    """Share of bootstrap samples in which no other family predicts clearly better."""

    @property
    def best_law(self) -> Scored:
        """The best form that is no table and no lines."""
        laws = [
            each for each in self.scored if each.form.family not in (Family.LINES, Family.TABLE)
        ]
        return min(laws, key=lambda each: each.error)

    @property
    def best_device_law(self) -> Scored:
        """The best law that a device can have: with one server, or several, for all jobs."""
        apart = (Family.LINES, Family.TABLE, Family.SERVER_PER_JOB)
        laws = [each for each in self.scored if each.form.family not in apart]
        return min(laws, key=lambda each: (each.error, each.form.numbers))

    @property
    def best_table(self) -> Scored:
        """The best table."""
        tables = [each for each in self.scored if each.form.table]
        return min(tables, key=lambda each: each.error)

    @property
    def lines(self) -> Scored:
        """The ruler."""
        return next(each for each in self.scored if each.form.family is Family.LINES)

    @property
    def no_law(self) -> bool:
        """True if no law explains the data: the table is the answer."""
        return self.chosen.form.table or self.best_law.median_pct > NO_LAW_PCT

    def to_dict(self) -> dict[str, Any]:
        """The document's part: forms by their error on points left out, the best first."""
        return {
            "chosen": self.chosen.form.name,
            "confidence": self.confidence,
            "no_law": self.no_law,
            "forms": [each.to_dict() for each in self.scored],
        }

    def said(self) -> str:
        """In a sentence."""
        law, chosen = self.best_law, self.chosen
        if not len(chosen.left_out):
            return f"{chosen.form.name}: too few points to leave any out, so nobody knows how good"
        errors = f"{chosen.median_pct:.0f} % in the median, {chosen.p90_pct:.0f} % in nine in ten"
        text = f"{chosen.form.name}: {errors} off on points left out; sure to {self.confidence:.0%}"
        if self.no_law and chosen.form.table:
            text = f"no law, use the table ({law.form.name} is {law.median_pct:.0f} % off): {text}"
        return text


def forms(host: HostTimes, loads: Loads) -> Iterator[Form]:
    """The laws that are tried: what no load shows is in none of them.

    Args:
        host: CPU time of an I/O, as measured.
        loads: That were measured.
    """
    sequential = bool(loads.sequential.any() and not loads.sequential.all())
    jobs = len(set(loads.jobs)) > 1
    yield Form(Family.LINES, LinesLaw.over(loads))
    for continued in (False, True) if sequential else (False,):
        for spread in (1.0, 0.0):
            yield Form(Family.SERVER, ServerLaw(spread, continued=continued, host=host))
        yield Form(Family.CAPS, ServerLaw(0.0, capped=True, continued=continued, host=host))
        if jobs:
            law = ServerLaw(1.0, each_job=True, continued=continued, host=host)
            yield Form(Family.SERVER_PER_JOB, law)


def select(seen: Measured, host: HostTimes | None = None) -> Selection:
    """Tries all forms on points left out, and takes one.

    Args:
        seen: What was measured.
        host: CPU time of an I/O, as measured; none if it is not known.
    """
    parts = _parts(seen.loads)
    tried: list[Scored] = []
    for form in forms(host or HostTimes(), seen.loads):
        tried += _score(form, seen, parts)
    ordered = sorted(tried, key=lambda each: each.error)
    chosen = _taken(tried)
    return Selection(tuple(ordered), chosen, _confidence(ordered, chosen))


def _score(form: Form, seen: Measured, parts: Sequence[Sequence[int]]) -> list[Scored]:
    """A law and the table over it, each fitted without each part and asked for it."""
    whole = fit_law(form.law, seen)
    by_law, by_table = np.zeros(len(seen)), np.zeros(len(seen))
    for part in parts:
        others = [index for index in range(len(seen)) if index not in set(part)]
        without = fit_law(form.law, seen.take(others), (whole.numbers,), starts=0)
        of = seen.take(part)
        by_law[part] = np.log(without.rates(of.loads) / of.rate)
        field_of = krige(without, seen.take(others))
        by_table[part] = np.log(field_of.rates(of.loads) / of.rate)
    if not parts:
        by_law = by_table = np.zeros(0)
    table = Form(Family.TABLE, form.law, table=True)
    return [
        Scored(form, Predictor(form, whole), by_law),
        Scored(table, Predictor(table, whole, krige(whole, seen)), by_table),
    ]


def _taken(tried: Sequence[Scored]) -> Scored:
    """The simplest of those that are not clearly worse than the best.

    Lines are no device, nor is a server for each job one. Of laws with as many numbers one with
    exponential times is taken unless constant ones are clearly better: times do vary.
    """
    none = (Family.LINES, Family.SERVER_PER_JOB)
    laws = [each for each in tried if each.form.family not in none]
    if not len(laws[0].left_out):
        return min(laws, key=lambda each: each.form.numbers)
    best = min(laws, key=lambda each: each.error)

    def clearly_worse(each: Scored) -> bool:
        more = _bounded(each.left_out) - _bounded(best.left_out)
        apart = float(more.std()) / math.sqrt(len(more))
        return float(more.mean()) > max(apart, _NO_DIFFERENCE)

    near = [each for each in laws if not clearly_worse(each)]
    fewest = min(each.form.numbers for each in near)
    same = [each for each in near if each.form.numbers == fewest]
    least = min(each.error for each in same)
    return next(each for each in same if each.error <= _AS_WELL * least)


def _confidence(scored: Sequence[Scored], chosen: Scored) -> float:
    """Share of bootstrap samples of the points in which no other family is clearly better."""
    count = len(chosen.left_out)
    if not count:
        return 0.0
    draws = np.random.default_rng(1).integers(0, count, (_DRAWS, count))
    others = [each for each in scored if each.form.family is not chosen.form.family]
    errors = [_bounded(each.left_out)[draws].mean(axis=1) for each in others]
    own = _bounded(chosen.left_out)[draws].mean(axis=1)
    return float(np.mean(own <= _AS_WELL * np.min(errors, axis=0)))


def _parts(loads: Loads) -> list[list[int]]:
    """Points to leave out together; none if there are too few."""
    groups: dict[tuple[float, ...], list[int]] = {}
    for index in range(len(loads)):
        load = (
            loads.read_share[index].round(2), loads.block[index], loads.depth[index],
            loads.jobs[index], loads.sequential[index],
        )  # fmt: skip
        groups.setdefault(tuple(map(float, load)), []).append(index)
    found = list(groups.values())
    if len(found) < _FEWEST:
        return []
    if len(found) <= _SINGLY:
        return found
    order = np.random.default_rng(1).permutation(len(found))
    dealt = [order[part::_PARTS] for part in range(_PARTS)]
    return [[index for at in of for index in found[at]] for of in dealt]


def _bounded(errors: Array) -> Array:
    return np.minimum(np.abs(errors), _LARGEST_ERROR)


def _percent(errors: Array, rank: float) -> float:
    """A percentile of the errors of rates, in percent; not a number where there are none."""
    if not len(errors):
        return math.nan
    return float(np.percentile(100.0 * np.abs(np.expm1(errors)), rank))
