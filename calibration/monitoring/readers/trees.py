"""JSON documents of a source: what had to be repaired is noted, what is none is refused."""

from __future__ import annotations

from typing import Any

from raidlab.calibration.monitoring import json_text
from raidlab.calibration.monitoring.samples import Capture, RefusedError
from raidlab.calibration.monitoring.source import Source


def trees_of(source: Source, capture: Capture) -> list[Any]:
    """The documents of a source.

    Raises:
        RefusedError: It is no JSON, or cut off before anything can be read.
    """
    repairs = json_text.Repairs()
    try:
        found = json_text.documents(source.text(), repairs)
    except ValueError as error:
        raise RefusedError(str(error), source=capture.source) from None
    for text in repairs.texts:
        capture.note("repaired", "", text)
    capture.repaired |= bool(repairs.texts)
    return found
