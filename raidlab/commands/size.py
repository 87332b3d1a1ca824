"""`raidlab size`: the least or the most of something with which a system meets its goals."""

from __future__ import annotations

from typing import Annotated

import typer

from raidlab.commands.common import (
    DOES_NOT_HOLD,
    Html,
    Json,
    OwnSeed,
    ScenarioFile,
    StoreFile,
    Workers,
    command,
    resumable,
    say,
)
from raidlab.commands.outputs import give
from raidlab.commands.tables import Output, Wide
from raidlab.scenarios.studies.size import Find

Goals = Annotated[
    list[str],
    typer.Option(
        "--goal",
        help='"p99 < 20 ms", "usable >= 10 TB", "write p99.9 < 5 ms", "rebuild < 24 h" ...',
        show_default=False,
    ),
]


@command
def size(
    scenario: ScenarioFile,
    vary: Annotated[
        str,
        typer.Option(
            "--vary",
            help="PATH=VALUES: array.0.drives.0.count=2:24, workload.0.rate=100:9000 IO/s ...",
            show_default=False,
        ),
    ],
    goal: Goals,
    find: Annotated[
        Find | None,
        typer.Option("--find", help="The most of a load, the least of all else by default."),
    ] = None,
    store: StoreFile = None,
    json: Json = False,
    html: Html = None,
    wide: Wide = False,
    seed: OwnSeed = None,
    workers: Workers = None,
) -> None:
    """Find the fewest drives, the highest rate ... with which a scenario meets goals.

    Exits with 1 if no value meets them.
    """
    from dataclasses import replace

    from raidlab.scenarios.report.studies import size as report
    from raidlab.scenarios.results.goals import goals_of, without_effect
    from raidlab.scenarios.spec.written import scenario_tree
    from raidlab.scenarios.studies.openness import doubt
    from raidlab.scenarios.studies.present import as_monitored
    from raidlab.scenarios.studies.running import Running
    from raidlab.scenarios.studies.size import size as search
    from raidlab.scenarios.studies.vary import axes_of

    (axis,), goals = axes_of([vary]), goals_of(goal)
    for note in without_effect(goals):
        say(f"warning: {note}")
    tree = scenario_tree(scenario)
    with resumable(f"{scenario.stem}: size", store) as (tell, opened):
        running = Running(workers, tell, opened)
        present = as_monitored(tree, scenario, Running(workers, None, opened), seed or 1)
        found = search(tree, scenario, axis, goals, find=find, seed=seed, running=running)
    if present is not None:
        said = doubt(present)
        found = replace(
            found, present=present, warnings=(*((said,) if said else ()), *found.warnings)
        )

    give(found, report.report, "size", Output.of(json=json, wide=wide), html)
    if found.answer is None:
        raise typer.Exit(DOES_NOT_HOLD)
