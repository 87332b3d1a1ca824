"""Which law a measurement has: every form predicts points that it has not seen.

Points are left out one by one, or in a dozen parts where there are many; those of one load go
together. A form's error is the mean of the absolute logarithms of predicted over measured rates.
Forms are laws with few numbers, tables (a law with what it leaves kriged), and the average of all
by weights that make its error on points left out least (`stacking`). The simplest law that a device
can have is taken if it predicts as well as the average, on average and in nine in ten; else a
table of the average. A bootstrap over points says in what share of them no other family is better.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from raidlab.calibration.measurements.measurement import MovedBy
from raidlab.calibration.surrogates.forms import (
    Blend,
    Family,
    Form,
    Predictor,
    blend,
    forms,
)
from raidlab.calibration.surrogates.kriging import krige
from raidlab.calibration.surrogates.laws import FittedLaw, HostTimes, fit_law
from raidlab.calibration.surrogates.left_out import (
    AS_WELL,
    LARGEST_ERROR,
    NO_DIFFERENCE,
    bounded,
    confidence,
    dealt,
)
from raidlab.calibration.surrogates.loads import Array, Loads, Measured
from raidlab.calibration.surrogates.stacking import left_out_of, weights_of
from raidlab.devices.trees import Document

Flags = npt.NDArray[np.bool_]
_SINGLY: Final = 20
"""Points up to which each is left out by itself."""
_PARTS: Final = 8
_NINTH_AS_WELL: Final = 1.25
"""As `AS_WELL`, of what nine in ten are within, which few points decide."""
_FEWEST: Final = 4
"""Points below which nothing can be left out."""
_DIGITS: Final = 3
"""Of errors, as shares, that make a difference between two forms."""
_MOST_OPEN: Final = 0.34
"""Share of the points that a form may leave open."""
_TABLES: Final = 3
"""Laws besides lines whose residuals are kriged, the best ones: the others are further off."""


@dataclass(frozen=True)
class Scored:
    """A form, and how it predicts what it has not seen."""

    form: Form
    predictor: Predictor
    """Fitted to all points."""
    left_out: Array = field(repr=False)
    """Logarithms of predicted over measured rates of points left out, shape (points,)."""
    without: tuple[FittedLaw, ...] = field(default=(), repr=False)
    """The law without each part."""
    known: Flags = field(default_factory=lambda: np.zeros(0, dtype=np.bool_), repr=False)
    """Of each point, whether the others determine what the law says of it."""
    comparable: Array = field(default_factory=lambda: np.zeros(0), repr=False)
    """As `left_out`, for comparisons: the best form's where other points leave this one open."""

    @property
    def error(self) -> float:
        """Mean absolute logarithm; infinite where nothing could be left out."""
        return error_of(self.left_out)

    @property
    def determined(self) -> Flags:
        """The points that others do not leave open to it."""
        found: Flags = self.comparable == self.left_out
        return found

    @property
    def rank(self) -> float:
        """By which forms are compared: as `error`, of points that the others determine."""
        return round(error_of(self.comparable), _DIGITS) if len(self.comparable) else math.inf

    @property
    def median_pct(self) -> float:
        """Median error of a rate in percent."""
        return percent_of(self.left_out, 50.0)

    @property
    def p90_pct(self) -> float:
        """Error of a rate in percent that nine points of ten are within."""
        return percent_of(self.left_out, 90.0)

    def to_dict(self) -> Document:
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
    """Every form with its score, the best first, the average of all, and what was taken."""

    scored: tuple[Scored, ...]
    average: Blend
    average_left_out: Array = field(repr=False)
    """Errors of the average at points that its weights did not see, shape (points,)."""
    chosen: Scored | None
    """The law of a device; None where the table of the average is nearer."""
    confidence: float
    """Share of bootstrap samples in which no other family predicts clearly better."""

    @property
    def best_law(self) -> Scored:
        """The best form that is no table and no lines."""
        none = (Family.LINES, Family.TABLE)
        laws = [each for each in self.scored if each.form.family not in none]
        return min(laws, key=lambda each: each.rank)

    @property
    def best_device_law(self) -> Scored:
        """The best law that a device can have: with one server, or several, for all jobs."""
        laws = [each for each in self.scored if each.form.device]
        return min(laws, key=lambda each: (each.rank, each.form.numbers))

    @property
    def best_table(self) -> Scored:
        """The best table."""
        tables = [each for each in self.scored if each.form.table]
        return min(tables, key=lambda each: each.rank)

    @property
    def lines(self) -> Scored:
        """The ruler."""
        return next(each for each in self.scored if each.form.family is Family.LINES)

    @property
    def no_law(self) -> bool:
        """True if no law is as near as the average of all forms: the table is the answer."""
        return self.chosen is None

    @property
    def left_out(self) -> Array:
        """Logarithms of predicted over measured rates of what was taken, shape (points,)."""
        return self.average_left_out if self.chosen is None else self.chosen.left_out

    @property
    def error(self) -> float:
        """Mean absolute logarithm of what was taken, at points left out."""
        return error_of(self.left_out)

    @property
    def name(self) -> str:
        """Of what was taken."""
        return self.average.name if self.chosen is None else self.chosen.form.name

    def to_dict(self) -> Document:
        """The document's part: forms by their error on points left out, the best first."""
        known = bool(len(self.average_left_out))
        return {
            "chosen": self.name,
            "confidence": self.confidence,
            "no_law": self.no_law,
            "forms": [each.to_dict() for each in self.scored],
            "average": {
                "weights": {each.form.name: weight for each, weight in self.average.members},
                "median_abs_error_pct": percent_of(self.average_left_out, 50.0) if known else None,
                "p90_abs_error_pct": percent_of(self.average_left_out, 90.0) if known else None,
            },
        }

    def said(self) -> str:
        """In a sentence."""
        if not len(self.left_out):
            return f"{self.name}: too few points to leave any out, so nobody knows how good"
        median, ninth = (percent_of(self.left_out, rank) for rank in (50.0, 90.0))
        errors = f"{median:.0f} % in the median, {ninth:.0f} % in nine in ten"
        text = f"{self.name}: {errors} off on points left out; sure to {self.confidence:.0%}"
        if self.no_law:
            law = self.best_law
            text = f"no law, use the table ({law.form.name} is {law.median_pct:.0f} % off): {text}"
        return text


def select(
    seen: Measured, host: HostTimes | None = None, moved_by: MovedBy = MovedBy.DEVICE
) -> Selection:
    """Tries all forms on points left out, and takes one.

    Args:
        seen: What was measured.
        host: CPU time of an I/O, as measured; none if it is not known.
        moved_by: Who moves the bytes. A table has a latency for what all jobs have in flight; where
            each job's thread serves itself, only lines are one.
    """
    host = host or HostTimes()
    key = (seen.key, host, moved_by)
    if key not in _LAST:
        _LAST.clear()
        _LAST[key] = _selected(seen, host, moved_by)
    return _LAST[key]


_LAST: Final[dict[object, Selection]] = {}
"""The last one, by what it was made of: a loop that ends fits what it has looked at."""


def _selected(seen: Measured, host: HostTimes, moved_by: MovedBy) -> Selection:
    parts = _parts(seen.loads)
    open_ = forms(host, seen.loads, moved_by)
    laws = _comparable([_score(form, seen, parts) for form in open_])
    ordered = sorted(laws, key=lambda each: each.rank)
    tables = 0 if moved_by is MovedBy.ISSUER else _TABLES
    tabled = [each for each in ordered if each.form.family is not Family.LINES][:tables]
    tabled += [each for each in laws if each.form.family is Family.LINES]
    tried = _comparable([*laws, *(_tabled(each, seen, parts) for each in tabled)])
    if parts:
        errors = np.array([_clipped(each.comparable) for each in tried])
        raw = np.array([_clipped(each.left_out) for each in tried])
        weights, average = weights_of(errors), left_out_of(errors)
        ruler = next(each for each in tried if each.form.family is Family.LINES)
        if not _clearly_nearer(average, ruler.left_out):
            weights = np.array([float(each.form == _ruled(ruler.form)) for each in tried])
            average = weights @ errors
        average_left_out = average + weights @ (raw - errors)
    else:
        fewest = min(each.form.numbers for each in laws if each.form.device)
        weights = np.array([float(e.form.device and e.form.numbers == fewest) for e in tried])
        average = average_left_out = np.zeros(0)
    of = blend([each.predictor for each in tried], weights.tolist())
    ordered = sorted(tried, key=lambda each: each.rank)
    chosen = _taken(tried, average)
    sure = _confidence(ordered, chosen, average)
    return Selection(tuple(ordered), of, average_left_out, chosen, sure)


def _clipped(errors: Array) -> Array:
    found: Array = np.clip(errors, -LARGEST_ERROR, LARGEST_ERROR)
    return found


def _score(form: Form, seen: Measured, parts: Sequence[Sequence[int]]) -> Scored:
    """A law, fitted without each part and asked for it."""
    whole = fit_law(form.law, seen)
    left_out = np.zeros(len(seen) if parts else 0)
    known = np.ones(len(left_out), dtype=np.bool_)
    without = []
    for part in parts:
        fitted = fit_law(form.law, seen.take(_others(part, seen)), (whole.numbers,), starts=0)
        of = seen.take(part)
        left_out[part] = np.log(fitted.rates(of.loads) / of.rate)
        without.append(fitted)
        if form.family is not Family.LINES:
            known[part] = fitted.deviations(of.loads) < LARGEST_ERROR
    return Scored(form, Predictor(form, whole), left_out, tuple(without), known)


def _comparable(tried: Sequence[Scored]) -> list[Scored]:
    """Forms with the nearest one's error at points that the others leave open to them.

    A form of many numbers has some that a single point determines. Without it the rest leaves them
    open, and what the form says of the point is where the search began. **Example.** Caps and a
    latency explain a volume to 1 %. One point of reads has one I/O outstanding; without it any
    latency up to 2.7 ms is as good, and the point is a factor of 5.7 off.
    """
    sizes = np.array([np.where(each.known, bounded(each.left_out), np.inf) for each in tried])
    nearest = np.array([each.left_out for each in tried])[
        sizes.argmin(axis=0), range(sizes.shape[1])
    ]
    found = []
    for each in tried:
        open_ = ~each.known & np.isfinite(sizes.min(axis=0))
        few = np.count_nonzero(open_) <= _MOST_OPEN * len(open_)
        filled = np.where(open_, nearest, each.left_out)
        found.append(replace(each, comparable=filled if few else each.left_out))
    return found


def _tabled(law: Scored, seen: Measured, parts: Sequence[Sequence[int]]) -> Scored:
    """The table over a law, kriged without each part and asked for it."""
    form = Form(Family.TABLE, law.form.law, table=True)
    left_out = np.zeros(len(seen) if parts else 0)
    for part, fitted in zip(parts, law.without, strict=True):
        of = seen.take(part)
        residual = krige(fitted, seen.take(_others(part, seen)))
        left_out[part] = np.log(residual.rates(of.loads) / of.rate)
    predictor = Predictor(form, law.predictor.fitted, krige(law.predictor.fitted, seen))
    return Scored(form, predictor, left_out, known=law.known)


def _ruled(lines: Form) -> Form:
    """The table over lines: what is taken where nothing is clearly nearer than they are."""
    return replace(lines, family=Family.TABLE, table=True)


def _others(part: Sequence[int], seen: Measured) -> list[int]:
    left = set(part)
    return [index for index in range(len(seen)) if index not in left]


def _taken(tried: Sequence[Scored], average: Array) -> Scored | None:
    """The simplest law of a device that is as near as the average of all; None if none is.

    Of laws with as many numbers one with exponential times is taken unless constant ones are
    clearly better: times do vary.
    """
    laws = [each for each in tried if each.form.device]
    if not len(average):
        return min(laws, key=lambda each: each.form.numbers)
    ruler = next(each for each in tried if each.form.family is Family.LINES)
    # What is left open is no reason to take a law that is further off than another.
    first = min(each.rank for each in laws)
    near = [
        each
        for each in laws
        if (each.determined.all() or each.rank <= AS_WELL * first + NO_DIFFERENCE)
        and _as_near(each.left_out[each.determined], average[each.determined])
        and _clearly_nearer(each.comparable, ruler.left_out)
    ]
    if not near:
        return None
    fewest = min(each.form.numbers for each in near)
    same = [each for each in near if each.form.numbers == fewest]
    least = min(each.rank for each in same)
    return next(each for each in same if each.rank <= AS_WELL * least)


def _as_near(errors: Array, others: Array) -> bool:
    """True if errors are about as small, on average and in nine in ten."""
    ninth, of_others = (percent_of(each, 90.0) / 100.0 for each in (errors, others))
    return (
        error_of(errors) <= AS_WELL * error_of(others) + NO_DIFFERENCE
        and ninth <= _NINTH_AS_WELL * of_others + NO_DIFFERENCE
    )


def _clearly_nearer(errors: Array, lines: Array) -> bool:
    """True if errors are smaller than those of lines by a standard error of the difference.

    A law with hardly any error needs no comparison.
    """
    own = bounded(errors)
    gain = bounded(lines) - own
    standard = float(gain.std(ddof=1)) / math.sqrt(len(gain))
    return float(own.mean()) <= NO_DIFFERENCE or float(gain.mean()) > standard


def _confidence(scored: Sequence[Scored], chosen: Scored | None, average: Array) -> float:
    """Share of bootstrap samples of the points in which no other family is clearly better."""
    if not len(average):
        return 0.0
    family = Family.TABLE if chosen is None else chosen.form.family
    others = [bounded(each.comparable) for each in scored if each.form.family is not family]
    return confidence(bounded(average if chosen is None else chosen.comparable), others)


def _parts(loads: Loads) -> list[list[int]]:
    """Points to leave out together; none if there are too few."""
    each = zip(
        loads.read_share.round(2), loads.block, loads.depth, loads.jobs, loads.sequential,
        strict=True,
    )  # fmt: skip
    return dealt((tuple(map(float, load)) for load in each), _PARTS, _FEWEST, _SINGLY)


def error_of(errors: Array) -> float:
    """Mean absolute logarithm; infinite where nothing could be left out."""
    return float(bounded(errors).mean()) if len(errors) else math.inf


def percent_of(errors: Array, rank: float) -> float:
    """A percentile of the errors of rates, in percent; not a number where there are none."""
    if not len(errors):
        return math.nan
    return float(np.percentile(100.0 * np.abs(np.expm1(errors)), rank))
