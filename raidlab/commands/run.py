"""`raidlab run`: simulate a scenario."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Annotated

import typer

from raidlab.commands.again import again
from raidlab.commands.common import (
    DOES_NOT_HOLD,
    INTERRUPTED,
    Draws,
    Html,
    Json,
    OwnSeed,
    ScenarioFile,
    Workers,
    command,
    progress,
    say,
    stored_runs,
    tell_breaches,
)
from raidlab.commands.outputs import deliver
from raidlab.commands.recording import (
    Goals,
    Iostat,
    OpenMetrics,
    Out,
    SaveState,
    Slowest,
    TimelineCsv,
    TraceFrom,
    TraceIos,
    TraceJson,
    details_of,
    document,
    files,
    sampled,
    traced,
)
from raidlab.commands.tables import Output, Wide, opening, print_notes, print_table
from raidlab.output import echo
from raidlab.scenarios.planning.scenario import load_scenario
from raidlab.scenarios.report.runs import answers
from raidlab.scenarios.report.runs.event_summary import integrity_summary
from raidlab.scenarios.report.runs.goal_table import goal_table
from raidlab.scenarios.report.runs.happened import events_table, wear_table
from raidlab.scenarios.report.runs.slow_ios import table as slow_ios
from raidlab.scenarios.results.bottleneck import latency_bound
from raidlab.scenarios.results.endurance import cautions, endurance
from raidlab.scenarios.results.goals import without_effect
from raidlab.scenarios.results.result import Result
from raidlab.scenarios.results.within import goals_of_loads, goals_of_run, with_goals
from raidlab.scenarios.running.simulate import Interrupted, UnsavedError, simulate


@command
def run(
    scenario: ScenarioFile,
    json: Json = False,
    html: Html = None,
    out: Out = None,
    seed: OwnSeed = None,
    what_if: Annotated[
        bool,
        typer.Option(
            "--what-if", help="Simulate what twice the lanes, cores, drives ... would give."
        ),
    ] = False,
    draws: Draws = 0,
    save_state: SaveState = None,
    trace_ios: TraceIos = 0,
    trace_from: TraceFrom = "0 s",
    trace_json: TraceJson = None,
    slowest: Slowest = 0,
    goal: Goals = None,
    iostat: Iostat = False,
    timeline_csv: TimelineCsv = None,
    open_metrics: OpenMetrics = None,
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
        from raidlab.scenarios.studies.draws import check_draws
        from raidlab.scenarios.studies.draws import draws as draw

        check_draws(checked)
    names = [workload.name for workload in checked.workloads]
    asked = goals_of_run(goal, "--goal", names) if goal else []
    for note in without_effect([*asked, *goals_of_loads(checked.goals)]):
        say(f"warning: {note}")
    details = details_of(trace_ios, trace_from, trace_json, slowest)
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
            from raidlab.scenarios.studies.what_if import what_if as explain

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
    line = again("run")
    deliver(
        [
            *files(result, html, out, line),
            traced(result, trace_json),
            *sampled(result, timeline_csv, open_metrics),
        ],
        lambda: (
            _show_over_time(result)
            if iostat
            else _show(result, Output.of(json=json, wide=wide), fresh, slowest)
        ),
        partial=interrupted,
    )
    broken = tell_breaches(result.breaches)
    if unsaved is not None:
        raise unsaved
    if interrupted:
        raise typer.Exit(INTERRUPTED)
    if broken:
        raise typer.Exit(DOES_NOT_HOLD)


def _show_over_time(result: Result) -> None:
    from raidlab.scenarios.results.sampled import iostat

    echo(iostat(result))


def _show(result: Result, output: Output, warnings: Sequence[str], slowest: int) -> None:
    """Title, answer, warnings, the table, then events, wear and what-if where there are any."""
    if output is Output.JSON:
        for warning in warnings:
            say(f"warning: {warning}")
        echo(document(result))
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
        print_notes(["No slow I/Os are listed: none were recorded."])
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


def _spreads(result: Result) -> list[str]:
    """What draws give, a line for each row that has them."""
    found = []
    for row in result.results:
        rates, latencies = row.get("iops_draws95"), row.get("latency_us_draws95")
        if rates is not None and latencies and (mean := latencies["mean"]) is not None:
            low, high = rates
            found.append(
                f"{row['workload']}, depth {row['outstanding'] or 'open'}: 95 % of draws give"
                f" {low:,.0f} to {high:,.0f} IO/s, {mean[0]:,.0f} to {mean[1]:,.0f} us on average."
            )
    return found
