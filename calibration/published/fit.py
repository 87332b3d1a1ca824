"""Fits the catalogue's devices to published figures of one drive: `make calibrate-catalogue`.

Which parameters of which device, and where the search begins, stands in `published/fits.toml`.
The search is least squares in the logarithms of the parameters. A residual is ln(simulated /
published) over the figure's tolerance, under a soft absolute loss: a figure that the model cannot
reach does not rule the others. Every simulation has the same random numbers. A parameter that lies
a factor of three from its start weighs as much as one figure a tolerance off: what no figure
determines stays where it began.

The outcome depends on `fits.toml`, the rest of the data sheet, the figures and the engine alone,
so a second run writes the same. Runs of the engine are stored: an interrupted fit goes on.
"""

from __future__ import annotations

import math
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from scipy.optimize import least_squares

from raidlab.calibration.fitting.certainty.fitted_file import with_others
from raidlab.calibration.fitting.parameters.parameter import DETERMINED_WITHIN
from raidlab.calibration.fitting.search.loss import robust
from raidlab.calibration.published.figures import Figure
from raidlab.calibration.published.usage import DeviceFit, training_figures
from raidlab.calibration.published.validate import validate
from raidlab.devices.catalogue import find
from raidlab.devices.spec_text import scaled, with_source, with_value
from raidlab.devices.trees import Tree, get
from raidlab.scenarios.running.store import Store

Array = npt.NDArray[np.float64]

TOLERANCE = {"=": 0.05, "~": 0.075}
"""Residuals are counted in these: half of what counts as within tolerance."""
PRIOR = math.log(3.0)
"""Distance from the start that weighs as much as one tolerance, as a logarithm."""
STEP = 0.05
"""Step of the differences: large beside the simulation's own noise."""
_TRUSTED = 0.7
"""Farthest that a parameter goes in one round, as a logarithm: a factor of two."""
_ROUNDS = 5
_LEAST_GAIN = 0.01
"""The search ends when straight lines promise less than this share of the loss."""
ALIKE_CORRELATION = 0.95
"""Beyond this correlation two parameters cannot be distinguished."""


class Simulates(Protocol):
    """Published figures, simulated with parameters moved from their start."""

    @property
    def names(self) -> tuple[str, ...]:
        """Of the parameters."""

    @property
    def figures(self) -> Sequence[Figure]:
        """What is fitted to."""

    @property
    def tolerances(self) -> Array:
        """Of the figures' errors, shape (figures,)."""

    def errors(self, places: Sequence[Array]) -> list[Array]:
        """ln(simulated / published) of every figure at each place."""


@dataclass(frozen=True)
class Found:
    """Where a search has ended, and how sure the parameters are."""

    place: Array
    """Logarithms of the factors over the start."""
    errors: Array
    """ln(simulated / published) by figure."""
    jacobian: Array
    """Change of those by the logarithms of the parameters."""
    stderr: Array
    """Of the parameters, as shares."""
    correlations: Array

    def is_determined(self, at: int) -> bool:
        """True if the figures determine this parameter."""
        return bool(self.stderr[at] <= DETERMINED_WITHIN)


class Bench:
    """A device's training figures, simulated with parameters moved from their start."""

    def __init__(
        self, device: str, fit: DeviceFit, store: Store | None = None, workers: int | None = None
    ) -> None:
        """The data sheet with every parameter at its start.

        Raises:
            ValueError: A parameter that the data sheet does not have, or no figure to fit to.
        """
        self.device = device
        self.path = find(device).path
        self.names = tuple(fit.start)
        self.figures = training_figures(device)
        if not self.figures:
            raise ValueError(f"{device}: no published figure of one drive alone")
        self._start = Path(self.path).read_text(encoding="utf-8")
        for key, value in fit.start.items():
            self._start = with_value(self._start, key, value)
        self._store, self._workers = store, workers
        self.tolerances = np.array([TOLERANCE[figure.relation] for figure in self.figures])

    def sheet(self, moves: Array) -> str:
        """The data sheet with the parameters moved, given as logarithms of factors."""
        text = self._start
        for name, move in zip(self.names, moves, strict=True):
            text = scaled(text, name, math.exp(move))
        return text

    def errors(self, places: Sequence[Array]) -> list[Array]:
        """ln(simulated / published) of every figure at each place.

        Raises:
            ValueError: A figure cannot be simulated.
        """
        return self._simulated([self.sheet(place) for place in places])

    def _simulated(self, sheets: Sequence[str]) -> list[Array]:
        with tempfile.TemporaryDirectory() as folder:
            figures = []
            for at, sheet in enumerate(sheets):
                path = Path(folder) / f"varied-{at}.toml"
                path.write_text(sheet, encoding="utf-8")
                figures += [_of_drive(figure, str(path)) for figure in self.figures]
            rows = validate(figures, workers=self._workers, store=self._store).rows
        for row in rows:
            if not row.simulated:
                raise ValueError(f"{self.device}: {row.figure.id}: {row.why_not}")
        found = [math.log((row.simulated or 1.0) / row.figure.value) for row in rows]
        return [np.array(part) for part in np.split(np.array(found), len(sheets))]


def _of_drive(figure: Figure, drive: str) -> Figure:
    return replace(figure, configuration=replace(figure.configuration, drive=drive))


@dataclass(frozen=True)
class Fitted(Found):
    """A device at its best."""

    bench: Bench
    measurement: str

    def alike(self, at: int) -> list[str]:
        """The parameters that it cannot be distinguished from."""
        names = self.bench.names
        near = np.flatnonzero(abs(self.correlations[at]) > ALIKE_CORRELATION)
        return [names[other] for other in near if other != at]

    def sheet(self) -> str:
        """The data sheet with the values and their sources."""
        text = self._text()
        best = tomllib.loads(self.bench.sheet(self.place))
        sure = self._sure([at for at in range(len(self.bench.names)) if self.is_determined(at)])
        for at, name in enumerate(self.bench.names):
            text = with_value(text, name, get(best, name))
            text = with_source(text, name, self._source(at, sure.get(name)))
        return text

    def sheet_with_errors(self) -> str:
        """The data sheet as it is, with how sure its fitted values are."""
        text = self._text()
        sources = tomllib.loads(text)["sources"]
        is_fitted = [_is_fitted(sources.get(name)) for name in self.bench.names]
        for name, sure in self._sure(list(np.flatnonzero(is_fitted))).items():
            known = {key: of for key, of in sources[name].items() if key != "correlations"}
            text = with_source(text, name, known | sure)
        return text

    def _text(self) -> str:
        return Path(self.bench.path).read_text(encoding="utf-8")

    def _sure(self, which: Sequence[int]) -> dict[str, Tree]:
        """Standard errors of some parameters, and their correlations with one another."""
        names = [self.bench.names[at] for at in which]
        together = with_others(names, self.correlations[np.ix_(which, which)].tolist())
        return {
            name: {"stderr": f"{max(1, math.ceil(100 * self.stderr[at]))} %"}
            | ({"correlations": together[name]} if together.get(name) else {})
            for at, name in zip(which, names, strict=True)
        }

    def _source(self, at: int, sure: Tree | None) -> Tree:
        together = f"with {len(self.bench.names)} parameters to {len(self.errors)} figures"
        if sure is None:
            note = "hardly determined by the figures of one drive; usual, or chosen by hand"
            return {"source": "assumed", "note": note}
        like = self.alike(at)
        note = together + (f"; hardly distinguished from {', '.join(like)}" if like else "")
        first = {"source": "fitted", "stderr": "", "measurement": self.measurement, "note": note}
        return first | sure


def _is_fitted(source: object) -> bool:
    return isinstance(source, Mapping) and source.get("source") == "fitted"


def residuals(errors: Array, tolerances: Array, place: Array) -> Array:
    """Of the figures, and of the pull towards the start."""
    return np.concatenate([errors / tolerances, place / PRIOR])


def search(bench: Bench, fit: DeviceFit) -> Fitted:
    """A device with the parameters under which the loss is least."""
    return Fitted(**vars(least(bench)), bench=bench, measurement=fit.measurement)


def reassess(name: str, fit: DeviceFit, store: Store | None = None) -> Fitted:
    """A device with its parameters as they are, and how sure they are under today's engine.

    Raises:
        ValueError: A parameter that the data sheet does not have, or no figure to compare with.
    """
    tree = tomllib.loads(Path(find(name).path).read_text(encoding="utf-8"))
    bench = Bench(name, fit, store)
    place = np.array([math.log(_ratio(get(tree, key), fit.start[key])) for key in bench.names])
    return Fitted(**vars(assessed(bench, place)), bench=bench, measurement=fit.measurement)


def _ratio(value: Any, start: Any) -> float:
    """How many times a value of a sheet is another one, of a list the first.

    Raises:
        ValueError: They are no quantities in one unit.
    """
    first, over = (str(each[0] if isinstance(each, list) else each) for each in (value, start))
    (number, _, unit), (other, _, unit_of_start) = first.partition(" "), over.partition(" ")
    if unit != unit_of_start:
        raise ValueError(f"{first} and {over} are in different units")
    return float(number) / float(other)


def least(bench: Simulates) -> Found:
    """The parameters under which the loss is least.

    Every round takes the slopes, finds the least loss of the straight lines within a step that is
    trusted, and simulates there; a step that does not help is shortened.
    """
    place = np.zeros(len(bench.names))
    trusted = _TRUSTED
    for _ in range(_ROUNDS):
        here, jacobian = _slopes(bench, place)
        before = loss(bench, here, place)
        while trusted > STEP / 4:
            target = _along(place, here, jacobian, bench.tolerances, trusted)
            expected = loss(bench, here + jacobian @ (target - place), target)
            if loss(bench, bench.errors([target])[0], target) < before:
                place, trusted = target, min(_TRUSTED, 2 * trusted)
                break
            trusted /= 3
        else:
            break
        if expected > (1 - _LEAST_GAIN) * before:
            break
    return assessed(bench, place)


def assessed(bench: Simulates, place: Array) -> Found:
    """How sure parameters are where they stand, by the slopes there."""
    here, jacobian = _slopes(bench, place)
    slope = np.vstack([jacobian / bench.tolerances[:, None], np.eye(len(place)) / PRIOR])
    found = residuals(here, bench.tolerances, place)
    covariance = _covariance(slope, found, len(bench.figures))
    deviations = np.sqrt(np.diag(covariance))
    correlations = covariance / np.outer(deviations, deviations)
    return Found(place, here, jacobian, deviations, correlations)


def loss(bench: Simulates, errors: Array, place: Array) -> float:
    """Soft absolute loss of the figures' errors and of the pull towards the start."""
    return robust(residuals(errors, bench.tolerances, place))


def _slopes(bench: Simulates, place: Array) -> tuple[Array, Array]:
    """Errors at a place, and their change by each parameter."""
    steps = (place + STEP * each for each in np.eye(len(place)))
    here, *moved = bench.errors([place, *steps])
    return here, np.array([(each - here) / STEP for each in moved]).T


def least_loss(bench: Simulates, found: Found, used: npt.NDArray[np.bool_]) -> Array:
    """Where the loss of some figures alone is least if errors follow their slopes."""
    tolerances = bench.tolerances[used]
    return _along(found.place, found.errors[used], found.jacobian[used], tolerances, _TRUSTED)


def _along(place: Array, here: Array, jacobian: Array, tolerances: Array, trusted: float) -> Array:
    """Where the loss is least if errors follow their slopes, not farther than is trusted."""
    slope = np.vstack([jacobian / tolerances[:, None], np.eye(len(place)) / PRIOR])
    found = least_squares(
        lambda at: residuals(here + jacobian @ (at - place), tolerances, at),
        place,
        lambda at: slope,
        bounds=(place - trusted, place + trusted),
        loss="soft_l1",
    )
    return np.asarray(found.x, dtype=np.float64)


def _covariance(jacobian: Array, found: Array, figures: int) -> Array:
    """s^2 (J'WJ)^-1 with the weights of the loss.

    s is the scatter of the residuals, or one tolerance if that is more.
    """
    weights = 1 / np.sqrt(1 + found**2)
    freedom = max(1, figures - jacobian.shape[1])
    scatter = max(1.0, float(np.sum((weights * found**2)[:figures])) / freedom)
    # The pull is no measurement: it keeps its own weight.
    scales = np.where(np.arange(len(found)) < figures, weights / scatter, 1.0)
    return np.asarray(np.linalg.inv(jacobian.T @ (jacobian * scales[:, None])), dtype=np.float64)
