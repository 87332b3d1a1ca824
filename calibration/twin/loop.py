"""The loop: a first look, the loads that tell most, until the rates are known or time is up.

Points are written after each round, so that an interrupted twin goes on where it was: the same
folder, the same target. Loads that are kept back are measured between the rounds and never fitted.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from raidlab.calibration.fitting.calibrate_by_law import calibrate_by_law
from raidlab.calibration.fitting.estimation.by_law import measured_host, selection_of
from raidlab.calibration.fitting.estimation.stages import Settings
from raidlab.calibration.fitting.report.calibration import Calibration
from raidlab.calibration.measurements.measurement import (
    Machine,
    Measurement,
    Point,
    load_measurement,
)
from raidlab.calibration.surrogates.loads import measured
from raidlab.calibration.surrogates.selection import Selection
from raidlab.calibration.twin.asks import Ask, candidates, first_look, kept_back
from raidlab.calibration.twin.design import choose
from raidlab.calibration.twin.targets import SECONDS, Target
from raidlab.devices.catalogue import find_for
from raidlab.devices.faults import Fault, SpecError

ROUND: Final = 3
"""Loads of a round."""
POINTS: Final = "points.json"
_FIT_S: Final = 10.0
_KEPT_PREFIX: Final = "kept back: "
"""What the names of points begin with that no fit may see."""
_LAST_PREFIX: Final = "at the end: "
"""What the name of the first load begins with that was measured again at the end."""


@dataclass(frozen=True)
class TwinSettings:
    """What a user says of a twin."""

    out: Path
    name: str = "twin"
    time_limit_s: float = 900.0
    """For measuring and fitting; what was begun is finished."""
    tolerance: float = 0.05
    """Mean deviation of the logarithms of all rates at which nothing more is measured."""
    most_points: int = 40
    kept: int = 8
    """Loads that are kept back."""
    seed: int = 1
    workers: int = 1


@dataclass(frozen=True)
class Twin:
    """What came out."""

    result: Calibration
    points: int
    """Measured, those kept back included."""
    measured_s: float
    wall_s: float
    deviations: tuple[float, ...]
    """How unsure rates were before each round."""
    repeated_pct: float | None
    """By how much the first point and its repetition a few loads later differ: noise."""
    drift_pct: float | None = None
    """By how much the first load's rate had changed at the end, with its sign."""


@dataclass
class _State:
    """Points so far, in the order in which they were measured."""

    seen: list[Point]
    kept: list[Point]
    rounds: int = 0
    last: Point | None = None
    """The first load, measured again at the end; no fit sees it."""


def run_twin(
    target: Target, settings: TwinSettings, tell: Callable[[str], None] = lambda text: None
) -> Twin:
    """Measures a target, fits it and judges the fit by loads that it has not seen.

    Args:
        target: What is measured.
        settings: What the user says.
        tell: Called with what is done, a line at a time.

    Raises:
        SpecError: The target cannot be measured, or another one was in this folder.
    """
    begun = time.monotonic()
    state = _stored(settings, target)
    if state.seen:
        tell(f"{len(state.seen)} points are there already")
    else:
        _measure(target, settings, state, first_look(writes=target.writes))
        tell(f"first look: {len(state.seen)} points")
    withheld = kept_back(settings.kept, settings.seed, writes=target.writes)
    every = candidates(writes=target.writes)
    deviations: list[float] = []
    while True:
        selection = _selection(state.seen, target.machine())
        choice = choose(selection, measured(state.seen), every, ROUND)
        deviations.append(choice.deviation)
        tell(f"{len(state.seen)} points, rates known to {100 * choice.deviation:.1f} %")
        left = withheld[len(state.kept) :]
        spent = time.monotonic() - begun + (len(left) + ROUND) * (SECONDS + 2.0) + _FIT_S
        enough = max(choice.deviation, selection.error) < settings.tolerance
        full = len(state.seen) + ROUND > settings.most_points
        if enough or full or spent > settings.time_limit_s:
            break
        _measure(target, settings, state, choice.asks, left[:1])
    left = withheld[len(state.kept) :]
    if left or state.last is None:
        _measure(target, settings, state, (), left, last=first_look(writes=target.writes)[0])
    return _finished(target, settings, state, deviations, begun)


def _measure(
    target: Target,
    settings: TwinSettings,
    state: _State,
    asks: Sequence[Ask],
    withheld: Sequence[Ask] = (),
    last: Ask | None = None,
) -> None:
    """Measures a round and stores all points; `last` is the first load again."""
    wanted = [*asks, *withheld, *([] if last is None else [last])]
    found = target.measure(wanted, state.rounds)
    by_load = {_load(point): point for point in found}
    for number, ask in enumerate(wanted):
        # A bundle gives its points by load; a load that came twice has two.
        same = [point for point in found if _load(point) == _load(ask.point())]
        earlier = sum(_load(other.point()) == _load(ask.point()) for other in wanted[:number])
        point = same[min(earlier, len(same) - 1)] if same else by_load.get(_load(ask.point()))
        if point is None:
            raise SpecError([Fault("TARGET", target.name, f"a result for {ask.name}")])
        if number < len(asks):
            state.seen.append(point)
        elif number < len(asks) + len(withheld):
            state.kept.append(point)
        else:
            state.last = point
    state.rounds += 1
    _store(settings, target, state)


def _load(point: Point) -> tuple[str, int, float, int, int]:
    # fio draws the direction of each I/O: the share is near what was asked for.
    return point.rw, point.bs, round(point.read_share, 1), point.iodepth, point.numjobs


def _selection(points: Sequence[Point], machine: Machine | None) -> Selection:
    host, _ = measured_host(find_for("--host", "generic").written, points, machine)
    return selection_of(points, host, machine)


def _finished(
    target: Target, settings: TwinSettings, state: _State, deviations: list[float], begun: float
) -> Twin:
    """The fit of what was seen, judged by what was kept back."""
    machine = target.machine()
    measurement = Measurement(
        name=settings.name, points=(*state.seen, *state.kept), machine=machine
    )
    fit = Settings(kind="", name=settings.name, seed=settings.seed, workers=settings.workers)
    seen = range(len(state.seen))
    result = calibrate_by_law(measurement, fit, lambda done, steps: None, train=seen)
    count = len(state.seen) + len(state.kept)
    return Twin(
        result, count, count * SECONDS, time.monotonic() - begun, tuple(deviations),
        _repeated(state.seen), _drift(state),
    )  # fmt: skip


def _repeated(points: Sequence[Point]) -> float | None:
    """Percent by which the first load's rate changed until it was measured again."""
    same = [point.iops for point in points if _load(point) == _load(points[0])]
    return 100.0 * abs(same[1] / same[0] - 1.0) if len(same) > 1 else None


def _drift(state: _State) -> float | None:
    """Percent by which the first load's rate had changed at the end."""
    return None if state.last is None else 100.0 * (state.last.iops / state.seen[0].iops - 1.0)


def _store(settings: TwinSettings, target: Target, state: _State) -> None:
    """All points, those kept back marked by their name; written whole or not at all."""
    marked = [each.model_copy(update={"name": f"{_KEPT_PREFIX}{each.name}"}) for each in state.kept]
    if state.last is not None:
        name = f"{_LAST_PREFIX}{state.last.name}"
        marked.append(state.last.model_copy(update={"name": name}))
    found = Measurement(name=target.name, points=(*state.seen, *marked), machine=target.machine())
    path = settings.out / POINTS
    beside = path.with_suffix(".part")
    beside.write_text(found.to_json(), encoding="utf-8")
    beside.replace(path)


def _stored(settings: TwinSettings, target: Target) -> _State:
    """What an earlier run has measured."""
    path = settings.out / POINTS
    if not path.exists():
        return _State([], [])
    found = load_measurement(path)
    if found.name != target.name:
        allowed = f"a folder for {target.name}, or an empty one; this one is of {found.name}"
        raise SpecError([Fault("--out", str(settings.out), allowed)])
    kept = [point for point in found.points if point.name.startswith(_KEPT_PREFIX)]
    ends = [point for point in found.points if point.name.startswith(_LAST_PREFIX)]
    prefixes = (_KEPT_PREFIX, _LAST_PREFIX)
    seen = [point for point in found.points if not point.name.startswith(prefixes)]
    of = len(first_look(writes=target.writes))
    rounds = 1 + max(0, len(seen) - of) // ROUND
    bare = [_bare(point) for point in kept]
    last = _bare(ends[0]) if ends else None
    return _State(seen, bare, rounds + (last is not None), last)


def _bare(point: Point) -> Point:
    """The point with the name that it was measured under."""
    return point.model_copy(
        update={"name": point.name.removeprefix(_KEPT_PREFIX).removeprefix(_LAST_PREFIX)}
    )
