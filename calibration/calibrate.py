"""From a measurement to a device: what `raidlab calibrate` does.

The parameters of a kind (`kinds`) are fitted to the training points of a measurement (`fit`), on
the bench that is also used to compare. What comes out is a device file whose fitted numbers carry
their standard errors, and how well it predicts the points that the fit has not seen.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from raidlab.calibration.bench import Bench, Effort
from raidlab.calibration.compare import Compared, compare, summary
from raidlab.calibration.device_file import device_toml
from raidlab.calibration.fit import Estimate, Fit, Stage, fit
from raidlab.calibration.kinds import Kind, kind_of, start_of, that_apply
from raidlab.calibration.loss import Residual, residuals, robust, values
from raidlab.calibration.measurement import Measurement, Point
from raidlab.calibration.parameters import Choice, Parameter, choose, get, put
from raidlab.calibration.select import missing, split
from raidlab.devices.catalogue import KINDS, find_for, load_device
from raidlab.devices.faults import Fault, Faults, SpecError
from raidlab.devices.host import HostSpec
from raidlab.devices.schema import DriveSpec, check
from raidlab.devices.units import is_quantity

Array = npt.NDArray[np.float64]
_ROUGH = Effort(ios=2000, ios_of_slow=700, rounds=6.0)
_FINE = Effort(ios=4000, ios_of_slow=2500, rounds=10.0)
_FINAL = Effort(ios=8000, ios_of_slow=4000, rounds=20.0)
_SPANNING = 6
_FAR = 0.25
"""Logarithm of a rate's error beyond which the kind itself is in doubt."""
_NOTHING = Choice({}, frozenset(), {})


@dataclass(frozen=True)
class Settings:
    """What a user says of a calibration."""

    kind: str
    host: str = ""
    """Of the catalogue, or a file; the kind's usual one if empty."""
    like: str = ""
    """Device to start from; the kind's template if empty."""
    name: str = ""
    """Of the fitted device."""
    train: str = ""
    """Points that the fit may see; all if empty."""
    overrides: Mapping[str, Any] = field(default_factory=dict)
    """Values of the device file to replace before the fit, by dotted key."""
    choice: Choice = _NOTHING
    budget_s: float = 90.0
    seed: int = 1
    workers: int = 1
    leave_out: bool = True


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
    bench: Bench
    tree: Mapping[str, Any]
    host: Mapping[str, Any]
    base_sources: Mapping[str, Any]
    rows: tuple[Compared, ...]
    left_out: tuple[LeftOut, ...]
    warnings: tuple[str, ...]

    def part(self, name: str) -> list[Compared]:
        """The training or the test points."""
        return [row for row in self.rows if row.part == name]

    def to_dict(self) -> dict[str, Any]:
        """The document of `raidlab calibrate --json`."""
        return {
            "device": self.tree["name"],
            "host": self.host["name"],
            "parameters": [_estimate(estimate) for estimate in self.fit.estimates],
            "correlations": np.round(self.fit.correlations, 3).tolist(),
            "train": summary(self.part("train")),
            "test": summary(self.part("test")),
            "left_out": [vars(left) for left in self.left_out],
            "evaluations": self.fit.evaluations,
            "wall_s": round(self.fit.wall_s, 3),
            "seed": self.settings.seed,
            "warnings": list(self.warnings),
        }

    def to_toml(self) -> str:
        """The fitted device's file."""
        sources: dict[str, Any] = dict(self.base_sources)
        for estimate in self.fit.estimates:
            parameter = estimate.parameter
            if parameter.key.startswith(("host.", "state.")):
                continue
            error = float(f"{estimate.stderr:.3g}")
            source = {
                "source": "fitted",
                "stderr": f"{error:g} {parameter.unit}" if parameter.unit else error,
                "measurement": self.measurement.name,
            }
            note = _note(estimate)
            key = _source_key(parameter.key, self.tree)
            earlier = sources.get(key, {})
            if isinstance(earlier, dict) and earlier.get("measurement") == self.measurement.name:
                # Another number of the same list: the larger statement holds for all.
                note = "; ".join(part for part in (earlier.get("note", ""), note) if part)
                source["stderr"] = earlier["stderr"]
            sources[key] = source | ({"note": note} if note else {})
        test = summary(self.part("test"))
        head = [f"Fitted to {self.measurement.name}, measured behind {self.host['name']}."]
        if test["points"]:
            head.append(
                f"Predicts {test['points']} points that the fit has not seen within"
                f" {test['median_abs_error_pct']:.1f} % in the median,"
                f" {test['p90_abs_error_pct']:.1f} % in nine of ten."
            )
        return device_toml(self.tree, sources, head)


def _source_key(key: str, tree: Mapping[str, Any]) -> str:
    head, _, last = key.rpartition(".")
    # A list has one source for all its numbers.
    return head if last.isdigit() and isinstance(get(tree, head), list | tuple) else key


def _note(estimate: Estimate) -> str:
    parts = []
    if estimate.parameter.of:
        parts.append(f"{estimate.parameter.key} as {estimate.value:.4g} times the base")
    if estimate.at_bound:
        parts.append("at its bound")
    elif not estimate.identifiable:
        parts.append("hardly determined")
    return ", ".join(parts)


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


class _Model:
    """Builds benches from places in the unit cube."""

    def __init__(
        self,
        tree: Mapping[str, Any],
        host: Mapping[str, Any],
        parameters: Sequence[Parameter],
        ties: Mapping[str, Parameter],
        known: Mapping[str, Parameter],
        fixed: Mapping[str, float],
    ) -> None:
        self.tree, self.host, self.parameters = tree, host, list(parameters)
        self.ties, self.known, self.fixed = ties, known, fixed

    def numbers(self, at: Array) -> dict[str, float]:
        """Every turned value by key; ratios as ratios."""
        found = {p.key: p.value(float(x)) for p, x in zip(self.parameters, at, strict=True)}
        places = {p.key: float(x) for p, x in zip(self.parameters, at, strict=True)}
        for key, other in self.ties.items():
            place = places.get(other.key)
            found[key] = self.known[key].value(
                other.place(self.fixed.get(other.key, 0.0)) if place is None else place
            )
        return found | dict(self.fixed)

    def files(self, at: Array) -> tuple[dict[str, Any], dict[str, Any], float]:
        """The trees of the device and of the host, and the share of the drive that held data."""
        tree, host = copy.deepcopy(dict(self.tree)), copy.deepcopy(dict(self.host))
        numbers = self.numbers(at)
        mapped = numbers.get("state.mapped", 1.0)
        for key, value in numbers.items():
            if key.startswith("state."):
                continue
            parameter = self.known[key]
            target, inner = (host, key[5:]) if key.startswith("host.") else (tree, key)
            if parameter.of:
                base = self.known[parameter.of]
                at_base = numbers.get(parameter.of)
                value *= start_of(base, self.tree, self.host) if at_base is None else at_base
                put(target, inner, base.text(value))
                continue
            before = start_of(parameter, self.tree, self.host)
            put(target, inner, parameter.text(value))
            for along in parameter.along:
                if along not in numbers and before > 0:
                    ratio = start_of(_plain(parameter, along), self.tree, self.host) / before
                    put(target, along, parameter.text(value * ratio))
        return tree, host, mapped

    def bench(self, at: Array) -> Bench:
        """The bench at a place.

        Raises:
            SpecError: The numbers do not fit together.
        """
        tree, host, mapped = self.files(at)
        drive = _checked(KINDS[str(tree["kind"])], tree)
        where = _checked(HostSpec, host)
        if not isinstance(drive, DriveSpec) or not isinstance(where, HostSpec):
            raise SpecError([Fault("kind", tree["kind"], "a drive")])
        return Bench.of(drive, where, mapped=mapped)


def _plain(parameter: Parameter, key: str) -> Parameter:
    return Parameter(
        key, parameter.unit, parameter.low, parameter.high, parameter.scale, parameter.speaks
    )


def _checked(model: Any, tree: Mapping[str, Any]) -> Any:
    faults = Faults()
    found = check(model, tree, faults)
    faults.raise_if_any()
    return found


def calibrate(measurement: Measurement, settings: Settings) -> Calibration:
    """Fits a device to a measurement.

    Raises:
        SpecError: Names that do not exist, points that say nothing of the kind.
    """
    kind = kind_of(settings.kind)
    chosen, others = split(measurement.points, settings.train)
    points = [measurement.points[index] for index in chosen]
    warnings = missing(measurement.points, settings.train) + _too_little(points)
    tree, sources = _base(kind, settings, measurement)
    behind = find_for("--host", settings.host or kind.host)
    if not isinstance(behind.spec, HostSpec):
        allowed = f"a host; this is a {behind.spec.kind}"
        raise SpecError([Fault("--host", settings.host, allowed)])
    host = copy.deepcopy(dict(behind.written))
    variants = [v for v in kind.variants if not set(v) & set(settings.overrides)] or [{}]
    tried = []
    for variant in variants:
        model, parameters, start = _model(
            kind, _with(tree, variant), host, points, settings, variant
        )
        found = _search(model, parameters, start, points, settings, len(variants))
        tried.append((robust(found.residuals), found, model, variant))
    _, found, model, variant = min(tried, key=lambda one: one[0])
    warnings += [f"{key} = {value} fits best" for key, value in variant.items()]
    off = [abs(r.log_ratio) for r in _rates(model.bench(found.place), points, settings)]
    if float(np.median(off)) > _FAR:
        warnings.append(
            f"the best fit is still {100 * (np.exp(np.median(off)) - 1):.0f} % off in the median:"
            f" another kind of device than {kind.name}, or another host?"
        )
    bench = model.bench(found.place)
    ordered = [*chosen, *others]
    parts = ["train"] * len(chosen) + ["test"] * len(others)
    every = [measurement.points[index] for index in ordered]
    rows = compare(bench, every, _FINAL, parts=parts, workers=settings.workers)
    groups = _groups(model.bench(found.place), points)
    left = _leave_out(model, found, points, groups, settings) if settings.leave_out else ()
    fitted, fitted_host, _ = model.files(found.place)
    return Calibration(
        settings,
        measurement,
        found,
        bench,
        fitted,
        fitted_host,
        sources,
        tuple(rows),
        tuple(left),
        (*warnings, *found.warnings, *_extrapolated(points, every)),
    )


def _rates(bench: Bench, points: Sequence[Point], settings: Settings) -> list[Residual]:
    """The comparisons of rates alone."""
    found = residuals(points, bench.run_all(points, _ROUGH, settings.workers))
    return [residual for residual in found if residual.quantity == "rate"]


def _with(tree: Mapping[str, Any], variant: Mapping[str, Any]) -> dict[str, Any]:
    changed = copy.deepcopy(dict(tree))
    for key, value in variant.items():
        if get(changed, key) is not None:
            put(changed, key, value)
    return changed


def _groups(bench: Bench, points: Sequence[Point]) -> list[int]:
    """For each residual of the points, the point that it belongs to."""
    return [r.point for r in residuals(points, bench.run_all(points, _ROUGH))]


def _search(
    model: _Model,
    parameters: Sequence[Parameter],
    start: Array,
    points: Sequence[Point],
    settings: Settings,
    searches: int,
) -> Fit:
    """The fit of one variant."""
    groups = _groups(model.bench(start), points)

    def evaluate(at: Array, indices: Sequence[int], rough: bool) -> Array:
        looked = [points[index] for index in indices]
        effort = _ROUGH if rough else _FINE
        try:
            results = model.bench(at).run_all(looked, effort, settings.workers)
        except SpecError:
            # Numbers that no drive can have are as far away as can be.
            counts = sum(1 for group in groups if group in set(indices))
            return np.full(counts, 100.0)
        return values(residuals(looked, results))

    return fit(
        parameters,
        start,
        evaluate,
        groups,
        _stages(parameters, points),
        budget_s=settings.budget_s / searches,
        seed=settings.seed,
    )


def _base(
    kind: Kind, settings: Settings, measurement: Measurement
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The tree to start from, and the sources of what is not fitted."""
    device = find_for("--like", settings.like) if settings.like else load_device(kind.template)
    if device.spec.kind != kind.name:
        allowed = f"a device of kind {kind.name}; this is a {device.spec.kind}"
        raise SpecError([Fault("--like", settings.like, allowed)])
    tree = copy.deepcopy(dict(device.written))
    tree.pop("aliases", None)
    sources: dict[str, Any] = {}
    for key, source in device.sources.items():
        stated: dict[str, Any] = {"source": source.source}
        if source.source == "fitted":
            stated |= {"stderr": source.stderr, "measurement": source.measurement}
        if source.note:
            stated["note"] = source.note
        sources[key] = stated
    for key, value in settings.overrides.items():
        put(tree, key, value)
        if not isinstance(value, str) or is_quantity(value):
            sources[key] = {"source": "data-sheet", "note": "as given for the calibration"}
    tree["name"] = settings.name or _name(measurement.name)
    tree["title"] = f"{tree.get('title', device.spec.name)}, fitted to {measurement.name}"
    return tree, sources


def _name(text: str) -> str:
    kept = "".join(c if c.isalnum() or c in ".+-" else "-" for c in text.lower()).strip("-.+")
    return f"{kept or 'device'}-fitted"


def _model(
    kind: Kind,
    tree: Mapping[str, Any],
    host: Mapping[str, Any],
    points: Sequence[Point],
    settings: Settings,
    variant: Mapping[str, Any],
) -> tuple[_Model, list[Parameter], Array]:
    sides = frozenset(name for point in points for name, _ in point.sides())
    known_state = all(point.state is not None for point in points)
    declared = [
        parameter
        for parameter in that_apply(kind.declared, tree, sides)
        if not (known_state and parameter.key.startswith("state."))
        and parameter.key not in variant
        and parameter.key not in settings.overrides
    ]
    extra = that_apply(kind.extra, tree, sides)
    parameters, fixed = choose(declared, extra, settings.choice)
    known = {p.key: p for p in (*kind.declared, *kind.extra, *declared, *extra)}
    ties = {key: known[other] for key, other in settings.choice.tie.items()}
    model = _Model(tree, host, parameters, ties, known, fixed)
    start = np.array([p.place(start_of(p, tree, host)) for p in parameters])
    return model, parameters, start


def _stages(parameters: Sequence[Parameter], points: Sequence[Point]) -> list[Stage]:
    """Host and links first, then what reads tell, then what writes tell."""
    stages = []
    host = tuple(i for i, p in enumerate(parameters) if p.key.startswith("host."))
    if host:
        stages.append(Stage(host, _spanning(points, range(len(points)))))
    for side in ("read", "write"):
        of = [i for i, point in enumerate(points) if getattr(point, side) is not None]
        turned = tuple(
            i
            for i, p in enumerate(parameters)
            if i not in host and (p.side == side or (p.side == "both" and side == _first(points)))
        )
        if turned and of:
            stages.append(Stage(turned, _spanning(points, of)))
    return stages


def _first(points: Sequence[Point]) -> str:
    return "read" if any(point.read is not None for point in points) else "write"


def _spanning(points: Sequence[Point], of: Sequence[int]) -> tuple[int, ...]:
    """A few points that span what is outstanding."""
    ordered = sorted(of, key=lambda index: (points[index].outstanding, points[index].numjobs))
    if len(ordered) <= _SPANNING:
        return tuple(ordered)
    at = np.linspace(0, len(ordered) - 1, _SPANNING)
    return tuple(ordered[round(float(index))] for index in at)


def _too_little(points: Sequence[Point]) -> list[str]:
    found = []
    if len({point.outstanding for point in points}) == 1:
        found.append(
            f"all points have {points[0].outstanding} outstanding: waiting and work cannot be told"
            " apart; measure depth 1 and a deep queue too (raidlab-collect --plan quick)"
        )
    for side in ("read", "write"):
        if not any(getattr(point, side) for point in points):
            found.append(f"no {side}s were measured: what only {side}s tell stays as assumed")
    if not any(
        s.completion.percentiles_us or s.completion.bins_ns for p in points for _, s in p.sides()
    ):
        found.append("no percentiles were measured: fitted to rates alone")
    return found


def _extrapolated(train: Sequence[Point], every: Sequence[Point]) -> list[str]:
    """What lies outside the range that the fit has seen."""
    found = []
    most = max(point.outstanding for point in train)
    beyond = [p for p in every if p.outstanding > most]
    if beyond:
        found.append(
            f"{len(beyond)} points have more outstanding than the {most} that the fit has seen:"
            " extrapolated"
        )
    jobs = max(point.numjobs for point in train)
    more = sum(point.numjobs > jobs for point in every)
    if more:
        found.append(f"{more} points have more than {jobs} jobs: the host's own figures decide")
    return found


def _leave_out(
    model: _Model, found: Fit, points: Sequence[Point], groups: Sequence[int], settings: Settings
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
        kept = np.array([group not in members for group in groups])
        jacobian = (found.jacobian * weights[:, None])[kept]
        pull = (found.residuals * weights)[kept]
        step = np.linalg.solve(jacobian.T @ jacobian + np.eye(len(found.place)), jacobian.T @ pull)
        place = np.clip(found.place - np.clip(step, -0.2, 0.2), 0.0, 1.0)
        of = [points[index] for index in members]
        try:
            rows = compare(model.bench(place), of, _FINE, workers=settings.workers)
        except SpecError:
            continue
        left.append(LeftOut(curve, len(of), float(summary(rows)["median_abs_error_pct"])))
    return left
