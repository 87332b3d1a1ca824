"""`raidlab why`: what slows a system, each usual cause removed by itself."""

from __future__ import annotations

from pathlib import Path
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
    path,
    resumable,
)
from raidlab.commands.files_written import Reads
from raidlab.commands.outputs import give
from raidlab.commands.tables import Output, Wide


@command
def why(
    scenario: ScenarioFile,
    measured: Annotated[
        Path | None,
        typer.Option(
            "--measured",
            help="fio's JSON, a measurement of one point, or monitoring: which cause explains it.",
            parser=path,
            show_default=False,
        ),
        Reads(),
    ] = None,
    store: StoreFile = None,
    json: Json = False,
    html: Html = None,
    wide: Wide = False,
    seed: OwnSeed = None,
    workers: Workers = None,
) -> None:
    """Say why a system is slow: each usual cause is removed by itself and ranked by its gain.

    Causes are those of docs/reference/causes.md. A healthy system has none; then the answer is what
    limits it by design. Interrupted, the same command goes on from there.
    """
    from raidlab.calibration.monitoring.measured_means import measured_means
    from raidlab.scenarios.planning.scenario import load_scenario
    from raidlab.scenarios.report.studies import why as report
    from raidlab.scenarios.studies.why import why as diagnose

    checked = load_scenario(scenario)
    means = None if measured is None else measured_means(measured)
    with resumable(f"{checked.title}: why", store) as (tell, opened):
        found = diagnose(
            checked, measured=means, seed=seed, workers=workers, progress=tell, store=opened
        )

    give(found, report.report, "why", Output.of(json=json, wide=wide), html)
