"""What the commands share: errors as exit codes, progress, printing."""

from __future__ import annotations

import functools
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Annotated, Any, ParamSpec, TypeVar

import typer

from raidlab.devices.faults import Fault, SpecError
from raidlab.scenarios.store import Store, default_path

DONE, DOES_NOT_HOLD, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130

P = ParamSpec("P")
R = TypeVar("R")

Json = Annotated[
    bool, typer.Option("--json", help="One JSON document on standard output, nothing else.")
]
Html = Annotated[
    Path | None, typer.Option("--html", help="Write a page with pictures to this file.")
]
Workers = Annotated[
    int | None,
    typer.Option("--workers", min=1, max=1024, help="Threads; the number of cores by default."),
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
            # The reader of our output has gone; nothing is left to be told.
            sys.stderr.close()
            raise typer.Exit(DONE) from None

    return guarded


def say(message: str) -> None:
    """A line on standard error."""
    print(message, file=sys.stderr, flush=True)


def write_file(path: Path, text: str) -> None:
    """Writes a file, making its folder.

    Raises:
        SpecError: It cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        why = f"cannot be written: {error.strerror}"
        raise SpecError([Fault("", None, why, (), str(path))]) from None


def table(rows: list[dict[str, Any]], title: str | None = None) -> None:
    """A table on standard output; the columns are the keys of the first row."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    shown = Table(title=title, title_justify="left", header_style="bold", box=box.SIMPLE_HEAD)
    for name, value in (rows[0] if rows else {}).items():
        numeric = isinstance(value, int | float)
        shown.add_column(name, justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        shown.add_row(*(_cell(value) for value in row.values()))
    console = Console()
    # Without a terminal there is no width to cut lines to.
    if not console.is_terminal:
        console = Console(width=180)
    console.print(shown)


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return str(value)


def unfinished(stack: ExitStack) -> Store | None:
    """The store of unfinished runs, closed with `stack`; None, and a warning, without one."""
    try:
        return stack.enter_context(Store(default_path()))
    except (OSError, sqlite3.Error) as error:
        say(f"warning: {default_path()}: {error}; an interrupted run will begin again")
        return None


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
    told = -1

    def tell(done: int, total: int) -> None:
        nonlocal told
        tenth = 10 * done // max(total, 1)
        if tenth > told:
            told = tenth
            say(f"{what}: {done} of {total}")

    return tell
