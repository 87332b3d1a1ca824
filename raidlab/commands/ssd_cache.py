"""`raidlab ssd-cache`: how soon SSDs as a cache of disks pay, over the size of the hot spot."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from raidlab.commands.common import (
    Html,
    Json,
    OwnSeed,
    Workers,
    command,
    path,
    resumable,
)
from raidlab.commands.files_written import Reads
from raidlab.commands.outputs import give
from raidlab.commands.tables import Output, Wide


@command
def ssd_cache(
    scenario: Annotated[
        Path,
        typer.Argument(
            help="A scenario with a cache_tier (docs/reference/scenario.md).", parser=path
        ),
        Reads(),
    ],
    hot_spots: Annotated[
        str, typer.Option("--hot-spots", help="Sizes of the hot spot, with commas.")
    ] = "32 GB,64 GB,128 GB",
    json: Json = False,
    html: Html = None,
    wide: Wide = False,
    seed: OwnSeed = None,
    workers: Workers = None,
) -> None:
    """Run a scenario with an SSD cache, once for each size of the hot spot.

    Interrupted with Ctrl-C it keeps what is done: the same command goes on from there.
    """
    from raidlab.scenarios.report.studies import hot_spots as report
    from raidlab.scenarios.studies.hot_spots import warmings

    sizes = [part.strip() for part in hot_spots.split(",")]
    with resumable("hot spots") as (tell, store):
        found = warmings(scenario, sizes, workers=workers, seed=seed, progress=tell, store=store)

    give(found, report.report, "ssd-cache", Output.of(json=json, wide=wide), html)
