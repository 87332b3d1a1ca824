"""`raidlab twin`: a machine found, measured, fitted and judged by one command."""

from __future__ import annotations

import json as json_module
import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from raidlab.commands.again import again
from raidlab.commands.common import Json, Seed, Workers, command, path, say
from raidlab.commands.file_kinds import FileKind
from raidlab.commands.files_written import Reads, Writes
from raidlab.commands.outputs import Texts, deliver
from raidlab.commands.tables import Output, Wide, print_notes, print_report
from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.units import DURATION
from raidlab.output import echo
from raidlab.scenarios.report.report import Report

if TYPE_CHECKING:
    from raidlab.calibration.twin.loop import Twin
    from raidlab.calibration.twin.targets import Target

_KINDS = {
    "device.toml": FileKind.DEVICE,
    "host.toml": FileKind.DEVICE,
    "scenario.toml": FileKind.SCENARIO,
    "measurement.json": FileKind.MEASUREMENT,
    "twin.html": FileKind.PAGE,
}


@command
def twin(
    target: Annotated[
        str,
        typer.Argument(
            help="A file to measure in, which is made if it is missing, or a block device, which is"
            " only read.",
            show_default=False,
        ),
        Reads(),
    ] = "",
    system: Annotated[
        str,
        typer.Option(
            "--system",
            help="Scenario of the machine, as `raidlab discover` writes it; names the target too.",
            show_default=False,
        ),
        Reads(),
    ] = "",
    simulated: Annotated[
        str,
        typer.Option(
            "--simulated", help="Measure a scenario's system in virtual time.", show_default=False
        ),
        Reads(),
    ] = "",
    out: Annotated[
        Path,
        typer.Option(
            "--out", help="Folder for what is measured and made; goes on there.", parser=path
        ),
        Writes(FileKind.RESULT, inside=_KINDS),
    ] = Path("twin"),
    confirm: Annotated[
        str,
        typer.Option(
            "--confirm",
            help="A device that is in use or holds data: its serial number, or NAME:BYTES. It is"
            " only read.",
            show_default=False,
        ),
    ] = "",
    size: Annotated[str, typer.Option("--size", help="Size of the file that is made.")] = "2 GiB",
    time_limit: Annotated[
        str, typer.Option("--time-limit", help="Limit of measuring and fitting.")
    ] = "15 min",
    accuracy: Annotated[
        float,
        typer.Option(
            "--accuracy", min=0.1, max=100.0, help="Percent to which rates are to be known."
        ),
    ] = 5.0,
    points: Annotated[
        int, typer.Option("--points", min=14, max=500, help="Points that a fit sees at most.")
    ] = 40,
    seed: Seed = 1,
    json: Json = False,
    wide: Wide = False,
    workers: Workers = None,
) -> None:
    """Measure a machine where it tells most, fit its twin and say how far to trust it."""
    from raidlab.calibration.report.twin import FILES, document, files
    from raidlab.calibration.twin.loop import TwinSettings, run_twin

    of = _target(target, system, simulated, out, size, seed, confirm)
    out.mkdir(parents=True, exist_ok=True)
    settings = TwinSettings(
        out, _name_of(target or system or simulated), _seconds(time_limit), accuracy / 100.0,
        points, seed=seed, workers=workers or os.cpu_count() or 1,
    )  # fmt: skip
    found = run_twin(of, settings, say)
    made = files(found, again("twin"))
    said = document(found, out)
    answers: list[Texts] = [{out / name: partial(str, made[name])} for name in FILES]

    def show() -> None:
        if json:
            echo(json_module.dumps(said, indent=2))
        else:
            _show(found, Output.of(json=False, wide=wide))

    deliver(answers, show)


def _target(
    target: str, system: str, simulated: str, out: Path, size: str, seed: int, confirm: str
) -> Target:
    """What is measured.

    Raises:
        SpecError: None or several are named, or it cannot be measured.
    """
    from raidlab.calibration.fitting.bench.scenario_bench import bench_of_scenario
    from raidlab.calibration.twin.targets import CollectedTarget, SimulatedTarget

    named = [name for name in (target, system, simulated) if name]
    if len(named) != 1 and not (target and system):
        allowed = "one of TARGET, --system S.toml and --simulated S.toml"
        raise SpecError([Fault("TARGET", " ".join(named) or None, allowed)])
    device = bool(chosen := target or (_device_of(system) if not simulated else "")) and (
        Path(chosen).is_block_device()
    )
    if confirm and not device:
        raise SpecError([Fault("--confirm", confirm, "only with a block device, which is read")])
    if simulated:
        return SimulatedTarget(simulated, bench_of_scenario(simulated), seed)
    made = "" if device or Path(chosen).exists() else size
    return CollectedTarget(chosen, out, made, writes=not device, confirmed=confirm)


def _device_of(system: str) -> str:
    """The block device that a scenario's only array is called after.

    Raises:
        SpecError: There is none of that name here.
    """
    from raidlab.scenarios.planning.scenario import load_scenario

    arrays = load_scenario(system).base["arrays"]
    names = [str(array["name"]) for array in arrays]
    here = [f"/dev/{name}" for name in names if Path(f"/dev/{name}").is_block_device()]
    if len(here) != 1:
        allowed = "one array that is called as a block device of this machine; or name a TARGET"
        raise SpecError([Fault("array.0.name", ", ".join(names), allowed, (), system)])
    return here[0]


def _name_of(text: str) -> str:
    """A device's name: small letters, digits, dots and hyphens."""
    stem = Path(text).stem.lower() or "twin"
    allowed = "".join(c if c.isalnum() or c in ".+-" else "-" for c in stem).strip("-.+")
    return f"{allowed or 'twin'}-twin"


def _seconds(text: str) -> float:
    try:
        found = float(DURATION.parse(text)) / 1e9
    except ValueError:
        found = 0.0
    if not 10.0 <= found <= 86_400.0:
        raise SpecError([Fault("--time-limit", text, 'from 10 s to 1 d: "15 min"')])
    return found


def _show(found: Twin, output: Output) -> None:
    from raidlab.calibration.report import fit as report
    from raidlab.calibration.report.twin import judgement, limits, warnings

    result = found.result
    tables = [report.parameters_table(result.fit.estimates)] if result.fit.estimates else []
    tables.append(report.parts_table(result))
    print_report(Report(str(result.tree["title"]), judgement(found), tables), output)
    print_notes(["Do not ask it about: " + "; ".join(limits(found)) + ".", *warnings(found)])
