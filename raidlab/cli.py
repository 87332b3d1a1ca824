"""The command line: see `raidlab --help`.

A command is imported when it is called: the list of commands and their first sentences stands
here, so that the help needs none of them.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command_from_info
from typer.models import CommandInfo

from raidlab import words
from raidlab.devices.printable import printable_lines

_PASS_ON = {"allow_extra_args": True, "ignore_unknown_options": True}
"""Settings of a command that hands its arguments on."""


@dataclass(frozen=True)
class Lazy:
    """A command that is imported when it is called."""

    module: str
    function: str
    help: str
    """The first sentence of its own help."""
    passes_on: bool = False
    """True if what it does not know is another program's."""
    own_help: bool = True
    """False if --help, too, is handed on."""

    def load(self, name: str) -> TyperCommand:
        """The command itself."""
        function = getattr(import_module(f"raidlab.commands.{self.module}"), self.function)
        info = CommandInfo(
            name=name,
            callback=function,
            help=_help_of(function),
            context_settings=_PASS_ON if self.passes_on else None,
            add_help_option=self.own_help,
        )
        loaded = get_command_from_info(
            info, pretty_exceptions_short=True, rich_markup_mode=app.rich_markup_mode
        )
        if not isinstance(loaded, TyperCommand):
            raise AssertionError("a command of typer's")
        return loaded


def _help_of(function: Callable[..., Any]) -> str:
    """A docstring as the help shows it: a line a paragraph, brackets that are no markup."""
    paragraphs = (inspect.getdoc(function) or "").split("\n\n")
    text = "\n\n".join(" ".join(each.split()) for each in paragraphs)
    return re.sub(r"\[(?=[a-z/@#])", r"\\[", text)


COMMANDS = {
    "run": Lazy(
        "run",
        "run",
        "Simulate a scenario: a table, --json, a page with --html, everything with --out.",
    ),
    "validate": Lazy(
        "validate",
        "validate",
        "Show every published figure beside its simulated value, with the error.",
    ),
    "devices": Lazy(
        "devices",
        "devices",
        "List the catalogue, or show one device with the source of every number.",
    ),
    "controllers": Lazy(
        "controllers",
        "controllers",
        "Show the curves of every controller over 1 to 512 outstanding I/Os, and what levels cost.",
    ),
    "rebuild": Lazy(
        "rebuild",
        "rebuild",
        "Say how long a rebuild takes, what limits it and what users feel, at each rebuild rate.",
    ),
    "sweep": Lazy(
        "sweep",
        "sweep",
        "Simulate a scenario at many points: any of its fields over lists or ranges.",
    ),
    "size": Lazy(
        "size",
        "size",
        "Find the fewest drives, the highest rate ... with which a scenario meets goals.",
    ),
    "sensitivity": Lazy(
        "sensitivity",
        "sensitivity",
        "Rank the numbers that are open by what they do to a latency or rate.",
    ),
    "why": Lazy(
        "why",
        "why",
        "Say why a system is slow: each usual cause is removed by itself and ranked by its gain.",
    ),
    "diff": Lazy(
        "diff",
        "diff",
        "Show two scenarios or results beside each other: files, figures, where the time goes.",
    ),
    "risk": Lazy(
        "risk",
        "risk",
        "Draw random failures: how probable it is that a scenario's arrays lose data.",
    ),
    "plan": Lazy(
        "plan",
        "plan",
        "Answer a question: the cheapest system that meets goals, and why others do not.",
    ),
    "until": Lazy(
        "until",
        "until",
        "Say in which month growth makes each candidate of a question miss which goal.",
    ),
    "compression": Lazy(
        "compression",
        "compression",
        "Show rates, bytes to NAND and write amplification over how far data can be compressed.",
    ),
    "ssd-cache": Lazy(
        "ssd_cache",
        "ssd_cache",
        "Run a scenario with an SSD cache, once for each size of the hot spot.",
    ),
    "replay": Lazy(
        "replay",
        "replay",
        "Replay a trace: what `raidlab run` gives, beside the measured response times.",
    ),
    "collect": Lazy(
        "collect",
        "collect",
        "Measure a target with fio: the program raidlab-collect (see `raidlab collect --help`).",
        passes_on=True,
        own_help=False,
    ),
    "fio": Lazy(
        "fio",
        "fio",
        "Run fio's jobs on a simulated system; everything else on the line is fio's own.",
        passes_on=True,
    ),
    "calibrate": Lazy(
        "calibrate",
        "calibrate",
        "Fit a device to a measurement, with errors, and predict what the fit has not seen.",
    ),
    "new": Lazy(
        "new",
        "new",
        "Write a first scenario, commented, that runs: five questions, or options.",
    ),
    "twin": Lazy(
        "twin",
        "twin",
        "Measure a machine where it tells most, fit its twin and say how far to trust it.",
    ),
    "check": Lazy(
        "check",
        "check",
        "Check files without running them: every fault of each, with what is allowed.",
    ),
    "schema": Lazy(
        "schema",
        "schema",
        "Print the JSON Schema of a kind of file: scenario, device, sheet or question.",
    ),
    "store": Lazy(
        "store",
        "store",
        "List what the store of finished runs has, or clear it.",
    ),
    "fit-load": Lazy(
        "fit_load",
        "fit_load",
        "Fit what monitoring leaves open of a load, on the system that was monitored.",
    ),
    "record": Lazy(
        "record",
        "record",
        "Record the load of this machine's disks from /proc/diskstats, for scenarios.",
    ),
    "lab": Lazy(
        "lab",
        "lab",
        "Open the lab in the browser: rooms that each answer one question by simulation.",
    ),
    "serve": Lazy(
        "serve",
        "serve",
        "Open the planner in the browser: what to buy for a load, without a question file.",
    ),
    "compare": Lazy("compare", "compare", "Simulate every measured point and show both."),
    "discover": Lazy(
        "discover",
        "discover",
        "Find a machine's storage: controllers, arrays, drives, links; write its scenario.",
    ),
}
RENAMED = {"tier": "ssd-cache"}
"""Commands of earlier versions."""
IMPORTS = {
    "disksim": Lazy(
        "import_disksim",
        "disksim",
        "Make a device file of a DiskSim disk; says what has no counterpart.",
    ),
    "fio": Lazy(
        "import_fio",
        "fio_results",
        "Make a measurement of fio's output; says what was skipped and why.",
    ),
    "iometer": Lazy(
        "import_benchmarks",
        "iometer_results",
        "Make a measurement of Iometer's results; says what was skipped and why.",
    ),
    "iozone": Lazy(
        "import_benchmarks",
        "iozone_results",
        "Make a measurement of what IOzone printed; says what was skipped and why.",
    ),
    "trace": Lazy(
        "import_trace",
        "trace",
        "Make a measurement of a trace: a point for each direction, size, order and depth.",
    ),
    "datasheet": Lazy(
        "import_datasheet",
        "datasheet",
        "Make a device file of what a maker states; says what contradicts itself.",
    ),
    "published": Lazy(
        "import_published",
        "published",
        "Make a measurement of published rates of a drive on its own.",
    ),
    "monitoring": Lazy(
        "import_monitoring",
        "monitoring",
        "Import what monitoring tools printed: rates, sizes, mix, queues and latencies over time.",
    ),
}


TRACES = {
    "describe": Lazy(
        "trace_describe",
        "describe",
        "Describe a trace: mix, sizes, order, bursts, hot spots, and which size of a cache pays.",
    ),
    "synthesize": Lazy(
        "trace_synthesize",
        "synthesize",
        "Write a trace of the same statistics, and compare both.",
    ),
}

_COMMAND_LINE_ERRORS: tuple[type[BaseException], ...] = tuple(
    each for each in typer.BadParameter.__mro__ if each.__name__ == "ClickException"
)
"""What a wrong command line raises: a class of click's, or of typer's own copy of it."""


@contextmanager
def _plain_errors() -> Iterator[None]:
    try:
        yield
    except _COMMAND_LINE_ERRORS as error:
        found = vars(error)
        found["message"] = printable_lines(str(found["message"]))
        meant = words.OPTIONS.get(str(found.get("option_name")))
        if meant is not None:
            found["message"], found["possibilities"] = f"{found['message']}: {meant}.", None
        raise


class LazyGroup(TyperGroup):
    """A group whose commands are imported when they are called, not when they are listed."""

    lazy: Mapping[str, Lazy] = COMMANDS
    _listing = False

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        # What stands for a command until it is called: its name and its first sentence.
        listed = {name: TyperCommand(name=name, help=each.help) for name, each in self.lazy.items()}
        self.commands = {**listed, **self.commands}

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A command; while the help is made one that only has its first sentence."""
        entry = self.lazy.get(cmd_name)
        if entry is None or self._listing:
            return super().get_command(ctx, cmd_name)
        try:
            return entry.load(cmd_name)
        except KeyboardInterrupt:
            # While the command loads nothing is under way that a message could be about.
            sys.exit(130)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """As its parent, but for commands that have another name now."""
        if args and self.lazy is COMMANDS and args[0] in RENAMED:
            raise typer.BadParameter(f"{args[0]!r} is named {RENAMED[args[0]]!r} now.", ctx=ctx)
        meant = words.COMMANDS.get(args[0].lower()) if args and self.lazy is COMMANDS else None
        if meant is not None and args[0] not in self.commands:
            raise typer.BadParameter(f"No such command {args[0]!r}: raidlab {meant}.", ctx=ctx)
        return super().resolve_command(ctx, args)

    def make_context(self, *arguments: Any, **settings: Any) -> Any:
        """As its parent; what is said of a user's words shows them as they are."""
        with _plain_errors():
            return super().make_context(*arguments, **settings)

    def invoke(self, ctx: Any) -> Any:
        """As `make_context`, where the words are a command's."""
        with _plain_errors():
            return super().invoke(ctx)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """The help, made of the first sentences."""
        self._listing = True
        try:
            super().format_help(ctx, formatter)
        finally:
            self._listing = False


class ImportGroup(LazyGroup):
    """`raidlab import`."""

    lazy = IMPORTS


class TraceGroup(LazyGroup):
    """`raidlab trace`."""

    lazy = TRACES


app = typer.Typer(
    cls=LazyGroup,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Simulate the block-storage path, calibrated from what fio measures.",
)
importing = typer.Typer(
    cls=ImportGroup,
    no_args_is_help=True,
    help="Make a device or a measurement of other files.",
)
app.add_typer(importing, name="import")

tracing = typer.Typer(
    cls=TraceGroup,
    no_args_is_help=True,
    help="Say what a trace is like, or make one like it.",
)
app.add_typer(tracing, name="trace")


@tracing.callback()
def _tracing() -> None:
    """Say what a trace is like, or make one like it."""


@importing.callback()
def _importing() -> None:
    """Make a device or a measurement of other files."""


def _version(asked: bool) -> None:
    if asked:
        from raidlab.output import print_version

        print_version()
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Options before the command."""
