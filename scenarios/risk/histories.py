"""Histories of failures, drawn so that losses of 10^-9 are seen: conditional Monte Carlo.

A history goes from one period of repairs to the next. A period begins with the failure of a drive
of a whole array and ends when all drives are back. Each period is simulated twice:

* *As it is*, which says how the history goes on, and whether it ends because data are lost.
* *Forced*, which estimates the probability that this period loses data. Within each window between
  events a failure is made to happen, with the weight of its probability; the chance that it is one
  too many is added up, not drawn; then one of "a failure that is borne" and "no failure" is
  followed, with the weight that it has.

The sum of the forced estimates over the periods that a history reaches has the probability of a
loss as its mean, whatever the lives and however rare the loss: a period is reached exactly if no
earlier one has lost data. So weights never build up from period to period. Forcing is that of Lewis
and Boehm (1984); estimates by regenerative periods are those of Goyal, Shahabuddin, Heidelberger,
Nicola and Glynn, "A unified framework for simulating Markovian models of highly dependable
systems", IEEE Transactions on Computers, 1992.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from raidlab.scenarios.risk.lifetime import Array, Lifetime
from raidlab.scenarios.risk.redundancy import Redundancy

BATCH = 4_000
"""Histories that are computed together."""
MOST_HISTORIES = 4_000_000
"""Histories at most."""
_LEAST_BATCHES = 5
"""Batches at least."""
_HALVINGS = 48
"""Steps in which an instant is found in its window: to 10^-14 of it."""
_SHARE_AFTER_ONE, _SHARE_AFTER_MORE = 0.5, 0.25
"""Shares in which a further failure is followed: with one drive failed, and with several. Below a
half, so that forced periods end."""
_SHARE_AT_FIRST = 1.0
"""Share for the first window of a period, which ends the period if nothing fails in it."""
_Z95 = 1.959964


@dataclass(frozen=True)
class Batch:
    """Drives that were bought together: with a probability their rates are higher, by a factor."""

    share: float = 0.0
    factor: float = 1.0


@dataclass(frozen=True)
class Model:
    """An array, how its drives fail, and how they are replaced. Times in hours."""

    array: Redundancy
    lifetime: Lifetime
    rebuild_h: float
    mission_h: float
    spares: int = 0
    replace_h: float = 0.0
    """Until a person has replaced a drive, or a spare that was used."""
    exponential_rebuild: bool = False
    """True if times of rebuilds are drawn with `rebuild_h` as their mean."""
    age_h: float = 0.0
    """Of the drives at the beginning."""
    unreadable: float = 0.0
    """Probability of unreadable sectors in a rebuild for which no redundancy is left."""
    batch: Batch = Batch()


@dataclass
class Estimate:
    """What histories have shown."""

    histories: int = 0
    loss: float = 0.0
    error: float = math.inf
    """Standard error of `loss`."""
    by_drives: float = 0.0
    """The part of `loss` that is failures of drives alone."""
    failures_per_year: float = 0.0
    """Of drives, in histories that have lost nothing yet."""
    degraded_h_per_year: float = 0.0

    @property
    def ci95(self) -> tuple[float, float]:
        """The 95 % interval of the loss probability."""
        half = 0.0 if math.isinf(self.error) else _Z95 * self.error
        return max(0.0, self.loss - half), min(1.0, self.loss + half)


@dataclass
class _State:
    """Histories side by side: a row each."""

    now: Array
    age: Array
    factor: Array
    back: Array
    """When each failed drive is whole again; infinite for drives that have not failed."""
    spare: Array
    """When each spare is ready."""

    @property
    def failed(self) -> npt.NDArray[np.bool_]:
        return np.isfinite(self.back)

    def of(self, which: npt.NDArray[np.bool_] | npt.NDArray[np.intp]) -> _State:
        return _State(*(each[which].copy() for each in vars(self).values()))

    def put(self, which: npt.NDArray[np.intp], other: _State) -> None:
        for name, value in vars(other).items():
            vars(self)[name][which] = value


@dataclass
class _Tally:
    """Sums over histories."""

    score: Array
    by_drives: Array
    failures: Array
    degraded_h: Array


def estimate(
    model: Model, *, seed: int = 1, error: float = 0.02, most: int = MOST_HISTORIES
) -> Estimate:
    """The probability that data are lost within the mission.

    Args:
        model: What fails, and how it is repaired.
        seed: Seed of the random numbers: the same gives the same.
        error: Relative standard error at which enough histories were drawn.
        most: Histories at most.
    """
    random = np.random.Generator(np.random.PCG64(seed))
    total = Estimate()
    scores: list[Array] = []
    sums = np.zeros(3)
    while total.histories < most:
        tally, weight = _histories(model, random)
        scores.append(tally.score * weight)
        own = (tally.by_drives, tally.failures, tally.degraded_h)
        sums += [float((each * weight).sum()) for each in own]
        every = np.concatenate(scores)
        years = model.mission_h / 8766.0
        total = Estimate(
            histories=len(every),
            loss=min(1.0, float(every.mean())),
            error=float(every.std(ddof=1) / math.sqrt(len(every))),
            by_drives=float(sums[0] / len(every)),
            failures_per_year=float(sums[1] / len(every) / years),
            degraded_h_per_year=float(sums[2] / len(every) / years),
        )
        enough = total.error <= error * total.loss
        if len(scores) >= _LEAST_BATCHES and (enough or total.loss == 0):
            break
    return total


def _histories(model: Model, random: np.random.Generator) -> tuple[_Tally, Array]:
    """A batch of histories, and the probability that the array of each has a failure at all."""
    drives = model.array.drives
    bad = random.random(BATCH) < model.batch.share
    state = _State(
        now=np.zeros(BATCH),
        age=np.full((BATCH, drives), model.age_h),
        factor=np.where(bad, model.batch.factor, 1.0)[:, None] * np.ones((BATCH, drives)),
        back=np.full((BATCH, drives), np.inf),
        spare=np.zeros((BATCH, model.spares)),
    )
    tally = _Tally(*(np.zeros(BATCH) for _ in range(4)))
    going = np.arange(BATCH)
    weight = np.ones(BATCH)
    first = True
    while len(going):
        own = state.of(going)
        window = model.mission_h - own.now
        chance = _chance(model, own, window)
        # A history without any failure loses nothing: all have a first one, with its probability.
        happens = np.ones(len(going), dtype=bool) if first else random.random(len(going)) < chance
        if first:
            weight, first = chance, False
        going, own = going[happens], own.of(happens)
        if not len(going):
            break
        drive = _fails(model, own, window[happens], chance[happens], random)
        tally.failures[going] += 1
        fatal = model.array.fatal(own.failed)[np.arange(len(going)), drive]
        tally.score[going[fatal]] += 1
        tally.by_drives[going[fatal]] += 1
        going, own, drive = going[~fatal], own.of(~fatal), drive[~fatal]
        _begin_repair(model, own, drive, random)
        forced = own.of(np.arange(len(going)))
        score, by_drives = _forced(model, forced, drive, random)
        tally.score[going] += score
        tally.by_drives[going] += by_drives
        lost = _as_it_is(model, own, drive, (tally, going), random)
        state.put(going, own)
        going = going[~lost & (own.now < model.mission_h)]
    return tally, weight


def _chance(model: Model, state: _State, window: Array) -> Array:
    """Probability that a drive fails within each window."""
    return -np.expm1(-_hazard_until(model, state, window))


def _hazard_until(model: Model, state: _State, times: Array) -> Array:
    working = ~state.failed
    life = model.lifetime
    grown = life.cumulative(state.age + times[:, None]) - life.cumulative(state.age)
    total: Array = (grown * state.factor * working).sum(axis=1)
    return total


def _fails(
    model: Model, state: _State, window: Array, chance: Array, random: np.random.Generator
) -> npt.NDArray[np.intp]:
    """Lets a drive fail within each window: moves the time there and says which it is."""
    wanted = -np.log1p(-random.random(len(window)) * chance)
    constant = model.lifetime.constant
    if constant is not None:
        rate = (state.factor * ~state.failed).sum(axis=1) * constant
        times = np.minimum(wanted / rate, window)
    else:
        low, high = np.zeros_like(window), window.copy()
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            below = _hazard_until(model, state, middle) < wanted
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        times = high
    _pass(state, times)
    hazards = model.lifetime.hazard(state.age) * state.factor * ~state.failed
    shares = np.cumsum(hazards, axis=1)
    drawn = random.random(len(window)) * shares[:, -1]
    which = (shares <= drawn[:, None]).sum(axis=1)
    last: npt.NDArray[np.intp] = np.minimum(which, state.age.shape[1] - 1).astype(np.intp)
    return last


def _pass(state: _State, times: Array) -> None:
    state.now += times
    state.age += np.where(state.failed, 0.0, times[:, None])


def _begin_repair(
    model: Model, state: _State, drive: npt.NDArray[np.intp], random: np.random.Generator
) -> None:
    """A drive has failed: a spare, or a person, begins its rebuild."""
    rows = np.arange(len(drive))
    replaced = state.now + model.replace_h
    begins = replaced
    if model.spares:
        which = np.argmin(state.spare, axis=1)
        begins = np.minimum(replaced, np.maximum(state.now, state.spare[rows, which]))
        state.spare[rows, which] = replaced
    takes: Array = np.full(len(drive), model.rebuild_h)
    if model.exponential_rebuild:
        takes = random.exponential(model.rebuild_h, len(drive))
    if model.array.is_spread:
        begins = _other_rebuilds(model, state, begins, takes)
    state.back[rows, drive] = begins + takes


def _other_rebuilds(model: Model, state: _State, begins: Array, takes: Array) -> Array:
    """What a further failure changes of the rebuilds of a declustered array; when its own begins.

    A pass over the stripes rebuilds all that is missing, and begins anew with a further drive.
    Where critical stripes come first, an earlier drive counts as whole when what it shares with the
    new one is rebuilt: the array bears another failure from then on. All of the rest follows.
    """
    failed = state.failed
    now = state.now[:, None]
    left = np.where(failed, state.back - now, 0.0)
    if not model.array.critical_first:
        anew = np.where(begins <= state.now, begins + takes, 0.0)[:, None]
        state.back = np.where(failed, np.maximum(state.back, anew), state.back)
        return begins
    work = left if model.exponential_rebuild else np.minimum(left, model.rebuild_h)
    sooner = now + (left - work) + model.array.critical_share * work
    state.back = np.where(failed, sooner, state.back)
    after: Array = np.maximum(begins, state.now + left.max(axis=1))
    return after


def _repair(state: _State) -> None:
    """Drives that are whole again by now: new ones, of no bad batch."""
    whole = state.back <= state.now[:, None]
    state.back[whole] = np.inf
    state.age[whole] = 0.0
    state.factor[whole] = 1.0


def _window(model: Model, state: _State) -> Array:
    """Hours until the next drive is whole again, or the mission ends."""
    until: Array = np.minimum(state.back.min(axis=1), model.mission_h) - state.now
    return np.maximum(0.0, until)


def _forced(
    model: Model, state: _State, drive: npt.NDArray[np.intp], random: np.random.Generator
) -> tuple[Array, Array]:
    """Estimates of the probability that each period of repairs loses data."""
    count = len(drive)
    score, by_drives = np.zeros(count), np.zeros(count)
    weight = np.ones(count)
    going = np.arange(count)
    again = _SHARE_AT_FIRST
    while len(going):
        if model.unreadable:
            critical = model.array.critical(state.failed, drive) & (drive >= 0)
            share = np.where(critical, model.unreadable, 0.0)
            score[going] += weight * share
            weight = weight * (1 - share)
        window = _window(model, state)
        chance = _chance(model, state, window)
        alone = state.failed.sum(axis=1) == 1
        after = state.of(np.arange(len(going)))
        drive = _fails(model, state, window, chance, random)
        hazards = model.lifetime.hazard(state.age) * state.factor * ~state.failed
        total = hazards.sum(axis=1)
        fatal = model.array.fatal(state.failed)
        lost = np.divide((hazards * fatal).sum(axis=1), total, out=np.zeros_like(total),
                         where=total > 0)  # fmt: skip
        score[going] += weight * chance * lost
        by_drives[going] += weight * chance * lost
        # A drive that the array bears: drawn anew among those, as they are what is followed.
        borne = np.cumsum(hazards * ~fatal, axis=1)
        drawn = random.random(len(going)) * borne[:, -1]
        drive = np.minimum((borne <= drawn[:, None]).sum(axis=1), model.array.drives - 1)
        bears = weight * chance * (1 - lost)
        follow = np.where(bears > 0, np.where(alone, again, _SHARE_AFTER_MORE), 0.0)
        again = _SHARE_AFTER_ONE
        fails = random.random(len(going)) < follow
        weight = np.where(fails, bears / np.maximum(follow, 1e-300), 0.0) + np.where(
            fails, 0.0, weight * (1 - chance) / np.maximum(1 - follow, 1e-300)
        )
        # Without a failure the window passes, and what was rebuilt is whole.
        quiet = np.flatnonzero(~fails)
        later = after.of(quiet)
        _pass(later, window[quiet])
        _repair(later)
        state.put(quiet, later)
        failing = np.flatnonzero(fails)
        own = state.of(failing)
        _begin_repair(model, own, drive[failing], random)
        state.put(failing, own)
        drive = np.where(fails, drive, -1)
        on = state.failed.any(axis=1) & (state.now < model.mission_h) & (weight > 0)
        going, weight, drive, state = going[on], weight[on], drive[on], state.of(on)
    return score, by_drives


def _as_it_is(
    model: Model,
    state: _State,
    drive: npt.NDArray[np.intp],
    counted: tuple[_Tally, npt.NDArray[np.intp]],
    random: np.random.Generator,
) -> npt.NDArray[np.bool_]:
    """Lets each period of repairs go as it goes; true where it has lost data."""
    tally, rows = counted
    lost = np.zeros(len(drive), dtype=bool)
    going = np.arange(len(drive))
    while len(going):
        own = state.of(going)
        if model.unreadable:
            critical = model.array.critical(own.failed, drive) & (drive >= 0)
            unread = critical & (random.random(len(going)) < model.unreadable)
            lost[going[unread]] = True
            going, own = going[~unread], own.of(~unread)
            if not len(going):
                break
        window = _window(model, own)
        chance = _chance(model, own, window)
        fails = random.random(len(going)) < chance
        began = own.now.copy()
        quiet, failing = np.flatnonzero(~fails), np.flatnonzero(fails)
        later = own.of(quiet)
        _pass(later, window[quiet])
        _repair(later)
        own.put(quiet, later)
        drive = np.full(len(going), -1)
        if len(failing):
            failed = own.of(failing)
            which = _fails(model, failed, window[failing], chance[failing], random)
            fatal = model.array.fatal(failed.failed)[np.arange(len(failing)), which]
            _begin_repair(model, failed, which, random)
            own.put(failing, failed)
            drive[failing] = which
            lost[going[failing[fatal]]] = True
            tally.failures[rows[going[failing]]] += 1
        tally.degraded_h[rows[going]] += own.now - began
        state.put(going, own)
        on = own.failed.any(axis=1) & (own.now < model.mission_h) & ~lost[going]
        going, drive = going[on], drive[on]
    return lost
