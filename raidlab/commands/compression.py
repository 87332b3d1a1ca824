"""`raidlab compression`: rates over how far data can be compressed."""

from __future__ import annotations

from typing import Annotated

import typer

from raidlab.commands.common import (
    Html,
    Json,
    OwnSeed,
    Workers,
    command,
    percents,
    resumable,
)
from raidlab.commands.files_written import Reads
from raidlab.commands.outputs import give
from raidlab.commands.tables import Output, Wide


@command
def compression(
    target: Annotated[
        str,
        typer.Argument(help="A drive that compresses, or a scenario with one (its file)."),
        Reads(),
    ],
    shares: Annotated[
        str,
        typer.Option("--shares", help="Shares by which data can be compressed, percent."),
    ] = "0,2,10,25,50,75,90,98",
    json: Json = False,
    html: Html = None,
    wide: Wide = False,
    seed: OwnSeed = None,
    workers: Workers = None,
) -> None:
    """Show rates, bytes to NAND and write amplification over how far data can be compressed.

    A drive is loaded with random and sequential reads and writes; a scenario with its own loads.
    """
    from raidlab.scenarios.report.studies import compression as report
    from raidlab.scenarios.studies.compression import compressions

    allowed = 'percent from 0 to 100, with commas, such as "0,50,98"'
    wanted = sorted(set(percents("--shares", shares, allowed, lambda share: 0 <= share <= 1)))
    with resumable("compression") as (tell, store):
        found = compressions(target, wanted, seed=seed, workers=workers, progress=tell, store=store)

    give(found, report.report, "compression", Output.of(json=json, wide=wide), html)
