"""iostat as JSON (`-o JSON`), also cut off or invalid."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from raidlab.calibration.monitoring import json_text
from raidlab.calibration.monitoring.column_names import AMOUNTS, meaning
from raidlab.calibration.monitoring.readers.iostat_json_fast import FastJson, OtherFormError
from raidlab.calibration.monitoring.readers.iostat_text import version_of
from raidlab.calibration.monitoring.readers.reader import Options, Reader
from raidlab.calibration.monitoring.reports import Reports
from raidlab.calibration.monitoring.samples import Capture, Quantity, RefusedError
from raidlab.calibration.monitoring.source import Source


def _recognises(head: str) -> float:
    return 0.95 if '"sysstat"' in head and '"disk_device"' in head else 0.0


def _read(sources: Sequence[Source], options: Options) -> Capture:
    try:
        return _fast(sources)
    except OtherFormError:
        return _any(sources)


def _fast(sources: Sequence[Source]) -> Capture:
    """Files as iostat writes them.

    Raises:
        OtherFormError: One is not.
    """
    reader = FastJson(Capture("iostat"))
    for source in sources:
        repairs = json_text.Repairs()
        reader.file(source, repairs)
        _say(repairs, reader.reports, reader.capture)
    reader.flush()
    return _finished(reader.capture, reader.reports, reader.columns)


def _any(sources: Sequence[Source]) -> Capture:
    """Files of any form, also invalid ones."""
    capture = Capture("iostat")
    reports = Reports()
    columns: set[str] = set()
    for source in sources:
        text = source.text()
        found = re.search(r'"nodename"\s*:\s*"([^"]*)"', text)
        if found:
            if capture.host not in (None, found[1]):
                raise RefusedError(
                    f"the files are of several hosts ({capture.host} and {found[1]})"
                )
            capture.host = found[1]
        repairs = json_text.Repairs()
        reports.begin_run()
        for element in json_text.elements(text, "statistics", repairs):
            if isinstance(element, dict):
                _report(element, reports, columns)
        _say(repairs, reports, capture)
    return _finished(capture, reports, columns)


def _finished(capture: Capture, reports: Reports, columns: set[str]) -> Capture:
    if not reports.devices:
        raise RefusedError("no report of a device is in it", source="iostat")
    reports.finish(capture)
    capture.version = version_of(columns)
    return capture


def _say(repairs: json_text.Repairs, reports: Reports, capture: Capture) -> None:
    for text in repairs.texts:
        capture.note("repaired", "", text)
    if repairs.cut:
        number = reports.at + 2
        capture.note("cut", "", f"the file ends inside report {number}: that report is left out")
    capture.repaired |= repairs.cut or any("invalid" in text for text in repairs.texts)


def _report(element: Mapping[str, object], reports: Reports, columns: set[str]) -> None:
    disks = element.get("disk")
    if not isinstance(disks, list):
        return
    stamp = element.get("timestamp")
    reports.begin(str(stamp) if isinstance(stamp, str) else None)
    at = np.array([reports.at], dtype=np.int32)
    for disk in disks:
        if not isinstance(disk, dict) or not isinstance(disk.get("disk_device"), str):
            continue
        values: dict[Quantity, Any] = {}
        amounts: dict[Quantity, tuple[float, float]] = {}
        steps: dict[Quantity, float] = {}
        for key, value in disk.items():
            columns.add(key)
            amount = AMOUNTS.get(key.lower())
            if amount is not None and isinstance(value, int | float):
                amounts[amount.quantity] = (value * amount.scale, amount.scale)
            sense = meaning(key)
            if sense is None or not isinstance(value, int | float):
                continue
            values[sense.quantity] = np.array([value * sense.scale])
            steps[sense.quantity] = 0.01 * sense.scale
        for quantity, (total, unit) in amounts.items():
            if quantity in values:
                units = (unit, 100 * steps[quantity])
                reports.lasted(at, np.array([total]), values[quantity], units)
        reports.add(disk["disk_device"].strip(), at, values)
        reports.coarse(disk["disk_device"].strip(), steps)


READER = Reader("iostat-json", "iostat as JSON", _recognises, _read)
