"""`raidlab rebuild`: how long a rebuild takes and what users feel of it, over its rate limit."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from raidlab.commands.common import (
    INTERRUPTED,
    Html,
    Json,
    OwnSeed,
    Workers,
    command,
    path,
    percents,
    resumable,
    say,
)
from raidlab.commands.files_written import Reads
from raidlab.commands.outputs import give
from raidlab.commands.tables import Output, Wide


@command
def rebuild(
    scenario: Annotated[
        Path,
        typer.Argument(
            help="A scenario in which a drive fails (docs/reference/scenario.md).", parser=path
        ),
        Reads(),
    ],
    rates: Annotated[
        str,
        typer.Option("--rates", help="Rebuild rates in percent, with commas: share of the time."),
    ] = "10,20,30,50,80,90,95,100",
    json: Json = False,
    html: Html = None,
    wide: Wide = False,
    seed: OwnSeed = None,
    workers: Workers = None,
) -> None:
    """Say how long a rebuild takes, what limits it and what users feel, at each rebuild rate.

    Interrupted with Ctrl-C it shows what is measured so far: the same command goes on from there.
    """
    from raidlab.scenarios.report.studies import rebuild as report
    from raidlab.scenarios.studies.rebuild import rebuilds

    allowed = 'percent above 0, at most 100, with commas, such as "10,30,100"'
    wanted = percents("--rates", rates, allowed, lambda rate: 0 < rate <= 1)
    with resumable("rebuilds") as (tell, store):
        found = rebuilds(scenario, wanted, workers=workers, seed=seed, progress=tell, store=store)

    output = Output.of(json=json, wide=wide)
    give(found, report.report, "rebuild", output, html, partial=found.interrupted)
    if found.interrupted:
        say(f"interrupted after {report.progress(found)}: the same command goes on from here")
        raise typer.Exit(INTERRUPTED)
