"""What commands that run loads record besides rates and latencies, and what they write of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Annotated

import typer

from raidlab.commands.common import path
from raidlab.commands.file_kinds import FileKind
from raidlab.commands.files_written import Writes
from raidlab.commands.outputs import Texts
from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.units import DURATION
from raidlab.scenarios.results.result import Result
from raidlab.scenarios.results.row import Row, Side
from raidlab.scenarios.running.details import MOST_IOS, Details

_SLOWEST = 100
"""Slow I/Os of each workload that the document lists at least."""
_TRACED = 200
"""I/Os that are traced where a file of them is asked for."""
_SIDES = ("read", "write")
FILES = "result.json", "table.csv", "report.html"
_KINDS = FileKind.RESULT, FileKind.TABLE, FileKind.PAGE

Out = Annotated[
    Path | None,
    typer.Option(
        "--out", help=f"Write {FILES[0]}, {FILES[1]} and {FILES[2]} to this folder.", parser=path
    ),
    Writes(FileKind.RESULT, inside=dict(zip(FILES, _KINDS, strict=True))),
]
SaveState = Annotated[
    Path | None,
    typer.Option(
        "--save-state",
        help="Write the state of the flash drives at the end to this file, for `run.snapshot`.",
        parser=path,
    ),
    Writes(FileKind.STATE),
]
TraceIos = Annotated[
    int,
    typer.Option(
        "--trace-ios",
        min=0,
        max=MOST_IOS,
        help="Record the stages of the first this many I/Os after the warm-up of each run.",
    ),
]
TraceFrom = Annotated[
    str, typer.Option("--trace-from", help='Record the first ones from then on: "2 s".')
]
TraceJson = Annotated[
    Path | None,
    typer.Option(
        "--trace-json",
        help="Write the stages for Perfetto; of 200 I/Os without --trace-ios.",
        parser=path,
    ),
    Writes(FileKind.STAGES),
]
Slowest = Annotated[
    int,
    typer.Option("--slowest", min=0, max=MOST_IOS, help="List this many of the slowest I/Os."),
]
Goals = Annotated[
    list[str] | None,
    typer.Option(
        "--goal",
        help='Say how much of the I/Os and of the time meets it: "p99 < 20 ms" ...',
        show_default=False,
    ),
]


Iostat = Annotated[
    bool,
    typer.Option("--iostat", help="Print the run over time as iostat would, and nothing else."),
]
TimelineCsv = Annotated[
    Path | None,
    typer.Option("--timeline-csv", help="Write the run over time as CSV.", parser=path),
    Writes(FileKind.TIMELINE),
]
OpenMetrics = Annotated[
    Path | None,
    typer.Option(
        "--open-metrics", help="Write the run over time as counters in OpenMetrics.", parser=path
    ),
    Writes(FileKind.METRICS),
]


def sampled(result: Result, timeline_csv: Path | None, open_metrics: Path | None) -> list[Texts]:
    """Files of the run over time, if they are asked for."""
    if timeline_csv is None and open_metrics is None:
        return []
    from raidlab.scenarios.results import sampled as over_time

    return [
        {timeline_csv: lambda: over_time.timeline_csv(result)},
        {open_metrics: lambda: over_time.open_metrics(result)},
    ]


def details_of(trace_ios: int, trace_from: str, trace_json: Path | None, slowest: int) -> Details:
    """What a run records, by the options.

    It is the same for every output, so that a rerun for another one finds its runs in the store.

    Raises:
        SpecError: `trace_from` is no time.
    """
    return Details(
        trace_ios=trace_ios or (_TRACED if trace_json else 0),
        trace_from_s=_seconds(trace_from),
        slowest=max(_SLOWEST, slowest),
        latency_map=True,
    )


def _seconds(text: str) -> float:
    try:
        return float(DURATION.parse(text)) / 1e9
    except ValueError:
        raise SpecError([Fault("--trace-from", text, 'a time of the run: "2 s"')]) from None


def without_maps(rows: Sequence[Row]) -> tuple[Row, ...]:
    """Rows without the maps that the page draws: a megabyte for a few points."""
    return tuple(
        row | {"read": _without_map(row["read"]), "write": _without_map(row["write"])}
        for row in rows
    )


def _without_map(side: Side) -> Side:
    kept = side.copy()
    kept.pop("latency_map", None)
    return kept


def document(result: Result) -> str:
    """The JSON document of a result."""
    return replace(result, results=without_maps(result.results)).to_json()


def traced(result: Result, trace_json: Path | None) -> Texts:
    """The file for Perfetto, if it is asked for."""
    if trace_json is None:
        return {}
    from raidlab.scenarios.results.chrome_trace import chrome_trace

    return {trace_json: lambda: chrome_trace(result.ios or (), result.title)}


def files(
    result: Result,
    html: Path | None,
    out: Path | None,
    line: str,
    text: Callable[[], str] | None = None,
) -> list[Texts]:
    """The page; and the folder's files. None of a result that has nothing yet.

    Args:
        result: What was found.
        html: The page's file, if it is asked for.
        out: The folder, if it is.
        line: The command, for the page.
        text: Makes the JSON document, if it is not that of the result alone.
    """
    if not result.results and result.interrupted:
        return []

    @cache
    def page() -> str:
        from raidlab.scenarios.report.runs.report import html_report

        return html_report(result, line)

    found: list[Texts] = [{html: page}]
    if out is not None:
        texts: list[Callable[[], str]] = [
            text or (lambda: document(result)),
            lambda: result.table().write_csv(),
            page,
        ]
        found.append({out / name: text for name, text in zip(FILES, texts, strict=True)})
    return found
