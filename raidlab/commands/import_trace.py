"""`raidlab import trace`: a trace with response times becomes a measurement."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from raidlab.commands.common import (
    Json,
    MeasurementName,
    MeasurementOut,
    TraceColumns,
    TraceFormat,
    TraceUnit,
    command,
    path,
)
from raidlab.commands.files_written import Reads
from raidlab.commands.outputs import keep_measurement


@command
def trace(
    path: Annotated[Path, typer.Argument(help="The trace.", parser=path), Reads()],
    out: MeasurementOut,
    format: TraceFormat = "",
    columns: TraceColumns = "",
    unit: TraceUnit = None,
    name: MeasurementName = "",
    json: Json = False,
) -> None:
    """Make a measurement of a trace: a point for each direction, size, order and depth."""
    from raidlab.calibration.traces.formats import read_trace
    from raidlab.calibration.traces.points import measurement_of

    read = read_trace(path, format, columns=columns, unit=unit)
    keep_measurement(measurement_of(read, name), out, json)
