"""What the commands share: errors as exit codes, progress, printing."""

from __future__ import annotations

import functools
import inspect
import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ParamSpec, TypeVar

import typer

from raidlab.commands.again import called
from raidlab.commands.file_kinds import FileKind
from raidlab.commands.files_written import Reads, Writes, deciding, ports_of
from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.printable import printable
from raidlab.output import discard_output
from raidlab.output import say as say
from raidlab.scenarios.running.store import (
    Store,
    StoreError,
    check_store,
    default_limit,
    default_path,
)

if TYPE_CHECKING:
    from rich.console import Console

    from raidlab.calibration.fitting.comparison.compare import Agreement

DONE, DOES_NOT_HOLD, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130

SEED_MAX = 2**63 - 1
_NO_LIMIT = 2**62
_SOON_S = 5.0
"""Seconds left from which on it is said how long something takes."""

P = ParamSpec("P")
R = TypeVar("R")


def end_by_tolerance(agreement: Agreement | None) -> None:
    """Says whether a stated tolerance holds; `agreement` is that of `fitting.compare.within`.

    Raises:
        Exit: It does not hold.
    """
    if agreement is None:
        return
    of = f"{agreement['within']} of {agreement['points']} rates"
    say(f"{of} are within {agreement['tolerance_pct']:g} %; nine in ten were asked for")
    if not agreement["holds"]:
        raise typer.Exit(DOES_NOT_HOLD)


def seconds_of(option: str, text: str) -> float:
    """A time of at least 0.1 s in seconds.

    Raises:
        SpecError: The text is no such time.
    """
    from raidlab.devices.units import DURATION

    try:
        seconds = DURATION.convert(text) / 1e9
    except ValueError as error:
        raise SpecError([Fault(option, text, str(error))]) from None
    if seconds < 0.1:
        raise SpecError([Fault(option, text, "at least 0.1 s")])
    return seconds


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
    Writes(FileKind.PAGE),
]
OwnSeed = Annotated[
    int | None,
    typer.Option("--seed", min=0, max=SEED_MAX, help="Replace the scenario's seed."),
]
Seed = Annotated[
    int, typer.Option("--seed", min=0, max=SEED_MAX, help="Seed of the random numbers.")
]
Draws = Annotated[
    int,
    typer.Option(
        "--draws",
        min=0,
        max=10_000,
        help="Simulate this many draws of what data sheets leave open; gives intervals.",
    ),
]
Workers = Annotated[
    int | None,
    typer.Option("--workers", min=1, max=1024, help="Threads; the number of cores by default."),
]
Tolerance = Annotated[
    float | None,
    typer.Option(
        "--tolerance",
        min=0.1,
        max=1000.0,
        help="Percent within which nine rates of ten are to be; exit code 1 if they are not.",
        show_default=False,
    ),
]
ScenarioFile = Annotated[
    Path,
    typer.Argument(help="A scenario file (docs/reference/scenario.md).", parser=path),
    Reads(),
]
StoreFile = Annotated[
    Path | None,
    typer.Option("--store", help="Finished runs are kept in this file, all of them.", parser=path),
    Writes(FileKind.STORE),
]

TRACE_FORMATS = (
    "disksim-validate", "disksim-ascii", "mqsim", "blkparse", "fio-iolog", "msr", "spc", "systor17",
    "alibaba", "tencent", "vscsi", "csv",
)  # fmt: skip
"""For the help, which is to come without the readers being loaded."""
TraceFormat = Annotated[
    str,
    typer.Option(
        "--format",
        help=f"One of {', '.join(TRACE_FORMATS)}; recognised if left out.",
        show_default=False,
    ),
]
TraceColumns = Annotated[
    str,
    typer.Option(
        "--columns",
        help="For csv: time=NAME:s op=NAME offset=NAME:B size=NAME:KiB response=NAME:us"
        " unit=NAME; quotes around a NAME with spaces.",
        show_default=False,
    ),
]
TraceUnit = Annotated[str | None, typer.Option("--unit", help="One disk of a trace of several.")]
MeasurementOut = Annotated[
    Path,
    typer.Option("--out", help="The measurement to write.", parser=path),
    Writes(FileKind.MEASUREMENT),
]
MeasurementName = Annotated[
    str, typer.Option("--name", help="Name of the measurement.", show_default=False)
]


Force = Annotated[
    bool,
    typer.Option("--force", help="Replace files of other kinds; never what the command reads."),
]


def command(function: Callable[P, R]) -> Callable[P, R]:
    """Turns what goes wrong into messages and exit codes: 2 bad input, 130 interrupted.

    Before the function is called `files_written` decides which files it may write. A function with
    a parameter that is marked `Writes` gets the option `--force`.
    """
    signature = inspect.signature(function, eval_str=True)
    own = list(signature.parameters.values())
    ports = ports_of({each.name: each.annotation for each in own})
    adds_force = "force" not in signature.parameters and any(
        isinstance(port.mark, Writes) for port in ports
    )

    @functools.wraps(function)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> R:
        force = bool(kwargs.pop("force", False) if adds_force else kwargs.get("force", False))
        try:
            bound = signature.bind(*args, **kwargs).arguments
            with called(function, bound), deciding(ports, bound, say, force=force):
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

    if adds_force:
        kind = inspect.Parameter.KEYWORD_ONLY
        extra = inspect.Parameter("force", kind, default=False, annotation=Force)
        vars(guarded)["__signature__"] = signature.replace(parameters=[*own, extra])
    return guarded


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


def stored_runs(stack: ExitStack, own: Path | None = None) -> Store | None:
    """The store of finished runs, closed with `stack`; None, and a warning, without one.

    Raises:
        StoreError: The file `own`, which the user asks for, cannot be used.
    """
    if own is not None:
        return stack.enter_context(opened_store(own))
    try:
        return stack.enter_context(opened_store())
    except StoreError as error:
        say(f"warning: {error}; an interrupted run will begin again")
        return None


def opened_store(own: Path | None = None) -> Store:
    """The user's store, which says on standard error what it meets.

    Args:
        own: A file to use instead of the usual one; nothing leaves it.

    Raises:
        StoreError: It cannot be used.
    """

    def warn(message: str) -> None:
        say(f"warning: {message}")

    if own is not None:
        check_store(own)
        return Store(own, limit_bytes=_NO_LIMIT, warn=warn)
    return Store(default_path(), limit_bytes=default_limit(), warn=warn)


@contextmanager
def resumable(what: str, own: Path | None = None) -> Iterator[tuple[Telling, Store | None]]:
    """Progress and the store of finished runs, for work that the same command goes on with."""
    with ExitStack() as stack:
        store = stored_runs(stack, own)
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


class Telling:
    """Says how far a command is, and what it is at where it has steps."""

    def __init__(self, begin: Callable[[str], Callable[[int, int], None]], what: str) -> None:
        self._begin, self._what = begin, what
        self._tell = begin(what)

    def __call__(self, done: int, total: int) -> None:
        """Hears how many runs are done, of how many; of 0 where nobody knows how many."""
        self._tell(done, total)

    def step(self, name: str) -> None:
        """What comes is another step, which counts for itself."""
        self._tell = self._begin(f"{self._what}, {name}")


def _terminal() -> Console | None:
    """What draws on standard error; None where it draws nothing, and need not be loaded."""
    if not sys.stderr.isatty():
        return None
    from rich.console import Console

    console = Console(stderr=True)
    return console if console.is_terminal else None


@contextmanager
def progress(what: str) -> Iterator[Telling]:
    """Shows how far a command is: a bar on a terminal, a line now and then elsewhere."""
    console = _terminal()
    if console is None:
        yield Telling(_lines, what)
        return
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(),
    )  # fmt: skip
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=None)

        def begin(text: str) -> Callable[[int, int], None]:
            bar.reset(task, description=printable(text))
            return lambda done, total: bar.update(task, completed=done, total=total or None)

        yield Telling(begin, what)


def _lines(what: str) -> Callable[[int, int], None]:
    last, first, began = -1, 0, time.monotonic()
    said = -math.inf

    def tell(done: int, total: int) -> None:
        nonlocal last, first, said
        if not total:
            if time.monotonic() - said > _SOON_S:
                said = time.monotonic()
                say(what + (f": {done} run{'s' * (done > 1)} done" if done else ""))
            return
        tenth = 10 * done // max(total, 1)
        if last == 10 and tenth < 10:
            # All was done, and there is more to do now.
            last = tenth - 1
        if tenth > last:
            # What was found again at the beginning took no time.
            first = done if last < 0 else first
            last = tenth
            left = (time.monotonic() - began) * (total - done) / max(1, done - first)
            soon = done == first or left < _SOON_S
            say(f"{what}: {done} of {total}" + ("" if soon else f", {_duration(left)} left"))

    return tell


def _duration(seconds: float) -> str:
    """About so long: `40 s`, `5 min`, `1.5 h`."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
