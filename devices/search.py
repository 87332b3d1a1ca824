"""Finds devices of the catalogue by what a planner asks for: kind, class, capacity, year."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from raidlab.devices.catalogue import KINDS, Device
from raidlab.devices.classes import class_of, year_of
from raidlab.devices.controller import ControllerSpec
from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.schema import DriveOptions, DriveSpec
from raidlab.devices.ssd import SsdSpec
from raidlab.devices.units import SIZE

NVME = "nvme"
KIND_NAMES = (*KINDS, NVME)
"""Kinds of the catalogue; and SSDs that speak NVMe, which are of kind `ssd`."""
CELLS = ("slc", "mlc", "tlc", "qlc", "plc")
_YEARS = re.compile(r"(\d{4})|(\d{4})?:(\d{4})?")
_NEAREST = 3
_OTHER_KIND = 10.0
"""Distance of a device of another kind; of another class it is 1."""


@dataclass(frozen=True)
class Query:
    """What is asked for, as options have it; empty for no matter."""

    kind: str = ""
    of: str = ""
    """Class, or how its name begins: `nvme-gen4-tlc`, `nvme`."""
    cell: str = ""
    interface: str = ""
    """Or how its name begins: `pcie-4.0`, `sas`."""
    min_capacity: str = ""
    max_capacity: str = ""
    year: str = ""
    """One year, or a span: `2020:2023`, `2020:`."""

    def given(self) -> dict[str, str]:
        """The options that are given, by name."""
        names = {"of": "class"}
        return {
            f"--{names.get(key, key).replace('_', '-')}": value
            for key, value in vars(self).items()
            if value
        }


@dataclass(frozen=True)
class Criterion:
    """One thing that is asked for."""

    option: str
    wanted: str
    fits: Callable[[Device], bool]
    distance: Callable[[Device], float]
    """How far a device is from it: 0 if it fits, 1 if a name differs."""


def interface_of(device: Device) -> str:
    """The name of a drive's own link, or of a controller's to the host."""
    spec = device.spec
    if isinstance(spec, ControllerSpec):
        return spec.link
    return spec.interface if isinstance(spec, DriveSpec) else ""


def capacity_of(device: Device) -> int | None:
    """Bytes of a drive."""
    spec = device.spec
    return spec.capacity_bytes(DriveOptions()) if isinstance(spec, DriveSpec) else None


def cell_of(device: Device) -> str:
    """The cell of an SSD."""
    return device.spec.nand.cell if isinstance(device.spec, SsdSpec) else ""


def criteria(query: Query, devices: Sequence[Device]) -> list[Criterion]:
    """What a query asks for.

    Raises:
        SpecError: Every value that names nothing, with the nearest that does.
    """
    faults: list[Fault] = []
    found: list[Criterion] = []

    def names(option: str, wanted: str, known: Iterable[str], of: Callable[[Device], str]) -> None:
        whole = sorted({name for name in known if name not in ("", "none")})
        if wanted in _beginnings(whole):
            found.append(_named(option, wanted, of))
        elif wanted:
            allowed = f"one of {', '.join(whole)}, or how one begins up to a dash"
            faults.append(Fault(option, wanted, allowed, sorted(_beginnings(whole))))

    kinds = partial(names, "--kind", query.kind, KIND_NAMES)
    kinds(_nvme_kind if query.kind == NVME else _kind)
    names("--class", query.of, map(class_of, devices), class_of)
    names("--cell", query.cell, CELLS, cell_of)
    names("--interface", query.interface, map(interface_of, devices), interface_of)
    bounds = {
        option: _bytes(option, text, faults)
        for option, text in (
            ("--min-capacity", query.min_capacity),
            ("--max-capacity", query.max_capacity),
        )
        if text
    }
    low, high = bounds.get("--min-capacity"), bounds.get("--max-capacity")
    if low is not None and high is not None and low > high:
        allowed = f"at least --min-capacity of {query.min_capacity}"
        faults.append(Fault("--max-capacity", query.max_capacity, allowed))
    if bounds and query.kind in ("host", "controller"):
        allowed = f"nothing beside --kind {query.kind}: drives alone have a capacity"
        faults += [Fault(option, query.given()[option], allowed) for option in bounds]
    if low is not None:
        found.append(_numbered("--min-capacity", query.min_capacity, capacity_of, low, math.inf))
    if high is not None:
        found.append(_numbered("--max-capacity", query.max_capacity, capacity_of, 0, high))
    if query.year:
        found += _years(query.year, faults)
    if faults:
        raise SpecError(faults)
    return found


def nearest(
    devices: Sequence[Device], asked: Sequence[Criterion]
) -> list[tuple[Device, list[str]]]:
    """Devices that miss least of what is asked for, each with the options that it misses."""

    def misses(device: Device) -> tuple[float, str]:
        return math.fsum(each.distance(device) for each in asked), device.spec.name

    chosen = sorted(devices, key=misses)[:_NEAREST]
    return [(device, [each.option for each in asked if not each.fits(device)]) for device in chosen]


def _kind(device: Device) -> str:
    return device.spec.kind


def _nvme_kind(device: Device) -> str:
    return NVME if class_of(device).startswith(f"{NVME}-") else device.spec.kind


def _beginnings(names: Iterable[str]) -> set[str]:
    """Names, and all that they begin with up to a dash."""
    return {
        "-".join(name.split("-")[:parts])
        for name in names
        for parts in range(1, name.count("-") + 2)
    }


def _named(option: str, wanted: str, of: Callable[[Device], str]) -> Criterion:
    far = _OTHER_KIND if option == "--kind" else 1.0

    def fits(device: Device) -> bool:
        return f"{of(device)}-".startswith(f"{wanted}-")

    return Criterion(option, wanted, fits, lambda device: 0.0 if fits(device) else far)


def _numbered(
    option: str, wanted: str, of: Callable[[Device], int | None], low: float, high: float
) -> Criterion:
    def distance(device: Device) -> float:
        value = of(device)
        if value is None:
            return math.inf
        # A factor of two counts as much as another name.
        below = math.log2(low / value) if low else 0.0
        return max(0.0, below, math.log2(value / high) if math.isfinite(high) else 0.0)

    return Criterion(option, wanted, lambda device: distance(device) <= 0, distance)


def _years(text: str, faults: list[Fault]) -> list[Criterion]:
    match = _YEARS.fullmatch(text)
    if match is None or text == ":":
        faults.append(Fault("--year", text, "a year, or a span: 2022, 2020:2023, 2020:"))
        return []
    low = int(match[1] or match[2] or 0)
    high = int(match[1] or match[3] or 9999)
    if low > high:
        faults.append(Fault("--year", text, f"a span that ends after {low}"))
        return []

    def distance(device: Device) -> float:
        year = year_of(device)
        return math.inf if year is None else float(max(0, low - year, year - high)) / 2

    return [Criterion("--year", text, lambda device: distance(device) <= 0, distance)]


def _bytes(option: str, text: str, faults: list[Fault]) -> float | None:
    try:
        value: Any = SIZE.convert(text)
    except ValueError as error:
        faults.append(Fault(option, text, str(error).replace("64 KiB", "3.84 TB")))
        return None
    if value <= 0:
        faults.append(Fault(option, text, 'more than 0, such as "3.84 TB"'))
        return None
    return float(value)
