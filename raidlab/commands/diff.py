"""`raidlab diff`: two results or scenarios beside each other."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from raidlab.commands.common import (
    Html,
    Json,
    OwnSeed,
    StoreFile,
    Workers,
    command,
    path,
    resumable,
)
from raidlab.commands.files_written import Reads
from raidlab.commands.outputs import give
from raidlab.commands.tables import Output, Wide


@command
def diff(
    a: Annotated[
        Path, typer.Argument(help="A scenario, or a result of `run --json`.", parser=path), Reads()
    ],
    b: Annotated[Path, typer.Argument(help="Another one.", parser=path), Reads()],
    store: StoreFile = None,
    json: Json = False,
    html: Html = None,
    wide: Wide = False,
    seed: OwnSeed = None,
    workers: Workers = None,
) -> None:
    """Show two scenarios or results beside each other: files, figures, where the time goes."""
    from raidlab.scenarios.report.studies import diff as report
    from raidlab.scenarios.studies.diff import diff as compared
    from raidlab.scenarios.studies.diff import side_of
    from raidlab.scenarios.studies.running import Running

    with resumable(f"{a.stem}, {b.stem}: diff", store) as (tell, opened):
        running = Running(workers, tell, opened)
        found = compared(side_of(a, running, seed), side_of(b, running, seed))

    give(found, report.report, "diff", Output.of(json=json, wide=wide), html)
