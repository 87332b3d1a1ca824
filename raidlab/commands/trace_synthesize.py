"""`raidlab trace synthesize`: a trace of the same statistics."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from raidlab.commands.common import (
    DOES_NOT_HOLD,
    Html,
    Json,
    Seed,
    TraceColumns,
    TraceFormat,
    TraceUnit,
    command,
    path,
    progress,
    say,
)
from raidlab.commands.file_kinds import FileKind
from raidlab.commands.files_written import Reads, Writes
from raidlab.commands.outputs import deliver, page_of, print_answer
from raidlab.commands.tables import Output, Wide
from raidlab.scenarios.report.report import Report


@command
def synthesize(
    trace: Annotated[Path, typer.Argument(help="The trace.", parser=path), Reads()],
    out: Annotated[
        Path,
        typer.Option("--out", help="The trace to write.", parser=path),
        Writes(FileKind.TRACE),
    ],
    format: TraceFormat = "",
    columns: TraceColumns = "",
    unit: TraceUnit = None,
    seed: Seed = 1,
    json: Json = False,
    html: Html = None,
    wide: Wide = False,
) -> None:
    """Write a trace of the same statistics, and compare both.

    Exits with 1 if a statistic differs by more than 10 %.
    """
    from raidlab.calibration.report import trace_synthesis as report
    from raidlab.calibration.traces.synthesis import synthesize as make
    from raidlab.scenarios.planning.trace_files import TraceFile

    with progress(trace.name) as tell:
        found = make(TraceFile(trace, format, columns, unit), out, seed, tell)
    say(f"wrote {out}")
    output = Output.of(json=json, wide=wide)

    def said() -> Report:
        return report.report(found)

    deliver([{html: page_of(said, "trace synthesize")}], lambda: print_answer(found, said, output))
    if not all(each.holds for each in found.statistics):
        raise typer.Exit(DOES_NOT_HOLD)
