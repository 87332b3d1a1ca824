"""How well published figures settle a data sheet's parameters, and how well it predicts.

`python -m raidlab.calibration.published_fit DEVICE KEY...` varies each parameter (`nand.program`,
`firmware.turn`) of a device by a few percent, simulates the device's figures anew, and prints

- each parameter's standard error, from the errors of the figures and their sensitivity to it
  (Gauss-Newton: covariance s^2 (J'J)^-1, residuals ln(simulated / published));
- for every format, profile, depth and level the errors of its figures as they are, and as they
  would be had that group been left out of the fit: with the parameters that the other figures
  alone ask for, to first order.
"""

from __future__ import annotations

import math
import re
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from raidlab.calibration.published import Configuration, Figure, read_published
from raidlab.calibration.validate import validate
from raidlab.devices.catalogue import find

Array = npt.NDArray[np.floating]

STEP = 0.06
"""Share by which a parameter is varied: large beside the simulation's own noise."""
_FLOOR = 0.05
"""Standard deviation of a parameter known beforehand, as a share: a fit does not wander further
than this times ten from a value that no figure settles."""


@dataclass(frozen=True)
class Sensitivity:
    """Residuals of figures and their change with parameters, both as logarithms."""

    figures: Sequence[Figure]
    names: Sequence[str]
    residuals: Sequence[float]
    jacobian: Sequence[Sequence[float]]
    """One row a figure, one column a parameter."""


def scaled(text: str, key: str, factor: float) -> str:
    """A data sheet's text with one parameter multiplied.

    Args:
        text: The TOML file.
        key: `table.name`.
        factor: What every number of the value is multiplied by.

    Raises:
        ValueError: There is no such parameter.
    """
    table, _, name = key.rpartition(".")
    start = text.index(f"[{table}]") if f"[{table}]" in text else -1
    match = (
        re.compile(rf"^{re.escape(name)} = (.*)$", re.M).search(text, start) if start >= 0 else None
    )
    if match is None:
        raise ValueError(f"{key}: no parameter of this data sheet")

    def multiply(number: re.Match[str]) -> str:
        return f"{float(number[0]) * factor:.6g}"

    value = re.sub(r"\d+(?:\.\d+)?(?=[ \",\]]|$)", multiply, match[1])
    return text[: match.start(1)] + value + text[match.end(1) :]


def figures_of(device: str) -> list[Figure]:
    """Figures of a number from a table, of one drive or an array of it."""
    rates = ("iops", "mib_per_s", "mb_per_s")
    return [
        figure
        for figure in read_published()
        if figure.configuration.drive == device
        and figure.relation in ("=", "~")
        and figure.quantity in rates
    ]


def sensitivity(device: str, names: Sequence[str], figures: Sequence[Figure]) -> Sensitivity:
    """Simulates the figures with every parameter varied in turn."""
    path = find(device).path
    text = Path(path).read_text(encoding="utf-8")
    base = _logarithms(figures, text)
    columns = []
    for name in names:
        up = _logarithms(figures, scaled(text, name, 1 + STEP))
        down = _logarithms(figures, scaled(text, name, 1 - STEP))
        columns.append([(a - b) / (2 * STEP) for a, b in zip(up, down, strict=True)])
    return Sensitivity(figures, names, base, list(zip(*columns, strict=True)))


def _logarithms(figures: Sequence[Figure], sheet: str) -> list[float]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "varied.toml"
        path.write_text(sheet, encoding="utf-8")
        varied = [
            replace(figure, configuration=replace(figure.configuration, drive=str(path)))
            for figure in figures
        ]
        rows = validate(varied).rows
    return [math.log((row.simulated or 1e-9) / row.figure.value) for row in rows]


def standard_errors(known: Sensitivity) -> list[float]:
    """Of each parameter, as a share of its value."""
    jacobian, residuals = np.array(known.jacobian), np.array(known.residuals)
    freedom = max(1, len(residuals) - len(known.names))
    variance = float(residuals @ residuals) / freedom
    covariance = variance * np.linalg.pinv(jacobian.T @ jacobian)
    return [float(value) ** 0.5 for value in np.diag(covariance)]


def left_out(
    known: Sensitivity, group: Callable[[Configuration], str]
) -> Iterator[tuple[str, int, float, float]]:
    """For each group: figures, median error in percent as it is and when left out of the fit."""
    jacobian, residuals = np.array(known.jacobian), np.array(known.residuals)
    labels = [group(figure.configuration) for figure in known.figures]
    prior = np.eye(len(known.names)) * (0.1 / (10 * _FLOOR)) ** 2
    whole = _step(jacobian, residuals, prior)
    for label in sorted(set(labels)):
        out = np.array([each == label for each in labels])
        moved = _step(jacobian[~out], residuals[~out], prior) - whole
        predicted = residuals[out] + jacobian[out] @ moved
        errors = [abs(float(np.expm1(value))) * 100 for value in residuals[out]]
        without = [abs(float(np.expm1(value))) * 100 for value in predicted]
        yield label, int(out.sum()), statistics.median(errors), statistics.median(without)


def _step(jacobian: Array, residuals: Array, prior: Array) -> Array:
    return np.linalg.solve(jacobian.T @ jacobian + prior, -jacobian.T @ residuals)


GROUPS: Mapping[str, Callable[[Configuration], str]] = {
    "format": lambda configuration: configuration.format or "-",
    "profile": lambda configuration: configuration.load,
    "depth": lambda configuration: configuration.outstanding,
    "level": lambda configuration: f"{configuration.level} x{configuration.count}",
}


def main(arguments: Sequence[str]) -> int:
    """Prints both tables for a device and its parameters."""
    device, *names = arguments
    figures = figures_of(device)
    known = sensitivity(device, names, figures)
    errors = standard_errors(known)
    print(f"{len(names)} parameters, {len(figures)} figures")
    for name, error in zip(names, errors, strict=True):
        print(f"  {name}: standard error {100 * error:.1f} %")
    for title, group in GROUPS.items():
        for label, count, now, without in left_out(known, group):
            print(
                f"  {title} {label}: {count} figures, median {now:.1f} %, left out {without:.1f} %"
            )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
