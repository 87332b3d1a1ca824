"""`raidlab import published`: published figures of a drive become a measurement."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

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
def published(
    path: Annotated[
        Path,
        typer.Argument(help="Figures, as docs/reference/formats/published.md says.", parser=path),
        Reads(),
    ],
    drive: Annotated[str, typer.Option("--drive", help="Whose figures: as in their column.")],
    out: MeasurementOut,
    name: MeasurementName = "",
    json: Json = False,
) -> None:
    """Make a measurement of published rates of a drive on its own."""
    from raidlab.calibration.published.points import measurement_of

    keep_measurement(measurement_of(path, drive, name), out, json)
