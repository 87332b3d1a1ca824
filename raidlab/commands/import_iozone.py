"""`raidlab import iozone`: results of IOzone become a measurement."""

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
def iozone_results(
    paths: Annotated[
        list[Path], typer.Argument(help="What it printed, or folders of it.", parser=path), Reads()
    ],
    out: MeasurementOut,
    name: MeasurementName = "",
    state: Annotated[
        State | None, typer.Option(help="State of the drive before each test.")
    ] = None,
    json: Json = False,
) -> None:
    """Make a measurement of what IOzone printed; says what was skipped and why."""
    from raidlab.calibration.benchmarks.importing import import_results

    keep_measurement(import_results("iozone", paths, name, state), out, json)
