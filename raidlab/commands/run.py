"""`raidlab run`: simulate a scenario."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from raidlab.commands.common import (
    DOES_NOT_HOLD,
    INTERRUPTED,
    Html,
    Json,
    Workers,
    command,
    progress,
    say,
    table,
    unfinished,
    write_file,
)
from raidlab.scenarios.result import Result
from raidlab.scenarios.simulate import Interrupted, simulate
from raidlab.scenarios.system import load_scenario


@command
def run(
    scenario: Annotated[Path, typer.Argument(help="A scenario file (docs/files/scenario.md).")],
    json: Json = False,
    html: Html = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Write result.json, table.csv and report.html to this folder."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, help="Replace the scenario's seed.")
    ] = None,
    workers: Workers = None,
) -> None:
    """Simulate a scenario: a table, --json, a page with --html, everything with --out.

    Interrupted with Ctrl-C it keeps what is done: the same command goes on from there.
    """
    checked = load_scenario(scenario)
    for warning in checked.warnings:
        say(f"warning: {warning}")
    interrupted = False
    with ExitStack() as stack:
        store = unfinished(stack)
        tell = stack.enter_context(progress(checked.title))
        try:
            result = simulate(checked, workers=workers, seed=seed, progress=tell, store=store)
        except Interrupted as stopped:
            result, interrupted = stopped.result, True
    _show(result, json)
    _write(result, html, out)
    for breach in result.breaches:
        say(f"a check of the engine failed, which is a bug of raidlab: {breach}")
    if interrupted:
        say("interrupted: the same command goes on from here")
        raise typer.Exit(INTERRUPTED)
    if result.breaches:
        raise typer.Exit(DOES_NOT_HOLD)


def _show(result: Result, json: bool) -> None:
    if json:
        print(result.to_json())
        return
    rows = []
    for row in result.summary():
        latency = row["latency_us"] or {}
        rows.append(
            {
                "workload": row["workload"],
                "outstanding": row["outstanding"] or "open",
                "IO/s": row["iops"],
                "MiB/s": row["mib_per_s"],
                "mean ms": latency.get("mean", 0.0) / 1e3,
                "99 % ms": latency.get("p99", 0.0) / 1e3,
                "bottleneck": row["bottleneck"],
            }
        )
    table(rows, result.title)


def _write(result: Result, html: Path | None, out: Path | None) -> None:
    if html is None and out is None:
        return
    from raidlab.scenarios.report import html_report

    page = html_report(result)
    if html is not None:
        write_file(html, page)
    if out is not None:
        write_file(out / "result.json", result.to_json())
        write_file(out / "table.csv", result.table().write_csv())
        write_file(out / "report.html", page)
