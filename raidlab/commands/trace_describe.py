"""`raidlab trace describe`: what a trace is like."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from raidlab.commands.common import (
    Html,
    Json,
    TraceColumns,
    TraceFormat,
    TraceUnit,
    command,
    path,
    progress,
)
from raidlab.commands.files_written import Reads
from raidlab.commands.outputs import deliver, page_of, print_answer
from raidlab.commands.tables import Output, Wide
from raidlab.scenarios.report.report import Report


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
    output = Output.of(json=json, wide=wide)

    def said() -> Report:
        return report.report(found)

    deliver([{html: page_of(said, "trace describe")}], lambda: print_answer(found, said, output))
