"""`raidlab fit-load`: what monitoring leaves open, fitted on the present system."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from raidlab.commands.common import (
    DOES_NOT_HOLD,
    Html,
    Json,
    ScenarioFile,
    Seed,
    StoreFile,
    Workers,
    command,
    path,
    resumable,
)
from raidlab.commands.file_kinds import FileKind
from raidlab.commands.files_written import Reads, Writes
from raidlab.commands.outputs import deliver, give
from raidlab.commands.tables import Output, Wide


@command
def fit_load(
    scenario: ScenarioFile,
    load: Annotated[
        Path,
        typer.Argument(help="A load of `import monitoring --out` or `record`.", parser=path),
        Reads(),
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Write the load with what was fitted.", parser=path),
        Writes(FileKind.LOAD),
    ] = None,
    store: StoreFile = None,
    json: Json = False,
    html: Html = None,
    wide: Wide = False,
    seed: Seed = 1,
    workers: Workers = None,
) -> None:
    """Fit what monitoring leaves open of a load, on the system that was monitored.

    Exits with 1 if nothing that is open gives the monitored waits.
    """
    from raidlab.scenarios.report.studies import present as report
    from raidlab.scenarios.spec.monitored import read_monitored
    from raidlab.scenarios.spec.written import scenario_tree
    from raidlab.scenarios.studies.openness import fit_open
    from raidlab.scenarios.studies.present import System
    from raidlab.scenarios.studies.running import Running

    tree, monitored = scenario_tree(scenario), read_monitored(load)
    with resumable(f"{scenario.stem}: fit-load", store) as (tell, opened):
        running = Running(workers, tell, opened)
        found = fit_open(System(tree, scenario), monitored, running, seed)

    deliver([{out: found.load.to_json}], lambda: None)
    give(found, report.report, "fit-load", Output.of(json=json, wide=wide), html)
    if not found.fit.holds:
        raise typer.Exit(DOES_NOT_HOLD)
