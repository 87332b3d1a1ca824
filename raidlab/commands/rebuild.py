"""`raidlab rebuild`: how long a rebuild takes and what users feel of it, over its rate limit."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from raidlab.commands.common import (
    Html,
    Json,
    OwnSeed,
    Workers,
    check_writable,
    command,
    give,
    path,
    percents,
    resumable,
    table,
)


@command
def rebuild(
    scenario: Annotated[
        Path,
        typer.Argument(
            help="A scenario in which a drive fails (docs/reference/scenario.md).", parser=path
        ),
    ],
    rates: Annotated[
        str,
        typer.Option("--rates", help="Rebuild rates in percent, with commas: share of the time."),
    ] = "10,20,30,50,80,100",
    json: Json = False,
    html: Html = None,
    seed: OwnSeed = None,
    workers: Workers = None,
) -> None:
    """Run a scenario in which a drive fails, once for each rebuild rate.

    Interrupted with Ctrl-C it keeps what is done: the same command goes on from there.
    """
    from raidlab.scenarios.studies.rebuild import PHASES, rebuilds

    allowed = 'percent above 0, at most 100, with commas, such as "10,30,100"'
    wanted = percents("--rates", rates, allowed, lambda rate: 0 < rate <= 1)
    check_writable(html)
    with resumable("rebuilds") as (tell, store):
        found = rebuilds(scenario, wanted, workers=workers, seed=seed, progress=tell, store=store)
    rows = []
    for each in found.rebuilds:
        took = each.rebuild_s
        row = {
            "rebuild rate": f"{100 * each.rate:.4g}%",
            "minutes": f"{each.done:.0%} done" if took is None else f"{took / 60:.4g}",
        }
        for name in PHASES:
            phase = each.phases.get(name)
            row[f"{name}: 99 % ms"] = "" if phase is None else f"{phase.p99_ms:.4g}"
        rows.append(row)

    def page() -> str:
        from raidlab.scenarios.studies.rebuild_report import rebuild_report

        return rebuild_report(found)

    give(found, json, html, lambda: table(rows, found.title), page)
