"""`raidlab trace describe`: what a trace is like."""

from __future__ import annotations

import json as json_module
from pathlib import Path
from typing import Annotated

import typer

from raidlab.commands.again import again
from raidlab.commands.common import (
    Html,
    Json,
    TraceColumns,
    TraceFormat,
    TraceUnit,
    command,
    path,
    progress,
    say,
)
from raidlab.commands.files_written import Reads
from raidlab.commands.outputs import deliver
from raidlab.commands.tables import Output, Wide, opening, print_table
from raidlab.output import echo


@command
def describe(
    trace: Annotated[Path, typer.Argument(help="The trace.", parser=path), Reads()],
    format: TraceFormat = "",
    columns: TraceColumns = "",
    unit: TraceUnit = None,
    json: Json = False,
    html: Html = None,
    wide: Wide = False,
) -> None:
    """Describe a trace: mix, sizes, order, bursts, hot spots, and which size of a cache pays."""
    from raidlab.calibration.report import trace_description as report
    from raidlab.calibration.traces.description import describe as read
    from raidlab.scenarios.planning.trace_files import TraceFile

    with progress(trace.name) as tell:
        found = read(TraceFile(trace, format, columns, unit), progress=tell)
    line = again("trace describe")
    output = Output.of(json=json, wide=wide)

    def show() -> None:
        if output is Output.JSON:
            for warning in found.warnings:
                say(f"warning: {warning}")
            echo(json_module.dumps(found.to_dict(), indent=2, allow_nan=False))
            return
        form = f"{found.form} ({found.columns})" if found.columns else found.form
        opening(f"{found.name}: {form}", found.answer(), list(found.warnings))
        for table in report.tables(found):
            print_table(table, output)

    deliver([{html: lambda: report.page(found, line)}], show)
