"""`raidlab run`: simulate a scenario."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

import typer

from raidlab.commands.common import (
    DOES_NOT_HOLD,
    INTERRUPTED,
    Html,
    Json,
    OwnSeed,
    Workers,
    check_writable,
    command,
    path,
    progress,
    say,
    table,
    tell_breaches,
    unfinished,
)
from raidlab.devices.files import write_file
from raidlab.scenarios.planning.scenario import load_scenario
from raidlab.scenarios.results.bottleneck import latency_bound
from raidlab.scenarios.results.endurance import COLUMNS, cautions, endurance
from raidlab.scenarios.results.event_summary import integrity_summary, logged, whose
from raidlab.scenarios.results.result import Result
from raidlab.scenarios.running.simulate import Interrupted, UnsavedError, simulate
from raidlab.scenarios.studies.what_if import what_if as explain

_FILES = "result.json", "table.csv", "report.html"


@command
def run(
    scenario: Annotated[
        Path, typer.Argument(help="A scenario file (docs/reference/scenario.md).", parser=path)
    ],
    json: Json = False,
    html: Html = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help=f"Write {_FILES[0]}, {_FILES[1]} and {_FILES[2]} to this folder.",
            parser=path,
        ),
    ] = None,
    seed: OwnSeed = None,
    what_if: Annotated[
        bool,
        typer.Option(
            "--what-if", help="Simulate what twice the lanes, cores, drives ... would give."
        ),
    ] = False,
    save_state: Annotated[
        Path | None,
        typer.Option(
            "--save-state",
            help="Write the state of the flash drives at the end to this file, for `run.snapshot`.",
            parser=path,
        ),
    ] = None,
    workers: Workers = None,
) -> None:
    """Simulate a scenario: a table, --json, a page with --html, everything with --out.

    Interrupted with Ctrl-C it keeps what is done: the same command goes on from there.
    """
    checked = load_scenario(scenario)
    for warning in checked.warnings:
        say(f"warning: {warning}")
    check_writable(html, save_state, *(() if out is None else (out / name for name in _FILES)))
    interrupted, unsaved = False, None
    with ExitStack() as stack:
        store = unfinished(stack)
        tell = stack.enter_context(progress(checked.title))
        try:
            result = simulate(
                checked,
                workers=workers,
                seed=seed,
                progress=tell,
                store=store,
                save_state=save_state,
            )
        except Interrupted as stopped:
            result, interrupted = stopped.result, True
        except UnsavedError as error:
            result, unsaved = error.result, error
        if what_if and not interrupted:
            tell = stack.enter_context(progress(f"{checked.title}: what if"))
            try:
                result = explain(checked, result, workers=workers, progress=tell, store=store)
            except KeyboardInterrupt:
                interrupted = True
    for warning in result.warnings:
        if warning not in checked.warnings:
            say(f"warning: {warning}")
    _show(result, json)
    _write(result, html, out)
    broken = tell_breaches(result.breaches)
    if unsaved is not None:
        raise unsaved
    if interrupted:
        say("interrupted: the same command goes on from here")
        raise typer.Exit(INTERRUPTED)
    if broken:
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
                "next": row["runner_up"],
            }
        )
    table(rows, result.title)
    for line in latency_bound(result.summary()):
        print(line)
    _show_events(result)
    worn = endurance(result)
    if worn:
        lines = [
            {words: line[key] for key, words in COLUMNS.items()}
            | {"outstanding": line["outstanding"] or "open"}
            for line in worn
        ]
        table(lines, "Flash: wear, if the run went on for ever, and heat")
        for line in cautions(worn):
            print(line)
    if result.what_if is not None:
        table([_gains(case) for case in result.what_if], "What if: gain of IO/s in percent")


def _show_events(result: Result) -> None:
    rows = []
    for period in logged(result):
        latency = period["latency_us"]
        rows.append(
            {
                "from s": f"{period['from_s']:.6g}",
                "what happened": period["what"],
                "IO/s": period["iops"],
                "99 % ms": None if latency is None else latency["p99"] / 1e3,
            }
        )
    if rows:
        table(rows, f"What happened to {whose(result)}")
    for line in integrity_summary(result):
        print(line)


def _gains(case: Mapping[str, Any]) -> dict[str, Any]:
    """A change with its gain at each point, and what holds the system back then."""
    names = {each["workload"] for each in case["results"]}
    line: dict[str, Any] = {"change": case["change"]}
    if case["why_not"] is not None:
        return line | {"outstanding: gain": None, "then": f"cannot be: {case['why_not']}"}
    gains = [
        (f"{each['workload']} " if len(names) > 1 else "")
        + f"{each['outstanding'] or 'open'}: "
        + ("-" if each["gain_pct"] is None else f"{round(each['gain_pct']):+d}")
        + (" (cache still filling)" if each["still_filling"] else "")
        for each in case["results"]
    ]
    last = case["results"][-1] if case["results"] else None
    then = None if last is None else f"{last['outstanding'] or 'open'}: {last['bottleneck']}"
    return line | {"outstanding: gain": ", ".join(gains), "then": then}


def _write(result: Result, html: Path | None, out: Path | None) -> None:
    if html is None and out is None:
        return
    from raidlab.scenarios.results.report import html_report

    page = html_report(result)
    if html is not None:
        write_file(html, page)
    if out is not None:
        texts = result.to_json(), result.table().write_csv(), page
        for name, text in zip(_FILES, texts, strict=True):
            write_file(out / name, text)
