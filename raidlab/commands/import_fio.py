"""`raidlab import fio`: fio's output becomes a measurement."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from raidlab.calibration.measurements.state import State
from raidlab.commands.common import (
    Json,
    MeasurementName,
    MeasurementOut,
    command,
    path,
)
from raidlab.commands.files_written import Reads
from raidlab.commands.outputs import keep_measurement


@command
def fio_results(
    paths: Annotated[
        list[Path],
        typer.Argument(help="JSON, json+, logs, or folders of them.", parser=path),
        Reads(),
    ],
    out: MeasurementOut,
    name: MeasurementName = "",
    state: Annotated[
        State | None,
        typer.Option(help="State of the drive before each run, if its result does not say."),
    ] = None,
    json: Json = False,
) -> None:
    """Make a measurement of fio's output; says what was skipped and why."""
    from raidlab.calibration.fio.results import import_fio

    measurement = import_fio(paths, name, state)
    keep_measurement(measurement, out, json)
