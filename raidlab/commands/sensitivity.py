"""`raidlab sensitivity`: which number that is open to measure first."""

from __future__ import annotations

from typing import Annotated

import typer

from raidlab.commands.common import (
    Html,
    Json,
    OwnSeed,
    ScenarioFile,
    StoreFile,
    Workers,
    command,
    resumable,
)
from raidlab.commands.outputs import give
from raidlab.commands.tables import Output, Wide
from raidlab.scenarios.studies.sensitivity import Method


@command
def sensitivity(
    scenario: ScenarioFile,
    of: Annotated[
        str, typer.Option("--of", help='A latency or rate: "p99", "write mean", "mail: rate".')
    ] = "p99",
    vary: Annotated[
        list[str] | None,
        typer.Option(
            "--vary",
            help="Beside what data sheets leave open: PATH=LOW:HIGH.",
            show_default=False,
        ),
    ] = None,
    method: Annotated[
        Method, typer.Option("--method", help="A ranking, or shares of the variance.")
    ] = Method.MORRIS,
    samples: Annotated[
        int | None,
        typer.Option("--samples", help="10 trajectories of Morris, or 64 base samples of Sobol."),
    ] = None,
    store: StoreFile = None,
    json: Json = False,
    html: Html = None,
    wide: Wide = False,
    seed: OwnSeed = None,
    workers: Workers = None,
) -> None:
    """Rank the numbers that are open by what they do to a latency or rate.

    These are numbers that data sheets leave open (`range` in `[sources]`), and fields of the
    scenario given by `--vary`. Interrupted, the same command goes on from there.
    """
    from raidlab.scenarios.planning.scenario import load_scenario
    from raidlab.scenarios.report.studies import sensitivity as report
    from raidlab.scenarios.results.goals import quantity_of
    from raidlab.scenarios.studies.running import Running
    from raidlab.scenarios.studies.sensitivity import sensitivity as rank
    from raidlab.scenarios.studies.vary import axes_of

    asked = quantity_of(of)
    axes = axes_of(vary) if vary else []
    checked = load_scenario(scenario)
    with resumable(f"{checked.title}: sensitivity", store) as (tell, opened):
        running = Running(workers, tell, opened)
        found = rank(
            checked, asked, axes=axes, method=method, samples=samples, seed=seed, running=running
        )

    give(found, report.report, "sensitivity", Output.of(json=json, wide=wide), html)
