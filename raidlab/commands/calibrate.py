"""`raidlab calibrate`: a device from measurements."""

from __future__ import annotations

import json as json_module
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from raidlab.calibration.fitting.estimation.stages import BUDGET
from raidlab.calibration.fitting.estimation.start import kind_in, kind_of_device, name_of
from raidlab.calibration.fitting.parameters.facts import facts_of
from raidlab.calibration.fitting.parameters.kinds import KINDS
from raidlab.calibration.fitting.parameters.parameter import Choice
from raidlab.commands.calibrate_together import Together, fit_together
from raidlab.commands.common import (
    Json,
    Seed,
    Tolerance,
    Workers,
    command,
    end_by_tolerance,
    path,
    resumable,
    say,
)
from raidlab.commands.file_kinds import FileKind
from raidlab.commands.files_written import Reads, Writes, also_writes, own_device
from raidlab.commands.measured import read_measured
from raidlab.commands.outputs import Texts, deliver, page_of
from raidlab.commands.tables import Output, Wide, print_notes, print_report
from raidlab.devices.catalogue import find_for, names
from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.units import DURATION
from raidlab.output import echo
from raidlab.scenarios.report.report import Report

if TYPE_CHECKING:
    from raidlab.calibration.fitting.report.posterior import Posterior


@command
def calibrate(
    measurement: Annotated[
        list[Path],
        typer.Argument(
            help="A measurement, as `raidlab import` makes; of several, drives and hosts are"
            " fitted together.",
            parser=path,
        ),
        Reads(),
    ],
    kind: Annotated[
        str,
        typer.Option(
            "--kind",
            help=f"One of {', '.join(KINDS)}; if left out, that of --like, of --system's drives, or"
            " the one that predicts points left out best.",
        ),
    ] = "",
    host: Annotated[
        str,
        typer.Option(
            "--host",
            help="Host of the catalogue, or a file; one for each measurement, with commas. Those"
            " usual for the kind are tried if left out.",
            show_default=False,
        ),
        Reads(separator=","),
    ] = "",
    drive: Annotated[
        str,
        typer.Option(
            "--drive",
            help="Drive of each measurement, with commas; one name for all.",
            show_default=False,
        ),
    ] = "",
    system: Annotated[
        str,
        typer.Option("--system", help="Scenario of the system around it.", show_default=False),
        Reads(),
    ] = "",
    like: Annotated[
        str,
        typer.Option(
            "--like", help="Device to start from; its bounds are a prior.", show_default=False
        ),
        Reads(),
    ] = "",
    name: Annotated[
        str, typer.Option("--name", help="Name of the fitted device.", show_default=False)
    ] = "",
    train: Annotated[
        str,
        typer.Option("--train", help='Points that the fit may see: "iodepth=1,8,64 numjobs=1".'),
    ] = "",
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help='A value of the device file: capacity="100 GB".'),
    ] = None,
    fact: Annotated[
        list[str] | None,
        typer.Option(
            "--fact",
            help="What is known: rpm=7200, capacity=4TB, queue_depth=32, link=sata-6g, virtual=yes,"
            " rotational=no.",
        ),
    ] = None,
    fix: Annotated[
        list[str] | None, typer.Option("--fix", help="Keep a parameter: firmware.read=4.")
    ] = None,
    free: Annotated[
        list[str] | None, typer.Option("--free", help="Fit one that is not: host.submit.")
    ] = None,
    tie: Annotated[
        list[str] | None, typer.Option("--tie", help="firmware.write=firmware.read.")
    ] = None,
    budget: Annotated[
        int,
        typer.Option(
            "--budget", min=20, max=1_000_000, help="Evaluations that the search may take."
        ),
    ] = BUDGET,
    time_limit: Annotated[
        str,
        typer.Option(
            "--time-limit",
            help='Stop the search after "10 min" all the same: the result then depends on the'
            " machine.",
            show_default=False,
        ),
    ] = "",
    posterior: Annotated[
        int,
        typer.Option(
            "--posterior", min=0, max=1000, help="Devices to draw for intervals of the rates."
        ),
    ] = 0,
    draws: Annotated[
        Path | None,
        typer.Option("--draws", help="Folder for the drawn device files.", parser=path),
        Writes(FileKind.DEVICE, later=True),
    ] = None,
    tolerance: Tolerance = None,
    seed: Seed = 1,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="The device file to write; of several measurements the folder.",
            parser=path,
        ),
        Writes(FileKind.DEVICE, later=True),
    ] = None,
    host_out: Annotated[
        Path | None,
        typer.Option(
            "--host-out", help="The host's file to write, as the fit found it.", parser=path
        ),
        Writes(FileKind.DEVICE),
    ] = None,
    controller_out: Annotated[
        Path | None,
        typer.Option(
            "--controller-out",
            help="The file of a controller that was fitted together with its drives.",
            parser=path,
        ),
        Writes(FileKind.DEVICE),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option("--report", help="A page to write.", parser=path),
        Writes(FileKind.PAGE),
    ] = None,
    json: Json = False,
    wide: Wide = False,
    workers: Workers = None,
) -> None:
    """Fit a device to a measurement, with errors, and predict what the fit has not seen."""
    import os

    from raidlab.calibration.fitting.calibrate import calibrate as fit_device
    from raidlab.calibration.fitting.estimation.stages import Settings
    from raidlab.calibration.fitting.report.posterior import device_files
    from raidlab.calibration.fitting.report.posterior import document as posterior_of
    from raidlab.calibration.report.fit import grouped_warnings

    settings = Settings(
        kind=kind or _kind_of(like, system, measurement),
        host=host,
        system=system,
        like=like,
        name=name,
        train=train,
        overrides={key: _value(text) for key, text in _pairs("--set", set_)},
        facts=facts_of(fact or ()),
        choice=_choice(fix, free, tie),
        budget=budget,
        time_limit_s=_seconds(time_limit) if time_limit else None,
        seed=seed,
        workers=workers or os.cpu_count() or 1,
    )
    if len(measurement) > 1:
        refused = {
            "--system": system,
            "--like": like,
            "--name": name,
            "--time-limit": time_limit,
            "--tolerance": tolerance,
            "--posterior": posterior,
            "--draws": draws,
            "--host-out": host_out,
            "--controller-out": controller_out,
            "--report": report,
            "--fact": fact,
            "--fix": fix,
            "--tie": tie,
        }
        _refuse(refused, "only with one measurement")
        fit_together(Together(measurement, host, drive, out, json, wide), settings)
        return
    _refuse({"--drive": drive}, "only with several measurements")
    if posterior == 0:
        _refuse({"--draws": draws}, "only with --posterior N")
    measured = read_measured(measurement[0])
    own = name or name_of(measured.name)
    files_of = _Files(out, host_out, controller_out, draws, own, posterior)
    files_of.decide()
    with resumable("steps of the fit") as (tell, store):
        result = fit_device(measured, settings, store, tell)
        document = result.to_dict(tolerance)
        bands = posterior_of(result, posterior, settings.workers) if posterior else None
        if bands is not None:
            document["posterior"] = bands
        drawn = [] if draws is None else list(device_files(result, posterior))

    def shown() -> Report:
        from raidlab.calibration.report.fit import calibration_report

        return calibration_report(result, _bands(bands))

    def show() -> None:
        if json:
            echo(json_module.dumps(document, indent=2))
        else:
            print_report(shown(), Output.of(json=False, wide=wide))
            print_notes(_drawn(bands))

    files: list[Texts] = [
        {out: result.to_toml, host_out: result.host_toml},
        {controller_out: result.controller_toml},
        {report: page_of(shown, "calibrate")},
    ]
    files.append({to: partial(str, text) for to, text in zip(files_of.drawn(), drawn, strict=True)})
    deliver(files, show)
    for warning in grouped_warnings(result):
        say(f"warning: {warning}")
    end_by_tolerance(result.agreement(tolerance))


@dataclass(frozen=True)
class _Files:
    """Device files that a fit of one measurement writes."""

    out: Path | None
    host_out: Path | None
    controller_out: Path | None
    draws: Path | None
    name: str
    """Of the fitted device."""
    posterior: int
    """Devices that are drawn."""

    def drawn(self) -> list[Path]:
        """Files of the drawn devices."""
        if self.draws is None:
            return []
        return [self.draws / f"{self.name}-{at:03}.toml" for at in range(1, self.posterior + 1)]

    def decide(self) -> None:
        """Refuses, before the fit, what another device's file would be replaced by.

        Raises:
            SpecError: Everything that forbids a file.
        """
        if self.out is not None:
            also_writes("--out", {self.out: FileKind.DEVICE}, say)
        also_writes("--draws", dict.fromkeys(self.drawn(), FileKind.DEVICE), say)
        own_device("--out", self.out, self.name)
        for file in self.drawn():
            own_device("--draws", file, file.stem)
        # A host of which nothing was varied keeps its name, which the fit alone knows.
        known = names()
        of_fit = f"-of-{self.name}"
        also = {*known, *(f"{name}{of_fit}" for name in known)}
        own_device("--host-out", self.host_out, f"HOST{of_fit}", also)
        own_device("--controller-out", self.controller_out, f"CONTROLLER{of_fit}", also)


def _choice(fix: list[str] | None, free: list[str] | None, tie: list[str] | None) -> Choice:
    fixed = {key: _number(f"--fix: {key}", text) for key, text in _pairs("--fix", fix)}
    return Choice(fixed, frozenset(free or ()), dict(_pairs("--tie", tie)))


def _refuse(options: Mapping[str, object], allowed: str) -> None:
    faults = [Fault(name, str(value), allowed) for name, value in options.items() if value]
    if faults:
        raise SpecError(faults)


def _kind_of(like: str, system: str, measurements: Sequence[Path]) -> str:
    """The kind to fit of the device to start from; none where laws are to find it.

    Raises:
        SpecError: It must be named, as drives of a system or of several measurements are fitted.
    """
    if not like and not system and len(measurements) == 1:
        return ""
    if system and not like and len(measurements) == 1:
        return kind_in(system)
    if not like:
        allowed = f"one of {', '.join(KINDS)}, or --like DEVICE, which says it"
        raise SpecError([Fault("--kind", None, allowed)])
    return kind_of_device(find_for("--like", like).spec)


def _drawn(bands: Posterior | None) -> list[str]:
    """How many of the measured rates the drawn devices hold; nothing if none were drawn."""
    if bands is None:
        return []
    share = f"{100 * bands['share_inside']:.0f} % of the measured rates"
    return [f"{bands['draws']} devices drawn: {share} lie in the 95 % intervals of the drawn ones."]


def _bands(drawn: Posterior | None) -> list[tuple[float, float]]:
    """Where the rates of drawn devices lie, for each point; empty if none were drawn."""
    points = [] if drawn is None else drawn["points"]
    return [(each["iops_low"], each["iops_high"]) for each in points]


def _seconds(text: str) -> float:
    """A time as text with a unit, or a number of seconds."""
    try:
        found = float(text)
    except ValueError:
        try:
            found = float(DURATION.parse(text)) / 1e9
        except ValueError:
            found = 0.0
    if not 1.0 <= found <= 86_400.0:
        raise SpecError([Fault("--time-limit", text, 'from 1 s to 1 d: "2 min", or seconds')])
    return found


def _pairs(option: str, given: list[str] | None) -> list[tuple[str, str]]:
    pairs = []
    for text in given or ():
        key, equals, value = text.partition("=")
        if not equals or not key or not value:
            raise SpecError([Fault(option, text, "KEY=VALUE")])
        pairs.append((key.strip(), value.strip()))
    return pairs


def _number(option: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise SpecError([Fault(option, text, "a number in the parameter's unit")]) from None


def _value(text: str) -> Any:
    """A value of a device file: a number, a boolean or quoted text, else the text itself."""
    try:
        value = json_module.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, int | float | bool | str) else text
