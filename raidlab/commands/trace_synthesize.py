"""`raidlab trace synthesize`: a trace of the same statistics."""

from __future__ import annotations

import json as json_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from raidlab.commands.common import (
    DOES_NOT_HOLD,
    Json,
    Seed,
    TraceColumns,
    TraceFormat,
    TraceUnit,
    check_writable,
    command,
    path,
    progress,
    say,
)
from raidlab.commands.tables import Output, Wide, opening, print_table
from raidlab.output import echo
from raidlab.scenarios.results.look import Column, Kind, Table

if TYPE_CHECKING:
    from raidlab.calibration.traces.synthesis import Synthesized


@command
def synthesize(
    trace: Annotated[Path, typer.Argument(help="The trace.", parser=path)],
    out: Annotated[Path, typer.Option("--out", help="The trace to write.", parser=path)],
    format: TraceFormat = "",
    columns: TraceColumns = "",
    unit: TraceUnit = None,
    seed: Seed = 1,
    json: Json = False,
    wide: Wide = False,
) -> None:
    """Write a trace of the same statistics, and compare both.

    Exits with 1 if a statistic differs by more than 10 %.
    """
    from raidlab.calibration.traces.synthesis import synthesize as make
    from raidlab.scenarios.planning.trace_files import TraceFile

    check_writable(out)
    with progress(trace.name) as tell:
        found = make(TraceFile(trace, format, columns, unit), out, seed, tell)
    say(f"wrote {out}")
    if json:
        echo(json_module.dumps(found.to_dict(), indent=2, allow_nan=False))
    else:
        _show(found, Output.of(json=json, wide=wide))
    if not all(each.holds for each in found.statistics):
        raise typer.Exit(DOES_NOT_HOLD)


def _show(found: Synthesized, output: Output) -> None:
    differ = [each.name for each in found.statistics if not each.holds]
    answer = "All statistics are within 10 % of the original's."
    if differ:
        answer = f"More than 10 % off: {', '.join(differ)}."
    opening(f"{found.out.name}: like {found.original.name}", answer, list(found.original.warnings))
    columns = [
        Column("", kind=Kind.TEXT),
        Column("original", kind=Kind.TEXT),
        Column("synthetic", kind=Kind.TEXT),
        Column("difference", "%"),
    ]

    def text(value: float | None, unit: str) -> str:
        return "-" if value is None else f"{value:,.4g} {unit}".strip()

    rows = [
        [
            each.name,
            text(each.original, each.unit),
            text(each.synthetic, each.unit),
            None if each.difference is None else 100 * each.difference,
        ]
        for each in found.statistics
    ]
    print_table(Table("Statistics", columns, rows), output)
