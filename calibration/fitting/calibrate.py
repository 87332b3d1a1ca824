"""From a measurement to a device: what `raidlab calibrate` does.

The parameters of a kind (`kinds`) are fitted to the training points of a measurement (`fit`), on
the bench that is also used to compare. What comes out is a device file whose fitted numbers carry
their standard errors, and how well it predicts the points that the fit has not seen.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
import numpy.typing as npt

from raidlab.calibration.fitting.bench.bench import Effort
from raidlab.calibration.fitting.calibrate_by_law import calibrate_by_law, raise_of_law
from raidlab.calibration.fitting.certainty.contradictions import (
    left_at_start,
    other_cpus,
    slow_links,
    unused_threads,
    with_fast_link,
)
from raidlab.calibration.fitting.certainty.uncertainty import Estimate
from raidlab.calibration.fitting.comparison.compare import Compared, compare, summary
from raidlab.calibration.fitting.estimation.by_law import BY_LAW
from raidlab.calibration.fitting.estimation.decision import Decision
from raidlab.calibration.fitting.estimation.families import choose_family
from raidlab.calibration.fitting.estimation.fit import Fit
from raidlab.calibration.fitting.estimation.host_trial import fit_behind_each_host
from raidlab.calibration.fitting.estimation.measured_pauses import measured_pauses
from raidlab.calibration.fitting.estimation.model import FitModel
from raidlab.calibration.fitting.estimation.stages import (
    AFTER,
    FINE,
    Settings,
    Settled,
    Task,
)
from raidlab.calibration.fitting.estimation.start import (
    base_of,
    hosts_of,
    kind_for,
    known_of,
    prior_of,
    system_of,
)
from raidlab.calibration.fitting.estimation.training_points import seen_of
from raidlab.calibration.fitting.parameters.facts import bound
from raidlab.calibration.fitting.parameters.kinds import VIRTUAL_DISK
from raidlab.calibration.fitting.parameters.parameter import Kind
from raidlab.calibration.fitting.report.calibration import Calibration, LeftOut
from raidlab.calibration.fitting.search.checkpoint import Checkpoint
from raidlab.calibration.fitting.search.loss import groups_of
from raidlab.calibration.measurements.measurement import Measurement, Point
from raidlab.calibration.measurements.sanity import extrapolated
from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.trees import Value
from raidlab.scenarios.running.simulate import Progress
from raidlab.scenarios.running.store import Store

Array = npt.NDArray[np.float64]
_TRIAL_EFFORT = Effort(ios=200, ios_of_slow=100, rounds=1.0)
_SYSTEMS_APART: Final = 100.0
"""Ratio of rates before a fit beyond which a system cannot be the measured one."""
_FAR_PCT: Final = 25.0
"""Error of fitted rates beyond which the kind itself is in doubt."""
_UNSEEN_PCT: Final = 20.0
"""Error of predicted rates beyond which it is."""
_OTHERWISE = ", or another host, or several drives (an array of unknown drives: --system)?"


def calibrate(
    measurement: Measurement,
    settings: Settings,
    store: Store | None = None,
    progress: Progress = lambda done, steps: None,
) -> Calibration:
    """Fits a device to a measurement.

    Args:
        measurement: What was measured.
        settings: What the user says of it.
        store: Finds again what was computed before, so that a stopped fit goes on.
        progress: Called with how many steps are done, and of how many: searches of parts, all
            together with their errors, the comparison.

    Raises:
        SpecError: Names that do not exist, points that say nothing of the kind.
    """
    choice = None
    if not settings.kind and not settings.system:
        raise_of_law(settings)
        points = seen_of(measurement, settings.train).points
        choice = choose_family(points, measurement.machine, settings.facts, settings)
        settings = replace(settings, kind=choice.kind)
    said = bound(settings.kind or VIRTUAL_DISK, settings.facts)
    settings = replace(settings, overrides={**settings.overrides, **said})
    if (not settings.kind or settings.kind in BY_LAW) and not settings.system:
        found = calibrate_by_law(measurement, settings, progress)
    else:
        found = _with_mechanics(measurement, settings, store, progress)
    if choice is None:
        return found
    return replace(found, families=choice, warnings=(*choice.said(), *found.warnings))


def _with_mechanics(
    measurement: Measurement, settings: Settings, store: Store | None, progress: Progress
) -> Calibration:
    """The fit of a kind whose parts are simulated."""
    kind = kind_for(settings)
    seen = seen_of(measurement, settings.train, over_time=kind.over_time)
    measurement, points = seen.measurement, seen.points
    warnings = [*seen.warnings, *_unsaid(kind, points)]
    system = system_of(kind, settings)
    kind = kind if system is None else system.kind
    settings = replace(settings, known=known_of(system))
    tree, sources = base_of(kind, settings, measurement.name, system)
    if system is None:
        stated = bool(settings.like) or "interface" in settings.overrides
        tree, said_of_link = with_fast_link(tree, points, known=stated)
        warnings += said_of_link
    started = time.monotonic()
    checkpoint = None if store is None else Checkpoint(store)
    tasks = [
        Task(kind, host, tuple(points), settings, checkpoint, system, prior_of(settings))
        for host in hosts_of(kind, settings, system)
    ]
    if system is not None:
        _of_its_size(tasks[0], tree)
    searched = fit_behind_each_host(tasks, tree, progress)
    settled, found = searched.settled, searched.found
    if said := searched.said():
        warnings.append(said)
    found = replace(
        found,
        wall_s=time.monotonic() - started,
        estimates=tuple(_as_decided(each, settled.decisions) for each in found.estimates),
    )
    steps = len(tasks) * settled.searches
    progress(steps + 1, steps + AFTER)
    model = settled.model
    paused = measured_pauses(points) if kind.name == "ssd" and system is None else None
    if paused is not None:
        model, sources = paused.model(model), paused.sources(sources, measurement.name)
    bench = model.bench(found.place)
    rows = seen.compared(bench, settings.workers)
    warnings += bench.doubts(points)
    warnings += other_cpus(measurement.machine, bench.host.threads, bench.host.name)
    warnings += unused_threads([row for row in rows if row.part == "train"])
    warnings += slow_links(rows, bench.drive.link())
    warnings += left_at_start(model.parameters, model.start.tolist(), found.place.tolist())
    warnings += [*_ended(settled, found, settings), *_far(kind, rows), *_unusual(kind, found)]
    groups = groups_of(points)
    left = _leave_out(model, found, points, groups, settings) if settings.leave_out else ()
    fitted, fitted_host, _ = model.files(found.place)
    return Calibration(
        settings,
        measurement,
        found,
        model,
        bench,
        fitted,
        fitted_host,
        sources,
        tuple(rows),
        tuple(left),
        settled.decisions,
        searched.tried,
        (*warnings, *found.warnings, *extrapolated(points, seen.every)),
        pauses=paused,
    )


def _unsaid(kind: Kind, points: Sequence[Point]) -> Iterator[str]:
    """A warning of points without rates over time where a kind needs them.

    Raises:
        SpecError: No point shows the kind at all.
    """
    if kind.over_time and not any(point.timeline for point in points):
        yield (
            f"no point says how its rate went over time, which says most of a {kind.name}:"
            " measure from its beginning on with fio's write_iops_log"
        )
    if kind.side and not any(getattr(point, kind.side) for point in points):
        allowed = f"{kind.side}s among the points: a {kind.name} shows in nothing else"
        raise SpecError([Fault("rw", points[0].rw, allowed, (), points[0].file)])


def _ended(settled: Settled, found: Fit, settings: Settings) -> Iterator[str]:
    """What was decided on the way, and what ended the search early."""
    yield from (decision.said() for decision in settled.decisions)
    part = "the search of parts, which has half of it" if settled.cut else "the joint search"
    if "evaluations" in settled.cut | found.cut:
        yield (
            f"the budget of {settings.budget:,} evaluations ended {part}, early: more may find"
            " better values (--budget)"
        )
    if "time" in settled.cut | found.cut:
        yield (
            f"the time limit of {settings.time_limit_s:g} s ended {part}, early: another run, or"
            " machine, may find other values (--time-limit, or --budget without it)"
        )


def _far(kind: Kind, rows: Sequence[Compared]) -> Iterator[str]:
    """Warnings of a fit that is far from the points that it has seen, or from the others."""
    off, unseen = (
        summary([row for row in rows if row.part == part])["median_abs_error_pct"]
        for part in ("train", "test")
    )
    if off is not None and off > _FAR_PCT:
        yield (
            f"the best fit is still {off:.0f} % off in the median:"
            f" another kind of device than {kind.name}{_OTHERWISE}"
        )
    if unseen is not None and unseen > _UNSEEN_PCT:
        yield (
            f"the points that the fit has not seen are {unseen:.0f} % off in the median:"
            f" the device has what no {kind.name} has{_OTHERWISE}"
        )


def _of_its_size(task: Task, tree: Mapping[str, Value]) -> None:
    """A system whose rates are hundreds of times the measured ones is not what was measured."""
    model = task.model(tree, frozenset())
    point = min(task.points, key=lambda each: each.outstanding)
    rate = model.bench(model.start).run(point, _TRIAL_EFFORT).iops
    if not point.iops / _SYSTEMS_APART < rate < point.iops * _SYSTEMS_APART:
        allowed = (
            f"the system that was measured: {point.label()} gave {point.iops:.4g} IO/s,"
            f" this one {rate:.4g} before anything is fitted"
        )
        raise SpecError([Fault("--system", task.settings.system, allowed)])


def _as_decided(estimate: Estimate, decisions: Sequence[Decision]) -> Estimate:
    """What depends on an option that the points hardly determine is not determined either."""
    for decision in decisions:
        if estimate.parameter.key in decision.open:
            return replace(estimate, identifiable=False, like=decision.mode.name)
    return estimate


def _unusual(kind: Kind, found: Fit) -> list[str]:
    """Times that no usual device of the kind has, which slow ones may take."""
    highest = {parameter.key: parameter.high for parameter in (*kind.declared, *kind.extra)}
    beyond = [
        f"{estimate.parameter.key} ({estimate.parameter.text(estimate.value)})"
        for estimate in found.estimates
        if estimate.value > 1.001 * highest.get(estimate.parameter.key, estimate.value)
    ]
    if not beyond:
        return []
    return [
        f"longer than {kind.name} devices usually take: {', '.join(beyond)}; another kind of"
        f" device than {kind.name}{_OTHERWISE}"
    ]


def _leave_out(
    model: FitModel, found: Fit, points: Sequence[Point], groups: Sequence[int], settings: Settings
) -> list[LeftOut]:
    """Each curve predicted without having seen it: one Gauss-Newton step away from the fit."""
    curves: dict[str, list[int]] = {}
    for index, point in enumerate(points):
        by_jobs = len({(p.rw, p.numjobs) for p in points}) > 4
        key = f"{point.rw} {point.numjobs} jobs" if by_jobs else f"iodepth {point.iodepth}"
        curves.setdefault(key, []).append(index)
    if len(curves) < 2:
        return []
    weights = (1.0 + found.residuals**2) ** -0.25
    left = []
    for curve, members in curves.items():
        others = np.array([group not in members for group in groups])
        jacobian = (found.jacobian * weights[:, None])[others]
        pull = (found.residuals * weights)[others]
        step = np.linalg.solve(jacobian.T @ jacobian + np.eye(len(found.place)), jacobian.T @ pull)
        place = np.clip(found.place - np.clip(step, -0.2, 0.2), 0.0, 1.0)
        of = [points[index] for index in members]
        try:
            rows = compare(model.bench(place), of, FINE, workers=settings.workers)
        except SpecError:
            continue
        left.append(LeftOut(curve, len(of), statistics.median(abs(row.error_pct) for row in rows)))
    return left
