"""Files that a planner has: which kind each is, what is in it, and why it is none."""

from __future__ import annotations

import contextlib
import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Final

from raidlab.calibration.datasheets.build import import_datasheet
from raidlab.calibration.monitoring.importing import Imported, import_monitoring
from raidlab.calibration.monitoring.load import load_of
from raidlab.devices.catalogue import catalogue, find_for, load_device, names
from raidlab.devices.faults import Fault, SpecError, few_of_each
from raidlab.devices.other_kind import JOB_ENDINGS
from raidlab.devices.schema import DriveSpec
from raidlab.scenarios.files.checks import check_file
from raidlab.scenarios.files.kinds import WrittenKind, kind_of
from raidlab.scenarios.results.number_text import figure
from raidlab.scenarios.spec.monitored import MonitoredLoad
from raidlab.scenarios.spec.trees import WorkloadTree
from raidlab.scenarios.spec.written import scenario_tree
from raidlab.scenarios.studies.present import System

LARGEST_BYTES: Final = 32 * 1024 * 1024
"""Of an uploaded file."""
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._-]+")
_JOB_LINE: Final = re.compile(r"^\s*(rw|readwrite|bs|ioengine|iodepth)\s*=", re.MULTILINE)
_JOB_SECTION: Final = re.compile(r"^\s*\[[^\]]+\]\s*$", re.MULTILINE)
_PRICE_COLUMNS: Final = ("device", "cost", "power_w")
_DECIMAL_COMMA: Final = re.compile(r"^(\d+),(\d{1,2})$")
"""A price as `189,90`; three digits behind a comma might be thousands."""
_SECONDS_SHOWN: Final = 120.0
"""Length of a file from which on minutes and hours are said."""
_MOST_PRICES: Final = 500
_TAKEN: Final = (
    "what monitoring printed (iostat, sar, Prometheus, perfmon ...), a job file of fio, a data"
    " sheet or device file (TOML), the present system as a scenario (TOML), or prices (CSV with the"
    " columns device and cost)"
)


class UploadKind(StrEnum):
    """What an uploaded file is to the planner."""

    MONITORING = "monitoring"
    JOB = "job"
    DEVICE = "device"
    PRICES = "prices"
    SYSTEM = "system"
    """The present system, as a scenario whose own loads are left out."""


@dataclass(frozen=True)
class Price:
    """A row of a price list."""

    device: str
    cost: float
    watts: float | None = None


@dataclass(frozen=True)
class Upload:
    """A file that can be used."""

    name: str
    """As the planner calls it."""
    kind: UploadKind
    file: str
    """In the question's folder."""
    words: str
    """What is in it."""
    prices: Sequence[Price] = ()
    warnings: Sequence[str] = ()
    closed: bool = False
    """True for a load without a rate of its own: it goes as fast as the system lets it."""


def taken(name: str, text: str, folder: Path) -> list[Upload]:
    """Recognises a file and stores it in the question's folder.

    Monitoring of several devices gives the load of all of them, then that of each.

    Raises:
        SpecError: It is none that the planner takes, or has faults; says what it takes.
    """
    name = name.rpartition("/")[2] or "file"
    if len(text.encode(errors="replace")) > LARGEST_BYTES:
        raise SpecError([Fault(name, None, f"at most {LARGEST_BYTES // 2**20} MiB")])
    if not text.strip():
        raise SpecError([Fault(name, None, f"{_TAKEN}; it is empty")])
    path = folder / _UNSAFE.sub("-", name)
    path.write_text(text, encoding="utf-8", errors="replace")
    try:
        if path.suffix.lower() == ".toml":
            return [_toml(name, path)]
        if path.suffix.lower() in JOB_ENDINGS or _is_job(text):
            return [_job(name, path)]
        if _is_prices(text):
            return [_prices(name, path, text)]
        return _monitoring(name, path)
    except SpecError as error:
        path.unlink(missing_ok=True)
        raise SpecError(_without_folder(error.faults, folder)) from None


def _without_folder(faults: Sequence[Fault], folder: Path) -> Iterator[Fault]:
    for fault in few_of_each(faults):
        allowed = fault.allowed.replace(f"{folder}/", "")
        file = fault.file.replace(f"{folder}/", "")
        yield Fault(fault.key, fault.value, allowed, fault.choices, file)


def _is_job(text: str) -> bool:
    return bool(_JOB_SECTION.search(text) and _JOB_LINE.search(text))


def _job(name: str, path: Path) -> Upload:
    checked = check_file(path, WrittenKind.JOBS)
    if checked.faults:
        raise SpecError(checked.faults)
    words = f"a job file of fio: {checked.holds}"
    warnings = checked.warnings
    return Upload(name, UploadKind.JOB, path.name, words, warnings=warnings, closed=True)


def _toml(name: str, path: Path) -> Upload:
    kind = kind_of(path)
    if kind is WrittenKind.DEVICE:
        device = load_device(path)
        if not isinstance(device.spec, DriveSpec):
            allowed = "a drive: choose controllers from the catalogue"
            raise SpecError([Fault("kind", device.spec.kind, allowed, (), name)])
        words = f"a device file: {device.spec.title or device.spec.name}"
        return Upload(name, UploadKind.DEVICE, path.name, words)
    if kind is WrittenKind.SHEET:
        return _sheet(name, path)
    if kind is WrittenKind.SCENARIO:
        return _system(name, path)
    raise SpecError([Fault(name, None, f"{_TAKEN}; this is a {kind} of raidlab")])


def _system(name: str, path: Path) -> Upload:
    tree = scenario_tree(path)
    faults = [
        Fault(key, value, "a device of the catalogue", tuple(names()), name)
        for key, value in _devices_of(tree)
        if value not in names()
    ]
    run = tree.get("run")
    if isinstance(run, Mapping) and "snapshot" in run:
        faults.append(Fault("run.snapshot", run["snapshot"], "left out here", (), name))
    if faults:
        raise SpecError(faults)
    system = System(tree, path)
    scenario = system.loaded([_ANY_LOAD], {})
    drives = f"{len(scenario.base['drives'])} drives, {figure(scenario.usable_bytes, 'B')} usable"
    words = f"the present system: {system.title}, {drives}"
    return Upload(name, UploadKind.SYSTEM, path.name, words)


def _devices_of(tree: Mapping[str, object], key: str = "") -> Iterator[tuple[str, str]]:
    """Every device that a scenario names, with its key: a path would be a file of this machine."""
    for name, value in tree.items():
        here = f"{key}.{name}" if key else name
        if name in ("model", "hot_spare_model") and isinstance(value, str):
            yield here, value
        for at, each in enumerate(value if isinstance(value, list) else [value]):
            if isinstance(each, Mapping) and name not in ("workload", "event"):
                yield from _devices_of(each, f"{here}.{at}" if isinstance(value, list) else here)


_ANY_LOAD: Final[WorkloadTree] = {"rw": "randread", "block_size": "4 KiB", "outstanding": 1}


def _sheet(name: str, path: Path) -> Upload:
    imported = import_datasheet(path)
    if imported.useless:
        stated = ", ".join(sorted(point.quantity for point in imported.useless))
        allowed = f"{stated} come out at less than half or more than twice what is stated"
        raise SpecError([Fault(name, None, f"figures that agree with each other: {allowed}")])
    device = path.with_name(f"{imported.name}.toml")
    device.write_text(imported.draft.to_toml(), encoding="utf-8")
    words = f"a data sheet: {imported.name}, made a device"
    return Upload(name, UploadKind.DEVICE, device.name, words, warnings=imported.warnings)


def _monitoring(name: str, path: Path) -> list[Upload]:
    try:
        found = import_monitoring([path])
    except SpecError as error:
        # Options of the command mean nothing on the page.
        said = [fault for fault in error.faults if not fault.key.startswith("--")]
        raise SpecError([*said, Fault(name, None, _TAKEN)]) from None
    if found.refused is not None:
        allowed = f"{found.refused.fact}. The planner takes {_TAKEN}"
        raise SpecError([Fault(name, None, allowed)])
    devices = list(found.default_devices)
    made = list(_monitored(name, path, found, devices))
    for device in devices if len(devices) > 1 else ():
        with contextlib.suppress(SpecError):  # A device without any I/O is no load.
            made += _monitored(name, path, found, [device])
    return made


def _monitored(name: str, path: Path, found: Imported, devices: Sequence[str]) -> Iterator[Upload]:
    """A load as it was seen; one that waited for its system also as arrivals, which can grow."""
    load = load_of(replace(found, default_devices=list(devices)))
    part = "" if len(devices) != 1 else f"-{_UNSAFE.sub('-', devices[0])}"
    file = path.with_name(f"{path.stem}{part}.load.json")
    closed = load.loop.kind == "closed"
    words = f"{found.capture.source} of {', '.join(load.devices)}: {_rates(load)}"
    file.write_text(load.to_json(), encoding="utf-8")
    kind = UploadKind.MONITORING
    if not closed:
        yield Upload(name, kind, file.name, words, warnings=found.warnings)
        return
    waits = f"{words}; it waits for the system, so it cannot grow"
    yield Upload(name, kind, file.name, waits, warnings=found.warnings, closed=True)
    open_file = path.with_name(f"{path.stem}{part}-arrives.load.json")
    arrives = load.model_copy(update={"loop": load.loop.model_copy(update={"kind": "open"})})
    open_file.write_text(arrives.to_json(), encoding="utf-8")
    yield Upload(name, kind, open_file.name, f"{words}; taken to arrive at these rates")


def _rates(load: MonitoredLoad) -> str:
    reads, writes = _mean(load.read_iops), _mean(load.write_iops)
    total = reads + writes
    if not total:
        raise SpecError([Fault("rates", 0, "at least one I/O: nothing was monitored", (), "")])
    seconds = load.steps * load.step_s
    long = figure(seconds, "s") if seconds < _SECONDS_SHOWN else figure(seconds / 3600, "h")
    return f"{figure(total, 'IO/s')} on average, {100 * reads / total:.0f} % reads, over {long}"


def _mean(steps: Sequence[float | None]) -> float:
    known = [each for each in steps if each is not None]
    return sum(known) / len(known) if known else 0.0


def _separator(text: str) -> str:
    head = text.lstrip("\ufeff").partition("\n")[0]
    return max((",", ";", "\t"), key=head.count)


def _is_prices(text: str) -> bool:
    head = text.lstrip("\ufeff").partition("\n")[0].lower()
    columns = {each.strip().strip('"') for each in head.split(_separator(text))}
    return "device" in columns and bool(columns & {"cost", "price"})


def _prices(name: str, path: Path, text: str) -> Upload:
    rows = csv.reader(text.lstrip("\ufeff").splitlines(), delimiter=_separator(text))
    columns = [each.strip().lower() for each in next(rows)]
    columns = ["cost" if each == "price" else each for each in columns]
    faults: list[Fault] = []
    for column in columns:
        if column not in _PRICE_COLUMNS:
            allowed = f"a column of {', '.join(_PRICE_COLUMNS)}"
            faults.append(Fault("column", column, allowed, _PRICE_COLUMNS, name))
    found: dict[str, Price] = {}
    for at, row in enumerate(rows, 2):
        cells = dict(zip(columns, (each.strip() for each in row), strict=False))
        if not any(cells.values()):
            continue
        where = f"line {at}"
        device = cells.get("device", "")
        device = _by_title().get(device.casefold(), device)
        try:
            find_for(where, device)
        except SpecError as error:
            faults += error.faults
        if device in found:
            faults.append(Fault(where, device, "a device that has no price yet"))
        cost = _number(f"{where}, cost", cells.get("cost", ""), faults)
        watts = None
        if cells.get("power_w"):
            watts = _number(f"{where}, power_w", cells["power_w"], faults)
        found[device] = Price(device, cost, watts)
    if not found:
        faults.append(Fault("rows", 0, "a device and its cost in each line", (), name))
    if len(found) > _MOST_PRICES:
        faults.append(Fault("rows", len(found), f"at most {_MOST_PRICES}", (), name))
    if faults:
        raise SpecError(faults)
    words = f"prices of {len(found)} device{'s' * (len(found) != 1)}"
    return Upload(name, UploadKind.PRICES, path.name, words, tuple(found.values()))


@cache
def _by_title() -> Mapping[str, str]:
    """Names of the catalogue's devices by their titles, which the page shows."""
    return {each.spec.title.casefold(): each.spec.name for each in catalogue() if each.spec.title}


def _number(where: str, text: str, faults: list[Fault]) -> float:
    try:
        value = float(_DECIMAL_COMMA.sub(r"\1.\2", text))
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1e12:
        faults.append(Fault(where, text, "a number of at least 0, such as 1250 or 189.90"))
    return value
