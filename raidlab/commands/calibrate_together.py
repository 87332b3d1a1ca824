"""`raidlab calibrate` with several measurements: drives and hosts fitted together."""

from __future__ import annotations

import json as json_module
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from raidlab.calibration.fitting.parameters.kinds import kind_of
from raidlab.commands.common import say
from raidlab.commands.file_kinds import FileKind
from raidlab.commands.files_written import also_writes, own_device
from raidlab.commands.measured import read_measured
from raidlab.commands.outputs import deliver
from raidlab.commands.tables import Output, print_report
from raidlab.devices.catalogue import find_for
from raidlab.devices.faults import Fault, SpecError
from raidlab.output import echo
from raidlab.scenarios.report.report import Report
from raidlab.scenarios.report.tables import Cell, Column, Kind, Table
from raidlab.scenarios.results.number_text import digits

if TYPE_CHECKING:
    from raidlab.calibration.fitting.estimation.joint import JointFit, Member
    from raidlab.calibration.fitting.estimation.stages import Settings


@dataclass(frozen=True)
class Together:
    """What the options of the command say where there are several measurements."""

    files: Sequence[Path]
    hosts: str
    """One for all, or one for each measurement, with commas between."""
    drives: str
    """As `hosts`, of names of drives; a drive for each measurement if empty."""
    out: Path | None
    """A folder."""
    json: bool
    wide: bool


def members_of(given: Together, usual_host: str) -> list[Member]:
    """The measurements with their drives and hosts.

    Raises:
        SpecError: The numbers of names and of measurements differ, or a file is not in order.
    """
    from raidlab.calibration.fitting.estimation.joint import Member

    measured = [read_measured(path) for path in given.files]
    names = [measurement.name for measurement in measured]
    hosts = _each("--host", given.hosts or usual_host, len(measured))
    drives = _each("--drive", given.drives or ",".join(names), len(measured))
    return [Member(*row) for row in zip(measured, drives, hosts, strict=True)]


def _each(option: str, text: str, count: int) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    if len(names) == 1:
        return names * count
    if len(names) != count or not all(names):
        allowed = f"one name, or {count} with commas between: one for each measurement"
        raise SpecError([Fault(option, text, allowed)])
    return names


def fit_together(given: Together, said: Settings) -> None:
    """Fits, writes a file for each drive and each host, and prints what came out."""
    from raidlab.calibration.fitting.estimation import joint

    members = members_of(given, kind_of(said.kind).host)
    settings = joint.JointSettings(
        said.kind,
        train=said.train,
        free=said.choice.free,
        overrides=said.overrides,
        budget=said.budget,
        seed=said.seed,
        workers=said.workers,
    )
    _decide(given.out, members)
    result = joint.fit_together(members, settings)
    files: dict[Path | None, Any] = {}
    if given.out is not None:
        for drive in result.drives:
            files[given.out / f"{drive}.toml"] = partial(result.drive_toml, drive)
        for host in result.hosts:
            files[given.out / f"{result.host_name(host)}.toml"] = partial(result.host_toml, host)

    def show() -> None:
        if given.json:
            echo(json_module.dumps(result.to_dict(), indent=2))
        else:
            print_report(_shown(result), Output.of(json=False, wide=given.wide))

    deliver([files], show)


def _decide(out: Path | None, members: Sequence[Member]) -> None:
    """Refuses, before the fit, what another device's file would be replaced by.

    Raises:
        SpecError: Everything that forbids a file.
    """
    from raidlab.calibration.fitting.estimation.start import name_of

    if out is None:
        return
    drives = list(dict.fromkeys(member.drive for member in members))
    beside = name_of("-".join(drives)).removesuffix("-fitted")
    hosts = {find_for("--host", member.host).spec.name for member in members}
    own = {out / f"{drive}.toml": name_of(drive) for drive in drives}
    own |= {out / f"{host}-of-{beside}.toml": f"{host}-of-{beside}" for host in sorted(hosts)}
    also_writes("--out", dict.fromkeys(own, FileKind.DEVICE), say)
    for path, name in own.items():
        own_device("--out", path, name)


def _shown(result: JointFit) -> Report:
    from raidlab.calibration.report.fit import parameters_table

    columns = [
        Column("measurement", kind=Kind.TEXT, width=24),
        Column("drive", kind=Kind.TEXT, priority=3, width=12),
        Column("host", kind=Kind.TEXT, width=10),
        Column("unseen points"),
        Column("median error of the rate,", "%"),
        Column("nine in ten within,", "%"),
        Column("by lines,", "%", priority=2),
    ]
    rows: list[list[Cell]] = []
    medians = []
    for member in result.members():
        of = member["test"] if member["test"]["points"] else member["train"]
        errors = of["median_abs_error_pct"], of["p90_abs_error_pct"]
        medians.append(errors[0] or 0.0)
        names = member["measurement"], member["drive"], member["host"]
        lines = member["baseline"]["median_abs_error_pct"]
        rows.append([*names, member["test"]["points"], *errors, lines])
    worst = max(medians)
    answer = (
        f"{len(result.drives)} drives and {len(result.hosts)} hosts meet {len(rows)} measurements"
        f" within {digits(worst)} % in the median, each of them."
    )
    tables = [Table("Measurements", columns, rows), parameters_table(result.fit.estimates)]
    return Report("Fitted together", answer, tables)
