"""`raidlab fio` and `raidlab-fio`: fio on a simulated system."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from raidlab.calibration.fio import command_line
from raidlab.calibration.fio import virtual as virtual_fio
from raidlab.commands.common import (
    BAD_INPUT,
    DOES_NOT_HOLD,
    DONE,
    INTERRUPTED,
    SEED_MAX,
    Force,
    OwnSeed,
    command,
    path,
    say,
)
from raidlab.commands.file_kinds import FileKind
from raidlab.commands.files_written import Decision, Reads, decided
from raidlab.devices.faults import Fault, SpecError
from raidlab.output import echo, guarded_output

OWN = ("scenario", "array", "seed")
"""What `raidlab-fio` itself is given: as `--raidlab-NAME`, or as `RAIDLAB_NAME`."""


@command
def fio(
    context: typer.Context,
    scenario: Annotated[
        Path | None,
        typer.Option(
            "--scenario", help="A scenario file; one 7200 rpm disk without it.", parser=path
        ),
        Reads(),
    ] = None,
    array: Annotated[
        str | None, typer.Option("--array", help="The array that fio sees; the first by default.")
    ] = None,
    seed: OwnSeed = None,
    native: Annotated[
        bool, typer.Option("--native", help="Without fio: the engine itself runs the jobs.")
    ] = False,
    device: Annotated[
        str | None,
        typer.Option("--device", help="With --native: one drive instead of a scenario."),
        Reads(),
    ] = None,
    force: Force = False,
    describe: Annotated[bool, typer.Option("--describe", hidden=True)] = False,
) -> None:
    """Run fio's jobs on a simulated system; everything else on the line is fio's own.

    For example: raidlab fio --scenario S.toml job.fio --output-format=json+
    """
    if describe:
        echo(json.dumps(virtual_fio.bridge(scenario, array, seed).describe()))
        return
    with _output_decided(context.args, scenario, device, force=force):
        if native:
            from raidlab.calibration.fio.native import run_line

            done = run_line(context.args, scenario=scenario, device=device, array=array, seed=seed)
            raise typer.Exit(DONE if done else DOES_NOT_HOLD)
        if device is not None:
            raise SpecError([Fault("--device", device, "left out, or beside --native")])

        def system() -> virtual_fio.Bridge:
            return virtual_fio.bridge(scenario, array, seed)

        raise typer.Exit(virtual_fio.run(system, context.args, "json+"))


@contextmanager
def _output_decided(
    words: Sequence[str], scenario: Path | str | None, device: str | None = None, *, force: bool
) -> Iterator[None]:
    """While fio runs: whether its `--output` may be written is decided.

    Raises:
        SpecError: Everything that forbids it.
    """
    line = command_line.split(words)
    tables = [name for name in line.files if name.endswith(".toml")]
    if tables:
        allowed = "a job file of fio; a scenario or a device is given as --scenario FILE"
        raise SpecError([Fault("job file", name, allowed) for name in tables])
    read = [("job file", name) for name in line.files if name != "-"]
    named = (("--scenario", scenario), ("--device", device))
    read += [(option, str(name)) for option, name in named if name is not None]
    output = line.value("output")
    files = [] if output is None else [("--output", Path(output), FileKind.FIO)]
    with decided(Decision(force=force, read=read), files, _silent):
        yield


def _silent(note: str) -> None:
    """What runs fio says itself which folders are made."""


def stand_in() -> None:
    """`raidlab-fio`: fio's own command line, in place of fio.

    The simulated system is that of `--raidlab-scenario`, else of the environment's
    `RAIDLAB_SCENARIO`, else one disk; array and seed likewise.
    """
    try:
        with guarded_output():
            code = _stand_in(sys.argv[1:], os.environ)
    except SpecError as error:
        for fault in error.faults:
            say(f"error: {fault}")
        code = BAD_INPUT
    except KeyboardInterrupt:
        say("interrupted")
        code = INTERRUPTED
    sys.exit(code)


def _stand_in(words: Sequence[str], environment: Mapping[str, str]) -> int:
    own = {name: environment.get(f"RAIDLAB_{name.upper()}") or None for name in OWN}
    names = {f"--raidlab-{name}": name for name in OWN}
    passed_on: list[str] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        key, equals, value = word.partition("=")
        if key not in names:
            if key.startswith("--raidlab"):
                raise SpecError([Fault(key, None, ", ".join(names), tuple(names))])
            passed_on.append(word)
        elif equals or rest:
            own[names[key]] = value if equals else rest.pop(0)
        else:
            raise SpecError([Fault(key, None, "a value after it")])

    def system() -> virtual_fio.Bridge:
        return virtual_fio.bridge(own["scenario"], own["array"], _seed(own["seed"]))

    # fio replaces whatever stands there; what is read is safe all the same.
    with _output_decided(passed_on, own["scenario"], force=True):
        return virtual_fio.run(system, passed_on, None)


def _seed(text: str | None) -> int | None:
    if text is None:
        return None
    if not text.isdecimal() or int(text) > SEED_MAX:
        raise SpecError([Fault("--raidlab-seed", text, f"a whole number from 0 to {SEED_MAX}")])
    return int(text)
