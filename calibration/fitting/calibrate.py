"""From a measurement to a device: what `raidlab calibrate` does.

The parameters of a kind (`kinds`) are fitted to the training points of a measurement (`fit`), on
the bench that is also used to compare. What comes out is a device file whose fitted numbers carry
their standard errors, and how well it predicts the points that the fit has not seen.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from raidlab.calibration.fitting.baseline import against_lines
from raidlab.calibration.fitting.bench import Bench, Effort
from raidlab.calibration.fitting.checkpoint import Checkpoint
from raidlab.calibration.fitting.compare import Compared, compare, summary, within
from raidlab.calibration.fitting.fit import Fit
from raidlab.calibration.fitting.fit_model import FitModel
from raidlab.calibration.fitting.fitted_file import with_fitted
from raidlab.calibration.fitting.goodness import goodness
from raidlab.calibration.fitting.host_trial import Tried, behind_best
from raidlab.calibration.fitting.kinds import kind_of
from raidlab.calibration.fitting.loss import groups_of
from raidlab.calibration.fitting.parameters import Kind
from raidlab.calibration.fitting.prior import Prior
from raidlab.calibration.fitting.stages import (
    AFTER,
    FINE,
    Decision,
    Settings,
    Settled,
    Task,
)
from raidlab.calibration.fitting.system import System
from raidlab.calibration.fitting.system_kinds import BESIDE, UNKNOWN_CONTROLLER
from raidlab.calibration.fitting.train_split import missing, split
from raidlab.calibration.fitting.uncertainty import Estimate
from raidlab.calibration.measurements.measurement import Measurement, Point
from raidlab.calibration.measurements.sanity import extrapolated, possible, too_little
from raidlab.devices.catalogue import KINDS as DEVICE_KINDS
from raidlab.devices.catalogue import find_for, load_device
from raidlab.devices.faults import Fault, Faults, SpecError
from raidlab.devices.host import HostSpec
from raidlab.devices.schema import check
from raidlab.devices.spec_writer import device_toml
from raidlab.devices.trees import get, put
from raidlab.devices.units import is_quantity
from raidlab.scenarios.running.simulate import Progress
from raidlab.scenarios.running.store import Store

Array = npt.NDArray[np.float64]
FINAL = Effort(ios=8000, ios_of_slow=4000, rounds=20.0, programs=100.0, slices_s=1.5)
_GLANCE = Effort(ios=200, ios_of_slow=100, rounds=1.0)
_SYSTEMS_APART: Final = 100.0
"""Ratio of rates before a fit beyond which a system cannot be the measured one."""
_FAR_PCT: Final = 25.0
"""Error of fitted rates beyond which the kind itself is in doubt."""
_UNSEEN_PCT: Final = 20.0
"""Error of predicted rates beyond which it is."""
_OWN = {
    "kind": "left out: --kind says it",
    "name": "left out: --name says it",
    "title": "left out: the title says what the device was fitted to",
}
"""Keys of a device file that `--set` does not set."""
_OTHERWISE = ", or another host, or several drives (an array of unknown drives: --system)?"


@dataclass(frozen=True)
class LeftOut:
    """Points predicted by a fit that had not seen them."""

    curve: str
    points: int
    median_abs_error_pct: float


@dataclass(frozen=True)
class Calibration:
    """What came out."""

    settings: Settings
    measurement: Measurement
    fit: Fit
    model: FitModel
    bench: Bench
    tree: Mapping[str, Any]
    host: Mapping[str, Any]
    base_sources: Mapping[str, Any]
    rows: tuple[Compared, ...]
    left_out: tuple[LeftOut, ...]
    decisions: tuple[Decision, ...]
    tried: tuple[Tried, ...]
    """The hosts that were tried, if none was named."""
    warnings: tuple[str, ...]

    def part(self, name: str) -> list[Compared]:
        """The training or the test points."""
        return [row for row in self.rows if row.part == name]

    @property
    def where(self) -> str:
        """What it was measured in, for people."""
        system = self.settings.system
        return f"in {Path(system).name}" if system else f"behind {self.host['name']}"

    def to_dict(self, tolerance_pct: float | None = None) -> dict[str, Any]:
        """The document of `raidlab calibrate --json`, judged by a tolerance if one is given."""
        unseen = self.part("test") or self.part("train")
        return {
            "device": self.tree["name"],
            "host": self.host["name"],
            "fitted_behind": self.host_name,
            "system": self.settings.system,
            "hosts_tried": [vars(each) for each in self.tried],
            "parameters": [_estimate(estimate) for estimate in self.fit.estimates],
            "modes": [
                {
                    "values": dict(decision.option.values),
                    "as_well": [dict(rival.values) for rival in decision.rivals],
                }
                for decision in self.decisions
            ],
            "correlations": np.round(self.fit.correlations, 3).tolist(),
            "train": summary(self.part("train")),
            "test": summary(self.part("test")),
            "baseline": against_lines(self.rows),
            "agreement": None if tolerance_pct is None else within(unseen, tolerance_pct),
            "goodness": goodness(self.fit.residuals.tolist(), len(self.fit.place)),
            "points": [row.to_dict() for row in self.rows],
            "left_out": [vars(left) for left in self.left_out],
            "evaluations": self.fit.evaluations,
            "wall_s": round(self.fit.wall_s, 3),
            "seed": self.settings.seed,
            "warnings": list(self.warnings),
        }

    def to_toml(self, tree: Mapping[str, Any] | None = None) -> str:
        """The fitted device's file; of another `tree` with the same sources if one is given."""
        sources = with_fitted(
            self.base_sources, self.fit.estimates, self.tree, self.measurement.name,
            self.fit.correlations.tolist(),
        )  # fmt: skip
        test = summary(self.part("test"))
        head = [f"Fitted to {self.measurement.name}, measured {self.where}."]
        if test["points"]:
            head.append(
                f"Predicts {test['points']} points that the fit has not seen within"
                f" {test['median_abs_error_pct']:.1f} % in the median,"
                f" {test['p90_abs_error_pct']:.1f} % in nine of ten."
            )
        written = dict(self.tree if tree is None else tree)
        written.pop(BESIDE, None)
        if written["kind"] != "host":
            written["fitted_behind"] = self.host_name
        return device_toml(written, sources, head)

    @property
    def host_name(self) -> str:
        """The host that belongs to the device: the given one, or that of `host_toml`."""
        if any(estimate.parameter.key.startswith("host.") for estimate in self.fit.estimates):
            return f"{self.host['name']}-of-{self.tree['name']}"
        return str(self.host["name"])

    def host_toml(self) -> str:
        """The host's file as the fit found it: what was not varied is as before."""
        title = f"{self.host['title']}, as fitted with {self.tree['name']}"
        head = [f"The host {self.host['name']} as a fit to {self.measurement.name} found it."]
        written = dict(self.host) | {"name": self.host_name, "title": title}
        return device_toml(written, self._varied("host", str(self.host["name"])), head)

    def controller_toml(self) -> str:
        """The file of the controller that was fitted together with the drives.

        Raises:
            SpecError: There was none.
        """
        if BESIDE not in self.tree:
            allowed = f'left out: no controller of --system is model = "{UNKNOWN_CONTROLLER}"'
            raise SpecError([Fault("--controller-out", None, allowed)])
        beside = dict(self.tree[BESIDE])
        head = [f"A controller as a fit to {self.measurement.name} found it, with its drives."]
        title = f"{beside['title']}, as fitted with {self.tree['name']}"
        named = {"name": f"{beside['name']}-of-{self.tree['name']}", "title": title}
        return device_toml(beside | named, self._varied(BESIDE, str(beside["name"])), head)

    def _varied(self, owner: str, begun: str) -> dict[str, Any]:
        """The sources of what stands around the drives: what the fit has varied of it."""
        varied = [e for e in self.fit.estimates if e.parameter.key.startswith(f"{owner}.")]
        said = ", ".join(
            f"{e.parameter.key} {e.value:.4g} {e.parameter.unit}".rstrip() for e in varied
        )
        note = f"as {begun}; fitted to {self.measurement.name}: {said or 'nothing'}"
        return {"all": {"source": "assumed", "note": note}}


def _estimate(estimate: Estimate) -> dict[str, Any]:
    parameter = estimate.parameter
    return {
        "name": parameter.key,
        "value": estimate.value,
        "unit": parameter.unit,
        "of": parameter.of,
        "stderr": estimate.stderr,
        "low": estimate.low,
        "high": estimate.high,
        "bounds": [parameter.low, parameter.high],
        "at_bound": estimate.at_bound,
        "identifiable": estimate.identifiable,
        "like": estimate.like,
    }


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
    kind = kind_of(settings.kind)
    usable, doubts = possible(measurement)
    if not kind.over_time:
        usable = [point.model_copy(update={"timeline": ()}) for point in usable]
    measurement = measurement.model_copy(update={"points": tuple(usable)})
    chosen, others = split(measurement.points, settings.train)
    points = [measurement.points[index] for index in chosen]
    warnings = doubts + missing(measurement.points, settings.train) + too_little(points)
    warnings += _unsaid(kind, points)
    system = system_of(kind, settings)
    kind = kind if system is None else system.kind
    tree, sources = base_of(kind, settings, measurement.name, system)
    started = time.monotonic()
    checkpoint = None if store is None else Checkpoint(store)
    tasks = [
        Task(kind, host, tuple(points), settings, checkpoint, system, prior_of(settings))
        for host in hosts_of(kind, settings, system)
    ]
    if system is not None:
        _of_its_size(tasks[0], tree)
    searched = behind_best(tasks, tree, progress)
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
    bench = model.bench(found.place)
    ordered = [*chosen, *others]
    parts = ["train"] * len(chosen) + ["test"] * len(others)
    every = [measurement.points[index] for index in ordered]
    rows = compare(bench, every, FINAL, parts=parts, workers=settings.workers)
    warnings += bench.doubts(points)
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
        (*warnings, *found.warnings, *extrapolated(points, every)),
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
    if off > _FAR_PCT:
        yield (
            f"the best fit is still {off:.0f} % off in the median:"
            f" another kind of device than {kind.name}{_OTHERWISE}"
        )
    if unseen is not None and unseen > _UNSEEN_PCT:
        yield (
            f"the points that the fit has not seen are {unseen:.0f} % off in the median:"
            f" the device has what no {kind.name} has{_OTHERWISE}"
        )


def _of_its_size(task: Task, tree: Mapping[str, Any]) -> None:
    """A system whose rates are hundreds of times the measured ones is not what was measured."""
    model = task.model(tree, frozenset())
    point = min(task.points, key=lambda each: each.outstanding)
    rate = model.bench(model.start).run(point, _GLANCE).iops
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


def system_of(kind: Kind, settings: Settings) -> System | None:
    """The system around the component; None for a drive behind a host."""
    if settings.system:
        if settings.host:
            allowed = "left out: the scenario of --system has its own"
            raise SpecError([Fault("--host", settings.host, allowed)])
        return System.of(settings.system, kind, settings.like)
    if kind.needs:
        allowed = f"a scenario file of the system around it: --kind {settings.kind} needs one"
        raise SpecError([Fault("--system", None, allowed)])
    return None


def hosts_of(kind: Kind, settings: Settings, system: System | None) -> list[dict[str, Any]]:
    """The trees of the hosts to try: the named one, or the usual one and others of its kind."""
    if system is not None or settings.host:
        return [host_of(kind, settings, system)]
    return [host_of(kind, replace(settings, host=name), None) for name in (kind.host, *kind.hosts)]


def host_of(kind: Kind, settings: Settings, system: System | None) -> dict[str, Any]:
    """The host's tree."""
    name = settings.host or kind.host
    behind = system.host if system else find_for("--host", name, HostSpec)
    if not isinstance(behind.spec, HostSpec):
        allowed = f"a host; this is a {behind.spec.kind}"
        raise SpecError([Fault("--host", settings.host, allowed)])
    return copy.deepcopy(dict(behind.written))


def base_of(
    kind: Kind, settings: Settings, measured: str, system: System | None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The tree to start from, and the sources of what is not fitted."""
    if system is not None:
        device = system.device
    else:
        device = find_for("--like", settings.like) if settings.like else load_device(kind.template)
    if device.spec.kind != kind.name:
        allowed = f"a device of kind {kind.name}; this is a {device.spec.kind}"
        raise SpecError([Fault("--like", settings.like, allowed)])
    tree = copy.deepcopy(dict(device.written))
    for own in ("aliases", "fitted_behind"):
        tree.pop(own, None)
    sources: dict[str, Any] = {}
    for key, source in device.sources.items():
        stated: dict[str, Any] = {"source": source.source}
        if source.source == "fitted":
            stated |= {"stderr": source.stderr, "measurement": source.measurement}
        if source.note:
            stated["note"] = source.note
        if source.range is not None:
            stated["range"] = list(source.range)
        sources[key] = stated
    for key, default in (system.left_out() if system else {}).items():
        put(tree, key, default)
        sources[key] = {"source": "assumed", "note": "what the model takes if nothing is said"}
    if system is not None and system.controller is not None:
        tree[BESIDE] = copy.deepcopy(dict(system.controller.written))
    for key, value in settings.overrides.items():
        _override(tree, key, value)
        if not isinstance(value, str) or is_quantity(value):
            sources[key] = {"source": "data-sheet", "note": "as given for the calibration"}
    tree["name"] = settings.name or name_of(measured)
    tree["title"] = f"{tree.get('title', device.spec.name)}, fitted to {measured}"
    _check(kind, tree, settings)
    return tree, sources


def prior_of(settings: Settings) -> Prior | None:
    """What the device to start from knows of its numbers; None for a template."""
    if not settings.like:
        return None
    device = find_for("--like", settings.like)
    return Prior(device.written, device.sources)


def _override(tree: dict[str, Any], key: str, value: Any) -> None:
    """Sets what `--set` says, where the device file has a place for it."""
    allowed = _OWN.get(key)
    path = key.split(".")
    for depth in range(1, len(path)):
        above = ".".join(path[:depth])
        at = get(tree, above)
        if isinstance(at, list) and get(tree, f"{above}.{path[depth]}") is None:
            allowed = f"an entry from {above}.0 to {above}.{len(at) - 1}"
        elif not isinstance(at, dict | list | None):
            allowed = f"{above} is a value and no table"
        if allowed is not None:
            break
    if allowed is not None:
        raise SpecError([Fault(key, value, allowed, (), "--set")])
    put(tree, key, value)


def _check(kind: Kind, tree: Mapping[str, Any], settings: Settings) -> None:
    """The file to start from was in order: what is wrong now is what options say."""
    faults = Faults()
    alone = {key: value for key, value in tree.items() if key != BESIDE}
    check(DEVICE_KINDS[kind.name], alone, faults)
    named = [replace(fault, key="--name") for fault in faults.found if fault.key == "name"]
    rest = [replace(fault, file="--set") for fault in faults.found if fault.key != "name"]
    if named or rest:
        raise SpecError([*named, *rest])


def name_of(text: str) -> str:
    """A device's name of a measurement's: small letters, figures, dots, pluses and hyphens."""
    allowed = "".join(c if c.isalnum() or c in ".+-" else "-" for c in text.lower()).strip("-.+")
    return f"{allowed or 'device'}-fitted"


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
        left.append(LeftOut(curve, len(of), float(summary(rows)["median_abs_error_pct"])))
    return left
