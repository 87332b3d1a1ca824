"""`raidlab rebuild`: how long a rebuild takes and what users feel of it, over its rate limit."""

from __future__ import annotations

import json as json_text
from pathlib import Path
from typing import Annotated

import typer

from raidlab.commands.common import Html, Json, Workers, command, progress, say, table, write_file
from raidlab.devices.faults import Fault, SpecError


@command
def rebuild(
    scenario: Annotated[
        Path, typer.Argument(help="A scenario in which a drive fails (docs/files/scenario.md).")
    ],
    rates: Annotated[
        str,
        typer.Option("--rates", help="Rebuild rates in percent, with commas: share of the time."),
    ] = "10,20,30,50,80,100",
    json: Json = False,
    html: Html = None,
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, help="Replace the scenario's seed.")
    ] = None,
    workers: Workers = None,
) -> None:
    """Run a scenario in which a drive fails, once for each rebuild rate."""
    from raidlab.scenarios.rebuild import PHASES, rebuilds

    wanted = _rates(rates)
    with progress("rebuilds") as tell:
        found = rebuilds(scenario, wanted, workers=workers, seed=seed, told=tell)
    for warning in found.warnings:
        say(f"warning: {warning}")
    if json:
        print(json_text.dumps(found.to_dict(), indent=2))
    else:
        rows = []
        for each in found.rebuilds:
            took = each.rebuild_s
            row = {
                "rebuild rate": f"{each.rate:.0%}",
                "minutes": f"{each.done:.0%} done" if took is None else f"{took / 60:.4g}",
            }
            for name in PHASES:
                phase = each.phases.get(name)
                row[f"{name}: 99 % ms"] = "" if phase is None else f"{phase.p99_ms:.4g}"
            rows.append(row)
        table(rows, found.title)
    if html is not None:
        from raidlab.scenarios.rebuild_report import rebuild_report

        write_file(html, rebuild_report(found))


def _rates(text: str) -> list[float]:
    allowed = 'percent above 0, at most 100, with commas, such as "10,30,100"'
    try:
        rates = [float(part) / 100 for part in text.split(",")]
    except ValueError:
        raise SpecError([Fault("--rates", text, allowed)]) from None
    if not all(0 < rate <= 1 for rate in rates):
        raise SpecError([Fault("--rates", text, allowed)])
    return rates
