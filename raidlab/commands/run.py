"""`raidlab run`: simulate a scenario."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Annotated

import typer

from raidlab.commands.common import (
    DOES_NOT_HOLD,
    INTERRUPTED,
    Draws,
    Html,
    Json,
    OwnSeed,
    ScenarioFile,
    Workers,
    check_writable,
    command,
    path,
    progress,
    say,
    stored_runs,
    tell_breaches,
)
from raidlab.commands.outputs import Texts, deliver
from raidlab.commands.tables import Output, Wide, opening, print_notes, print_table
from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.units import DURATION
from raidlab.output import echo
from raidlab.scenarios.planning.scenario import load_scenario
from raidlab.scenarios.results import answers
from raidlab.scenarios.results.bottleneck import latency_bound
from raidlab.scenarios.results.chrome_trace import chrome_trace
from raidlab.scenarios.results.endurance import cautions, endurance
from raidlab.scenarios.results.event_summary import integrity_summary
from raidlab.scenarios.results.goal_table import goal_table
from raidlab.scenarios.results.page import again
from raidlab.scenarios.results.report import events_table, wear_table
from raidlab.scenarios.results.result import Result
from raidlab.scenarios.results.slow_ios import table as slow_ios
from raidlab.scenarios.results.within import goals_of_run, with_goals
from raidlab.scenarios.running.details import MOST_IOS, Details
from raidlab.scenarios.running.simulate import Interrupted, UnsavedError, simulate
from raidlab.scenarios.studies.draws import check_draws
from raidlab.scenarios.studies.draws import draws as draw
from raidlab.scenarios.studies.what_if import what_if as explain

_SLOWEST = 100
"""Slow I/Os of each workload that the document lists at least."""
_SIDES = ("read", "write")
_TRACED = 200
"""I/Os that are traced where a file of them is asked for."""
_FILES = "result.json", "table.csv", "report.html"


@command
def run(
    scenario: ScenarioFile,
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
    draws: Draws = 0,
    save_state: Annotated[
        Path | None,
        typer.Option(
            "--save-state",
            help="Write the state of the flash drives at the end to this file, for `run.snapshot`.",
            parser=path,
        ),
    ] = None,
    trace_ios: Annotated[
        int,
        typer.Option(
            "--trace-ios",
            min=0,
            max=MOST_IOS,
            help="Record the stages of the first so many I/Os after the warm-up of each run.",
        ),
    ] = 0,
    trace_from: Annotated[
        str,
        typer.Option("--trace-from", help='Record the first ones from then on: "2 s".'),
    ] = "0 s",
    trace_json: Annotated[
        Path | None,
        typer.Option(
            "--trace-json",
            help="Write the stages for Perfetto; of 200 I/Os without --trace-ios.",
            parser=path,
        ),
    ] = None,
    slowest: Annotated[
        int,
        typer.Option("--slowest", min=0, max=MOST_IOS, help="List so many of the slowest I/Os."),
    ] = 0,
    goal: Annotated[
        list[str] | None,
        typer.Option(
            "--goal",
            help='Say how much of the I/Os and of the time meets it: "p99 < 20 ms" ...',
            show_default=False,
        ),
    ] = None,
    wide: Wide = False,
    workers: Workers = None,
) -> None:
    """Simulate a scenario: a table, --json, a page with --html, everything with --out.

    Interrupted with Ctrl-C it keeps what is done: the same command goes on from there. Files of
    what is done so far are named so: result.partial.json.
    """
    checked = load_scenario(scenario)
    for warning in checked.warnings:
        say(f"warning: {warning}")
    if draws:
        check_draws(checked)
    names = [workload.name for workload in checked.workloads]
    asked = goals_of_run(goal, "--goal", names) if goal else []
    # The same for every output, so that a rerun for another one finds its runs in the store.
    details = Details(
        trace_ios=trace_ios or (_TRACED if trace_json else 0),
        trace_from_s=_seconds(trace_from),
        slowest=max(_SLOWEST, slowest),
        latency_map=True,
    )
    check_writable(
        html, save_state, trace_json, *(() if out is None else (out / name for name in _FILES))
    )
    interrupted, unsaved = False, None
    with ExitStack() as stack:
        store = stored_runs(stack)
        tell = stack.enter_context(progress(checked.title))
        try:
            result = simulate(
                checked,
                workers=workers,
                seed=seed,
                progress=tell,
                store=store,
                save_state=save_state,
                **details,
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
        if draws and not interrupted:
            tell = stack.enter_context(progress(f"{checked.title}: draws"))
            try:
                result = draw(checked, result, draws, workers=workers, progress=tell, store=store)
            except KeyboardInterrupt:
                interrupted = True
    result = with_goals(result, asked)
    fresh = [warning for warning in result.warnings if warning not in checked.warnings]
    if interrupted:
        say("interrupted: the same command goes on from here")
        result = replace(result, interrupted=True)
    line = again(
        "run", scenario, seed=seed, what_if=what_if, trace_ios=trace_ios or None, goal=goal
    )
    traced: Texts = {trace_json: lambda: chrome_trace(result.ios or (), result.title)}
    deliver(
        [*_files(result, html, out, line), traced],
        lambda: _show(result, Output.of(json=json, wide=wide), fresh, slowest),
        partial=interrupted,
    )
    broken = tell_breaches(result.breaches)
    if unsaved is not None:
        raise unsaved
    if interrupted:
        raise typer.Exit(INTERRUPTED)
    if broken:
        raise typer.Exit(DOES_NOT_HOLD)


def _seconds(text: str) -> float:
    """A time of the run.

    Raises:
        SpecError: It is none.
    """
    try:
        return float(DURATION.parse(text)) / 1e9
    except ValueError:
        raise SpecError([Fault("--trace-from", text, 'a time of the run: "2 s"')]) from None


def _show(result: Result, output: Output, warnings: Sequence[str], slowest: int) -> None:
    """Title, answer, warnings, the table, then events, wear and what-if where there are any."""
    if output is Output.JSON:
        for warning in warnings:
            say(f"warning: {warning}")
        echo(_json(result))
        return
    opening(result.title, answers.answer(result), warnings)
    if result.results:
        print_table(answers.table(result), output)
        notes = answers.caution(result), answers.warm_up(result)
        print_notes([*latency_bound(result.summary()), *notes, *_spreads(result)])
    for found in (goal_table(result), slow_ios(result.results, slowest)):
        if found is not None:
            print_table(found, output)
    if slowest and not any(row.get("slowest") for row in result.results):
        print_notes(["No slow I/Os are listed: none were recorded, or all are of fio's jobs."])
    events, worn, gains = events_table(result), wear_table(result), answers.gains(result)
    if events is not None:
        print_table(events, output)
        print_notes(integrity_summary(result))
    if worn is not None:
        print_table(worn, output)
        print_notes(cautions(endurance(result)))
    if gains is not None:
        table, others = gains
        if table.rows:
            print_table(table, output)
        print_notes([others])


def _json(result: Result) -> str:
    """The document, without the maps that the page draws: a megabyte for a few points."""
    rows = [
        row | {side: {k: v for k, v in row[side].items() if k != "latency_map"} for side in _SIDES}
        for row in result.results
    ]
    return replace(result, results=tuple(rows)).to_json()


def _spreads(result: Result) -> list[str]:
    """What draws give, a line for each row that has them."""
    found = []
    for row in result.results:
        if row.get("iops_draws95") is not None:
            low, high = row["iops_draws95"]
            mean = row["latency_us_draws95"]["mean"]
            found.append(
                f"{row['workload']}, depth {row['outstanding'] or 'open'}: 95 % of draws give"
                f" {low:,.0f} to {high:,.0f} IO/s, {mean[0]:,.0f} to {mean[1]:,.0f} us in the mean."
            )
    return found


def _files(result: Result, html: Path | None, out: Path | None, line: str) -> list[Texts]:
    """The page; and the folder's files. None of a result that has nothing yet."""
    if not result.results and result.interrupted:
        return []

    @cache
    def page() -> str:
        from raidlab.scenarios.results.report import html_report

        return html_report(result, line)

    found: list[Texts] = [{html: page}]
    if out is not None:
        texts: list[Callable[[], str]] = [
            lambda: _json(result),
            lambda: result.table().write_csv(),
            page,
        ]
        found.append({out / name: text for name, text in zip(_FILES, texts, strict=True)})
    return found
