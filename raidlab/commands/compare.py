"""`raidlab compare`: measured and simulated side by side."""

from __future__ import annotations

import json as json_module
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from raidlab.calibration.fitting.points.training_split import split
from raidlab.commands.common import (
    Html,
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
from raidlab.commands.compare_live import LOAD, Watch, compare_live
from raidlab.commands.file_kinds import FileKind
from raidlab.commands.files_written import Reads, Writes
from raidlab.commands.measured import read_measured
from raidlab.commands.outputs import deliver, page_of
from raidlab.commands.tables import Output, Wide, print_report
from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.host import HostSpec
from raidlab.devices.schema import DriveSpec
from raidlab.output import echo
from raidlab.scenarios.report.report import Report

if TYPE_CHECKING:
    from raidlab.calibration.fitting.bench.bench import Bench
    from raidlab.calibration.fitting.comparison.compare import Mapped
    from raidlab.calibration.measurements.measurement import Point
    from raidlab.devices.catalogue import Device

GENERIC: Final = "generic"
"""The host that a drive is compared behind if nobody names one."""


@command
def compare(
    measurement: Annotated[
        Path | None,
        typer.Argument(
            help="A measurement, as `raidlab import` makes; none with --live.",
            parser=path,
            show_default=False,
        ),
        Reads(),
    ] = None,
    device: Annotated[
        str,
        typer.Option("--device", help="Device of the catalogue, or a file.", show_default=False),
        Reads(),
    ] = "",
    host: Annotated[
        str,
        typer.Option(
            "--host",
            help="Host of the catalogue, or a file; by default that of the fit, else generic.",
            show_default=False,
        ),
        Reads(),
    ] = "",
    scenario: Annotated[
        str,
        typer.Option(
            "--scenario", help="A scenario whose one array is loaded.", show_default=False
        ),
        Reads(),
    ] = "",
    live: Annotated[
        bool,
        typer.Option(
            "--live",
            help="Lay this machine's counters beside the twin of --scenario under the same load.",
        ),
    ] = False,
    length: Annotated[
        str, typer.Option("--for", help='With --live: how long to watch, such as "1 h".')
    ] = "1 h",
    interval: Annotated[
        str, typer.Option("--interval", help="With --live: between samples.")
    ] = "1 s",
    watched: Annotated[
        list[str] | None,
        typer.Option("--watch", help="With --live: take this device; may be repeated."),
    ] = None,
    load: Annotated[
        Path,
        typer.Option(
            "--load", help="With --live: the observed load to write; goes on there.", parser=path
        ),
        Writes(FileKind.LOAD, later=True),
    ] = LOAD,
    only: Annotated[str, typer.Option("--only", help='Points: "rw=randread numjobs=1".')] = "",
    mapped: Annotated[
        float | None,
        typer.Option(
            "--mapped",
            min=0,
            max=1,
            help="Share of an SSD that contained data; estimated from depth 1 if left out.",
        ),
    ] = None,
    tolerance: Tolerance = None,
    html: Html = None,
    report: Annotated[
        Path | None,
        typer.Option("--report", help="Another name of --html.", parser=path),
        Writes(FileKind.PAGE),
    ] = None,
    seed: Seed = 1,
    json: Json = False,
    wide: Wide = False,
    workers: Workers = None,
) -> None:
    """Simulate every measured point and show both."""
    from raidlab.calibration.fitting.bench.bench import FINAL
    from raidlab.calibration.fitting.certainty.contradictions import slow_links
    from raidlab.calibration.fitting.comparison.compare import compare as lay_side_by_side
    from raidlab.calibration.fitting.comparison.compare import (
        estimate_mapped,
        out_of_balance,
        summary,
        within,
    )
    from raidlab.calibration.measurements.sanity import possible

    if html is not None and report is not None:
        raise SpecError([Fault("--report", str(report), "the same as --html: one of them")])
    if live:
        given = {
            "MEASUREMENT": measurement, "--device": device, "--host": host, "--only": only,
            "--mapped": mapped, "--tolerance": tolerance,
        }  # fmt: skip
        output, page = Output.of(json=json, wide=wide), html or report
        _refuse_beside_live(given)
        compare_live(
            Watch(scenario, length, interval, watched or (), load, page, seed, workers, output)
        )
        return
    if measurement is None:
        raise SpecError([Fault("MEASUREMENT", None, "a measurement's file, or --live")])
    measured = read_measured(measurement)
    chosen, _ = split(measured.points, only, "--only")
    points = [measured.points[index] for index in chosen]
    effort = replace(FINAL, seed=seed)
    threads = workers or os.cpu_count() or 1
    bench = _bench(device, host, scenario)
    if mapped is not None and bench.device["kind"] != "ssd":
        raise SpecError([Fault("--mapped", mapped, "only with an SSD as --device")])
    points, notes = possible(measured.model_copy(update={"points": tuple(points)}))
    notes += _doubts(bench, points, measured.name, device, host)
    if mapped is None:
        # Whichever points are compared, one with a single read outstanding shows the state.
        estimated = estimate_mapped(bench, measured.points, effort)
        unknown = bench.device["kind"] == "ssd" and any(point.state is None for point in points)
        notes += _state(estimated) if estimated is not None or unknown else []
        notes += _collection(points) if bench.device["kind"] == "ssd" else []
        mapped = 1.0 if estimated is None else estimated.share
    bench = replace(bench, mapped=mapped)
    with resumable("measured points") as (tell, store):
        bench = replace(bench, store=store)
        rows = lay_side_by_side(bench, points, effort, workers=threads, progress=tell)
    notes += [*out_of_balance(rows), *slow_links(rows, bench.drive.link())]
    page = html or report
    system = scenario or f"{bench.drive.name} behind {bench.host.name}"
    title = f"{measured.name} and {system}"

    def shown() -> Report:
        from raidlab.calibration.report.fit import comparison_report

        return comparison_report(title, measured, rows, notes, seed)

    agreement = None if tolerance is None else within(rows, tolerance)

    def show() -> None:
        if json:
            document = {
                "points": [row.to_dict() for row in rows],
                "summary": summary(rows),
                "agreement": agreement,
                "mapped": mapped,
                "seed": seed,
                "warnings": notes,
            }
            echo(json_module.dumps(document, indent=2))
        else:
            print_report(shown(), Output.of(json=False, wide=wide))

    deliver([{page: page_of(shown, "compare")}], show)
    for note in notes:
        say(f"note: {note}")
    end_by_tolerance(agreement)


def _refuse_beside_live(given: Mapping[str, object]) -> None:
    refused = [Fault(k, str(v), "left out with --live") for k, v in given.items() if v]
    if refused:
        raise SpecError(refused)


def _bench(device: str, host: str, scenario: str) -> Bench:
    from raidlab.calibration.fitting.bench.bench import Bench
    from raidlab.devices.catalogue import find_for

    if bool(device) == bool(scenario):
        allowed = "one of --device D (with --host H) and --scenario S.toml"
        raise SpecError([Fault("--device", device or None, allowed)])
    if scenario and host:
        raise SpecError([Fault("--host", host, "only with --device; the scenario has its own")])
    if scenario:
        return _of_scenario(scenario)
    drive = find_for("--device", device).spec
    if not isinstance(drive, DriveSpec):
        raise SpecError([Fault("--device", device, f"a drive; this is a {drive.kind}")])
    where = find_for("--host", host or _belonging(drive), HostSpec).spec
    if not isinstance(where, HostSpec):
        raise SpecError([Fault("--host", host, f"a host; this is a {where.kind}")])
    return Bench.of(drive, where)


def _doubts(
    bench: Bench, points: Sequence[Point], measurement: str, device: str, host: str
) -> list[str]:
    """What a user should know of the system beside these points."""
    from raidlab.devices.catalogue import find_for

    notes = []
    if device and not host and bench.host.name == GENERIC:
        notes.append(
            f"no --host: the drive is taken to stand behind {GENERIC} ({bench.host.title}); if it"
            " was measured behind another, name that (raidlab devices --kind host lists them)"
        )
    used = list(bench.files())
    if device:
        used = [find_for("--device", device), find_for("--host", host or bench.host.name, HostSpec)]
    notes += _seen_before(used, measurement)
    notes += bench.doubts(points)
    if larger := sum((point.area_bytes or 0) > bench.capacity for point in points):
        what = "the drive" if device else "the scenario's load"
        notes.append(f"{larger} of the points loaded more than {what} has: it is loaded wholly")
    return notes


def _seen_before(used: Sequence[Device], measurement: str) -> list[str]:
    """That devices or the host were fitted to the very measurement that they are compared with."""
    fitted = {
        each.spec.name: each.spec
        for each in used
        if any(
            source.source == "fitted" and measurement in source.measurement.split(", ")
            for source in each.sources.values()
        )
    }
    return [
        f"{spec.name}: this {'host' if isinstance(spec, HostSpec) else 'device'} was fitted to"
        f" these measurements ({measurement}); errors show how well the fit matches them, not how"
        " well it predicts others"
        for spec in fitted.values()
    ]


def _state(found: Mapped | None) -> list[str]:
    """What a user should know of the state that a drive is taken to have been in."""
    full = "all of it is taken to have contained data (--mapped)"
    if found is None:
        return [
            "the drive's state is not known, and no read with one outstanding shows it: " + full
        ]
    if found.share < 1.0:
        return [
            f"the drive's state is not known: {found.share:.0%} of it contained data, going by"
            f" {found.point.in_words()}"
        ]
    if found.alone < 1.0:
        return [
            f"the drive's state is not known: {found.point.in_words()} by itself looks as if"
            f" {found.alone:.0%} of it contained data, which no other read of few outstanding"
            f" confirms: {full}"
        ]
    return []


def _collection(points: Sequence[Point]) -> list[str]:
    """That random writes are those of a drive that does not collect yet, where no state is stated.

    A steady state takes more than a drive write, so a measurement of a minute has it only if
    somebody brought the drive there before.
    """
    open_writes = [p for p in points if p.state is None and "rand" in p.rw and p.read_share < 1.0]
    if not open_writes:
        return []
    return [
        f"the state of {len(open_writes)} points with random writes is not known: they are compared"
        " with a drive that collects nothing yet; if it was written over before, import them with"
        " --state steady-state"
    ]


def _belonging(drive: DriveSpec) -> str:
    """The host that a drive was fitted with, where no other is named.

    Raises:
        SpecError: It was fitted with its host, whose file only the user knows.
    """
    from raidlab.devices.catalogue import names

    if drive.fitted_behind and drive.fitted_behind not in names():
        allowed = (
            f"the file of {drive.fitted_behind}, with which {drive.name} was fitted (calibrate"
            " --host-out wrote it), or another host"
        )
        raise SpecError([Fault("--host", None, allowed)])
    return drive.fitted_behind or GENERIC


def _of_scenario(path: str) -> Bench:
    """The bench of a scenario of one drive on the host."""
    from raidlab.calibration.fitting.bench.scenario_bench import bench_of_scenario

    return bench_of_scenario(path)
