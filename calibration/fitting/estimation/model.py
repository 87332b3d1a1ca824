"""What a place in the unit cube of a fit stands for: the files of a device and a host, a bench."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from raidlab.calibration.fitting.bench.bench import Bench
from raidlab.calibration.fitting.parameters.kinds import (
    CPU_SCALE,
    CPU_TIMES,
    REVOLUTION,
    revolution_ns,
    start_of,
)
from raidlab.calibration.fitting.parameters.parameter import Parameter
from raidlab.calibration.fitting.parameters.system_kinds import CONTROLLER_TABLE
from raidlab.devices.catalogue import KINDS
from raidlab.devices.controller import ControllerSpec
from raidlab.devices.faults import Faults
from raidlab.devices.host import HostSpec
from raidlab.devices.schema import DeviceSpec, DriveSpec, check
from raidlab.devices.trees import Tree, Value, copied, get, put, table_at

Array = npt.NDArray[np.float64]
Stand = Callable[..., Bench]
"""What a device stands in: the bench of it, of a host, of the share of it that contained data, and
of the controller that is fitted with it, if there is one."""
_SPEED = Parameter("speed", "rpm", 1.0, 1e6, "log", "")


def alone(device: DeviceSpec, host: HostSpec, mapped: float) -> Bench:
    """A drive behind a host."""
    if not isinstance(device, DriveSpec):
        raise AssertionError("what is no drive is fitted in a system")
    return Bench.of(device, host, mapped=mapped)


class FitModel:
    """Builds benches from places in the unit cube."""

    def __init__(
        self,
        tree: Mapping[str, Value],
        host: Mapping[str, Value],
        parameters: Sequence[Parameter],
        ties: Mapping[str, Parameter],
        known: Mapping[str, Parameter],
        fixed: Mapping[str, float],
        stand: Stand = alone,
    ) -> None:
        self.tree, self.host, self.parameters = tree, host, list(parameters)
        self.ties, self.known, self.fixed, self.stand = ties, known, fixed, stand

    @property
    def start(self) -> Array:
        """The place of what the files have, shape (parameters,)."""
        values = [start_of(p, self.tree, self.host) for p in self.parameters]
        places = [p.place(value) for p, value in zip(self.parameters, values, strict=True)]
        return np.array(places)

    def numbers(self, at: Array) -> dict[str, float]:
        """Every varied value by key; ratios as ratios."""
        found = {p.key: p.value(float(x)) for p, x in zip(self.parameters, at, strict=True)}
        places = {p.key: float(x) for p, x in zip(self.parameters, at, strict=True)}
        for key, other in self.ties.items():
            place = places.get(other.key)
            found[key] = self.known[key].value(
                other.place(self.fixed.get(other.key, 0.0)) if place is None else place
            )
        return found | dict(self.fixed)

    def files(self, at: Array) -> tuple[Tree, Tree, float]:
        """The trees of the device and the host, and the share of the drive that contained data."""
        tree, host = copied(self.tree), copied(self.host)
        numbers = self.numbers(at)
        mapped = numbers.get("state.mapped", 1.0)
        for key, value in numbers.items():
            if key.startswith("state."):
                continue
            if key == CPU_SCALE:
                _scale_cpu(host, value)
                continue
            parameter = self.known[key]
            target, inner = (host, key[5:]) if key.startswith("host.") else (tree, key)
            if parameter.of == REVOLUTION:
                speed = numbers.get("speed", start_of(_SPEED, self.tree, self.host))
                put(target, inner, f"{value * revolution_ns(speed) / 1e6:.5g} ms")
                continue
            if parameter.of:
                base = self.known[parameter.of]
                at_base = numbers.get(parameter.of)
                value *= start_of(base, self.tree, self.host) if at_base is None else at_base
                put(target, inner, base.text(value))
                continue
            before = start_of(parameter, self.tree, self.host)
            put(target, inner, parameter.text(value))
            for along in parameter.along:
                if along not in numbers and before > 0 and self._has(along):
                    ratio = start_of(_plain(parameter, along), self.tree, self.host) / before
                    put(target, along, parameter.text(value * ratio))
        return tree, host, mapped

    def _has(self, key: str) -> bool:
        """Whether the files have a key; those of the host begin with its name."""
        of_host = key.startswith("host.")
        found = get(self.host, key[len("host.") :]) if of_host else get(self.tree, key)
        return found is not None

    def bench(self, at: Array) -> Bench:
        """The bench at a place.

        Raises:
            SpecError: The numbers do not fit together.
        """
        tree, host, mapped = self.files(at)
        beside = table_at(tree, CONTROLLER_TABLE)
        tree.pop(CONTROLLER_TABLE, None)
        device = checked(KINDS[str(tree["kind"])], tree)
        controller = (checked(ControllerSpec, beside),) if beside else ()
        return self.stand(device, _host(json.dumps(host)), mapped, *controller)


@functools.lru_cache(maxsize=16)
def _host(text: str) -> HostSpec:
    """The host of a tree as JSON: most places of a search have the same one."""
    found: HostSpec = checked(HostSpec, json.loads(text))
    return found


def _scale_cpu(host: Tree, factor: float) -> None:
    """Every time that a host's CPU takes, times `factor`."""
    for key in CPU_TIMES:
        text = get(host, key)
        if isinstance(text, str):
            number, _, unit = text.partition(" ")
            put(host, key, f"{float(f'{float(number) * factor:.5g}'):g} {unit}")


def _plain(parameter: Parameter, key: str) -> Parameter:
    return Parameter(
        key, parameter.unit, parameter.low, parameter.high, parameter.scale, parameter.speaks
    )


def checked(model: Any, tree: Mapping[str, Value]) -> Any:
    """A tree as its model.

    Raises:
        SpecError: Everything that is wrong with it.
    """
    faults = Faults()
    found = check(model, tree, faults)
    faults.raise_if_any()
    return found
