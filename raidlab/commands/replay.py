"""`raidlab replay`: a trace on a device or a system, beside what was measured."""

from __future__ import annotations

import json as json_module
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from raidlab.commands.again import again
from raidlab.commands.common import (
    DOES_NOT_HOLD,
    Html,
    Json,
    OwnSeed,
    TraceColumns,
    TraceFormat,
    TraceUnit,
    command,
    path,
    progress,
    say,
    stored_runs,
    tell_breaches,
)
from raidlab.commands.files_written import Reads
from raidlab.commands.outputs import deliver
from raidlab.commands.recording import (
    Goals,
    Out,
    SaveState,
    Slowest,
    TraceFrom,
    TraceIos,
    TraceJson,
    details_of,
    files,
    traced,
    without_maps,
)
from raidlab.commands.tables import Output, Wide, opening, print_notes, print_table
from raidlab.devices.catalogue import find_for
from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.reading import unreadable
from raidlab.devices.schema import DriveSpec
from raidlab.output import echo
from raidlab.scenarios.planning.scenario import load_scenario
from raidlab.scenarios.report.runs import answers
from raidlab.scenarios.report.runs.goal_table import goal_table
from raidlab.scenarios.report.runs.happened import events_table, wear_table
from raidlab.scenarios.report.runs.slow_ios import table as slow_ios
from raidlab.scenarios.report.tables import Column, Kind, Table
from raidlab.scenarios.results.goals import without_effect
from raidlab.scenarios.results.number_text import figure
from raidlab.scenarios.results.row import Row
from raidlab.scenarios.results.within import goals_of_run, with_goals

if TYPE_CHECKING:
    from raidlab.calibration.traces.replay import ReplayComparison, Replayed, Target
    from raidlab.scenarios.planning.trace_files import Timing

BEYOND = ("refuse", "wrap", "skip", "scale")
TIMINGS = ("trace", "pauses", "full-speed")
PRECONDITIONS = ("fresh", "filled", "steady-state")


@command
def replay(
    trace: Annotated[Path, typer.Argument(help="The trace.", parser=path), Reads()],
    format: TraceFormat = "",
    device: Annotated[
        str,
        typer.Option("--device", help="A drive: a name or a device file.", show_default=False),
        Reads(),
    ] = "",
    scenario: Annotated[
        str,
        typer.Option("--scenario", help="A system: a scenario file.", show_default=False),
        Reads(),
    ] = "",
    array: Annotated[
        str | None,
        typer.Option("--array", help="Array of the scenario; the first one if left out."),
    ] = None,
    columns: TraceColumns = "",
    unit: TraceUnit = None,
    beyond: Annotated[
        str,
        typer.Option("--beyond", help=f"Requests beyond the device: {', '.join(BEYOND)}."),
    ] = "refuse",
    timing: Annotated[
        str,
        typer.Option(
            "--timing",
            help="At the trace's times, or a closed loop: with the trace's pauses, or full-speed.",
        ),
    ] = "trace",
    outstanding: Annotated[
        int | None,
        typer.Option("--outstanding", help="Queue depth of a closed loop; 1 if left out."),
    ] = None,
    slower: Annotated[
        float, typer.Option("--slower", help="Times between requests, times this.")
    ] = 1.0,
    precondition: Annotated[
        str,
        typer.Option(
            "--precondition",
            help=f"What an SSD of --device has been through: {', '.join(PRECONDITIONS)}.",
        ),
    ] = "fresh",
    seed: OwnSeed = None,
    json: Json = False,
    html: Html = None,
    out: Out = None,
    save_state: SaveState = None,
    trace_ios: TraceIos = 0,
    trace_from: TraceFrom = "0 s",
    trace_json: TraceJson = None,
    slowest: Slowest = 0,
    goal: Goals = None,
    wide: Wide = False,
) -> None:
    """Replay a trace: what `raidlab run` gives, beside the measured response times."""
    from raidlab.calibration.traces.replay import NAME
    from raidlab.calibration.traces.replay import replay as run
    from raidlab.scenarios.planning.trace_files import TraceFile

    when = _timing(timing, outstanding, slower, beyond)
    goals = goals_of_run(goal, "--goal", [NAME]) if goal else []
    for note in without_effect(goals):
        say(f"warning: {note}")
    details = details_of(trace_ios, trace_from, trace_json, slowest)
    if not trace.exists():
        raise unreadable(trace, "No such file or directory")
    target = _target(device, scenario, array, seed, precondition)
    file = TraceFile(trace, format, columns, unit).known()
    if file.form and not format and not columns:
        by_names = f", {file.columns}" if file.columns else ""
        say(f"{trace}: read as {file.form}{by_names}")
    with ExitStack() as stack:
        store = stored_runs(stack)
        tell = stack.enter_context(progress(f"{trace.name} on {target.name}"))
        found = run(
            file, target, when, progress=tell, store=store, save_state=save_state, **details
        )
    found = replace(found, result=with_goals(found.result, goals))
    line = again("replay")
    pages = files(found.result, html, out, line, lambda: _document(found))
    deliver(
        [*pages, traced(found.result, trace_json)],
        lambda: _show(found, Output.of(json=json, wide=wide), slowest),
    )
    if tell_breaches(found.result.breaches):
        raise typer.Exit(DOES_NOT_HOLD)


def _document(found: Replayed) -> str:
    rows = without_maps(found.result.results)
    plain = replace(found, result=replace(found.result, results=rows))
    return json_module.dumps(plain.to_dict(), indent=2, allow_nan=False)


def _show(found: Replayed, output: Output, slowest: int) -> None:
    result = found.result
    if output is Output.JSON:
        for note in result.warnings:
            say(f"warning: {note}")
        echo(_document(found))
        return
    document = found.comparison()
    requests = document["requests"]
    answer = f"{requests:,} request{'s' * (requests != 1)}. {answers.answer(result)}"
    opening(result.title, answer, list(result.warnings))
    print_table(answers.table(result), output)
    print_table(_times(result.results[0], document), output)
    print_notes([_distance(document)])
    tables = (
        goal_table(result), slow_ios(result.results, slowest), events_table(result),
        wear_table(result),
    )  # fmt: skip
    for table in tables:
        if table is not None:
            print_table(table, output)


_TIMES: Final = (
    "min", "mean", "stddev", "p50", "p90", "p95", "p99", "p99_9", "p99_99", "max",
)  # fmt: skip
_NAMES: Final = {"p99_9": "p99.9", "p99_99": "p99.99"}


def _times(row: Row, document: ReplayComparison) -> Table:
    """Response times of all requests, of reads and writes, and those that were measured."""
    sides = {
        "simulated": document["latency_us"],
        "reads": row["read"]["latency_us"],
        "writes": row["write"]["latency_us"],
        "measured": document["measured_latency_us"],
    }
    known = {name: side for name, side in sides.items() if side is not None}
    priorities = {"reads": 2, "writes": 2}
    return Table(
        "Response times",
        [
            Column("", kind=Kind.TEXT),
            *(Column(name, "us", priority=priorities.get(name, 1)) for name in known),
        ],
        [[_NAMES.get(name, name), *(side[name] for side in known.values())] for name in _TIMES],
    )


def _distance(document: ReplayComparison) -> str:
    if document["rms_ms"] is None:
        return ""
    text = f"The distributions differ by {figure(document['rms_ms'], 'ms')} (rms)"
    if document["rms_pct_of_mean"] is not None:
        text += f", {document['rms_pct_of_mean']:.1f} % of the mean"
    return text + "."


def _timing(timing: str, outstanding: int | None, slower: float, beyond: str) -> Timing:
    from raidlab.calibration.traces.replay import MOST_OUTSTANDING
    from raidlab.scenarios.planning.trace_files import Timing

    faults = []
    if beyond not in BEYOND:
        faults.append(Fault("--beyond", beyond, f"one of {', '.join(BEYOND)}", BEYOND))
    if timing not in TIMINGS:
        faults.append(Fault("--timing", timing, f"one of {', '.join(TIMINGS)}", TIMINGS))
    if not 0 <= slower <= 1e6:
        faults.append(Fault("--slower", slower, "a factor from 0 to 1,000,000"))
    if outstanding is not None and timing == "trace":
        faults.append(Fault("--outstanding", outstanding, "only with --timing pauses, full-speed"))
    if outstanding is not None and not 1 <= outstanding <= MOST_OUTSTANDING:
        faults.append(Fault("--outstanding", outstanding, f"from 1 to {MOST_OUTSTANDING:,}"))
    if faults:
        raise SpecError(faults)
    places = 0 if timing == "trace" else outstanding or 1
    return Timing(places, timing != "full-speed", slower, beyond)  # type: ignore[arg-type]


def _target(
    device: str, scenario: str, array: str | None, seed: int | None, precondition: str
) -> Target:
    from raidlab.calibration.traces.replay import Target

    faults = []
    if bool(device) == bool(scenario):
        allowed = "one of --device D and --scenario S.toml"
        faults.append(Fault("--device", device or None, allowed))
    elif precondition not in PRECONDITIONS:
        allowed = f"one of {', '.join(PRECONDITIONS)}"
        faults.append(Fault("--precondition", precondition, allowed, PRECONDITIONS))
    elif scenario and precondition != "fresh":
        allowed = "only with --device; a scenario has run.precondition"
        faults.append(Fault("--precondition", precondition, allowed))
    elif device and array is not None:
        faults.append(Fault("--array", array, "only with --scenario"))
    if faults:
        raise SpecError(faults)
    if scenario:
        return Target.of_scenario(load_scenario(scenario), array, seed)
    found = find_for("--device", device)
    if not isinstance(found.spec, DriveSpec):
        raise SpecError([Fault("--device", device, f"a drive; this is a {found.spec.kind}")])
    return Target.of_drive(found.spec, 1 if seed is None else seed, precondition)  # type: ignore[arg-type]
