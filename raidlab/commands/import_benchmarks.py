"""`raidlab import iometer` and `iozone`: results of benchmarks become a measurement."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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

if TYPE_CHECKING:
    from raidlab.calibration.benchmarks.importing import Tool

StateBefore = Annotated[State | None, typer.Option(help="State of the drive before each test.")]


@command
def iometer_results(
    paths: Annotated[
        list[Path], typer.Argument(help="Its CSV files, or folders of them.", parser=path), Reads()
    ],
    out: MeasurementOut,
    name: MeasurementName = "",
    state: StateBefore = None,
    json: Json = False,
) -> None:
    """Make a measurement of Iometer's results; says what was skipped and why."""
    _keep("iometer", paths, name, state, out, json=json)


@command
def iozone_results(
    paths: Annotated[
        list[Path], typer.Argument(help="What it printed, or folders of it.", parser=path), Reads()
    ],
    out: MeasurementOut,
    name: MeasurementName = "",
    state: StateBefore = None,
    json: Json = False,
) -> None:
    """Make a measurement of what IOzone printed; says what was skipped and why."""
    _keep("iozone", paths, name, state, out, json=json)


def _keep(
    tool: Tool, paths: list[Path], name: str, state: State | None, out: Path, *, json: bool
) -> None:
    from raidlab.calibration.benchmarks.importing import import_results

    keep_measurement(import_results(tool, paths, name, state), out, json)
