"""`raidlab collect`: fio on real systems."""

from __future__ import annotations

import typer

from raidlab.calibration.measurements.collect import collect as become_collector
from raidlab.commands.common import command


@command
def collect(context: typer.Context) -> None:
    """Measure a target with fio: the program raidlab-collect (see `raidlab collect --help`)."""
    become_collector(context.args)
