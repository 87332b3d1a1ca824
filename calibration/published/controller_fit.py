"""How well a controller's firmware times that are fitted on some levels predict the others.

`python -m raidlab.calibration.published.controller_fit [CONTROLLER...]` takes the published
numbers of arrays behind each controller and parts them: RAID 0 here, levels with mirrors or
parity there. It fits the firmware times on one part, simulates the other with what it found, and
the other way round. The search begins with every time half as long again as in the data sheet, so
that agreement is not owed to the sheet, and prints the errors there too: where they stay, the
figures do not determine the times.

The fit is Gauss-Newton on logarithms with one Jacobian and two steps; a figure's residual counts in
units of 5 %, and a time is known beforehand within a factor of 1.6 of its start, which decides
about times that no figure settles.
"""

from __future__ import annotations

import dataclasses
import math
import statistics
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from raidlab.calibration.published.figures import Configuration, Figure, read_published
from raidlab.calibration.published.validate import validate
from raidlab.devices.catalogue import find
from raidlab.devices.controller import ControllerSpec, Firmware

START = 1.5
"""Every time at the start of a search, as a multiple of the data sheet's."""
_STEP = 0.1
"""Logarithm by which a time is varied: large beside the simulation's own noise."""
_FIGURE = 0.05
"""Standard deviation of a figure's residual."""
_BEFORE = math.log(1.6)
"""Standard deviation of a time's logarithm before any figure is looked at."""
_STEPS = 2
_TIMES = ("request", "command", "cached", "parity", "latency")

Times = Mapping[str, float]
"""Firmware times in nanoseconds, by key."""


@dataclass(frozen=True)
class Family:
    """Controllers with the same firmware times, and the figures behind them."""

    names: tuple[str, ...]
    """As rows write them."""
    times: Times
    figures: tuple[Figure, ...]

    def part(self, striped: bool) -> tuple[Figure, ...]:
        """Its figures of RAID 0, or of all other levels."""
        return tuple(f for f in self.figures if (f.configuration.level == "raid0") == striped)


def families(wanted: Sequence[str] = ()) -> Iterator[Family]:
    """Controllers of the published numbers that have figures of both parts."""
    by_firmware: dict[str, tuple[Firmware, list[Figure]]] = {}
    for figure in read_published():
        name = figure.configuration.controller
        if not name or figure.relation not in ("=", "~"):
            continue
        spec = find(name).spec
        if isinstance(spec, ControllerSpec) and (not wanted or {name, spec.name} & set(wanted)):
            key = f"{spec.cores} {spec.firmware!r}"
            by_firmware.setdefault(key, (spec.firmware, []))[1].append(figure)
    for firmware, figures in by_firmware.values():
        known = {name: getattr(firmware, name) for name in _TIMES}
        family = Family(
            names=tuple(dict.fromkeys(f.configuration.controller for f in figures)),
            times={name: float(time) for name, time in known.items() if time},
            figures=tuple(figures),
        )
        if family.part(True) and family.part(False):
            yield family


def residuals(
    family: Family, figures: Sequence[Figure], sets: Sequence[Times]
) -> list[list[float]]:
    """ln(simulated / published) of every figure, for each set of times; one run for all."""
    with tempfile.TemporaryDirectory() as folder:
        varied = [
            _behind(figure, family, Path(folder), at, times)
            for at, times in enumerate(sets)
            for figure in figures
        ]
        rows = validate(varied).rows
    missing = next((row.why_not for row in rows if row.simulated is None), None)
    if missing is not None:
        raise ValueError(missing)
    logs = [math.log((row.simulated or 1.0) / row.figure.value) for row in rows]
    return [logs[at : at + len(figures)] for at in range(0, len(logs), len(figures))]


def _behind(figure: Figure, family: Family, folder: Path, at: int, times: Times) -> Figure:
    """A figure whose controllers have these times."""

    def changed(configuration: Configuration) -> Configuration:
        name = configuration.controller
        if name not in family.names:
            return configuration
        sheet = folder / f"{name}-{at}.toml"
        lines = [f'{key} = "{time:.0f} ns"' for key, time in times.items()]
        head = ['kind = "controller"', f'name = "{name}-{at}"', 'title = "varied"']
        text = [*head, f'like = "{find(name).spec.name}"', "[firmware]", *lines, ""]
        sheet.write_text("\n".join(text), encoding="utf-8")
        return dataclasses.replace(configuration, controller=str(sheet))

    baseline = None if figure.baseline is None else changed(figure.baseline)
    return dataclasses.replace(
        figure, configuration=changed(figure.configuration), baseline=baseline
    )


def fitted(family: Family, figures: Sequence[Figure]) -> Times:
    """The times that these figures ask for."""
    names = list(family.times)
    start = np.log([START * family.times[name] for name in names])

    def times(at: npt.NDArray[np.floating]) -> Times:
        return {name: float(np.exp(value)) for name, value in zip(names, at, strict=True)}

    around = [times(start), *(times(start + _STEP * row) for row in np.eye(len(names)))]
    base, *varied = (np.array(each) for each in residuals(family, figures, around))
    jacobian = np.stack([(each - base) / _STEP for each in varied], axis=1) / _FIGURE
    precision = jacobian.T @ jacobian + np.eye(len(names)) / _BEFORE**2
    at = start
    for step in range(_STEPS):
        found = base if step == 0 else np.array(residuals(family, figures, [times(at)])[0])
        pull = jacobian.T @ (found / _FIGURE) + (at - start) / _BEFORE**2
        at = at - np.linalg.solve(precision, pull)
    return times(at)


def _errors(values: Sequence[float]) -> str:
    each = [100 * math.expm1(value) for value in values]
    median = statistics.median(abs(value) for value in each)
    return f"median {median:.1f} % ({', '.join(f'{value:+.1f}' for value in each)})"


def main(arguments: Sequence[str]) -> int:
    """Prints times and errors of every controller."""
    for family in families(arguments):
        print(f"{', '.join(family.names)}")
        for striped in (True, False):
            here, there = family.part(striped), family.part(not striped)
            times = fitted(family, here)
            start = {name: START * time for name, time in family.times.items()}
            before, after, sheet = residuals(family, (*here, *there), [start, times, family.times])
            found = [f"{name} {time / 1e3:.1f} us" for name, time in times.items()]
            what = ("RAID 0", "other levels")
            print(f"  fitted on {what[not striped]}: {', '.join(found)}")
            for title, part in ((what[not striped], slice(0, len(here))),
                                (what[striped], slice(len(here), None))):  # fmt: skip
                print(f"    {title}: start {_errors(before[part])}")
                print(f"      fitted {_errors(after[part])}; sheet {_errors(sheet[part])}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
