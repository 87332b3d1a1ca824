"""`raidlab sweep`: a scenario at many points."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from raidlab.commands.common import (
    DOES_NOT_HOLD,
    INTERRUPTED,
    Html,
    Json,
    OwnSeed,
    ScenarioFile,
    StoreFile,
    Workers,
    command,
    path,
    resumable,
    say,
    tell_breaches,
)
from raidlab.commands.file_kinds import FileKind
from raidlab.commands.files_written import STANDARD_OUTPUT, Writes
from raidlab.commands.outputs import Texts, deliver, page_of, print_answer
from raidlab.commands.tables import Output, Wide
from raidlab.devices.faults import Fault, SpecError
from raidlab.output import echo
from raidlab.scenarios.report.report import Report
from raidlab.scenarios.studies.vary import Design

if TYPE_CHECKING:
    from raidlab.scenarios.studies.sweep import Sweep

Vary = Annotated[
    list[str],
    typer.Option(
        "--vary",
        help="PATH=VALUES: a list (a,b,c) or a range (2:24, 2:24:2, 1:512:x2, 1000:5000:500 IO/s).",
        show_default=False,
    ),
]
Dask = Annotated[
    str | None,
    typer.Option("--dask", help="Run on the Dask cluster of this scheduler, tcp://HOST:PORT."),
]


@command
def sweep(
    scenario: ScenarioFile,
    vary: Vary,
    design: Annotated[
        Design, typer.Option("--design", help="How the points are placed.")
    ] = Design.GRID,
    points: Annotated[
        int | None,
        typer.Option("--points", min=1, help="Number of points of a design that is no grid."),
    ] = None,
    replications: Annotated[
        int | None,
        typer.Option("--replications", min=1, max=1000, help="Runs of each point."),
    ] = None,
    store: StoreFile = None,
    dask: Dask = None,
    csv: Annotated[
        Path | None,
        typer.Option("--csv", help="Write the rows to this file; - is the output.", parser=path),
        Writes(FileKind.TABLE, dash=True),
    ] = None,
    parquet: Annotated[
        Path | None,
        typer.Option("--parquet", help="Write the rows to this file.", parser=path),
        Writes(FileKind.PARQUET),
    ] = None,
    json: Json = False,
    html: Html = None,
    wide: Wide = False,
    seed: OwnSeed = None,
    workers: Workers = None,
) -> None:
    """Simulate a scenario at many points: any of its fields over lists or ranges.

    Finished runs are stored: interrupted or killed, the same command goes on from there.
    """
    from raidlab.scenarios.report.studies import sweep as report
    from raidlab.scenarios.spec.written import scenario_tree
    from raidlab.scenarios.studies.sweep import Experiment
    from raidlab.scenarios.studies.sweep import sweep as run_all
    from raidlab.scenarios.studies.vary import axes_of

    if csv == STANDARD_OUTPUT and json:
        allowed = "a file beside --json: both would be on standard output"
        raise SpecError([Fault("--csv", "-", allowed)])
    axes = axes_of(vary)
    experiment = Experiment(
        scenario_tree(scenario), axes, scenario, design, points, replications, seed
    )
    with (
        _elsewhere(dask) as executor,
        resumable(f"{scenario.stem}: sweep", store) as (tell, opened),
    ):
        found = run_all(experiment, workers=workers, executor=executor, progress=tell, store=opened)

    def said() -> Report:
        return report.report(found)

    def show() -> None:
        if csv == STANDARD_OUTPUT:
            echo(found.table().write_csv().rstrip("\n"))
        else:
            print_answer(found, said, Output.of(json=json, wide=wide))

    files: Texts = {
        None if csv == STANDARD_OUTPUT else csv: lambda: found.table().write_csv(),
        parquet: lambda: _parquet(found),
        html: page_of(said, "sweep"),
    }
    deliver([files], show, partial=found.interrupted)
    if found.interrupted:
        say("interrupted: the same command goes on from here")
        raise typer.Exit(INTERRUPTED)
    if tell_breaches(found.breaches):
        raise typer.Exit(DOES_NOT_HOLD)


def _parquet(found: Sweep) -> bytes:
    buffer = BytesIO()
    found.table().write_parquet(buffer)
    return buffer.getvalue()


@contextmanager
def _elsewhere(address: str | None) -> Iterator[Executor | None]:
    if address is None:
        yield None
        return
    from raidlab.scenarios.running.cluster import dask_executor

    with dask_executor(address) as executor:
        yield executor
