"""What the commands share: errors as exit codes, progress, printing."""

from __future__ import annotations

import functools
import json as json_module
import sqlite3
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ParamSpec, Protocol, TypeVar

import typer

from raidlab.commands.tables import Output, Shown, print_shown
from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.files import unwritable, why_unwritable, write_file
from raidlab.output import discard_output
from raidlab.scenarios.running.run_cache import RunCache, default_path

if TYPE_CHECKING:
    from raidlab.calibration.measurements.measurement import Measurement

DONE, DOES_NOT_HOLD, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130

SEED_MAX = 2**63 - 1

P = ParamSpec("P")
R = TypeVar("R")
Page = Callable[[], str]


def path(text: str) -> Path:
    """The path that a user gives; an empty one would be the present folder.

    Raises:
        BadParameter: It is empty.
    """
    if not text:
        raise typer.BadParameter("the path of a file or folder; it is empty")
    return Path(text)


Json = Annotated[
    bool, typer.Option("--json", help="One JSON document on standard output, nothing else.")
]
Html = Annotated[
    Path | None,
    typer.Option("--html", help="Write a page with pictures to this file.", parser=path),
]
OwnSeed = Annotated[
    int | None,
    typer.Option("--seed", min=0, max=SEED_MAX, help="Replace the scenario's seed."),
]
Seed = Annotated[int, typer.Option("--seed", min=0, max=SEED_MAX, help="Of the random numbers.")]
Workers = Annotated[
    int | None,
    typer.Option("--workers", min=1, max=1024, help="Threads; the number of cores by default."),
]

TraceColumns = Annotated[
    str,
    typer.Option(
        "--columns",
        help="For csv: time=NAME:s op=NAME offset=NAME:B size=NAME:B response=NAME:us",
        show_default=False,
    ),
]
TraceUnit = Annotated[str | None, typer.Option("--unit", help="One disk of a trace of several.")]
MeasurementOut = Annotated[
    Path, typer.Option("--out", help="The measurement to write.", parser=path)
]
MeasurementName = Annotated[
    str, typer.Option("--name", help="Of the measurement.", show_default=False)
]


def command(function: Callable[P, R]) -> Callable[P, R]:
    """Turns what goes wrong into messages and exit codes: 2 bad input, 130 interrupted."""

    @functools.wraps(function)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except SpecError as error:
            for fault in error.faults:
                say(f"error: {fault}")
            raise typer.Exit(BAD_INPUT) from None
        except KeyboardInterrupt:
            say("interrupted")
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            # The reader of our output has gone; nothing is left to report.
            discard_output()
            raise typer.Exit(DONE) from None

    return guarded


def say(message: str) -> None:
    """A line on standard error."""
    print(message, file=sys.stderr, flush=True)


def check_writable(*paths: Path | None) -> None:
    """Finds out before hours of work whether files can be written at its end.

    Raises:
        SpecError: Every one that cannot, with the reason.
    """
    faults = [
        fault
        for path in paths
        if path is not None and (why := why_unwritable(path)) is not None
        for fault in unwritable(path, why).faults
    ]
    if faults:
        raise SpecError(faults)


def keep_measurement(measurement: Measurement, out: Path, as_json: bool) -> None:
    """Writes an imported measurement, and says what it has and what was skipped."""
    write_file(out, measurement.to_json())
    for skipped in measurement.skipped:
        say(f"skipped: {skipped.path}: {skipped.reason}")
    document = {
        "measurement": str(out),
        "name": measurement.name,
        "points": len(measurement.points),
        "files": len(measurement.files),
        "skipped": [skipped.model_dump() for skipped in measurement.skipped],
    }
    if as_json:
        print(json_module.dumps(document, indent=2))
    else:
        print(f"{measurement.name}: {len(measurement.points)} points in {out}")


def percents(option: str, text: str, allowed: str, fits: Callable[[float], bool]) -> list[float]:
    """Shares that an option gives in percent, with commas between them.

    Raises:
        SpecError: One is no number, or does not fit.
    """
    try:
        shares = [float(part) / 100 for part in text.split(",")]
    except ValueError:
        shares = []
    if not shares or not all(map(fits, shares)):
        raise SpecError([Fault(option, text, allowed)])
    return shares


def unfinished(stack: ExitStack) -> RunCache | None:
    """The store of unfinished runs, closed with `stack`; None, and a warning, without one."""
    try:
        return stack.enter_context(RunCache(default_path()))
    except (OSError, sqlite3.Error) as error:
        say(f"warning: {default_path()}: {error}; an interrupted run will begin again")
        return None


@contextmanager
def resumable(what: str) -> Iterator[tuple[Callable[[int, int], None], RunCache | None]]:
    """Progress and the store of unfinished runs, for work that the same command goes on with."""
    with ExitStack() as stack:
        store = unfinished(stack)
        tell = stack.enter_context(progress(what))
        try:
            yield tell, store
        except KeyboardInterrupt:
            say("interrupted" + ("" if store is None else ": the same command goes on from here"))
            raise typer.Exit(INTERRUPTED) from None


def tell_breaches(breaches: Sequence[str]) -> bool:
    """Says which checks of the engine's own failed; true if any did."""
    for breach in breaches:
        say(f"a check of the engine failed, which is a bug of raidlab: {breach}")
    return bool(breaches)


class Answer(Protocol):
    """What a question of many runs has found."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a user should know."""

    @property
    def breaches(self) -> tuple[str, ...]:
        """Checks of the engine that failed."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as docs/reference/result.md has it."""


def give(
    answer: Answer, output: Output, html: Path | None, show: Callable[[], Shown], page: Page
) -> None:
    """An answer as a table or as JSON, and as a page if one is wanted.

    Args:
        answer: What was found.
        output: One JSON document, or tables of what fits or of everything.
        html: The page to write, if any.
        show: Makes what a terminal shows.
        page: Makes the page.

    Raises:
        Exit: A check of the engine failed.
    """
    if output is Output.JSON:
        for warning in answer.warnings:
            say(f"warning: {warning}")
        print(json_module.dumps(answer.to_dict(), indent=2, allow_nan=False))
    else:
        print_shown(show(), output, answer.warnings)
    if html is not None:
        write_file(html, page())
        say(f"wrote {html}")
    if tell_breaches(answer.breaches):
        raise typer.Exit(DOES_NOT_HOLD)


@contextmanager
def progress(what: str) -> Iterator[Callable[[int, int], None]]:
    """Shows how far a command is: a bar on a terminal, a line now and then elsewhere."""
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield _lines(what)
        return
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(),
    )  # fmt: skip
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _lines(what: str) -> Callable[[int, int], None]:
    last = -1

    def tell(done: int, total: int) -> None:
        nonlocal last
        tenth = 10 * done // max(total, 1)
        if tenth > last:
            last = tenth
            say(f"{what}: {done} of {total}")

    return tell
